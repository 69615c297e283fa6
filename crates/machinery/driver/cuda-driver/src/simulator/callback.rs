//! Execution of host functions that the program has enqueued in streams.

use std::cell::Cell;
use std::thread;

use cuda_sim::driver::CudaError;

use crate::fork;

thread_local! {
    /// True while this thread runs a host function.
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// Runs `function` as NVIDIA's driver does: on a separate thread that has no current context and may not call
/// the driver. The thread that executes the stream's operations waits for it.
pub fn run(function: impl FnOnce() + Send) -> Result<(), CudaError> {
    let body = || {
        IN_CALLBACK.set(true);
        function();
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, body);
        // The result of `join` is ignored: C functions do not panic.
        let _ = thread.map_err(|_| CudaError::OperatingSystem)?.join();
        Ok(())
    })
}

/// Returns true if this thread runs a host function.
pub fn in_callback() -> bool {
    IN_CALLBACK.get()
}

/// Checks that the calling thread may call the driver, and counts the call. Returns
/// [`CudaError::NotPermitted`] inside a host function and [`CudaError::NotInitialized`] in a forked child.
pub fn check_permitted() -> Result<(), CudaError> {
    if fork::in_child() {
        return Err(CudaError::NotInitialized);
    }
    if in_callback() {
        return Err(CudaError::NotPermitted);
    }
    super::queue::count_api_call();
    Ok(())
}
