//! NVRTC, the compiler library of the CUDA Toolkit, for readers with an NVIDIA GPU but without clang.
//!
//! Its output is used on a GPU only. NVIDIA's licence does not allow translating the output of its compilers
//! for other platforms, which the simulator would do.

use std::env;
use std::error::Error as _;
use std::ffi::{CStr, CString, c_char, c_int};
use std::fs;
use std::path::PathBuf;
use std::ptr;

use libloading::Library;

use crate::arch::Arch;
use crate::error::Error;
use crate::tree::{Tree, source_file};

/// The environment variable that selects a library instead of the search.
pub(crate) const OVERRIDE: &str = "KERNEL_NVRTC";

/// `nvrtcResult`'s NVRTC_SUCCESS and NVRTC_ERROR_COMPILATION.
const SUCCESS: c_int = 0;
const COMPILATION: c_int = 6;

/// `nvrtcProgram`, a handle.
type Program = *mut std::ffi::c_void;

/// Defines the table of the functions in use, with the names and signatures of `nvrtc.h`.
macro_rules! functions {
    ($($name:ident($($parameter:ty),*) -> $result:ty;)*) => {
        #[allow(non_snake_case)]
        struct Functions {
            $($name: unsafe extern "C" fn($($parameter),*) -> $result,)*
        }

        impl Functions {
            fn load(library: &Library) -> Result<Self, libloading::Error> {
                // SAFETY: the type of each field is that of the function in `nvrtc.h`.
                unsafe { Ok(Self { $($name: *library.get(stringify!($name))?,)* }) }
            }
        }
    };
}

functions! {
    nvrtcVersion(*mut c_int, *mut c_int) -> c_int;
    nvrtcGetErrorString(c_int) -> *const c_char;
    nvrtcGetNumSupportedArchs(*mut c_int) -> c_int;
    nvrtcGetSupportedArchs(*mut c_int) -> c_int;
    nvrtcCreateProgram(
        *mut Program, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char
    ) -> c_int;
    nvrtcCompileProgram(Program, c_int, *const *const c_char) -> c_int;
    nvrtcGetProgramLogSize(Program, *mut usize) -> c_int;
    nvrtcGetProgramLog(Program, *mut c_char) -> c_int;
    nvrtcGetPTXSize(Program, *mut usize) -> c_int;
    nvrtcGetPTX(Program, *mut c_char) -> c_int;
    nvrtcDestroyProgram(*mut Program) -> c_int;
}

/// A loaded NVRTC.
pub struct Nvrtc {
    functions: Functions,
    version: (c_int, c_int),
    /// The supported architectures that can run kernels, in ascending order.
    archs: Vec<u32>,
    /// The library that `functions` points into.
    _library: Library,
}

impl Nvrtc {
    /// Returns the NVRTC selected by `KERNEL_NVRTC`, or else the first that loads. Fails if there is none.
    pub fn find() -> Result<Self, String> {
        if let Some(path) = env::var_os(OVERRIDE) {
            return Self::load(&PathBuf::from(&path))
                .map_err(|reason| format!("{OVERRIDE}={}: {reason}", path.display()));
        }
        candidates()
            .iter()
            .find_map(|path| Self::load(path).ok())
            .ok_or_else(|| "no NVRTC of a CUDA Toolkit found".into())
    }

    fn load(path: &PathBuf) -> Result<Self, String> {
        // SAFETY: loading runs the library's initializers; those of NVRTC have no preconditions.
        let library = unsafe { Library::new(path) }.map_err(with_cause)?;
        let functions = Functions::load(&library).map_err(with_cause)?;

        let (mut major, mut minor, mut count) = (0, 0, 0);
        // SAFETY: both functions write integers to live variables.
        let results = unsafe {
            [
                (functions.nvrtcVersion)(&mut major, &mut minor),
                (functions.nvrtcGetNumSupportedArchs)(&mut count),
            ]
        };
        let mut archs = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: `archs` has as many elements as `nvrtcGetNumSupportedArchs` has returned.
        let result = unsafe { (functions.nvrtcGetSupportedArchs)(archs.as_mut_ptr()) };
        let archs = archs.into_iter().flat_map(u32::try_from);
        let mut archs: Vec<_> = archs
            .filter(|&sm| Arch::OLDEST.nvrtc_arch(&[sm]).is_some())
            .collect();
        archs.sort_unstable();
        if archs.is_empty() || results != [SUCCESS; 2] || result != SUCCESS {
            return Err("it supports none of the kernels' GPU architectures".into());
        }
        Ok(Self {
            functions,
            version: (major, minor),
            archs,
            _library: library,
        })
    }

    /// Returns the name and version as written in the stamp.
    pub fn name(&self) -> String {
        format!(
            "NVRTC {}.{} (for a GPU only)",
            self.version.0, self.version.1
        )
    }

    /// Compiles kernel `name` to PTX for the oldest architecture that both its name and this NVRTC allow. Also
    /// returns the compiler's warnings.
    pub fn compile(&self, tree: &Tree, name: &str) -> Result<(String, String), Error> {
        let requested = Arch::from_kernel_name(name)?;
        let nvrtc_arch = requested.nvrtc_arch(&self.archs);
        let arch = nvrtc_arch.ok_or_else(|| Error::OldNvrtc {
            compiler: self.name(),
            name: name.to_owned(),
            arch: requested.name(),
        })?;
        let file_name = source_file(name);
        let path = tree.path(&file_name);
        let text = fs::read_to_string(&path).map_err(Error::io(&path))?;
        let kernel_error = |message: &str| Error::Kernel {
            compiler: self.name(),
            name: name.to_owned(),
            message: message.to_owned(),
        };
        let c_string = |text: String| {
            CString::new(text).map_err(|_| kernel_error("the file or its path contains a NUL byte"))
        };
        let text = c_string(text)?;
        let file_name = c_string(file_name)?;
        let options = [
            format!("--gpu-architecture=compute_{arch}"),
            format!("--include-path={}", tree.path("kernels").display()),
            "--generate-line-info".to_owned(),
        ];
        let options = options.map(c_string);
        let options: Vec<CString> = options.into_iter().collect::<Result<_, _>>()?;

        let program = self.create(&text, &file_name)?;
        let options: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
        // SAFETY: `program` is live, and `options` has `options.len()` NUL-terminated strings.
        let result = unsafe {
            (self.functions.nvrtcCompileProgram)(
                program.handle,
                options.len() as c_int,
                options.as_ptr(),
            )
        };
        let log = program.text(
            self.functions.nvrtcGetProgramLogSize,
            self.functions.nvrtcGetProgramLog,
            "nvrtcGetProgramLog",
        )?;
        if result == COMPILATION {
            return Err(kernel_error(&log));
        }
        self.check_result("nvrtcCompileProgram", result)?;
        let ptx = program.text(
            self.functions.nvrtcGetPTXSize,
            self.functions.nvrtcGetPTX,
            "nvrtcGetPTX",
        )?;
        Ok((ptx, log))
    }

    fn create(&self, text: &CStr, file_name: &CStr) -> Result<CompilationUnit<'_>, Error> {
        let mut handle = ptr::null_mut();
        // SAFETY: `text` and `file_name` are NUL-terminated, there are no headers, and `handle` is writable.
        let result = unsafe {
            (self.functions.nvrtcCreateProgram)(
                &mut handle,
                text.as_ptr(),
                file_name.as_ptr(),
                0,
                ptr::null(),
                ptr::null(),
            )
        };
        self.check_result("nvrtcCreateProgram", result)?;
        Ok(CompilationUnit {
            nvrtc: self,
            handle,
        })
    }

    fn check_result(&self, call: &'static str, result: c_int) -> Result<(), Error> {
        if result == SUCCESS {
            return Ok(());
        }
        // SAFETY: NVRTC returns a static string for every number.
        let message = unsafe { CStr::from_ptr((self.functions.nvrtcGetErrorString)(result)) };
        Err(Error::Nvrtc {
            call,
            message: message.to_string_lossy().into_owned(),
        })
    }
}

/// A program created in NVRTC, destroyed on drop.
struct CompilationUnit<'a> {
    nvrtc: &'a Nvrtc,
    handle: Program,
}

impl CompilationUnit<'_> {
    /// Reads one of NVRTC's strings: first its size, including the terminating NUL, then the string.
    fn text(
        &self,
        size: unsafe extern "C" fn(Program, *mut usize) -> c_int,
        get: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
        call: &'static str,
    ) -> Result<String, Error> {
        let mut bytes = 0;
        // SAFETY: `handle` is live, and `bytes` is writable.
        let result = unsafe { size(self.handle, &mut bytes) };
        self.nvrtc.check_result(call, result)?;
        let mut text = vec![0_u8; bytes];
        // SAFETY: `handle` is live, and `text` has as many bytes as `size` has returned.
        let result = unsafe { get(self.handle, text.as_mut_ptr().cast()) };
        self.nvrtc.check_result(call, result)?;
        while text.last() == Some(&0) {
            text.pop();
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

impl Drop for CompilationUnit<'_> {
    fn drop(&mut self) {
        // SAFETY: `handle` came from `nvrtcCreateProgram` and is not used again.
        unsafe { (self.nvrtc.functions.nvrtcDestroyProgram)(&mut self.handle) };
    }
}

/// Formats a loader's error with its cause.
fn with_cause(error: libloading::Error) -> String {
    match error.source() {
        Some(reason) => format!("{error}: {reason}"),
        None => error.to_string(),
    }
}

/// Returns the possible locations of NVRTC, newest first: the loader's path, the toolkit that `CUDA_PATH` or
/// `CUDA_HOME` names, and the default directory on Linux.
fn candidates() -> Vec<PathBuf> {
    let (file_names, lib_dirs) = if cfg!(windows) {
        let dlls = "nvrtc64_130_0.dll nvrtc64_120_0.dll nvrtc64_112_0.dll";
        (dlls, ["bin/x64", "bin"])
    } else {
        let libraries = "libnvrtc.so libnvrtc.so.13 libnvrtc.so.12 libnvrtc.so.11.2";
        (libraries, ["lib64", "lib"])
    };
    let toolkits = ["CUDA_PATH", "CUDA_HOME"]
        .into_iter()
        .filter_map(env::var_os)
        .map(PathBuf::from)
        .chain((!cfg!(windows)).then(|| PathBuf::from("/usr/local/cuda")));
    let dirs = toolkits.flat_map(|toolkit| lib_dirs.map(|dir| toolkit.join(dir)));
    std::iter::once(PathBuf::new())
        .chain(dirs)
        .flat_map(|dir| file_names.split(' ').map(move |name| dir.join(name)))
        .collect()
}
