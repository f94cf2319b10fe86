//! Files of networks.

use policert_asnet::{AsnetFile, DomainShape, FileKind, Nonlinearity, read_asnet};
use policert_testkit::{Random, case_numbers, pddl_text};

use crate::random_network::{asnet, task};

#[test]
fn files_hold_what_is_shared() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("asnet.json");
    for number in case_numbers(100) {
        let mut random = Random::new(number);
        let text = pddl_text(&mut random, 2);
        let shape = DomainShape::of(&task(&text).domain);
        let nonlinearity = if random.percent(50) { Nonlinearity::Relu } else { Nonlinearity::Elu };
        let mut asnet = asnet(&mut random, shape.clone(), nonlinearity);
        if random.percent(50)
            && let Some(weight) = asnet.modules_mut().find_map(|module| module.bias.first_mut())
        {
            *weight = 0.1 + 0.2;
        }
        let text = AsnetFile::new(&asnet).text();
        assert_eq!(FileKind::of(text.as_bytes()), Some(FileKind::Weights));
        std::fs::write(&path, &text).expect("written");
        assert_eq!(read_asnet(&path, &shape).expect("read"), asnet, "case {number}");
    }
}

#[test]
fn wrong_files_are_refused_at_the_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("asnet.json");
    let domain = "(define (domain d) (:predicates (p) (q))
        (:action a :precondition (p) :effect (q)) (:action b :precondition (q) :effect (p)))";
    let shape = DomainShape::of(&policert_pddl::parse_domain("d", domain.as_bytes()).expect("d"));
    let text =
        AsnetFile::new(&asnet(&mut Random::new(3), shape.clone(), Nonlinearity::Relu)).text();
    for (from, to, expected) in [
        (shape.hash.as_str(), "0", "line 1, column 29: this network is for another domain"),
        ("\"of\":\"a\"", "\"of\":\"c\"", "/actions/0/0: these are the weights of `c`, not of `a`"),
        ("\"bias\":[", "\"bias\":[1,2,3,4,5,", "/actions/0/0: "),
        ("\"skip\"", "\"jump\"", "line 2, column"),
        ("\"asnet\": 1", "\"asnet\": 2", "line 1, column 2: action schema networks of version 1"),
        ("\"relu\"", "\"tanh\"", "line 2, column"),
        ("\"unit\": ", "\"unit\": 3", "line 2, column 68: the unit is a power of two"),
        ("\"unit\": ", "\"unit\": 0.0", "line 2, column 68: the unit is a power of two"),
    ] {
        assert!(text.contains(from), "{from}\n{text}");
        std::fs::write(&path, text.replacen(from, to, 1)).expect("written");
        let error = read_asnet(&path, &shape).expect_err(to).to_string();
        assert!(error.contains(expected) && error.contains("asnet.json"), "{error}");
    }
}
