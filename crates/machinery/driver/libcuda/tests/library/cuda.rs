//! The library under test, and calls of its functions.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::ptr::null_mut;

use libloading::{Library, Symbol};

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
        // SAFETY: this is the signature of `cuInit`.
        unsafe { self.get::<unsafe extern "C" fn(c_uint) -> Code>("cuInit")(0) }
    }

    /// Runs a kernel that computes 1 + 2 × 3 = 7 for 100 threads, in a new context.
    pub fn compute_sevens(&self) -> Vec<f32> {
        const N: usize = 100;
        let mut y = vec![1.0_f32; N];
        let x = vec![3.0_f32; N];
        let bytes = N * size_of::<f32>();
        // SAFETY: the signatures are those of the driver API, the outputs are writable, and the buffers have
        // `bytes` bytes.
        unsafe {
            type Copy = unsafe extern "C" fn(u64, *const c_void, usize) -> Code;
            type Back = unsafe extern "C" fn(*mut c_void, u64, usize) -> Code;
            type Find = unsafe extern "C" fn(*mut *mut c_void, *mut c_void, *const c_char) -> Code;

            let context = self.context();
            let module = self.load(SAXPY);
            let mut kernel = null_mut();
            let find = self.get::<Find>("cuModuleGetFunction");
            assert_eq!(find(&mut kernel, module, c"saxpy".as_ptr()), 0);

            type Global =
                unsafe extern "C" fn(*mut u64, *mut usize, *mut c_void, *const c_char) -> Code;
            let (mut factor, mut size) = (0, 0);
            let global = self.get::<Global>("cuModuleGetGlobal_v2");
            assert_eq!(
                global(&mut factor, &mut size, module, c"factor".as_ptr()),
                0
            );
            assert_eq!(size, 4);

            let (mut device_x, mut device_y) = (self.allocate(bytes), self.allocate(bytes));
            let copy = self.get::<Copy>("cuMemcpyHtoD_v2");
            assert_eq!(copy(factor, (&raw const TWO).cast(), 4), 0);
            assert_eq!(copy(device_x, x.as_ptr().cast(), bytes), 0);
            assert_eq!(copy(device_y, y.as_ptr().cast(), bytes), 0);
            let mut n = N as u32;
            let mut parameters: [*mut c_void; 3] = [
                (&raw mut device_x).cast(),
                (&raw mut device_y).cast(),
                (&raw mut n).cast(),
            ];
            assert_eq!(self.launch(kernel, 2, 64, parameters.as_mut_ptr()), 0);
            let copy_out = self.get::<Back>("cuMemcpyDtoH_v2");
            assert_eq!(copy_out(y.as_mut_ptr().cast(), device_y, bytes), 0);
            type Destroy = unsafe extern "C" fn(*mut c_void) -> Code;
            assert_eq!(self.get::<Destroy>("cuCtxDestroy_v2")(context), 0);
        }
        y
    }

    /// Creates a context, which becomes current.
    pub fn context(&self) -> *mut c_void {
        type Create = unsafe extern "C" fn(*mut *mut c_void, c_uint, c_int) -> Code;
        let mut context = null_mut();
        // SAFETY: this is the signature of `cuCtxCreate_v2`, and `context` is writable.
        let code = unsafe { self.get::<Create>("cuCtxCreate_v2")(&mut context, 0, 0) };
        assert_eq!(code, 0);
        context
    }

    /// Loads a module from PTX.
    pub fn load(&self, ptx: &CStr) -> *mut c_void {
        type Load = unsafe extern "C" fn(*mut *mut c_void, *const c_void) -> Code;
        let mut module = null_mut();
        // SAFETY: this is the signature of `cuModuleLoadData`; `module` is writable and `ptx` NUL-terminated.
        let code =
            unsafe { self.get::<Load>("cuModuleLoadData")(&mut module, ptx.as_ptr().cast()) };
        assert_eq!(code, 0);
        module
    }

    pub fn allocate(&self, bytes: usize) -> u64 {
        type Allocate = unsafe extern "C" fn(*mut u64, usize) -> Code;
        let mut address = 0;
        // SAFETY: this is the signature of `cuMemAlloc_v2`, and `address` is writable.
        let code = unsafe { self.get::<Allocate>("cuMemAlloc_v2")(&mut address, bytes) };
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
        type Kernel = unsafe extern "C" fn(
            *mut c_void,
            u32,
            u32,
            u32,
            u32,
            u32,
            u32,
            u32,
            *mut c_void,
            *mut *mut c_void,
            *mut *mut c_void,
        ) -> Code;
        // SAFETY: this is the signature of `cuLaunchKernel`; `parameters` match the kernel's signature by
        // this function's contract.
        unsafe {
            self.get::<Kernel>("cuLaunchKernel")(
                kernel,
                blocks,
                1,
                1,
                threads,
                1,
                1,
                0,
                null_mut(),
                parameters,
                null_mut(),
            )
        }
    }
}

static TWO: f32 = 2.0;
