//! Uncertain parameters, disturbances, remembered actions and observed expressions.

use std::path::Path;

use policert_engine_api::{Budget, Silent};
use policert_reach::{ReachConfig, ReachError, ReachVerdict, StateSetKind, Task, analyse};
use policert_testkit::shared_folder;

fn verdict(task: &Task, sets: StateSetKind) -> Result<ReachVerdict, ReachError> {
    let config = ReachConfig { sets, refinements: Some(6), ..ReachConfig::default() };
    Ok(analyse(task, &config, None, Budget::unlimited(), &mut Silent)?.verdict)
}

fn check(task: &Task, sets: StateSetKind, safe: bool, about: &str) {
    match verdict(task, sets).expect(about) {
        ReachVerdict::Safe { .. } => assert!(safe, "{about} {sets:?}"),
        ReachVerdict::Unsafe(_) => assert!(!safe, "{about} {sets:?}"),
        ReachVerdict::Unknown(cause) => panic!("{about} {sets:?}: {cause:?}"),
    }
}

/// x from 0 by the update given, under a controller that reads one cell.
fn walk(update: &str, tables: &str, bound: &str) -> Result<Task, String> {
    let text = format!(
        "state = [\"x\"]\ninput = [\"u\"]\n[dynamics]\nkind = \"difference\"\n\
         update = [\"{update}\"]\n[abstraction]\nedges = [[-100, 100]]\n\
         [policy]\nformula = \"1\"\n[initial]\nlower = [0]\nupper = [0]\n\
         [horizon]\nsteps = 4\n[unsafe]\ncondition = \"x > {bound}\"\n{tables}"
    );
    Task::parse("t.toml", &text, Path::new(""), None).map_err(|error| error.to_string())
}

const PARAMETER: &str = "[uncertain]\nm = { lower = -0.5, upper = 0.5, changes = \"never\" }\n";
const GUST: &str = "[uncertain]\nw = { lower = -0.5, upper = 0.5, changes = \"each-step\" }\n";
const MEMORY: &str = "[memory]\nlast = { action = \"u\", first = [-1, 0] }\n";

#[test]
fn controllers_that_read_cells() {
    for (update, tables, bound, safe) in [
        ("x + u + m", PARAMETER, "6", true),
        ("x + u + m", PARAMETER, "5.9", false),
        ("x + u + w", GUST, "6", true),
        ("x + u + w", GUST, "5.9", false),
        // The action of the step before, which is from −1 to 0 at first.
        ("x + last", MEMORY, "3", true),
        ("x + last", MEMORY, "2.9", false),
        ("x + last + m", &format!("{MEMORY}{PARAMETER}"), "4.9", false),
    ] {
        let task = walk(update, tables, bound).unwrap_or_else(|error| panic!("{tables}: {error}"));
        check(&task, StateSetKind::Auto, safe, &format!("{update} {bound}"));
    }
}

#[test]
fn wrong_tables_are_refused() {
    for (tables, part) in [
        ("[uncertain]\nw = { lower = 1, upper = 0, changes = \"never\" }\n", "in this order"),
        ("[uncertain]\nw = { lower = 0, upper = 1 }\n", "`changes` is missing"),
        ("[uncertain]\nw = { lower = 0, upper = 1, changes = \"often\" }\n", "any-time"),
        ("[uncertain]\nx = { lower = 0, upper = 1, changes = \"never\" }\n", "stands there twice"),
        ("[uncertain]\nsin = 3\n", "must be a table"),
        ("[uncertain]\nw = { lower = 0, upper = 1, changes = \"any-time\" }\n", "each-step"),
        ("[memory]\nlast = { action = \"v\" }\n", "one of the actions: u"),
        ("[memory]\nlast = { action = \"u\", first = [1, 0] }\n", "in this order"),
        ("[memory]\nu = { action = \"u\" }\n", "stands there twice"),
        ("[memory]\nlast = { action = \"u\", again = 1 }\n", "`again` has no meaning"),
    ] {
        let error = walk("x + u", tables, "9").expect_err(tables);
        assert!(error.contains(part), "{tables}: {error}");
    }
}

/// A loop over differential equations or Euler's steps whose network gives 0 whatever it reads, where `u` is
/// that plus `offset`.
fn flow(kind: &str, derivatives: &str, tables: &str, condition: &str) -> Option<Task> {
    let folder = shared_folder("benchmarks/arch")?;
    let key = if kind == "ode" { "derivative" } else { "update" };
    let text = format!(
        "state = [\"x\", \"y\"]\ninput = [\"u\"]\n[dynamics]\nkind = \"{kind}\"\ndt = 0.5\n\
         substeps = 1\n{key} = [{derivatives}]\n[action]\noffset = -1\n[policy]\ninput = \"state\"\n\
         network = \"nets/zero1.onnx\"\n{tables}[initial]\nlower = [0, 0]\nupper = [0, 0]\n\
         [horizon]\nsteps = 4\n[unsafe]\ncondition = \"{condition}\"\n"
    );
    Some(Task::parse("t.toml", &text, &folder, None).expect("well-formed"))
}

#[test]
fn networks_that_read_the_state() {
    let any_time = GUST.replace("each-step", "any-time");
    for (kind, derivatives, tables, condition, safe) in [
        ("ode", "\"u + m\", \"0\"", PARAMETER, "x > 3.001", true),
        ("ode", "\"u + m\", \"0\"", PARAMETER, "x > 2.99", false),
        ("ode", "\"u + m\", \"m\"", PARAMETER, "x - y > 2.001", true),
        // One number for the whole run: x is m, 0, m, 0.
        ("difference", "\"m - x + 0*u\", \"y\"", PARAMETER, "x > 0.501", true),
        ("ode", "\"u + w\", \"0\"", GUST, "x > 3.001", true),
        ("ode", "\"u + w\", \"0\"", GUST, "x > 2.99", false),
        ("ode", "\"u + w\", \"w\"", GUST, "x - y > 2.001", true),
        // The action of the step before: 0, then 1.
        ("ode", "\"last + 0*u\", \"0\"", MEMORY, "x > 1.501", true),
        ("ode", "\"last + 0*u\", \"0\"", MEMORY, "x > 1.49", false),
        ("difference", "\"x + last + 0*u\", \"0\"", MEMORY, "x > 3.001", true),
        ("difference", "\"x + last + 0*u\", \"0\"", MEMORY, "x > 2.99", false),
        ("difference", "\"x + u + w\", \"y\"", GUST, "x > 6.001", true),
        ("difference", "\"x + u + w\", \"y\"", GUST, "x > 5.99", false),
    ] {
        let Some(task) = flow(kind, derivatives, tables, condition) else { return };
        for sets in [StateSetKind::TaylorModels, StateSetKind::Zonotopes] {
            check(&task, sets, safe, &format!("{kind} {derivatives} {condition}"));
        }
    }
    let Some(task) = flow("ode", "\"u + w\", \"0\"", &any_time, "x > 3.001") else { return };
    check(&task, StateSetKind::Auto, true, "at any time");
    let refused = verdict(&task, StateSetKind::Zonotopes);
    assert!(matches!(refused, Err(ReachError::Unsupported(_))), "{refused:?}");
    let Some(task) = flow("ode", "\"u + w\", \"0\"", &any_time, "x > 2.99") else { return };
    check(&task, StateSetKind::Auto, false, "at any time");
}

#[test]
fn observed_expressions() {
    // The network of the cart reads two numbers; shown what it was trained on in other coordinates, it does
    // the same.
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/cart/cart.toml");
    let text = std::fs::read_to_string(&path).expect("the example");
    let folder = path.parent().expect("a folder");
    let read = |text: &str| Task::parse("cart.toml", text, folder, None);
    let plain = read(&text).expect("well-formed");
    let shown =
        |observe: &str| text.replacen("[policy]\n", &format!("[policy]\nobserve = {observe}\n"), 1);
    let [first, second] = [&plain.state[0], &plain.state[1]];
    let same = format!("[\"2*{first} - {first}\", \"{second}\"]");
    let task = read(&shown(&same)).expect("well-formed");
    let expected = verdict(&plain, StateSetKind::Auto).expect("an answer");
    let found = verdict(&task, StateSetKind::Auto).expect("an answer");
    assert_eq!(std::mem::discriminant(&found), std::mem::discriminant(&expected));
    let three = format!("[\"sin({first})\", \"{second}\", \"1\"]");
    let task = read(&shown(&three)).expect("well-formed");
    let error = verdict(&task, StateSetKind::Auto).expect_err("three").to_string();
    assert!(error.contains("3 observed values"), "{error}");
    for (observe, part) in [("[]", "shown nothing"), ("[\"q\"]", "`q` is not known")] {
        let error = read(&shown(observe)).expect_err(observe).to_string();
        assert!(error.contains(part), "{error}");
    }
    let cells = walk("x + u", "", "9").map(|_| ()).and_then(|()| {
        let text = "state = [\"x\"]\ninput = [\"u\"]\n[dynamics]\nkind = \"difference\"\n\
                    update = [\"x\"]\n[abstraction]\nedges = [[0, 1]]\n[policy]\nformula = \"1\"\n\
                    observe = [\"x\"]\n[initial]\nlower = [0]\nupper = [0]\n[horizon]\nsteps = 1\n\
                    [unsafe]\ncondition = \"x > 2\"\n";
        Task::parse("t.toml", text, Path::new(""), None).map(|_| ()).map_err(|e| e.to_string())
    });
    assert!(cells.expect_err("cells").contains("observes no expressions"));
}
