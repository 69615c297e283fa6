//! The library under test, and calls of its functions.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::ptr::null_mut;

use libloading::{Library, Symbol};

/// Calls a function of the library. The type in C follows each argument.
macro_rules! call {
    ($cuda:expr, $name:ident($($argument:expr => $type:ty),* $(,)?)) => {{
        type Function = unsafe extern "C" fn($($type),*) -> $crate::cuda::Code;
        // SAFETY: the types are those of the driver API, and each pointer is null or as large as it requires.
        unsafe { $cuda.get::<Function>(stringify!($name))($($argument),*) }
    }};
}

/// A `CUresult`.
pub type Code = c_int;

/// PTX with one kernel: `saxpy(x, y, n)` adds `factor` times `x` to `y`.
pub const SAXPY: &CStr = {
    let text = concat!(
        include_str!("../../../cuda-driver/tests/ptx/saxpy.ptx"),
        "\0"
    );
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("a NUL in the text"),
    }
};

/// Returns the file that cargo has built, in the folder of this program or in a parent folder.
pub fn file() -> PathBuf {
    let name = libloading::library_filename("warpbook_cuda");
    let program = std::env::current_exe().unwrap();
    let mut folders = program.ancestors().skip(1).map(|folder| folder.join(&name));
    folders.find(|file| file.exists()).expect("the library")
}

/// Creates a folder in which the library has the name that programs load.
#[cfg(target_os = "linux")]
pub fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(file(), folder.path().join("libcuda.so.1")).unwrap();
    folder
}

/// Runs this test program again, with only the ignored test `name`, and with `settings` as the only CUDA
/// variables.
pub fn run_child(name: &str, settings: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--ignored", "--nocapture"]);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CUDA_")) {
        command.env_remove(name);
    }
    command.envs(settings.iter().copied()).output().unwrap()
}

/// The loaded library.
pub struct Cuda(Library);

impl Cuda {
    pub fn open(file: &Path) -> Self {
        // SAFETY: the library's initializer only registers a hook.
        Self(unsafe { Library::new(file) }.unwrap())
    }

    /// Returns the function `name`.
    ///
    /// # Safety
    /// `F` must be its type.
    pub unsafe fn get<F>(&self, name: &str) -> Symbol<'_, F> {
        // SAFETY: `F` is the function's type, by this function's contract.
        unsafe { self.0.get(name.as_bytes()) }.unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Returns true if the library exports `name`.
    pub fn exports(&self, name: &str) -> bool {
        // SAFETY: the symbol is not used.
        unsafe { self.0.get::<*const ()>(name.as_bytes()) }.is_ok()
    }

    pub fn init(&self) -> Code {
        call!(self, cuInit(0 => c_uint))
    }

    /// Returns the result of `cuDeviceGetCount`, and the number.
    pub fn device_count(&self) -> (Code, c_int) {
        let mut count = 0;
        (
            call!(self, cuDeviceGetCount(&mut count => *mut c_int)),
            count,
        )
    }

    /// Runs a kernel that computes 1 + 2 × 3 = 7 for 100 threads, in a new context.
    pub fn compute_sevens(&self) -> Vec<f32> {
        const N: usize = 100;
        let mut y = vec![1.0_f32; N];
        let x = vec![3.0_f32; N];
        let bytes = N * size_of::<f32>();
        let context = self.context();
        let module = self.load(SAXPY);
        let kernel = self.kernel(module, c"saxpy");
        let (mut factor, mut size) = (0, 0);
        let name = c"factor".as_ptr();
        let code = call!(self, cuModuleGetGlobal_v2(
            &mut factor => *mut u64, &mut size => *mut usize, module => *mut c_void,
            name => *const c_char
        ));
        assert_eq!((code, size), (0, 4));
        let copy = |to: u64, from: *const f32, bytes| {
            let from = from.cast();
            call!(self, cuMemcpyHtoD_v2(to => u64, from => *const c_void, bytes => usize))
        };
        let (mut device_x, mut device_y) = (self.allocate(bytes), self.allocate(bytes));
        assert_eq!(copy(factor, &TWO, 4), 0);
        assert_eq!(copy(device_x, x.as_ptr(), bytes), 0);
        assert_eq!(copy(device_y, y.as_ptr(), bytes), 0);
        let mut n = N as u32;
        let mut parameters: [*mut c_void; 3] = [
            (&raw mut device_x).cast(),
            (&raw mut device_y).cast(),
            (&raw mut n).cast(),
        ];
        // SAFETY: the parameters match the kernel's signature.
        let launched = unsafe { self.launch(kernel, 2, 64, parameters.as_mut_ptr()) };
        assert_eq!(launched, 0);
        let to = y.as_mut_ptr().cast();
        let copied =
            call!(self, cuMemcpyDtoH_v2(to => *mut c_void, device_y => u64, bytes => usize));
        assert_eq!(copied, 0);
        assert_eq!(call!(self, cuCtxDestroy_v2(context => *mut c_void)), 0);
        y
    }

    /// Creates a context, which becomes current.
    pub fn context(&self) -> *mut c_void {
        let mut context = null_mut();
        let to = &mut context;
        let code = call!(self, cuCtxCreate_v2(to => *mut *mut c_void, 0 => c_uint, 0 => c_int));
        assert_eq!(code, 0);
        context
    }

    /// Loads a module from PTX.
    pub fn load(&self, ptx: &CStr) -> *mut c_void {
        let (mut module, ptx) = (null_mut(), ptx.as_ptr().cast());
        let to = &mut module;
        let code = call!(self, cuModuleLoadData(to => *mut *mut c_void, ptx => *const c_void));
        assert_eq!(code, 0);
        module
    }

    /// Returns a kernel of a module.
    pub fn kernel(&self, module: *mut c_void, name: &CStr) -> *mut c_void {
        let (mut kernel, name) = (null_mut(), name.as_ptr());
        let code = call!(self, cuModuleGetFunction(
            &mut kernel => *mut *mut c_void, module => *mut c_void, name => *const c_char
        ));
        assert_eq!(code, 0);
        kernel
    }

    pub fn allocate(&self, bytes: usize) -> u64 {
        let mut address = 0;
        let code = call!(self, cuMemAlloc_v2(&mut address => *mut u64, bytes => usize));
        assert_eq!(code, 0);
        address
    }

    /// Launches a kernel.
    ///
    /// # Safety
    /// `parameters` must match the kernel's signature.
    pub unsafe fn launch(
        &self,
        kernel: *mut c_void,
        blocks: u32,
        threads: u32,
        parameters: *mut *mut c_void,
    ) -> Code {
        let none = null_mut();
        call!(self, cuLaunchKernel(
            kernel => *mut c_void, blocks => u32, 1 => u32, 1 => u32, threads => u32, 1 => u32,
            1 => u32, 0 => u32, none => *mut c_void, parameters => *mut *mut c_void,
            null_mut() => *mut *mut c_void
        ))
    }
}

static TWO: f32 = 2.0;
