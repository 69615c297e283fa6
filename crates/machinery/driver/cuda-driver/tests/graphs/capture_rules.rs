//! Calls that are forbidden during a capture, with the driver's error codes; each invalidates the capture.

use super::*;

/// Begins a capture.
fn begin_capture(mode: c_int) -> CUstream {
    let h_stream = stream(0);
    calls! { cuStreamBeginCapture_v2(h_stream, mode); }
    h_stream
}

/// Ends a capture and checks its error code; there is no graph then.
#[track_caller]
fn assert_ends_with(h_stream: CUstream, error: c_int) {
    let mut graph = std::ptr::dangling_mut();
    calls! { cuStreamEndCapture(h_stream, &mut graph) => error; }
    assert!(graph.is_null());
    assert_eq!(status(h_stream), 0);
}

/// Checks the result of a call during a capture, and that the call invalidates the capture.
#[track_caller]
fn assert_invalidates(call: impl FnOnce(CUstream) -> c_int, error: c_int) {
    let simulator = Simulator::new();
    let h_stream = begin_capture(0);
    assert_eq!(call(h_stream), error);
    assert_eq!(status(h_stream), 2);
    // Operations are no longer collected.
    assert_eq!(simulator.launch(simulator.add, 1, h_stream), 901);
    assert_ends_with(h_stream, 901);
    assert_eq!(simulator.value(), 0);
}

#[test]
fn waiting_for_a_capturing_stream_is_rejected() {
    assert_invalidates(|h_stream| code!(cuStreamSynchronize(h_stream)), 900);
    assert_invalidates(|h_stream| code!(cuStreamQuery(h_stream)), 900);
    assert_invalidates(|_| code!(cuCtxSynchronize()), 900);
    assert_invalidates(
        |h_stream| {
            let event = event();
            calls! { cuEventRecord(event, h_stream); }
            code!(cuEventSynchronize(event))
        },
        907,
    );
    assert_invalidates(
        |h_stream| {
            let event = event();
            calls! { cuEventRecord(event, h_stream); }
            code!(cuEventQuery(event))
        },
        907,
    );
}

#[test]
fn default_stream_cannot_wait_for_a_capture() {
    let set = |_| {
        let mut at = 0;
        let mut mode = 2;
        // An allocation would invalidate the capture by itself.
        calls! {
            cuThreadExchangeStreamCaptureMode(&mut mode);
            cuMemAlloc_v2(&mut at, 4);
            cuThreadExchangeStreamCaptureMode(&mut mode);
        }
        code!(cuMemsetD8_v2(at, 0, 4))
    };
    assert_invalidates(set, 906);
    assert_invalidates(|_| code!(cuStreamQuery(null_mut())), 906);
    assert_invalidates(|_| code!(cuEventRecord(event(), null_mut())), 906);
    // A stream that does not synchronize with the default stream continues.
    let simulator = Simulator::new();
    let (h_stream, mut graph) = (stream(1), null_mut());
    calls! {
        cuStreamBeginCapture_v2(h_stream, 0);
        cuMemsetD32_v2(simulator.words, 8, WORDS);
    }
    assert_eq!(simulator.value(), 8);
    calls! { cuStreamEndCapture(h_stream, &mut graph); }
}

#[test]
fn querying_the_default_stream_keeps_the_capture_valid() {
    let _simulator = Simulator::new();
    let (h_stream, mut status, mut graph) = (begin_capture(0), 0, null_mut());
    calls! {
        cuStreamIsCapturing(null_mut(), &mut status) => 906;
        cuStreamEndCapture(h_stream, &mut graph);
    }
}

#[test]
fn default_stream_and_capturing_streams_cannot_begin_a_capture() {
    let _simulator = Simulator::new();
    let (h_stream, mut graph) = (stream(0), null_mut());
    calls! {
        cuStreamBeginCapture_v2(null_mut(), 0) => 900;
        cuStreamBeginCapture_v2(h_stream, 3) => 1;
        cuStreamEndCapture(h_stream, &mut graph) => 401;
        cuStreamBeginCapture_v2(h_stream, 0);
        cuStreamBeginCapture_v2(h_stream, 0) => 401;
        cuStreamEndCapture(h_stream, &mut graph);
    }
    assert_eq!(nodes(graph), []);
    run(executable(graph));
}

#[test]
fn streams_join_a_capture_only_through_its_events() {
    let uncaptured = |h_stream| {
        let event = event();
        calls! { cuEventRecord(event, stream(1)); }
        code!(cuStreamWaitEvent(h_stream, event, 0))
    };
    assert_invalidates(uncaptured, 905);
    // Two captures cannot be merged.
    let _simulator = Simulator::new();
    let (first, second, event) = (begin_capture(1), begin_capture(1), event());
    calls! {
        cuEventRecord(event, first);
        cuStreamWaitEvent(second, event, 0) => 902;
    }
    assert_ends_with(first, 901);
    assert_ends_with(second, 901);
}

#[test]
fn forked_streams_must_be_joined() {
    let simulator = Simulator::new();
    let (first, second, event) = (begin_capture(0), stream(1), event());
    ok(simulator.launch(simulator.add, 1, first));
    calls! {
        cuEventRecord(event, first);
        cuStreamWaitEvent(second, event, 0);
    }
    ok(simulator.launch(simulator.add, 1, second));
    assert_ends_with(first, 904);
    assert_eq!(status(second), 0);
    // The event belongs to a capture that has ended.
    calls! {
        cuStreamWaitEvent(second, event, 0) => 1;
        cuEventQuery(event) => 1;
        cuEventRecord(event, second);
        cuEventSynchronize(event);
        cuEventDestroy_v2(event);
    }
    assert_eq!(simulator.value(), 0);
}

#[test]
fn captures_end_in_their_origin_stream() {
    let _simulator = Simulator::new();
    let (first, second, event, mut graph) = (begin_capture(0), stream(1), event(), null_mut());
    calls! {
        cuEventRecord(event, first);
        cuStreamWaitEvent(second, event, 0);
        cuStreamEndCapture(second, &mut graph) => 903;
    }
    assert_ends_with(first, 901);
}

#[test]
fn non_relaxed_captures_end_in_their_thread() {
    let _simulator = Simulator::new();
    let from_another = |h_stream: CUstream| {
        in_other_thread(|| {
            let mut graph = null_mut();
            code!(cuStreamEndCapture(h_stream, &mut graph))
        })
    };
    let (h_stream, mut graph) = (begin_capture(0), null_mut());
    assert_eq!(from_another(h_stream), 908);
    // The failed call has ended the capture.
    calls! { cuStreamEndCapture(h_stream, &mut graph) => 401; }
    assert_eq!(status(h_stream), 0);
    ok(from_another(begin_capture(2)));
}

#[test]
fn unsafe_calls_are_rejected_according_to_the_mode() {
    let allocate = |_| {
        let mut at = 0;
        code!(cuMemAlloc_v2(&mut at, 4))
    };
    assert_invalidates(allocate, 900);
    unsafe extern "C" fn nothing(_: CUstream, _: c_int, _: *mut c_void) {}
    assert_invalidates(
        |h_stream| code!(cuStreamAddCallback(h_stream, Some(nothing), null_mut(), 0)),
        900,
    );
    let _simulator = Simulator::new();
    let (mut graph, mut mode) = (null_mut(), 2);
    // A relaxed capture, and a relaxed thread, forbid nothing.
    let relaxed = begin_capture(2);
    ok(allocate(relaxed));
    calls! {
        cuStreamEndCapture(relaxed, &mut graph);
        cuThreadExchangeStreamCaptureMode(&mut mode);
    }
    assert_eq!(mode, 0);
    let global = begin_capture(0);
    ok(allocate(global));
    calls! {
        cuStreamEndCapture(global, &mut graph);
        cuThreadExchangeStreamCaptureMode(&mut mode);
    }
    assert_eq!(mode, 2);
}

#[test]
fn streams_and_contexts_may_be_destroyed_while_capturing() {
    let simulator = Simulator::new();
    let mut at = 0;
    let h_stream = begin_capture(0);
    calls! { cuStreamDestroy_v2(h_stream); }
    let mut graph = null_mut();
    calls! {
        cuStreamEndCapture(h_stream, &mut graph) => 400;
        // The capture does not forbid this any more.
        cuMemAlloc_v2(&mut at, 4);
    }
    begin_capture(0);
    drop(simulator);
    let _other = Simulator::new();
    calls! { cuMemAlloc_v2(&mut at, 4); }
}
