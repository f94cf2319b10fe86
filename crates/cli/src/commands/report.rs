//! `policert report`.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use policert_evidence::{CertifyRequest, certify};
use policert_generate::StatePicture;
use policert_outcome::{ExitStatus, Failure, OutputFiles, write_text};
use policert_page::{Recheck, ResultPage};
use serde_json::Value;

use super::{fail, limits, run_within};
use crate::args::{OutputArgs, ReportArgs};
use crate::screen::Screen;
use crate::style::{Mark, Style};

/// Runs the command.
pub fn run(arguments: &ReportArgs) -> ExitStatus {
    let style = Style::new(arguments.color.when, &io::stderr());
    let done = read(arguments).and_then(|(page, evidence)| match evidence {
        Some(evidence) if arguments.certify => Ok(rechecked(arguments, &page, evidence)),
        _ if arguments.certify => {
            Err(Failure::Usage("--certify has no effect: there is no evidence to check".to_owned()))
        }
        _ => write(arguments, &page),
    });
    done.unwrap_or_else(|failure| fail(&failure, style))
}

/// The page, and the evidence that it is about.
fn read(arguments: &ReportArgs) -> Result<(ResultPage, Option<PathBuf>), Failure> {
    let outputs = OutputFiles::new([("--out", Some(arguments.out.as_path()))]);
    outputs.check([arguments.result.as_path()].into_iter().chain(arguments.evidence.as_deref()))?;
    let invalid = |path: &Path| {
        let path = path.to_owned();
        move |what: String| Failure::invalid(format!("{}: {what}", path.display()))
    };
    let mut page = ResultPage::new(json(&arguments.result)?).map_err(invalid(&arguments.result))?;
    let named = || page.evidence_path().map(PathBuf::from).filter(|path| path.is_file());
    let evidence = arguments.evidence.clone().or_else(named);
    if let Some(path) = &evidence {
        outputs.check_inputs([path.as_path()])?;
        let shown = path.display().to_string();
        page.add_evidence(&shown, json(path)?).map_err(invalid(path))?;
        page.draw(StatePicture::of_run);
    }
    Ok((page, evidence))
}

fn json(path: &Path) -> Result<Value, Failure> {
    let invalid = |error: String| Failure::invalid(format!("{}: {error}", path.display()));
    let bytes = policert_files::read(path).map_err(|error| invalid(error.to_string()))?;
    serde_json::from_slice(&bytes).map_err(|error| invalid(error.to_string()))
}

/// Checks the evidence within limits, and writes the page with what came out.
fn rechecked(arguments: &ReportArgs, page: &ResultPage, evidence: PathBuf) -> ExitStatus {
    let limits = limits(arguments.timeout, arguments.memory);
    let request = CertifyRequest { evidence, limits };
    run_within(
        &OutputArgs::quiet(arguments.color),
        &request.limits,
        |cancel, observer| certify(&request, cancel, observer),
        |outcome, style| {
            let mut page = page.clone();
            let is_confirmed = outcome.status == ExitStatus::Safe;
            page.add_recheck(Recheck { is_confirmed, reason: outcome.reason.clone() });
            if !is_confirmed {
                let reason = outcome.reason.as_deref().unwrap_or("the check did not end");
                // The page says it as well.
                let _ = writeln!(
                    Screen::new(io::stderr().lock()),
                    "{}: the evidence is not confirmed: {reason}",
                    style.paint(Mark::Bad, "error")
                );
            }
            let written = write(arguments, &page).err();
            written.map_or(outcome.status, |failure| fail(&failure, style))
        },
    )
}

fn write(arguments: &ReportArgs, page: &ResultPage) -> Result<ExitStatus, Failure> {
    let name = arguments.result.file_name().unwrap_or_default().to_string_lossy();
    write_text(&arguments.out, &page.html(&name))?;
    Ok(ExitStatus::Safe)
}
