//! Test support that drives a chapter's program as a user would: runs, invalid input, records.
//!
//! Every run is on the simulator, in an empty folder. Each function panics with the program's output if its
//! expectation is not met, which fails the calling test.

mod chapter;
mod process;
mod profile;
#[cfg(unix)]
mod terminal;

#[cfg(target_os = "linux")]
pub use chapter::available_memory;
pub use chapter::{Chapter, INVALID_SIZES, Run, check_record};
pub use process::{output_of, run_child};
pub use profile::{row, rows};
#[cfg(unix)]
pub use terminal::Terminal;
