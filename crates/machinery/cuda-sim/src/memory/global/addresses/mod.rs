//! Reserved host addresses without memory. A program may reserve more addresses than the host has memory.

#[cfg(not(unix))]
mod plain;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub use plain::Addresses;
#[cfg(unix)]
pub use unix::Addresses;
