//! Updates of executable graphs: of one node, or of all nodes from another graph with the same topology.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::Arc;

use cuda_sim::driver::CudaError;
use cust_raw::{
    CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS,
    CUcontext, CUevent, CUgraph, CUgraphExec, CUgraphNode,
};

use super::body::{Body, Node, NodeId};
use super::exec::exec_id;
use super::nodes::{graph_id, known_event, node_id};
use super::objects;
use super::params::{changed, replace};
use super::reading::{self, has_rows, kind};
use super::store::graphs;
use crate::simulator::raw::{Out, handle};
use crate::simulator::work::Work;
use crate::status::Answer;
use crate::types::graph::{KernelNodeParams, NodeParams, UpdateResult};

/// Replaces the operation of an executable graph's node; the original graph does not change.
fn set(exec: CUgraphExec, node: CUgraphNode, work: Work) -> Answer {
    let mut graphs = graphs();
    let node = graphs.exec_node(exec_id(exec), node_id(node))?;
    match (&mut node.work, work) {
        (Work::Graph(old), Work::Graph(new)) => {
            // The nodes keep their numbers, which the program holds as handles.
            let changed = merged(old, &new).map_err(|_| CudaError::InvalidValue)?;
            node.work = Work::Graph(Arc::new(changed));
        }
        (old, new) if has_rows(old) || has_rows(&new) => {
            return Err(CudaError::InvalidValue.into());
        }
        (_, new) => replace(node, new)?,
    }
    Ok(())
}

/// `cuGraphExecKernelNodeSetParams`, before CUDA 12.
pub unsafe fn set_old_kernel(
    exec: CUgraphExec,
    node: CUgraphNode,
    how: *const CUDA_KERNEL_NODE_PARAMS,
) -> Answer {
    // SAFETY: `how` is null or a valid structure, as `cuGraphExecKernelNodeSetParams` requires of its caller.
    let kernel = unsafe { reading::old_kernel(how) }?;
    set(exec, node, Work::Kernel(kernel))
}

/// `cuGraphExecKernelNodeSetParams`.
pub unsafe fn set_kernel(
    exec: CUgraphExec,
    node: CUgraphNode,
    how: *const KernelNodeParams,
) -> Answer {
    // SAFETY: `how` is null or a valid structure, as `cuGraphExecKernelNodeSetParams` requires of its caller.
    let kernel = unsafe { reading::kernel(how) }?;
    set(exec, node, Work::Kernel(kernel))
}

/// `cuGraphExecMemcpyNodeSetParams`: only for copies of one row.
pub unsafe fn set_memcpy(
    exec: CUgraphExec,
    node: CUgraphNode,
    how: *const CUDA_MEMCPY3D,
    _context: CUcontext,
) -> Answer {
    // SAFETY: `how` is null or a valid structure, as `cuGraphExecMemcpyNodeSetParams` requires of its caller.
    set(exec, node, unsafe { reading::copy(how) }?)
}

/// `cuGraphExecMemsetNodeSetParams`: only for fills of one row.
pub unsafe fn set_memset(
    exec: CUgraphExec,
    node: CUgraphNode,
    how: *const CUDA_MEMSET_NODE_PARAMS,
    _context: CUcontext,
) -> Answer {
    // SAFETY: `how` is null or a valid structure, as `cuGraphExecMemsetNodeSetParams` requires of its caller.
    set(exec, node, unsafe { reading::old_fill(how) }?)
}

/// `cuGraphExecHostNodeSetParams`.
pub unsafe fn set_host(
    exec: CUgraphExec,
    node: CUgraphNode,
    how: *const CUDA_HOST_NODE_PARAMS,
) -> Answer {
    // SAFETY: `how` is null or a valid structure, as `cuGraphExecHostNodeSetParams` requires of its caller.
    set(exec, node, unsafe { reading::host(how) }?)
}

/// `cuGraphExecChildGraphNodeSetParams`: the new graph must have the topology of the old one.
pub unsafe fn set_child(exec: CUgraphExec, node: CUgraphNode, graph: CUgraph) -> Answer {
    set(exec, node, reading::child(graph)?)
}

/// `cuGraphExecEventRecordNodeSetEvent`.
pub unsafe fn set_recorded(exec: CUgraphExec, node: CUgraphNode, event: CUevent) -> Answer {
    set(exec, node, Work::RecordEvent(known_event(event)?))
}

/// `cuGraphExecEventWaitNodeSetEvent`.
pub unsafe fn set_waited(exec: CUgraphExec, node: CUgraphNode, event: CUevent) -> Answer {
    set(exec, node, Work::WaitEvent(known_event(event)?))
}

/// `cuGraphExecNodeSetParams`: for nodes of any type.
pub unsafe fn set_any(exec: CUgraphExec, node: CUgraphNode, how: *mut NodeParams) -> Answer {
    // SAFETY: `how` is null or a valid structure, as `cuGraphExecNodeSetParams` requires of its caller.
    set(exec, node, unsafe { changed(how) }?)
}

/// The reason why an executable graph cannot be updated: a `CUgraphExecUpdateResult`, and the node of the new
/// graph that
/// differs.
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
pub unsafe fn update(
    exec: CUgraphExec,
    graph: CUgraph,
    error_node: *mut CUgraphNode,
    result: *mut c_int,
) -> Answer {
    // SAFETY: `error_node` and `result` are null or writable, as `cuGraphExecUpdate` requires of its caller.
    let (error_node, result) = unsafe { (Out::new(error_node)?, Out::new(result)?) };
    let answer = apply(exec, graph);
    let (code, node) = told(&answer);
    result.set(code);
    error_node.set(handle(node));
    judged(answer)
}

/// `cuGraphExecUpdate`.
pub unsafe fn update_with_info(exec: CUgraphExec, graph: CUgraph, to: *mut UpdateResult) -> Answer {
    // SAFETY: `to` is null or writable, as `cuGraphExecUpdate` requires of its caller.
    let to = unsafe { Out::new(to) }?;
    let answer = apply(exec, graph);
    let (result, node) = told(&answer);
    to.set(UpdateResult {
        result,
        error_node: handle(node),
        error_from_node: std::ptr::null_mut(),
    });
    judged(answer)
}

/// Returns the result code and the node that the program receives.
fn told(answer: &Result<(), Difference>) -> (c_int, u64) {
    match answer {
        Ok(()) => (SUCCESS, 0),
        Err(found) => (found.result, found.node.map_or(0, |node| node.0)),
    }
}

fn judged(answer: Result<(), Difference>) -> Answer {
    answer.map_err(|found| match found.result {
        ERROR => CudaError::InvalidValue.into(),
        _ => CudaError::GraphExecUpdateFailure.into(),
    })
}

/// Updates an executable graph to the operations of `graph`.
fn apply(exec: CUgraphExec, graph: CUgraph) -> Result<(), Difference> {
    let unknown = |_| Difference {
        result: ERROR,
        node: None,
    };
    let mut graphs = graphs();
    let new = graphs.graph(graph_id(graph)).map_err(unknown)?.clone();
    let old = graphs.exec(exec_id(exec)).map_err(unknown)?.body.clone();
    let changed = merged(&old, &new)?;
    // Release the old graph's objects only after the new one's are retained.
    graphs.hold_all(&changed);
    let calls = graphs.let_go_all(&old);
    if let Some(exec) = graphs.execs.get_mut(&exec_id(exec)) {
        exec.body = Arc::new(changed);
    }
    drop(graphs);
    objects::call(calls).map_err(unknown)
}

/// Returns `old`, with its node numbers, and the operations of `new`. Nodes are paired in the order in which
/// they were
/// added.
fn merged(old: &Body, new: &Body) -> Result<Body, Difference> {
    let topology = |node| Difference {
        result: TOPOLOGY_CHANGED,
        node,
    };
    if old.nodes.len() != new.nodes.len() {
        return Err(topology(None));
    }
    let numbers: BTreeMap<NodeId, NodeId> = new
        .nodes
        .keys()
        .copied()
        .zip(old.nodes.keys().copied())
        .collect();
    let mut result = old.clone();
    result.objects.clone_from(&new.objects);
    for (id, node) in &new.nodes {
        let pair = &old.nodes[&numbers[id]];
        let mut after: Vec<_> = node.after.iter().map(|before| numbers[before]).collect();
        let mut before = pair.after.clone();
        after.sort();
        before.sort();
        if after != before {
            return Err(topology(Some(*id)));
        }
        let work = paired(pair, node).map_err(|mut found| {
            // For a difference in a child graph, report the parent node.
            found.node.get_or_insert(*id);
            found
        })?;
        let changed = Node {
            work,
            pointers: Vec::new(),
            ..pair.clone()
        };
        result.nodes.insert(numbers[id], changed);
    }
    Ok(result)
}

/// Returns the operation that a node of an executable graph gets from its pair.
fn paired(old: &Node, new: &Node) -> Result<Work, Difference> {
    let found = |result| Difference { result, node: None };
    if kind(&old.work) != kind(&new.work) {
        return Err(found(TYPE_CHANGED));
    }
    match (&old.work, &new.work) {
        (Work::Graph(old), Work::Graph(new)) => Ok(Work::Graph(Arc::new(merged(old, new)?))),
        (Work::Kernel(old), Work::Kernel(new)) if old.cooperative != new.cooperative => {
            Err(found(ATTRIBUTES_CHANGED))
        }
        (Work::Allocate(old), Work::Allocate(new)) if old != new => Err(found(NOT_SUPPORTED)),
        (Work::Free(old), Work::Free(new)) if old != new => Err(found(NOT_SUPPORTED)),
        (Work::Memcpy(from), Work::Memcpy(to))
            if from != to && (has_rows(&old.work) || has_rows(&new.work)) =>
        {
            Err(found(PARAMETERS_CHANGED))
        }
        (Work::Memset(from), Work::Memset(to))
            if from != to && (has_rows(&old.work) || has_rows(&new.work)) =>
        {
            Err(found(PARAMETERS_CHANGED))
        }
        (_, work) => Ok(work.clone()),
    }
}
