//! What a function of the runtime API answers.

use std::ffi::c_int;

use crate::errors;

/// A `cudaError_t` as C sees it.
pub type Code = c_int;

/// `cudaSuccess`.
pub const SUCCESS: Code = 0;

/// A `cudaError_t` other than success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error(pub Code);

impl Error {
    pub const INVALID_VALUE: Self = Self(1);
    pub const INITIALIZATION: Self = Self(3);
    pub const INVALID_CONFIGURATION: Self = Self(9);
    pub const INVALID_PITCH: Self = Self(12);
    pub const INVALID_SYMBOL: Self = Self(13);
    pub const INVALID_CHANNEL: Self = Self(20);
    pub const INVALID_DIRECTION: Self = Self(21);
    pub const MISSING_CONFIGURATION: Self = Self(52);
    pub const INVALID_FUNCTION: Self = Self(98);
    pub const INVALID_DEVICE: Self = Self(101);
    pub const INVALID_IMAGE: Self = Self(200);
    pub const NOT_READY: Self = Self(600);
    pub const NOT_SUPPORTED: Self = Self(801);
    pub const UNKNOWN: Self = Self(999);
}

/// What the Rust functions return that are called by those that C calls.
pub type Answer<T = ()> = Result<T, Error>;

/// The runtime's error for a driver's answer (`CUresult`). Both have the same numbers; what the runtime
/// has no error for is an unknown one.
pub fn driver(result: c_int) -> Answer {
    match result {
        SUCCESS => Ok(()),
        known if errors::find(known).is_some() => Err(Error(known)),
        _ => Err(Error::UNKNOWN),
    }
}

/// Whether after this error the device's context is lost, so that every later call answers it again.
pub fn is_sticky(code: Code) -> bool {
    matches!(code, 214 | 220 | 226 | 700 | 702 | 710 | 714..=719 | 721)
}
