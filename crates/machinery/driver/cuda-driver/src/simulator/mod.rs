//! The simulator: the simulated driver, and what the driver API knows beyond it. It refers to no C function: `api`
//! implements them with the one simulator of this process.
//!
//! `operation.rs` has the operations of streams and graphs, `thread.rs` the state of a thread, `process.rs` the handlers of
//! signals and forks. Each of the following files has the state of one subject: `graphs.rs`, `captures.rs`, `pools.rs`,
//! `queue.rs`, `sharing.rs`, `host_access/`, `stream_order.rs`, `telemetry.rs`, `tables.rs`. This file unites and locks
//! them, and `execute.rs` submits and executes operations.

mod captures;
mod execute;
mod graphs;
mod host_access;
mod operation;
mod pools;
mod process;
mod queue;
mod sharing;
mod stream_order;
mod tables;
mod telemetry;
mod thread;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, Once, OnceLock, TryLockError};

use cuda_sim::check::{Details, Writer};
use cuda_sim::device::DeviceSpec;
use cuda_sim::driver::{ContextId, CudaError, Driver, StreamId};
use cuda_sim::exec::compiled::CompileMode;
use cuda_sim::exec::{LaunchOptions, TimeLimit};

use captures::CaptureTable;
use graphs::Graphs;
use host_access::{HostAccessCheck, Source, take_page_accesses};
use pools::{GraphMemory, PoolTable};
use queue::StreamQueue;
use sharing::{SharedEvents, SharedPools};
use stream_order::StreamOrder;
use tables::Tables;
use telemetry::Telemetry;
use thread::per_thread_stream;

use crate::names;

pub use cuda_sim::memory::lock;

pub use captures::{CaptureStatus, Ended, Mode};
pub use execute::is_blocking;
pub use graphs::{Difference, DifferenceKind, ExecId, merge_graphs};
pub use operation::{
    Body, ConditionalKind, GraphId, HostFunction, Kernel, Node, NodeId, Pointer, StreamOp,
    WaitTarget,
};
pub use pools::{GraphMemoryAttribute, Pool, default_pool, make_room};
#[cfg(unix)]
pub use process::defer_final_handler;
pub use process::{detect_forks, in_child};
pub use queue::Destroyed;
pub use tables::{
    Advice, GreenContext, Hints, LaunchState, Link, Links, Log, ObjectDescriptors, Sampling,
    SurfaceReference, TextureBinding, TextureReference,
};
pub use telemetry::{Event, FailedCall, Observer, Reports};
pub use thread::{
    PerThreadDefault, Stream, call_host_functions, exchange_capture_mode, in_callback,
    require_current, with_calls, with_contexts,
};

/// A simulator. Each subject has its own lock, so that calls that need no device do not wait for a running launch,
/// which holds the driver's. A thread that takes several locks takes the driver's first, then that of the captures,
/// then that of the graphs. Lives as long as the process, because its threads do.
pub struct Simulator {
    /// The simulated driver with its contexts, modules, streams and events; empty until `cuInit` has selected
    /// the simulator.
    driver: OnceLock<Mutex<Driver>>,
    /// Number of devices, set when the simulator starts.
    device_count: AtomicU32,
    pub known_contexts: KnownContexts,
    pub queue: StreamQueue,
    /// The objects that the program has destroyed and that pending operations still use.
    destroyed: Mutex<Vec<Destroyed>>,
    /// The start of the thread that executes operations while the program is idle.
    background: Once,
    pub captures: CaptureTable,
    pub graphs: Mutex<Graphs>,
    pub graph_memory: GraphMemory,
    pub pools: PoolTable,
    pub shared_events: SharedEvents,
    pub shared_pools: SharedPools,
    pub tables: Tables,
    /// The options of later launches, which can be set before the simulator starts. The driver has a copy.
    options: LazyLock<Mutex<LaunchOptions>>,
    pub host_access: HostAccessCheck,
    pub stream_order: StreamOrder,
    pub telemetry: Telemetry,
}

/// The set of contexts that may be made current: all that were created. Calls in one that was destroyed return
/// [`CudaError::ContextIsDestroyed`]. It has its own lock, so that lookups do not wait for a running launch, which
/// holds the driver's.
pub struct KnownContexts(Mutex<BTreeSet<ContextId>>);

impl KnownContexts {
    const fn new() -> Self {
        Self(Mutex::new(BTreeSet::new()))
    }

    /// Registers a new context. Returns it.
    pub fn register(&self, context: ContextId) -> ContextId {
        lock(&self.0).insert(context);
        context
    }

    /// Returns [`CudaError::InvalidContext`] for a context that may not be made current.
    pub fn check(&self, context: ContextId) -> Result<(), CudaError> {
        match lock(&self.0).contains(&context) {
            true => Ok(()),
            false => Err(CudaError::InvalidContext),
        }
    }
}

/// The locked driver with an object in it.
pub type Locked<'a, T> = Result<(MutexGuard<'a, Driver>, T), CudaError>;

/// The locked driver with the context and the number of a stream.
pub type LockedStream<'a> = Result<(MutexGuard<'a, Driver>, ContextId, StreamId), CudaError>;

impl Simulator {
    pub const fn new() -> Self {
        Self {
            driver: OnceLock::new(),
            device_count: AtomicU32::new(1),
            known_contexts: KnownContexts::new(),
            queue: StreamQueue::new(),
            destroyed: Mutex::new(Vec::new()),
            background: Once::new(),
            captures: CaptureTable::new(),
            graphs: Mutex::new(Graphs::new()),
            graph_memory: GraphMemory::new(),
            pools: PoolTable::new(),
            shared_events: SharedEvents::new(),
            shared_pools: SharedPools::new(),
            tables: Tables::new(),
            options: LazyLock::new(Mutex::default),
            host_access: HostAccessCheck::new(),
            stream_order: StreamOrder::new(),
            telemetry: Telemetry::new(),
        }
    }

    /// Starts the simulated driver with `devices` identical devices. If launches are not `sampled`, modelled
    /// times do not include the memory system.
    pub fn start(
        &self,
        devices: u32,
        device: DeviceSpec,
        time_limit: Option<TimeLimit>,
        sampled: bool,
        compile: CompileMode,
    ) {
        self.driver.get_or_init(|| {
            let mut driver = Driver::with_devices(devices, device, time_limit);
            let devices = driver.device_count();
            self.device_count.store(devices, Ordering::Relaxed);
            self.pools.start(devices);
            let mut options = self.options();
            (options.time_limit, options.sampled) = (time_limit, sampled);
            options.compile = compile;
            driver.options = options.clone();
            Mutex::new(driver)
        });
    }

    /// Returns the number of devices.
    pub fn device_count(&self) -> u32 {
        self.device_count.load(Ordering::Relaxed)
    }

    /// Locks the driver. The lock is also held while a launch runs. Streams may have pending work.
    pub fn lock_driver(&self) -> Result<MutexGuard<'_, Driver>, CudaError> {
        let driver = self.driver.get().ok_or(CudaError::NotInitialized)?;
        Ok(lock(driver))
    }

    /// Executes the pending stream work that can execute, then locks the driver. Work may remain that waits for a
    /// host function. For functions that do not wait for streams: earlier work is complete if it can be, so that
    /// counters, findings and modelled times do not depend on the program's speed.
    pub fn lock_driver_settled(&'static self) -> Result<MutexGuard<'static, Driver>, CudaError> {
        self.settle();
        self.lock_driver()
    }

    /// Completes all pending stream work, then locks the driver. For functions that wait for all streams, as an
    /// H200's driver does (580.159.04).
    pub fn lock_driver_drained(&'static self) -> Result<MutexGuard<'static, Driver>, CudaError> {
        self.wait(WaitTarget::All);
        self.lock_driver()
    }

    /// Waits for all pending stream work, also for the checks, then locks the driver. For functions that free host memory.
    pub fn lock_driver_to_free(&'static self) -> Result<MutexGuard<'static, Driver>, CudaError> {
        self.wait(WaitTarget::All);
        self.host_waited(WaitTarget::All);
        self.lock_driver()
    }

    /// Locks the driver without waiting. Returns `None` if it has not started or another thread holds the lock.
    pub fn try_lock_driver(&self) -> Option<MutexGuard<'_, Driver>> {
        match self.driver.get()?.try_lock() {
            Ok(driver) => Some(driver),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Locks the driver. Returns it with the calling thread's current context. Streams may have pending work.
    pub fn lock_current_context(&self) -> Locked<'_, ContextId> {
        let context = require_current()?;
        Ok((self.lock_driver()?, context))
    }

    /// [`Simulator::lock_driver_settled`], with the calling thread's current context.
    pub fn lock_current_context_settled(&'static self) -> Locked<'static, ContextId> {
        let context = require_current()?;
        Ok((self.lock_driver_settled()?, context))
    }

    /// [`Simulator::lock_driver_drained`], with the calling thread's current context.
    pub fn lock_current_context_drained(&'static self) -> Locked<'static, ContextId> {
        let context = require_current()?;
        Ok((self.lock_driver_drained()?, context))
    }

    /// Locks the driver. Returns it with the context and the number of a stream. A stream belongs to
    /// the context it was created in; the default stream to the current context. Streams may have pending work.
    pub fn lock_stream(&self, stream: impl Into<Stream>) -> LockedStream<'_> {
        match stream.into() {
            Stream::Id(StreamId::LEGACY) => {
                let (driver, context) = self.lock_current_context()?;
                Ok((driver, context, StreamId::LEGACY))
            }
            Stream::Id(stream) => {
                let driver = self.lock_driver()?;
                let context = driver.stream_context(stream)?;
                Ok((driver, context, stream))
            }
            Stream::PerThread => {
                let (mut driver, context) = self.lock_current_context()?;
                let stream = per_thread_stream(&mut driver, context)?;
                Ok((driver, context, stream))
            }
        }
    }

    /// [`Simulator::lock_stream`], after a check that the stream exists and its context has not faulted.
    pub fn lock_live_stream(&self, stream: impl Into<Stream>) -> LockedStream<'_> {
        let (driver, context, stream) = self.lock_stream(stream)?;
        driver.stream_flags(context, stream)?;
        Ok((driver, context, stream))
    }

    /// Locks all graphs. A thread that also locks the driver or the captures must lock them first.
    pub fn graphs(&self) -> MutexGuard<'_, Graphs> {
        lock(&self.graphs)
    }

    /// Rejects a potentially unsafe call if a capture forbids it: see [`CaptureTable::check_safe`].
    pub fn check_safe(&self) -> Result<(), CudaError> {
        self.captures.check_safe(thread::capture_mode())
    }

    /// Locks the options of later launches.
    pub fn options(&self) -> MutexGuard<'_, LaunchOptions> {
        lock(&self.options)
    }

    /// Changes the options, after all pending work is complete.
    pub fn update_options(&'static self, change: impl FnOnce(&mut LaunchOptions)) {
        self.wait(WaitTarget::All);
        change(&mut self.options());
        if let Ok(mut driver) = self.lock_driver() {
            driver.options = self.options().clone();
        }
    }

    /// Returns the seed of random schedules.
    fn shuffle_seed(&self) -> Option<u64> {
        self.options().conditions.shuffle
    }

    /// Makes Ctrl-C and requests to terminate end the running launch.
    pub fn enable_interrupts(&'static self) {
        process::defer_termination();
        self.update_options(|options| options.on_long_launch = Some(process::replace_handler));
    }

    /// Reports conflicts of the program's accesses to memory in use since the last call. Must be called before the order of
    /// operations changes.
    pub fn report_host_accesses(&self) {
        if !self.host_access.is_enabled() {
            return;
        }
        let accesses = take_page_accesses();
        if accesses.is_empty() {
            return;
        }
        self.host_access.protect_again();
        let findings = self.stream_order.host_accessed(accesses);
        self.telemetry.report_findings(&findings, None);
    }

    /// Records that the host has waited for `target`.
    pub fn host_waited(&self, target: WaitTarget) {
        self.report_host_accesses();
        self.stream_order.host_waited(target);
        self.release_host_memory();
    }

    /// Records that the host has waited for all operations of a context.
    pub fn host_waited_for_context(&self, context: ContextId) {
        self.report_host_accesses();
        self.stream_order.host_waited_for_context(context);
        self.release_host_memory();
    }

    /// Unprotects the host memory of operations that the host has waited for.
    fn release_host_memory(&self) {
        if self.host_access.is_enabled() {
            self.host_access
                .release(|submission| self.stream_order.has_waited_for(submission));
        }
    }

    /// Reports the findings of the driver's last call. Unlocks the driver first.
    pub fn report_call_findings(&self, mut driver: MutexGuard<'_, Driver>) {
        let mut findings = driver.take_findings();
        drop(driver);
        for finding in &mut findings {
            if let Details::Unwritten(.., Writer::Kernel(name)) = &mut finding.details {
                *name = names::short(name);
            }
        }
        self.telemetry.report_findings(&findings, None);
    }

    /// Reports that the program has changed memory before a graph has copied it.
    fn report_changed_source(&self, source: Source) {
        let Ok(driver) = self.lock_driver() else {
            return;
        };
        let finding = driver.changed_source(source.start, source.bytes);
        drop(driver);
        self.telemetry.report_findings(&[finding], None);
    }

    /// Reports allocations that were leaked when a context was destroyed, if leaks are checked, and removes the
    /// context's streams from captures. Unlocks the driver first, so that no other thread waits for the report.
    pub fn forget_contexts(&self, mut driver: MutexGuard<'_, Driver>) {
        let destructors = self.captures.forget_streams(&self.graphs, &driver);
        self.host_waited(WaitTarget::All);
        let leaks = driver.take_leaks();
        self.report_call_findings(driver);
        // If the destructors' thread cannot be created, there is no caller left to report the error to.
        let _ = thread::call_host_functions(destructors);
        self.telemetry.report_findings(&leaks, None);
    }
}
