//! Reserved host addresses without memory. A program may reserve more addresses than the host has memory.

#[cfg(not(unix))]
mod fallback;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub use fallback::AddressRange;
#[cfg(unix)]
pub use unix::AddressRange;
