//! Networks with random weights.

use policert_asnet::{Architecture, Asnet, DomainShape, Nonlinearity};
use policert_pddl::{Task, parse_domain, parse_problem};
use policert_testkit::{PddlText, Random};

pub fn task(text: &PddlText) -> Task {
    let domain = parse_domain("domain.pddl", text.domain.as_bytes()).expect("a domain");
    let problem = parse_problem("problem.pddl", text.problem.as_bytes(), &domain);
    Task::ground(domain, problem.expect("a problem"), &mut || false).expect("grounded")
}

/// A network for a domain: small dyadic weights, so that ties and zeros occur.
pub fn asnet(random: &mut Random, shape: DomainShape, nonlinearity: Nonlinearity) -> Asnet {
    let architecture = Architecture {
        layers: random.below(3),
        dimension: 1 + random.below(3),
        nonlinearity,
        skip: random.percent(60),
    };
    let mut asnet = Asnet::zeros(shape, architecture);
    for module in asnet.modules_mut() {
        for weight in module.weights.iter_mut().chain(&mut module.bias) {
            let eighths = i32::try_from(random.between(-12, 12)).expect("small");
            *weight = f64::from(eighths) / 8.0;
        }
    }
    asnet
}
