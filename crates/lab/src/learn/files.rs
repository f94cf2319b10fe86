//! The files of a trained network: in both formats, with its interface, and a card.

use std::io;
use std::path::{Path, PathBuf};

use policert_outcome::{Failure, InputRole, OutputFiles, VERSION, write_file};
use policert_policy::interface::Interface;
use policert_policy::nnet::write_nnet;
use policert_policy::{Filter, PolicyError};
use policert_problem::Problem;
use policert_train::{DqnConfig, DqnEnding, DqnTrained, Objective};
use serde_json::{Value, json};

use super::{LearnReport, RunsRecord};
use crate::train::failure;

/// Says where the files of a network go: one name with different endings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LearntFiles {
    /// The network as NNet text; the interface names it.
    pub nnet: PathBuf,
    /// The same network as ONNX.
    pub onnx: PathBuf,
    /// The interface; `None` if it is there already.
    pub interface: Option<PathBuf>,
    /// The file that says how it was trained, and its results.
    pub card: PathBuf,
}

impl LearntFiles {
    /// The files of a name; `.nnet` or `.onnx` at its end is left out.
    #[must_use]
    pub fn of(name: &Path) -> Self {
        let is_network = |ending: &std::ffi::OsStr| ending == "nnet" || ending == "onnx";
        let name = match name.extension() {
            Some(ending) if is_network(ending) => name.with_extension(""),
            _ => name.to_owned(),
        };
        let with = |ending: &str| {
            let mut path = name.clone().into_os_string();
            path.push(ending);
            PathBuf::from(path)
        };
        Self {
            nnet: with(".nnet"),
            onnx: with(".onnx"),
            interface: Some(with(".jani2nnet")),
            card: with(".card.json"),
        }
    }

    /// The files beside an interface, which names the network.
    ///
    /// # Errors
    /// Without a file of the interface, where it names no `.nnet` file, and where one of the files is
    /// there already, cannot be written or is an input.
    pub(super) fn beside(
        interface: &Interface,
        path: Option<&Path>,
        model: &Path,
    ) -> Result<Self, Failure> {
        let missing = |why: &str| Failure::Usage(format!("--out is missing: {why}"));
        let path = path.ok_or_else(|| missing("there is no interface that names the network"))?;
        let is_nnet = |file: &&String| Path::new(file).extension().is_some_and(|e| e == "nnet");
        let file = interface.file.as_ref().filter(is_nnet).ok_or_else(|| {
            missing(&format!("the interface {} names no .nnet file", path.display()))
        })?;
        let network = path.parent().unwrap_or(Path::new("")).join(file);
        let files = Self { interface: None, ..Self::of(&network) };
        let written = [&files.nnet, &files.onnx, &files.card];
        if let Some(there) = written.into_iter().find(|file| is_there(file)) {
            return Err(missing(&format!(
                "{}, where the interface wants the network, is there already and is not replaced; \
                 --out NAME says where the new one goes",
                there.display()
            )));
        }
        OutputFiles::new(written.map(|file| ("--out", Some(file.as_path()))))
            .check([path, model])?;
        Ok(files)
    }
}

/// Writes all files; the first one that cannot be written ends it.
pub(super) fn write(
    out: &LearntFiles,
    problem: &Problem,
    (interface, objective): (&Interface, &Objective),
    config: &DqnConfig,
    trained: &DqnTrained,
    report: &mut LearnReport,
) -> Result<Result<(), Failure>, Failure> {
    let network = trained.network.network().map_err(failure)?;
    #[expect(clippy::cast_precision_loss, reason = "bounds that nobody computes with")]
    let ranges: Vec<(f64, f64)> = objective
        .inputs
        .iter()
        .map(|v| problem.model.variables[v.index()].domain)
        .map(|side| (side.lo as f64, side.hi as f64))
        .collect();
    let nnet = write_nnet(&network, &ranges).map_err(|error: PolicyError| {
        Failure::Internal(format!("a trained network has no NNet text: {error}"))
    })?;
    let mut interface = interface.clone();
    interface.file = out.nnet.file_name().map(|name| name.to_string_lossy().into_owned());
    interface.filter = Some(if config.mask { Filter::Applicable } else { Filter::None });
    interface.elements = Some(config.hidden.clone());
    interface.rounds = None;
    interface.scores = None;
    let mut contents: Vec<(&Path, Vec<u8>)> = vec![
        (&out.nnet, nnet.into_bytes()),
        (&out.onnx, trained.network.to_onnx().map_err(failure)?),
        (&out.card, text(&card(problem, config, trained, report))?),
    ];
    if let Some(path) = &out.interface {
        contents.push((path, text(&interface.to_json())?));
    }
    for (path, bytes) in contents {
        // What came there in the meantime is kept as well.
        let kept = out.interface.is_none() && is_there(path);
        let written =
            if kept { Err(io::ErrorKind::AlreadyExists.into()) } else { write_file(path, &bytes) };
        if let Err(source) = written {
            return Ok(Err(Failure::Output { what: path.display().to_string(), source }));
        }
        report.files.push(path.to_owned());
    }
    Ok(Ok(()))
}

/// Returns whether there is something at a path, be it a link that leads nowhere.
fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn text(value: &Value) -> Result<Vec<u8>, Failure> {
    let text = serde_json::to_vec_pretty(value);
    let mut text = text.map_err(|error| Failure::Internal(error.to_string()))?;
    text.push(b'\n');
    Ok(text)
}

/// Returns what does not depend on the machine: the same seed gives the same bytes.
fn card(
    problem: &Problem,
    config: &DqnConfig,
    trained: &DqnTrained,
    report: &LearnReport,
) -> Value {
    let digests: Vec<Value> = problem
        .inputs
        .iter()
        .filter(|input| matches!(input.role, InputRole::Model | InputRole::Property))
        .map(|input| {
            let name = input.path.file_name().map(|name| name.to_string_lossy().into_owned());
            json!({"role": input.role, "file": name, "sha256": input.sha256})
        })
        .collect();
    let rewards = &config.rewards;
    json!({
        "policert": VERSION,
        "model": problem.model.name,
        "property": problem.property.name,
        "constants": problem.record.constants,
        "inputs": digests,
        "seed": trained.seed,
        "ending": match trained.ending {
            DqnEnding::Done => "done".to_owned(),
            DqnEnding::Stopped(reason) => reason.to_string(),
        },
        "steps": trained.steps,
        "updates": trained.updates,
        "start_states": report.start_states,
        "evaluation": RunsRecord::from(&trained.score),
        "options": {
            "hidden": config.hidden,
            "filter": if config.mask { "applicable" } else { "none" },
            "first_seed": config.seed,
            "seeds": config.seeds,
            "steps": config.steps,
            "horizon": config.horizon,
            "discount": config.discount,
            "double": config.double,
            "rate": config.rate,
            "batch": config.batch,
            "buffer": config.buffer,
            "warm_up": config.warm_up,
            "learn_every": config.learn_every,
            "target_every": config.target_every,
            "exploration": config.exploration,
            "exploration_decay": config.exploration_decay,
            "evaluate_every": config.evaluate_every,
            "evaluation_runs": config.evaluation_runs,
            "competent": config.competent,
            "rewards": {
                "goal": rewards.goal,
                "unsafe": rewards.unsafe_state,
                "stuck": rewards.stuck,
                "step": rewards.step,
                "potential": rewards.potential,
                "step_cost": rewards.step_cost,
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files() {
        let name = |name: &str| LearntFiles::of(Path::new(name)).nnet;
        assert_eq!(name("a/b"), Path::new("a/b.nnet"));
        assert_eq!(name("a/b.onnx"), Path::new("a/b.nnet"));
        assert_eq!(name("a/v1.2"), Path::new("a/v1.2.nnet"));
    }
}
