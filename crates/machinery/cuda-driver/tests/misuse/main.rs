//! A program that calls the driver wrongly, and kernels that reach for what is not theirs: each is an error,
//! and neither harms the process nor reads what is nobody's.

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

/// A context of one's own, current in the calling thread, on the simulator.
fn own_context() -> Context {
    static FORCED: Once = Once::new();
    // SAFETY: before any call of the driver, which alone reads it; Rust's own reading of the
    // environment waits.
    FORCED.call_once(|| unsafe { env::set_var("CUDA_BACKEND", "sim") });
    cust::init(cust::CudaFlags::empty()).expect("the simulator");
    let device = Device::get_device(0).expect("its device");
    Context::create_and_push(ContextFlags::SCHED_AUTO, device).expect("a context")
}

/// Runs a test of this name in a process of its own, whose standard error nobody reads: the simulator explains
/// each fault there, and there are thousands.
fn quietly(name: &str, test: impl FnOnce()) {
    const WITHIN: &str = "MISUSE_QUIETLY";
    if env::var_os(WITHIN).is_some() {
        return test();
    }
    let this = env::current_exe().expect("the test's program");
    let output = Command::new(this)
        .args([name, "--exact"])
        .env(WITHIN, "1")
        .stderr(Stdio::null())
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}"
    );
}

/// Loads PTX, which ends in a zero byte.
fn loaded(ptx: &str) -> sys::CUmodule {
    assert!(ptx.ends_with('\0'));
    let mut module = ptr::null_mut();
    // SAFETY: the text ends in a zero byte, and the handle can be written to.
    let result = unsafe { sys::cuModuleLoadData(&mut module, ptx.as_ptr().cast()) };
    assert_eq!(result, CUresult::CUDA_SUCCESS, "{ptx}");
    module
}

/// The kernel `k` of a module.
fn kernel(module: sys::CUmodule) -> sys::CUfunction {
    let mut function = ptr::null_mut();
    // SAFETY: the name ends in a zero byte, and the handle can be written to.
    let result = unsafe { sys::cuModuleGetFunction(&mut function, module, c"k".as_ptr()) };
    assert_eq!(result, CUresult::CUDA_SUCCESS);
    function
}

/// Device memory of so many bytes.
fn allocated(bytes: usize) -> u64 {
    let mut address = 0;
    // SAFETY: the address can be written to.
    let result = unsafe { sys::cuMemAlloc_v2(&mut address, bytes) };
    assert_eq!(result, CUresult::CUDA_SUCCESS);
    address
}

/// Launches a block of so many threads with these parameters, and waits for it.
fn launch(function: sys::CUfunction, threads: u32, parameters: &mut [u64]) -> CUresult {
    let mut pointers: Vec<*mut c_void> = parameters
        .iter_mut()
        .map(|parameter| ptr::from_mut(parameter).cast())
        .collect();
    let (none, extra) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: there are as many parameters as the kernel has, of 8 bytes each.
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
