//! Drives a chapter's program in tests, as a reader would: runs, refusals, records.
//!
//! Every run is on the simulator, in an empty folder of its own. Each function fails the test
//! that calls it, with everything the program said.

mod chapter;
mod child;
#[cfg(target_os = "linux")]
mod memory;
mod profile;
mod schema;
mod table;
#[cfg(unix)]
mod terminal;
mod unread;

pub use chapter::{Chapter, NO_SIZES, Run};
pub use child::{child, printed_by};
#[cfg(target_os = "linux")]
pub use memory::available_memory;
pub use schema::check as check_record;
pub use table::{row, rows};
#[cfg(unix)]
pub use terminal::Terminal;
