//! Loads and stores: a warp's 32 addresses at once.
//!
//! Three patterns are recognised because most accesses have one of them: all lanes at one address
//! (one read, broadcast), consecutive lanes at consecutive addresses (one block copy), and either
//! of these in each quarter of the warp.
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
