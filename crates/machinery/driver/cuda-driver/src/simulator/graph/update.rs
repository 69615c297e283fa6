//! Updates of executable graphs: of one node, or of all nodes from another graph with the same topology.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::Arc;

use cuda_sim::driver::{ContextId, CudaError, EventId};
use cust_raw::{
    CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS,
    CUgraphNode,
};

use super::nodes::existing_event;
use super::params::{read_changed, replace_op};
use super::params_in::{self, is_multi_row, node_type};
use super::store::{ExecId, graphs};
use super::{Body, GraphId, Node, NodeId, objects};
use crate::simulator::arguments::{In, InOut, Out, handle};
use crate::simulator::lock_driver;
use crate::simulator::stream_op::StreamOp;
use crate::status::CallResult;
use crate::types::graph::{KernelNodeParams, NodeParams, UpdateResult};

/// Replaces the operation of an executable graph's node; the original graph does not change.
fn set(exec: ExecId, node: NodeId, op: StreamOp) -> CallResult {
    let driver = lock_driver()?;
    let mut graphs = graphs();
    let node = graphs.exec_node(exec, node)?;
    match (&mut node.op, op) {
        (StreamOp::Graph(old), StreamOp::Graph(new)) => {
            // The nodes keep their numbers, which the program holds as handles.
            let merged = merge(old, &new).map_err(|_| CudaError::InvalidValue)?;
            node.op = StreamOp::Graph(Arc::new(merged));
        }
        (old, new) if is_multi_row(old) || is_multi_row(&new) => {
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

/// The reason why an executable graph cannot be updated: a `CUgraphExecUpdateResult`, and the node of the new
/// graph that differs.
struct Difference {
    result: c_int,
    node: Option<NodeId>,
}

/// Values of `CUgraphExecUpdateResult`.
const SUCCESS: c_int = 0;
const ERROR: c_int = 1;
const TOPOLOGY_CHANGED: c_int = 2;
const TYPE_CHANGED: c_int = 3;
const PARAMETERS_CHANGED: c_int = 5;
const NOT_SUPPORTED: c_int = 6;
const ATTRIBUTES_CHANGED: c_int = 8;

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

/// Returns the result code and the node that the program receives.
fn result_and_node(outcome: &Result<(), Difference>) -> (c_int, u64) {
    match outcome {
        Ok(()) => (SUCCESS, 0),
        Err(difference) => (difference.result, difference.node.map_or(0, |node| node.0)),
    }
}

fn to_call_result(outcome: Result<(), Difference>) -> CallResult {
    outcome.map_err(|difference| match difference.result {
        ERROR => CudaError::InvalidValue.into(),
        _ => CudaError::GraphExecUpdateFailure.into(),
    })
}

/// Updates an executable graph to the operations of `graph`.
fn apply(exec: ExecId, graph: GraphId) -> Result<(), Difference> {
    let error = |_| Difference {
        result: ERROR,
        node: None,
    };
    let mut graphs = graphs();
    let new = graphs.graph(graph).map_err(error)?.clone();
    let old = graphs.exec(exec).map_err(error)?.body.clone();
    let merged = merge(&old, &new)?;
    // Release the old graph's objects only after the new one's are retained.
    graphs.retain_objects(&merged);
    let destructors = graphs.release_objects(&old);
    if let Some(exec) = graphs.execs.get_mut(&exec) {
        exec.body = Arc::new(merged);
    }
    drop(graphs);
    objects::call_destructors(destructors).map_err(error)
}

/// Returns `old`, with its node numbers, and the operations of `new`. Nodes are paired in the order in which
/// they were added.
fn merge(old: &Body, new: &Body) -> Result<Body, Difference> {
    let topology_changed = |node| Difference {
        result: TOPOLOGY_CHANGED,
        node,
    };
    if old.nodes.len() != new.nodes.len() {
        return Err(topology_changed(None));
    }
    let old_ids: BTreeMap<NodeId, NodeId> = new
        .nodes
        .keys()
        .copied()
        .zip(old.nodes.keys().copied())
        .collect();
    let mut result = old.clone();
    result.objects.clone_from(&new.objects);
    for (id, node) in &new.nodes {
        let old_node = &old.nodes[&old_ids[id]];
        let mut dependencies: Vec<_> = node
            .dependencies
            .iter()
            .map(|dependency| old_ids[dependency])
            .collect();
        let mut old_dependencies = old_node.dependencies.clone();
        dependencies.sort();
        old_dependencies.sort();
        if dependencies != old_dependencies {
            return Err(topology_changed(Some(*id)));
        }
        let op = merge_node(old_node, node).map_err(|mut difference| {
            // For a difference in a child graph, report the parent node.
            difference.node.get_or_insert(*id);
            difference
        })?;
        let read_changed = Node {
            op,
            argument_pointers: Vec::new(),
            ..old_node.clone()
        };
        result.nodes.insert(old_ids[id], read_changed);
    }
    Ok(result)
}

/// Returns the operation that a node of an executable graph gets from its pair.
fn merge_node(old: &Node, new: &Node) -> Result<StreamOp, Difference> {
    let difference = |result| Difference { result, node: None };
    if node_type(&old.op) != node_type(&new.op) {
        return Err(difference(TYPE_CHANGED));
    }
    match (&old.op, &new.op) {
        (StreamOp::Graph(old), StreamOp::Graph(new)) => {
            Ok(StreamOp::Graph(Arc::new(merge(old, new)?)))
        }
        (StreamOp::Kernel(old), StreamOp::Kernel(new))
            if old.launch.spec().cooperative != new.launch.spec().cooperative =>
        {
            Err(difference(ATTRIBUTES_CHANGED))
        }
        (StreamOp::Allocate(old), StreamOp::Allocate(new)) if old != new => {
            Err(difference(NOT_SUPPORTED))
        }
        (StreamOp::Free(old), StreamOp::Free(new)) if old != new => Err(difference(NOT_SUPPORTED)),
        (StreamOp::Memcpy(old_copy), StreamOp::Memcpy(new_copy))
            if old_copy != new_copy && (is_multi_row(&old.op) || is_multi_row(&new.op)) =>
        {
            Err(difference(PARAMETERS_CHANGED))
        }
        (StreamOp::Memset(old_fill), StreamOp::Memset(new_fill))
            if old_fill != new_fill && (is_multi_row(&old.op) || is_multi_row(&new.op)) =>
        {
            Err(difference(PARAMETERS_CHANGED))
        }
        (_, op) => Ok(op.clone()),
    }
}
