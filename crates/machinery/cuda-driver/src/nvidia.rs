//! NVIDIA's driver library.

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::fmt;

use cuda_sim::driver::CudaError;
use libloading::{Library, Symbol};

use crate::functions::{self, Erased};
use crate::status::{Code, SUCCESS, Status};

/// Where NVIDIA's driver library is, by system.
const LIBRARIES: &[&str] = if cfg!(windows) {
    &["nvcuda.dll"]
} else {
    // The last is where Windows puts it for the Linux that runs inside it (WSL).
    &[
        "libcuda.so.1",
        "libcuda.so",
        "/usr/lib/wsl/lib/libcuda.so.1",
    ]
};

/// A name that the crate `libcuda` exports: who has it is not NVIDIA's.
const OURS: &str = "warpbook_is_here\0";

/// Why NVIDIA's driver cannot be used.
#[derive(Debug)]
pub enum Missing {
    /// No library loads.
    Library,
    /// What loads is this simulator's library, which somebody has put in front of NVIDIA's: who does so
    /// asks for the simulator.
    Ours,
    /// The library lacks this function, so it is not that of a driver.
    Function(&'static str),
    /// The library's `cuInit` failed with this code; the string is the library's name for it.
    Initialisation(Code, String),
    /// The library found no GPU.
    Device,
}

impl Missing {
    /// What `cuInit` answers where `CUDA_BACKEND=gpu` asks for a GPU.
    pub fn status(&self) -> Status {
        match self {
            Self::Initialisation(code, _) => Status(*code),
            Self::Library | Self::Ours | Self::Function(_) | Self::Device => {
                CudaError::NoDevice.into()
            }
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let library = LIBRARIES[0];
        match self {
            Self::Library => write!(f, "{library} not found"),
            Self::Ours => write!(f, "{library} is Warpbook's own"),
            Self::Function(name) => write!(f, "{library} has no {name}"),
            Self::Initialisation(_, name) => write!(f, "{library} is there, but says {name}"),
            Self::Device => write!(f, "{library} is there, but finds no GPU"),
        }
    }
}

/// Opens NVIDIA's driver, initialises it, and lets it answer from now on.
pub fn connect() -> Result<(), Missing> {
    let library = open().ok_or(Missing::Library)?;
    // SAFETY: what the name stands for is not used.
    if unsafe { library.get::<*const u8>(OURS.as_bytes()) }.is_ok() {
        return Err(Missing::Ours);
    }
    initialise(&library)?;
    for function in functions::all() {
        // SAFETY: the symbol of this name in NVIDIA's driver is the driver API's function, and
        // the library is never unloaded (below).
        unsafe {
            let found: Option<Symbol<Erased>> = library.get(function.name.as_bytes()).ok();
            function.forward(found.map(|found| *found));
        }
    }
    std::mem::forget(library);
    Ok(())
}

/// The first of [`LIBRARIES`] that loads.
fn open() -> Option<Library> {
    // SAFETY: NVIDIA's library may be loaded by any program at any time.
    LIBRARIES
        .iter()
        .find_map(|name| unsafe { Library::new(*name) }.ok())
}

/// Calls the library's own `cuInit` and counts its GPUs.
fn initialise(library: &Library) -> Result<(), Missing> {
    type Init = unsafe extern "C" fn(c_uint) -> Code;
    type Count = unsafe extern "C" fn(*mut c_int) -> Code;

    // SAFETY: `cuInit` has this signature in every driver.
    let init: Symbol<Init> = unsafe { symbol(library, "cuInit\0") }?;
    // SAFETY: so has `cuDeviceGetCount`.
    let count: Symbol<Count> = unsafe { symbol(library, "cuDeviceGetCount\0") }?;
    // SAFETY: the driver may be initialised at any time, with no flags.
    let code = unsafe { init(0) };
    if code != SUCCESS {
        return Err(Missing::Initialisation(code, error_name(library, code)));
    }
    let mut devices = 0;
    // SAFETY: the driver is initialised, and writes one number.
    let code = unsafe { count(&mut devices) };
    match (code, devices) {
        (SUCCESS, 1..) => Ok(()),
        _ => Err(Missing::Device),
    }
}

/// # Safety
/// `T` must be the type of the library's function `name`, which ends in NUL.
unsafe fn symbol<'a, T>(
    library: &'a Library,
    name: &'static str,
) -> Result<Symbol<'a, T>, Missing> {
    // SAFETY: the caller's promise.
    let found = unsafe { library.get(name.as_bytes()) };
    found.map_err(|_| Missing::Function(name.trim_end_matches('\0')))
}

/// What the driver calls `code`.
fn error_name(library: &Library, code: Code) -> String {
    type ErrorName = unsafe extern "C" fn(Code, *mut *const c_char) -> Code;

    let mut name = std::ptr::null();
    // SAFETY: `cuGetErrorName` has this signature, works before `cuInit`, and gives a string that
    // lasts, or none.
    let told = unsafe {
        symbol::<ErrorName>(library, "cuGetErrorName\0")
            .is_ok_and(|tell| tell(code, &mut name) == SUCCESS)
    };
    if !told || name.is_null() {
        return format!("error {code}");
    }
    // SAFETY: the driver said that it is a string.
    let name = unsafe { CStr::from_ptr(name) };
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_says_what_is_missing_and_has_a_code() {
        let stub = Missing::Initialisation(34, "CUDA_ERROR_STUB_LIBRARY".into());
        assert!(stub.to_string().ends_with("says CUDA_ERROR_STUB_LIBRARY"));
        assert_eq!(stub.status(), Status(34));
        assert!(Missing::Library.to_string().ends_with("not found"));
        for missing in [
            Missing::Library,
            Missing::Ours,
            Missing::Function("cuInit"),
            Missing::Device,
        ] {
            assert_eq!(missing.status(), Status(100));
        }
    }
}
