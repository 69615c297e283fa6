//! The programs. They know of CUDA no more than the names of the driver's functions.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;

use libloading::{Library, Symbol};

type Code = c_int;

/// `adds(p)` adds 1 to `p[thread]`; `misses(p)` writes far behind it; `endless` runs until it is ended.
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

/// The driver, with a context and a module.
pub struct Driver {
    library: Library,
    module: *mut c_void,
    data: u64,
}

impl Driver {
    pub fn open() -> Self {
        // SAFETY: it is the simulator's.
        let library = unsafe { Library::new("libcuda.so.1") }.expect("libcuda.so.1");
        let mut driver = Driver {
            library,
            module: null_mut(),
            data: 0,
        };
        // SAFETY: the signatures are the driver API's, here and below.
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
        // SAFETY: the caller's promise.
        unsafe { self.library.get(name.as_bytes()) }.expect(name)
    }

    pub fn load(&self, ptx: &CStr) -> Result<*mut c_void, Code> {
        type Load = unsafe extern "C" fn(*mut *mut c_void, *const c_void) -> Code;
        let mut module = null_mut();
        // SAFETY: the text ends in NUL.
        match unsafe { self.get::<Load>("cuModuleLoadData")(&mut module, ptx.as_ptr().cast()) } {
            0 => Ok(module),
            code => Err(code),
        }
    }

    /// Launches a kernel with 32 threads, and waits for it.
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
        // SAFETY: its one parameter, if it has any, is a pointer.
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
        // SAFETY: it is allocated.
        assert_eq!(unsafe { self.get::<Free>("cuMemFree_v2")(self.data) }, 0);
    }

    /// A function that the simulator does not do.
    pub fn not_done(&self) -> Code {
        type Open = unsafe extern "C" fn(*mut u64, [u8; 64], c_uint) -> Code;
        // SAFETY: nothing is read or written.
        unsafe { self.get::<Open>("cuIpcOpenMemHandle_v2")(&mut 0, [0; 64], 0) }
    }
}

#[test]
#[ignore = "a program that the other tests run"]
fn adds() {
    let driver = Driver::open();
    assert_eq!([driver.launch(c"adds"), driver.launch(c"adds")], [0, 0]);
    println!("added");
    driver.free();
}

#[test]
#[ignore = "a program that the other tests run"]
fn misses() {
    let driver = Driver::open();
    println!("answer: {}", driver.launch(c"misses"));
}

#[test]
#[ignore = "a program that the other tests run"]
fn is_refused() {
    let driver = Driver::open();
    for _ in 0..2 {
        assert!(driver.load(c".version 6.4\n.target sm_52\nfoo").is_err());
    }
    driver.not_done();
    driver.not_done();
    driver.free();
}

#[test]
#[ignore = "a program that the other tests run"]
fn only_starts() {
    Driver::open();
}

#[test]
#[ignore = "a program that the other tests run"]
fn does_nothing() {}

/// How a program may end, but for a return: `ENDS` says.
#[test]
#[ignore = "a program that the other tests run"]
fn ends() {
    let driver = Driver::open();
    assert_eq!(driver.launch(c"adds"), 0);
    // SAFETY: each is the end.
    unsafe {
        match std::env::var("ENDS").as_deref() {
            Ok("exit") => libc::exit(4),
            Ok("_exit") => libc::_exit(5),
            Ok("abort") => libc::abort(),
            Ok("kill") => libc::raise(libc::SIGKILL),
            Ok("segv") => {
                // As a program has it that is not of Rust.
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
            other => panic!("{other:?}"),
        };
    }
}

/// The program itself does nothing with the device; two children do, and one of them no more than start.
#[test]
#[ignore = "a program that the other tests run"]
fn forks() {
    let child = |work: fn()| {
        // SAFETY: the other threads only wait.
        match unsafe { libc::fork() } {
            0 => {
                work();
                // SAFETY: nothing else of this process is to run.
                unsafe { libc::_exit(0) }
            }
            child => child,
        }
    };
    let launches = || assert_eq!(Driver::open().launch(c"adds"), 0);
    let idle = || drop(Driver::open());
    for child in [child(launches), child(launches), child(idle)] {
        let mut status = 0;
        // SAFETY: there is room for the status.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0);
    }
}
