//! Loads and stores: a warp's 32 addresses at once.
//!
//! Three patterns are recognised because most accesses have one of them: all lanes at one address
//! (one read, broadcast), consecutive lanes at consecutive addresses (one block copy), and either
//! of these in each quarter of the warp.
//! Source: PTX ISA section 9.7.9 (data movement).

mod element;
mod gang;
mod handlers;
mod known;
mod load;
mod pattern;
mod reach;
mod store;

pub use element::Element;
pub use gang::spread_key;
pub use handlers::{load, store};
pub use known::{load_constant_operand, load_param, local_address};
pub use reach::{reach, reach_atomic};
