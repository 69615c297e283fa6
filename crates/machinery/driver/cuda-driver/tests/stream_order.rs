//! The check of streams: for each kind of edge between two operations, nothing is reported with the edge, and the race
//! without it, in the default order of execution and in random ones.

#[macro_use]
mod support;

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cuda_driver::findings::{StreamAction, StreamName, StreamOperation, StreamUse};
use cuda_driver::types::{CUevent, CUfunction, CUgraph, CUgraphExec, CUstream};
use cuda_driver::{Cause, Check, Checks, Details, Finding, FindingKind};
use cust::context::legacy::Context;
use support::*;

/// Kernels that store 7 to a word, read a word, add 1 to a word atomically, and store 7 to a byte.
const PTX: &CStr = c"
.version 6.4
.target sm_52
.address_size 64
.visible .entry store(.param .u64 at)
{
    .reg .u64 %rd<2>; .reg .u32 %r<2>;
    ld.param.u64 %rd1, [at];
    mov.u32 %r1, 7;
    st.global.u32 [%rd1], %r1;
    ret;
}
.visible .entry load(.param .u64 at, .param .u64 to)
{
    .reg .u64 %rd<3>; .reg .u32 %r<2>;
    ld.param.u64 %rd1, [at];
    ld.param.u64 %rd2, [to];
    ld.global.u32 %r1, [%rd1];
    st.global.u32 [%rd2], %r1;
    ret;
}
.visible .entry add(.param .u64 at)
{
    .reg .u64 %rd<2>; .reg .u32 %r<2>;
    ld.param.u64 %rd1, [at];
    mov.u32 %r1, 1;
    red.global.add.u32 [%rd1], %r1;
    ret;
}
.visible .entry store_byte(.param .u64 at)
{
    .reg .u64 %rd<2>; .reg .u32 %r<2>;
    ld.param.u64 %rd1, [at];
    mov.u32 %r1, 7;
    st.global.u8 [%rd1], %r1;
    ret;
}";

/// The objects of a test program: two non-blocking streams and two that synchronize with the default stream, two events,
/// and memory.
struct Program {
    a: CUstream,
    b: CUstream,
    blocking: [CUstream; 2],
    done: CUevent,
    other: CUevent,
    at: u64,
    /// Other memory than `at`.
    unrelated: u64,
    locked: *mut u8,
    store: CUfunction,
    load: CUfunction,
    add: CUfunction,
    store_byte: CUfunction,
}

const BYTES: usize = 1024;
const LEGACY: CUstream = null_mut();

/// Turns on the check of streams, alone in the process.
struct Checked {
    _context: Context,
    _turn: MutexGuard<'static, ()>,
}

impl Checked {
    fn new() -> Self {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let context = own_context();
        cuda_driver::check(Checks {
            stream: true,
            ..Checks::NONE
        });
        Self {
            _context: context,
            _turn: turn,
        }
    }
}

impl Drop for Checked {
    fn drop(&mut self) {
        cuda_driver::take_findings();
        cuda_driver::check(Checks::NONE);
        cuda_driver::shuffle(None);
    }
}

/// Returns the findings in `program`, which must not depend on the order of execution.
#[track_caller]
fn findings_of(program: impl Fn(&Program)) -> Vec<Finding> {
    let in_order = |seed| {
        let _checked = Checked::new();
        cuda_driver::shuffle(seed);
        let module = module(PTX);
        program(&Program {
            a: stream(1),
            b: stream(1),
            blocking: [stream(0), stream(0)],
            done: event(),
            other: event(),
            at: allocate(BYTES),
            unrelated: allocate(BYTES),
            locked: allocate_host(BYTES),
            store: function(module, c"store"),
            load: function(module, c"load"),
            add: function(module, c"add"),
            store_byte: function(module, c"store_byte"),
        });
        cuda_driver::take_findings()
    };
    let findings = in_order(None);
    for seed in [1, 2, 3] {
        let shuffled = in_order(Some(seed));
        let kinds = |findings: &[Finding]| -> Vec<_> {
            findings.iter().map(|finding| finding.kind).collect()
        };
        assert_eq!(kinds(&shuffled), kinds(&findings), "seed {seed}");
    }
    findings
}

impl Program {
    fn store(&self, stream: CUstream) {
        ok(launch(self.store, [1, 1], stream, &[self.at]));
    }

    fn store_unrelated(&self, stream: CUstream) {
        ok(launch(self.store, [1, 1], stream, &[self.unrelated]));
    }

    fn load(&self, stream: CUstream, to: u64) {
        let to = self.unrelated + 4 * to;
        ok(launch(self.load, [1, 1], stream, &[self.at, to]));
    }

    fn add(&self, stream: CUstream) {
        ok(launch(self.add, [1, 1], stream, &[self.at]));
    }
}

/// A test: its name, the program, and the kind of its only finding, if there is one.
type Row = (&'static str, fn(&Program), Option<FindingKind>);

#[track_caller]
fn check_rows(rows: &[Row]) {
    for (name, program, expected) in rows {
        let findings = findings_of(program);
        let kinds: Vec<_> = findings.iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, Vec::from_iter(*expected), "{name}: {findings:?}");
        assert!(
            findings
                .iter()
                .all(|finding| finding.check == Check::Stream)
        );
    }
}

const RACE: Option<FindingKind> = Some(FindingKind::StreamRace);

#[test]
fn events_order_operations() {
    check_rows(&[
        (
            "no edge",
            |p| {
                p.store(p.a);
                p.store(p.b);
            },
            RACE,
        ),
        (
            "one stream",
            |p| {
                p.store(p.a);
                p.store(p.a);
            },
            None,
        ),
        (
            "event",
            |p| {
                p.store(p.a);
                calls! { cuEventRecord(p.done, p.a); cuStreamWaitEvent(p.b, p.done, 0); }
                p.store(p.b);
            },
            None,
        ),
        (
            "event that is recorded before the operation",
            |p| {
                calls! { cuEventRecord(p.done, p.a); }
                p.store(p.a);
                calls! { cuStreamWaitEvent(p.b, p.done, 0); }
                p.store(p.b);
            },
            RACE,
        ),
        (
            "event that is recorded after the wait",
            |p| {
                p.store(p.a);
                calls! { cuStreamWaitEvent(p.b, p.done, 0); cuEventRecord(p.done, p.a); }
                p.store(p.b);
            },
            RACE,
        ),
        (
            "event of another stream",
            |p| {
                p.store(p.a);
                calls! { cuEventRecord(p.done, p.b); cuStreamWaitEvent(p.b, p.done, 0); }
                p.store(p.b);
            },
            RACE,
        ),
        (
            "events through a third stream",
            |p| {
                let [third, _] = p.blocking;
                p.store(p.a);
                calls! {
                    cuEventRecord(p.done, p.a);
                    cuStreamWaitEvent(third, p.done, 0);
                    cuEventRecord(p.other, third);
                    cuStreamWaitEvent(p.b, p.other, 0);
                }
                p.store(p.b);
            },
            None,
        ),
        (
            "event in the wrong direction",
            |p| {
                p.store(p.a);
                p.store_unrelated(p.b);
                calls! { cuEventRecord(p.done, p.b); cuStreamWaitEvent(p.a, p.done, 0); }
                p.store(p.b);
            },
            RACE,
        ),
    ]);
}

#[test]
fn waits_of_the_host_order_operations() {
    check_rows(&[
        (
            "event, waited for",
            |p| {
                p.store(p.a);
                calls! { cuEventRecord(p.done, p.a); cuEventSynchronize(p.done); }
                p.store(p.b);
            },
            None,
        ),
        (
            "event, polled",
            |p| {
                p.store(p.a);
                calls! { cuEventRecord(p.done, p.a); }
                while code!(cuEventQuery(p.done)) != 0 {}
                p.store(p.b);
            },
            None,
        ),
        (
            "event, waited for too early",
            |p| {
                calls! { cuEventRecord(p.done, p.a); cuEventSynchronize(p.done); }
                p.store(p.a);
                p.store(p.b);
            },
            RACE,
        ),
        (
            "event, with elapsed time",
            |p| {
                calls! { cuEventRecord(p.other, p.a); }
                p.store(p.a);
                calls! { cuEventRecord(p.done, p.a); }
                let mut time = 0.0;
                // Not an edge of its own: the events have to be complete.
                while code!(cuEventElapsedTime(&mut time, p.other, p.done)) != 0 {
                    calls! { cuStreamSynchronize(p.b); }
                    code!(cuStreamQuery(p.a));
                }
                p.store(p.b);
            },
            None,
        ),
        (
            "stream, waited for",
            |p| {
                p.store(p.a);
                calls! { cuStreamSynchronize(p.a); }
                p.store(p.b);
            },
            None,
        ),
        (
            "stream, polled",
            |p| {
                p.store(p.a);
                while code!(cuStreamQuery(p.a)) != 0 {}
                p.store(p.b);
            },
            None,
        ),
        (
            "other stream, waited for",
            |p| {
                p.store(p.a);
                calls! { cuStreamSynchronize(p.b); }
                p.store(p.b);
            },
            RACE,
        ),
        (
            "context, waited for",
            |p| {
                p.store(p.a);
                calls! { cuCtxSynchronize(); }
                p.store(p.b);
            },
            None,
        ),
        (
            "free",
            |p| {
                p.store(p.a);
                calls! { cuMemFree_v2(p.unrelated); }
                p.store(p.b);
            },
            None,
        ),
        (
            "allocation, which waits for nothing",
            |p| {
                p.store(p.a);
                allocate(BYTES);
                p.store(p.b);
            },
            RACE,
        ),
        (
            "destroyed stream, which is not waited for",
            |p| {
                p.store(p.a);
                calls! { cuStreamDestroy_v2(p.a); }
                p.store(p.b);
            },
            RACE,
        ),
        (
            "host function that sets a flag, polled",
            |p| {
                p.store(p.a);
                let done = Box::leak(Box::new(AtomicBool::new(false)));
                calls! { cuLaunchHostFunc(p.a, Some(set_flag), (&raw mut *done).cast()); }
                let start = Instant::now();
                while !done.load(Ordering::Acquire) {
                    assert!(start.elapsed() < Duration::from_secs(60));
                    std::thread::yield_now();
                }
                // The function's thread ends the operation after the function.
                std::thread::sleep(Duration::from_millis(20));
                p.store(p.b);
            },
            None,
        ),
    ]);
}

unsafe extern "C" fn set_flag(flag: *mut c_void) {
    // SAFETY: the flag is never freed.
    unsafe { &*flag.cast::<AtomicBool>() }.store(true, Ordering::Release);
}

#[test]
fn default_streams_order_operations() {
    check_rows(&[
        (
            "stream, then the default stream",
            |p| {
                p.store(p.blocking[0]);
                p.store(LEGACY);
            },
            None,
        ),
        (
            "default stream, then a stream",
            |p| {
                p.store(LEGACY);
                p.store(p.blocking[0]);
            },
            None,
        ),
        (
            "work in the default stream between two streams",
            |p| {
                p.store(p.blocking[0]);
                p.store_unrelated(LEGACY);
                p.store(p.blocking[1]);
            },
            None,
        ),
        (
            "two streams",
            |p| {
                p.store(p.blocking[0]);
                p.store(p.blocking[1]);
            },
            RACE,
        ),
        (
            "non-blocking stream, then the default stream",
            |p| {
                p.store(p.a);
                p.store(LEGACY);
            },
            RACE,
        ),
        (
            "work in the default stream between two streams, one of them non-blocking",
            |p| {
                p.store(p.a);
                p.store_unrelated(LEGACY);
                p.store(p.blocking[1]);
            },
            RACE,
        ),
        (
            "wait for the default stream, which waits for the other stream",
            |p| {
                p.store(p.blocking[0]);
                calls! { cuStreamSynchronize(LEGACY); }
                p.store(p.b);
            },
            None,
        ),
        (
            "wait for the default stream, which does not wait for a non-blocking one",
            |p| {
                p.store(p.a);
                calls! { cuStreamSynchronize(LEGACY); }
                p.store(p.b);
            },
            RACE,
        ),
        (
            "per-thread default stream, then the default stream",
            |p| {
                calls! { cuMemsetD8Async_ptsz(p.at, 1, 8, LEGACY); }
                p.store(LEGACY);
            },
            None,
        ),
        (
            "per-thread default streams of two threads",
            |p| {
                let at = p.at;
                calls! { cuMemsetD8Async_ptsz(at, 1, 8, LEGACY); }
                in_other_thread(|| ok(code!(cuMemsetD8Async_ptsz(at, 1, 8, LEGACY))));
            },
            RACE,
        ),
    ]);
}

#[test]
fn copies_and_fills_are_operations() {
    check_rows(&[
        (
            "fill in the default stream, which the host does not wait for",
            |p| {
                calls! { cuMemsetD8_v2(p.at, 1, 8); }
                p.store(p.a);
            },
            RACE,
        ),
        (
            "copy from the host in the default stream, which the host waits for",
            |p| {
                let host = [0_u8; 8];
                calls! { cuMemcpyHtoD_v2(p.at, host.as_ptr().cast(), 8); }
                p.store(p.a);
            },
            None,
        ),
        (
            "copy to the host in the default stream while another stream writes",
            |p| {
                p.store(p.a);
                read::<u32>(p.at);
            },
            RACE,
        ),
        (
            "copy to the host, then a write",
            |p| {
                read::<u32>(p.at);
                p.store(p.a);
            },
            None,
        ),
        (
            "copy between device memory, which the host does not wait for",
            |p| {
                calls! { cuMemcpyDtoD_v2(p.at, p.unrelated, 8); }
                p.store(p.a);
            },
            RACE,
        ),
        (
            "asynchronous copy from page-locked memory",
            |p| {
                calls! { cuMemcpyHtoDAsync_v2(p.at, p.locked.cast_const().cast(), 8, p.a); }
                p.store(p.b);
            },
            RACE,
        ),
        (
            "asynchronous copy from pageable memory, which is only staged",
            |p| {
                let host = [0_u8; 8];
                calls! { cuMemcpyHtoDAsync_v2(p.at, host.as_ptr().cast(), 8, p.a); }
                p.store(p.b);
            },
            RACE,
        ),
        (
            "asynchronous copy to pageable memory, which is complete when the call returns",
            |p| {
                let mut host = [0_u8; 8];
                calls! { cuMemcpyDtoHAsync_v2(host.as_mut_ptr().cast(), p.at, 8, p.a); }
                p.store(p.b);
            },
            None,
        ),
        (
            "fill of page-locked memory, which is complete when the call returns",
            |p| {
                calls! { cuMemsetD8Async(p.locked as u64, 1, 8, p.a); }
                ok(launch(p.store, [1, 1], p.b, &[p.locked as u64]));
            },
            None,
        ),
        (
            "copy to page-locked memory and a kernel that writes it",
            |p| {
                calls! { cuMemcpyDtoHAsync_v2(p.locked.cast(), p.at, 8, p.a); }
                ok(launch(p.store, [1, 1], p.b, &[p.locked as u64]));
            },
            RACE,
        ),
    ]);
}

#[test]
fn only_conflicts_are_races() {
    check_rows(&[
        (
            "two reads",
            |p| {
                p.load(p.a, 0);
                p.load(p.b, 1);
            },
            None,
        ),
        (
            "read, then a write",
            |p| {
                p.load(p.a, 0);
                p.store(p.b);
            },
            RACE,
        ),
        (
            "two atomics",
            |p| {
                p.add(p.a);
                p.add(p.b);
            },
            None,
        ),
        (
            "atomic and a read",
            |p| {
                p.add(p.a);
                p.load(p.b, 0);
            },
            RACE,
        ),
        (
            "neighbouring bytes",
            |p| {
                ok(launch(p.store_byte, [1, 1], p.a, &[p.at + 5]));
                ok(launch(p.store_byte, [1, 1], p.b, &[p.at + 6]));
                calls! { cuMemsetD8Async(p.at, 1, 5, p.blocking[0]); }
            },
            None,
        ),
        (
            "rows between those of another stream",
            |p| {
                calls! {
                    cuMemsetD2D8Async(p.at, 64, 1, 32, 8, p.a);
                    cuMemsetD2D8Async(p.at + 32, 64, 1, 32, 8, p.b);
                }
            },
            None,
        ),
        (
            "the same race in a loop",
            |p| {
                for _ in 0..5 {
                    p.store(p.a);
                    p.store(p.b);
                    calls! { cuCtxSynchronize(); }
                }
            },
            RACE,
        ),
    ]);
}

#[test]
fn memory_of_streams_is_allocated_and_freed_in_order() {
    fn allocate_in(stream: CUstream) -> u64 {
        let mut address = 0;
        calls! { cuMemAllocAsync(&mut address, BYTES, stream); }
        address
    }
    check_rows(&[
        (
            "use in the stream of the allocation",
            |p| {
                let at = allocate_in(p.a);
                ok(launch(p.store, [1, 1], p.a, &[at]));
                calls! { cuMemFreeAsync(at, p.a); }
            },
            None,
        ),
        (
            "use in another stream",
            |p| {
                let at = allocate_in(p.a);
                ok(launch(p.store, [1, 1], p.b, &[at]));
                calls! { cuCtxSynchronize(); cuMemFree_v2(at); }
            },
            Some(FindingKind::UsedBeforeAllocation),
        ),
        (
            "use in another stream after an event",
            |p| {
                let at = allocate_in(p.a);
                calls! { cuEventRecord(p.done, p.a); cuStreamWaitEvent(p.b, p.done, 0); }
                ok(launch(p.store, [1, 1], p.b, &[at]));
                calls! { cuMemFreeAsync(at, p.b); }
            },
            None,
        ),
        (
            "free without a wait for pooled memory",
            |p| {
                let at = allocate_in(p.a);
                ok(launch(p.store, [1, 1], p.a, &[at]));
                calls! { cuMemFree_v2(at); }
            },
            Some(FindingKind::FreedInUse),
        ),
        (
            "free after a wait",
            |p| {
                let at = allocate_in(p.a);
                ok(launch(p.store, [1, 1], p.a, &[at]));
                calls! { cuStreamSynchronize(p.a); cuMemFree_v2(at); }
            },
            None,
        ),
    ]);
    // With other seeds the free executes first, and the kernel faults.
    let _checked = Checked::new();
    let module = module(PTX);
    let (a, b, at) = (stream(1), stream(1), allocate_in(null_mut()));
    calls! { cuCtxSynchronize(); }
    ok(launch(function(module, c"store"), [1, 1], a, &[at]));
    calls! { cuMemFreeAsync(at, b); }
    let findings = cuda_driver::take_findings();
    let [finding] = &findings[..] else {
        panic!("{findings:?}");
    };
    assert_eq!(finding.kind, FindingKind::FreedInUse);
    let cause = Cause::FreedInOtherStream(StreamName::NonBlocking(2), StreamName::NonBlocking(1));
    assert_eq!(finding.likely_cause, Some(cause));
}

/// Captures stores in two streams into a graph, with an event between them if `ordered` is true, and launches it in
/// `in_stream`.
fn launch_captured(p: &Program, ordered: bool, in_stream: CUstream) -> CUgraphExec {
    let (mut graph, mut exec): (CUgraph, CUgraphExec) = (null_mut(), null_mut());
    calls! {
        cuStreamBeginCapture_v2(p.a, 2);
        cuEventRecord(p.done, p.a);
        cuStreamWaitEvent(p.b, p.done, 0);
    }
    p.store(p.a);
    if ordered {
        calls! { cuEventRecord(p.done, p.a); cuStreamWaitEvent(p.b, p.done, 0); }
    }
    p.store(p.b);
    calls! {
        cuEventRecord(p.other, p.b);
        cuStreamWaitEvent(p.a, p.other, 0);
        cuStreamEndCapture(p.a, &mut graph);
        cuGraphInstantiateWithFlags(&mut exec, graph, 0);
        cuGraphLaunch(exec, in_stream);
        cuGraphDestroy(graph);
    }
    exec
}

#[test]
fn graphs_and_their_nodes_are_ordered() {
    check_rows(&[
        (
            "nodes without an edge",
            |p| {
                launch_captured(p, false, p.a);
            },
            Some(FindingKind::GraphRace),
        ),
        (
            "nodes with an edge",
            |p| {
                launch_captured(p, true, p.a);
            },
            None,
        ),
        (
            "launches of one graph in two streams, which follow each other",
            |p| {
                let exec = launch_captured(p, true, p.a);
                calls! { cuGraphLaunch(exec, p.b); }
            },
            None,
        ),
        (
            "graph and an operation of its stream",
            |p| {
                p.store(p.a);
                launch_captured(p, true, p.a);
                p.store(p.a);
            },
            None,
        ),
        (
            "graph and an operation of another stream",
            |p| {
                launch_captured(p, true, p.a);
                p.store(p.b);
            },
            RACE,
        ),
        (
            "graph and an operation of another stream after an event",
            |p| {
                launch_captured(p, true, p.a);
                calls! { cuEventRecord(p.done, p.a); cuStreamWaitEvent(p.b, p.done, 0); }
                p.store(p.b);
            },
            None,
        ),
    ]);
}

#[test]
fn findings_name_both_operations_and_the_cause() {
    let findings = findings_of(|p| {
        p.store(p.a);
        p.load(p.b, 3);
    });
    let [finding] = &findings[..] else {
        panic!("{findings:?}");
    };
    let operation = |name: &str, stream, verb| {
        let action = StreamAction::Kernel(name.to_owned());
        StreamOperation::Unlocated(action, StreamName::NonBlocking(stream), verb)
    };
    let Details::Streams(later, earlier, bytes, 0, _) = &finding.details else {
        panic!("{finding:?}");
    };
    assert_eq!(*later, operation("load", 2, StreamUse::Reads));
    assert_eq!(*earlier, operation("store", 1, StreamUse::Writes));
    assert_eq!(bytes.0, 4);
    let (first, second) = (StreamName::NonBlocking(1), StreamName::NonBlocking(2));
    let cause = Cause::NoEventBetween(second, first);
    assert_eq!(finding.likely_cause, Some(cause));
    let text = finding.to_string();
    let line = "kernel load in non-blocking stream 2 reads\n  kernel store in non-blocking stream 1 writes";
    assert!(text.contains(line), "{text}");

    let findings = findings_of(|p| {
        calls! { cuMemsetD8_v2(p.at, 1, 100); }
        p.store(p.a);
    });
    let cause = Cause::NonBlockingStream(StreamName::NonBlocking(1));
    assert_eq!(findings[0].likely_cause, Some(cause));

    let findings = findings_of(|p| {
        calls! { cuEventRecord(p.done, p.a); }
        p.store(p.a);
        calls! { cuStreamWaitEvent(p.b, p.done, 0); }
        p.store(p.b);
    });
    let cause = Cause::EventEarly(StreamName::NonBlocking(2), StreamName::NonBlocking(1));
    assert_eq!(findings[0].likely_cause, Some(cause));
}

#[test]
fn without_the_check_nothing_is_reported() {
    let _checked = Checked::new();
    cuda_driver::check(Checks {
        race: true,
        ..Checks::NONE
    });
    let (a, b, at) = (stream(1), stream(1), allocate(BYTES));
    let store = function(module(PTX), c"store");
    ok(launch(store, [1, 1], a, &[at]));
    ok(launch(store, [1, 1], b, &[at]));
    assert_eq!(cuda_driver::take_findings(), []);
}
