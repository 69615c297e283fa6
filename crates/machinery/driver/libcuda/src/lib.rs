//! The CUDA driver API as a shared library, for programs compiled elsewhere: installed as `libcuda.so.1` in a
//! folder of `LD_LIBRARY_PATH`, it is loaded instead of NVIDIA's driver.
//!
//! The functions are those of [`cuda_driver`], which documents its environment variables. A program that
//! finds this library under that name finds no other driver, so everything runs on the simulator, also if NVIDIA's
//! driver is installed. Additional
//! variables select reports at the end of the program:
//!
//! | variable | effect |
//! |---|---|
//! | `CUDA_SIM_SUMMARY=1` | kernels by time, findings of the checks and rejected calls, on stderr |
//! | `CUDA_SIM_PROFILE=summary` or `lines` | also the memory behaviour of kernels |
//! | `CUDA_SIM_JSON=FILE` | one line in a file, the record of `docs/records/cuda-run.schema.json` |
//! | `CUDA_SIM_LOG=FILE` | the functions that were called, and rejected calls with reasons |
//!
//! `cuda-run -- PROGRAM` sets these variables from its flags.
//!
//! The library also exports some functions of NVML ([`nvml`]), for programs that load it under that library's
//! name, and functions of its own ([`interface`]).

pub mod interface;
pub mod nvml;

pub use cuda_driver as driver;

/// Distinguishes this library from NVIDIA's: `cuda_driver` looks for this symbol in the library it opens.
#[unsafe(no_mangle)]
pub static warpbook_is_here: u8 = 1;

/// Runs when the library is loaded. A program that does not know this library cannot configure it before
/// `cuInit`, so the library registers its own start-up hook.
#[used]
#[cfg_attr(
    any(target_os = "linux", target_os = "android", target_os = "freebsd"),
    unsafe(link_section = ".init_array")
)]
#[cfg_attr(
    target_vendor = "apple",
    unsafe(link_section = "__DATA,__mod_init_func")
)]
#[cfg_attr(windows, unsafe(link_section = ".CRT$XCU"))]
static LOADED: extern "C" fn() = {
    extern "C" fn loaded() {
        sim_compiler::install();
        cuda_driver::prefer_simulator();
        cuda_driver::on_simulator_start(telemetry::report_at_exit);
        telemetry::exit::register_handlers();
    }
    loaded
};
