//! NVRTC, the compiler library of a CUDA toolkit: for a reader who has an NVIDIA GPU
//! and no clang.
//!
//! What it makes is for a GPU only. NVIDIA's licence does not allow translating the
//! output of its compilers for other platforms, and the simulator would do that.

use std::env;
use std::error::Error as _;
use std::ffi::{CStr, CString, c_char, c_int};
use std::fs;
use std::path::PathBuf;
use std::ptr;

use libloading::Library;

use crate::arch::Arch;
use crate::tree::source_file;
use crate::{Error, Tree};

/// Names the library to use, in place of the search.
pub(crate) const OVERRIDE: &str = "KERNEL_NVRTC";

/// `nvrtcResult`'s NVRTC_SUCCESS and NVRTC_ERROR_COMPILATION.
const SUCCESS: c_int = 0;
const COMPILATION: c_int = 6;

/// `nvrtcProgram`, a handle.
type Program = *mut std::ffi::c_void;

/// The functions used of `nvrtc.h`, by the header's own names and signatures.
#[allow(non_snake_case)]
struct Functions {
    nvrtcVersion: unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int,
    nvrtcGetErrorString: unsafe extern "C" fn(c_int) -> *const c_char,
    nvrtcGetNumSupportedArchs: unsafe extern "C" fn(*mut c_int) -> c_int,
    nvrtcGetSupportedArchs: unsafe extern "C" fn(*mut c_int) -> c_int,
    nvrtcCreateProgram: unsafe extern "C" fn(
        *mut Program,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> c_int,
    nvrtcCompileProgram: unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int,
    nvrtcGetProgramLogSize: unsafe extern "C" fn(Program, *mut usize) -> c_int,
    nvrtcGetProgramLog: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
    nvrtcGetPTXSize: unsafe extern "C" fn(Program, *mut usize) -> c_int,
    nvrtcGetPTX: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
    nvrtcDestroyProgram: unsafe extern "C" fn(*mut Program) -> c_int,
}

/// A loaded NVRTC.
pub struct Nvrtc {
    functions: Functions,
    version: (c_int, c_int),
    /// The architectures it compiles for that run kernels, the oldest first.
    archs: Vec<u32>,
    /// The functions point into it.
    _library: Library,
}

impl Nvrtc {
    /// The NVRTC that `KERNEL_NVRTC` names, or else the first that loads. The error
    /// says that there is none.
    pub fn find() -> Result<Self, String> {
        if let Some(path) = env::var_os(OVERRIDE) {
            return Self::load(&PathBuf::from(&path))
                .map_err(|why| format!("{OVERRIDE}={}: {why}", path.display()));
        }
        candidates()
            .iter()
            .find_map(|path| Self::load(path).ok())
            .ok_or_else(|| "no NVRTC of a CUDA toolkit either".into())
    }

    fn load(path: &PathBuf) -> Result<Self, String> {
        // SAFETY: loading runs the library's initialisers; NVRTC's have no conditions.
        let library = unsafe { Library::new(path) }.map_err(in_words)?;
        let functions = Functions::of(&library).map_err(in_words)?;

        let (mut major, mut minor, mut count) = (0, 0, 0);
        // SAFETY: both functions write through pointers to live integers.
        let results = unsafe {
            [
                (functions.nvrtcVersion)(&mut major, &mut minor),
                (functions.nvrtcGetNumSupportedArchs)(&mut count),
            ]
        };
        let mut archs = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: the function writes as many integers as the one above has counted.
        let result = unsafe { (functions.nvrtcGetSupportedArchs)(archs.as_mut_ptr()) };
        let archs = archs.into_iter().flat_map(u32::try_from);
        let mut archs: Vec<_> = archs
            .filter(|&sm| Arch::OLDEST.virtual_of(&[sm]).is_some())
            .collect();
        archs.sort_unstable();
        if archs.is_empty() || results != [SUCCESS; 2] || result != SUCCESS {
            return Err("it compiles for no GPU that runs kernels".into());
        }
        Ok(Self {
            functions,
            version: (major, minor),
            archs,
            _library: library,
        })
    }

    /// Its name and version, as the stamp has it.
    pub fn name(&self) -> String {
        format!(
            "NVRTC {}.{} (for a GPU only)",
            self.version.0, self.version.1
        )
    }

    /// Compiles kernel `name` to PTX, for the oldest GPUs that its name allows and this
    /// NVRTC knows. Also returns the compiler's warnings.
    pub fn compile(&self, tree: &Tree, name: &str) -> Result<(String, String), Error> {
        let wanted = Arch::of(name)?;
        let chosen = wanted.virtual_of(&self.archs);
        let arch = chosen.ok_or_else(|| Error::OldNvrtc {
            compiler: self.name(),
            name: name.to_owned(),
            arch: wanted.name(),
        })?;
        let file = source_file(name);
        let path = tree.path(&file);
        let text = fs::read_to_string(&path).map_err(Error::io(&path))?;
        let refused = |message: &str| Error::Kernel {
            compiler: self.name(),
            name: name.to_owned(),
            message: message.to_owned(),
        };
        let c_string = |text: String| {
            CString::new(text).map_err(|_| refused("the file or its path has a zero byte"))
        };
        let text = c_string(text)?;
        let file = c_string(file)?;
        let options = [
            format!("--gpu-architecture=compute_{arch}"),
            format!("--include-path={}", tree.path("kernels").display()),
            "--generate-line-info".to_owned(),
        ];
        let options = options.map(c_string);
        let options: Vec<CString> = options.into_iter().collect::<Result<_, _>>()?;

        let program = self.create(&text, &file)?;
        let options: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
        // SAFETY: a live program, and as many live strings as the count says; three.
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
            return Err(refused(&log));
        }
        self.done("nvrtcCompileProgram", result)?;
        let ptx = program.text(
            self.functions.nvrtcGetPTXSize,
            self.functions.nvrtcGetPTX,
            "nvrtcGetPTX",
        )?;
        Ok((ptx, log))
    }

    fn create(&self, text: &CStr, file: &CStr) -> Result<Source<'_>, Error> {
        let mut handle = ptr::null_mut();
        // SAFETY: live strings, no headers, and a place for the handle.
        let result = unsafe {
            (self.functions.nvrtcCreateProgram)(
                &mut handle,
                text.as_ptr(),
                file.as_ptr(),
                0,
                ptr::null(),
                ptr::null(),
            )
        };
        self.done("nvrtcCreateProgram", result)?;
        Ok(Source {
            nvrtc: self,
            handle,
        })
    }

    fn done(&self, call: &'static str, result: c_int) -> Result<(), Error> {
        if result == SUCCESS {
            return Ok(());
        }
        // SAFETY: NVRTC returns a constant string for any number.
        let message = unsafe { CStr::from_ptr((self.functions.nvrtcGetErrorString)(result)) };
        Err(Error::Nvrtc {
            call,
            message: message.to_string_lossy().into_owned(),
        })
    }
}

/// A program given to NVRTC, freed when dropped.
struct Source<'a> {
    nvrtc: &'a Nvrtc,
    handle: Program,
}

impl Source<'_> {
    /// Reads one of NVRTC's texts: its size with the closing zero, then the text.
    fn text(
        &self,
        size: unsafe extern "C" fn(Program, *mut usize) -> c_int,
        get: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
        call: &'static str,
    ) -> Result<String, Error> {
        let mut bytes = 0;
        // SAFETY: a live program and a place for the size.
        let result = unsafe { size(self.handle, &mut bytes) };
        self.nvrtc.done(call, result)?;
        let mut text = vec![0_u8; bytes];
        // SAFETY: a live program and as many bytes as it asked for.
        let result = unsafe { get(self.handle, text.as_mut_ptr().cast()) };
        self.nvrtc.done(call, result)?;
        while text.last() == Some(&0) {
            text.pop();
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

impl Drop for Source<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle came from nvrtcCreateProgram and is not used again.
        unsafe { (self.nvrtc.functions.nvrtcDestroyProgram)(&mut self.handle) };
    }
}

impl Functions {
    fn of(library: &Library) -> Result<Self, libloading::Error> {
        // SAFETY: each field's type is that function's in nvrtc.h.
        unsafe {
            Ok(Self {
                nvrtcVersion: *library.get(b"nvrtcVersion")?,
                nvrtcGetErrorString: *library.get(b"nvrtcGetErrorString")?,
                nvrtcGetNumSupportedArchs: *library.get(b"nvrtcGetNumSupportedArchs")?,
                nvrtcGetSupportedArchs: *library.get(b"nvrtcGetSupportedArchs")?,
                nvrtcCreateProgram: *library.get(b"nvrtcCreateProgram")?,
                nvrtcCompileProgram: *library.get(b"nvrtcCompileProgram")?,
                nvrtcGetProgramLogSize: *library.get(b"nvrtcGetProgramLogSize")?,
                nvrtcGetProgramLog: *library.get(b"nvrtcGetProgramLog")?,
                nvrtcGetPTXSize: *library.get(b"nvrtcGetPTXSize")?,
                nvrtcGetPTX: *library.get(b"nvrtcGetPTX")?,
                nvrtcDestroyProgram: *library.get(b"nvrtcDestroyProgram")?,
            })
        }
    }
}

/// What the loader said, its own reason included.
fn in_words(error: libloading::Error) -> String {
    match error.source() {
        Some(reason) => format!("{error}: {reason}"),
        None => error.to_string(),
    }
}

/// Where a toolkit has NVRTC: on the loader's path, in the toolkit that `CUDA_PATH` or
/// `CUDA_HOME` names, and in the usual place on Linux. Newest first.
fn candidates() -> Vec<PathBuf> {
    let (names, folders): (&[&str], &[&str]) = if cfg!(windows) {
        (
            &[
                "nvrtc64_130_0.dll",
                "nvrtc64_120_0.dll",
                "nvrtc64_112_0.dll",
            ],
            &["bin/x64", "bin"],
        )
    } else {
        (
            &[
                "libnvrtc.so",
                "libnvrtc.so.13",
                "libnvrtc.so.12",
                "libnvrtc.so.11.2",
            ],
            &["lib64", "lib"],
        )
    };
    let toolkits = ["CUDA_PATH", "CUDA_HOME"]
        .into_iter()
        .filter_map(env::var_os)
        .map(PathBuf::from)
        .chain((!cfg!(windows)).then(|| PathBuf::from("/usr/local/cuda")));
    let dirs = toolkits.flat_map(|toolkit| folders.iter().map(move |dir| toolkit.join(dir)));
    std::iter::once(PathBuf::new())
        .chain(dirs)
        .flat_map(|dir| names.iter().map(move |name| dir.join(name)))
        .collect()
}
