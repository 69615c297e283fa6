//! The topology of graphs: their nodes and edges.

use std::ffi::c_int;

use cuda_sim::driver::CudaError;
use cust_raw::{CUgraph, CUgraphNode};

use super::body::{Body, GraphId, NodeId};
use super::nodes::{graph_id, node_id};
use super::params_in::{list, node_type};
use super::store::graphs;
use crate::log::warn;
use crate::simulator::raw::{Out, handle};
use crate::status::CallResult;
use crate::types::graph::EdgeData;

/// `cuGraphNodeGetType`.
pub unsafe fn type_of_node(node: CUgraphNode, out: *mut c_int) -> CallResult {
    // SAFETY: `out` is null or writable, as `cuGraphNodeGetType` requires of its caller.
    let out = unsafe { Out::new(out) }?;
    out.set(node_type(&graphs().node(node_id(node))?.op));
    Ok(())
}

/// `cuGraphGetNodes`.
pub unsafe fn nodes(graph: CUgraph, out: *mut CUgraphNode, count: *mut usize) -> CallResult {
    let nodes = graphs()
        .graph(graph_id(graph))?
        .nodes
        .keys()
        .copied()
        .collect();
    // SAFETY: `count` is null or writable and `out` null or of that capacity, as `cuGraphGetNodes` requires.
    Ok(unsafe { write_nodes(nodes, out, count) }?)
}

/// `cuGraphGetRootNodes`: the nodes without dependencies.
pub unsafe fn roots(graph: CUgraph, out: *mut CUgraphNode, count: *mut usize) -> CallResult {
    let graphs = graphs();
    let nodes = graphs.graph(graph_id(graph))?.nodes.iter();
    let nodes = nodes.filter(|(_, node)| node.dependencies.is_empty());
    let nodes = nodes.map(|(id, _)| *id).collect();
    // SAFETY: `count` is null or writable and `out` null or of that capacity, as `cuGraphGetRootNodes`
    // requires.
    Ok(unsafe { write_nodes(nodes, out, count) }?)
}

/// `cuGraphNodeGetDependencies`: the nodes that `node` depends on.
pub unsafe fn dependencies(
    node: CUgraphNode,
    out: *mut CUgraphNode,
    count: *mut usize,
) -> CallResult {
    let nodes = graphs().node(node_id(node))?.dependencies.clone();
    // SAFETY: `count` is null or writable and `out` null or of that capacity, as `cuGraphNodeGetDependencies`
    // requires.
    Ok(unsafe { write_nodes(nodes, out, count) }?)
}

/// `cuGraphNodeGetDependentNodes`: the nodes that depend on `node`.
pub unsafe fn dependents(
    node: CUgraphNode,
    out: *mut CUgraphNode,
    count: *mut usize,
) -> CallResult {
    let graphs = graphs();
    let node = node_id(node);
    let nodes = graphs.graph(graphs.owner(node)?)?.nodes.iter();
    let nodes = nodes.filter(|(_, other)| other.dependencies.contains(&node));
    let nodes = nodes.map(|(id, _)| *id).collect();
    // SAFETY: `count` is null or writable and `out` null or of that capacity, as
    // `cuGraphNodeGetDependentNodes` requires.
    Ok(unsafe { write_nodes(nodes, out, count) }?)
}

/// `cuGraphGetEdges`: each edge from a node to a dependent node.
pub unsafe fn edges(
    graph: CUgraph,
    from: *mut CUgraphNode,
    to: *mut CUgraphNode,
    count: *mut usize,
) -> CallResult {
    let graphs = graphs();
    let edges = edges_of(graphs.graph(graph_id(graph))?);
    if from.is_null() != to.is_null() {
        return Err(CudaError::InvalidValue.into());
    }
    let capacity = read_capacity(count)?;
    let (sources, targets): (Vec<NodeId>, Vec<NodeId>) = edges.into_iter().unzip();
    // SAFETY: `from` and `to` are null or have `capacity` elements, as `cuGraphGetEdges` requires. `count` is
    // writable; it is restored, so that the second list gets the same capacity.
    unsafe {
        write_nodes(sources, from, count)?;
        count.write(capacity);
        Ok(write_nodes(targets, to, count)?)
    }
}

/// Returns all edges, sorted by source node.
pub fn edges_of(body: &Body) -> Vec<(NodeId, NodeId)> {
    let edges = |(&id, node): (&NodeId, &super::body::Node)| -> Vec<_> {
        node.dependencies
            .iter()
            .map(|&source| (source, id))
            .collect()
    };
    let mut all: Vec<_> = body.nodes.iter().flat_map(edges).collect();
    all.sort();
    all
}

/// Generates the functions that return edges with edge data, which is always all zero.
macro_rules! with_edge_data {
    ($($(#[$doc:meta])* $name:ident = $base_function:ident($($argument:ident: $type:ty),*);)*) => {$(
        $(#[$doc])*
        pub unsafe fn $name(
            $($argument: $type,)*
            data: *mut EdgeData,
            count: *mut usize,
        ) -> CallResult {
            let capacity = read_capacity(count)?;
            // SAFETY: `data` is null or has `capacity` elements; the other arguments are those of the
            // function without edge data, whose contract is the same.
            unsafe {
                $base_function($($argument,)* count)?;
                if !data.is_null() {
                    for i in 0..capacity {
                        data.add(i).write(EdgeData::default());
                    }
                }
            }
            Ok(())
        }
    )*};
}

with_edge_data! {
    /// `cuGraphGetEdges` with edge data.
    edges_with_data = edges(graph: CUgraph, from: *mut CUgraphNode, to:  *mut CUgraphNode);
    /// `cuGraphNodeGetDependencies` with edge data.
    dependencies_with_data = dependencies(node: CUgraphNode, out: *mut CUgraphNode);
    /// `cuGraphNodeGetDependentNodes` with edge data.
    dependents_with_data = dependents(node: CUgraphNode, out: *mut CUgraphNode);
}

/// `cuGraphAddDependencies`.
pub unsafe fn add_edges(
    graph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    count: usize,
) -> CallResult {
    // SAFETY: `from` and `to` have `count` elements, as `cuGraphAddDependencies` requires of its caller.
    let (graph, edges) = unsafe { (graph_id(graph), read_edges(graph, from, to, count)?) };
    let mut graphs = graphs();
    let existing = edges_of(graphs.graph(graph)?);
    for (i, edge) in edges.iter().enumerate() {
        if edge.0 == edge.1 || existing.contains(edge) || edges[..i].contains(edge) {
            return Err(CudaError::InvalidValue.into());
        }
    }
    for (source, node) in edges {
        graphs.node_mut(node)?.dependencies.push(source);
    }
    Ok(())
}

/// `cuGraphRemoveDependencies`.
pub unsafe fn remove_edges(
    graph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    count: usize,
) -> CallResult {
    // SAFETY: `from` and `to` have `count` elements, as `cuGraphRemoveDependencies` requires of its caller.
    let (graph, edges) = unsafe { (graph_id(graph), read_edges(graph, from, to, count)?) };
    let mut graphs = graphs();
    let body = graphs.graph(graph)?;
    if body.has_memory() {
        return Err(CudaError::NotSupported.into());
    }
    let existing = edges_of(body);
    if !edges.iter().all(|edge| existing.contains(edge)) {
        return Err(CudaError::InvalidValue.into());
    }
    for (source, node) in edges {
        graphs
            .node_mut(node)?
            .dependencies
            .retain(|other| *other != source);
    }
    Ok(())
}

/// Generates the functions that change edges with edge data from those without.
macro_rules! edge_changes_with_data {
    ($($(#[$doc:meta])* $name:ident = $base_function:ident;)*) => {$(
        $(#[$doc])*
        pub unsafe fn $name(
            graph: CUgraph,
            from: *const CUgraphNode,
            to: *const CUgraphNode,
            data: *const EdgeData,
            count: usize,
        ) -> CallResult {
            // SAFETY: `data` is null or has `count` elements; the other arguments are those of the function
            // without edge data, whose contract is the same.
            unsafe {
                check_edges(data, count)?;
                $base_function(graph, from, to, count)
            }
        }
    )*};
}

edge_changes_with_data! {
    /// `cuGraphAddDependencies` with edge data.
    add_edges_with_data = add_edges;
    /// `cuGraphRemoveDependencies` with edge data.
    remove_edges_with_data = remove_edges;
}

/// Rejects edge data other than the default, a full dependency: programmatic dependencies are not supported.
///
/// # Safety
/// `data` must be null or have `count` elements.
pub unsafe fn check_edges(data: *const EdgeData, count: usize) -> Result<(), CudaError> {
    if data.is_null() {
        return Ok(());
    }
    // SAFETY: `data` has `count` elements, by this function's contract.
    let data = unsafe { list(data, count) }?;
    if data.iter().any(|edge| *edge != EdgeData::default()) {
        warn(format_args!(
            "the simulator does not support programmatic dependencies in graphs"
        ));
        return Err(CudaError::NotSupported);
    }
    Ok(())
}

/// Reads a list of edges from C, and checks that their nodes belong to `graph`.
///
/// # Safety
/// `from` and `to` must be null or have `count` elements.
unsafe fn read_edges(
    graph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    count: usize,
) -> Result<Vec<(NodeId, NodeId)>, CudaError> {
    // SAFETY: both lists have `count` elements, by this function's contract.
    let (from, to) = unsafe { (list(from, count)?, list(to, count)?) };
    let pairs = from.into_iter().zip(to);
    let edges: Vec<_> = pairs
        .map(|(from, to)| (node_id(from), node_id(to)))
        .collect();
    let graphs = graphs();
    let graph: GraphId = graphs.graph(graph_id(graph))?.id;
    let in_graph = |node| graphs.owner(node) == Ok(graph);
    match edges
        .iter()
        .all(|(from, to)| in_graph(*from) && in_graph(*to))
    {
        true => Ok(edges),
        false => Err(CudaError::InvalidValue),
    }
}

/// Reads the capacity of the caller's array.
fn read_capacity(count: *const usize) -> Result<usize, CudaError> {
    // SAFETY: `count` is null or readable, as all C functions that reach this require of their callers.
    unsafe { super::params_in::read(count) }
}

/// Writes handles to the caller's array of `*count` elements and their number to `count`; fills unused
/// elements with null. If `out` is null, writes only the number of handles.
///
/// # Safety
/// `count` must be null or writable; `out` must be null or have `*count` elements.
unsafe fn write_nodes(
    nodes: Vec<NodeId>,
    out: *mut CUgraphNode,
    count: *mut usize,
) -> Result<(), CudaError> {
    let capacity = read_capacity(count)?;
    // SAFETY: `count` is not null, else reading it failed; `out` is null or has `capacity` elements, by this
    // function's contract.
    unsafe {
        if out.is_null() {
            count.write(nodes.len());
            return Ok(());
        }
        for i in 0..capacity {
            out.add(i)
                .write(handle(nodes.get(i).map_or(0, |node| node.0)));
        }
        count.write(nodes.len().min(capacity));
    }
    Ok(())
}
