//! Networks that choose among actions by their greatest output.

use std::path::Path;

use policert_engine_api::{Budget, Silent};
use policert_policy::onnx::write_onnx;
use policert_policy::{ElementType, Matrix, NetworkBuilder};
use policert_reach::{ReachConfig, ReachError, ReachVerdict, StateSetKind, Task, analyse};

/// The network of x that gives (x, −x).
fn network(folder: &Path) {
    let mut builder = NetworkBuilder::new(1).expect("an input");
    let input = builder.input();
    let matrix = Matrix::new(2, 1, vec![1.0, -1.0]).expect("the shape fits");
    let output = builder.affine(input, matrix, vec![0.0, 0.0]).expect("fits");
    let bytes = write_onnx(&builder.finish(output, ElementType::F32), ElementType::F32);
    std::fs::write(folder.join("two.onnx"), bytes.expect("written")).expect("written");
}

/// From [0.5, 1] by a quarter down where x is not negative, else up.
fn task(
    folder: &Path,
    kind: &str,
    actions: &str,
    steps: u32,
    condition: &str,
) -> Result<Task, String> {
    let law = match kind {
        "ode" => "derivative = [\"u\"]",
        _ => "update = [\"x + 0.25*u\"]",
    };
    let text = format!(
        "state = [\"x\"]\ninput = [\"u\"]\n[dynamics]\nkind = \"{kind}\"\ndt = 0.25\n{law}\n\
         [policy]\ninput = \"state\"\nnetwork = \"two.onnx\"\n{actions}\n\
         [initial]\nlower = [0.5]\nupper = [1]\n[horizon]\nsteps = {steps}\n\
         [unsafe]\ncondition = \"{condition}\"\n"
    );
    Task::parse("t.toml", &text, folder, None).map_err(|error| error.to_string())
}

fn answer(task: &Task, sets: StateSetKind, refinements: u32) -> Result<ReachVerdict, ReachError> {
    let refinements = Some(refinements);
    let config = ReachConfig { sets, refinements, ..ReachConfig::default() };
    Ok(analyse(task, &config, None, Budget::unlimited(), &mut Silent)?.verdict)
}

#[test]
fn a_switch_goes_both_ways_where_it_is_not_clear() {
    let folder = tempfile::tempdir().expect("a folder");
    network(folder.path());
    for kind in ["ode", "difference"] {
        for sets in [StateSetKind::TaylorModels, StateSetKind::Zonotopes] {
            for (condition, safe) in [("x < -0.3", true), ("x > 1.1", true), ("x < -0.15", false)] {
                let task = task(folder.path(), kind, "actions = [-1, 1]", 7, condition);
                let verdict = answer(&task.expect("well-formed"), sets, 8).expect("an answer");
                let found = match verdict {
                    ReachVerdict::Safe { .. } => true,
                    ReachVerdict::Unsafe(_) => false,
                    ReachVerdict::Unknown(cause) => panic!("{kind} {condition}: {cause:?}"),
                };
                assert_eq!(found, safe, "{kind} {condition}");
            }
            // Back at 0 in every other step, so that it is unclear again and again.
            for (condition, safe) in [("x < -0.3", true), ("x < -0.2", false)] {
                let task = task(folder.path(), kind, "actions = [-1, 1]", 200, condition);
                let verdict = answer(&task.expect("well-formed"), sets, 2).expect("an answer");
                assert_eq!(matches!(verdict, ReachVerdict::Safe { .. }), safe, "{verdict:?}");
            }
        }
    }
}

#[test]
fn wrong_tables_of_actions_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    network(folder.path());
    for (actions, part) in [
        ("actions = []", "no action to be chosen"),
        ("actions = [[1, 2], [3, 4]]", "needs 1 numbers"),
        ("actions = [1, \"up\"]", "must be a number"),
        ("actions = [1, 2]\n[action]\nscale = 2", "[action] has no meaning"),
    ] {
        let error = task(folder.path(), "ode", actions, 1, "x > 9").expect_err(actions);
        assert!(error.contains(part), "{actions}: {error}");
    }
    let three = task(folder.path(), "ode", "actions = [1, 2, 3]", 1, "x > 9").expect("well-formed");
    let error = answer(&three, StateSetKind::Auto, 0).expect_err("two outputs").to_string();
    assert!(error.contains("3 choices of actions"), "{error}");
    let cells = "state = [\"x\"]\ninput = [\"u\"]\n[dynamics]\nkind = \"difference\"\n\
                 update = [\"x\"]\n[abstraction]\nedges = [[0, 1]]\n[policy]\nformula = \"1\"\n\
                 actions = [1]\n[initial]\nlower = [0]\nupper = [0]\n[horizon]\nsteps = 1\n\
                 [unsafe]\ncondition = \"x > 2\"\n";
    let error = Task::parse("t.toml", cells, Path::new(""), None).expect_err("cells").to_string();
    assert!(error.contains("unsupported: a table of actions"), "{error}");
}
