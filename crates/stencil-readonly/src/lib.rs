//! The modules that the chapter's program, `main.rs`, uses: the wave, its derivative, reference and ladder.

pub mod accuracy;
pub mod flags;
pub mod ladder;
pub mod open;
pub mod reference;
pub mod scheme;
pub mod stencil;
pub mod variant;
pub mod wave;

pub use accuracy::Expected;
pub use flags::Flags;
pub use scheme::{COEF, RADIUS};
pub use stencil::Stencil;
pub use variant::Coefficients;
