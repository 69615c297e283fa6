//! The functions of the driver API, implemented with the simulator: one file per topic, as in the table of functions.
//! They convert the arguments, call [`SIMULATOR`] or the driver that it locks, and write the results.

pub mod capture;
pub mod context;
pub mod device;
pub mod error;
pub mod event;
pub mod function;
pub mod graph;
pub mod green_context;
pub mod image;
pub mod launch;
pub mod library;
pub mod managed;
pub mod memcpy;
pub mod memory;
pub mod module;
pub mod pool;
pub mod sharing;
pub mod stream;
pub mod telemetry;
pub mod tensor_map;
pub mod texture_reference;
pub mod virtual_memory;

use cuda_sim::driver::CudaError;

use crate::simulator::{Event, Simulator, in_callback, in_child};
use crate::status::{CallResult, warn};

/// The simulator of this process: the C functions take no argument that could refer to one.
pub static SIMULATOR: Simulator = Simulator::new();

/// Checks that the calling thread may call the driver, and counts the call. Returns
/// [`CudaError::NotPermitted`] inside a host function and [`CudaError::NotInitialized`] in a forked child.
pub fn check_permitted() -> Result<(), CudaError> {
    if in_child() {
        return Err(CudaError::NotInitialized);
    }
    if in_callback() {
        return Err(CudaError::NotPermitted);
    }
    SIMULATOR.queue.count_call();
    Ok(())
}

/// Returns the error for a function that the simulator does not implement, and prints each function's name
/// once.
pub fn not_simulated(name: &'static str) -> CallResult {
    if SIMULATOR.tables.is_first_unsupported_call(name) {
        warn(format_args!(
            "the simulator does not support {name}; it requires an NVIDIA GPU"
        ));
        SIMULATOR.telemetry.emit(Event::NotSimulated(name));
    }
    Err(CudaError::NotSupported.into())
}
