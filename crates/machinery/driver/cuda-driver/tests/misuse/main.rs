//! Programs that call the driver incorrectly, and kernels that access invalid memory: each gets an error, and
//! none harms the process or reads memory outside its allocations.

extern crate cuda_driver as _;

mod accesses;
mod calls;

use std::ffi::c_void;
use std::process::{Command, Stdio};
use std::sync::Once;
use std::{env, ptr};

use cust::context::legacy::{Context, ContextFlags};
use cust::device::Device;
use cust::sys::{self, CUresult};

/// Creates a context on the simulator that is current in the calling thread.
fn own_context() -> Context {
    static FORCED: Once = Once::new();
    // SAFETY: set before any driver call, and only the driver reads it; Rust's own reading of the environment
    // takes a lock.
    FORCED.call_once(|| unsafe { env::set_var("CUDA_BACKEND", "sim") });
    cust::init(cust::CudaFlags::empty()).expect("the simulator");
    let device = Device::get_device(0).expect("its device");
    Context::create_and_push(ContextFlags::SCHED_AUTO, device).expect("a context")
}

/// Runs a test of this name in a child process and discards its stderr: the simulator explains each fault
/// there, and there are thousands.
fn in_quiet_child(name: &str, test: impl FnOnce()) {
    const IN_CHILD: &str = "MISUSE_QUIETLY";
    if env::var_os(IN_CHILD).is_some() {
        return test();
    }
    let this = env::current_exe().expect("the test's program");
    let output = Command::new(this)
        .args([name, "--exact"])
        .env(IN_CHILD, "1")
        .stderr(Stdio::null())
        .output()
        .expect("cannot start the program");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && stdout.contains("1 passed"),
        "{stdout}"
    );
}

/// Loads NUL-terminated PTX.
fn load_module(ptx: &str) -> sys::CUmodule {
    assert!(ptx.ends_with('\0'));
    let mut module = ptr::null_mut();
    // SAFETY: `module` is writable; the strings are NUL-terminated; `ptx` is an opaque handle that the driver
    // looks up, never dereferences.
    let result = unsafe { sys::cuModuleLoadData(&mut module, ptx.as_ptr().cast()) };
    assert_eq!(result, CUresult::CUDA_SUCCESS, "{ptx}");
    module
}

/// Returns the kernel `k` of a module.
fn kernel(module: sys::CUmodule) -> sys::CUfunction {
    let mut function = ptr::null_mut();
    // SAFETY: `function` is writable, and the name is NUL-terminated; `module` is an opaque handle that the
    // driver looks up, never dereferences.
    let result = unsafe { sys::cuModuleGetFunction(&mut function, module, c"k".as_ptr()) };
    assert_eq!(result, CUresult::CUDA_SUCCESS);
    function
}

/// Allocates `bytes` bytes of device memory.
fn allocate(bytes: usize) -> u64 {
    let mut address = 0;
    // SAFETY: `address` is writable.
    let result = unsafe { sys::cuMemAlloc_v2(&mut address, bytes) };
    assert_eq!(result, CUresult::CUDA_SUCCESS);
    address
}

/// Launches one block of `threads` threads with these parameters, and waits for it.
fn launch(function: sys::CUfunction, threads: u32, parameters: &mut [u64]) -> CUresult {
    let mut pointers: Vec<*mut c_void> = parameters
        .iter_mut()
        .map(|parameter| ptr::from_mut(parameter).cast())
        .collect();
    let (none, extra) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the parameter list matches the kernel's signature: 8 bytes each.
    unsafe {
        let result = sys::cuLaunchKernel(
            function,
            1,
            1,
            1,
            threads,
            1,
            1,
            0,
            none,
            pointers.as_mut_ptr(),
            extra,
        );
        match result {
            CUresult::CUDA_SUCCESS => sys::cuCtxSynchronize(),
            refused => refused,
        }
    }
}
