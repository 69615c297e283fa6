//! Queries of other streams and events while a stream is capturing, compared with the results of an NVIDIA
//! H200.

use super::*;

/// The two capture modes that forbid unsafe calls.
const STRICT: [c_int; 2] = [0, 1];
const RELAXED: c_int = 2;

/// A call on another stream, or on an event that was recorded there before the capture.
type Call = fn(CUstream, CUevent) -> c_int;

/// The potentially unsafe calls.
const CALLS: [Call; 4] = [
    |other_stream, _| code!(cuStreamQuery(other_stream)),
    |_, event| code!(cuEventQuery(event)),
    |_, event| code!(cuEventSynchronize(event)),
    |_, _| {
        let (mut at, mut pitch) = (0, 0);
        code!(cuMemAllocPitch_v2(&mut at, &mut pitch, 4, 4, 4))
    },
];

/// Begins a capture with `mode`. Returns the capturing stream and the arguments of a [`Call`].
fn begin_capture(mode: c_int) -> (CUstream, CUstream, CUevent) {
    let (h_stream, other_stream, event) = (stream(1), stream(1), event());
    calls! {
        cuEventRecord(event, other_stream);
        cuEventSynchronize(event);
        cuStreamBeginCapture_v2(h_stream, mode);
    }
    (h_stream, other_stream, event)
}

/// Returns the result of ending a capture.
fn end(h_stream: CUstream) -> c_int {
    let mut graph = null_mut();
    code!(cuStreamEndCapture(h_stream, &mut graph))
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
            let actual = in_other_thread(|| call(other_stream, event));
            assert_eq!(actual, code, "mode {mode}");
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
        calls! {
            cuEventRecord(of_it, h_stream);
            cuEventQuery(of_it) => 907;
        }
        assert_eq!(status(h_stream), 2);
        calls! { cuEventRecord(of_it, h_stream) => 901; }
        assert_eq!(end(h_stream), 901);
    }
}
