//! Drives a chapter's program in tests, as a reader would: runs, refusals, records.
//!
//! Every run is on the simulator, in an empty folder of its own. Each function fails the test
//! that calls it, with everything the program said.

mod chapter;
mod child;
mod schema;
#[cfg(unix)]
mod terminal;

pub use chapter::{Chapter, Run};
pub use child::child;
#[cfg(unix)]
pub use terminal::Terminal;
