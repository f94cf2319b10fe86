//! Unsafe states that few starts lead to, found by descent.

use policert_engine_api::{Budget, Silent};
use policert_reach::{ReachConfig, ReachVerdict, Task, analyse};

/// What is found without halving the initial box.
fn at_once(sets: &str, kind: &str, law: &str) -> ReachVerdict {
    let folder = tempfile::tempdir().expect("a folder");
    let nnet =
        "// u = 0\n1,3,1,3,\n3,1,\n0,\n-9,-9,-9,\n9,9,9,\n0,0,0,0,\n1,1,1,1,\n0.0,0.0,0.0,\n0.0,\n";
    std::fs::write(folder.path().join("zero.nnet"), nnet).expect("written");
    let text = format!(
        "state = [\"x\", \"y\", \"z\"]\ninput = [\"u\"]\n[dynamics]\nkind = \"{kind}\"\ndt = 0.1\n{law}\n\
         [policy]\ninput = \"state\"\nnetwork = \"zero.nnet\"\n[initial]\nlower = [0, 0, 0]\n\
         upper = [1, 1, 1]\n[horizon]\nsteps = 5\n{sets}"
    );
    let task = Task::parse("t.toml", &text, folder.path(), None).expect("well-formed");
    let config = ReachConfig { refinements: Some(0), ..ReachConfig::default() };
    let budget = Budget::unlimited();
    analyse(&task, &config, None, budget, &mut Silent).expect("well-formed").verdict
}

#[test]
fn needles_are_found() {
    let turn = "update = [\"x + 0.2*(y - 0.5) + 0*u\", \"y - 0.2*(x - 0.5)\", \"0.9*z + 0.05\"]";
    let flow = "derivative = [\"2*(y - 0.5) + 0*u\", \"-2*(x - 0.5)\", \"0.5 - z\"]";
    for (kind, law) in [("difference", turn), ("ode", flow)] {
        for (sets, reached) in [
            ("[unsafe]\ncondition = \"(x - 0.31)^2 + (y - 0.62)^2 + (z - 0.57)^2 < 1e-5\"\n", true),
            ("[unsafe]\ncondition = \"(x - 0.31)^2 + (y - 0.62)^2 + (z - 3)^2 < 1e-5\"\n", false),
            ("[goal]\nvariables = [\"x\"]\nlower = [0.2]\nupper = [2]\n", true),
        ] {
            let found = matches!(at_once(sets, kind, law), ReachVerdict::Unsafe(_));
            assert_eq!(found, reached, "{kind}: {sets}");
        }
    }
}
