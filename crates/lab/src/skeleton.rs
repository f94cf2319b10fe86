//! `policert interface`: a first interface for a model and a policy.

use std::path::{Path, PathBuf};

use policert_engine_api::Budget;
use policert_outcome::{Failure, OutputFiles, Remarks, metered, write_text};
use policert_policy::interface::Skeleton;
use policert_policy::{PolicyOptions, load_computing, policy_sizes};
use policert_problem::load::{ModelExpressions, model};
use policert_problem::{ProblemOptions, is_asnet};

/// The interface to write, and its place.
#[derive(Clone, Debug)]
pub struct SkeletonRequest {
    /// The model file.
    pub model: PathBuf,
    /// The problem, where the model is a domain in PDDL. [default: the model is in JANI]
    pub pddl_problem: Option<PathBuf>,
    /// Values for its constants.
    pub constants: Vec<(String, String)>,
    /// The policy file.
    pub policy: PathBuf,
    /// The output of an ONNX file that holds the scores, which the interface then names.
    pub scores: Option<String>,
    /// The interface file that is written.
    pub output: PathBuf,
    /// True if an existing file may be replaced.
    pub force: bool,
}

/// The result of writing an interface.
#[derive(Clone, Debug)]
pub struct WrittenSkeleton {
    /// Remarks on what was guessed and what is missing.
    pub notes: Vec<String>,
    /// The reason why the policy cannot be read with this interface yet, if it cannot.
    pub misfit: Option<String>,
}

/// Writes an interface with what the sizes and the names in the policy file suggest.
///
/// # Errors
/// A model or a policy that cannot be read, and a file that cannot be written or is there already.
pub fn write_skeleton(request: &SkeletonRequest) -> Result<WrittenSkeleton, Failure> {
    let SkeletonRequest { policy, output, .. } = request;
    if output.exists() && !request.force {
        let what =
            format!("{} is there already; --force replaces it", policert_files::path(output));
        return Err(Failure::Refused(what));
    }
    let outputs = OutputFiles::new([("--output", Some(output.as_path()))]);
    let inputs = [Some(&request.model), request.pddl_problem.as_ref(), Some(policy)];
    outputs.check(inputs.into_iter().flatten().map(PathBuf::as_path))?;
    let (budget, mut remarks) = (Budget::unlimited(), Remarks::default());
    let mut options = ProblemOptions::new(&request.model);
    options.pddl_problem.clone_from(&request.pddl_problem);
    options.constants.clone_from(&request.constants);
    let source = model(&options, &budget, &mut remarks)?;
    let expressions = ModelExpressions::new(&source);
    let Some(model) = source.model() else {
        return Err(Failure::Internal("a model without diagnostics is missing".to_owned()));
    };
    if is_asnet(policy) {
        return Err(Failure::Usage(format!(
            "{} is an action schema network, which needs no interface: a problem in PDDL is enough, \
             and for a model in JANI a translation (docs/asnets.md)",
            policert_files::path(policy)
        )));
    }
    let sizes = metered(&budget, |meter| policy_sizes(policy, request.scores.as_deref(), meter))?;
    let Skeleton { mut interface, notes } =
        Skeleton::new(model, &expressions, &sizes, file_name(policy, output));
    interface.scores.clone_from(&request.scores);
    let mut text = serde_json::to_string_pretty(&interface.to_json())
        .map_err(|error| Failure::Internal(error.to_string()))?;
    text.push('\n');
    write_text(output, &text)?;
    let rules = PolicyOptions::default();
    let files = (Some(policy.as_path()), Some(output.as_path()));
    let loaded = metered(&budget, |meter| {
        load_computing(model, &expressions, files.0, files.1, &rules, meter)
    });
    let misfit = loaded.err().map(|failure| failure.to_string());
    Ok(WrittenSkeleton { notes, misfit })
}

/// The policy file as the interface names it: relative to its folder where both are in one.
fn file_name(policy: &Path, interface: &Path) -> String {
    let folder = |path: &Path| path.parent().map(Path::to_path_buf).unwrap_or_default();
    if folder(policy) == folder(interface)
        && let Some(name) = policy.file_name()
    {
        return name.to_string_lossy().into_owned();
    }
    let whole = policy.canonicalize().unwrap_or_else(|_| policy.to_path_buf());
    whole.display().to_string()
}
