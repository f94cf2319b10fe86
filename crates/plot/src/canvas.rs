//! From a picture to the bytes of an image: SVG, or PNG.

use std::fmt::Display;
use std::path::Path;
use std::sync::OnceLock;

use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::prelude::{
    BLACK, BitMapBackend, Cartesian2d, DrawingArea, DrawingBackend, FontStyle, IntoDrawingArea,
    RGBColor, SVGBackend, WHITE,
};
use plotters::style::register_font;
use policert_outcome::Failure;

use super::axis::Axis;

/// Says what a file with a picture contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImageFormat {
    /// Scalable vector graphics.
    Svg,
    /// Portable network graphics, two pixels for each unit of length.
    Png,
}

impl ImageFormat {
    /// The format that the ending of a file's name stands for.
    ///
    /// # Errors
    /// If it is neither `.svg` nor `.png`.
    pub fn of(path: &Path) -> Result<Self, Failure> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            _ => Err(Failure::Usage(format!(
                "{}: pictures are files that end in .svg or .png",
                path.display()
            ))),
        }
    }
}

/// The area that is drawn on.
pub(crate) type Area<B> = DrawingArea<B, Shift>;
/// A pair of axes.
pub(super) type Plane = Cartesian2d<Axis, Axis>;

/// The name of the font, also for viewers of SVG.
pub(super) const FONT: &str = "sans-serif";

/// Something that can be drawn.
pub(crate) trait Picture {
    /// Width and height in units of length.
    fn size(&self) -> (u32, u32);

    /// Draws it; a unit of length has `unit` pixels.
    fn paint<B: DrawingBackend>(&self, area: &Area<B>, unit: u32) -> Result<(), Failure>;
}

/// Coordinates of the drawing are whole numbers: this many make a unit of length.
const SVG_UNIT: u32 = 10;
const PNG_UNIT: u32 = 2;

/// The bytes of an image.
pub(crate) fn image(picture: &impl Picture, format: ImageFormat) -> Result<Vec<u8>, Failure> {
    static FONT_IS_KNOWN: OnceLock<bool> = OnceLock::new();
    let known = FONT_IS_KNOWN
        .get_or_init(|| register_font(FONT, FontStyle::Normal, notosans::REGULAR_TTF).is_ok());
    if !known {
        return Err(defect("the font cannot be read"));
    }
    let (width, height) = picture.size();
    match format {
        ImageFormat::Svg => {
            let mut text = String::new();
            let size = (width * SVG_UNIT, height * SVG_UNIT);
            paint(
                picture,
                &SVGBackend::with_string(&mut text, size).into_drawing_area(),
                SVG_UNIT,
            )?;
            Ok(scaled(&text, (width, height), size).into_bytes())
        }
        ImageFormat::Png => {
            let size = (width * PNG_UNIT, height * PNG_UNIT);
            let mut pixels = vec![0; size.0 as usize * size.1 as usize * 3];
            let backend = BitMapBackend::with_buffer(&mut pixels, size);
            paint(picture, &backend.into_drawing_area(), PNG_UNIT)?;
            png_file(&pixels, size).map_err(defect)
        }
    }
}

fn paint<B: DrawingBackend>(
    picture: &impl Picture,
    area: &Area<B>,
    unit: u32,
) -> Result<(), Failure> {
    area.fill(&WHITE).map_err(defect)?;
    picture.paint(area, unit)?;
    area.present().map_err(defect)
}

/// An SVG document with another head: its size in units of length; rectangles, which are drawn
/// without width of their lines, inherit one.
fn scaled(document: &str, size: (u32, u32), drawn: (u32, u32)) -> String {
    let body = document.split_once('>').map_or("", |(_, body)| body);
    format!(
        "<svg width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\" stroke-width=\"{}\" \
         xmlns=\"http://www.w3.org/2000/svg\">{body}",
        size.0,
        size.1,
        drawn.0,
        drawn.1,
        SVG_UNIT * 6 / 10
    )
}

fn png_file(pixels: &[u8], (width, height): (u32, u32)) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(bytes)
}

/// A drawing that fails is a mistake of ours.
pub(super) fn defect(error: impl Display) -> Failure {
    Failure::Internal(format!("the picture cannot be drawn: {error}"))
}

/// A length in pixels.
pub(super) fn pixels(length: u32, unit: u32) -> i32 {
    i32::try_from(length * unit).unwrap_or(i32::MAX)
}

/// Draws a frame with axes; what is drawn on it is given in coordinates of the axes.
pub(super) fn chart<'a, B: DrawingBackend>(
    area: &'a Area<B>,
    (x, y): (&Axis, &Axis),
    unit: u32,
) -> Result<ChartContext<'a, B, Plane>, Failure> {
    let mut chart = ChartBuilder::on(area)
        .margin(pixels(12, unit))
        .margin_right(pixels(24, unit))
        .x_label_area_size(pixels(46, unit))
        .y_label_area_size(pixels(62, unit))
        .build_cartesian_2d(x.clone(), y.clone())
        .map_err(defect)?;
    let line = |color: RGBColor| plotters::style::ShapeStyle {
        color: color.into(),
        filled: false,
        stroke_width: unit,
    };
    chart
        .configure_mesh()
        .x_desc(policert_files::name(x.name()).to_string())
        .y_desc(policert_files::name(y.name()).to_string())
        .x_label_formatter(&|at| x.label(*at))
        .y_label_formatter(&|at| y.label(*at))
        .label_style((FONT, 14 * unit))
        .axis_desc_style((FONT, 16 * unit))
        .axis_style(line(BLACK))
        .bold_line_style(line(RGBColor(232, 232, 232)))
        .light_line_style(plotters::style::TRANSPARENT)
        .set_all_tick_mark_size(pixels(5, unit))
        .draw()
        .map_err(defect)?;
    Ok(chart)
}
