//! The host's own work in a stream.

use std::cell::Cell;
use std::thread;

use cuda_sim::driver::CudaError;

thread_local! {
    /// Whether this thread runs such work.
    static HERE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `function` as NVIDIA's driver does: on a thread of the driver's own, which has no current
/// context and may not call the driver. The caller waits for it.
pub fn run(function: impl FnOnce() + Send) -> Result<(), CudaError> {
    let body = || {
        HERE.set(true);
        function();
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, body);
        // C's functions do not unwind.
        let _ = thread.map_err(|_| CudaError::OperatingSystem)?.join();
        Ok(())
    })
}

/// Whether the calling thread may call the driver: not from inside [`run`].
pub fn permitted() -> Result<(), CudaError> {
    if HERE.get() {
        return Err(CudaError::NotPermitted);
    }
    Ok(())
}
