//! The whole picture: its heading, and the charts one below the other.

use anyhow::{Context as _, Result, anyhow};
use plotters::prelude::*;

use super::Figure;
use super::pen::{BLACK_INK, BODY, Drawn, GREY_INK, HEADING, Letters, Paper, TITLE};
use super::raster::{Raster, SCALE};
use super::requests::Requests;
use super::roofline::Roof;
use super::times::Times;

/// Width of every picture, in the SVG's pixels; the PNG has [`SCALE`] for one.
pub const WIDTH: i32 = 1000;
/// White space around it.
pub const MARGIN: i32 = 28;

/// The heading and what is below it.
const TOP: i32 = 84;
/// A chart's heading.
const NAME: i32 = 36;
/// Between one chart and the next.
const GAP: i32 = 30;
/// A line that says why a chart is not there.
const NOTE: i32 = 26;

/// The picture as an SVG document and as a PNG file.
///
/// # Errors
///
/// Where plotters or the PNG encoder refuses; neither is known to.
pub fn render(figure: &Figure) -> Result<(String, Vec<u8>)> {
    let page = Page::new(figure);
    let size = (WIDTH as u32, page.height() as u32);
    let failed = |error: String| anyhow!("cannot draw the picture: {error}");

    let mut svg = String::new();
    let paper = SVGBackend::with_string(&mut svg, size).into_drawing_area();
    page.draw(&paper)
        .map_err(|error| failed(error.to_string()))?;
    drop(paper);

    let mut pixels = Raster::buffer(size);
    let paper = Raster::new(&mut pixels, size).into_drawing_area();
    page.draw(&paper)
        .map_err(|error| failed(error.to_string()))?;
    drop(paper);
    Ok((svg, png(&pixels, size)?))
}

/// Red, green and blue as a PNG file.
fn png(pixels: &[u8], (width, height): (u32, u32)) -> Result<Vec<u8>> {
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

/// The charts of a picture, each with what it shows or why it is not there.
struct Page<'a> {
    figure: &'a Figure,
    times: Result<Times<'a>, &'static str>,
    requests: Result<Requests<'a>, &'static str>,
    roof: Result<Roof, &'static str>,
}

impl<'a> Page<'a> {
    fn new(figure: &'a Figure) -> Self {
        Page {
            figure,
            times: Times::new(figure),
            requests: Requests::new(figure),
            roof: Roof::new(figure),
        }
    }

    fn height(&self) -> i32 {
        let charts = [
            self.times.as_ref().map(Times::height).ok(),
            self.requests.as_ref().map(Requests::height).ok(),
            self.roof.as_ref().map(Roof::height).ok(),
        ];
        let charts = charts.iter().flatten().map(|height| NAME + height + GAP);
        TOP + charts.sum::<i32>() + NOTE * self.notes().len() as i32 + MARGIN
    }

    fn draw<B: DrawingBackend>(&self, paper: &Paper<B>) -> Drawn<B> {
        paper.fill(&WHITE)?;
        let room = WIDTH - 2 * MARGIN;
        let line = |letters: Letters, text: &str, middle| {
            letters.write(paper, text, (MARGIN, middle), room)
        };
        line(Letters::new(TITLE, BLACK_INK), &self.figure.title, 38)?;
        let gpu = &self.figure.gpu;
        let what = format!("{}, {}: one launch or copy each", gpu.name, gpu.time);
        line(Letters::new(BODY, GREY_INK), &what, 64)?;

        let heading = Letters::new(HEADING, BLACK_INK);
        let mut top = TOP;
        if let Ok(times) = &self.times {
            line(heading, "Time by variant", top + NAME / 2)?;
            times.draw(paper, top + NAME)?;
            top += NAME + times.height() + GAP;
        }
        if let Ok(requests) = &self.requests {
            line(heading, "Requests by pattern", top + NAME / 2)?;
            requests.draw(paper, top + NAME)?;
            top += NAME + requests.height() + GAP;
        }
        if let Ok(roof) = &self.roof {
            line(heading, "Roofline", top + NAME / 2)?;
            roof.draw(paper, top + NAME)?;
            top += NAME + roof.height() + GAP;
        }
        for note in self.notes() {
            line(Letters::new(BODY, GREY_INK), &note, top + NOTE / 2)?;
            top += NOTE;
        }
        paper.present()
    }

    /// What the picture does not show, and why.
    fn notes(&self) -> Vec<String> {
        let all = self.figure.variants.len();
        let shown = self.figure.shown().len();
        let rest = (shown < all).then(|| format!("The first {shown} of {all} variants are shown."));
        let missing = match (&self.times, &self.requests, &self.roof) {
            // One line is enough where there is nothing at all.
            (Err(why), ..) => vec![*why],
            (_, requests, roof) => [requests.as_ref().err(), roof.as_ref().err()]
                .into_iter()
                .flatten()
                .copied()
                .collect(),
        };
        rest.into_iter()
            .chain(missing.into_iter().map(str::to_owned))
            .collect()
    }
}
