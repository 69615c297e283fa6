//! One picture of a run, as SVG and as PNG: a title and the charts below each other, which are time by variant, requests by
//! variant and a roofline; and its text alternatives for readers who do not see it.
//!
//! A [`Destination`] is checked before the run and saves the [`Figure`] after it. Drawing needs nothing from
//! the system, not even its fonts.
//!
//! ```text
//! Figure → bars, roofline → sheet → SVG text and PNG bytes → Destination
//! ```

mod bars;
mod destination;
mod pen;
mod roofline;
mod sheet;
#[cfg(test)]
mod tests;

use std::fmt::Display;

use anyhow::{Context as _, Error, Result, anyhow};
use common::gpu::{Clock, GpuInfo};
use cuda_driver::counters::Tally;
use cuda_driver::model::Roofline;
use plotters::prelude::*;

use crate::number;
use bars::{Requests, draw_times, requests};
use destination::{Raster, SCALE};
use pen::{BODY, Drawn, Paper, TITLE};
use roofline::Roof;
use sheet::{LEFT, RIGHT, Sheet, WIDTH};

pub use destination::Destination;

/// The data of a picture.
#[derive(Clone, Debug)]
pub struct Figure {
    pub title: String,
    /// The GPU, and whether the times are measured or modelled.
    pub gpu: GpuInfo,
    /// The variants from top to bottom; those of one group are adjacent. If there are more than
    /// [`Figure::MAX_VARIANTS`], only the first are shown, with a note in the picture.
    pub variants: Vec<Variant>,
}

/// One variant of a chapter: a row of the charts.
#[derive(Clone, Debug)]
pub struct Variant {
    /// A property shared with neighbouring variants, such as an access pattern, shown once above them; may be
    /// empty.
    pub group: String,
    /// The variant's name.
    pub label: String,
    /// Milliseconds per launch or copy.
    pub milliseconds: f64,
    /// The memory accesses of one launch, if they were counted.
    pub tally: Option<Tally>,
    /// The coordinates in the roofline, if known.
    pub roofline: Option<Roofline>,
}

impl Figure {
    /// Maximum number of variants in a picture; more would be illegible and the picture would use too much
    /// memory.
    pub const MAX_VARIANTS: usize = 40;

    /// Returns the variants that are shown.
    fn shown(&self) -> &[Variant] {
        &self.variants[..self.variants.len().min(Figure::MAX_VARIANTS)]
    }
}

/// Size of the sample bar in the legend.
const SAMPLE: (i32, i32) = (28, 10);

/// Returns the picture as an SVG document and its height. The ids in the document begin with `name`. It
/// contains no empty lines, so that it can be embedded in Markdown.
///
/// # Errors
///
/// Fails if plotters reports an error, which is not known to happen.
pub fn svg(figure: &Figure, name: &str) -> Result<(String, u32)> {
    // The height is only known after drawing; this is an upper bound.
    let size = (WIDTH as u32, 100_000);
    let mut elements = String::new();
    let paper = SVGBackend::with_string(&mut elements, size).into_drawing_area();
    let height = draw(figure, paper).map_err(failed)? as u32;
    let (_, elements) = elements
        .split_once('\n')
        .context("cannot draw the picture: plotters' SVG has no first line")?;
    Ok((opening(figure, name, height) + elements, height))
}

/// Returns the picture as a PNG file; `height` is the height of the SVG.
///
/// # Errors
///
/// Fails if plotters or the PNG encoder reports an error, which is not known to happen.
pub fn png(figure: &Figure, height: u32) -> Result<Vec<u8>> {
    let size = (WIDTH as u32, height);
    let mut pixels = Raster::buffer(size);
    let paper = Raster::new(&mut pixels, size).into_drawing_area();
    draw(figure, paper).map_err(failed)?;
    encoded(&pixels, size)
}

fn failed(error: impl Display) -> Error {
    anyhow!("cannot draw the picture: {error}")
}

/// Returns the first lines of the SVG: the text alternatives and the white background.
fn opening(figure: &Figure, name: &str, height: u32) -> String {
    let id = name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
    let title = escaped(&title(figure));
    let lines = description(figure)
        .iter()
        .map(|line| escaped(line))
        .collect::<Vec<_>>();
    let description = lines.join("\n");
    format!(
        "<svg class=\"plot\" role=\"img\" aria-labelledby=\"{id}-title {id}-desc\" \
         width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         xmlns=\"http://www.w3.org/2000/svg\">\n\
         <title id=\"{id}-title\">{title}</title>\n\
         <desc id=\"{id}-desc\">{description}</desc>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#FFFFFF\"/>\n"
    )
}

fn escaped(text: &str) -> String {
    pen::printable(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Encodes RGB pixels as a PNG file.
fn encoded(pixels: &[u8], (width, height): (u32, u32)) -> Result<Vec<u8>> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, SCALE * width, SCALE * height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    // A third of the size of the encoder's fastest setting, without a noticeable delay.
    encoder.set_compression(png::Compression::Default);
    encoder.set_filter(png::FilterType::NoFilter);
    let mut writer = encoder
        .write_header()
        .context("cannot encode the picture")?;
    writer
        .write_image_data(pixels)
        .context("cannot encode the picture")?;
    writer.finish().context("cannot encode the picture")?;
    Ok(file)
}

/// Draws everything and returns the height.
fn draw<B: DrawingBackend>(
    figure: &Figure,
    paper: Paper<B>,
) -> Result<i32, DrawingAreaErrorKind<B::ErrorType>> {
    let mut sheet = Sheet::new(paper);
    sheet.text(TITLE, &figure.title)?;
    legend(&mut sheet, &figure.gpu)?;

    let (shown, all) = (figure.shown().len(), figure.variants.len());
    if shown == 0 {
        sheet.note("Nothing is shown: no variant was run.")?;
        return sheet.finish();
    }
    draw_times(&mut sheet, figure)?;
    match Requests::new(figure) {
        Ok(requests) => requests.draw(&mut sheet)?,
        Err(reason) => sheet.note(reason)?,
    }
    match Roof::new(figure) {
        Ok(roof) => roof.draw(&mut sheet)?,
        Err(reason) => sheet.note(reason)?,
    }
    if shown < all {
        sheet.note(&format!("The first {shown} of {all} variants are shown."))?;
    }
    sheet.finish()
}

/// Draws a sample bar that shows whether times are measured or modelled.
fn legend<B: DrawingBackend>(sheet: &mut Sheet<B>, gpu: &GpuInfo) -> Drawn<B> {
    let text = match gpu.time {
        Clock::Measured => format!("measured, {}", gpu.name),
        Clock::Modelled => format!("modelled, {}: not a measurement", gpu.name),
    };
    let (left, middle) = (LEFT + SAMPLE.0, sheet.top + BODY.leading() / 2);
    let corners = [(LEFT, middle - SAMPLE.1 / 2), (left, middle + SAMPLE.1 / 2)];
    pen::bar(&sheet.paper, gpu.time, corners)?;
    BODY.write(&sheet.paper, &text, (left + 8, middle), RIGHT - left - 8)?;
    sheet.space(BODY.leading());
    Ok(())
}

/// Returns the title with the GPU and the origin of the times.
pub fn title(figure: &Figure) -> String {
    let gpu = &figure.gpu;
    format!("{}, {}, {}", figure.title, gpu.time, gpu.name)
}

/// Returns the extremes of each chart, one line each.
pub fn description(figure: &Figure) -> Vec<String> {
    let time = |variant: &Variant| Some(variant.milliseconds);
    let count = |variant: &Variant| Some(requests(variant.tally.as_ref()?) as f64);
    let times = extremes(figure, ["Time", "Shortest time", "Longest time"], time);
    let counts = extremes(
        figure,
        ["Requests", "Fewest requests", "Most requests"],
        count,
    );
    let times = times.map(|(label, ms)| format!("{label}, {} ms", number::milliseconds(ms)));
    let counts = counts.map(|(label, count)| format!("{label}, {}", number::count(count as u64)));
    times.chain(counts).collect()
}

/// Returns the variants with the smallest and the largest value, or the only variant that has a value, each
/// with its label from `single`, `min` and `max`.
fn extremes<'a>(
    figure: &'a Figure,
    [single, min, max]: [&'a str; 3],
    value: impl Fn(&Variant) -> Option<f64>,
) -> impl Iterator<Item = (String, f64)> {
    let mut values: Vec<_> = figure
        .shown()
        .iter()
        .filter_map(|variant| Some((value(variant)?, variant)))
        .collect();
    values.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let extremes = match values[..] {
        [] => vec![],
        [value] => vec![(single, value)],
        [first, .., last] => vec![(min, first), (max, last)],
    };
    extremes
        .into_iter()
        .map(|(label, (value, variant))| (format!("{label}: {}", name(variant)), value))
}

/// Returns a variant's name with its group.
fn name(variant: &Variant) -> String {
    match variant.group.as_str() {
        "" => variant.label.clone(),
        group => format!("{}, {group}", variant.label),
    }
}
