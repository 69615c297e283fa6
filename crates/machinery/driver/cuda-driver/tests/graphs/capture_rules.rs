//! Calls that are forbidden during a capture, with the driver's error codes; each invalidates the capture.

use super::*;
use std::thread;

/// Begins a capture.
fn begin_capture(mode: c_int) -> CUstream {
    let h_stream = stream(0);
    // SAFETY: `h_stream` is an opaque handle that the driver looks up, never dereferences.
    ok(unsafe { cu::cuStreamBeginCapture_v2(h_stream, mode) });
    h_stream
}

/// Ends a capture and checks its error code; there is no graph then.
#[track_caller]
fn assert_ends_with(h_stream: CUstream, error: c_int) {
    let (mut graph, mut status) = (std::ptr::dangling_mut(), 9);
    // SAFETY: `graph` and `status` are writable; `h_stream` is an opaque handle that the driver looks up, never
    // dereferences.
    unsafe {
        assert_eq!(cu::cuStreamEndCapture(h_stream, &mut graph), error);
        assert!(graph.is_null());
        ok(cu::cuStreamIsCapturing(h_stream, &mut status));
        assert_eq!(status, 0);
    }
}

/// Checks the result of a call during a capture, and that the call invalidates the capture.
#[track_caller]
fn assert_invalidates(call: impl FnOnce(CUstream) -> c_int, error: c_int) {
    let simulator = Simulator::new();
    let (h_stream, mut status) = (begin_capture(0), 0);
    assert_eq!(call(h_stream), error);
    // SAFETY: `status` is writable; `h_stream` is an opaque handle that the driver looks up, never
    // dereferences.
    ok(unsafe { cu::cuStreamIsCapturing(h_stream, &mut status) });
    assert_eq!(status, 2);
    // Operations are no longer collected.
    assert_eq!(simulator.launch(simulator.add, 1, h_stream), 901);
    assert_ends_with(h_stream, 901);
    assert_eq!(simulator.value(), 0);
}

#[test]
fn waiting_for_a_capturing_stream_is_rejected() {
    // SAFETY: `h_stream` is an opaque handle that the driver looks up, never dereferences.
    assert_invalidates(|h_stream| unsafe { cu::cuStreamSynchronize(h_stream) }, 900);
    // SAFETY: `h_stream` is an opaque handle that the driver looks up, never dereferences.
    assert_invalidates(|h_stream| unsafe { cu::cuStreamQuery(h_stream) }, 900);
    // SAFETY: `cuCtxSynchronize` takes no pointers.
    assert_invalidates(|_| unsafe { cu::cuCtxSynchronize() }, 900);
    assert_invalidates(
        // SAFETY: `event` and `h_stream` are handles or addresses that the driver looks up, never dereferences.
        |h_stream| unsafe {
            let event = event();
            ok(cu::cuEventRecord(event, h_stream));
            cu::cuEventSynchronize(event)
        },
        907,
    );
    assert_invalidates(
        // SAFETY: `event` and `h_stream` are handles or addresses that the driver looks up, never dereferences.
        |h_stream| unsafe {
            let event = event();
            ok(cu::cuEventRecord(event, h_stream));
            cu::cuEventQuery(event)
        },
        907,
    );
}

#[test]
fn default_stream_cannot_wait_for_a_capture() {
    // SAFETY: `mode` and `at` are writable.
    let set = |_| unsafe {
        let mut at = 0;
        let mut mode = 2;
        // An allocation would invalidate the capture by itself.
        ok(cu::cuThreadExchangeStreamCaptureMode(&mut mode));
        ok(cu::cuMemAlloc_v2(&mut at, 4));
        ok(cu::cuThreadExchangeStreamCaptureMode(&mut mode));
        cu::cuMemsetD8_v2(at, 0, 4)
    };
    assert_invalidates(set, 906);
    // SAFETY: null is a valid argument or is rejected by the driver.
    assert_invalidates(|_| unsafe { cu::cuStreamQuery(null_mut()) }, 906);
    // SAFETY: null is a valid argument or is rejected by the driver.
    assert_invalidates(|_| unsafe { cu::cuEventRecord(event(), null_mut()) }, 906);
    // A stream that does not synchronize with the default stream continues.
    let simulator = Simulator::new();
    let (h_stream, mut graph) = (stream(1), null_mut());
    // SAFETY: `graph` is writable; `h_stream` and `simulator.words` are handles or addresses that the driver
    // looks up, never dereferences.
    unsafe {
        ok(cu::cuStreamBeginCapture_v2(h_stream, 0));
        ok(cu::cuMemsetD32_v2(simulator.words, 8, WORDS));
        assert_eq!(simulator.value(), 8);
        ok(cu::cuStreamEndCapture(h_stream, &mut graph));
    }
}

#[test]
fn querying_the_default_stream_keeps_the_capture_valid() {
    let _simulator = Simulator::new();
    let (h_stream, mut status, mut graph) = (begin_capture(0), 0, null_mut());
    // SAFETY: `status` and `graph` are writable; `h_stream` is an opaque handle that the driver looks up, never
    // dereferences.
    unsafe {
        assert_eq!(cu::cuStreamIsCapturing(null_mut(), &mut status), 906);
        ok(cu::cuStreamEndCapture(h_stream, &mut graph));
    }
}

#[test]
fn default_stream_and_capturing_streams_cannot_begin_a_capture() {
    let _simulator = Simulator::new();
    let (h_stream, mut graph) = (stream(0), null_mut());
    // SAFETY: `graph` is writable; `h_stream` is an opaque handle that the driver looks up, never dereferences.
    unsafe {
        assert_eq!(cu::cuStreamBeginCapture_v2(null_mut(), 0), 900);
        assert_eq!(cu::cuStreamBeginCapture_v2(h_stream, 3), 1);
        assert_eq!(cu::cuStreamEndCapture(h_stream, &mut graph), 401);
        ok(cu::cuStreamBeginCapture_v2(h_stream, 0));
        assert_eq!(cu::cuStreamBeginCapture_v2(h_stream, 0), 401);
        ok(cu::cuStreamEndCapture(h_stream, &mut graph));
        assert_eq!(nodes(graph), []);
        run(executable(graph));
    }
}

#[test]
fn streams_join_a_capture_only_through_its_events() {
    // SAFETY: `event` and `h_stream` are handles or addresses that the driver looks up, never dereferences.
    let uncaptured = |h_stream| unsafe {
        let event = event();
        ok(cu::cuEventRecord(event, stream(1)));
        cu::cuStreamWaitEvent(h_stream, event, 0)
    };
    assert_invalidates(uncaptured, 905);
    // Two captures cannot be merged.
    let _simulator = Simulator::new();
    let (first, second, event) = (begin_capture(1), begin_capture(1), event());
    // SAFETY: `event`, `first` and `second` are handles or addresses that the driver looks up, never
    // dereferences.
    unsafe {
        ok(cu::cuEventRecord(event, first));
        assert_eq!(cu::cuStreamWaitEvent(second, event, 0), 902);
    }
    assert_ends_with(first, 901);
    assert_ends_with(second, 901);
}

#[test]
fn forked_streams_must_be_joined() {
    let simulator = Simulator::new();
    let (first, second, event) = (begin_capture(0), stream(1), event());
    // SAFETY: `status` is writable; `event`, `first` and `second` are handles or addresses that the driver
    // looks up, never dereferences.
    unsafe {
        ok(simulator.launch(simulator.add, 1, first));
        ok(cu::cuEventRecord(event, first));
        ok(cu::cuStreamWaitEvent(second, event, 0));
        ok(simulator.launch(simulator.add, 1, second));
        let mut status = 9;
        assert_ends_with(first, 904);
        ok(cu::cuStreamIsCapturing(second, &mut status));
        assert_eq!(status, 0);
        // The event belongs to a capture that has ended.
        assert_eq!(cu::cuStreamWaitEvent(second, event, 0), 907);
        assert_eq!(cu::cuEventQuery(event), 907);
        ok(cu::cuEventRecord(event, second));
        ok(cu::cuEventSynchronize(event));
        ok(cu::cuEventDestroy_v2(event));
    }
    assert_eq!(simulator.value(), 0);
}

#[test]
fn captures_end_in_their_origin_stream() {
    let _simulator = Simulator::new();
    let (first, second, event, mut graph) = (begin_capture(0), stream(1), event(), null_mut());
    // SAFETY: `graph` is writable; `event`, `first` and `second` are handles or addresses that the driver
    // looks up, never dereferences.
    unsafe {
        ok(cu::cuEventRecord(event, first));
        ok(cu::cuStreamWaitEvent(second, event, 0));
        assert_eq!(cu::cuStreamEndCapture(second, &mut graph), 903);
    }
    assert_ends_with(first, 901);
}

#[test]
fn non_relaxed_captures_end_in_their_thread() {
    let _simulator = Simulator::new();
    let from_another = |h_stream: CUstream| {
        let (mut context, number) = (null_mut(), h_stream.addr());
        // SAFETY: `context` is writable.
        ok(unsafe { cu::cuCtxGetCurrent(&mut context) });
        let context = context.addr();
        let ended = thread::spawn(move || {
            let mut graph = null_mut();
            // SAFETY: the handles belong to the main thread, which waits for this one.
            unsafe {
                ok(cu::cuCtxSetCurrent(std::ptr::without_provenance_mut(
                    context,
                )));
                cu::cuStreamEndCapture(std::ptr::without_provenance_mut(number), &mut graph)
            }
        });
        ended.join().unwrap()
    };
    let (h_stream, mut graph) = (begin_capture(0), null_mut());
    assert_eq!(from_another(h_stream), 908);
    // SAFETY: `graph` is writable; `h_stream` is an opaque handle that the driver looks up, never dereferences.
    ok(unsafe { cu::cuStreamEndCapture(h_stream, &mut graph) });
    ok(from_another(begin_capture(2)));
}

#[test]
fn unsafe_calls_are_rejected_according_to_the_mode() {
    // SAFETY: `at` is writable.
    let allocate = |_| unsafe {
        let mut at = 0;
        cu::cuMemAlloc_v2(&mut at, 4)
    };
    assert_invalidates(allocate, 900);
    unsafe extern "C" fn nothing(_: CUstream, _: cust::sys::CUresult, _: *mut c_void) {}
    assert_invalidates(
        // SAFETY: `nothing` may be called with a null argument; `h_stream` is an opaque handle that the driver
        // looks up, never dereferences.
        |h_stream| unsafe { cu::cuStreamAddCallback(h_stream, Some(nothing), null_mut(), 0) },
        900,
    );
    let _simulator = Simulator::new();
    let (mut graph, mut mode) = (null_mut(), 7);
    // SAFETY: `graph` and `mode` are writable; `relaxed` and `global` are handles or addresses that the
    // driver looks up, never dereferences.
    unsafe {
        // A relaxed capture, and a relaxed thread, forbid nothing.
        let relaxed = begin_capture(2);
        ok(allocate(relaxed));
        ok(cu::cuStreamEndCapture(relaxed, &mut graph));
        assert_eq!(cu::cuThreadExchangeStreamCaptureMode(&mut mode), 1);
        mode = 2;
        ok(cu::cuThreadExchangeStreamCaptureMode(&mut mode));
        assert_eq!(mode, 0);
        let global = begin_capture(0);
        ok(allocate(global));
        ok(cu::cuStreamEndCapture(global, &mut graph));
        ok(cu::cuThreadExchangeStreamCaptureMode(&mut mode));
        assert_eq!(mode, 2);
    }
}

#[test]
fn streams_and_contexts_may_be_destroyed_while_capturing() {
    let simulator = Simulator::new();
    let mut at = 0;
    // SAFETY: `graph` and `at` are writable; `h_stream` is an opaque handle that the driver looks up, never
    // dereferences.
    unsafe {
        let h_stream = begin_capture(0);
        ok(cu::cuStreamDestroy_v2(h_stream));
        let mut graph = null_mut();
        assert_eq!(cu::cuStreamEndCapture(h_stream, &mut graph), 400);
        // The capture does not forbid this any more.
        ok(cu::cuMemAlloc_v2(&mut at, 4));
        begin_capture(0);
        drop(simulator);
        let _other = Simulator::new();
        ok(cu::cuMemAlloc_v2(&mut at, 4));
    }
}
