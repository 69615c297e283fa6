//! The simulator's implementations of the C functions: they convert raw pointers and handles, call
//! [`cuda_sim::driver`] and write the results. One file per topic, as in the table of functions.

mod callback;
pub mod capture;
pub mod check;
pub mod conditions;
pub mod context;
pub mod device;
pub mod event;
mod fat_binary;
pub mod function;
pub mod graph;
mod host;
pub mod image;
pub mod interrupt;
mod known_contexts;
pub mod launch;
pub mod launch_attributes;
pub mod library;
pub mod link;
pub mod managed;
pub mod mapping;
pub mod memcpy;
pub mod memory;
pub mod memset;
pub mod module;
pub mod occupancy;
mod perform;
pub mod pointer;
pub mod pool;
pub mod profiler;
mod queue;
pub mod raw;
pub mod stream;
pub mod stream_attributes;
mod submit;
pub mod watch;
mod work;

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use cuda_sim::device::DeviceSpec;
use cuda_sim::driver::{ContextId, ContextStack, CudaError, Driver, FunctionId, StreamId};
use cuda_sim::exec::TimeLimit;
use cust_raw::{CUfunction, CUstream};

pub use callback::permitted;
use queue::Awaited;
pub use raw::OwnDefault;
use raw::Stream;

/// The simulated driver; empty until `cuInit` has selected the simulator.
static MACHINE: OnceLock<Mutex<Driver>> = OnceLock::new();

thread_local! {
    /// The calling thread's context stack. It is never dropped: destructors of other thread-local variables
    /// and exit
    /// handlers may still call the driver while the thread ends.
    static CONTEXTS: RefCell<ManuallyDrop<ContextStack>> =
        const { RefCell::new(ManuallyDrop::new(ContextStack::new())) };

    /// Runs its destructor when the thread ends.
    static END: End = const { End };
}

/// Shrinks the context stack of a thread that ends.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        CONTEXTS.with_borrow_mut(|contexts| contexts.shrink());
    }
}

/// Starts the simulated driver with `devices` identical devices. If launches are not `sampled`, modelled
/// times do not
/// include the memory system.
pub fn start(devices: u32, device: DeviceSpec, time_limit: Option<TimeLimit>, sampled: bool) {
    MACHINE.get_or_init(|| {
        let mut driver = Driver::with_devices(devices, device, time_limit);
        device::set_count(driver.device_count());
        driver.set_sampled(sampled);
        driver.set_checks(check::checking());
        driver.set_conditions(conditions::conditions());
        Mutex::new(driver)
    });
}

/// Locks `mutex`, ignoring poisoning: a panic leaves no change half-made that later calls could not handle.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks the driver. The lock is also held while a launch runs. Streams may have pending work.
fn machine() -> Result<MutexGuard<'static, Driver>, CudaError> {
    let machine = MACHINE.get().ok_or(CudaError::NotInitialized)?;
    Ok(lock(machine))
}

/// Completes all pending stream work, then locks the driver. For functions that change or report what pending
/// work may
/// depend on.
fn driver() -> Result<MutexGuard<'static, Driver>, CudaError> {
    queue::wait(Awaited::All);
    machine()
}

/// Locks the driver without waiting. Returns `None` if it has not started or another thread holds the lock.
fn idle_driver() -> Option<MutexGuard<'static, Driver>> {
    match MACHINE.get()?.try_lock() {
        Ok(driver) => Some(driver),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Calls `f` with the calling thread's context stack.
fn contexts<T>(use_them: impl FnOnce(&mut ContextStack) -> T) -> T {
    // The first access registers the destructor of `THREAD_EXIT`. It fails while the thread is ending, which
    // is no
    // error.
    let _ = END.try_with(|_| ());
    CONTEXTS.with_borrow_mut(|contexts| use_them(contexts))
}

/// Returns the function of a handle. A library's kernel is resolved to its function in `context`.
fn function(
    driver: &mut Driver,
    context: Option<ContextId>,
    handle: CUfunction,
) -> Result<FunctionId, CudaError> {
    driver.function_named(raw::number(handle), context)
}

/// Locks the driver and resolves a function handle; a library's kernel resolves to its function in the
/// current context.
fn with_function(
    handle: CUfunction,
) -> Result<(MutexGuard<'static, Driver>, FunctionId), CudaError> {
    let context = contexts(|contexts| contexts.current());
    let mut driver = machine()?;
    let function = function(&mut driver, context, handle)?;
    Ok((driver, function))
}

/// Returns the calling thread's current context, or [`CudaError::InvalidContext`].
fn require_current() -> Result<ContextId, CudaError> {
    contexts(|contexts| contexts.require_current())
}

/// Locks the driver. Returns it with the calling thread's current context. Streams may have pending work.
fn current_machine() -> Result<(MutexGuard<'static, Driver>, ContextId), CudaError> {
    let context = require_current()?;
    Ok((machine()?, context))
}

/// Completes all pending stream work, then locks the driver. Returns it with the calling thread's current
/// context.
fn current() -> Result<(MutexGuard<'static, Driver>, ContextId), CudaError> {
    let context = require_current()?;
    Ok((driver()?, context))
}

/// Locks the driver. Returns it with the context and the number of the stream `h_stream`. A stream belongs to
/// the context
/// it was created in; the default stream to the current context. Streams may have pending work.
fn in_stream(
    on: CUstream,
) -> Result<(MutexGuard<'static, Driver>, ContextId, StreamId), CudaError> {
    match raw::stream(on) {
        Stream::Known(StreamId::LEGACY) => {
            let (driver, context) = current_machine()?;
            Ok((driver, context, StreamId::LEGACY))
        }
        Stream::Known(stream) => {
            let driver = machine()?;
            let context = driver.stream_context(stream)?;
            Ok((driver, context, stream))
        }
        Stream::PerThread => {
            let (mut driver, context) = current_machine()?;
            let stream = own_stream(&mut driver, context)?;
            Ok((driver, context, stream))
        }
    }
}

/// [`lock_stream`], after a check that the stream exists and its context has not faulted.
fn in_live_stream(
    on: CUstream,
) -> Result<(MutexGuard<'static, Driver>, ContextId, StreamId), CudaError> {
    let (driver, context, stream) = in_stream(on)?;
    driver.stream_flags(context, stream)?;
    Ok((driver, context, stream))
}

/// Returns the calling thread's default stream in a context, and creates it at first use.
fn own_stream(driver: &mut Driver, context: ContextId) -> Result<StreamId, CudaError> {
    thread_local! {
        /// The most recent such stream of this thread, with its context.
        static OWN: Cell<Option<(ContextId, StreamId)>> = const { Cell::new(None) };
    }
    if let Some((of, stream)) = OWN.get()
        && of == context
        && driver.stream_context(stream) == Ok(context)
    {
        return Ok(stream);
    }
    let made = driver.create_stream(context, 0, 0)?;
    OWN.set(Some((context, made)));
    Ok(made)
}
