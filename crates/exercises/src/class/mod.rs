//! Grading of many students' submissions, optionally in shards, with the same results as in one run.

mod copies;
mod grading;
mod marks;
mod record;
mod results;
mod tables;

pub use copies::copies;
pub use grading::{Grading, Submissions, grade};
pub use marks::Marks;
pub use record::{Class, Outcome, Shard, StudentResult};
pub use results::{Protected, ResultFiles, feedback, unwritable_message};
pub use tables::{Columns, screen};
