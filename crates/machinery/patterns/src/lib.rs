//! Access patterns on the simulator: a real kernel runs, every access that it makes is told of, and
//! what it comes to is what the simulator counts.
//!
//! ```text
//! pattern → machine (a launch on the simulator) → answer (addresses, counters) → draw → page, figures
//! ```
//!
//! [`page`] is what the book's interactive page calls, compiled to WebAssembly; [`figures`] are the
//! drawings in the book's other pages, of the chapters' own kernels.

pub mod answer;
pub mod draw;
#[cfg(not(target_family = "wasm"))]
pub mod figures;
pub mod language;
pub mod machine;
pub mod page;
pub mod pattern;
#[cfg(target_family = "wasm")]
mod wasm;
pub mod words;
