//! Which streams are captured, and what each has been given so far.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread::ThreadId;

use cuda_sim::driver::{ContextId, CudaError, EventId, StreamId};

use crate::simulator::graph::{GraphId, NodeId};
use crate::simulator::lock;

/// Which calls a capture forbids (`CUstreamCaptureMode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Global,
    ThreadLocal,
    Relaxed,
}

impl Mode {
    /// The mode with a number, or [`CudaError::InvalidValue`].
    pub fn new(number: i32) -> Result<Self, CudaError> {
        match number {
            0 => Ok(Self::Global),
            1 => Ok(Self::ThreadLocal),
            2 => Ok(Self::Relaxed),
            _ => Err(CudaError::InvalidValue),
        }
    }
}

/// A capture's number, by which programs tell captures apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaptureId(pub u64);

/// One capture: of the stream it began in, and of all that wait for work in it.
pub struct Capture {
    pub origin: StreamId,
    pub graph: GraphId,
    /// Whether the graph was there before, and so stays whatever becomes of the capture.
    pub given: bool,
    pub mode: Mode,
    pub thread: ThreadId,
    /// False once an error has ended it: nothing but its end is possible then.
    pub valid: bool,
}

/// A stream that is captured.
pub struct Member {
    pub capture: CaptureId,
    pub context: ContextId,
    /// Whether the legacy default stream waits for it.
    pub blocking: bool,
    /// The nodes that its next one waits for.
    pub tail: Vec<NodeId>,
    /// The handles of those nodes, as they were shown to the program.
    pub shown: Vec<u64>,
}

/// An event that was recorded in a stream that is captured.
pub struct Mark {
    pub capture: CaptureId,
    pub tail: Vec<NodeId>,
}

/// All captures.
pub struct Captures {
    last: u64,
    pub captures: BTreeMap<CaptureId, Capture>,
    pub streams: BTreeMap<StreamId, Member>,
    pub events: BTreeMap<EventId, Mark>,
}

static CAPTURES: Mutex<Captures> = Mutex::new(Captures {
    last: 0,
    captures: BTreeMap::new(),
    streams: BTreeMap::new(),
    events: BTreeMap::new(),
});

/// How many captures and captured events there are: programs without need not ask further.
static ANY: AtomicUsize = AtomicUsize::new(0);

/// All captures, for the calling thread alone. Who locks the machine too does so before, and who locks the
/// graphs does so after.
pub fn captures() -> MutexGuard<'static, Captures> {
    lock(&CAPTURES)
}

/// [`captures`], if there are any.
pub fn any() -> Option<MutexGuard<'static, Captures>> {
    (ANY.load(Ordering::Acquire) > 0).then(captures)
}

impl Captures {
    /// A number that no capture has had.
    pub fn next(&mut self) -> CaptureId {
        self.last += 1;
        CaptureId(self.last)
    }

    /// To be called after every change of what is captured.
    pub fn changed(&self) {
        ANY.store(self.captures.len() + self.events.len(), Ordering::Release);
    }

    /// The capture of a stream that is captured, and whether it is still valid:
    /// [`CudaError::StreamCaptureInvalidated`] if it is not.
    pub fn active(&self, id: CaptureId) -> Result<&Capture, CudaError> {
        let capture = self.captures.get(&id);
        let capture = capture.ok_or(CudaError::StreamCaptureInvalidated)?;
        match capture.valid {
            true => Ok(capture),
            false => Err(CudaError::StreamCaptureInvalidated),
        }
    }

    /// Ends what captures collect, for a call was made that they forbid. Returns `error`, or that they had
    /// ended before, if all had.
    pub fn invalidate(&mut self, captures: &BTreeSet<CaptureId>, error: CudaError) -> CudaError {
        let mut ended_before = true;
        for id in captures {
            if let Some(capture) = self.captures.get_mut(id) {
                ended_before &= !capture.valid;
                capture.valid = false;
            }
        }
        match ended_before {
            true => CudaError::StreamCaptureInvalidated,
            false => error,
        }
    }

    /// Takes a capture's streams out of it.
    pub fn end(&mut self, id: CaptureId) -> Option<Capture> {
        self.streams.retain(|_, member| member.capture != id);
        let ended = self.captures.remove(&id);
        self.changed();
        ended
    }
}
