//! The whole picture: its heading, and the charts one below the other.

use std::fmt::Display;

use anyhow::{Context as _, Error, Result, anyhow};
use plotters::prelude::*;

use super::describe::{description, title};
use super::pen::{self, BODY, Drawn, Paper, TITLE};
use super::raster::{Raster, SCALE};
use super::requests::Requests;
use super::roofline::Roof;
use super::sheet::{LEFT, RIGHT, Sheet, WIDTH};
use super::{Figure, times};
use common::gpu::{Clock, GpuInfo};

/// Size of the bar that says what bars look like.
const SAMPLE: (i32, i32) = (28, 10);

/// The picture as an SVG document, whose ids begin with `name`, and how high it is. It has no empty
/// lines, so that it can be put into a page's Markdown.
///
/// # Errors
///
/// Where plotters refuses; it is not known to.
pub fn svg(figure: &Figure, name: &str) -> Result<(String, u32)> {
    // How high it is turns out while it is drawn: less than this.
    let size = (WIDTH as u32, 100_000);
    let mut elements = String::new();
    let paper = SVGBackend::with_string(&mut elements, size).into_drawing_area();
    let height = draw(figure, paper).map_err(failed)? as u32;
    let (_, elements) = elements
        .split_once('\n')
        .context("cannot draw the picture: plotters' SVG has no first line")?;
    Ok((opening(figure, name, height) + elements, height))
}

/// The same as a PNG file, `height` as the SVG's.
///
/// # Errors
///
/// Where plotters or the PNG encoder refuses; neither is known to.
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

/// The SVG's first lines: what it shows, for who does not see it, and its white ground.
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

/// Red, green and blue as a PNG file.
fn encoded(pixels: &[u8], (width, height): (u32, u32)) -> Result<Vec<u8>> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, SCALE * width, SCALE * height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    // A third of the size that the encoder's fastest way comes to, in no noticeable time.
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

/// Draws everything; returns how high it is.
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
    times::draw(&mut sheet, figure)?;
    match Requests::new(figure) {
        Ok(requests) => requests.draw(&mut sheet)?,
        Err(why) => sheet.note(why)?,
    }
    match Roof::new(figure) {
        Ok(roof) => roof.draw(&mut sheet)?,
        Err(why) => sheet.note(why)?,
    }
    if shown < all {
        sheet.note(&format!("The first {shown} of {all} variants are shown."))?;
    }
    sheet.finish()
}

/// A bar as this picture has it, and what that means.
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
