//! Addresses of the host's that have no memory until it is asked for: as many as a program reserves, which may be more
//! than the host has memory for.

#[cfg(not(unix))]
mod plain;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub use plain::Addresses;
#[cfg(unix)]
pub use unix::Addresses;
