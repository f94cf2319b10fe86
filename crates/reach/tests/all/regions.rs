//! Goals and unsafe sets of all kinds, for controllers that read cells and for those that read the state.

use std::path::Path;

use policert_engine_api::{Budget, Silent};
use policert_reach::{ReachConfig, ReachVerdict, StateSetKind, Task, ViolationKind, analyse};
use policert_testkit::shared_folder;

/// x goes up by 1 in each step from [0, 1], y down from 0.
fn walk(sets: &str) -> Result<Task, String> {
    let text = format!(
        "state = [\"x\", \"y\"]\ninput = [\"u\"]\n[dynamics]\nkind = \"difference\"\ndt = 0.5\n\
         update = [\"x + u\", \"y - u\"]\n[abstraction]\nedges = [[-100, 100], [-100, 100]]\n\
         [policy]\nformula = \"1\"\n[initial]\nlower = [0, 0]\nupper = [1, 0]\n\
         [horizon]\nsteps = 4\n{sets}"
    );
    Task::parse("t.toml", &text, Path::new(""), None).map_err(|error| error.to_string())
}

fn verdict(task: &Task, sets: StateSetKind) -> ReachVerdict {
    let config = ReachConfig { sets, refinements: Some(6), ..ReachConfig::default() };
    analyse(task, &config, None, Budget::unlimited(), &mut Silent).expect("an answer").verdict
}

#[test]
fn several_sets_and_conditions() {
    for (sets, safe) in [
        ("[[unsafe]]\ncondition = \"x > 5.25\"\n[[unsafe]]\ncondition = \"y < -4\"\n", true),
        ("[[unsafe]]\ncondition = \"x > 5.25\"\n[[unsafe]]\ncondition = \"y <= -4\"\n", false),
        // What two variables have in common: x + y is from 0 to 1 at all times.
        ("[unsafe]\ncondition = \"x + y >= 1.125\"\nfrom_step = 4\n", true),
        ("[unsafe]\ncondition = \"(x - 4)^2 + (y + 4)^2 < 0.25\"\n", false),
        ("[unsafe]\ncondition = \"x < 2\"\nfrom_step = 2\n", true),
        ("[unsafe]\ncondition = \"x < 2\"\nfrom_time = 1\n", true),
        ("[unsafe]\ncondition = \"x < 2\"\nfrom_time = 0.5\n", false),
        ("[stay]\nvariables = [\"x\"]\nlower = [0]\nupper = [5]\n", true),
        ("[stay]\nvariables = [\"x\"]\nlower = [0]\nupper = [5]\nboundary = \"open\"\n", false),
        ("[[stay]]\ncondition = \"x <= 5\"\n[[stay]]\ncondition = \"y >= -3\"\n", false),
        ("[[stay]]\ncondition = \"x <= 5 and not y < -4\"\n", true),
        ("[goal]\ncondition = \"x >= 3 or y = -4\"\n", true),
        ("[goal]\ncondition = \"x > 6\"\n", false),
        ("[goal]\ncondition = \"x >= 3\"\n[unsafe]\ncondition = \"x > 4\"\n", true),
        ("[goal]\ncondition = \"x >= 3\"\n[unsafe]\ncondition = \"x > 2.5 and y > -3\"\n", false),
    ] {
        let task = walk(sets).unwrap_or_else(|error| panic!("{sets}: {error}"));
        match verdict(&task, StateSetKind::Auto) {
            ReachVerdict::Safe { .. } => assert!(safe, "{sets}"),
            ReachVerdict::Unsafe(_) => assert!(!safe, "{sets}"),
            ReachVerdict::Unknown(cause) => {
                // Boxes do not know what variables have in common.
                assert!(sets.contains("x + y"), "{sets}: {cause:?}");
            }
        }
    }
}

#[test]
fn wrong_regions_are_refused_with_their_place() {
    for (sets, part) in [
        ("[unsafe]\ncondition = \"x\"\n", "a condition expected"),
        ("[unsafe]\ncondition = \"z < 1\"\n", "t.toml:17:14: `z` is not known"),
        ("[unsafe]\ncondition = \"x < 1\"\nlower = [0]\n", "`lower` has no meaning"),
        ("[unsafe]\ncondition = \"x < 1\"\nfrom_time = 0.3\n", "whole multiple"),
        ("[unsafe]\ncondition = \"x < 1\"\nfrom_time = -0.5\n", "whole multiple"),
        ("[unsafe]\ncondition = \"x < 1\"\nfrom_time = 1\nfrom_step = 2\n", "`from_step` as well"),
        ("[goal]\ncondition = \"x < 1\"\nfrom_step = 2\n", "`from_step` has no meaning"),
        ("[stay]\nvariables = [3]\nlower = [0]\nupper = [1]\n", "from 1 to 2"),
        ("[[stay]]\n", "`lower` is missing"),
        ("", "neither [goal] nor [unsafe] nor [stay]"),
    ] {
        let error = walk(sets).expect_err(sets);
        assert!(error.contains(part), "{sets}: {error}");
    }
}

/// A loop whose network gives 0, with the dynamics of a spiral.
fn spiral(sets: &str) -> Option<Task> {
    let folder = shared_folder("benchmarks/arch")?;
    let text = format!(
        "state = [\"x\", \"y\"]\ninput = [\"u\"]\n[dynamics]\nkind = \"ode\"\ndt = 0.1\n\
         substeps = 4\nderivative = [\"-y + 0*u\", \"x\"]\n[policy]\ninput = \"state\"\n\
         network = \"nets/zero1.onnx\"\n[initial]\nlower = [0.9, -0.1]\nupper = [1.1, 0.1]\n\
         [horizon]\nsteps = 30\n{sets}"
    );
    Some(Task::parse("t.toml", &text, &folder, None).expect("well-formed"))
}

#[test]
fn conditions_of_sets_that_know_what_variables_have_in_common() {
    for (sets, safe) in [
        // The distance from 0 is from 0.9 to √(1.1² + 0.1²); boxes around turned squares go beyond.
        ("[stay]\ncondition = \"x^2 + y^2 <= 1.23 and x^2 + y^2 >= 0.8\"\n", true),
        ("[stay]\ncondition = \"x^2 + y^2 <= 1.21\"\n", false),
        ("[[unsafe]]\ncondition = \"x + y > 1.57\"\n[[unsafe]]\ncondition = \"x < -1.13\"\n", true),
    ] {
        let Some(task) = spiral(sets) else { return };
        for kind in [StateSetKind::TaylorModels, StateSetKind::Zonotopes] {
            match verdict(&task, kind) {
                ReachVerdict::Safe { .. } => assert!(safe, "{sets} {kind:?}"),
                ReachVerdict::Unsafe(found) => {
                    assert!(!safe, "{sets} {kind:?}");
                    assert!(matches!(found.kind, ViolationKind::Unsafe { .. }));
                }
                ReachVerdict::Unknown(cause) => panic!("{sets} {kind:?}: {cause:?}"),
            }
        }
    }
}
