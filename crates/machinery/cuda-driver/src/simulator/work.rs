//! What can be put into a stream: streams carry it out, graphs hold it, captures collect it.

use std::ffi::c_void;
use std::sync::Arc;

use cuda_sim::driver::{EventId, FunctionId, LaunchConfig, Memcpy, Memset};
use cust_raw::{CUhostFn, CUstream, CUstreamCallback};

use super::graph::Body;
use super::watch;

/// One piece of work.
#[derive(Clone)]
pub enum Work {
    /// Nothing: a node that others wait for.
    Empty,
    Kernel(Kernel),
    Memcpy(Memcpy),
    Memset(Memset),
    Host(HostFunction),
    RecordEvent(EventId),
    WaitEvent(EventId),
    Allocate(Reserved),
    /// Frees the memory that begins at this address.
    Free(u64),
    Graph(Arc<Body>),
}

// SAFETY: the pointers in it are the program's, which promises that they are good on the thread that
// carries the work out; nobody follows them before.
unsafe impl Send for Work {}
// SAFETY: as above; reading work follows no pointer.
unsafe impl Sync for Work {}

impl Work {
    /// The events that it records.
    pub fn recorded(&self) -> Vec<EventId> {
        let mut found = Vec::new();
        self.each(&mut |work| {
            if let Work::RecordEvent(event) = work {
                found.push(*event);
            }
        });
        found
    }

    /// The events that it waits for.
    pub fn waited(&self) -> Vec<EventId> {
        let mut found = Vec::new();
        self.each(&mut |work| {
            if let Work::WaitEvent(event) = work {
                found.push(*event);
            }
        });
        found
    }

    /// Whether it calls a function of the program's.
    pub fn calls_program(&self) -> bool {
        let mut calls = false;
        self.each(&mut |work| calls |= matches!(work, Work::Host(_)));
        calls
    }

    /// Shows each piece: of a graph its nodes'.
    fn each(&self, look: &mut impl FnMut(&Work)) {
        match self {
            Work::Graph(body) => {
                for node in body.nodes.values() {
                    node.work.each(look);
                }
            }
            other => look(other),
        }
    }
}

/// A kernel launch, with a copy of its arguments.
#[derive(Clone, PartialEq, Eq)]
pub struct Kernel {
    pub function: FunctionId,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: u32,
    /// The arguments as they lie in the kernel's parameter space.
    pub arguments: Arc<[u8]>,
    pub cooperative: bool,
    /// A node's priority among those of its graph.
    pub priority: i32,
}

impl Kernel {
    /// The launch as the simulated driver takes it.
    pub fn config(&self) -> LaunchConfig<'_> {
        LaunchConfig {
            function: self.function,
            grid: self.grid,
            block: self.block,
            dynamic_shared: self.dynamic_shared,
            parameters: &self.arguments,
            cooperative: self.cooperative,
            watch: Some(&watch::WATCH),
            profile: watch::profiling(),
        }
    }
}

/// A function of the program's.
#[derive(Clone, Copy)]
pub enum HostFunction {
    /// Of `cuLaunchHostFunc`.
    Plain {
        function: CUhostFn,
        data: *mut c_void,
    },
    /// Of `cuStreamAddCallback`, which is told the stream.
    Callback {
        function: CUstreamCallback,
        stream: CUstream,
        data: *mut c_void,
    },
}

/// Memory of a graph: its address is known as long as the graph is there, its bytes are not.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Reserved {
    pub address: u64,
    pub bytes: u64,
}
