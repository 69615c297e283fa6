//! The operations of streams and graph nodes: streams execute them, graphs store them, captures collect them.

use std::ffi::c_void;
use std::sync::Arc;

use cuda_sim::driver::{CheckedLaunch, EventId, Memcpy, Memset};
use cust_raw::{CUhostFn, CUstream, CUstreamCallback};

use super::graph::Body;

/// One operation.
#[derive(Clone)]
pub enum StreamOp {
    /// No operation: an empty graph node, used as a dependency.
    Empty,
    Kernel(Kernel),
    Memcpy(Memcpy),
    Memset(Memset),
    Host(HostFunction),
    RecordEvent(EventId),
    WaitEvent(EventId),
    Allocate(Reservation),
    /// Frees the allocation at this address.
    Free(u64),
    Graph(Arc<Body>),
}

// SAFETY: the pointers in an operation are only dereferenced when it executes. The driver API requires them
// to be valid until then, on whichever thread executes the operation.
unsafe impl Send for StreamOp {}
// SAFETY: shared access to an operation dereferences no pointer.
unsafe impl Sync for StreamOp {}

impl StreamOp {
    /// Returns the events that it records.
    pub fn recorded_events(&self) -> Vec<EventId> {
        let mut events = Vec::new();
        self.visit(&mut |op| {
            if let StreamOp::RecordEvent(event) = op {
                events.push(*event);
            }
        });
        events
    }

    /// Returns the events that it waits for.
    pub fn awaited_events(&self) -> Vec<EventId> {
        let mut events = Vec::new();
        self.visit(&mut |op| {
            if let StreamOp::WaitEvent(event) = op {
                events.push(*event);
            }
        });
        events
    }

    /// Returns true if it calls a host function.
    pub fn calls_host_function(&self) -> bool {
        let mut calls = false;
        self.visit(&mut |op| calls |= matches!(op, StreamOp::Host(_)));
        calls
    }

    /// Calls `f` for each operation: for a graph, for those of its nodes.
    fn visit(&self, f: &mut impl FnMut(&StreamOp)) {
        match self {
            StreamOp::Graph(body) => {
                for node in body.nodes.values() {
                    node.op.visit(f);
                }
            }
            single => f(single),
        }
    }
}

/// A kernel launch.
#[derive(Clone, PartialEq, Eq)]
pub struct Kernel {
    pub launch: CheckedLaunch,
    /// A graph node's priority.
    pub priority: i32,
}

/// A host function and its argument.
#[derive(Clone, Copy)]
pub enum HostFunction {
    /// From `cuLaunchHostFunc`.
    Plain {
        function: CUhostFn,
        data: *mut c_void,
    },
    /// From `cuStreamAddCallback`; also receives the stream.
    Callback {
        function: CUstreamCallback,
        stream: CUstream,
        data: *mut c_void,
    },
}

/// An allocation of a graph: its address is valid as long as the graph exists, its memory only between an
/// allocation node and a free.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Reservation {
    pub address: u64,
    pub bytes: u64,
}
