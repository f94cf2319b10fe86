//! The result of `policert generate`.

use std::io::{self, Write};

use policert_files::{name, path, shown};

use crate::commands::GenerateReport;

/// Prints what was generated; `counted` tells whether states were to be counted.
///
/// # Errors
/// If it cannot be written.
pub fn generate_report(
    out: &mut dyn Write,
    report: &GenerateReport,
    counted: bool,
) -> io::Result<()> {
    writeln!(out, "{}: {}", name(&report.name), path(&report.model))?;
    writeln!(out, "  property:  {}:0", path(&report.property))?;
    writeln!(out, "  interface: {}", path(&report.interface))?;
    writeln!(
        out,
        "  variables: {}, of which the policy reads {}",
        report.variables, report.inputs
    )?;
    writeln!(out, "  labels:    {}; operators: {}", report.labels, report.operators)?;
    if let Some(start_states) = report.start_states {
        writeln!(out, "  start:     {start_states} states")?;
    }
    writeln!(out, "  unsafe:    {}", shown(&report.unsafe_condition))?;
    match (report.reachable_states, report.unsafe_states) {
        (Some(reachable), Some(unsafe_states)) => {
            writeln!(out, "  reachable without policy: {reachable} states, {unsafe_states} unsafe")
        }
        _ if counted => writeln!(out, "  reachable without policy: not counted to the end"),
        _ => Ok(()),
    }
}
