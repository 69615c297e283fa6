//! Runs a program of cases, compiled as a shared object, on the statically linked driver.
//!
//!     cargo run -p driver-answers -- contexts.so
//!
//! The shared object finds the driver's functions in this program. No driver function may be called before the
//! object's `main`, which forks a process for each group of cases.

use std::ffi::c_int;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use libloading::Library;

fn main() -> Result<ExitCode> {
    let path = std::env::args_os()
        .nth(1)
        .context("usage: driver-answers PROGRAM.so")?;
    cuda_driver::functions::force_link();
    cuda_driver::use_hardware_faults();
    // SAFETY: the object is one of this crate's programs, which have no initializers.
    let library = unsafe { Library::new(&path) }.context("cannot load the program")?;
    // SAFETY: the programs define `int main(void)`.
    let main: libloading::Symbol<unsafe extern "C" fn() -> c_int> =
        unsafe { library.get(b"main") }.context("the program has no main")?;
    // SAFETY: this process has no other thread, so the program may fork.
    let status = unsafe { main() };
    // The program's C library buffers no output: each case flushes it.
    let code = u8::try_from(status).unwrap_or(1);
    std::mem::forget(library);
    Ok(ExitCode::from(code))
}
