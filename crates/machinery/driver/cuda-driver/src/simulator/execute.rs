//! Operations from their submission to a stream to their execution. A submitted operation is added to a capture's
//! graph if the stream is capturing, otherwise to the queue. It executes when a call has to wait for it, on the waiting
//! thread, or after a short time in which the program has made no driver call, on the background thread. While an
//! operation executes, the driver is locked, but not while a host function runs or output is printed.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::io::Write;
use std::sync::MutexGuard;
use std::time::Duration;

use cuda_sim::check::call_site;
use cuda_sim::driver::{CheckedLaunch, ContextId, CudaError, Driver, StreamId};
use cuda_sim::exec::Fault;
use cuda_sim::launch::LaunchReport;

use super::host_access::HostAccesses;
use super::interrupt::InterruptGuard;
use super::operation::{Body, StreamOp};
use super::queue::{RunningOp, WaitTarget};
use super::telemetry::Event;
use super::thread;
use super::{Simulator, lock};
use crate::log::warn;
use crate::names;

/// Idle time before background work: the background thread starts when the program has made no driver call
/// for this long.
const IDLE_TIME: Duration = Duration::from_millis(2);

/// Idle time before background work when launches are shuffled or host accesses are checked. Longer, so that
/// the seed's choices do not depend on the host's speed, and so that accesses to memory in use are detected.
const LONG_IDLE_TIME: Duration = Duration::from_millis(250);

/// The origin of an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// Submitted to a stream: the host waits for some copies.
    Stream,
    /// A graph node: the host never waits for it.
    Graph,
}

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
        let mut accesses = HostAccesses::default();
        if self.host_access.is_enabled() {
            self.report_page_accesses();
            if let Ok(driver) = self.lock_driver() {
                accesses = HostAccesses::of(&driver, &op);
            }
        }
        let call_site = match op {
            StreamOp::Memcpy(_) | StreamOp::Memset(_) => call_site::locate(),
            _ => None,
        };
        self.queue.add(context, stream, blocking, op, |number| {
            self.host_access.add_pending(number, accesses);
            if let Some(call_site) = call_site {
                lock(&self.call_sites).insert(number, call_site);
            }
        });
    }

    /// Executes operations until `target` is complete. Completes all earlier operations too, unless launches are
    /// shuffled, so that counters and modelled times equal those of immediate execution.
    pub fn wait(&self, target: WaitTarget) {
        if !self.can_wait() {
            return;
        }
        let last = self.queue.last();
        let all = self.shuffle_seed().is_none();
        while let Some(running_op) = self.queue.start_until(
            last,
            || self.shuffle_seed(),
            |queue| !(queue.contains(target, last) || all && queue.can_progress(last)),
        ) {
            self.finish(running_op);
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

    /// Executes one operation up to `last`; returns false if none can start now. A host function gets its own
    /// thread, because it may wait for the program's next call.
    fn execute_one(&'static self, last: u64) -> bool {
        let Some(running_op) = self.queue.start(last, self.shuffle_seed()) else {
            return false;
        };
        if !running_op.op.calls_host_function() {
            self.finish(running_op);
            return true;
        }
        let here = running_op.clone();
        let thread = std::thread::Builder::new().name("host function".into());
        if thread.spawn(move || self.finish(running_op)).is_err() {
            self.finish(here);
        }
        true
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
        struct CompleteOnDrop<'a>(&'a Simulator, u64);
        impl Drop for CompleteOnDrop<'_> {
            fn drop(&mut self) {
                thread::set_executing(false);
                self.0.host_access.end_operation(self.1);
                self.0.queue.complete(self.1);
            }
        }
        let RunningOp {
            number, context, ..
        } = running_op;
        thread::set_executing(true);
        let _guard = CompleteOnDrop(self, number);
        if self.host_access.is_enabled() {
            self.report_page_accesses();
            self.report_host_findings(self.host_access.begin_operation(number));
        }
        let call_site = match call_site::is_known() {
            true => lock(&self.call_sites).remove(&number),
            false => None,
        };
        let result = call_site::execute(call_site, || {
            self.execute(context, running_op.stream, &running_op.op, Origin::Stream)
        });
        if let Err(error) = result {
            self.report_failure("stream operation", context, error);
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
        match op {
            StreamOp::Empty => Ok(()),
            StreamOp::Kernel(kernel) => self.launch(context, stream, &kernel.launch),
            StreamOp::Memcpy(copy) => {
                let mut driver = self.lock_driver()?;
                // SAFETY: the program keeps the copy's host memory valid until the copy completes, as
                // `cuMemcpyAsync` and `cuGraphLaunch` require.
                unsafe {
                    match origin {
                        Origin::Stream => driver.memcpy_async(context, stream, copy),
                        Origin::Graph => driver.memcpy_node(context, stream, copy),
                    }
                }?;
                self.report_call_findings(driver);
                Ok(())
            }
            StreamOp::Memset(memset) => self.lock_driver()?.memset(context, stream, memset),
            StreamOp::Host(function) => {
                self.lock_driver()?.stream_flags(context, stream)?;
                thread::call_host_functions(vec![*function])
            }
            StreamOp::RecordEvent(event) => {
                self.lock_driver()?.record_event(context, *event, stream)
            }
            StreamOp::WaitEvent(event) => self.lock_driver()?.wait_event(context, stream, *event),
            StreamOp::Allocate(reserved) => {
                let mut driver = self.lock_driver()?;
                self.graph_memory.allocate(&mut driver, context, reserved)
            }
            StreamOp::Free(address) => {
                self.lock_driver()?.free(context, *address)?;
                self.pools.record_free(*address);
                Ok(())
            }
            StreamOp::Graph(body) => {
                if let Err(error) = self.run_graph(context, stream, body) {
                    self.report_failure("graph node", context, error);
                }
                Ok(())
            }
        }
    }

    /// Runs a kernel until it completes or faults, prints its output, and hands its report to the observer of events
    /// and to the recorders of launches.
    fn launch(
        &self,
        context: ContextId,
        stream: StreamId,
        launch: &CheckedLaunch,
    ) -> Result<(), CudaError> {
        let mut driver = self.lock_driver()?;
        let interrupt_guard = InterruptGuard::new(self.interrupts_launches());
        let mut report = driver.launch(context, stream, launch)?;
        let pending_signal = interrupt_guard.finish();
        demangle_kernels(&mut report);
        self.telemetry.emit(match &report.result {
            Ok(record) => Event::Launched(record),
            Err(fault) => Event::Faulted(fault),
        });
        drop(driver);
        if !report.printed.is_empty() {
            flush_c();
            let mut stdout = std::io::stdout().lock();
            // Ignore errors: as with C's `printf`, a closed stdout does not fail the launch.
            let _ = stdout
                .write_all(&report.printed)
                .and_then(|()| stdout.flush());
        }
        let fault = report.result.as_ref().err();
        if let Some(fault) = fault {
            self.telemetry.print_fault(fault, &report.findings);
        }
        self.telemetry
            .report_findings(&report.findings, fault.and_then(Fault::finding).as_ref());
        self.telemetry.record(report);
        pending_signal.raise();
        Ok(())
    }

    /// Executes all nodes of a graph in a stream. In modelled time, each node starts when the last of its
    /// dependencies ends, and the stream continues when all nodes have ended.
    fn run_graph(
        &self,
        context: ContextId,
        stream: StreamId,
        body: &Body,
    ) -> Result<(), CudaError> {
        let order = body.order(self.shuffle_seed());
        let order = order.ok_or(CudaError::InvalidValue)?;
        let start = self.lock_driver()?.stream_time(context, stream)?;
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
                self.execute(context, stream, &node.op, Origin::Graph)?;
            }
            let end = self.lock_driver()?.stream_time(context, stream)?;
            last = last.max(end);
            ends.insert(id, end);
        }
        self.lock_driver()?.set_stream_time(context, stream, last)
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

    use crate::simulator::operation::{GraphId, Node, NodeId};
    use crate::simulator::thread::{Stream, with_contexts};

    /// Starts a simulator of its own, and makes a context of it current on this thread.
    fn start() -> (&'static Simulator, ContextId) {
        let simulator: &Simulator = Box::leak(Box::new(Simulator::new()));
        simulator.start(1, PRESETS[0].1.clone(), None, true);
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
