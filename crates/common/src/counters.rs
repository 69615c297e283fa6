//! What the simulator counted. A GPU's counters take a profiler.

pub use cuda_driver::counters::Counters;

/// The counters of the last launch; `None` on a GPU.
pub fn last_launch() -> Option<Counters> {
    cuda_driver::last_launch().map(|record| record.counters)
}
