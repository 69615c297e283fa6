//! Device code embedded in a program by its compiler.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

use cuda_driver::{functions as cu, warn};
use cust_raw::CUmodule;

use crate::status::{Code, Error, Result, check};

/// The structure passed to `__cudaRegisterFatBinary` (`__fatBinC_Wrapper_t`).
#[repr(C)]
pub struct Wrapper {
    magic: c_int,
    version: c_int,
    data: *const c_void,
    more: *const c_void,
}

/// The magic number of a wrapper.
const WRAPPER_MAGIC: c_int = 0x4662_43b1;

/// The magic numbers of images with machine code: a fat binary and an ELF file.
const FAT_BINARY_MAGIC: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();
const ELF_MAGIC: [u8; 4] = *b"\x7fELF";

/// The capacity of the log in bytes for a module that fails to load.
const LOG_CAPACITY: usize = 1 << 14;

/// The options of `cuModuleLoadDataEx` that request the log.
const ERROR_LOG: c_int = 5;
const ERROR_LOG_SIZE: c_int = 6;

/// Device code, by its address. It lives as long as the program or library that contains it.
#[derive(Clone, Copy)]
pub struct Image(usize);

impl Image {
    /// Returns the image in a wrapper, or `None` if the wrapper is not valid.
    ///
    /// `wrapper` must be null or the argument of `__cudaRegisterFatBinary`.
    pub unsafe fn from_wrapper(wrapper: *const Wrapper) -> Option<Self> {
        // SAFETY: `wrapper` is null or points to a compiler-generated wrapper, which is a constant.
        let wrapper = unsafe { wrapper.as_ref() }?;
        let is_valid = wrapper.magic == WRAPPER_MAGIC && !wrapper.data.is_null();
        is_valid.then(|| Self(wrapper.data.expose_provenance()))
    }

    fn address(self) -> *const c_void {
        std::ptr::with_exposed_provenance(self.0)
    }

    /// Loads the image into the current context and returns the module's handle. Prints the reason to stderr
    /// if it does not load.
    pub fn load(self) -> Result<usize> {
        // SAFETY: every image is longer than four bytes.
        let magic = unsafe { self.address().cast::<[u8; 4]>().read() };
        if magic == FAT_BINARY_MAGIC || magic == ELF_MAGIC {
            warn(format_args!(
                "cannot load the program's kernels: they are GPU machine code, as nvcc produces it; \
                 recompile the program to PTX with clang, as `cuda-run program.cu` does"
            ));
            return Err(Error::INVALID_IMAGE);
        }
        let mut log = vec![0_u8; LOG_CAPACITY];
        let mut options = [ERROR_LOG, ERROR_LOG_SIZE];
        let mut values = [
            log.as_mut_ptr().cast::<c_void>(),
            std::ptr::without_provenance_mut(LOG_CAPACITY),
        ];
        let mut module: CUmodule = null_mut();
        // SAFETY: the image is NUL-terminated text; both option arrays have `options.len()` entries, and the
        // log has `LOG_CAPACITY` bytes.
        let result = unsafe {
            cu::cuModuleLoadDataEx(
                &mut module,
                self.address(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        check(result).inspect_err(|error| report_load_failure(*error, &log))?;
        Ok(module.addr())
    }
}

/// Prints the reason for which a module does not load.
fn report_load_failure(Error(code): Error, log: &[u8]) {
    let text = log.split(|byte| *byte == 0).next().unwrap_or_default();
    let text = String::from_utf8_lossy(text);
    let reason = match text.trim() {
        "" => error_text(code),
        text => text.to_owned(),
    };
    warn(format_args!("cannot load the program's kernels: {reason}"));
}

fn error_text(code: Code) -> String {
    let mut text: *const c_char = std::ptr::null();
    // SAFETY: `text` is writable, and the driver's error texts are static.
    unsafe {
        match cu::cuGetErrorString(code, &mut text) {
            0 => std::ffi::CStr::from_ptr(text)
                .to_string_lossy()
                .into_owned(),
            _ => format!("error {code}"),
        }
    }
}
