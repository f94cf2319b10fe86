//! What a name of a graph stands for.

use std::rc::Rc;

use super::tensor::{Element, Tensor};
use crate::error::PolicyError;
use crate::network::NodeId;
use crate::trees::Classes;

/// The meaning of a name in the graph.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// The same in every state.
    Constant(Tensor),
    /// Depends on the input.
    Flow(Flow),
    /// Of its elements only the order is known.
    Ranked(Ranked),
    /// The index, or the name, of the greatest of some scores.
    Decision(Decision),
    /// Not computed.
    Unread(UnreadValue),
}

/// A value that depends on the input: the elements of a vector, in row-major order of a shape.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub(super) node: NodeId,
    pub(super) shape: Vec<usize>,
    pub(super) element: Element,
    pub(super) origin: Origin,
}

/// The knowledge about the elements of a flow.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    /// Nothing more.
    Computed,
    /// Each one is the input of the network of this index.
    Inputs(Rc<[usize]>),
    /// Each one is 0 or 1.
    Truth,
}

/// Values that are one strictly increasing function of the elements of a vector, the same for all
/// of them; which function that is depends on the state.
#[derive(Clone, Debug)]
pub(super) struct Ranked {
    pub(super) node: NodeId,
    pub(super) shape: Vec<usize>,
    pub(super) element: Element,
    /// The values themselves, where they are computed.
    pub(super) values: Option<NodeId>,
    /// True if all values are positive.
    pub(super) is_positive: bool,
    pub(super) drawing: Drawing,
    /// The number that takes the place of values of labels that are not applicable.
    pub(super) masked: Option<f64>,
}

/// How values say with which probabilities a policy draws, in terms of the vector whose order they have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Drawing {
    /// They are its elements, but for a number that is the same for all: logarithms of probabilities.
    Logarithms,
    /// They are the softmax of its elements: the probabilities.
    Probabilities,
    /// They are neither.
    Unknown,
}

impl Drawing {
    /// Of numbers from which one that is the same for all was taken away.
    pub(super) fn shifted(self) -> Self {
        match self {
            Self::Logarithms => Self::Logarithms,
            Self::Probabilities | Self::Unknown => Self::Unknown,
        }
    }
}

/// The first of the greatest elements of a vector.
#[derive(Clone, Debug)]
pub(super) struct Decision {
    pub(super) node: NodeId,
    pub(super) shape: Vec<usize>,
    pub(super) element: Element,
    /// The names or numbers that stand for the indices, if the index was looked up.
    pub(super) classes: Option<Classes>,
    /// As of [`Ranked`].
    pub(super) masked: Option<f64>,
    pub(super) drawing: Drawing,
}

/// A value that is not computed: whatever needs more than is known of it is refused for this reason.
#[derive(Clone, Debug)]
pub(super) struct UnreadValue {
    pub(super) shape: Option<Vec<usize>>,
    pub(super) element: Option<Element>,
    pub(super) known: Known,
    /// The node that could not be computed.
    pub(super) place: String,
    pub(super) message: String,
}

/// The knowledge about the elements of a value that is not computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Nothing,
    /// They are real numbers in every state.
    Real,
    /// They are positive real numbers in every state.
    Positive,
    /// They say which labels are applicable.
    Applicable,
}

impl UnreadValue {
    /// The error that says why the value was not computed.
    pub(super) fn refusal(&self) -> PolicyError {
        PolicyError::unsupported(self.place.clone(), self.message.clone())
    }
}

impl Flow {
    /// A flow of which nothing more is known.
    pub(super) fn computed(node: NodeId, shape: Vec<usize>, element: Element) -> Self {
        Self { node, shape, element, origin: Origin::Computed }
    }
}

impl Value {
    /// A flow of which nothing more is known.
    pub(super) fn computed(node: NodeId, shape: Vec<usize>, element: Element) -> Self {
        Self::Flow(Flow::computed(node, shape, element))
    }

    /// An input of the graph that says which labels are applicable.
    pub(super) fn mask(name: &str, shape: &[usize], element: Element) -> Self {
        Self::Unread(UnreadValue {
            shape: Some(shape.to_vec()),
            element: Some(element),
            known: Known::Applicable,
            place: format!("input `{name}`"),
            message:
                "which labels are applicable may only choose between scores and one low number \
                      (Where)"
                    .to_owned(),
        })
    }

    pub(super) fn element(&self) -> Option<Element> {
        match self {
            Value::Constant(tensor) => Some(tensor.element()),
            Value::Flow(flow) => Some(flow.element),
            Value::Ranked(ranked) => Some(ranked.element),
            Value::Decision(decision) => Some(decision.element),
            Value::Unread(unread) => unread.element,
        }
    }

    /// The shape; `None` if it is not known.
    pub(super) fn known_shape(&self) -> Option<&[usize]> {
        match self {
            Value::Unread(unread) => unread.shape.as_deref(),
            other => Some(other.shape()),
        }
    }

    /// The shape; that of a number if it is not known.
    pub(super) fn shape(&self) -> &[usize] {
        match self {
            Value::Constant(tensor) => &tensor.shape,
            Value::Flow(flow) => &flow.shape,
            Value::Ranked(ranked) => &ranked.shape,
            Value::Decision(decision) => &decision.shape,
            Value::Unread(unread) => unread.shape.as_deref().unwrap_or_default(),
        }
    }

    /// The same elements in another shape, of the same number of elements.
    pub(super) fn reshaped(mut self, new: Vec<usize>) -> Self {
        match &mut self {
            Value::Constant(Tensor { shape, .. })
            | Value::Flow(Flow { shape, .. })
            | Value::Ranked(Ranked { shape, .. })
            | Value::Decision(Decision { shape, .. }) => *shape = new,
            Value::Unread(UnreadValue { shape, .. }) => *shape = Some(new),
        }
        self
    }

    /// A flow of floating-point numbers; integers must be cast first, since their arithmetic is
    /// another one.
    pub(super) fn into_numbers(self) -> Result<Flow, PolicyError> {
        match self.into_flow()? {
            flow if flow.element.is_real() => Ok(flow),
            _ => Err(PolicyError::unsupported("", "integer arithmetic is not supported")),
        }
    }

    /// A flow of any numbers.
    pub(super) fn into_flow(self) -> Result<Flow, PolicyError> {
        match self {
            Value::Flow(flow) => Ok(flow),
            Value::Constant(_) => {
                Err(PolicyError::unsupported("", "arithmetic of constants is not supported"))
            }
            Value::Ranked(Ranked { values: Some(node), shape, element, .. }) => {
                Ok(Flow::computed(node, shape, element))
            }
            Value::Ranked(_) => {
                let message = "it needs values of which only the order is known: such are those of \
                               a softmax, which is supported at the end of a policy only";
                Err(PolicyError::unsupported("", message))
            }
            Value::Decision(_) => {
                let message = "it computes with the index of a greatest score, which is supported \
                               as the end of a policy only";
                Err(PolicyError::unsupported("", message))
            }
            Value::Unread(unread) => Err(unread.refusal()),
        }
    }

    /// A constant that must be one.
    pub(super) fn into_constant(self, what: &str) -> Result<Tensor, PolicyError> {
        match self {
            Value::Constant(tensor) => Ok(tensor),
            Value::Unread(unread) => Err(unread.refusal()),
            Value::Flow(_) | Value::Ranked(_) | Value::Decision(_) => {
                Err(PolicyError::unsupported("", format!("{what} must be constant")))
            }
        }
    }
}
