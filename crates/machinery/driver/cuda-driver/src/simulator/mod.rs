//! The simulator's implementations of the C functions: they convert raw pointers and handles, call
//! [`cuda_sim::driver`] and write the results. One file per topic, as in the table of functions.

mod callback;
pub mod capture;
pub mod check;
pub mod conditions;
pub mod context;
pub mod device;
pub mod event;
mod execute;
mod fat_binary;
pub mod function;
pub mod graph;
mod host_access;
pub mod image;
pub mod interrupt;
pub mod launch;
pub mod launch_attributes;
pub mod library;
pub mod link;
mod live_contexts;
pub mod managed;
pub mod memcpy;
pub mod memory;
pub mod memset;
pub mod module;
pub mod occupancy;
pub mod pointer;
pub mod pool;
pub mod profiler;
mod queue;
pub mod raw;
pub mod stream;
pub mod stream_attributes;
mod stream_op;
mod submit;
pub mod telemetry;
pub mod virtual_memory;

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use cuda_sim::device::DeviceSpec;
use cuda_sim::driver::{ContextId, ContextStack, CudaError, Driver, FunctionId, StreamId};
use cuda_sim::exec::TimeLimit;
use cust_raw::{CUfunction, CUstream};

pub use callback::check_permitted;
use queue::WaitTarget;
pub use raw::PerThreadDefault;
use raw::Stream;

/// The simulated driver; empty until `cuInit` has selected the simulator.
static DRIVER: OnceLock<Mutex<Driver>> = OnceLock::new();

thread_local! {
    /// The calling thread's context stack. It is never dropped: destructors of other thread-local variables
    /// and exit handlers may still call the driver while the thread ends.
    static CONTEXTS: RefCell<ManuallyDrop<ContextStack>> =
        const { RefCell::new(ManuallyDrop::new(ContextStack::new())) };

    /// Runs its destructor when the thread ends.
    static THREAD_EXIT: ThreadExit = const { ThreadExit };
}

/// Shrinks the context stack of a thread that ends.
struct ThreadExit;

impl Drop for ThreadExit {
    fn drop(&mut self) {
        CONTEXTS.with_borrow_mut(|contexts| contexts.shrink());
    }
}

/// Starts the simulated driver with `devices` identical devices. If launches are not `sampled`, modelled
/// times do not include the memory system.
pub fn start(devices: u32, device: DeviceSpec, time_limit: Option<TimeLimit>, sampled: bool) {
    DRIVER.get_or_init(|| {
        let mut driver = Driver::with_devices(devices, device, time_limit);
        device::set_count(driver.device_count());
        driver.set_sampled(sampled);
        driver.set_checks(check::active_checks());
        driver.set_conditions(conditions::conditions());
        Mutex::new(driver)
    });
}

/// Locks `mutex`, ignoring poisoning: a panic leaves no change half-made that later calls could not handle.
fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks the driver. The lock is also held while a launch runs. Streams may have pending work.
fn lock() -> Result<MutexGuard<'static, Driver>, CudaError> {
    let driver = DRIVER.get().ok_or(CudaError::NotInitialized)?;
    Ok(lock_mutex(driver))
}

/// Completes all pending stream work, then locks the driver. For functions that change or report what pending
/// work may depend on.
fn lock_synchronized() -> Result<MutexGuard<'static, Driver>, CudaError> {
    queue::wait(WaitTarget::All);
    lock()
}

/// Locks the driver without waiting. Returns `None` if it has not started or another thread holds the lock.
fn try_lock() -> Option<MutexGuard<'static, Driver>> {
    match DRIVER.get()?.try_lock() {
        Ok(driver) => Some(driver),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Calls `f` with the calling thread's context stack.
fn with_contexts<T>(f: impl FnOnce(&mut ContextStack) -> T) -> T {
    // The first access registers the destructor of `THREAD_EXIT`. It fails while the thread is ending, which
    // is no error.
    let _ = THREAD_EXIT.try_with(|_| ());
    CONTEXTS.with_borrow_mut(|contexts| f(contexts))
}

/// Returns the function of a handle. A library's kernel is resolved to its function in `context`.
fn resolve_function(
    driver: &mut Driver,
    context: Option<ContextId>,
    handle: CUfunction,
) -> Result<FunctionId, CudaError> {
    driver.resolve_function(raw::number(handle), context)
}

/// Locks the driver and resolves a function handle; a library's kernel resolves to its function in the
/// current context.
fn lock_function(
    handle: CUfunction,
) -> Result<(MutexGuard<'static, Driver>, FunctionId), CudaError> {
    let context = with_contexts(|contexts| contexts.current());
    let mut driver = lock()?;
    let function = resolve_function(&mut driver, context, handle)?;
    Ok((driver, function))
}

/// Returns the calling thread's current context, or [`CudaError::InvalidContext`].
fn require_current() -> Result<ContextId, CudaError> {
    with_contexts(|contexts| contexts.require_current())
}

/// Locks the driver. Returns it with the calling thread's current context. Streams may have pending work.
fn current_context() -> Result<(MutexGuard<'static, Driver>, ContextId), CudaError> {
    let context = require_current()?;
    Ok((lock()?, context))
}

/// Completes all pending stream work, then locks the driver. Returns it with the calling thread's current
/// context.
fn synchronized_context() -> Result<(MutexGuard<'static, Driver>, ContextId), CudaError> {
    let context = require_current()?;
    Ok((lock_synchronized()?, context))
}

/// Locks the driver. Returns it with the context and the number of the stream `h_stream`. A stream belongs to
/// the context it was created in; the default stream to the current context. Streams may have pending work.
fn lock_stream(
    h_stream: CUstream,
) -> Result<(MutexGuard<'static, Driver>, ContextId, StreamId), CudaError> {
    match raw::stream(h_stream) {
        Stream::Id(StreamId::LEGACY) => {
            let (driver, context) = current_context()?;
            Ok((driver, context, StreamId::LEGACY))
        }
        Stream::Id(stream) => {
            let driver = lock()?;
            let context = driver.stream_context(stream)?;
            Ok((driver, context, stream))
        }
        Stream::PerThread => {
            let (mut driver, context) = current_context()?;
            let stream = per_thread_stream(&mut driver, context)?;
            Ok((driver, context, stream))
        }
    }
}

/// [`lock_stream`], after a check that the stream exists and its context has not faulted.
fn lock_live_stream(
    h_stream: CUstream,
) -> Result<(MutexGuard<'static, Driver>, ContextId, StreamId), CudaError> {
    let (driver, context, stream) = lock_stream(h_stream)?;
    driver.stream_flags(context, stream)?;
    Ok((driver, context, stream))
}

/// Returns the calling thread's default stream in a context, and creates it at first use.
fn per_thread_stream(driver: &mut Driver, context: ContextId) -> Result<StreamId, CudaError> {
    thread_local! {
        /// The most recent such stream of this thread, with its context.
        static CACHED: Cell<Option<(ContextId, StreamId)>> = const { Cell::new(None) };
    }
    if let Some((owner, stream)) = CACHED.get()
        && owner == context
        && driver.stream_context(stream) == Ok(context)
    {
        return Ok(stream);
    }
    let created = driver.create_stream(context, 0, 0)?;
    CACHED.set(Some((context, created)));
    Ok(created)
}
