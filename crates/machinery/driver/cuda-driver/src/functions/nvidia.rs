//! Loading of NVIDIA's driver library.

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::fmt;

use cuda_sim::driver::CudaError;
use libloading::{Library, Symbol};

use super::{ErasedFn, all};
use crate::status::{Code, SUCCESS, Status};

/// The file names of NVIDIA's driver library on this system, in search order.
const LIBRARIES: &[&str] = if cfg!(windows) {
    &["nvcuda.dll"]
} else {
    // WSL, the Linux that runs inside Windows, has the library in the last place.
    &[
        "libcuda.so.1",
        "libcuda.so",
        "/usr/lib/wsl/lib/libcuda.so.1",
    ]
};

/// A symbol that only this workspace's `libcuda` exports: a library that has it is not NVIDIA's.
const WARPBOOK_MARKER: &str = "warpbook_is_here\0";

/// The reason why NVIDIA's driver cannot be used.
#[derive(Debug)]
pub enum Unavailable {
    /// No library could be loaded.
    Library,
    /// The loaded library is this workspace's `libcuda`, installed in front of NVIDIA's to select the
    /// simulator.
    Warpbook,
    /// The library lacks this function, so it is not a CUDA driver.
    Function(&'static str),
    /// The library's `cuInit` failed with this code; the string is the library's name for the code.
    Initialization(Code, String),
    /// The library found no GPU.
    Device,
}

impl Unavailable {
    /// Returns the result of `cuInit` if `CUDA_BACKEND=gpu` requires a GPU.
    pub fn status(&self) -> Status {
        match self {
            Self::Initialization(code, _) => Status(*code),
            Self::Library | Self::Warpbook | Self::Function(_) | Self::Device => {
                CudaError::NoDevice.into()
            }
        }
    }
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let library = LIBRARIES[0];
        match self {
            Self::Library => write!(f, "{library} not found"),
            Self::Warpbook => write!(f, "{library} is Warpbook's simulator library"),
            Self::Function(name) => write!(f, "{library} has no {name}"),
            Self::Initialization(_, name) => {
                write!(f, "{library} was found, but cuInit returned {name}")
            }
            Self::Device => write!(f, "{library} was found, but it finds no GPU"),
        }
    }
}

/// Opens and initializes NVIDIA's driver, and directs all functions to it.
pub fn connect() -> Result<(), Unavailable> {
    let library = open().ok_or(Unavailable::Library)?;
    // SAFETY: the symbol is only looked up, never dereferenced.
    if unsafe { library.get::<*const u8>(WARPBOOK_MARKER.as_bytes()) }.is_ok() {
        return Err(Unavailable::Warpbook);
    }
    initialize(&library)?;
    for function in all() {
        // SAFETY: the symbol with this name in NVIDIA's driver is the driver API's function, and the library
        // is never unloaded: `forget` below leaks it.
        unsafe {
            let symbol: Option<Symbol<ErasedFn>> = library.get(function.name.as_bytes()).ok();
            function.forward(symbol.map(|symbol| *symbol));
        }
    }
    std::mem::forget(library);
    Ok(())
}

/// Loads the first library of [`LIBRARIES`] that can be loaded.
fn open() -> Option<Library> {
    // SAFETY: the initialization code of NVIDIA's library has no preconditions.
    LIBRARIES
        .iter()
        .find_map(|name| unsafe { Library::new(*name) }.ok())
}

/// Calls the library's `cuInit` and counts its GPUs.
fn initialize(library: &Library) -> Result<(), Unavailable> {
    type Init = unsafe extern "C" fn(c_uint) -> Code;
    type Count = unsafe extern "C" fn(*mut c_int) -> Code;

    // SAFETY: `Init` is the signature of `cuInit` in every driver version.
    let init: Symbol<Init> = unsafe { symbol(library, "cuInit\0") }?;
    // SAFETY: `Count` is the signature of `cuDeviceGetCount` in every driver version.
    let count: Symbol<Count> = unsafe { symbol(library, "cuDeviceGetCount\0") }?;
    // SAFETY: `cuInit` may be called at any time; 0 is the only valid flag value.
    let code = unsafe { init(0) };
    if code != SUCCESS {
        return Err(Unavailable::Initialization(code, error_name(library, code)));
    }
    let mut devices = 0;
    // SAFETY: the driver is initialized, and `devices` is writable.
    let code = unsafe { count(&mut devices) };
    match (code, devices) {
        (SUCCESS, 1..) => Ok(()),
        _ => Err(Unavailable::Device),
    }
}

/// Looks up a function of the library. Returns [`Unavailable::Function`] if the library lacks it.
///
/// # Safety
/// `T` must be the type of the library's function `name`, which ends in NUL.
unsafe fn symbol<'a, T>(
    library: &'a Library,
    name: &'static str,
) -> Result<Symbol<'a, T>, Unavailable> {
    // SAFETY: `T` is the function's type, by this function's contract.
    let symbol = unsafe { library.get(name.as_bytes()) };
    symbol.map_err(|_| Unavailable::Function(name.trim_end_matches('\0')))
}

/// Returns the driver's name for `code`.
fn error_name(library: &Library, code: Code) -> String {
    type ErrorName = unsafe extern "C" fn(Code, *mut *const c_char) -> Code;

    let mut name = std::ptr::null();
    // SAFETY: `cuGetErrorName` has this signature and works before `cuInit`. It writes the address of a
    // static string, or null.
    let has_name = unsafe {
        symbol::<ErrorName>(library, "cuGetErrorName\0")
            .is_ok_and(|get_name| get_name(code, &mut name) == SUCCESS)
    };
    if !has_name || name.is_null() {
        return format!("error {code}");
    }
    // SAFETY: the call succeeded and `name` is not null, so it is a static NUL-terminated string.
    let name = unsafe { CStr::from_ptr(name) };
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_a_message_and_a_code() {
        let stub = Unavailable::Initialization(34, "CUDA_ERROR_STUB_LIBRARY".into());
        assert!(
            stub.to_string()
                .ends_with("returned CUDA_ERROR_STUB_LIBRARY")
        );
        assert_eq!(stub.status(), Status(34));
        assert!(Unavailable::Library.to_string().ends_with("not found"));
        for unavailable in [
            Unavailable::Library,
            Unavailable::Warpbook,
            Unavailable::Function("cuInit"),
            Unavailable::Device,
        ] {
            assert_eq!(unavailable.status(), Status(100));
        }
    }
}
