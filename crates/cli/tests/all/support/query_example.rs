//! A network of two inputs and one output with a property, written into a folder of its own.

use std::fmt::Write as _;
use std::process::{Command, Output};

/// A folder with `net.nnet` (y = |x0 - x1|) and `property.vnnlib` (can y be 1 or more, for inputs
/// from 0 to 1?).
pub struct QueryExample {
    folder: tempfile::TempDir,
}

impl QueryExample {
    pub fn new() -> Self {
        let example = Self { folder: tempfile::tempdir().expect("a folder") };
        example.write("net.nnet", NETWORK);
        example.write("property.vnnlib", PROPERTY);
        example
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.folder.path().join(name), text).expect("a file of the example");
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).expect("a file of the example")
    }

    /// Replaces a text that occurs once in the property.
    pub fn replace(&self, old: &str, new: &str) {
        let text = self.read("property.vnnlib");
        assert_eq!(text.matches(old).count(), 1, "`{old}`");
        self.write("property.vnnlib", text.replace(old, new));
    }

    /// `policert query` with further arguments between blanks.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_policert"));
        command.current_dir(self.folder.path()).arg("query").args(arguments.split_whitespace());
        command
    }

    pub fn run(&self, arguments: &str) -> Output {
        self.command(arguments).output().expect("policert runs")
    }
}

const NETWORK: &str = "\
2,2,1,2,
2,2,1,
0,
0,0,
1,1,
0,0,0,
1,1,1,
1,-1,
-1,1,
0,
0,
1,1,
0,
";

const PROPERTY: &str = "\
; Can the difference be 1?
(declare-const X_0 Real)
(declare-const X_1 Real)
(declare-const Y_0 Real)
(assert (<= 0 X_0 1))
(assert (<= 0 X_1 1))
(assert (>= Y_0 1))
";

/// Inputs of the hard network.
const INPUTS: usize = 60;

/// Adds `hard.nnet` and `hard.vnnlib`: all inputs have to be 0 or 1, and a sum of even multiples of
/// them odd. There is no such input, but only trying all of them shows it.
pub fn add_hard_query(example: &QueryExample) {
    // y = Σ min(x, 1 - x) = Σ relu(x) - relu(2 x - 1)
    let list = |value: &dyn Fn(usize) -> String, count: usize| {
        (0..count).map(|i| value(i) + ",").collect::<String>() + "\n"
    };
    let mut network = format!("2,{INPUTS},1,{},\n{INPUTS},{},1,\n0,\n", 2 * INPUTS, 2 * INPUTS);
    network += &list(&|_| "0".to_owned(), INPUTS);
    network += &list(&|_| "1".to_owned(), INPUTS);
    network += &list(&|_| "0".to_owned(), INPUTS + 1);
    network += &list(&|_| "1".to_owned(), INPUTS + 1);
    for factor in ["1", "2"] {
        for row in 0..INPUTS {
            let entry = |i| if i == row { factor.to_owned() } else { "0".to_owned() };
            network += &list(&entry, INPUTS);
        }
    }
    for bias in ["0,\n", "-1,\n"] {
        network += &bias.repeat(INPUTS);
    }
    network += &list(&|i| if i < INPUTS { "1" } else { "-1" }.to_owned(), 2 * INPUTS);
    network += "0,\n";
    example.write("hard.nnet", &network);

    let mut property = String::new();
    for i in 0..INPUTS {
        let _ = writeln!(property, "(declare-const X_{i} Real)(assert (<= 0 X_{i} 1))");
    }
    property += "(declare-const Y_0 Real)(assert (<= Y_0 0))\n(assert (= 70001 (+";
    for i in 0..INPUTS {
        let _ = write!(property, " (* {} X_{i})", 2 * (1000 + (i * i * 37) % 997));
    }
    property += ")))\n";
    example.write("hard.vnnlib", &property);
}
