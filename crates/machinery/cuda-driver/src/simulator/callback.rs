//! Functions of the program's that run in a stream, on the host.

use std::cell::Cell;
use std::thread;

use cuda_sim::driver::CudaError;

use crate::fork;

thread_local! {
    /// Whether this thread is running a function that was put in a stream.
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// Runs `function` as NVIDIA's driver does: on a thread of the driver's own, which has no current
/// context and may not call the driver. Who does the stream's work waits for it.
pub fn run(function: impl FnOnce() + Send) -> Result<(), CudaError> {
    let body = || {
        IN_CALLBACK.set(true);
        function();
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, body);
        // Whether it panicked is not asked: functions of C do not.
        let _ = thread.map_err(|_| CudaError::OperatingSystem)?.join();
        Ok(())
    })
}

/// Whether this thread runs such a function.
pub fn in_callback() -> bool {
    IN_CALLBACK.get()
}

/// [`CudaError::NotPermitted`] on a thread that [`run`] runs a function on, which may not call the
/// driver, and [`CudaError::NotInitialized`] in a child that `fork` has made.
pub fn permitted() -> Result<(), CudaError> {
    if fork::in_child() {
        return Err(CudaError::NotInitialized);
    }
    if in_callback() {
        return Err(CudaError::NotPermitted);
    }
    super::queue::called();
    Ok(())
}
