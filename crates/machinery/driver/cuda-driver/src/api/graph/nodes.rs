//! Creation and destruction of graphs and nodes.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use cuda_sim::driver::{ContextId, CudaError, EventId};

use super::{check_edges, node_id, params_in};
use crate::api::SIMULATOR;
use crate::arguments::{Argument, In, InOut, Out, handle, number, read_list, required};
use crate::log::warn;
use crate::simulator::{ConditionalKind, GraphId, NodeId, Pointer, StreamOp, call_host_functions};
use crate::status::CallResult;
use crate::types::graph::{BatchNodeParams, EdgeData, KernelNodeParams, NodeParams};
use crate::types::{
    CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS, CUdeviceptr, CUgraph, CUgraphNode,
};

/// `cuGraphCreate`.
pub fn create(out: Out<CUgraph>, flags: c_uint) -> CallResult {
    if flags != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    out.set(handle(SIMULATOR.graphs().create().0));
    Ok(())
}

/// `cuGraphDestroy`.
pub fn destroy(graph: GraphId) -> CallResult {
    let destructors = SIMULATOR.graphs().destroy(graph)?;
    Ok(call_host_functions(destructors)?)
}

/// `cuGraphClone`.
pub fn clone(out: Out<CUgraph>, graph: GraphId) -> CallResult {
    let mut graphs = SIMULATOR.graphs();
    if !graphs.graph(graph)?.can_be_child() {
        return Err(CudaError::NotSupported.into());
    }
    out.set(handle(graphs.duplicate(graph)?.0));
    Ok(())
}

/// `cuGraphNodeFindInClone`.
pub fn find_in_clone(out: Out<CUgraphNode>, node: NodeId, clone: GraphId) -> CallResult {
    let graphs = SIMULATOR.graphs();
    let mut nodes = graphs.graph(clone)?.nodes.iter();
    let clone_node = nodes.find(|(_, memcpy)| memcpy.original == Some(node));
    let (clone_node, _) = clone_node.ok_or(CudaError::InvalidValue)?;
    out.set(handle(clone_node.0));
    Ok(())
}

/// `cuGraphDestroyNode`.
pub fn destroy_node(node: NodeId) -> CallResult {
    let destructors = SIMULATOR.graphs().destroy_node(node)?;
    Ok(call_host_functions(destructors)?)
}

/// The output for a new node's handle, its graph and its dependencies.
struct NewNode {
    out: Out<CUgraphNode>,
    graph: GraphId,
    dependencies: Option<In<CUgraphNode>>,
    count: usize,
}

impl NewNode {
    /// Adds a node with the operation that `op` returns. Calls `op` only after the list is read.
    ///
    /// # Safety
    /// `dependencies` must have `count` elements.
    unsafe fn add(
        self,
        op: impl FnOnce() -> Result<StreamOp, CudaError>,
    ) -> Result<NodeId, CudaError> {
        // SAFETY: the list has `count` elements, by this function's contract.
        let dependencies = unsafe { read_list(self.dependencies, self.count) }?;
        SIMULATOR.graphs().graph(self.graph)?;
        let op = op()?;
        let dependencies = dependencies.into_iter().map(node_id).collect();
        let node = SIMULATOR.graphs().add(self.graph, op, dependencies)?;
        self.out.set(handle(node.0));
        Ok(node)
    }
}

/// Generates the functions that add a node of one type, from the expression that creates the node's operation.
macro_rules! adders {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) $op:expr;)*) => {$(
        $(#[$doc])*
        pub fn $name(
            out: Out<CUgraphNode>,
            graph: GraphId,
            dependencies: Option<In<CUgraphNode>>,
            count: usize,
            $($argument: $type),*
        ) -> CallResult {
            let new_node = NewNode { out, graph, dependencies, count };
            // SAFETY: the C function requires that `dependencies` has `count` elements.
            unsafe { new_node.add(|| $op) }?;
            Ok(())
        }
    )*};
}

adders! {
    /// `cuGraphAddKernelNode`, before CUDA 12.
    add_kernel_v1(params: In<CUDA_KERNEL_NODE_PARAMS>) params_in::kernel_v1(params).map(StreamOp::Kernel);
    /// `cuGraphAddKernelNode`.
    add_kernel(params: In<KernelNodeParams>) params_in::kernel(params).map(StreamOp::Kernel);
    /// `cuGraphAddMemcpyNode`.
    add_memcpy(params: In<CUDA_MEMCPY3D>, _context: Option<ContextId>) params_in::memcpy(params);
    /// `cuGraphAddMemsetNode`.
    add_memset(params: In<CUDA_MEMSET_NODE_PARAMS>, _context: Option<ContextId>) params_in::memset_v1(params);
    /// `cuGraphAddHostNode`.
    add_host(params: In<CUDA_HOST_NODE_PARAMS>) params_in::host(params);
    /// `cuGraphAddBatchMemOpNode`.
    add_batch(params: In<BatchNodeParams>) params_in::batch(params);
    /// `cuGraphAddEmptyNode`.
    add_empty() Ok(StreamOp::Empty);
    /// `cuGraphAddChildGraphNode`.
    add_child(child: GraphId) params_in::child(child);
    /// `cuGraphAddEventRecordNode`.
    add_event_record(event: EventId) existing_event(event).map(StreamOp::RecordEvent);
    /// `cuGraphAddEventWaitNode`.
    add_event_wait(event: EventId) existing_event(event).map(StreamOp::WaitEvent);
    /// `cuGraphAddMemAllocNode`.
    add_alloc(params: InOut<CUDA_MEM_ALLOC_NODE_PARAMS>) params_in::allocation(params);
    /// `cuGraphAddMemFreeNode`.
    add_free(address: CUdeviceptr) params_in::free_op(address);
}

/// `cuGraphAddNode` before CUDA 13.
pub fn add_any(
    out: Out<CUgraphNode>,
    graph: GraphId,
    dependencies: Option<In<CUgraphNode>>,
    count: usize,
    params: InOut<NodeParams>,
) -> CallResult {
    let new_node = NewNode {
        out,
        graph,
        dependencies,
        count,
    };
    let pointer = params.as_ptr();
    // SAFETY: the C function requires that `dependencies` has `count` elements, and a valid, writable structure, whose
    // `kind` selects the field of the union.
    unsafe {
        check_reserved(pointer)?;
        if (*pointer).kind != CONDITIONAL {
            new_node.add(|| read_any(&params))?;
            return Ok(());
        }
        let conditional = &mut (*pointer).payload.conditional;
        let kind = match conditional.kind {
            0 => ConditionalKind::If,
            1 => ConditionalKind::While,
            2 => ConditionalKind::Switch,
            _ => return Err(CudaError::InvalidValue.into()),
        };
        let node = new_node.add(|| {
            let (handle, size) = (conditional.handle, conditional.size);
            SIMULATOR
                .graphs()
                .create_conditional(graph, handle, kind, size)
        })?;
        let mut graphs = SIMULATOR.graphs();
        let node = graphs.node_mut(node)?;
        let bodies = node.op.bodies().iter();
        node.listed = bodies
            .map(|body| Pointer(handle::<c_void>(body.id.0)))
            .collect();
        // `Pointer` is `repr(transparent)`, and a handle is a pointer.
        conditional.graphs = node.listed.as_mut_ptr().cast();
    }
    Ok(())
}

/// `cuGraphConditionalHandleCreate`.
pub fn create_conditional_handle(
    out: Out<c_ulonglong>,
    graph: GraphId,
    context: Option<ContextId>,
    value: c_uint,
    flags: c_uint,
) -> CallResult {
    /// `CU_GRAPH_COND_ASSIGN_DEFAULT`.
    const ASSIGN_DEFAULT: c_uint = 1;
    if flags & !ASSIGN_DEFAULT != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    let default = (flags & ASSIGN_DEFAULT != 0).then_some(value);
    let driver = SIMULATOR.lock_driver_settled()?;
    if !context.is_some_and(|context| driver.is_context(context)) {
        return Err(CudaError::InvalidContext.into());
    }
    let number = SIMULATOR.graphs().create_handle(graph, default)?;
    driver.graph_conditions.set(number, value);
    out.set(number);
    Ok(())
}

/// `cuGraphAddNode`, with edge data.
pub fn add_any_with_edges(
    out: Option<Out<CUgraphNode>>,
    graph: GraphId,
    dependencies: Option<In<CUgraphNode>>,
    edges: Option<In<EdgeData>>,
    count: usize,
    params: Option<InOut<NodeParams>>,
) -> CallResult {
    // SAFETY: `edges` has `count` elements, as `cuGraphAddNode` requires of its caller.
    unsafe { check_edges(edges, count) }?;
    add_any(
        required(out)?,
        graph,
        dependencies,
        count,
        required(params)?,
    )
}

/// Node types that the simulator does not support, by `CUgraphNodeType`.
const UNSUPPORTED: [(c_int, &str); 2] = [
    (8, "external semaphore signal nodes"),
    (9, "external semaphore wait nodes"),
];

/// The `CUgraphNodeType` of conditional nodes.
const CONDITIONAL: c_int = 13;

/// Returns [`CudaError::InvalidValue`] if a reserved field is not zero.
///
/// # Safety
/// `params` must be readable.
unsafe fn check_reserved(params: *const NodeParams) -> Result<(), CudaError> {
    // SAFETY: `params` is readable, by this function's contract.
    let (first, last) = unsafe { ((*params).reserved0, (*params).reserved2) };
    match first == [0; 3] && last == 0 {
        true => Ok(()),
        false => Err(CudaError::InvalidValue),
    }
}

/// Creates the operation of a node of any type but conditional nodes, which cannot be changed. For an allocation node,
/// writes its address to the structure.
pub fn read_any(params: &InOut<NodeParams>) -> Result<StreamOp, CudaError> {
    let params = params.as_ptr();
    // SAFETY: the C function requires a valid, writable structure, whose `kind` selects the field of the union.
    unsafe {
        let payload = &raw mut (*params).payload;
        match (*params).kind {
            0 => params_in::kernel(In::from_c(&raw const (*payload).kernel)?).map(StreamOp::Kernel),
            1 => params_in::memcpy_any(&raw const (*payload).memcpy),
            2 => params_in::memset(&(*payload).memset),
            3 => params_in::host(In::from_c(&raw const (*payload).host)?),
            4 => params_in::child(GraphId(number((*payload).graph))),
            5 => Ok(StreamOp::Empty),
            6 => existing_event(EventId(number((*payload).event))).map(StreamOp::WaitEvent),
            7 => existing_event(EventId(number((*payload).event))).map(StreamOp::RecordEvent),
            10 => params_in::allocation(InOut::from_c(&raw mut (*payload).alloc)?),
            11 => params_in::free_op((*payload).free),
            12 => params_in::batch(In::from_c(&raw const (*payload).batch)?),
            CONDITIONAL => Err(CudaError::NotSupported),
            other => Err(unsupported_node(other)),
        }
    }
}

/// Returns the error for a node type that the simulator does not support or that does not exist.
fn unsupported_node(kind: c_int) -> CudaError {
    match UNSUPPORTED.iter().find(|(number, _)| *number == kind) {
        Some((_, name)) => {
            warn(format_args!(
                "the simulator does not support {name} in graphs"
            ));
            CudaError::NotSupported
        }
        None => CudaError::InvalidValue,
    }
}

/// Returns the event, after a check that it exists.
pub fn existing_event(event: EventId) -> Result<EventId, CudaError> {
    if event == EventId(0) {
        return Err(CudaError::InvalidValue);
    }
    SIMULATOR.lock_driver_settled()?.event_context(event)?;
    Ok(event)
}
