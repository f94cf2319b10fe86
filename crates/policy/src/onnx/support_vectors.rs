//! Support vector machines with a linear kernel.
//!
//! A classifier compares two classes by a sum of products with support vectors, as libsvm does: one sum
//! for each pair of classes, and each sum is a vote for the first class above 0, else for the second.
//! The class is the first one with the most votes.

use super::attributes::Attributes;
use super::call::Call;
use super::classical::{classes, numbers};
use super::graph::Import;
use super::tensor::Element;
use super::value::{Decision, Drawing, Flow, Known, Ranked, UnreadValue, Value};
use crate::activation::{Activation, Staircase};
use crate::error::PolicyError;
use crate::matrix::Matrix;
use crate::network::NodeId;
use crate::trees::Classes;

type Result<T> = std::result::Result<T, PolicyError>;

fn invalid(message: impl Into<String>) -> PolicyError {
    PolicyError::invalid("", message)
}

fn unsupported(message: impl Into<String>) -> PolicyError {
    PolicyError::unsupported("", message)
}

/// Refuses other kernels than the linear one.
fn check_kernel(attributes: &Attributes<'_>) -> Result<()> {
    match attributes.text("kernel_type")?.as_deref() {
        None | Some("LINEAR") => Ok(()),
        Some(kernel) => Err(unsupported(format!(
            "kernel {kernel} is not supported; train with kernel=\"linear\", or a network or a tree \
             ensemble"
        ))),
    }
}

/// The features of one state, and their number.
fn features(import: &mut Import<'_, '_>, call: &Call) -> Result<(Flow, usize)> {
    let flow = numbers(call.required(0)?)?;
    let columns = import.builder.width(flow.node);
    if flow.shape.last() == Some(&columns) {
        return Ok((flow, columns));
    }
    Err(unsupported(format!("an input of shape {:?}", flow.shape)))
}

/// Reads `SVMRegressor`: products with the support vectors, summed up with their coefficients, and
/// `rho`. Without support vectors, the coefficients are those of the features.
pub(super) fn regressor(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let attributes = call.attributes(&[
        "coefficients",
        "kernel_params",
        "kernel_type",
        "n_supports",
        "one_class",
        "post_transform",
        "rho",
        "support_vectors",
    ])?;
    check_kernel(&attributes)?;
    if attributes.integer("one_class")?.unwrap_or(0) != 0 {
        return Err(unsupported("machines of one class are not supported"));
    }
    if let Some(other) = attributes.text("post_transform")?.filter(|given| given != "NONE") {
        return Err(unsupported(format!("`post_transform` {other} is not supported")));
    }
    let features = features(import, call)?;
    let supports = attributes.integer("n_supports")?.unwrap_or(0);
    let rows =
        usize::try_from(supports).map_err(|_| invalid(format!("`n_supports` is {supports}")))?;
    let vectors = attributes.floats("support_vectors")?.unwrap_or_default();
    let coefficients = attributes.floats("coefficients")?.unwrap_or_default();
    let rho = attributes.floats("rho")?.unwrap_or_default();
    let [rho] = rho[..] else {
        return Err(invalid(format!("`rho` has {} numbers, one is expected", rho.len())));
    };
    let (flow, columns) = features;
    let (given, listed) = (vectors.len(), coefficients.len());
    let wrong = || {
        invalid(format!(
            "{given} numbers of {rows} support vectors and {listed} coefficients for {columns} features"
        ))
    };
    let mut node = flow.node;
    if rows > 0 || given > 0 {
        let vectors = Matrix::new(rows, columns, vectors).ok_or_else(wrong)?;
        node = import.builder.affine(node, vectors, vec![0.0; rows])?;
    }
    let width = import.builder.width(node);
    let coefficients = Matrix::new(1, width, coefficients).ok_or_else(wrong)?;
    node = import.builder.affine(node, coefficients, vec![rho])?;
    Ok(Value::computed(node, vec![1, 1], Element::F32))
}

/// Reads `SVMClassifier`. Without support vectors, each class has coefficients of the features, and
/// the greatest sum decides. The scores behind the label are not computed where they are votes.
pub(super) fn classifier(import: &mut Import<'_, '_>, call: &Call) -> Result<Vec<Value>> {
    let attributes = call.attributes(&[
        "classlabels_ints",
        "classlabels_strings",
        "coefficients",
        "kernel_params",
        "kernel_type",
        "post_transform",
        "prob_a",
        "prob_b",
        "rho",
        "support_vectors",
        "vectors_per_class",
    ])?;
    check_kernel(&attributes)?;
    let classes = classes(&attributes, "classlabels_ints")?
        .ok_or_else(|| invalid("the classes are not listed"))?;
    let count = match &classes {
        Classes::Numbers(numbers) => numbers.len(),
        Classes::Names(names) => names.len(),
    };
    let features = features(import, call)?;
    let coefficients = attributes.floats("coefficients")?.unwrap_or_default();
    let rho = attributes.floats("rho")?.unwrap_or_default();
    let per_class: Option<Vec<usize>> = attributes
        .integers("vectors_per_class")?
        .unwrap_or_default()
        .iter()
        .map(|&vectors| usize::try_from(vectors).ok())
        .collect();
    let per_class = per_class.ok_or_else(|| invalid("a number of vectors is negative"))?;
    let shape = vec![1, count];
    let (node, scores) = if per_class.is_empty() {
        let node = classes_of_features(import, &features, count, coefficients, &rho)?;
        let (element, values) = (Element::F32, Some(node));
        let (is_positive, masked, drawing) = (false, None, Drawing::Unknown);
        let ranked = Ranked { node, shape, element, values, is_positive, masked, drawing };
        (node, Value::Ranked(ranked))
    } else {
        let vectors = attributes.floats("support_vectors")?.unwrap_or_default();
        let machine = Machine { per_class, coefficients, rho };
        let message =
            "the sums behind the votes of a support vector machine are not computed; the label is";
        let unread = UnreadValue {
            shape: None,
            element: Some(Element::F32),
            known: Known::Nothing,
            place: String::new(),
            message: message.to_owned(),
        };
        (machine.votes(import, &features, count, vectors)?, Value::Unread(unread))
    };
    let element = match &classes {
        Classes::Names(_) => Element::Text,
        Classes::Numbers(_) => Element::Integer,
    };
    let (classes, shape) = (Some(classes), vec![1]);
    let (masked, drawing) = (None, Drawing::Unknown);
    let label = Decision { node, shape, element, classes, masked, drawing };
    Ok(vec![Value::Decision(label), scores])
}

/// A row of coefficients for each class, and one summand for all.
fn classes_of_features(
    import: &mut Import<'_, '_>,
    (flow, columns): &(Flow, usize),
    count: usize,
    coefficients: Vec<f64>,
    rho: &[f64],
) -> Result<NodeId> {
    if count < 3 {
        let message = "of two classes it is supported with support vectors alone";
        return Err(unsupported(message));
    }
    let &[summand, ..] = rho else { return Err(invalid("`rho` is empty")) };
    let given = coefficients.len();
    let rows = Matrix::new(count, *columns, coefficients).ok_or_else(|| {
        invalid(format!("{given} coefficients of {count} classes for {columns} features"))
    })?;
    import.builder.affine(flow.node, rows, vec![summand; count])
}

/// Support vectors of several classes, those of one class after those of another.
struct Machine {
    per_class: Vec<usize>,
    /// For each class but the last a row: the coefficients of all vectors against it, where those of
    /// the class itself skip it.
    coefficients: Vec<f64>,
    /// One summand for each pair of classes.
    rho: Vec<f64>,
}

impl Machine {
    /// The votes for each class.
    fn votes(
        &self,
        import: &mut Import<'_, '_>,
        features: &(Flow, usize),
        count: usize,
        vectors: Vec<f64>,
    ) -> Result<NodeId> {
        let total = self.per_class.iter().try_fold(0usize, |sum, &own| sum.checked_add(own));
        let total =
            total.filter(|&total| total > 0).ok_or_else(|| invalid("no support vectors"))?;
        let pairs: Vec<(usize, usize)> =
            (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b))).collect();
        let (listed, rho) = (self.coefficients.len(), self.rho.len());
        if self.per_class.len() != count
            || count < 2
            || rho != pairs.len()
            || total.checked_mul(count - 1) != Some(listed)
        {
            return Err(invalid(format!(
                "{count} classes, {} of them with {total} support vectors, {listed} coefficients and \
                 {rho} summands do not fit",
                self.per_class.len()
            )));
        }
        let (flow, columns) = features;
        let given = vectors.len();
        let vectors = Matrix::new(total, *columns, vectors).ok_or_else(|| {
            invalid(format!("{given} numbers of {total} support vectors for {columns} features"))
        })?;
        let kernels = import.builder.affine(flow.node, vectors, vec![0.0; total])?;
        let first = |class: usize| self.per_class[..class].iter().sum::<usize>();
        let terms = pairs.iter().enumerate().flat_map(|(pair, &(a, b))| {
            let own = |class: usize, row: usize| {
                (first(class)..first(class) + self.per_class[class])
                    .map(move |vector| (pair, vector, self.coefficients[row * total + vector]))
            };
            own(a, b - 1).chain(own(b, a))
        });
        let sums = import.sparse_affine(kernels, terms, self.rho.clone())?;
        let signs = import.builder.activation(sums, Activation::Staircase(Staircase::Sign))?;
        // 1 above 0, else 0.
        let wins = import.builder.relu(signs);
        let entries =
            pairs.iter().enumerate().flat_map(|(pair, &(a, b))| [(a, pair, 1.0), (b, pair, -1.0)]);
        // The second class of a pair begins with the vote.
        let mut start = vec![0.0; count];
        pairs.iter().for_each(|&(_, b)| start[b] += 1.0);
        import.sparse_affine(wins, entries, start)
    }
}
