//! Memory that the system refuses (`ulimit -v`) ends a run as a memory limit does, not with an abort.

use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::Command;

use crate::support::example::Example;
use crate::support::program::{code, text};

/// Neurons of a layer.
const WIDTH: usize = 5000;

/// An NNet file with one layer of many weights, all 0.
fn large_network(path: &Path, inputs: usize, outputs: usize) -> std::io::Result<()> {
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    writeln!(file, "3,{inputs},{outputs},{WIDTH},")?;
    writeln!(file, "{inputs},{WIDTH},{WIDTH},{outputs},")?;
    writeln!(file, "0,")?;
    let zeros = |count: usize| "0,".repeat(count) + "\n";
    file.write_all((zeros(inputs) + &zeros(inputs) + &zeros(inputs + 1)).as_bytes())?;
    writeln!(file, "{}", "1,".repeat(inputs + 1))?;
    for (columns, rows) in [(inputs, WIDTH), (WIDTH, WIDTH), (WIDTH, outputs)] {
        let row = zeros(columns);
        for _ in 0..rows {
            file.write_all(row.as_bytes())?;
        }
        file.write_all("0\n".repeat(rows).as_bytes())?;
    }
    file.flush()
}

#[test]
fn an_allocation_that_the_system_refuses_ends_with_the_status_of_a_memory_limit() {
    let example = Example::new();
    let file = example.path("large.nnet");
    large_network(&file, 2, 2).expect("a file");
    let program = env!("CARGO_BIN_EXE_policert");
    let run = |kilobytes: &str| {
        let script = format!("ulimit -v {kilobytes}; exec {program} query large.nnet none.vnnlib");
        let output =
            Command::new("sh").args(["-c", &script]).current_dir(example.path("")).output();
        output.expect("a shell")
    };
    // With enough memory the network is read, and only the property is missing.
    let enough = run("unlimited");
    assert_eq!(code(&enough), 40, "{}", text(&enough));
    assert!(text(&enough).contains("none.vnnlib") && !text(&enough).contains("large.nnet"));
    // Too little for the weights; for their layer; for the stack of the program.
    for kilobytes in ["900000", "700000", "300000"] {
        let refused = run(kilobytes);
        assert_eq!(code(&refused), 31, "{kilobytes}: {}", text(&refused));
        assert!(text(&refused).contains("memory"), "{kilobytes}: {}", text(&refused));
    }
}
