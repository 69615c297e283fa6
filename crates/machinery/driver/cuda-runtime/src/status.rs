//! Error codes of the runtime API, and their conversion from the driver API's.

use std::ffi::c_int;

use crate::errors;

/// A `cudaError_t` in C's representation.
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

/// The result of the Rust functions behind the C functions.
pub type Result<T = ()> = std::result::Result<T, Error>;

/// Converts the driver's `CUresult` to the runtime's error. Both APIs use the same numbers; a number that the
/// runtime does not define becomes `cudaErrorUnknown`.
pub fn check(result: c_int) -> Result {
    match result {
        SUCCESS => Ok(()),
        error if errors::find(error).is_some() => Err(Error(error)),
        _ => Err(Error::UNKNOWN),
    }
}

/// Returns true if the error destroys the device's context, so that every later call returns it again.
pub fn is_sticky(code: Code) -> bool {
    matches!(code, 214 | 220 | 226 | 700 | 702 | 710 | 714..=719 | 721)
}
