//! The duration of copies: a latency plus the time per byte.

/// The duration of copies between two kinds of memory: a constant latency plus a term proportional to the size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CopyRate {
    /// Seconds before the first byte.
    pub latency: f64,
    /// Bytes per second after that.
    pub bandwidth: f64,
}

impl CopyRate {
    /// Returns the seconds that a copy of `bytes` bytes takes.
    pub fn seconds(self, bytes: u64) -> f64 {
        self.latency + bytes as f64 / self.bandwidth
    }
}
