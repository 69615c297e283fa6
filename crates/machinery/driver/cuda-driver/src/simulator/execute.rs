//! Operations from their submission to a stream to their execution. A submitted operation is added to a capture's
//! graph if the stream is capturing, otherwise to the queue. It executes when a call has to wait for it, on the waiting
//! thread, or after a short time in which the program has made no driver call, on the background thread. While an
//! operation executes, the driver is locked, but not while a host function runs or output is printed.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use std::io::Write;
use std::sync::MutexGuard;
use std::time::{Duration, Instant};

use cuda_sim::check::{AllocationAccesses, Finding, StreamAction, StreamName, call_site};
use cuda_sim::driver::{
    CheckedLaunch, ContextId, CudaError, Driver, LibraryCall, Memcpy, StreamId,
};
use cuda_sim::exec::{Fault, device_error};
use cuda_sim::launch::LaunchReport;
use cuda_sim::memory::global::{AllocationKind, AllocationRecord, CallSite};

use super::host_access::HostAccesses;
use super::operation::{Body, Conditional, ConditionalKind, NodeId, StreamOp, WaitTarget};
use super::process::InterruptGuard;
use super::queue::{Destroyed, Queue, RunningOp, Submitted};
use super::sharing::Recording;
use super::stream_order::{Call, Submission, accesses_of, accesses_of_allocation, action_of};
use super::telemetry::Event;
use super::{Simulator, lock, thread};
use crate::names;
use crate::status::warn;
use crate::types::MemoryOperation;

/// Idle time before background work: the background thread starts when the program has made no driver call
/// for this long.
const IDLE_TIME: Duration = Duration::from_millis(2);

/// Idle time before background work when launches are shuffled or host accesses are checked. Longer, so that
/// the seed's choices do not depend on the host's speed, and so that accesses to memory in use are detected.
const LONG_IDLE_TIME: Duration = Duration::from_millis(250);

/// The duration from which on a host function counts in modelled time.
const LONG_HOST_FUNCTION: Duration = Duration::from_millis(1);

/// The origin of an operation.
#[derive(Clone, Copy)]
struct Origin<'a> {
    /// False if it was submitted to a stream: then the host waits for some copies. True for a graph's node.
    is_node: bool,
    /// The place in the order of streams, if the check of streams or of host accesses is on.
    submission: Option<&'a Submission>,
}

/// The maximum number of nodes of a graph whose order is checked.
const MAX_ORDERED_NODES: usize = 2048;

/// The maximum number of nodes of the iterations of a loop whose order is checked.
const MAX_ORDERED_ITERATED_NODES: usize = 512;

/// Returns true if a stream synchronizes with the legacy default stream.
pub fn is_blocking(
    driver: &Driver,
    context: ContextId,
    stream: StreamId,
) -> Result<bool, CudaError> {
    /// `CU_STREAM_NON_BLOCKING`.
    const NON_BLOCKING: u32 = 1;
    Ok(driver.stream_flags(context, stream)? & NON_BLOCKING == 0)
}

impl Simulator {
    /// Submits `op`, which the caller has validated, to a stream. Unlocks the driver.
    pub fn submit(
        &'static self,
        driver: MutexGuard<'static, Driver>,
        context: ContextId,
        stream: StreamId,
        op: StreamOp,
    ) -> Result<(), CudaError> {
        let blocking = is_blocking(&driver, context, stream)?;
        // Copies of pageable host memory complete before the call returns.
        let is_synchronous = match &op {
            StreamOp::Memcpy(copy) => driver.host_waits(copy),
            _ => false,
        };
        let is_complete = self.stream_order.is_enabled() && is_complete_at_return(&driver, &op);
        drop(driver);
        let captures = &self.captures;
        let Some(op) = captures.collect(&self.graphs, context, stream, op)? else {
            return Ok(());
        };
        self.enqueue(context, stream, blocking, op);
        if is_synchronous {
            self.wait(WaitTarget::Stream(context, stream));
            self.lock_driver()?.stream_flags(context, stream)?;
        }
        if is_complete {
            self.host_waited(WaitTarget::Stream(context, stream));
        }
        Ok(())
    }

    /// Submits an operation that is ordered with those of all streams of a context. No stream of it may be capturing.
    pub fn submit_to_context(
        &'static self,
        context: ContextId,
        op: StreamOp,
    ) -> Result<(), CudaError> {
        self.captures.check_legacy_stream(context)?;
        self.enqueue(context, StreamId::LEGACY, true, op);
        Ok(())
    }

    /// Enqueues an operation. `blocking` is true if the stream synchronizes with the legacy default stream.
    fn enqueue(&'static self, context: ContextId, stream: StreamId, blocking: bool, op: StreamOp) {
        // If the thread cannot be created, operations execute when a call waits for them.
        self.background.call_once(|| {
            let _ = std::thread::Builder::new()
                .name("streams".into())
                .spawn(|| self.execute_in_background());
        });
        if self.queue.is_full() {
            let seed = || self.shuffle_seed();
            while let Some(running_op) = self
                .queue
                .start_until(u64::MAX, seed, |queue| queue.has_room())
            {
                self.finish(running_op);
            }
        }
        self.report_host_accesses();
        let mut accesses = HostAccesses::default();
        if self.host_access.is_enabled()
            && let Ok(driver) = self.lock_driver()
        {
            accesses = HostAccesses::of(&driver, &op);
        }
        let line = match call_site::is_known() {
            true => self.locate_call(&op),
            false => None,
        };
        let call = self.stream_order.is_enabled().then(|| {
            let recorded_events = op.recorded_events();
            Call {
                line: line.clone().filter(|_| !recorded_events.is_empty()),
                recorded_events,
                awaited_events: op.awaited_events(),
                graph: op.graph(),
                ..self.call(context, stream, blocking)
            }
        });
        let [awaited, recorded] = self.shared_events.of_operation(&op);
        self.queue.add(context, stream, blocking, op, || {
            let submission = call.and_then(|call| self.stream_order.enqueue(call));
            if let Some(submission) = &submission {
                self.host_access.add_pending(submission, accesses);
            }
            Submitted {
                line,
                submission,
                awaited,
                recorded,
            }
        });
    }

    /// Returns the line of the program that submits an operation.
    fn locate_call(&self, op: &StreamOp) -> Option<CallSite> {
        let StreamOp::Kernel(kernel) = op else {
            return call_site::locate(None);
        };
        let driver = self.lock_driver().ok()?;
        call_site::locate(driver.function_name(kernel.launch.function()).ok())
    }

    /// Returns a call for the check of streams, without events.
    fn call(&self, context: ContextId, stream: StreamId, blocking: bool) -> Call {
        let default = || match self.device_count() {
            1 => StreamName::Default,
            _ => {
                let driver = self.lock_driver();
                let device = driver.and_then(|driver| driver.context_device(context));
                device.map_or(StreamName::Default, StreamName::DefaultOfDevice)
            }
        };
        let name = match stream {
            StreamId::LEGACY => Some(default()),
            _ => thread::is_per_thread_stream(stream).then_some(StreamName::DefaultOfThread),
        };
        Call {
            context,
            stream,
            blocking,
            name,
            recorded_events: Vec::new(),
            awaited_events: Vec::new(),
            graph: None,
            line: None,
        }
    }

    /// Copies in the legacy default stream before it returns.
    ///
    /// # Safety
    /// The requirements are those of [`Driver::memcpy`].
    pub unsafe fn copy_now(
        &'static self,
        context: ContextId,
        copy: &Memcpy,
    ) -> Result<(), CudaError> {
        self.wait(WaitTarget::Stream(context, StreamId::LEGACY));
        let mut driver = self.lock_driver()?;
        self.captures.check_legacy_stream(context)?;
        let op = StreamOp::Memcpy(*copy);
        let checked = self.stream_order.is_enabled();
        let accesses = checked.then(|| (action_of(&driver, &op, false), accesses_of(&driver, &op)));
        let mut host_waits = false;
        if checked {
            let devices = device_memory_of(&driver, copy);
            // Between two devices, a copy follows all earlier commands of both and precedes all later ones (CUDA C++
            // Programming Guide, "Peer-to-Peer Memory Copy").
            let is_peer_copy = devices.is_some_and(|[written, read]| written != read);
            if is_peer_copy {
                self.host_waited(WaitTarget::All);
            }
            host_waits = devices.is_none() || is_peer_copy;
        }
        self.host_access.begin_call();
        // SAFETY: the requirements are those of this function.
        let result = unsafe { driver.memcpy(context, copy) };
        self.host_access.end();
        result?;
        self.report_call_findings(driver);
        if let Some((Some(action), accesses)) = accesses {
            self.report_host_accesses();
            let call = self.call(context, StreamId::LEGACY, true);
            if let Some(submission) = self.stream_order.submit(call) {
                self.report_accesses(&submission, action, accesses);
                if host_waits {
                    self.stream_order.host_waited_for(&submission);
                    self.release_host_memory();
                }
            }
        }
        Ok(())
    }

    /// Records the allocation of memory in a stream, for the check of streams.
    pub fn record_stream_allocation(&self, context: ContextId, stream: StreamId, address: u64) {
        if !self.stream_order.is_enabled() {
            return;
        }
        let Ok(driver) = self.lock_driver() else {
            return;
        };
        let blocking = is_blocking(&driver, context, stream).unwrap_or(true);
        let accesses = accesses_of_allocation(&driver, address);
        drop(driver);
        self.report_host_accesses();
        let call = self.call(context, stream, blocking);
        if let Some(submission) = self.stream_order.submit(call) {
            self.report_accesses(&submission, StreamAction::Allocation, accesses);
        }
    }

    /// Records a call of `cuMemFree` for this allocation: it waits for all operations, unless the memory was allocated in a
    /// stream.
    pub fn record_free(&self, allocation: Option<AllocationRecord>) {
        match allocation {
            Some(allocation)
                if self.stream_order.is_enabled()
                    && self.pools.lock().pool_of(allocation.base) != 0 =>
            {
                let line = call_site::locate(None);
                let findings = self.stream_order.freed_by_host(allocation, line);
                self.telemetry.report_findings(&findings, None);
            }
            _ => self.host_waited(WaitTarget::All),
        }
    }

    /// Records the memory that an operation has used, and reports its conflicts with operations that are not ordered.
    fn report_accesses(
        &self,
        submission: &Submission,
        action: StreamAction,
        accesses: Vec<AllocationAccesses>,
    ) {
        if self.host_access.is_enabled()
            && let Ok(driver) = self.lock_driver()
        {
            let used = HostAccesses::of_executed(&driver, &accesses);
            self.host_access.add_executed(submission, used);
        }
        let line = call_site::locate(None);
        let findings = self
            .stream_order
            .executed(submission, line, action, accesses);
        self.telemetry.report_findings(&findings, None);
    }

    /// Executes operations until `target` is complete. Completes all earlier operations too, unless launches are
    /// shuffled, so that counters and modelled times equal those of immediate execution.
    pub fn wait(&'static self, target: WaitTarget) {
        let all = self.shuffle_seed().is_none();
        self.execute_until(
            |queue, last| !(queue.contains(target, last) || all && queue.can_progress(last)),
            |running_op| match target {
                WaitTarget::All => true,
                WaitTarget::Stream(context, stream) => {
                    (running_op.context, running_op.stream) == (context, stream)
                }
                WaitTarget::Event(_) => false,
            },
        );
    }

    /// Executes the operations that can execute, without waiting for host functions.
    pub fn settle(&'static self) {
        self.execute_until(|queue, last| !queue.can_progress(last), |_| false);
    }

    /// Executes the operations that are pending now until `is_enough` returns true. Calls a host function in this
    /// thread if `waits_for` returns true, and in a thread of its own otherwise, because it may wait for the
    /// program's next call.
    fn execute_until(
        &'static self,
        is_enough: impl Fn(&Queue, u64) -> bool,
        waits_for: impl Fn(&RunningOp) -> bool,
    ) {
        if !self.can_wait() {
            return;
        }
        let last = self.queue.last();
        let seed = || self.shuffle_seed();
        while let Some(running_op) = self
            .queue
            .start_until(last, seed, |queue| is_enough(queue, last))
        {
            match waits_for(&running_op) {
                true => self.finish(running_op),
                false => self.finish_without_waiting(running_op),
            }
        }
    }

    /// Returns true if `target` is complete. If it is not, first executes or starts one operation, so that a
    /// program that polls makes progress.
    pub fn is_done(&'static self, target: WaitTarget) -> bool {
        if !self.can_wait() {
            return true;
        }
        let last = self.queue.last();
        if self.queue.contains(target, last) {
            self.execute_one(last);
            if self.queue.contains(target, last) {
                return false;
            }
        }
        self.wait(target);
        true
    }

    /// Returns true if there is pending work and this thread may wait for it; a thread that executes an operation
    /// may not.
    fn can_wait(&self) -> bool {
        self.queue.has_pending() && !thread::is_executing() && !thread::in_callback()
    }

    /// Executes one operation up to `last`; returns false if none can start now.
    fn execute_one(&'static self, last: u64) -> bool {
        let started = self.queue.start(last, self.shuffle_seed());
        started
            .map(|running_op| self.finish_without_waiting(running_op))
            .is_some()
    }

    /// Executes an operation that was started. A host function, a wait for a value and a wait for another process get their
    /// own thread, because they may wait for the program's next call.
    fn finish_without_waiting(&'static self, running_op: RunningOp) {
        if !running_op.op.may_wait_for_program() && running_op.submitted.awaited.is_empty() {
            self.finish(running_op);
            return;
        }
        let here = running_op.clone();
        let thread = std::thread::Builder::new().name("host function".into());
        if thread.spawn(move || self.finish(running_op)).is_err() {
            self.finish(here);
        }
    }

    /// Executes pending operations whenever the program has made no driver call for a while.
    fn execute_in_background(&'static self) {
        loop {
            self.queue.wait_for_work();
            let calls = self.queue.calls();
            let is_long = self.shuffle_seed().is_some() || self.host_access.is_enabled();
            std::thread::sleep(if is_long { LONG_IDLE_TIME } else { IDLE_TIME });
            self.queue.set_in_background(true);
            while self.queue.calls() == calls && self.execute_one(u64::MAX) {}
            self.queue.set_in_background(false);
        }
    }

    /// Executes an operation that was started, and removes it from the queue, even if it panics.
    fn finish(&self, running_op: RunningOp) {
        struct CompleteOnDrop<'a> {
            simulator: &'a Simulator,
            number: u64,
            submission: Option<&'a Submission>,
            recorded: &'a [Recording],
            guards_host_memory: bool,
        }
        impl Drop for CompleteOnDrop<'_> {
            fn drop(&mut self) {
                thread::set_executing(false);
                let simulator = self.simulator;
                if self.guards_host_memory {
                    simulator.host_access.end();
                }
                if let Some(submission) = self.submission {
                    simulator.stream_order.complete(submission);
                }
                simulator.queue.complete(self.number);
                self.recorded.iter().for_each(Recording::complete);
                simulator.destroy_unused();
            }
        }
        let RunningOp {
            number, context, ..
        } = running_op;
        let Submitted {
            line,
            submission,
            awaited,
            recorded,
        } = running_op.submitted;
        awaited.iter().for_each(Recording::wait);
        self.report_host_accesses();
        let calls_host_function = running_op.op.calls_host_function();
        // The program may learn from the function, or another process from the event, that the earlier operations are
        // complete.
        let is_observed = calls_host_function || !recorded.is_empty();
        if is_observed && let Some(submission) = &submission {
            self.stream_order.host_waited_for(submission);
            self.release_host_memory();
        }
        thread::set_executing(true);
        let guard = CompleteOnDrop {
            simulator: self,
            number,
            submission: submission.as_ref(),
            recorded: &recorded,
            guards_host_memory: self.host_access.is_enabled()
                && !matches!(*running_op.op, StreamOp::Host(_)),
        };
        if guard.guards_host_memory
            && let Some(submission) = &submission
        {
            for source in self.host_access.begin_operation(submission) {
                self.report_changed_source(source);
            }
        }
        let origin = Origin {
            is_node: false,
            submission: submission.as_ref(),
        };
        let result = call_site::execute(line, || {
            self.execute(context, running_op.stream, &running_op.op, origin)
        });
        if let Err(error) = result {
            self.report_failure("stream operation", context, error);
        }
    }

    /// Destroys an object as soon as no pending operation uses it.
    pub fn destroy_when_unused(&self, object: Destroyed) {
        lock(&self.destroyed).push(object);
        self.destroy_unused();
    }

    /// Destroys the objects that the program has destroyed and that no pending operation uses any more.
    fn destroy_unused(&self) {
        let mut destroyed = lock(&self.destroyed);
        if destroyed.is_empty() {
            return;
        }
        let is_unused = |object: &mut Destroyed| !self.queue.uses(*object);
        let unused: Vec<_> = destroyed.extract_if(.., is_unused).collect();
        drop(destroyed);
        let Ok(mut driver) = self.lock_driver() else {
            return;
        };
        for object in unused {
            // Its context may have been destroyed or may have faulted.
            let _ = match object {
                Destroyed::Stream(context, stream) => driver.destroy_stream(context, stream),
                Destroyed::Event(event) => driver.destroy_event(event),
            };
        }
    }

    /// Reports an operation that failed although it was valid when submitted. The error becomes its context's,
    /// unless an earlier fault is already recorded there.
    fn report_failure(&self, operation: &str, context: ContextId, error: CudaError) {
        if let Ok(mut driver) = self.lock_driver()
            && driver.memory_info(context).is_ok()
        {
            warn(format_args!(
                "a {operation} failed ({error}): its memory, kernel or event no longer exists"
            ));
            driver.fail(context, CudaError::IllegalAddress);
        }
    }

    /// Executes `op`, which was checked when it was submitted. A kernel that faults is not an error here: its
    /// context reports the fault at the next call.
    fn execute(
        &self,
        context: ContextId,
        stream: StreamId,
        op: &StreamOp,
        origin: Origin,
    ) -> Result<(), CudaError> {
        let used = origin.submission.map(|submission| {
            let driver = self.lock_driver()?;
            let action = action_of(&driver, op, origin.is_node);
            Ok::<_, CudaError>((submission, action, accesses_of(&driver, op)))
        });
        let used = used.transpose()?;
        let accesses = self.perform(context, stream, op, origin)?;
        if let Some((submission, Some(action), known)) = used {
            let accesses = if known.is_empty() { accesses } else { known };
            self.report_accesses(submission, action, accesses);
        }
        Ok(())
    }

    /// Executes `op`. Returns the memory that a kernel or a library's function has used, if the check of streams or of host
    /// accesses is on.
    fn perform(
        &self,
        context: ContextId,
        stream: StreamId,
        op: &StreamOp,
        origin: Origin,
    ) -> Result<Vec<AllocationAccesses>, CudaError> {
        match op {
            StreamOp::Empty => Ok(()),
            StreamOp::Kernel(kernel) => return self.launch(context, stream, &kernel.launch),
            StreamOp::Memcpy(copy) => {
                let mut driver = self.lock_driver()?;
                // SAFETY: the program keeps the copy's host memory valid until the copy completes, as
                // `cuMemcpyAsync` and `cuGraphLaunch` require.
                unsafe {
                    match origin.is_node {
                        false => driver.memcpy_async(context, stream, copy),
                        true => driver.memcpy_node(context, stream, copy),
                    }
                }?;
                self.report_call_findings(driver);
                Ok(())
            }
            StreamOp::Memset(memset) => self.lock_driver()?.memset(context, stream, memset),
            StreamOp::Library(call) => return self.call_library(context, stream, call),
            StreamOp::Host(function) => {
                self.lock_driver()?.stream_flags(context, stream)?;
                let start = Instant::now();
                thread::call_host_functions(vec![*function])?;
                let duration = start.elapsed();
                // Short functions take no time, so that modelled times do not depend on the host's speed.
                if duration >= LONG_HOST_FUNCTION {
                    let mut driver = self.lock_driver()?;
                    driver.host_function_ran(context, stream, duration.as_secs_f64())?;
                }
                Ok(())
            }
            StreamOp::Memory(operations) => self.run_memory_operations(context, stream, operations),
            StreamOp::RecordEvent(event) | StreamOp::RecordInContext(event) => {
                self.lock_driver()?.record_event(context, *event, stream)
            }
            StreamOp::WaitEvent(event) | StreamOp::WaitInContext(event) => {
                self.lock_driver()?.wait_event(context, stream, *event)
            }
            StreamOp::Allocate(reserved) => {
                let mut driver = self.lock_driver()?;
                self.graph_memory.allocate(&mut driver, context, reserved)
            }
            StreamOp::Free(address) => {
                let mut driver = self.lock_driver()?;
                driver.free(context, *address)?;
                self.report_call_findings(driver);
                self.pools.record_free(*address);
                Ok(())
            }
            StreamOp::Graph(body) => {
                if let Err(error) = self.run_graph(context, stream, body, origin.submission) {
                    self.report_failure("graph node", context, error);
                }
                Ok(())
            }
            StreamOp::Conditional(conditional) => {
                self.run_conditional(context, stream, conditional, origin.submission)
            }
        }?;
        Ok(Vec::new())
    }

    /// Runs a kernel until it completes or faults, prints its output, and hands its report to the observer of events
    /// and to the recorders of launches. Returns the memory that it has used, if the check of streams or of host accesses is on.
    fn launch(
        &self,
        context: ContextId,
        stream: StreamId,
        launch: &CheckedLaunch,
    ) -> Result<Vec<AllocationAccesses>, CudaError> {
        let mut driver = self.lock_driver()?;
        let interrupt_guard = InterruptGuard::new();
        let mut report = driver.launch(context, stream, launch)?;
        let pending_signal = interrupt_guard.finish();
        demangle_kernels(&mut report);
        self.explain_freed_memory(&mut report);
        let accesses = std::mem::take(&mut report.accesses);
        self.telemetry.emit(match &report.result {
            Ok(record) => Event::Launched(record),
            Err(fault) => Event::Faulted(fault),
        });
        for record in &report.descendants.records {
            self.telemetry.emit(Event::Launched(record));
        }
        drop(driver);
        if !report.printed.is_empty() {
            flush_c();
            let mut stdout = std::io::stdout().lock();
            // Ignore errors: as with C's `printf`, a closed stdout does not fail the launch.
            let _ = stdout
                .write_all(&report.printed)
                .and_then(|()| stdout.flush());
        }
        warn_of_device_errors(&report);
        let fault = report.result.as_ref().err();
        if let Some(fault) = fault {
            let finding = fault.finding();
            let is_found = finding.is_some_and(|finding| report.findings.contains(&finding));
            self.telemetry.print_fault(fault, is_found);
        }
        self.telemetry
            .report_findings(&report.findings, fault.and_then(Fault::finding).as_ref());
        let is_complete = fault.is_none();
        self.telemetry.record(report);
        pending_signal.raise();
        Ok(if is_complete { accesses } else { Vec::new() })
    }

    /// Executes memory operations. While a wait for a value is not satisfied, other operations can execute.
    fn run_memory_operations(
        &self,
        context: ContextId,
        stream: StreamId,
        operations: &[MemoryOperation],
    ) -> Result<(), CudaError> {
        const POLL_INTERVAL: Duration = Duration::from_micros(50);
        for operation in operations {
            let (address, bytes) = (operation.address, operation.bytes());
            if operation.is_write() {
                let value = operation.value;
                self.lock_driver()?
                    .write_value(context, stream, address, bytes, value)?;
            }
            if operation.is_wait() {
                while !operation.is_satisfied(self.lock_driver()?.read_value(address, bytes)?) {
                    std::thread::sleep(POLL_INTERVAL);
                }
            }
        }
        Ok(())
    }

    /// Executes a call of a library's function. Returns the memory that it has used, if the check of streams or of host
    /// accesses is on.
    fn call_library(
        &self,
        context: ContextId,
        stream: StreamId,
        call: &LibraryCall,
    ) -> Result<Vec<AllocationAccesses>, CudaError> {
        let mut driver = self.lock_driver()?;
        let report = driver.call_library(context, stream, call)?;
        self.telemetry.emit(match &report.fault {
            None => Event::LibraryCalled(call.function, report.seconds),
            Some(fault) => Event::Faulted(fault),
        });
        let findings = driver.take_findings();
        drop(driver);
        if let Some(fault) = &report.fault {
            self.telemetry.print_fault(fault, report.finding.is_some());
        }
        self.telemetry
            .report_findings(&findings, report.finding.as_ref());
        Ok(report.accesses)
    }

    /// Names the call that has freed the memory that a launch accessed, if it is known.
    fn explain_freed_memory(&self, report: &mut LaunchReport) {
        let Err(fault) = &mut report.result else {
            return;
        };
        let Some(cause) = self.stream_order.cause_of(fault) else {
            return;
        };
        let finding = fault.finding();
        let of_fault = |other: &&mut Finding| Some(&**other) == finding.as_ref();
        if let Some(finding) = report.findings.iter_mut().find(of_fault) {
            finding.likely_cause = Some(cause.clone());
        }
        if let Some(diagnosis) = &mut fault.diagnosis {
            diagnosis.likely_cause = Some(cause);
        }
    }

    /// Executes all nodes of a graph in a stream. In modelled time, each node starts when the last of its
    /// dependencies ends, and the stream continues when all nodes have ended.
    fn run_graph(
        &self,
        context: ContextId,
        stream: StreamId,
        body: &Body,
        submission: Option<&Submission>,
    ) -> Result<(), CudaError> {
        let is_checked = body.nodes.len() <= MAX_ORDERED_NODES;
        let mut orders: BTreeMap<NodeId, BTreeSet<u64>> = BTreeMap::new();
        let order = body.order(self.shuffle_seed());
        let order = order.ok_or(CudaError::InvalidValue)?;
        let mut driver = self.lock_driver()?;
        let start = driver.stream_time(context, stream)?;
        for handle in &body.handles {
            if let Some(value) = handle.default {
                driver.graph_conditions.set(handle.number, value);
            }
        }
        drop(driver);
        let mut ends = BTreeMap::new();
        let mut last = start;
        for id in order {
            let node = &body.nodes[&id];
            let dependency = node
                .dependencies
                .iter()
                .filter_map(|id| ends.get(id).copied());
            self.lock_driver()?.set_stream_time(
                context,
                stream,
                dependency.fold(start, Ord::max),
            )?;
            if node.enabled {
                let (context, stream) = self
                    .module_context(context, &node.op)?
                    .unwrap_or((context, stream));
                let dependencies = node.dependencies.iter();
                let predecessors = dependencies.filter_map(|id| orders.get(id));
                let predecessors = || predecessors.flatten().copied().collect();
                let submission = submission.map(|graph| match is_checked {
                    true => self.stream_order.node(graph, predecessors()),
                    false => graph.clone(),
                });
                let origin = Origin {
                    is_node: true,
                    submission: submission.as_ref(),
                };
                self.execute(context, stream, &node.op, origin)?;
                if let Some(submission) = &submission {
                    orders.insert(id, self.stream_order.nodes_up_to(submission));
                }
            }
            let end = self.lock_driver()?.stream_time(context, stream)?;
            last = last.max(end);
            ends.insert(id, end);
        }
        self.lock_driver()?.set_stream_time(context, stream, last)
    }

    /// Runs the graph of a conditional node that the value of its handle selects; that of a loop until the value is 0.
    fn run_conditional(
        &self,
        context: ContextId,
        stream: StreamId,
        conditional: &Conditional,
        submission: Option<&Submission>,
    ) -> Result<(), CudaError> {
        let mut iteration = submission.cloned();
        loop {
            let driver = self.lock_driver()?;
            let value = driver.graph_conditions.value(conditional.handle);
            drop(driver);
            let Some(body) = conditional.selected(value) else {
                return Ok(());
            };
            self.run_graph(context, stream, body, iteration.as_ref())?;
            if conditional.kind != ConditionalKind::While {
                return Ok(());
            }
            // The next iteration follows all nodes of this one. The order of later ones is not checked.
            iteration = iteration.and_then(|previous| {
                let nodes = self.stream_order.nodes_up_to(&previous);
                let is_checked = nodes.len() <= MAX_ORDERED_ITERATED_NODES;
                is_checked.then(|| self.stream_order.node(&previous, nodes))
            });
        }
    }

    /// Returns the context and stream of a node that does not run where the graph was launched: a kernel runs in
    /// the context of its module, possibly on another device. Its modelled time is that context's, which is not
    /// compared with others.
    fn module_context(
        &self,
        launch_context: ContextId,
        op: &StreamOp,
    ) -> Result<Option<(ContextId, StreamId)>, CudaError> {
        let StreamOp::Kernel(kernel) = op else {
            return Ok(None);
        };
        let driver = self.lock_driver()?;
        // If the function was unloaded, the launch reports it.
        let module = driver.function_module(kernel.launch.function());
        let context = module.and_then(|module| driver.module_context(module));
        let context = context.ok().filter(|&context| context != launch_context);
        Ok(context.map(|context| (context, StreamId::LEGACY)))
    }
}

/// Returns true if a GPU completes a copy or fill in a stream before the call returns: a copy to pageable memory or within
/// the host's memory, a fill of the host's or managed memory. A copy from pageable memory to the device may only have been
/// staged.
fn is_complete_at_return(driver: &Driver, op: &StreamOp) -> bool {
    let kind = |address| {
        let allocation = driver.allocation(address);
        allocation.map(|allocation| allocation.kind).ok()
    };
    use AllocationKind::{Host, Managed, Registered};
    match op {
        StreamOp::Memcpy(copy) => driver.copy_spans(copy).is_some_and(|spans| {
            let is_host = |kind| matches!(kind, None | Some(Host | Registered));
            match spans.map(|(address, _)| kind(address)) {
                [None, _] => true,
                kinds => kinds.into_iter().all(is_host),
            }
        }),
        StreamOp::Memset(memset) => {
            matches!(kind(memset.address), Some(Host | Managed | Registered))
        }
        _ => false,
    }
}

/// Returns the devices to and from whose memory a copy is; `None` if one side is host memory.
fn device_memory_of(driver: &Driver, copy: &Memcpy) -> Option<[u32; 2]> {
    let device = |(address, _)| {
        let allocation = driver.allocation(address).ok()?;
        let is_device_only = allocation.kind.is_device_only();
        is_device_only.then_some(allocation.owner)
    };
    let [written, read] = driver.copy_spans(copy)?;
    Some([device(written)?, device(read)?])
}

/// Warns of errors of the device runtime that no thread of a launch has fetched: on a GPU, nothing shows them.
fn warn_of_device_errors(report: &LaunchReport) {
    let Ok(record) = &report.result else {
        return;
    };
    for (&code, threads) in &report.descendants.unfetched_errors {
        let cause = match code {
            device_error::INVALID_CONFIGURATION => {
                "cudaErrorInvalidConfiguration: the grid, the block or the shared memory of a launch exceeds a limit of \
                 the GPU or the kernel"
            }
            device_error::SYNC_DEPTH_EXCEEDED => {
                "cudaErrorSyncDepthExceeded: cudaDeviceSynchronize in a grid that is nested too deep"
            }
            device_error::LAUNCH_PENDING_COUNT_EXCEEDED => {
                "cudaErrorLaunchPendingCountExceeded: too many launches by kernels were not complete; allow more with \
                 cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, …), or launch fewer grids at once"
            }
            device_error::INVALID_DEVICE_FUNCTION => {
                "cudaErrorInvalidDeviceFunction: a launch of a function that is not a kernel of the module"
            }
            device_error::LAUNCH_OUT_OF_RESOURCES => {
                "cudaErrorLaunchOutOfResources: a block has more registers than an SM, or the device heap is full"
            }
            _ => {
                "cudaErrorInvalidValue: an argument of a function of the device runtime is invalid"
            }
        };
        warn(format_args!(
            "{threads} threads of kernel {} and of those that it launched ended with an error that they have not \
             fetched with cudaGetLastError: {cause}",
            names::short(&record.kernel)
        ));
    }
}

/// Replaces mangled kernel names with source names.
fn demangle_kernels(report: &mut LaunchReport) {
    let fault = report.result.as_mut().err();
    let location = fault.and_then(|fault| fault.location.as_mut());
    let in_fault = location.map(|location| &mut location.kernel);
    let in_findings = report
        .findings
        .iter_mut()
        .map(|finding| &mut finding.kernel);
    for name in in_fault.into_iter().chain(in_findings) {
        *name = names::short(name);
    }
}

/// Flushes C's stdout so that earlier host output precedes the kernel's.
fn flush_c() {
    unsafe extern "C" {
        fn fflush(stream: *mut c_void) -> std::ffi::c_int;
    }
    // SAFETY: `fflush` has this signature in every C library; a null pointer means all streams.
    unsafe { fflush(std::ptr::null_mut()) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_sim::device::PRESETS;

    use crate::simulator::operation::{GraphId, Node};
    use crate::simulator::thread::{Stream, with_contexts};

    /// Starts a simulator of its own, and makes a context of it current on this thread.
    fn start() -> (&'static Simulator, ContextId) {
        let simulator: &Simulator = Box::leak(Box::new(Simulator::new()));
        simulator.start(
            1,
            PRESETS[0].1.clone(),
            None,
            true,
            cuda_sim::exec::compiled::CompileMode::Never,
        );
        let context = simulator.lock_driver().unwrap().create_context(0, 0);
        with_contexts(|contexts| contexts.push(context.unwrap()));
        (simulator, context.unwrap())
    }

    fn allocate(simulator: &Simulator, context: ContextId) -> u64 {
        let mut driver = simulator.lock_driver().unwrap();
        driver.allocate(context, 64).unwrap()
    }

    fn is_freed(simulator: &Simulator, address: u64) -> bool {
        simulator.lock_driver().unwrap().owner(address).is_none()
    }

    fn submit(simulator: &'static Simulator, op: StreamOp) {
        let stream = Stream::Id(StreamId::LEGACY);
        let (driver, context, stream) = simulator.lock_live_stream(stream).unwrap();
        simulator.submit(driver, context, stream, op).unwrap();
    }

    #[test]
    fn operations_run_when_a_call_waits_for_them() {
        let (simulator, context) = start();
        let event = simulator.lock_driver().unwrap().create_event(context, 0);
        let event = event.unwrap();
        let address = allocate(simulator, context);
        submit(simulator, StreamOp::Free(address));
        submit(simulator, StreamOp::RecordEvent(event));
        simulator.wait(WaitTarget::Event(event));
        assert!(is_freed(simulator, address));
        assert!(!simulator.queue.has_pending());
    }

    #[test]
    fn disabled_nodes_of_a_graph_are_skipped() {
        let (simulator, context) = start();
        let addresses = [(); 3].map(|()| allocate(simulator, context));
        let mut graph = Body::new(GraphId(1));
        for (id, address) in (1..).zip(addresses) {
            let mut node = Node::new(StreamOp::Free(address), Vec::new());
            node.enabled = id != 2;
            graph.nodes.insert(NodeId(id), node);
        }
        submit(simulator, StreamOp::Graph(graph.into()));
        simulator.wait(WaitTarget::All);
        let freed = addresses.map(|address| is_freed(simulator, address));
        assert_eq!(freed, [true, false, true]);
    }

    #[test]
    fn operations_that_fail_set_the_error_of_their_context() {
        let (simulator, context) = start();
        submit(simulator, StreamOp::Free(8));
        let mut driver = simulator.lock_driver_drained().unwrap();
        let result = driver.synchronize_context(context);
        assert_eq!(result, Err(CudaError::IllegalAddress));
    }

    #[test]
    fn simulators_are_independent() {
        let ((first, _), (second, context)) = (start(), start());
        first.graphs().create();
        first.options().profile = true;
        assert!(!second.options().profile);
        let address = allocate(second, context);
        submit(second, StreamOp::Free(address));
        while !second.is_done(WaitTarget::All) {}
        assert!(is_freed(second, address));
        assert_eq!((first.queue.last(), second.queue.last()), (0, 1));
    }
}
