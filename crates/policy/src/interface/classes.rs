//! Which label each class of a classifier is.

use policert_model::LabelId;

use crate::trees::Classes;

/// Labels in the order of a classifier's scores, and what to say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attached {
    /// The labels.
    pub outputs: Vec<LabelId>,
    pub notes: Vec<String>,
    pub warnings: Vec<String>,
}

/// Attaches the scores of a classifier to labels: by name, where the classes are the labels' names;
/// by number, where each class is the position of a label; else by position, with a warning.
///
/// # Errors
/// If only some of the classes are names of labels.
pub(crate) fn attach(
    classes: &Classes,
    labels: &[String],
    outputs: &[LabelId],
) -> Result<Attached, String> {
    let positions: Vec<Option<usize>> = match classes {
        Classes::Names(names) => {
            let find = |name| labels.iter().position(|label| label == name);
            names.iter().map(find).collect()
        }
        Classes::Numbers(numbers) => {
            let find = |&number| usize::try_from(number).ok().filter(|&at| at < labels.len());
            numbers.iter().map(find).collect()
        }
    };
    let shown = classes.shown();
    let found: Vec<usize> = positions.iter().copied().flatten().collect();
    let mut attached =
        Attached { outputs: outputs.to_vec(), notes: Vec::new(), warnings: Vec::new() };
    if found.len() == positions.len() {
        attached.outputs = found.iter().filter_map(|&at| outputs.get(at).copied()).collect();
        if attached.outputs != outputs {
            let labels: Vec<&str> = found.iter().map(|&at| labels[at].as_str()).collect();
            attached.notes.push(format!(
                "the scores belong to the classes {} of the policy file, in this order: to the \
                 labels {}",
                shown.join(", "),
                labels.join(", ")
            ));
        }
        return Ok(attached);
    }
    let by_name = matches!(classes, Classes::Names(_));
    if by_name && !found.is_empty() {
        let others: Vec<String> = shown
            .iter()
            .zip(&positions)
            .filter(|(_, position)| position.is_none())
            .map(|(name, _)| format!("`{name}`"))
            .collect();
        return Err(format!(
            "some classes of the policy are labels that the interface lists, and {} not: the \
             interface lists {}",
            if others.len() == 1 {
                format!("{} is", others[0])
            } else {
                format!("{} are", others.join(", "))
            },
            labels.join(", ")
        ));
    }
    let pairs: Vec<String> =
        shown.iter().zip(labels).map(|(class, label)| format!("{class} is `{label}`")).collect();
    attached.warnings.push(format!(
        "the classes of the policy are neither names nor positions of labels, so scores are attached \
         in the order of the interface: {}",
        pairs.join(", ")
    ));
    Ok(attached)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attached(classes: &Classes, labels: &[&str]) -> Result<Attached, String> {
        let names: Vec<String> = labels.iter().map(|&label| label.to_owned()).collect();
        let outputs: Vec<LabelId> = (0..labels.len()).map(LabelId::new).collect();
        attach(classes, &names, &outputs)
    }

    fn order(attached: &Attached) -> Vec<usize> {
        attached.outputs.iter().map(|label| label.index()).collect()
    }

    fn names(names: &[&str]) -> Classes {
        Classes::Names(names.iter().map(|&name| name.to_owned()).collect())
    }

    #[test]
    fn scores_of_classes_go_to_the_labels_of_their_names() {
        let classes = names(&["down", "left", "up"]);
        let same = attached(&classes, &["down", "left", "up"]).expect("all are labels");
        assert_eq!((order(&same), same.notes.len()), (vec![0, 1, 2], 0));
        let other = attached(&classes, &["up", "down", "left"]).expect("all are labels");
        assert_eq!((order(&other), other.notes.len()), (vec![1, 2, 0], 1));
        assert!(other.warnings.is_empty());
    }

    #[test]
    fn scores_of_numbered_classes_go_to_the_labels_at_these_positions() {
        let found = attached(&Classes::Numbers(vec![2, 0, 1]), &["a", "b", "c"]).expect("three");
        assert_eq!((order(&found), found.notes.len()), (vec![2, 0, 1], 1));
        for numbers in [vec![1, 2, 3], vec![-1, 0, 1]] {
            let other = attached(&Classes::Numbers(numbers), &["a", "b", "c"]).expect("three");
            assert_eq!((order(&other), other.warnings.len()), (vec![0, 1, 2], 1));
        }
    }

    #[test]
    fn classes_with_other_names_are_attached_in_their_order_with_a_warning() {
        let other = attached(&names(&["x", "y"]), &["go", "wait"]).expect("no name is a label");
        assert_eq!(order(&other), [0, 1]);
        assert!(other.warnings[0].contains("x is `go`, y is `wait`"), "{:?}", other.warnings);
    }

    #[test]
    fn classes_of_which_only_some_are_labels_are_refused() {
        let error = attached(&names(&["go", "stop"]), &["go", "wait"]).expect_err("one is none");
        assert!(error.contains("`stop` is not"), "{error}");
    }
}
