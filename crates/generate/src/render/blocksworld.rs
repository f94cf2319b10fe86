//! Stacks of blocks, and what the hand holds.

use policert_page::{Drawing, Look, Shape};

use super::{Names, Scene, at, unit};

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

    /// The stacks, each from the table up, and the blocks that lie neither in one nor in the hand.
    fn stacks(&self, state: &[i64]) -> (Vec<Vec<usize>>, Vec<usize>) {
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
        let lost = (0..count).filter(|&block| !is_drawn[block] && place(block) != 0);
        (stacks, lost.collect())
    }

    fn held(&self, state: &[i64]) -> Vec<usize> {
        (0..self.beneath.len()).filter(|&block| at(state, self.beneath[block]) == 0).collect()
    }
}

fn list(blocks: &[usize]) -> String {
    blocks.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Width and height of a block, and how far apart stacks are.
const BLOCK: (i64, i64) = (44, 32);
const APART: i64 = 60;
/// Where the lower edge of what is in the hand is.
const HAND: i64 = 70;

impl Scene for Blocks {
    fn without_map(&self) -> Option<&'static str> {
        Some("blocksworld")
    }

    fn lines(&self, state: &[i64]) -> Vec<String> {
        let (stacks, lost) = self.stacks(state);
        let held = self.held(state);
        let height = stacks.iter().map(Vec::len).max().unwrap_or(0);
        let width = self.beneath.len().saturating_sub(1).to_string().len();
        let hand = if held.is_empty() { "empty".to_owned() } else { list(&held) };
        let mut lines = vec![format!("hand: {hand}")];
        for level in (0..height).rev() {
            let cell = |stack: &Vec<usize>| match stack.get(level) {
                Some(block) => format!(" [{block:>width$}]"),
                None => " ".repeat(width + 3),
            };
            lines.push(stacks.iter().map(cell).collect());
        }
        lines.push("=".repeat(stacks.len().max(1) * (width + 3) + 1));
        if !lost.is_empty() {
            lines.push(format!("nowhere: {}", list(&lost)));
        }
        lines
    }

    fn size(&self) -> (i64, i64) {
        let count = unit(self.beneath.len());
        ((count * APART + 20).max(200), HAND + 10 + count * BLOCK.1 + 30)
    }

    fn ground(&self) -> Vec<Shape> {
        let (width, height) = self.size();
        vec![
            Shape::Line(Look::Ground, [5, height - 28, width - 5, height - 28]),
            Shape::Text(Look::Note, [width / 2, height - 10], "table".to_owned()),
        ]
    }

    fn drawing(&self, state: &[i64]) -> Drawing {
        let (stacks, lost) = self.stacks(state);
        let held = self.held(state);
        let (width, height) = self.size();
        let mut shapes = vec![
            Shape::Line(Look::Actor, [width / 2, 0, width / 2, 22]),
            Shape::Line(Look::Actor, [width / 2 - 28, 22, width / 2 + 28, 22]),
            Shape::Line(Look::Actor, [width / 2 - 28, 22, width / 2 - 28, 46]),
            Shape::Line(Look::Actor, [width / 2 + 28, 22, width / 2 + 28, 46]),
            Shape::Text(Look::Note, [width / 2 + 52, 20], "hand".to_owned()),
        ];
        let mut block = |number: usize, left: i64, bottom: i64| {
            let corner = [left, bottom - BLOCK.1, BLOCK.0, BLOCK.1];
            shapes.push(Shape::Rect(Look::Thing, corner));
            let middle = [left + BLOCK.0 / 2, bottom - BLOCK.1 / 2 + 5];
            shapes.push(Shape::Text(Look::Word, middle, number.to_string()));
        };
        for (at, number) in held.iter().enumerate() {
            block(*number, width / 2 - BLOCK.0 / 2 + unit(at) * (BLOCK.0 + 4), HAND);
        }
        for stack in &stacks {
            // A stack stands where the place of its lowest block is, so that it stays there.
            let left = 10 + unit(stack.first().copied().unwrap_or(0)) * APART + 8;
            for (level, number) in stack.iter().enumerate() {
                block(*number, left, height - 30 - unit(level) * BLOCK.1);
            }
        }
        let hand = match &held[..] {
            [] => "The hand is empty.".to_owned(),
            held => format!("The hand holds {}.", list(held)),
        };
        let stacks: Vec<String> = stacks.iter().map(|stack| list(stack)).collect();
        let mut text = match &stacks[..] {
            [] => format!("{hand} The table is empty."),
            stacks => format!("{hand} Stacks from the table up: {}.", stacks.join("; ")),
        };
        if !lost.is_empty() {
            text += &format!(" Nowhere: {}.", list(&lost));
            let text = format!("nowhere: {}", list(&lost));
            shapes.push(Shape::Text(Look::Harm, [width / 2, height - 34], text));
        }
        Drawing { shapes, text }
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
