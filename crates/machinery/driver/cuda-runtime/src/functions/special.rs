//! Exported functions that do not fit the table: they do not return a `cudaError_t`, access the last error, or
//! are called by compilers.

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::entry::Entry;
use crate::errors::{UNRECOGNIZED, find};
use crate::last_error;
use crate::program::register::*;
use crate::status::Code;
use crate::types::{ChannelFormat, Dim3};

/// Returns the calling thread's last error and clears it.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetLastError() -> Code {
    last_error::take()
}

/// Returns the calling thread's last error.
#[unsafe(no_mangle)]
pub extern "C" fn cudaPeekAtLastError() -> Code {
    last_error::peek()
}

/// Returns the name of an error.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorName(error: Code) -> *const c_char {
    find(error)
        .map_or(UNRECOGNIZED, |(_, name, _)| name)
        .as_ptr()
}

/// Returns the description of an error.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorString(error: Code) -> *const c_char {
    find(error)
        .map_or(UNRECOGNIZED, |(.., meaning)| meaning)
        .as_ptr()
}

/// Creates a description of an element from the bits of its channels.
#[unsafe(no_mangle)]
pub extern "C" fn cudaCreateChannelDesc(
    x: c_int,
    y: c_int,
    z: c_int,
    w: c_int,
    f: c_int,
) -> ChannelFormat {
    ChannelFormat { x, y, z, w, f }
}

/// Builds the list of these functions from their names.
macro_rules! all {
    ($($name:ident: $type:ty;)*) => {
        pub(super) static ALL: &[Entry] =
            &[$(Entry::new(stringify!($name), $name as $type as *const ())),*];
    };
}

/// The handle of a registered fat binary.
type Handle = *mut *mut c_void;

all! {
    cudaGetLastError: extern "C" fn() -> Code;
    cudaPeekAtLastError: extern "C" fn() -> Code;
    cudaGetErrorName: extern "C" fn(Code) -> *const c_char;
    cudaGetErrorString: extern "C" fn(Code) -> *const c_char;
    cudaCreateChannelDesc: extern "C" fn(c_int, c_int, c_int, c_int, c_int) -> ChannelFormat;
    __cudaRegisterFatBinary: unsafe extern "C" fn(*mut c_void) -> Handle;
    __cudaRegisterFatBinaryEnd: unsafe extern "C" fn(Handle);
    __cudaUnregisterFatBinary: unsafe extern "C" fn(Handle);
    __cudaRegisterFunction: unsafe extern "C" fn(
        Handle, *const c_char, *mut c_char, *const c_char, c_int, *mut c_void, *mut c_void, *mut c_void,
        *mut c_void, *mut c_int,
    );
    __cudaRegisterVar: unsafe extern "C" fn(
        Handle, *mut c_char, *mut c_char, *const c_char, c_int, usize, c_int, c_int,
    );
    __cudaRegisterManagedVar: unsafe extern "C" fn(
        Handle, *mut *mut c_void, *mut c_char, *const c_char, c_int, usize, c_int, c_int,
    );
    __cudaRegisterTexture: unsafe extern "C" fn(
        Handle, *const c_void, *mut *const c_void, *const c_char, c_int, c_int, c_int,
    );
    __cudaRegisterSurface: unsafe extern "C" fn(
        Handle, *const c_void, *mut *const c_void, *const c_char, c_int, c_int,
    );
    __cudaInitModule: unsafe extern "C" fn(Handle) -> c_char;
    __cudaPushCallConfiguration: unsafe extern "C" fn(Dim3, Dim3, usize, *mut c_void) -> c_uint;
    __cudaPopCallConfiguration: unsafe extern "C" fn(
        *mut Dim3, *mut Dim3, *mut usize, *mut c_void,
    ) -> Code;
}
