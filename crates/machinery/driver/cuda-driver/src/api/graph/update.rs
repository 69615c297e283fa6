//! Updates of executable graphs: of one node, or of all nodes from another graph with the same topology.

use std::ffi::c_int;
use std::sync::Arc;

use cuda_sim::driver::{ContextId, CudaError, EventId};
use cust_raw::{
    CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS,
    CUgraphNode,
};

use super::nodes::existing_event;
use super::params::{read_changed, replace_op};
use super::params_in;
use crate::api::SIMULATOR;
use crate::arguments::{In, InOut, Out, handle};
use crate::simulator::{
    Difference, DifferenceKind, ExecId, GraphId, NodeId, StreamOp, call_host_functions,
    merge_graphs,
};
use crate::status::CallResult;
use crate::types::graph::{KernelNodeParams, NodeParams, UpdateResult};

/// Replaces the operation of an executable graph's node; the original graph does not change.
fn set(exec: ExecId, node: NodeId, op: StreamOp) -> CallResult {
    let driver = SIMULATOR.lock_driver()?;
    let mut graphs = SIMULATOR.graphs();
    let node = graphs.exec_node(exec, node)?;
    match (&mut node.op, op) {
        (StreamOp::Graph(old), StreamOp::Graph(new)) => {
            // The nodes keep their numbers, which the program holds as handles.
            let merged = merge_graphs(old, &new).map_err(|_| CudaError::InvalidValue)?;
            node.op = StreamOp::Graph(Arc::new(merged));
        }
        (old, new) if old.is_multi_row() || new.is_multi_row() => {
            return Err(CudaError::InvalidValue.into());
        }
        (_, new) => replace_op(&driver, node, new)?,
    }
    Ok(())
}

setters! {
    set(exec: ExecId, node: NodeId);
    /// `cuGraphExecKernelNodeSetParams`, before CUDA 12.
    set_kernel_v1(params: In<CUDA_KERNEL_NODE_PARAMS>) params_in::kernel_v1(params).map(StreamOp::Kernel);
    /// `cuGraphExecKernelNodeSetParams`.
    set_kernel(params: In<KernelNodeParams>) params_in::kernel(params).map(StreamOp::Kernel);
    /// `cuGraphExecMemcpyNodeSetParams`: only for copies of one row.
    set_memcpy(params: In<CUDA_MEMCPY3D>, _context: Option<ContextId>) params_in::memcpy(params);
    /// `cuGraphExecMemsetNodeSetParams`: only for fills of one row.
    set_memset(params: In<CUDA_MEMSET_NODE_PARAMS>, _context: Option<ContextId>) params_in::memset_v1(params);
    /// `cuGraphExecHostNodeSetParams`.
    set_host(params: In<CUDA_HOST_NODE_PARAMS>) params_in::host(params);
    /// `cuGraphExecChildGraphNodeSetParams`: the new graph must have the topology of the old one.
    set_child(graph: GraphId) params_in::child(graph);
    /// `cuGraphExecEventRecordNodeSetEvent`.
    set_recorded_event(event: EventId) existing_event(event).map(StreamOp::RecordEvent);
    /// `cuGraphExecEventWaitNodeSetEvent`.
    set_awaited_event(event: EventId) existing_event(event).map(StreamOp::WaitEvent);
    /// `cuGraphExecNodeSetParams`: for nodes of any type.
    set_any(params: InOut<NodeParams>) read_changed(&params);
}

/// `cuGraphExecUpdate` before CUDA 12.
pub fn update(
    exec: ExecId,
    graph: GraphId,
    error_node: Out<CUgraphNode>,
    result: Out<c_int>,
) -> CallResult {
    let (code, node, call_result) = apply(exec, graph);
    result.set(code);
    error_node.set(handle(node));
    call_result
}

/// `cuGraphExecUpdate`.
pub fn update_with_info(exec: ExecId, graph: GraphId, out: Out<UpdateResult>) -> CallResult {
    let (result, node, call_result) = apply(exec, graph);
    out.set(UpdateResult {
        result,
        error_node: handle(node),
        error_from_node: std::ptr::null_mut(),
    });
    call_result
}

/// Updates an executable graph to the operations of `graph`. Returns the `CUgraphExecUpdateResult` and the node that
/// the program receives, and the result of the call.
fn apply(exec: ExecId, graph: GraphId) -> (c_int, u64, CallResult) {
    let updated = SIMULATOR.graphs().update(exec, graph);
    let called = updated.and_then(|destructors| {
        call_host_functions(destructors).map_err(|_| Difference {
            kind: DifferenceKind::Error,
            node: None,
        })
    });
    match called {
        Ok(()) => (0, 0, Ok(())),
        Err(Difference { kind, node }) => {
            let error = match kind {
                DifferenceKind::Error => CudaError::InvalidValue,
                _ => CudaError::GraphExecUpdateFailure,
            };
            let node = node.map_or(0, |node| node.0);
            (kind as c_int, node, Err(error.into()))
        }
    }
}
