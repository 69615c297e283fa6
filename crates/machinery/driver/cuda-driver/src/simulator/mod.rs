//! The simulator's implementations of the C functions: they call [`cuda_sim::driver`] and write the results;
//! `arguments.rs` has the types of their arguments. One file per topic, as in the table of functions.

pub mod arguments;
pub mod capture;
pub mod context;
pub mod device;
pub mod event;
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
pub mod managed;
pub mod memcpy;
pub mod memory;
pub mod module;
pub mod options;
pub mod pointer;
pub mod pool;
mod queue;
pub mod stream;
mod stream_op;
mod submit;
pub mod telemetry;
mod thread;
pub mod virtual_memory;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CString, c_int, c_uint};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use cuda_sim::device::DeviceSpec;
use cuda_sim::driver::{ContextId, CudaError, Driver, FunctionId, StreamId};
use cuda_sim::exec::{LaunchOptions, TimeLimit};
use cust_raw::CUfunction;

use arguments::Stream;
use queue::WaitTarget;
pub use thread::{PerThreadDefault, check_permitted};
use thread::{per_thread_stream, require_current, with_contexts};

use crate::types::CUlaunchAttributeValue;

/// The simulator: the simulated driver, and what the driver API knows beyond it. Each subject has its own lock,
/// so that calls that need no device do not wait for a running launch, which holds the driver's. A thread that
/// takes several locks takes the driver's first, then that of the captures, then that of the graphs.
struct Simulator {
    /// The simulated driver with its contexts, modules, streams and events; empty until `cuInit` has selected
    /// the simulator.
    driver: OnceLock<Mutex<Driver>>,
    /// Number of devices, set when the simulator starts.
    device_count: AtomicU32,
    live_contexts: context::LiveContexts,
    queue: queue::StreamQueue,
    captures: capture::CaptureTable,
    graphs: Mutex<graph::Graphs>,
    graph_memory: graph::memory::GraphMemory,
    pools: pool::PoolTable,
    links: Mutex<link::Links>,
    /// The attributes of streams that the program has set.
    stream_attributes: Mutex<BTreeMap<(StreamId, c_int), CUlaunchAttributeValue>>,
    /// The allocation flags of page-locked memory, by address.
    host_flags: Mutex<BTreeMap<u64, c_uint>>,
    /// The base addresses of allocations with `CU_POINTER_ATTRIBUTE_SYNC_MEMOPS` set.
    sync_memops_allocations: Mutex<BTreeSet<u64>>,
    /// All hints about managed memory, the newest last. Hints that are fully superseded are removed.
    managed_hints: Mutex<Vec<managed::Hint>>,
    /// The descriptors of all texture and surface objects.
    image_descriptors: Mutex<Vec<image::ObjectDescriptors>>,
    /// Strings that the program has received; the set never removes one.
    interned_texts: Mutex<BTreeSet<CString>>,
    /// The functions without an implementation that the program has called.
    unsupported_calls: Mutex<BTreeSet<&'static str>>,
    /// The options of later launches, which can be set before the simulator starts. The driver has a copy.
    options: LazyLock<Mutex<LaunchOptions>>,
    /// True if Ctrl-C ends the running launch.
    interrupts_launches: AtomicBool,
    host_access: host_access::HostAccessCheck,
    telemetry: telemetry::Telemetry,
}

/// The simulator of this process: the C functions take no argument that could refer to one.
static SIMULATOR: Simulator = Simulator {
    driver: OnceLock::new(),
    device_count: AtomicU32::new(1),
    live_contexts: context::LiveContexts::new(),
    queue: queue::StreamQueue::new(),
    captures: capture::CaptureTable::new(),
    graphs: Mutex::new(graph::Graphs::new()),
    graph_memory: graph::memory::GraphMemory::new(),
    pools: pool::PoolTable::new(),
    links: Mutex::new(link::Links::new()),
    stream_attributes: Mutex::new(BTreeMap::new()),
    host_flags: Mutex::new(BTreeMap::new()),
    sync_memops_allocations: Mutex::new(BTreeSet::new()),
    managed_hints: Mutex::new(Vec::new()),
    image_descriptors: Mutex::new(Vec::new()),
    interned_texts: Mutex::new(BTreeSet::new()),
    unsupported_calls: Mutex::new(BTreeSet::new()),
    options: LazyLock::new(Mutex::default),
    interrupts_launches: AtomicBool::new(false),
    host_access: host_access::HostAccessCheck::new(),
    telemetry: telemetry::Telemetry::new(),
};

/// Starts the simulated driver with `devices` identical devices. If launches are not `sampled`, modelled
/// times do not include the memory system.
pub fn start(devices: u32, device: DeviceSpec, time_limit: Option<TimeLimit>, sampled: bool) {
    SIMULATOR.driver.get_or_init(|| {
        let mut driver = Driver::with_devices(devices, device, time_limit);
        let devices = driver.device_count();
        SIMULATOR.device_count.store(devices, Ordering::Relaxed);
        driver.options = options::for_driver(time_limit, sampled);
        Mutex::new(driver)
    });
}

/// Locks `mutex`, ignoring poisoning: a panic leaves no change half-made that later calls could not handle.
fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks the driver. The lock is also held while a launch runs. Streams may have pending work.
fn lock_driver() -> Result<MutexGuard<'static, Driver>, CudaError> {
    let driver = SIMULATOR.driver.get().ok_or(CudaError::NotInitialized)?;
    Ok(lock_mutex(driver))
}

/// Completes all pending stream work, then locks the driver. For functions that change or report what pending
/// work may depend on.
fn lock_driver_drained() -> Result<MutexGuard<'static, Driver>, CudaError> {
    queue::wait(WaitTarget::All);
    lock_driver()
}

/// Locks the driver without waiting. Returns `None` if it has not started or another thread holds the lock.
fn try_lock_driver() -> Option<MutexGuard<'static, Driver>> {
    match SIMULATOR.driver.get()?.try_lock() {
        Ok(driver) => Some(driver),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Returns the function of a handle. A library's kernel is resolved to its function in `context`.
fn resolve_function(
    driver: &mut Driver,
    context: Option<ContextId>,
    handle: CUfunction,
) -> Result<FunctionId, CudaError> {
    driver.resolve_function(arguments::number(handle), context)
}

/// Locks the driver and resolves a function handle; a library's kernel resolves to its function in the
/// current context.
fn lock_function(
    handle: CUfunction,
) -> Result<(MutexGuard<'static, Driver>, FunctionId), CudaError> {
    let context = with_contexts(|contexts| contexts.current());
    let mut driver = lock_driver()?;
    let function = resolve_function(&mut driver, context, handle)?;
    Ok((driver, function))
}

/// Locks the driver. Returns it with the calling thread's current context. Streams may have pending work.
fn lock_current_context() -> Result<(MutexGuard<'static, Driver>, ContextId), CudaError> {
    let context = require_current()?;
    Ok((lock_driver()?, context))
}

/// Completes all pending stream work, then locks the driver. Returns it with the calling thread's current
/// context.
fn lock_current_context_drained() -> Result<(MutexGuard<'static, Driver>, ContextId), CudaError> {
    let context = require_current()?;
    Ok((lock_driver_drained()?, context))
}

/// Locks the driver. Returns it with the context and the number of a stream. A stream belongs to
/// the context it was created in; the default stream to the current context. Streams may have pending work.
fn lock_stream(
    stream: impl Into<Stream>,
) -> Result<(MutexGuard<'static, Driver>, ContextId, StreamId), CudaError> {
    match stream.into() {
        Stream::Id(StreamId::LEGACY) => {
            let (driver, context) = lock_current_context()?;
            Ok((driver, context, StreamId::LEGACY))
        }
        Stream::Id(stream) => {
            let driver = lock_driver()?;
            let context = driver.stream_context(stream)?;
            Ok((driver, context, stream))
        }
        Stream::PerThread => {
            let (mut driver, context) = lock_current_context()?;
            let stream = per_thread_stream(&mut driver, context)?;
            Ok((driver, context, stream))
        }
    }
}

/// [`lock_stream`], after a check that the stream exists and its context has not faulted.
fn lock_live_stream(
    stream: impl Into<Stream>,
) -> Result<(MutexGuard<'static, Driver>, ContextId, StreamId), CudaError> {
    let (driver, context, stream) = lock_stream(stream)?;
    driver.stream_flags(context, stream)?;
    Ok((driver, context, stream))
}

/// Records a call of a function that the simulator does not implement. Returns true for the function's first.
pub fn is_first_unsupported_call(name: &'static str) -> bool {
    lock_mutex(&SIMULATOR.unsupported_calls).insert(name)
}
