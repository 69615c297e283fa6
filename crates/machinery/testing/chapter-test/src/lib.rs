//! Test support that drives a chapter's program as a user would: runs, invalid input, records.
//!
//! Every run is on the simulator, in an empty folder. Each function panics with the program's output if its
//! expectation is not met, which fails the calling test.

mod chapter;
mod child;
mod closed_output;
#[cfg(target_os = "linux")]
mod memory;
mod profile;
mod schema;
mod table;
#[cfg(unix)]
mod terminal;

pub use chapter::{Chapter, INVALID_SIZES, Run};
pub use child::{output_of, run_child};
#[cfg(target_os = "linux")]
pub use memory::available_memory;
pub use schema::check as check_record;
pub use table::{row, rows};
#[cfg(unix)]
pub use terminal::Terminal;
