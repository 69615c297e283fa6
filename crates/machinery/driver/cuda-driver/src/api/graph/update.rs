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
use crate::simulator::graphs::{Difference, DifferenceKind, ExecId, merge};
use crate::simulator::operation::{GraphId, NodeId, StreamOp};
use crate::simulator::thread::call_host_functions;
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
            let merged = merge(old, &new).map_err(|_| CudaError::InvalidValue)?;
            node.op = StreamOp::Graph(Arc::new(merged));
        }
        (old, new) if old.is_multi_row() || new.is_multi_row() => {
            return Err(CudaError::InvalidValue.into());
        }
        (_, new) => replace_op(&driver, node, new)?,
    }
    Ok(())
}

/// `cuGraphExecKernelNodeSetParams`, before CUDA 12.
pub fn set_kernel_v1(
    exec: ExecId,
    node: NodeId,
    params: In<CUDA_KERNEL_NODE_PARAMS>,
) -> CallResult {
    set(exec, node, StreamOp::Kernel(params_in::kernel_v1(params)?))
}

/// `cuGraphExecKernelNodeSetParams`.
pub fn set_kernel(exec: ExecId, node: NodeId, params: In<KernelNodeParams>) -> CallResult {
    set(exec, node, StreamOp::Kernel(params_in::kernel(params)?))
}

/// `cuGraphExecMemcpyNodeSetParams`: only for copies of one row.
pub fn set_memcpy(
    exec: ExecId,
    node: NodeId,
    params: In<CUDA_MEMCPY3D>,
    _context: Option<ContextId>,
) -> CallResult {
    set(exec, node, params_in::memcpy(params)?)
}

/// `cuGraphExecMemsetNodeSetParams`: only for fills of one row.
pub fn set_memset(
    exec: ExecId,
    node: NodeId,
    params: In<CUDA_MEMSET_NODE_PARAMS>,
    _context: Option<ContextId>,
) -> CallResult {
    set(exec, node, params_in::memset_v1(params)?)
}

/// `cuGraphExecHostNodeSetParams`.
pub fn set_host(exec: ExecId, node: NodeId, params: In<CUDA_HOST_NODE_PARAMS>) -> CallResult {
    set(exec, node, params_in::host(params)?)
}

/// `cuGraphExecChildGraphNodeSetParams`: the new graph must have the topology of the old one.
pub fn set_child(exec: ExecId, node: NodeId, graph: GraphId) -> CallResult {
    set(exec, node, params_in::child(graph)?)
}

/// `cuGraphExecEventRecordNodeSetEvent`.
pub fn set_recorded_event(exec: ExecId, node: NodeId, event: EventId) -> CallResult {
    set(exec, node, StreamOp::RecordEvent(existing_event(event)?))
}

/// `cuGraphExecEventWaitNodeSetEvent`.
pub fn set_awaited_event(exec: ExecId, node: NodeId, event: EventId) -> CallResult {
    set(exec, node, StreamOp::WaitEvent(existing_event(event)?))
}

/// `cuGraphExecNodeSetParams`: for nodes of any type.
pub fn set_any(exec: ExecId, node: NodeId, params: InOut<NodeParams>) -> CallResult {
    set(exec, node, read_changed(&params)?)
}

/// `cuGraphExecUpdate` before CUDA 12.
pub fn update(
    exec: ExecId,
    graph: GraphId,
    error_node: Out<CUgraphNode>,
    result: Out<c_int>,
) -> CallResult {
    let outcome = apply(exec, graph);
    let (code, node) = result_and_node(&outcome);
    result.set(code);
    error_node.set(handle(node));
    to_call_result(outcome)
}

/// `cuGraphExecUpdate`.
pub fn update_with_info(exec: ExecId, graph: GraphId, out: Out<UpdateResult>) -> CallResult {
    let outcome = apply(exec, graph);
    let (result, node) = result_and_node(&outcome);
    out.set(UpdateResult {
        result,
        error_node: handle(node),
        error_from_node: std::ptr::null_mut(),
    });
    to_call_result(outcome)
}

/// Returns the `CUgraphExecUpdateResult` and the node that the program receives.
fn result_and_node(outcome: &Result<(), Difference>) -> (c_int, u64) {
    match outcome {
        Ok(()) => (0, 0),
        Err(difference) => (
            difference.kind as c_int,
            difference.node.map_or(0, |node| node.0),
        ),
    }
}

fn to_call_result(outcome: Result<(), Difference>) -> CallResult {
    outcome.map_err(|difference| match difference.kind {
        DifferenceKind::Error => CudaError::InvalidValue.into(),
        _ => CudaError::GraphExecUpdateFailure.into(),
    })
}

/// Updates an executable graph to the operations of `graph`.
fn apply(exec: ExecId, graph: GraphId) -> Result<(), Difference> {
    let destructors = SIMULATOR.graphs().update(exec, graph)?;
    call_host_functions(destructors).map_err(|_| Difference {
        kind: DifferenceKind::Error,
        node: None,
    })
}
