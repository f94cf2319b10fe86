//! Action schema networks: training, pictures, and networks of single problems as ONNX.

use std::path::{Path, PathBuf};

use policert_asnet::{AsnetFile, DomainShape, Instance, network, picture, read_asnet};
use policert_engine_api::{Budget, StopReason};
use policert_outcome::{Failure, metered, write_file, write_text};
use policert_pddl::Task;
use policert_policy::{ElementType, PolicyError, onnx};
use policert_problem::planning_task;
use policert_train::{
    AsnetConfig, AsnetObserver, AsnetProgress, AsnetTrained, AsnetTraining, Random, asnet_run,
};

use crate::checkpoint::{self, CheckpointFile};

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
    /// The file to which the state of training is written, so that it can be continued.
    pub checkpoint: Option<PathBuf>,
    /// The file from which training is continued.
    pub resume: Option<PathBuf>,
}

/// What came of a training.
#[derive(Clone, PartialEq, Debug)]
pub struct AsnetTrainReport {
    /// The best round.
    pub best: AsnetProgress,
    /// Number of unseen problems that the network solves, and number of them; `None` without such problems,
    /// and after a stop.
    pub unseen: Option<(usize, usize)>,
    /// Why training was stopped, if it was.
    pub stopped: Option<StopReason>,
}

/// Trains a network and writes it, also if it is stopped after a round.
///
/// # Errors
/// Files that are wrong, problems without way to the goal, a stop before the first round was over, a file
/// that cannot be written.
pub fn train_asnet(
    request: &AsnetTrainRequest,
    budget: &Budget,
    observe: &mut dyn FnMut(&AsnetProgress),
) -> Result<AsnetTrainReport, Failure> {
    let read = |problem: &PathBuf| planning_task(&request.domain, problem, budget);
    let tasks = request.problems.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let unseen = request.unseen.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let resumed = request.resume.as_deref().map(checkpoint::read).transpose()?;
    let failed = |error| checkpoint::failure(error, request.resume.as_deref());
    let mut polled = budget.fork();
    let mut training =
        AsnetTraining::new(request.config.clone(), tasks, &mut polled).map_err(failed)?;
    if let Some(bytes) = resumed {
        training.restore(&bytes).map_err(failed)?;
    }
    let checkpoint = CheckpointFile::new(request.checkpoint.as_deref());
    let mut events = Events { observe, checkpoint };
    let trained = training.run(&mut events, &mut polled).map_err(failed)?;
    let unwritten = events.checkpoint.unwritten;
    write_text(&request.output, &AsnetFile::new(&trained.asnet).text())?;
    let AsnetTrained { best, mut stopped, .. } = trained.clone();
    let unseen = match try_out(&trained, &unseen, &request.config, &mut polled) {
        Ok(solved) => Some((solved, unseen.len())).filter(|(_, count)| *count > 0),
        Err(reason) => {
            stopped = stopped.or(Some(reason));
            None
        }
    };
    unwritten.map_or(Ok(AsnetTrainReport { best, unseen, stopped }), Err)
}

/// Passes on what training tells.
struct Events<'a> {
    observe: &'a mut dyn FnMut(&AsnetProgress),
    checkpoint: CheckpointFile<'a>,
}

impl AsnetObserver for Events<'_> {
    fn progress(&mut self, progress: &AsnetProgress) {
        (self.observe)(progress);
    }

    fn wants_checkpoints(&self) -> bool {
        self.checkpoint.is_wanted()
    }

    fn checkpoint(&mut self, bytes: Vec<u8>) {
        self.checkpoint.write(&bytes);
    }
}

/// Counts the problems that a network solves.
fn try_out(
    trained: &AsnetTrained,
    tasks: &[Task],
    config: &AsnetConfig,
    budget: &mut Budget,
) -> Result<usize, StopReason> {
    let mut solved = 0;
    for task in tasks {
        let instance = Instance::of(&trained.asnet.shape, task);
        let mut random = Random::new(config.seed);
        let (asnet, horizon) = (&trained.asnet, config.horizon);
        let run = asnet_run(asnet, task, &instance, horizon, &mut random, budget)?;
        solved += usize::from(run.reaches_goal);
    }
    Ok(solved)
}

/// Draws the modules of a problem, in as many layers as a network has.
///
/// # Errors
/// Files that are wrong, a stop, or a file that cannot be written.
pub fn draw_asnet(
    domain: &Path,
    problem: &Path,
    asnet: &Path,
    output: &Path,
    budget: &Budget,
) -> Result<(), Failure> {
    let task = planning_task(domain, problem, budget)?;
    let shape = DomainShape::of(&task.domain);
    let asnet = metered(budget, |_| read_asnet(asnet, &shape))?;
    let picture = picture(&Instance::of(&shape, &task), &asnet.architecture);
    budget.fork().poll_clock()?;
    write_text(output, &picture)
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
/// Files that are wrong, a stop, or a file that cannot be written.
pub fn export_asnet(
    domain: &Path,
    problem: &Path,
    asnet: &Path,
    output: &Path,
    budget: &Budget,
) -> Result<AsnetSizes, Failure> {
    let task = planning_task(domain, problem, budget)?;
    let shape = DomainShape::of(&task.domain);
    let instance = Instance::of(&shape, &task);
    let (network, bytes) = metered(budget, |_| {
        let asnet = read_asnet(asnet, &shape)?;
        let network = network(&asnet, &instance)?;
        let bytes = onnx::write_onnx(&network, ElementType::F64)?;
        Ok::<_, PolicyError>((network, bytes))
    })?;
    budget.fork().poll_clock()?;
    write_file(output, &bytes)
        .map_err(|source| Failure::Output { what: output.display().to_string(), source })?;
    Ok(AsnetSizes {
        inputs: network.input_width(),
        outputs: network.output_width(),
        neurons: network.hidden_widths().iter().sum(),
    })
}
