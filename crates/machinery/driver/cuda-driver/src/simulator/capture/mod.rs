//! Stream capture: operations submitted to a capturing stream become graph nodes and do not execute. This file
//! has the active captures, `collect.rs` adds nodes to them, `rules.rs` checks which calls a capture forbids, and
//! `api.rs` implements the driver API's functions.

pub mod api;
mod collect;
pub mod rules;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread::ThreadId;

use cuda_sim::driver::{ContextId, CudaError, EventId, StreamId};

use crate::simulator::graph::{GraphId, NodeId};
use crate::simulator::{SIMULATOR, lock_mutex};

pub use collect::{collect, forget_event, forget_stream, forget_streams, record_event, wait_event};

/// The restrictions that a capture imposes on other calls (`CUstreamCaptureMode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Global,
    ThreadLocal,
    Relaxed,
}

impl Mode {
    /// Converts a `CUstreamCaptureMode`, or returns [`CudaError::InvalidValue`].
    pub fn new(value: i32) -> Result<Self, CudaError> {
        match value {
            0 => Ok(Self::Global),
            1 => Ok(Self::ThreadLocal),
            2 => Ok(Self::Relaxed),
            _ => Err(CudaError::InvalidValue),
        }
    }
}

/// The number of a capture, which identifies it to programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaptureId(pub u64);

/// One capture: the stream in which it began, and all streams that joined it.
pub struct Capture {
    pub origin: StreamId,
    pub graph: GraphId,
    /// True if the program passed the graph, which then survives errors of the capture.
    pub is_external_graph: bool,
    pub mode: Mode,
    pub thread: ThreadId,
    /// False once an error has invalidated it: it can only be ended then.
    pub valid: bool,
}

/// A capturing stream.
pub struct Member {
    pub capture: CaptureId,
    pub context: ContextId,
    /// True if the stream synchronizes with the legacy default stream.
    pub blocking: bool,
    /// The dependencies of its next node.
    pub tail: Vec<NodeId>,
    /// The handles of those nodes, as returned to the program.
    pub returned_handles: Vec<u64>,
}

/// An event recorded in a capturing stream.
pub struct CapturedEvent {
    pub capture: CaptureId,
    pub tail: Vec<NodeId>,
}

/// All captures, and whether there are any.
pub struct CaptureTable {
    captures: Mutex<Captures>,
    /// Number of captures and captured events: programs without captures skip the lock.
    count: AtomicUsize,
}

impl CaptureTable {
    pub const fn new() -> Self {
        Self {
            captures: Mutex::new(Captures {
                last: 0,
                captures: BTreeMap::new(),
                streams: BTreeMap::new(),
                events: BTreeMap::new(),
            }),
            count: AtomicUsize::new(0),
        }
    }
}

/// The captures, capturing streams and captured events.
pub struct Captures {
    last: u64,
    pub captures: BTreeMap<CaptureId, Capture>,
    pub streams: BTreeMap<StreamId, Member>,
    pub events: BTreeMap<EventId, CapturedEvent>,
}

/// Locks all captures. A thread that also locks the driver must lock it first; one that also locks the
/// graphs, after.
pub fn captures() -> MutexGuard<'static, Captures> {
    lock_mutex(&SIMULATOR.captures.captures)
}

/// Locks all captures, if there are any; otherwise returns `None`.
pub fn try_captures() -> Option<MutexGuard<'static, Captures>> {
    (SIMULATOR.captures.count.load(Ordering::Acquire) > 0).then(captures)
}

impl Captures {
    /// Returns an unused capture number.
    pub fn next(&mut self) -> CaptureId {
        self.last += 1;
        CaptureId(self.last)
    }

    /// Updates the counter of captures; required after every change.
    pub fn update_count(&self) {
        let count = self.captures.len() + self.events.len();
        SIMULATOR.captures.count.store(count, Ordering::Release);
    }

    /// Returns a capture, or [`CudaError::StreamCaptureInvalidated`] if it is not valid any more.
    pub fn active(&self, id: CaptureId) -> Result<&Capture, CudaError> {
        let capture = self.captures.get(&id);
        let capture = capture.ok_or(CudaError::StreamCaptureInvalidated)?;
        match capture.valid {
            true => Ok(capture),
            false => Err(CudaError::StreamCaptureInvalidated),
        }
    }

    /// Invalidates captures after a forbidden call. Returns `error`, or
    /// [`CudaError::StreamCaptureInvalidated`] if all of them were invalid already.
    pub fn invalidate(&mut self, captures: &BTreeSet<CaptureId>, error: CudaError) -> CudaError {
        let mut all_invalid = true;
        for id in captures {
            if let Some(capture) = self.captures.get_mut(id) {
                all_invalid &= !capture.valid;
                capture.valid = false;
            }
        }
        match all_invalid {
            true => CudaError::StreamCaptureInvalidated,
            false => error,
        }
    }

    /// Removes a capture and its streams.
    pub fn remove(&mut self, id: CaptureId) -> Option<Capture> {
        self.streams.retain(|_, member| member.capture != id);
        let ended = self.captures.remove(&id);
        self.update_count();
        ended
    }
}
