//! The simulator behind the C functions: raw pointers and handles in, [`cuda_sim::driver`] called,
//! results out. One file a topic, as in the table in `functions.rs`.

mod callback;
pub mod check;
pub mod context;
pub mod device;
pub mod event;
pub mod function;
pub mod launch;
pub mod memcpy;
pub mod memory;
pub mod memset;
pub mod module;
pub mod occupancy;
mod raw;
pub mod stream;
pub mod watch;

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::Duration;

use cuda_sim::device::DeviceSpec;
use cuda_sim::driver::{ContextId, ContextStack, CudaError, Driver, StreamId};
use cust_raw::CUstream;

pub use callback::permitted;

static MACHINE: OnceLock<Mutex<Driver>> = OnceLock::new();

thread_local! {
    /// Without an end of its own: a thread's other variables may call the driver when they end, and
    /// so may what runs when the program does.
    static THREAD: RefCell<ManuallyDrop<ContextStack>> =
        const { RefCell::new(ManuallyDrop::new(ContextStack::new())) };

    /// Ends with the thread.
    static END: End = const { End };
}

struct End;

impl Drop for End {
    fn drop(&mut self) {
        THREAD.with_borrow_mut(|contexts| contexts.shrink());
    }
}

/// Switches the simulated machine on.
pub fn start(device: DeviceSpec, time_limit: Option<Duration>) {
    MACHINE.get_or_init(|| {
        let mut driver = Driver::new(device, time_limit);
        driver.set_checks(check::checking());
        Mutex::new(driver)
    });
}

/// The machine, until the guard is dropped. One thread at a time, a launch's included.
fn driver() -> Result<MutexGuard<'static, Driver>, CudaError> {
    let machine = MACHINE.get().ok_or(CudaError::NotInitialized)?;
    // A panic leaves no half-done change that later calls could not live with.
    Ok(machine.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The machine, unless another thread is at it.
fn idle_driver() -> Option<MutexGuard<'static, Driver>> {
    match MACHINE.get()?.try_lock() {
        Ok(driver) => Some(driver),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// The calling thread's stack of contexts.
fn thread<T>(use_it: impl FnOnce(&mut ContextStack) -> T) -> T {
    // It has ended already where this is one of the thread's last calls.
    let _ = END.try_with(|_| ());
    THREAD.with_borrow_mut(|thread| use_it(thread))
}

/// The machine and the calling thread's current context.
fn current() -> Result<(MutexGuard<'static, Driver>, ContextId), CudaError> {
    let context = thread(|thread| thread.require_current())?;
    Ok((driver()?, context))
}

/// The machine, the context that a stream's work belongs to, and the stream. A stream brings its
/// own context, whatever is current; the default stream is the current context's.
fn in_stream(
    on: CUstream,
) -> Result<(MutexGuard<'static, Driver>, ContextId, StreamId), CudaError> {
    let stream = raw::stream(on)?;
    if stream == StreamId::LEGACY {
        let (driver, context) = current()?;
        return Ok((driver, context, stream));
    }
    let driver = driver()?;
    let context = driver.stream_context(stream)?;
    Ok((driver, context, stream))
}
