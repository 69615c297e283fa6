//! The programs under test. They use only the names of the driver API's functions, not this workspace's crates.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;

use libloading::{Library, Symbol};

type Code = c_int;

/// `adds(p)` adds 1 to `p[thread]`; `misses(p)` writes far out of bounds; `endless` loops until it is stopped.
const PTX: &CStr = c".version 6.4
.target sm_52
.address_size 64
.visible .entry adds(.param .u64 p) {
    .reg .b64 %rd<4>; .reg .b32 %r<4>;
    ld.param.u64 %rd1, [p];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3];
    add.u32 %r2, %r2, 1;
    st.global.u32 [%rd3], %r2;
    ret;
}
.visible .entry misses(.param .u64 p) {
    .reg .b64 %rd<2>; .reg .b32 %r<2>;
    ld.param.u64 %rd1, [p];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, 0;
    st.global.u32 [%rd1+99999996], %r1;
    ret;
}
.visible .entry endless() { again: bra again; }
";

/// The driver with a context, a loaded module and 128 bytes of zeroed memory.
pub struct Driver {
    library: Library,
    module: *mut c_void,
    data: u64,
}

impl Driver {
    pub fn open() -> Self {
        // SAFETY: the library is the simulator's, whose initializers are sound.
        let library = unsafe { Library::new("libcuda.so.1") }.expect("libcuda.so.1");
        let mut driver = Driver {
            library,
            module: null_mut(),
            data: 0,
        };
        // SAFETY: the function types match the driver API, and all out-parameters are local variables.
        unsafe {
            assert_eq!(
                driver.get::<unsafe extern "C" fn(c_uint) -> Code>("cuInit")(0),
                0
            );
            let mut context: *mut c_void = null_mut();
            type Create = unsafe extern "C" fn(*mut *mut c_void, c_uint, c_int) -> Code;
            assert_eq!(
                driver.get::<Create>("cuCtxCreate_v2")(&mut context, 0, 0),
                0
            );
            driver.module = driver.load(PTX).expect("a module");
            type Allocate = unsafe extern "C" fn(*mut u64, usize) -> Code;
            let mut data = 0;
            assert_eq!(driver.get::<Allocate>("cuMemAlloc_v2")(&mut data, 128), 0);
            driver.data = data;
            type Set = unsafe extern "C" fn(u64, u8, usize) -> Code;
            assert_eq!(driver.get::<Set>("cuMemsetD8_v2")(data, 0, 128), 0);
        }
        driver
    }

    unsafe fn get<F>(&self, name: &str) -> Symbol<'_, F> {
        // SAFETY: every call site passes the type of the function in the driver API.
        unsafe { self.library.get(name.as_bytes()) }.expect(name)
    }

    pub fn load(&self, ptx: &CStr) -> Result<*mut c_void, Code> {
        type Load = unsafe extern "C" fn(*mut *mut c_void, *const c_void) -> Code;
        let mut module = null_mut();
        // SAFETY: `module` is writable, and the source is NUL-terminated.
        match unsafe { self.get::<Load>("cuModuleLoadData")(&mut module, ptx.as_ptr().cast()) } {
            0 => Ok(module),
            code => Err(code),
        }
    }

    /// Launches a kernel with 32 threads and waits for it.
    pub fn launch(&self, name: &CStr) -> Code {
        type Find = unsafe extern "C" fn(*mut *mut c_void, *mut c_void, *const c_char) -> Code;
        type Kernel = unsafe extern "C" fn(
            *mut c_void,
            c_uint,
            c_uint,
            c_uint,
            c_uint,
            c_uint,
            c_uint,
            c_uint,
            *mut c_void,
            *mut *mut c_void,
            *mut *mut c_void,
        ) -> Code;
        let mut kernel = null_mut();
        let mut data = self.data;
        let mut parameters: [*mut c_void; 1] = [(&raw mut data).cast()];
        let first = parameters.as_mut_ptr();
        // SAFETY: `parameters` has one pointer, which covers the parameter of every kernel here.
        unsafe {
            assert_eq!(
                self.get::<Find>("cuModuleGetFunction")(&mut kernel, self.module, name.as_ptr()),
                0
            );
            let launch = self.get::<Kernel>("cuLaunchKernel");
            let code = launch(kernel, 1, 1, 1, 32, 1, 1, 0, null_mut(), first, null_mut());
            match code {
                0 => self.get::<unsafe extern "C" fn() -> Code>("cuCtxSynchronize")(),
                code => code,
            }
        }
    }

    pub fn free(&self) {
        type Free = unsafe extern "C" fn(u64) -> Code;
        // SAFETY: `data` was allocated by `open`.
        assert_eq!(unsafe { self.get::<Free>("cuMemFree_v2")(self.data) }, 0);
    }

    /// Calls a function that the simulator does not support.
    pub fn call_unsupported(&self) -> Code {
        type Open = unsafe extern "C" fn(*mut u64, [u8; 64], c_uint) -> Code;
        // SAFETY: an unsupported function uses none of its arguments.
        unsafe { self.get::<Open>("cuIpcOpenMemHandle_v2")(&mut 0, [0; 64], 0) }
    }
}

#[test]
#[ignore = "run as a program by other tests"]
fn increment() {
    let driver = Driver::open();
    assert_eq!([driver.launch(c"adds"), driver.launch(c"adds")], [0, 0]);
    println!("added");
    driver.free();
}

#[test]
#[ignore = "run as a program by other tests"]
fn store_out_of_bounds() {
    let driver = Driver::open();
    println!("result: {}", driver.launch(c"misses"));
}

#[test]
#[ignore = "run as a program by other tests"]
fn load_invalid_module() {
    let driver = Driver::open();
    for _ in 0..2 {
        assert!(driver.load(c".version 6.4\n.target sm_52\nfoo").is_err());
    }
    driver.call_unsupported();
    driver.call_unsupported();
    driver.free();
}

#[test]
#[ignore = "run as a program by other tests"]
fn initialize_only() {
    Driver::open();
}

#[test]
#[ignore = "run as a program by other tests"]
fn do_nothing() {}

/// Exits in the way selected by `CLIENT_EXIT`.
#[test]
#[ignore = "run as a program by other tests"]
fn exit_by_environment() {
    let driver = Driver::open();
    assert_eq!(driver.launch(c"adds"), 0);
    // SAFETY: each call ends the process, or only sleeps or launches a kernel.
    unsafe {
        match std::env::var("CLIENT_EXIT").as_deref() {
            Ok("exit") => libc::exit(4),
            Ok("_exit") => libc::_exit(5),
            Ok("abort") => libc::abort(),
            Ok("kill") => libc::raise(libc::SIGKILL),
            Ok("segv") => {
                // The default disposition, as in a program that is not written in Rust.
                libc::signal(libc::SIGSEGV, libc::SIG_DFL);
                std::ptr::null_mut::<u8>().write_volatile(1);
                0
            }
            Ok("terminate") => libc::raise(libc::SIGTERM),
            Ok("sleep") => {
                println!("\nsleeping");
                std::thread::sleep(std::time::Duration::from_secs(60));
                0
            }
            Ok("endless") => driver.launch(c"endless"),
            unknown => panic!("{unknown:?}"),
        };
    }
}

/// Forks three children. The program itself does not use the device; two children launch a kernel, and one only
/// initializes CUDA.
#[test]
#[ignore = "run as a program by other tests"]
fn fork_children() {
    let child = |work: fn()| {
        // SAFETY: the test's other threads only wait, so they hold no locks.
        match unsafe { libc::fork() } {
            0 => {
                work();
                // SAFETY: exits the child without running the parent's exit handlers.
                unsafe { libc::_exit(0) }
            }
            child => child,
        }
    };
    let launches = || assert_eq!(Driver::open().launch(c"adds"), 0);
    let idle = || drop(Driver::open());
    for child in [child(launches), child(launches), child(idle)] {
        let mut status = 0;
        // SAFETY: `status` is writable.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0);
    }
}
