//! The CUDA driver API as a shared library, for programs that nobody here has compiled: under the name
//! `libcuda.so.1` in a folder of `LD_LIBRARY_PATH` it is what they load in place of NVIDIA's.
//!
//! The functions are those of [`cuda_driver`], which says what the environment may ask for. Who finds this
//! library by that name finds no other, so that it runs everything on the simulator. What the environment may
//! ask for besides, at the end of the program:
//!
//! | variable | what it asks for |
//! |---|---|
//! | `CUDA_SIM_SUMMARY=1` | kernels by time, what checks found and what was refused, on stderr |
//! | `CUDA_SIM_PROFILE=summary` or `lines` | what kernels do to the memory system as well |
//! | `CUDA_SIM_JSON=FILE` | a line in a file, the record of `docs/records/cuda-run.schema.json` |
//! | `CUDA_SIM_LOG=FILE` | the functions that were called, and what was refused and why |
//!
//! `cuda-run -- PROGRAM` asks for all of them by its flags.
//!
//! The library has some of NVML's functions as well ([`nvml`]), for programs that find it under that library's name.

mod end;
pub mod nvml;
mod settings;
mod told;

pub use cuda_driver as driver;

/// Tells this library from NVIDIA's: `cuda_driver` looks for this name in what it opens.
#[unsafe(no_mangle)]
pub static warpbook_is_here: u8 = 1;

/// Is called when the library is loaded. Nothing but this library has a say at the `cuInit` of a program that
/// does not know it.
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
        cuda_driver::before_simulating(told::prepare);
    }
    loaded
};
