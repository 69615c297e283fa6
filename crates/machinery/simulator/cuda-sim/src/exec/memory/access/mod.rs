//! Loads and stores: handles the 32 addresses of a warp at once.
//!
//! Three access patterns have fast paths because most accesses have one of them: uniform (all lanes at one
//! address: one read, broadcast), contiguous (one block copy), and either of these in each quarter of the warp.
//! Source: PTX ISA section 9.7.9 (data movement).

mod constant_address;
mod element;
mod gang;
mod handlers;
mod load;
mod pattern;
mod store;
mod translate;

pub use constant_address::{load_constant_operand, load_param, local_address};
pub use element::Element;
pub use gang::pattern_key;
pub use handlers::{load, store};
pub use translate::{translate, translate_atomic};
