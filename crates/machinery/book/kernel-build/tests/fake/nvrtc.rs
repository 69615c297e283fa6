//! A fake NVRTC with the functions of `nvrtc.h` that kernel-build calls. Its PTX consists of the kernel's
//! name, the options and the source.
//!
//! A kernel that contains `mistake` does not compile, one with `crash` causes an internal error, and one with
//! `dubious` a warning.

use std::ffi::{CStr, CString, c_char, c_int};

struct Program {
    name: String,
    text: String,
    log: CString,
    ptx: CString,
}

/// # Safety
/// The pointers must be valid, as `nvrtc.h` requires.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcVersion(major: *mut c_int, minor: *mut c_int) -> c_int {
    unsafe { (*major, *minor) = (13, 1) };
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn nvrtcGetErrorString(_result: c_int) -> *const c_char {
    c"NVRTC_ERROR_OF_A_FAKE".as_ptr()
}

/// Returns the supported architectures, from `FAKE_NVRTC_ARCHS`.
fn archs() -> Vec<c_int> {
    let archs = std::env::var("FAKE_NVRTC_ARCHS").unwrap_or_default();
    archs.split(',').flat_map(str::parse).collect()
}

/// # Safety
/// The pointers must be valid, as `nvrtc.h` requires.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcGetNumSupportedArchs(count: *mut c_int) -> c_int {
    unsafe { *count = archs().len() as c_int };
    0
}

/// # Safety
/// The pointers must be valid, as `nvrtc.h` requires.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcGetSupportedArchs(out: *mut c_int) -> c_int {
    for (i, arch) in archs().into_iter().enumerate() {
        unsafe { *out.add(i) = arch };
    }
    0
}

/// # Safety
/// The pointers must be valid, as `nvrtc.h` requires.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcCreateProgram(
    program: *mut *mut Program,
    text: *const c_char,
    name: *const c_char,
    _headers: c_int,
    _header_texts: *const *const c_char,
    _header_names: *const *const c_char,
) -> c_int {
    let string = |text| {
        unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .into_owned()
    };
    let created = Program {
        name: string(name),
        text: string(text),
        log: CString::default(),
        ptx: CString::default(),
    };
    unsafe { *program = Box::into_raw(Box::new(created)) };
    0
}

/// # Safety
/// The pointers must be valid, as `nvrtc.h` requires.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcCompileProgram(
    program: *mut Program,
    count: c_int,
    options: *const *const c_char,
) -> c_int {
    let program = unsafe { &mut *program };
    if program.text.contains("crash") {
        return 11;
    }
    if program.text.contains("mistake") {
        program.log = CString::new(format!("{}(2): error: a mistake", program.name)).unwrap();
        return 6;
    }
    if program.text.contains("dubious") {
        program.log = CString::new("a warning: dubious").unwrap();
    }
    let options = (0..count as usize).map(|i| unsafe { CStr::from_ptr(*options.add(i)) });
    let options: Vec<_> = options.map(CStr::to_string_lossy).collect();
    let ptx = format!(
        ".version 9.1\n// {}\n// {}\n{}",
        program.name,
        options.join(" "),
        program.text
    );
    program.ptx = CString::new(ptx).unwrap();
    0
}

/// Defines the functions that return the size of a string, with its NUL, and the string.
macro_rules! string {
    ($field:ident, $size:ident, $get:ident) => {
        /// # Safety
        /// The pointers must be valid, as `nvrtc.h` requires.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $size(program: *mut Program, size: *mut usize) -> c_int {
            unsafe { *size = (*program).$field.count_bytes() + 1 };
            0
        }

        /// # Safety
        /// The pointers must be valid, as `nvrtc.h` requires.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get(program: *mut Program, out: *mut c_char) -> c_int {
            let text = unsafe { &(*program).$field };
            unsafe { out.copy_from(text.as_ptr(), text.count_bytes() + 1) };
            0
        }
    };
}

string!(log, nvrtcGetProgramLogSize, nvrtcGetProgramLog);
string!(ptx, nvrtcGetPTXSize, nvrtcGetPTX);

/// # Safety
/// The pointers must be valid, as `nvrtc.h` requires.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcDestroyProgram(program: *mut *mut Program) -> c_int {
    drop(unsafe { Box::from_raw(*program) });
    0
}
