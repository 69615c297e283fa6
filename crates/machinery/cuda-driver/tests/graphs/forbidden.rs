//! What is not allowed while a stream is captured, with the driver's errors; each ends the capture.

use super::*;
use std::thread;

/// A capture that has begun.
fn begun(mode: c_int) -> CUstream {
    let on = stream(0);
    // SAFETY: any handle may be named.
    ok(unsafe { cu::cuStreamBeginCapture_v2(on, mode) });
    on
}

/// The error that ending a capture answers; there is no graph then.
#[track_caller]
fn ends_with(on: CUstream, error: c_int) {
    let (mut graph, mut status) = (std::ptr::dangling_mut(), 9);
    // SAFETY: the results can be written to.
    unsafe {
        assert_eq!(cu::cuStreamEndCapture(on, &mut graph), error);
        assert!(graph.is_null());
        ok(cu::cuStreamIsCapturing(on, &mut status));
        assert_eq!(status, 0);
    }
}

/// What a call answers while a stream is captured; the capture is over then.
#[track_caller]
fn invalidates(call: impl FnOnce(CUstream) -> c_int, error: c_int) {
    let simulator = Simulator::new();
    let (on, mut status) = (begun(0), 0);
    assert_eq!(call(on), error);
    // SAFETY: the number can be written to.
    ok(unsafe { cu::cuStreamIsCapturing(on, &mut status) });
    assert_eq!(status, 2);
    // Nothing is collected any more.
    assert_eq!(simulator.launch(simulator.add, 1, on), 901);
    ends_with(on, 901);
    assert_eq!(simulator.value(), 0);
}

#[test]
fn waiting_for_what_is_captured_is_not_allowed() {
    // SAFETY: any handles may be named, here and below.
    invalidates(|on| unsafe { cu::cuStreamSynchronize(on) }, 900);
    // SAFETY: any handles may be named, and results written to.
    invalidates(|on| unsafe { cu::cuStreamQuery(on) }, 900);
    // SAFETY: any handles may be named, and results written to.
    invalidates(|_| unsafe { cu::cuCtxSynchronize() }, 900);
    invalidates(
        // SAFETY: any handles may be named, and results written to.
        |on| unsafe {
            let event = event();
            ok(cu::cuEventRecord(event, on));
            cu::cuEventSynchronize(event)
        },
        907,
    );
    invalidates(
        // SAFETY: any handles may be named, and results written to.
        |on| unsafe {
            let event = event();
            ok(cu::cuEventRecord(event, on));
            cu::cuEventQuery(event)
        },
        907,
    );
}

#[test]
fn the_default_stream_may_not_wait_for_a_capture() {
    // SAFETY: any handles may be named, and results written to.
    let set = |_| unsafe {
        let mut at = 0;
        let mut mode = 2;
        // Allocating would end the capture itself.
        ok(cu::cuThreadExchangeStreamCaptureMode(&mut mode));
        ok(cu::cuMemAlloc_v2(&mut at, 4));
        ok(cu::cuThreadExchangeStreamCaptureMode(&mut mode));
        cu::cuMemsetD8_v2(at, 0, 4)
    };
    invalidates(set, 906);
    // SAFETY: any handles may be named, here and below.
    invalidates(|_| unsafe { cu::cuStreamQuery(null_mut()) }, 906);
    // SAFETY: any handles may be named, and results written to.
    invalidates(|_| unsafe { cu::cuEventRecord(event(), null_mut()) }, 906);
    // A stream that does not wait for it goes on.
    let simulator = Simulator::new();
    let (on, mut graph) = (stream(1), null_mut());
    // SAFETY: any handles may be named, and results written to.
    unsafe {
        ok(cu::cuStreamBeginCapture_v2(on, 0));
        ok(cu::cuMemsetD32_v2(simulator.words, 8, WORDS));
        assert_eq!(simulator.value(), 8);
        ok(cu::cuStreamEndCapture(on, &mut graph));
    }
}

#[test]
fn asking_the_default_stream_leaves_the_capture_as_it_is() {
    let _simulator = Simulator::new();
    let (on, mut status, mut graph) = (begun(0), 0, null_mut());
    // SAFETY: the results can be written to.
    unsafe {
        assert_eq!(cu::cuStreamIsCapturing(null_mut(), &mut status), 906);
        ok(cu::cuStreamEndCapture(on, &mut graph));
    }
}

#[test]
fn the_default_stream_is_not_captured_nor_a_stream_twice() {
    let _simulator = Simulator::new();
    let (on, mut graph) = (stream(0), null_mut());
    // SAFETY: any handles may be named.
    unsafe {
        assert_eq!(cu::cuStreamBeginCapture_v2(null_mut(), 0), 900);
        assert_eq!(cu::cuStreamBeginCapture_v2(on, 3), 1);
        assert_eq!(cu::cuStreamEndCapture(on, &mut graph), 401);
        ok(cu::cuStreamBeginCapture_v2(on, 0));
        assert_eq!(cu::cuStreamBeginCapture_v2(on, 0), 401);
        ok(cu::cuStreamEndCapture(on, &mut graph));
        assert_eq!(nodes(graph), []);
        run(executable(graph));
    }
}

#[test]
fn streams_join_a_capture_by_its_events_alone() {
    // SAFETY: any handles may be named, here and below.
    let uncaptured = |on| unsafe {
        let event = event();
        ok(cu::cuEventRecord(event, stream(1)));
        cu::cuStreamWaitEvent(on, event, 0)
    };
    invalidates(uncaptured, 905);
    // Two captures do not become one.
    let _simulator = Simulator::new();
    let (first, second, event) = (begun(1), begun(1), event());
    // SAFETY: any handles may be named, and results written to.
    unsafe {
        ok(cu::cuEventRecord(event, first));
        assert_eq!(cu::cuStreamWaitEvent(second, event, 0), 902);
    }
    ends_with(first, 901);
    ends_with(second, 901);
}

#[test]
fn a_stream_that_joined_must_come_back() {
    let simulator = Simulator::new();
    let (first, second, event) = (begun(0), stream(1), event());
    // SAFETY: any handles may be named.
    unsafe {
        ok(simulator.launch(simulator.add, 1, first));
        ok(cu::cuEventRecord(event, first));
        ok(cu::cuStreamWaitEvent(second, event, 0));
        ok(simulator.launch(simulator.add, 1, second));
        let mut status = 9;
        ends_with(first, 904);
        ok(cu::cuStreamIsCapturing(second, &mut status));
        assert_eq!(status, 0);
        // The event of a capture that is over never happens.
        assert_eq!(cu::cuStreamWaitEvent(second, event, 0), 907);
        assert_eq!(cu::cuEventQuery(event), 907);
        ok(cu::cuEventRecord(event, second));
        ok(cu::cuEventSynchronize(event));
        ok(cu::cuEventDestroy_v2(event));
    }
    assert_eq!(simulator.value(), 0);
}

#[test]
fn a_capture_ends_where_it_began() {
    let _simulator = Simulator::new();
    let (first, second, event, mut graph) = (begun(0), stream(1), event(), null_mut());
    // SAFETY: any handles may be named.
    unsafe {
        ok(cu::cuEventRecord(event, first));
        ok(cu::cuStreamWaitEvent(second, event, 0));
        assert_eq!(cu::cuStreamEndCapture(second, &mut graph), 903);
    }
    ends_with(first, 901);
}

#[test]
fn a_capture_ends_in_its_thread_unless_it_is_relaxed() {
    let _simulator = Simulator::new();
    let from_another = |on: CUstream| {
        let (mut context, number) = (null_mut(), on.addr());
        // SAFETY: the handle can be written to.
        ok(unsafe { cu::cuCtxGetCurrent(&mut context) });
        let context = context.addr();
        let ended = thread::spawn(move || {
            let mut graph = null_mut();
            // SAFETY: the handles are those of the thread that waits.
            unsafe {
                ok(cu::cuCtxSetCurrent(std::ptr::without_provenance_mut(
                    context,
                )));
                cu::cuStreamEndCapture(std::ptr::without_provenance_mut(number), &mut graph)
            }
        });
        ended.join().unwrap()
    };
    let (on, mut graph) = (begun(0), null_mut());
    assert_eq!(from_another(on), 908);
    // SAFETY: the handle can be written to.
    ok(unsafe { cu::cuStreamEndCapture(on, &mut graph) });
    ok(from_another(begun(2)));
}

#[test]
fn what_a_capture_cannot_collect_is_refused_as_its_mode_says() {
    // SAFETY: the results can be written to, here and below.
    let allocate = |_| unsafe {
        let mut at = 0;
        cu::cuMemAlloc_v2(&mut at, 4)
    };
    invalidates(allocate, 900);
    unsafe extern "C" fn nothing(_: CUstream, _: cust::sys::CUresult, _: *mut c_void) {}
    invalidates(
        // SAFETY: any handles may be named, and results written to.
        |on| unsafe { cu::cuStreamAddCallback(on, Some(nothing), null_mut(), 0) },
        900,
    );
    let _simulator = Simulator::new();
    let (mut graph, mut mode) = (null_mut(), 7);
    // SAFETY: any handles may be named, and results written to.
    unsafe {
        // A relaxed capture, and a relaxed thread, forbid nothing.
        let relaxed = begun(2);
        ok(allocate(relaxed));
        ok(cu::cuStreamEndCapture(relaxed, &mut graph));
        assert_eq!(cu::cuThreadExchangeStreamCaptureMode(&mut mode), 1);
        mode = 2;
        ok(cu::cuThreadExchangeStreamCaptureMode(&mut mode));
        assert_eq!(mode, 0);
        let global = begun(0);
        ok(allocate(global));
        ok(cu::cuStreamEndCapture(global, &mut graph));
        ok(cu::cuThreadExchangeStreamCaptureMode(&mut mode));
        assert_eq!(mode, 2);
    }
}

#[test]
fn streams_and_contexts_may_go_while_they_are_captured() {
    let simulator = Simulator::new();
    let mut at = 0;
    // SAFETY: any handles may be named.
    unsafe {
        let on = begun(0);
        ok(cu::cuStreamDestroy_v2(on));
        let mut graph = null_mut();
        assert_eq!(cu::cuStreamEndCapture(on, &mut graph), 400);
        // Nothing forbids this any more.
        ok(cu::cuMemAlloc_v2(&mut at, 4));
        begun(0);
        drop(simulator);
        let _other = Simulator::new();
        ok(cu::cuMemAlloc_v2(&mut at, 4));
    }
}
