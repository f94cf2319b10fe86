//! Small inputs: control loops, and a property of the example's network.

use super::loop_task::LoopTask;

pub const LOOP: &str = r#"
[task]
state = ["x"]
grid = ["-1", "0", "3"]
policy = "u = 0.25"
update = ["x + u"]
initial = ["0", "0.125"]
goal = ["1", "1.25"]
steps = 6
"#;

/// A loop whose network reads the cell of the state.
pub fn cell_network() -> String {
    let task = LoopTask {
        name: "cart",
        update: "x + u/4",
        clamp: None,
        state_space: ["-3", "3"],
        granularity: "1",
        policy: "network = \"net.onnx\"",
        initial: ["0", "0.1"],
        goal: Some(["-3", "3"]),
        avoid: None,
        steps: "2",
    };
    task.text()
}

pub const PROPERTY: &str = "\
(declare-const X_0 Real) (declare-const Y_0 Real) (declare-const Y_1 Real)
(assert (>= X_0 0)) (assert (<= X_0 9)) (assert (>= Y_0 100))
";
