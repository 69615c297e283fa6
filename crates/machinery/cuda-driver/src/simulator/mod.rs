//! The simulator behind the C functions: raw pointers and handles in, [`cuda_sim::driver`] called,
//! results out. One file a topic, as in the table of functions.

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

/// The simulated machine, from when `cuInit` has chosen the simulator.
static MACHINE: OnceLock<Mutex<Driver>> = OnceLock::new();

thread_local! {
    /// The calling thread's contexts. They are never dropped: when the thread ends, the destructors
    /// of its other variables may still call the driver, and so may what runs when the program ends.
    static CONTEXTS: RefCell<ManuallyDrop<ContextStack>> =
        const { RefCell::new(ManuallyDrop::new(ContextStack::new())) };

    /// Dropped when the thread ends.
    static END: End = const { End };
}

/// Gives back what memory it can when a thread ends.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        CONTEXTS.with_borrow_mut(|contexts| contexts.shrink());
    }
}

/// Switches the simulated machine on: so many equal devices. Where launches are not `sampled`, their modelled
/// times leave out memory.
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

/// What `mutex` guards. That a thread has panicked with it changes nothing: no change is left half
/// done that later calls could not live with.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The machine, for the calling thread alone until the guard is dropped, and so while a launch runs
/// too. Work may be waiting in streams.
fn machine() -> Result<MutexGuard<'static, Driver>, CudaError> {
    let machine = MACHINE.get().ok_or(CudaError::NotInitialized)?;
    Ok(lock(machine))
}

/// The machine, once all work in streams is done: what a function asks for that changes what such work may
/// need, or tells of it.
fn driver() -> Result<MutexGuard<'static, Driver>, CudaError> {
    queue::wait(Awaited::All);
    machine()
}

/// The machine, unless it is not switched on or another thread has it.
fn idle_driver() -> Option<MutexGuard<'static, Driver>> {
    match MACHINE.get()?.try_lock() {
        Ok(driver) => Some(driver),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// What `use_them` makes of the calling thread's contexts.
fn contexts<T>(use_them: impl FnOnce(&mut ContextStack) -> T) -> T {
    // Using `END` once has it dropped when the thread ends. Where the thread is ending now, it may have
    // been dropped, which is no error.
    let _ = END.try_with(|_| ());
    CONTEXTS.with_borrow_mut(|contexts| use_them(contexts))
}

/// The function that a handle names, which may be that of a library's kernel too, as it is in `context`.
fn function(
    driver: &mut Driver,
    context: Option<ContextId>,
    handle: CUfunction,
) -> Result<FunctionId, CudaError> {
    driver.function_named(raw::number(handle), context)
}

/// The machine, and the function that a handle names: of a library's kernel, that of the current context.
fn with_function(
    handle: CUfunction,
) -> Result<(MutexGuard<'static, Driver>, FunctionId), CudaError> {
    let context = contexts(|contexts| contexts.current());
    let mut driver = machine()?;
    let function = function(&mut driver, context, handle)?;
    Ok((driver, function))
}

/// The calling thread's current context, or [`CudaError::InvalidContext`].
fn require_current() -> Result<ContextId, CudaError> {
    contexts(|contexts| contexts.require_current())
}

/// The machine and the calling thread's current context. Work may be waiting in streams.
fn current_machine() -> Result<(MutexGuard<'static, Driver>, ContextId), CudaError> {
    let context = require_current()?;
    Ok((machine()?, context))
}

/// The machine and the calling thread's current context, once all work in streams is done.
fn current() -> Result<(MutexGuard<'static, Driver>, ContextId), CudaError> {
    let context = require_current()?;
    Ok((driver()?, context))
}

/// The machine, the context that a stream's work belongs to, and the stream. A stream has its own
/// context, whatever is current; the default stream is the current context's. Work may be waiting in streams.
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

/// [`in_stream`], once it is known that the stream is there and its context has not faulted.
fn in_live_stream(
    on: CUstream,
) -> Result<(MutexGuard<'static, Driver>, ContextId, StreamId), CudaError> {
    let (driver, context, stream) = in_stream(on)?;
    driver.stream_flags(context, stream)?;
    Ok((driver, context, stream))
}

/// The calling thread's own default stream in a context, which is made when it is first named.
fn own_stream(driver: &mut Driver, context: ContextId) -> Result<StreamId, CudaError> {
    thread_local! {
        /// The last such stream of this thread, and its context.
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
