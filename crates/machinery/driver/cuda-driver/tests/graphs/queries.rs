//! Queries of other streams and events while a stream is capturing, compared with the results of an NVIDIA
//! H200.

use super::*;
use std::thread;

/// The two capture modes that forbid unsafe calls.
const STRICT: [c_int; 2] = [0, 1];
const RELAXED: c_int = 2;

/// A call on another stream, or on an event that was recorded there before the capture.
type Call = fn(CUstream, CUevent) -> c_int;

/// The potentially unsafe calls.
const CALLS: [Call; 4] = [
    // SAFETY: both handles are alive.
    |other_stream, _| unsafe { cu::cuStreamQuery(other_stream) },
    // SAFETY: `event` is an opaque handle that the driver looks up, never dereferences.
    |_, event| unsafe { cu::cuEventQuery(event) },
    // SAFETY: `event` is an opaque handle that the driver looks up, never dereferences.
    |_, event| unsafe { cu::cuEventSynchronize(event) },
    |_, _| {
        let (mut at, mut pitch) = (0, 0);
        // SAFETY: `at` and `pitch` are writable.
        unsafe { cu::cuMemAllocPitch_v2(&mut at, &mut pitch, 4, 4, 4) }
    },
];

/// Begins a capture with `mode`. Returns the capturing stream and the arguments of a [`Call`].
fn begin_capture(mode: c_int) -> (CUstream, CUstream, CUevent) {
    let (h_stream, other_stream, event) = (stream(1), stream(1), event());
    // SAFETY: `event`, `other_stream` and `h_stream` are handles or addresses that the driver looks up, never
    // dereferences.
    unsafe {
        ok(cu::cuEventRecord(event, other_stream));
        ok(cu::cuEventSynchronize(event));
        ok(cu::cuStreamBeginCapture_v2(h_stream, mode));
    }
    (h_stream, other_stream, event)
}

/// Returns a stream's capture status: 1 if active, 2 after an error.
fn status(h_stream: CUstream) -> c_int {
    let mut status = 9;
    // SAFETY: `status` is writable; `h_stream` is an opaque handle that the driver looks up, never
    // dereferences.
    ok(unsafe { cu::cuStreamIsCapturing(h_stream, &mut status) });
    status
}

/// Returns the result of ending a capture.
fn end(h_stream: CUstream) -> c_int {
    let mut graph = null_mut();
    // SAFETY: `graph` is writable; `h_stream` is an opaque handle that the driver looks up, never dereferences.
    unsafe { cu::cuStreamEndCapture(h_stream, &mut graph) }
}

/// Returns the result of a call on a thread other than the capturing one.
fn on_other_thread(call: Call, other_stream: CUstream, event: CUevent) -> c_int {
    let mut context = null_mut();
    // SAFETY: `context` is writable.
    ok(unsafe { cu::cuCtxGetCurrent(&mut context) });
    let numbers = [context.addr(), other_stream.addr(), event.addr()];
    let answered = thread::spawn(move || {
        let [context, other_stream, event] = numbers;
        // SAFETY: the handles belong to the main thread, which waits for this one.
        unsafe {
            ok(cu::cuCtxSetCurrent(std::ptr::without_provenance_mut(
                context,
            )));
        }
        call(
            std::ptr::without_provenance_mut(other_stream),
            std::ptr::without_provenance_mut(event),
        )
    });
    answered.join().unwrap()
}

#[test]
fn strict_captures_forbid_queries_of_other_streams_and_events() {
    let _simulator = Simulator::new();
    for mode in STRICT {
        for call in CALLS {
            let (h_stream, other_stream, event) = begin_capture(mode);
            assert_eq!(call(other_stream, event), 900);
            assert_eq!(status(h_stream), 2);
            assert_eq!(end(h_stream), 901);
            assert_eq!(call(other_stream, event), 0);
        }
    }
}

#[test]
fn relaxed_captures_allow_queries() {
    let _simulator = Simulator::new();
    for call in CALLS {
        let (h_stream, other_stream, event) = begin_capture(RELAXED);
        assert_eq!(call(other_stream, event), 0);
        assert_eq!(status(h_stream), 1);
        ok(end(h_stream));
    }
}

#[test]
fn other_threads_may_query_unless_the_capture_is_global() {
    let _simulator = Simulator::new();
    for call in CALLS {
        for (mode, code, after) in [(0, 900, 2), (1, 0, 1), (RELAXED, 0, 1)] {
            let (h_stream, other_stream, event) = begin_capture(mode);
            assert_eq!(
                on_other_thread(call, other_stream, event),
                code,
                "mode {mode}"
            );
            assert_eq!(status(h_stream), after);
            end(h_stream);
        }
    }
}

#[test]
fn querying_a_captured_event_invalidates_the_capture_in_every_mode() {
    let _simulator = Simulator::new();
    for mode in [0, 1, RELAXED] {
        let (h_stream, _, _) = begin_capture(mode);
        let of_it = event();
        // SAFETY: `of_it` and `h_stream` are handles or addresses that the driver looks up, never dereferences.
        unsafe {
            ok(cu::cuEventRecord(of_it, h_stream));
            assert_eq!(cu::cuEventQuery(of_it), 907);
            assert_eq!(status(h_stream), 2);
            assert_eq!(cu::cuEventRecord(of_it, h_stream), 901);
        }
        assert_eq!(end(h_stream), 901);
    }
}
