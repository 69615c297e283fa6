//! Programs that call the driver incorrectly, and kernels that access invalid memory: each gets an error, and
//! none harms the process or reads memory outside its allocations.

#[macro_use]
#[path = "../support/mod.rs"]
mod support;

mod accesses;
mod calls;

use std::ffi::{CStr, c_int};
use std::process::{Command, Stdio};
use std::{env, ptr};

use cuda_driver::types::{CUfunction, CUmodule};
use support::*;

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
fn load_module(ptx: &str) -> CUmodule {
    module(CStr::from_bytes_with_nul(ptx.as_bytes()).expect("one NUL, at the end"))
}

/// Returns the kernel `k` of a module.
fn kernel(module: CUmodule) -> CUfunction {
    function(module, c"k")
}

/// Launches one block of `threads` threads with these parameters, and waits for it.
fn launch(function: CUfunction, threads: u32, parameters: &[u64]) -> c_int {
    match support::launch(function, [1, threads], ptr::null_mut(), parameters) {
        0 => code!(cuCtxSynchronize()),
        refused => refused,
    }
}
