//! Textures and surfaces: arrays of texels that are read by coordinates, and written.
//!
//! Source: PTX ISA sections 9.7.10 (`tex`, `tld4`, `txq`) and 9.7.11 (`suld`, `sust`, `sured`, `suq`).

mod cube;
mod filter;
mod geometry;
mod surface;
mod texture;

pub use geometry::Geometry;
pub use surface::{Beyond, SurfaceAccess, SurfaceKind, reduce, surface_load, surface_store};
pub use texture::{DEPTH, LAYERS, gather, query, sample};

use super::image::Image;
use super::sm::Sm;

/// The host's address of an image's bytes; null where its memory is gone.
fn host(sm: &Sm, image: &Image) -> *mut u8 {
    sm.regions.find(image.base).host(image.base, image.bytes())
}
