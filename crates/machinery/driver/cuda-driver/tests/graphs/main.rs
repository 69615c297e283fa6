//! Graphs and stream capture through the driver's functions, on the simulator.

extern crate cuda_driver as _;

mod capture;
mod capture_rules;
mod errors;
mod executable;
mod manual;
mod memory;
mod objects;
mod queries;

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use cuda_driver::functions as cu;
use cuda_driver::types::graph::KernelNodeParams;
use cust::context::legacy::{Context, ContextFlags};
use cust::device::Device;
use cust::sys::{
    CUDA_HOST_NODE_PARAMS, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUevent, CUfunction, CUgraph,
    CUgraphExec, CUgraphNode, CUmemorytype, CUstream,
};

/// Two kernels that add a number to each word of their block, and multiply each word by it.
const PTX: &str = "
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
}
\0";

/// Number of words that each kernel processes.
const WORDS: usize = 32;

/// A context with the two kernels and zeroed memory for the words.
struct Simulator {
    _context: Context,
    add: CUfunction,
    times: CUfunction,
    words: u64,
}

/// Asserts success.
#[track_caller]
fn ok(code: c_int) {
    assert_eq!(code, 0);
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
        static FORCED: Once = Once::new();
        // SAFETY: set before any driver call, and only the driver reads it; Rust's own reading of the
        // environment takes a lock.
        FORCED.call_once(|| unsafe { std::env::set_var("CUDA_BACKEND", "sim") });
        cust::init(cust::CudaFlags::empty()).expect("the simulator");
        let device = Device::get_device(0).expect("its device");
        let context = Context::create_and_push(ContextFlags::SCHED_AUTO, device);
        let (mut module, mut add, mut times, mut words) = (null_mut(), null_mut(), null_mut(), 0);
        // SAFETY: all outputs are writable locals, and the PTX and the names are NUL-terminated.
        unsafe {
            ok(cu::cuModuleLoadData(&mut module, PTX.as_ptr().cast()));
            ok(cu::cuModuleGetFunction(&mut add, module, c"add".as_ptr()));
            ok(cu::cuModuleGetFunction(
                &mut times,
                module,
                c"times".as_ptr(),
            ));
            ok(cu::cuMemAlloc_v2(&mut words, 4 * WORDS));
        }
        Self {
            _context: context.expect("a context"),
            add,
            times,
            words,
        }
    }

    /// Returns the words, after a check that they are all equal.
    fn value(&self) -> u32 {
        let mut actual = [0_u32; WORDS];
        // SAFETY: the vector has as many bytes as the slice.
        unsafe {
            let to = actual.as_mut_ptr().cast();
            ok(cu::cuMemcpyDtoH_v2(to, self.words, 4 * WORDS));
        }
        assert!(actual.iter().all(|word| *word == actual[0]), "{actual:?}");
        actual[0]
    }

    /// Launches a kernel in a stream.
    fn launch(&self, function: CUfunction, by: u32, stream: CUstream) -> c_int {
        let (mut at, mut by) = (self.words, by);
        let mut arguments: [*mut c_void; 2] = [(&raw mut at).cast(), (&raw mut by).cast()];
        // SAFETY: the parameter list matches the signature of both kernels.
        unsafe {
            cu::cuLaunchKernel(
                function,
                1,
                1,
                1,
                WORDS as u32,
                1,
                1,
                0,
                stream,
                arguments.as_mut_ptr(),
                null_mut(),
            )
        }
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
            // SAFETY: `node` is writable; `graph`, `after` and `params` are handles or addresses that the
            // driver looks up, never dereferences.
            ok(unsafe {
                cu::cuGraphAddKernelNode_v2(&mut node, graph, after.as_ptr(), after.len(), params)
            });
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
        // SAFETY: `node` is writable, `list` has `count` elements, and `params` is a valid structure; `graph`
        // is an opaque handle that the driver looks up, never dereferences.
        ok(unsafe {
            let (list, count) = (after.as_ptr(), after.len());
            cu::cuGraphAddMemsetNode(&mut node, graph, list, count, &params, null_mut())
        });
        node
    }
}

/// Returns a copy of the words to host memory.
fn read_back(from: u64, to: *mut u32) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcHost: null(),
        srcDevice: from,
        srcArray: null_mut(),
        reserved0: null_mut(),
        srcPitch: 0,
        srcHeight: 0,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: to.cast(),
        dstDevice: 0,
        dstArray: null_mut(),
        reserved1: null_mut(),
        dstPitch: 0,
        dstHeight: 0,
        WidthInBytes: 4 * WORDS,
        Height: 1,
        Depth: 1,
    }
}

fn graph() -> CUgraph {
    let mut graph = null_mut();
    // SAFETY: `graph` is writable.
    ok(unsafe { cu::cuGraphCreate(&mut graph, 0) });
    graph
}

fn executable(graph: CUgraph) -> CUgraphExec {
    let mut handle = null_mut();
    // SAFETY: `handle` is writable; `graph` is an opaque handle that the driver looks up, never dereferences.
    ok(unsafe { cu::cuGraphInstantiateWithFlags(&mut handle, graph, 0) });
    handle
}

/// Launches a graph in the default stream and waits for it.
fn run(graph: CUgraphExec) {
    // SAFETY: `graph` is an opaque handle that the driver looks up, never dereferences.
    unsafe {
        ok(cu::cuGraphLaunch(graph, null_mut()));
        ok(cu::cuCtxSynchronize());
    }
}

fn stream(flags: u32) -> CUstream {
    let mut handle = null_mut();
    // SAFETY: `handle` is writable.
    ok(unsafe { cu::cuStreamCreate(&mut handle, flags) });
    handle
}

fn event() -> CUevent {
    let mut handle = null_mut();
    // SAFETY: `handle` is writable.
    ok(unsafe { cu::cuEventCreate(&mut handle, 0) });
    handle
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
    // SAFETY: a null list requests only the count; then the vector has room for `count` nodes.
    unsafe {
        ok(cu::cuGraphGetNodes(graph, null_mut(), &mut count));
        let mut nodes = vec![null_mut(); count];
        ok(cu::cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count));
        nodes
    }
}

/// Returns the type of a node.
fn node_type(node: CUgraphNode) -> c_int {
    let mut kind = -1;
    // SAFETY: `kind` is writable; `node` is an opaque handle that the driver looks up, never dereferences.
    ok(unsafe { cu::cuGraphNodeGetType(node, &mut kind) });
    kind
}

/// Returns the dependencies of a node.
fn dependencies(node: CUgraphNode) -> Vec<CUgraphNode> {
    let mut actual = [null_mut(); 8];
    let mut count = actual.len();
    // SAFETY: `count` and `actual` are writable; `node` is an opaque handle that the driver looks up, never
    // dereferences.
    ok(unsafe { cu::cuGraphNodeGetDependencies(node, actual.as_mut_ptr(), &mut count) });
    actual[..count].to_vec()
}
