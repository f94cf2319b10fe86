//! What stands above a picture: its title, and what its colours mean.

use plotters::prelude::{
    BLACK, DrawingBackend, IntoFont, IntoTextStyle, PathElement, RGBColor, Rectangle, Text,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, ShapeStyle};
use policert_outcome::Failure;

use super::canvas::{Area, FONT, defect, pixels};

/// Says how something looks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Mark {
    /// A line.
    Line(RGBColor),
    /// The outline of a box.
    Frame(RGBColor),
    /// A dashed outline.
    Dashes(RGBColor),
}

/// A title and the meaning of marks, in rows that fit into a width.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Legend {
    title: String,
    rows: Vec<Vec<(Mark, String)>>,
}

const TITLE_SIZE: u32 = 20;
const TEXT_SIZE: u32 = 15;
const TITLE_HEIGHT: u32 = 42;
const ROW_HEIGHT: u32 = 24;
const MARK_WIDTH: u32 = 24;
const GAP: u32 = 8;

impl Legend {
    /// The legend of a picture of that width.
    pub fn new(title: &str, entries: Vec<(Mark, String)>, width: u32) -> Self {
        let mut rows: Vec<Vec<(Mark, String)>> = vec![Vec::new()];
        let mut used = 0;
        for (mark, text) in entries {
            let entry = (mark, policert_files::name(&text).to_string());
            let own = entry_width(&entry.1);
            if used > 0 && used + own > width {
                rows.push(Vec::new());
                used = 0;
            }
            used += own;
            if let Some(row) = rows.last_mut() {
                row.push(entry);
            }
        }
        Self { title: policert_files::name(title).to_string(), rows }
    }

    /// Its height in units of length.
    pub fn height(&self) -> u32 {
        TITLE_HEIGHT + ROW_HEIGHT * u32::try_from(self.rows.len()).unwrap_or(0)
    }

    /// Draws it into the upper part of an area.
    pub fn paint<B: DrawingBackend>(&self, area: &Area<B>, unit: u32) -> Result<(), Failure> {
        let width = area.dim_in_pixel().0 / unit;
        let anchor = Pos::new(HPos::Center, VPos::Center);
        // A long title is set in smaller letters.
        let wide = text_width(&self.title, TITLE_SIZE).max(1);
        let size = (TITLE_SIZE * width.saturating_sub(20) / wide).clamp(8, TITLE_SIZE) * unit;
        let style = (FONT, size).into_text_style(area).pos(anchor);
        let at = (pixels(width, unit) / 2, pixels(TITLE_HEIGHT, unit) / 2);
        area.draw(&Text::new(self.title.as_str(), at, style)).map_err(defect)?;
        let mut top = TITLE_HEIGHT;
        for row in &self.rows {
            let whole: u32 = row.iter().map(|(_, text)| entry_width(text)).sum();
            let mut left = width.saturating_sub(whole) / 2 + GAP;
            for (mark, text) in row {
                let middle = pixels(top, unit) + pixels(ROW_HEIGHT, unit) / 2;
                paint_mark(area, *mark, pixels(left, unit), middle, unit)?;
                let style = (FONT, TEXT_SIZE * unit)
                    .into_text_style(area)
                    .color(&BLACK)
                    .pos(Pos::new(HPos::Left, VPos::Center));
                let at = (pixels(left + MARK_WIDTH + GAP, unit), middle);
                area.draw(&Text::new(text.as_str(), at, style)).map_err(defect)?;
                left += entry_width(text);
            }
            top += ROW_HEIGHT;
        }
        Ok(())
    }
}

fn paint_mark<B: DrawingBackend>(
    area: &Area<B>,
    mark: Mark,
    left: i32,
    middle: i32,
    unit: u32,
) -> Result<(), Failure> {
    let (right, half) = (left + pixels(MARK_WIDTH, unit), pixels(6, unit));
    let style = |color: RGBColor| ShapeStyle {
        color: color.to_rgba(),
        filled: false,
        stroke_width: 2 * unit,
    };
    let corners = [(left, middle - half), (right, middle + half)];
    match mark {
        Mark::Line(color) => {
            let line = PathElement::new([(left, middle), (right, middle)], style(color));
            area.draw(&line).map_err(defect)
        }
        Mark::Frame(color) => {
            area.draw(&Rectangle::new(corners, color.mix(0.1).filled())).map_err(defect)?;
            let [(x0, y0), (x1, y1)] = corners;
            let frame = [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)];
            area.draw(&PathElement::new(frame, style(color))).map_err(defect)
        }
        Mark::Dashes(color) => {
            area.draw(&Rectangle::new(corners, color.mix(0.1).filled())).map_err(defect)?;
            let dash = pixels(6, unit);
            for (y, start) in [(middle - half, left), (middle + half, left)] {
                for at in [start, start + pixels(9, unit), start + pixels(18, unit)] {
                    let line = PathElement::new([(at, y), (at + dash, y)], style(color));
                    area.draw(&line).map_err(defect)?;
                }
            }
            Ok(())
        }
    }
}

fn entry_width(text: &str) -> u32 {
    MARK_WIDTH + 3 * GAP + text_width(text, TEXT_SIZE)
}

/// About how wide a text is; with room for the fonts of other viewers, which may be broader.
fn text_width(text: &str, size: u32) -> u32 {
    let laid_out = (FONT, size).into_font().layout_box(text).ok();
    let width = laid_out.and_then(|((left, _), (right, _))| u32::try_from(right - left).ok());
    width
        .map(|width| width * 5 / 4)
        .unwrap_or_else(|| u32::try_from(text.chars().count()).unwrap_or(0) * size / 2)
}
