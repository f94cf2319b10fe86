//! Stacks of blocks, and what the hand holds.

use super::{Names, at};

#[derive(Clone, Debug)]
pub(super) struct Blocks {
    /// By block: where the index of what it lies on is.
    beneath: Vec<usize>,
}

impl Blocks {
    pub(super) fn new(names: &Names<'_>) -> Option<Self> {
        names.index("hand-empty")?;
        names.index("table-counter")?;
        let beneath = names.numbered("block_", 0);
        (!beneath.is_empty()).then_some(Self { beneath })
    }

    /// The block beneath `block`, from its value: the block itself is not counted.
    fn beneath(&self, block: usize, state: &[i64]) -> Option<usize> {
        let k = usize::try_from(at(state, self.beneath[block]) - 2).ok()?;
        Some(if k < block { k } else { k + 1 })
    }

    pub(super) fn draw(&self, state: &[i64]) -> Vec<String> {
        let count = self.beneath.len();
        let place = |block: usize| at(state, self.beneath[block]);
        let mut is_drawn = vec![false; count];
        let mut stacks: Vec<Vec<usize>> = Vec::new();
        for bottom in (0..count).filter(|&block| place(block) == 1) {
            let mut stack = Vec::new();
            let mut top = Some(bottom);
            while let Some(block) = top {
                is_drawn[block] = true;
                stack.push(block);
                top = (0..count).find(|&b| !is_drawn[b] && self.beneath(b, state) == Some(block));
            }
            stacks.push(stack);
        }
        let held = (0..count).filter(|&block| place(block) == 0);
        let held: Vec<String> = held.map(|block| block.to_string()).collect();
        let height = stacks.iter().map(Vec::len).max().unwrap_or(0);
        let width = count.saturating_sub(1).to_string().len();
        let hand = if held.is_empty() { "empty".to_owned() } else { held.join(" ") };
        let mut lines = vec![format!("hand: {hand}")];
        for level in (0..height).rev() {
            let cell = |stack: &Vec<usize>| match stack.get(level) {
                Some(block) => format!(" [{block:>width$}]"),
                None => " ".repeat(width + 3),
            };
            lines.push(stacks.iter().map(cell).collect());
        }
        lines.push("=".repeat(stacks.len().max(1) * (width + 3) + 1));
        let lost = (0..count).filter(|&block| !is_drawn[block] && place(block) != 0);
        let lost: Vec<String> = lost.map(|block| block.to_string()).collect();
        if !lost.is_empty() {
            lines.push(format!("nowhere: {}", lost.join(" ")));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use crate::StatePicture;

    fn picture() -> StatePicture {
        let names = ["hand-empty", "table-counter", "block_0", "block_1", "block_2", "block_3"];
        StatePicture::new("m", &names.map(|name| (name, 0, 4)), None).expect("blocks")
    }

    #[test]
    fn stacks() {
        // Block 0 on 2, 2 on the table, 1 on the table, 3 in the hand.
        assert_eq!(picture().draw(&[0, 2, 3, 1, 1, 0]), "hand: 3\n     [0]\n [1] [2]\n=========\n");
        // One stack, 0 on 1 on 2 on 3.
        let text = "hand: empty\n [0]\n [1]\n [2]\n [3]\n=====\n";
        assert_eq!(picture().draw(&[1, 1, 2, 3, 4, 1]), text);
    }

    #[test]
    fn what_makes_no_sense_is_said() {
        // 0 and 1 lie on each other, 2 and 3 on the table.
        let text = "hand: empty\n [2] [3]\n=========\nnowhere: 0 1\n";
        assert_eq!(picture().draw(&[1, 2, 2, 2, 1, 1]), text);
    }
}
