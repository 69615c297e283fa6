//! One picture of a run, as SVG and as PNG: time by variant, requests by variant, a roofline.
//!
//! A [`Destination`] is checked before the run and saves the [`Figure`] after it. Drawing needs nothing from
//! the system, not even its fonts.
//!
//! ```text
//! Figure → page → bars, roofline → sheet → SVG text and PNG bytes → Destination
//! ```

mod bars;
mod destination;
mod font;
mod page;
mod pen;
mod raster;
mod roofline;
mod sheet;
#[cfg(test)]
mod tests;

use cuda_driver::counters::Tally;
use cuda_driver::model::Roofline;

use common::gpu::GpuInfo;

pub use destination::Destination;

/// The data of a picture.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The title.
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
