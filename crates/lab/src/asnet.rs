//! Action schema networks: training, pictures, and networks of single problems as ONNX.

use std::path::{Path, PathBuf};

use policert_asnet::{AsnetFile, DomainShape, Instance, network, picture, read_asnet};
use policert_engine_api::Budget;
use policert_outcome::{Failure, metered, write_file, write_text};
use policert_policy::{ElementType, PolicyError, onnx};
use policert_problem::planning_task;
use policert_train::{AsnetConfig, AsnetProgress, AsnetTraining, Random, asnet_run};

pub use policert_asnet::{Architecture, Nonlinearity};

/// A training of an action schema network.
#[derive(Clone, PartialEq, Debug)]
pub struct AsnetTrainRequest {
    /// The domain.
    pub domain: PathBuf,
    /// The problems to train on.
    pub problems: Vec<PathBuf>,
    /// Problems that the network is only tried on.
    pub unseen: Vec<PathBuf>,
    /// The settings.
    pub config: AsnetConfig,
    /// The file to write.
    pub output: PathBuf,
}

/// What came of a training.
#[derive(Clone, PartialEq, Debug)]
pub struct AsnetTrainReport {
    /// The best round.
    pub best: AsnetProgress,
    /// Number of unseen problems that the network solves.
    pub unseen_solved: usize,
    /// Number of unseen problems.
    pub unseen: usize,
}

/// Trains a network and writes it.
///
/// # Errors
/// Files that are wrong, problems that are too large to train on, a file that cannot be written.
pub fn train_asnet(
    request: &AsnetTrainRequest,
    budget: &Budget,
    observe: &mut dyn FnMut(&AsnetProgress),
) -> Result<AsnetTrainReport, Failure> {
    let read = |problem: &PathBuf| planning_task(&request.domain, problem, budget);
    let tasks = request.problems.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let unseen = request.unseen.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let mut polled = budget.fork();
    let mut stop = || polled.poll_clock().is_err();
    let training = AsnetTraining::new(request.config.clone(), tasks, &mut stop)
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let trained = training.run(observe, &mut stop);
    write_text(&request.output, &AsnetFile::new(&trained.asnet).text())?;
    let mut unseen_solved = 0;
    for task in &unseen {
        let instance = Instance::of(&trained.asnet.shape, task);
        let mut random = Random::new(request.config.seed);
        let horizon = request.config.horizon;
        let run = asnet_run(&trained.asnet, task, &instance, horizon, &mut random);
        unseen_solved += usize::from(run.reaches_goal);
    }
    Ok(AsnetTrainReport { best: trained.best, unseen_solved, unseen: unseen.len() })
}

/// Draws the modules of a problem, in as many layers as a network has.
///
/// # Errors
/// Files that are wrong, or a file that cannot be written.
pub fn draw_asnet(
    domain: &Path,
    problem: &Path,
    asnet: &Path,
    output: &Path,
) -> Result<(), Failure> {
    let task = planning_task(domain, problem, &Budget::unlimited())?;
    let shape = DomainShape::of(&task.domain);
    let asnet = metered(&Budget::unlimited(), |_| read_asnet(asnet, &shape))?;
    write_text(output, &picture(&Instance::of(&shape, &task), &asnet.architecture))
}

/// The sizes of a network that was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AsnetSizes {
    /// Number of propositions, which are the inputs.
    pub inputs: usize,
    /// Number of actions, whose scores are the outputs.
    pub outputs: usize,
    /// Number of elements of all modules.
    pub neurons: usize,
}

/// Writes the network of a problem as ONNX: its inputs are the propositions, its outputs the scores of the
/// actions, both in the order of the model.
///
/// # Errors
/// Files that are wrong, or a file that cannot be written.
pub fn export_asnet(
    domain: &Path,
    problem: &Path,
    asnet: &Path,
    output: &Path,
) -> Result<AsnetSizes, Failure> {
    let task = planning_task(domain, problem, &Budget::unlimited())?;
    let shape = DomainShape::of(&task.domain);
    let instance = Instance::of(&shape, &task);
    let (network, bytes) = metered(&Budget::unlimited(), |_| {
        let asnet = read_asnet(asnet, &shape)?;
        let network = network(&asnet, &instance)?;
        let bytes = onnx::write_onnx(&network, ElementType::F64)?;
        Ok::<_, PolicyError>((network, bytes))
    })?;
    write_file(output, &bytes)
        .map_err(|source| Failure::Output { what: output.display().to_string(), source })?;
    Ok(AsnetSizes {
        inputs: network.input_width(),
        outputs: network.output_width(),
        neurons: network.hidden_widths().iter().sum(),
    })
}
