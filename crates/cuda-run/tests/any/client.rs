//! The programs under test. They use only the names of the driver API's functions, not this workspace's crates.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;

use libloading::Library;

type Code = c_int;

/// Calls a function of a library. The type in C follows each argument.
macro_rules! call {
    ($library:expr, $name:ident($($argument:expr => $type:ty),* $(,)?)) => {{
        type Function = unsafe extern "C" fn($($type),*) -> Code;
        // SAFETY: the types are those of the C function, and each pointer is null or as large as it requires.
        unsafe {
            let function = $library.get::<Function>(stringify!($name).as_bytes());
            function.expect(stringify!($name))($($argument),*)
        }
    }};
}

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
        let library = &driver.library;
        assert_eq!(call!(library, cuInit(0 => c_uint)), 0);
        let (mut context, mut data) = (null_mut(), 0);
        let to = &mut context;
        let code = call!(library, cuCtxCreate_v2(to => *mut *mut c_void, 0 => c_uint, 0 => c_int));
        assert_eq!(code, 0);
        driver.module = driver.load(PTX).expect("a module");
        let library = &driver.library;
        assert_eq!(
            call!(library, cuMemAlloc_v2(&mut data => *mut u64, 128 => usize)),
            0
        );
        assert_eq!(
            call!(library, cuMemsetD8_v2(data => u64, 0 => u8, 128 => usize)),
            0
        );
        driver.data = data;
        driver
    }

    pub fn load(&self, ptx: &CStr) -> Result<*mut c_void, Code> {
        let (mut module, ptx) = (null_mut(), ptx.as_ptr().cast());
        let to = &mut module;
        match call!(self.library, cuModuleLoadData(to => *mut *mut c_void, ptx => *const c_void)) {
            0 => Ok(module),
            code => Err(code),
        }
    }

    /// Launches a kernel with 32 threads and waits for it.
    pub fn launch(&self, name: &CStr) -> Code {
        let (mut kernel, mut data, none) = (null_mut(), self.data, null_mut());
        let mut parameters: [*mut c_void; 1] = [(&raw mut data).cast()];
        let (library, list) = (&self.library, parameters.as_mut_ptr());
        let code = call!(library, cuModuleGetFunction(
            &mut kernel => *mut *mut c_void, self.module => *mut c_void,
            name.as_ptr() => *const c_char
        ));
        assert_eq!(code, 0);
        let code = call!(library, cuLaunchKernel(
            kernel => *mut c_void, 1 => c_uint, 1 => c_uint, 1 => c_uint, 32 => c_uint, 1 => c_uint,
            1 => c_uint, 0 => c_uint, none => *mut c_void, list => *mut *mut c_void,
            null_mut() => *mut *mut c_void
        ));
        match code {
            0 => call!(library, cuCtxSynchronize()),
            code => code,
        }
    }

    pub fn free(&self) {
        assert_eq!(call!(self.library, cuMemFree_v2(self.data => u64)), 0);
    }

    /// Calls a function that the simulator does not support.
    pub fn call_unsupported(&self) -> Code {
        let properties = [0; 4];
        call!(self.library, cuMulticastCreate(
            &mut 0 => *mut u64, properties.as_ptr() => *const u64
        ))
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
            Ok("endless") => {
                println!("\nlaunching");
                driver.launch(c"endless")
            }
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
