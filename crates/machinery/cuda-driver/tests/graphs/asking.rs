//! Asking about other streams and events while a stream is captured, as an NVIDIA H200 answers.

use super::*;
use std::thread;

/// The two modes that forbid calls.
const STRICT: [c_int; 2] = [0, 1];
const RELAXED: c_int = 2;

/// A call, with another stream and an event that was recorded there before the capture.
type Call = fn(CUstream, CUevent) -> c_int;

/// The calls that could do what a capture does not collect.
const CALLS: [Call; 4] = [
    // SAFETY: both handles live, here and below.
    |other, _| unsafe { cu::cuStreamQuery(other) },
    // SAFETY: as above.
    |_, event| unsafe { cu::cuEventQuery(event) },
    // SAFETY: as above.
    |_, event| unsafe { cu::cuEventSynchronize(event) },
    |_, _| {
        let (mut at, mut pitch) = (0, 0);
        // SAFETY: the results can be written to.
        unsafe { cu::cuMemAllocPitch_v2(&mut at, &mut pitch, 4, 4, 4) }
    },
];

/// A stream that is captured in a mode, and what [`Call`]s take.
fn begun(mode: c_int) -> (CUstream, CUstream, CUevent) {
    let (on, other, event) = (stream(1), stream(1), event());
    // SAFETY: the handles live.
    unsafe {
        ok(cu::cuEventRecord(event, other));
        ok(cu::cuEventSynchronize(event));
        ok(cu::cuStreamBeginCapture_v2(on, mode));
    }
    (on, other, event)
}

/// Whether a stream is captured: 1, or 2 after an error.
fn status(on: CUstream) -> c_int {
    let mut status = 9;
    // SAFETY: the number can be written to.
    ok(unsafe { cu::cuStreamIsCapturing(on, &mut status) });
    status
}

/// What ending a capture answers.
fn end(on: CUstream) -> c_int {
    let mut graph = null_mut();
    // SAFETY: the handle can be written to.
    unsafe { cu::cuStreamEndCapture(on, &mut graph) }
}

/// What a call answers in a thread beside the one that captures.
fn elsewhere(call: Call, other: CUstream, event: CUevent) -> c_int {
    let mut context = null_mut();
    // SAFETY: the handle can be written to.
    ok(unsafe { cu::cuCtxGetCurrent(&mut context) });
    let numbers = [context.addr(), other.addr(), event.addr()];
    let answered = thread::spawn(move || {
        let [context, other, event] = numbers;
        // SAFETY: the handles are those of the thread that waits.
        unsafe {
            ok(cu::cuCtxSetCurrent(std::ptr::without_provenance_mut(
                context,
            )));
        }
        call(
            std::ptr::without_provenance_mut(other),
            std::ptr::without_provenance_mut(event),
        )
    });
    answered.join().unwrap()
}

#[test]
fn a_capture_forbids_asking_about_other_streams_and_events() {
    let _simulator = Simulator::new();
    for mode in STRICT {
        for call in CALLS {
            let (on, other, event) = begun(mode);
            assert_eq!(call(other, event), 900);
            assert_eq!(status(on), 2);
            assert_eq!(end(on), 901);
            assert_eq!(call(other, event), 0);
        }
    }
}

#[test]
fn a_relaxed_capture_lets_ask() {
    let _simulator = Simulator::new();
    for call in CALLS {
        let (on, other, event) = begun(RELAXED);
        assert_eq!(call(other, event), 0);
        assert_eq!(status(on), 1);
        ok(end(on));
    }
}

#[test]
fn another_thread_may_ask_unless_the_capture_is_global() {
    let _simulator = Simulator::new();
    for call in CALLS {
        for (mode, code, after) in [(0, 900, 2), (1, 0, 1), (RELAXED, 0, 1)] {
            let (on, other, event) = begun(mode);
            assert_eq!(elsewhere(call, other, event), code, "mode {mode}");
            assert_eq!(status(on), after);
            end(on);
        }
    }
}

#[test]
fn asking_about_an_event_of_a_capture_ends_it_in_every_mode() {
    let _simulator = Simulator::new();
    for mode in [0, 1, RELAXED] {
        let (on, _, _) = begun(mode);
        let of_it = event();
        // SAFETY: the handles live.
        unsafe {
            ok(cu::cuEventRecord(of_it, on));
            assert_eq!(cu::cuEventQuery(of_it), 907);
            assert_eq!(status(on), 2);
            assert_eq!(cu::cuEventRecord(of_it, on), 901);
        }
        assert_eq!(end(on), 901);
    }
}
