//! Textures and surfaces: images that are read by coordinates, and surfaces that are written too.
//!
//! Source: PTX ISA sections 9.7.10 (`tex`, `tld4`, `txq`) and 9.7.11 (`suld`, `sust`, `sured`, `suq`).

mod cube;
mod filter;
mod geometry;
mod surface;
mod texture;

pub use geometry::Geometry;
pub use surface::{OutOfBounds, SurfaceAccess, SurfaceOp, reduce, surface_load, surface_store};
pub use texture::{DEPTH, LAYERS, gather, query, sample};

use super::image::Image;
use super::sm::Sm;

/// Returns the host address of an image's bytes, or null if its memory was freed.
fn host(sm: &Sm, image: &Image) -> *mut u8 {
    sm.regions.find(image.base).host(image.base, image.bytes())
}
