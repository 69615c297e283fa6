//! Grading of many students' submissions, optionally in shards, with the same results as in one run.

mod columns;
mod copies;
mod feedback;
mod grading;
mod marks;
mod record;
mod reference_times;
mod results;
mod screen;
mod shard;
mod submissions;
mod table;
mod time;

pub use columns::Columns;
pub use copies::copies;
pub use feedback::feedback;
pub use grading::{Grading, grade};
pub use marks::Marks;
pub use record::{Class, Outcome, StudentResult};
pub use results::{Protected, ResultFiles, unwritable_message};
pub use screen::screen;
pub use shard::Shard;
pub use submissions::Submissions;
