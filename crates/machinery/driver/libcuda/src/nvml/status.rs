//! Result codes of NVML.

use std::ffi::{CStr, c_int};

/// An `nvmlReturn_t` other than success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Error {
    Uninitialized = 1,
    InvalidArgument = 2,
    NotSupported = 3,
    NotFound = 6,
    InsufficientSize = 7,
    DriverNotLoaded = 9,
    VersionMismatch = 25,
}

/// The result type of NVML functions.
pub type CallResult = Result<(), Error>;

/// Converts a result to the code that C receives.
pub fn to_code(result: CallResult) -> c_int {
    result.map_or_else(|error| error as c_int, |()| 0)
}

/// Returns NVML's description of a code, for `nvmlErrorString`.
pub fn error_string(number: c_int) -> &'static CStr {
    match number {
        0 => c"Success",
        1 => c"Uninitialized",
        2 => c"Invalid Argument",
        3 => c"Not Supported",
        4 => c"Insufficient Permissions",
        5 => c"Already Initialized",
        6 => c"Not Found",
        7 => c"Insufficient Size",
        8 => c"Insufficient External Power",
        9 => c"Driver Not Loaded",
        10 => c"Timeout",
        25 => c"Argument Version Mismatch",
        _ => c"Unknown Error",
    }
}
