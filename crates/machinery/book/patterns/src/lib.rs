//! Memory access patterns on the simulator: a real kernel runs, and the simulator records every access
//! and counts requests, sectors, wavefronts and bank conflicts.
//!
//! ```text
//! pattern → trace (a launch on the simulator) → outcome (addresses, counters) → draw → page, figures
//! ```
//!
//! The book's interactive page calls [`page`], compiled to WebAssembly. [`figures`] draws the figures of
//! the book's other pages, mostly from launches of the chapters' kernels.

pub mod draw;
#[cfg(not(target_family = "wasm"))]
pub mod figures;
pub mod language;
pub mod outcome;
pub mod page;
pub mod pattern;
pub mod sentences;
pub mod trace;
#[cfg(target_family = "wasm")]
mod wasm;
