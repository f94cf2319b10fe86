//! Small inputs: control loops, and a property of the example's network.

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

pub const CELL_NETWORK: &str = r#"
name = "cart"
state = ["x"]
input = ["u"]
[dynamics]
kind = "difference"
update = ["x + u/4"]
[abstraction]
state_space_lower = [-3]
state_space_upper = [3]
granularity = [1]
[policy]
network = "net.onnx"
[initial]
lower = [0]
upper = [0.1]
[goal]
variables = [1]
lower = [-3]
upper = [3]
[horizon]
steps = 2
"#;

pub const PROPERTY: &str = "\
(declare-const X_0 Real) (declare-const Y_0 Real) (declare-const Y_1 Real)
(assert (>= X_0 0)) (assert (<= X_0 9)) (assert (>= Y_0 100))
";
