//! Graphs and stream capture through the driver's functions, on the simulator.

#[macro_use]
#[path = "../support/mod.rs"]
mod support;

mod capture;
mod capture_rules;
mod conditional;
mod errors;
mod executable;
mod manual;
mod memory;
mod objects;
mod queries;

use std::cell::RefCell;
use std::ffi::{CStr, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cuda_driver::types::graph::KernelNodeParams;
use cuda_driver::types::{
    CUDA_HOST_NODE_PARAMS, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUevent, CUfunction, CUgraph,
    CUgraphExec, CUgraphNode, CUstream,
};
use cust::context::legacy::Context;
use support::*;

/// Two kernels that add a number to each word of their block, and multiply each word by it.
const PTX: &CStr = c"
.version 6.4
.target sm_52
.address_size 64
.visible .entry add(.param .u64 at, .param .u32 by)
{
    .reg .u64 %rd<4>; .reg .u32 %r<4>;
    ld.param.u64 %rd1, [at];
    ld.param.u32 %r1, [by];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r3, [%rd3];
    add.u32 %r3, %r3, %r1;
    st.global.u32 [%rd3], %r3;
    ret;
}
.visible .entry times(.param .u64 at, .param .u32 by)
{
    .reg .u64 %rd<4>; .reg .u32 %r<4>;
    ld.param.u64 %rd1, [at];
    ld.param.u32 %r1, [by];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r3, [%rd3];
    mul.lo.u32 %r3, %r3, %r1;
    st.global.u32 [%rd3], %r3;
    ret;
}";

/// Number of words that each kernel processes.
const WORDS: usize = 32;

/// A context with the two kernels and zeroed memory for the words.
struct Simulator {
    _context: Context,
    add: CUfunction,
    times: CUfunction,
    words: u64,
}

impl Simulator {
    fn new() -> Self {
        thread_local! {
            static ALONE: RefCell<Option<MutexGuard<'static, ()>>> = const { RefCell::new(None) };
        }
        // Captures restrict other threads too, so tests run one after another.
        static TURN: Mutex<()> = Mutex::new(());
        ALONE.with_borrow_mut(|alone| {
            alone.get_or_insert_with(|| TURN.lock().unwrap_or_else(PoisonError::into_inner));
        });
        let context = own_context();
        let (module, words) = (module(PTX), allocate(4 * WORDS));
        Self {
            _context: context,
            add: function(module, c"add"),
            times: function(module, c"times"),
            words,
        }
    }

    /// Returns the words, after a check that they are all equal.
    fn value(&self) -> u32 {
        let actual: [u32; WORDS] = read(self.words);
        assert!(actual.iter().all(|word| *word == actual[0]), "{actual:?}");
        actual[0]
    }

    /// Launches a kernel in a stream.
    fn launch(&self, function: CUfunction, by: u32, stream: CUstream) -> c_int {
        let arguments = [self.words, by.into()];
        launch(function, [1, WORDS as u32], stream, &arguments)
    }

    /// Calls `body` with the parameters of a kernel node, which live until it returns.
    fn params<T>(
        &self,
        func: CUfunction,
        by: u32,
        body: impl FnOnce(&mut KernelNodeParams) -> T,
    ) -> T {
        let (mut at, mut by) = (self.words, by);
        let mut arguments: [*mut c_void; 2] = [(&raw mut at).cast(), (&raw mut by).cast()];
        body(&mut KernelNodeParams {
            func,
            grid: [1; 3],
            block: [WORDS as u32, 1, 1],
            shared_mem_bytes: 0,
            kernel_params: arguments.as_mut_ptr(),
            extra: null_mut(),
            kern: null_mut(),
            ctx: null_mut(),
        })
    }

    /// Adds a node that launches a kernel.
    fn kernel_node(
        &self,
        graph: CUgraph,
        after: &[CUgraphNode],
        function: CUfunction,
        by: u32,
    ) -> CUgraphNode {
        let mut node = null_mut();
        self.params(function, by, |params| {
            ok(code!(cuGraphAddKernelNode_v2(
                &mut node,
                graph,
                after.as_ptr(),
                after.len(),
                params
            )));
        });
        node
    }

    /// Returns the parameters of a node that fills the words.
    fn fill(&self, value: u32) -> CUDA_MEMSET_NODE_PARAMS {
        CUDA_MEMSET_NODE_PARAMS {
            dst: self.words,
            pitch: 0,
            value,
            elementSize: 4,
            width: WORDS,
            height: 1,
        }
    }

    fn fill_node(&self, graph: CUgraph, after: &[CUgraphNode], value: u32) -> CUgraphNode {
        let mut node = null_mut();
        let params = self.fill(value);
        ok({
            let (list, count) = (after.as_ptr(), after.len());
            code!(cuGraphAddMemsetNode(
                &mut node,
                graph,
                list,
                count,
                &params,
                null_mut()
            ))
        });
        node
    }
}

/// Returns a copy of the words to host memory.
fn read_back(from: u64, to: *mut u32) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
        srcDevice: from,
        dstHost: to.cast(),
        WidthInBytes: 4 * WORDS,
        Height: 1,
        Depth: 1,
        ..copy_3d(DEVICE, HOST)
    }
}

fn graph() -> CUgraph {
    let mut graph = null_mut();
    calls! { cuGraphCreate(&mut graph, 0); }
    graph
}

fn executable(graph: CUgraph) -> CUgraphExec {
    let mut handle = null_mut();
    calls! { cuGraphInstantiateWithFlags(&mut handle, graph, 0); }
    handle
}

/// Launches a graph in the default stream and waits for it.
fn run(graph: CUgraphExec) {
    calls! {
        cuGraphLaunch(graph, null_mut());
        cuCtxSynchronize();
    }
}

/// Returns a stream's capture status: 1 if active, 2 after an error.
fn status(stream: CUstream) -> c_int {
    let mut status = 9;
    calls! { cuStreamIsCapturing(stream, &mut status); }
    status
}

/// A host function that increments a counter.
unsafe extern "C" fn count(number: *mut c_void) {
    // SAFETY: every test that registers this callback passes a number that outlives the call.
    unsafe { *number.cast::<u32>() += 1 };
}

/// Returns the parameters of a host node that calls [`count`].
fn counting_node(number: &mut u32) -> CUDA_HOST_NODE_PARAMS {
    CUDA_HOST_NODE_PARAMS {
        fn_: Some(count),
        userData: (&raw mut *number).cast(),
    }
}

/// Returns the nodes of a graph.
fn nodes(graph: CUgraph) -> Vec<CUgraphNode> {
    let mut count = 0;
    calls! { cuGraphGetNodes(graph, null_mut(), &mut count); }
    let mut nodes = vec![null_mut(); count];
    calls! { cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count); }
    nodes
}

/// Returns the type of a node.
fn node_type(node: CUgraphNode) -> c_int {
    let mut kind = -1;
    calls! { cuGraphNodeGetType(node, &mut kind); }
    kind
}

/// Returns the dependencies of a node.
fn dependencies(node: CUgraphNode) -> Vec<CUgraphNode> {
    let mut actual = [null_mut(); 8];
    let mut count = actual.len();
    calls! { cuGraphNodeGetDependencies(node, actual.as_mut_ptr(), &mut count); }
    actual[..count].to_vec()
}
