//! How long copies take.

/// How long a copy between two kinds of memory takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CopyRate {
    /// Seconds before its first byte.
    pub latency: f64,
    /// Bytes a second from then on.
    pub bandwidth: f64,
}

impl CopyRate {
    /// Seconds for `bytes` bytes.
    pub fn seconds(self, bytes: u64) -> f64 {
        self.latency + bytes as f64 / self.bandwidth
    }
}
