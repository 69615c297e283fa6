//! Graphs and stream capture through the driver's functions, on the simulator.

extern crate cuda_driver as _;

mod asking;
mod captured;
mod errors;
mod executable;
mod forbidden;
mod made;
mod memory;
mod objects;

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

/// A kernel that adds a number to each of the words of its block, and one that multiplies them by it.
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

/// Words that each kernel works on.
const WORDS: usize = 32;

/// A context of one's own, with the two kernels and memory for the words, all zero.
struct Simulator {
    _context: Context,
    add: CUfunction,
    times: CUfunction,
    words: u64,
}

/// A result that is none of the errors.
#[track_caller]
fn ok(code: c_int) {
    assert_eq!(code, 0);
}

impl Simulator {
    fn new() -> Self {
        thread_local! {
            static ALONE: RefCell<Option<MutexGuard<'static, ()>>> = const { RefCell::new(None) };
        }
        // A capture forbids other threads things too, so tests run one after another.
        static TURN: Mutex<()> = Mutex::new(());
        ALONE.with_borrow_mut(|alone| {
            alone.get_or_insert_with(|| TURN.lock().unwrap_or_else(PoisonError::into_inner));
        });
        static FORCED: Once = Once::new();
        // SAFETY: before any call of the driver, which alone reads it; Rust's own reading of the
        // environment waits.
        FORCED.call_once(|| unsafe { std::env::set_var("CUDA_BACKEND", "sim") });
        cust::init(cust::CudaFlags::empty()).expect("the simulator");
        let device = Device::get_device(0).expect("its device");
        let context = Context::create_and_push(ContextFlags::SCHED_AUTO, device);
        let (mut module, mut add, mut times, mut words) = (null_mut(), null_mut(), null_mut(), 0);
        // SAFETY: all texts end in zero bytes, and the results can be written to.
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

    /// The words, which are all the same.
    fn value(&self) -> u32 {
        let mut found = [0_u32; WORDS];
        // SAFETY: so many bytes are there.
        unsafe {
            let to = found.as_mut_ptr().cast();
            ok(cu::cuMemcpyDtoH_v2(to, self.words, 4 * WORDS));
        }
        assert!(found.iter().all(|word| *word == found[0]), "{found:?}");
        found[0]
    }

    /// Launches a kernel in a stream.
    fn launch(&self, function: CUfunction, by: u32, stream: CUstream) -> c_int {
        let (mut at, mut by) = (self.words, by);
        let mut arguments: [*mut c_void; 2] = [(&raw mut at).cast(), (&raw mut by).cast()];
        // SAFETY: both kernels have these two parameters.
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

    /// What `body` makes of the parameters of a kernel's node, which live for so long.
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

    /// A node of a graph that launches a kernel.
    fn kernel_node(
        &self,
        graph: CUgraph,
        after: &[CUgraphNode],
        function: CUfunction,
        by: u32,
    ) -> CUgraphNode {
        let mut node = null_mut();
        self.params(function, by, |how| {
            // SAFETY: the lists are as long as is said.
            ok(unsafe {
                cu::cuGraphAddKernelNode_v2(&mut node, graph, after.as_ptr(), after.len(), how)
            });
        });
        node
    }

    /// A node that fills the words.
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
        let how = self.fill(value);
        // SAFETY: the lists are as long as is said.
        ok(unsafe {
            let (list, count) = (after.as_ptr(), after.len());
            cu::cuGraphAddMemsetNode(&mut node, graph, list, count, &how, null_mut())
        });
        node
    }
}

/// A copy of the words to host memory.
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
    // SAFETY: the handle can be written to, here and below.
    ok(unsafe { cu::cuGraphCreate(&mut graph, 0) });
    graph
}

fn executable(graph: CUgraph) -> CUgraphExec {
    let mut made = null_mut();
    // SAFETY: as above.
    ok(unsafe { cu::cuGraphInstantiateWithFlags(&mut made, graph, 0) });
    made
}

/// Launches a graph in the default stream and waits for it.
fn run(graph: CUgraphExec) {
    // SAFETY: any handles may be named.
    unsafe {
        ok(cu::cuGraphLaunch(graph, null_mut()));
        ok(cu::cuCtxSynchronize());
    }
}

fn stream(flags: u32) -> CUstream {
    let mut made = null_mut();
    // SAFETY: the handle can be written to.
    ok(unsafe { cu::cuStreamCreate(&mut made, flags) });
    made
}

fn event() -> CUevent {
    let mut made = null_mut();
    // SAFETY: the handle can be written to.
    ok(unsafe { cu::cuEventCreate(&mut made, 0) });
    made
}

/// A function of the program's that counts.
unsafe extern "C" fn count(number: *mut c_void) {
    // SAFETY: who gives it as a callback gives a number that outlives the call.
    unsafe { *number.cast::<u32>() += 1 };
}

/// A host node's parameters, for [`count`].
fn counting(number: &mut u32) -> CUDA_HOST_NODE_PARAMS {
    CUDA_HOST_NODE_PARAMS {
        fn_: Some(count),
        userData: (&raw mut *number).cast(),
    }
}

/// The nodes of a graph.
fn nodes(graph: CUgraph) -> Vec<CUgraphNode> {
    let mut count = 0;
    // SAFETY: a null list asks for the number, and then there is room for so many.
    unsafe {
        ok(cu::cuGraphGetNodes(graph, null_mut(), &mut count));
        let mut nodes = vec![null_mut(); count];
        ok(cu::cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count));
        nodes
    }
}

/// The number of a node's type.
fn node_type(node: CUgraphNode) -> c_int {
    let mut kind = -1;
    // SAFETY: the number can be written to.
    ok(unsafe { cu::cuGraphNodeGetType(node, &mut kind) });
    kind
}

/// The nodes that a node waits for.
fn dependencies(node: CUgraphNode) -> Vec<CUgraphNode> {
    let mut found = [null_mut(); 8];
    let mut count = found.len();
    // SAFETY: there is room for so many.
    ok(unsafe { cu::cuGraphNodeGetDependencies(node, found.as_mut_ptr(), &mut count) });
    found[..count].to_vec()
}
