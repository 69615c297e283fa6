//! One picture of a run, as SVG and as PNG: time by variant, requests by variant, a roofline.
//!
//! A [`Destination`] is checked before the run, and saves the [`Figure`] after it. Nothing of the
//! system is needed, not even its fonts.
//!
//! ```text
//! Figure → page → times, requests, roofline → sheet → SVG text and PNG bytes → Destination
//! ```

mod axis;
mod describe;
mod destination;
mod font;
mod page;
mod pen;
mod raster;
mod requests;
mod roofline;
mod sheet;
#[cfg(test)]
mod tests;
mod times;

use cuda_driver::counters::Tally;
use cuda_driver::model::Roofline;

use common::gpu::GpuInfo;

pub use destination::Destination;

/// What a picture shows.
#[derive(Clone, Debug)]
pub struct Figure {
    /// What was run.
    pub title: String,
    /// The GPU that the times are of, and whether they are measured or modelled.
    pub gpu: GpuInfo,
    /// From top to bottom. Those of one group stand next to each other. Of more than
    /// [`Figure::MOST_VARIANTS`] the first are shown, and the picture says so.
    pub variants: Vec<Variant>,
}

/// One variant of a chapter: a row of the charts.
#[derive(Clone, Debug)]
pub struct Variant {
    /// What it shares with its neighbours, like an access pattern; shown once above them. Empty
    /// for none.
    pub group: String,
    /// Its name.
    pub label: String,
    /// Milliseconds of one launch, or of one copy.
    pub milliseconds: f64,
    /// What one launch asked of the memory system, where that was counted.
    pub tally: Option<Tally>,
    /// Its place in the roofline, where that is known.
    pub roofline: Option<Roofline>,
}

impl Figure {
    /// More would not be legible, and would fill the memory with one picture.
    pub const MOST_VARIANTS: usize = 40;

    /// The variants that are shown.
    fn shown(&self) -> &[Variant] {
        &self.variants[..self.variants.len().min(Figure::MOST_VARIANTS)]
    }
}
