//! The answers of many students: graded, in parts if need be, with the same result as in one go.

mod grading;
mod ours;
mod record;
mod results;
mod shard;
mod submissions;
mod table;

pub use grading::{Grading, grade};
pub use record::{Class, Outcome, Result};
pub use results::{Kept, ResultFiles, printed_instead};
pub use shard::Shard;
pub use submissions::Submissions;
pub use table::table;
