//! A program's device code, as its compiler has put it there.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

use cuda_driver::{functions as cu, say};
use cust_raw::CUmodule;

use crate::status::{Answer, Code, Error, driver};

/// What `__cudaRegisterFatBinary` is given.
#[repr(C)]
pub struct Wrapper {
    magic: c_int,
    version: c_int,
    data: *const c_void,
    more: *const c_void,
}

/// How a wrapper begins.
const WRAPPER: c_int = 0x4662_43b1;

/// How the images begin that hold machine code: a fat binary and an ELF file.
const FAT_BINARY: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();
const ELF: [u8; 4] = *b"\x7fELF";

/// How long a log of a module that does not load may be.
const LOG: usize = 1 << 14;

/// The options of `cuModuleLoadDataEx` for it.
const ERROR_LOG: c_int = 5;
const ERROR_LOG_SIZE: c_int = 6;

/// Device code: an address that is there for as long as the program or the library that brought it.
#[derive(Clone, Copy)]
pub struct Image(usize);

impl Image {
    /// # Safety
    /// `wrapper` must be what a compiler gives to `__cudaRegisterFatBinary`.
    pub unsafe fn of(wrapper: *const Wrapper) -> Option<Self> {
        // SAFETY: the caller's promise.
        let wrapper = unsafe { wrapper.as_ref() }?;
        let known = wrapper.magic == WRAPPER && !wrapper.data.is_null();
        known.then(|| Self(wrapper.data.expose_provenance()))
    }

    fn address(self) -> *const c_void {
        std::ptr::with_exposed_provenance(self.0)
    }

    /// Loads the image into the current context. Why it does not load goes to stderr.
    pub fn load(self) -> Answer<usize> {
        // SAFETY: an image has more than four bytes.
        let start = unsafe { self.address().cast::<[u8; 4]>().read() };
        if start == FAT_BINARY || start == ELF {
            say(format_args!(
                "this program's kernels are machine code, made by NVIDIA's compiler; \
                 compile it with clang, which `cuda-run program.cu` does"
            ));
            return Err(Error::INVALID_IMAGE);
        }
        let mut log = vec![0_u8; LOG];
        let mut options = [ERROR_LOG, ERROR_LOG_SIZE];
        let mut values = [
            log.as_mut_ptr().cast::<c_void>(),
            std::ptr::without_provenance_mut(LOG),
        ];
        let mut module: CUmodule = null_mut();
        // SAFETY: the image is text that ends in NUL; there are as many options as said, and the log is
        // as long.
        let result = unsafe {
            cu::cuModuleLoadDataEx(
                &mut module,
                self.address(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        driver(result).inspect_err(|error| tell(*error, &log))?;
        Ok(module.addr())
    }
}

/// Says why a module does not load.
fn tell(Error(code): Error, log: &[u8]) {
    let text = log.split(|byte| *byte == 0).next().unwrap_or_default();
    let text = String::from_utf8_lossy(text);
    let why = match text.trim() {
        "" => error_text(code),
        text => text.to_owned(),
    };
    say(format_args!("the program's kernels do not load: {why}"));
}

fn error_text(code: Code) -> String {
    let mut text: *const c_char = std::ptr::null();
    // SAFETY: the driver's text for a code lasts.
    unsafe {
        match cu::cuGetErrorString(code, &mut text) {
            0 => std::ffi::CStr::from_ptr(text)
                .to_string_lossy()
                .into_owned(),
            _ => format!("error {code}"),
        }
    }
}
