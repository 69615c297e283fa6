//! The topology of graphs: their nodes and edges.

use std::ffi::c_int;

use cuda_sim::driver::CudaError;
use cust_raw::{CUgraph, CUgraphNode};

use super::body::{Body, GraphId, NodeId};
use super::nodes::{graph_id, node_id};
use super::reading::{kind, list};
use super::store::graphs;
use crate::report::say;
use crate::simulator::raw::{Out, handle};
use crate::status::Answer;
use crate::types::graph::EdgeData;

/// `cuGraphNodeGetType`.
pub unsafe fn node_type(node: CUgraphNode, to: *mut c_int) -> Answer {
    // SAFETY: `to` is null or writable, as `cuGraphNodeGetType` requires of its caller.
    let to = unsafe { Out::new(to) }?;
    to.set(kind(&graphs().node(node_id(node))?.work));
    Ok(())
}

/// `cuGraphGetNodes`.
pub unsafe fn nodes(graph: CUgraph, to: *mut CUgraphNode, count: *mut usize) -> Answer {
    let found = graphs()
        .graph(graph_id(graph))?
        .nodes
        .keys()
        .copied()
        .collect();
    // SAFETY: `count` is null or writable and `to` null or of that capacity, as `cuGraphGetNodes` requires.
    Ok(unsafe { give(found, to, count) }?)
}

/// `cuGraphGetRootNodes`: the nodes without dependencies.
pub unsafe fn roots(graph: CUgraph, to: *mut CUgraphNode, count: *mut usize) -> Answer {
    let graphs = graphs();
    let nodes = graphs.graph(graph_id(graph))?.nodes.iter();
    let found = nodes.filter(|(_, node)| node.after.is_empty());
    let found = found.map(|(id, _)| *id).collect();
    // SAFETY: `count` is null or writable and `to` null or of that capacity, as `cuGraphGetRootNodes` requires.
    Ok(unsafe { give(found, to, count) }?)
}

/// `cuGraphNodeGetDependencies`: the nodes that `node` depends on.
pub unsafe fn dependencies(node: CUgraphNode, to: *mut CUgraphNode, count: *mut usize) -> Answer {
    let found = graphs().node(node_id(node))?.after.clone();
    // SAFETY: `count` is null or writable and `to` null or of that capacity, as `cuGraphNodeGetDependencies`
    // requires.
    Ok(unsafe { give(found, to, count) }?)
}

/// `cuGraphNodeGetDependentNodes`: the nodes that depend on `node`.
pub unsafe fn dependents(node: CUgraphNode, to: *mut CUgraphNode, count: *mut usize) -> Answer {
    let graphs = graphs();
    let node = node_id(node);
    let nodes = graphs.graph(graphs.owner(node)?)?.nodes.iter();
    let found = nodes.filter(|(_, other)| other.after.contains(&node));
    let found = found.map(|(id, _)| *id).collect();
    // SAFETY: `count` is null or writable and `to` null or of that capacity, as
    // `cuGraphNodeGetDependentNodes` requires.
    Ok(unsafe { give(found, to, count) }?)
}

/// `cuGraphGetEdges`: each edge from a node to a dependent node.
pub unsafe fn edges(
    graph: CUgraph,
    from: *mut CUgraphNode,
    to: *mut CUgraphNode,
    count: *mut usize,
) -> Answer {
    let graphs = graphs();
    let edges = edges_of(graphs.graph(graph_id(graph))?);
    if from.is_null() != to.is_null() {
        return Err(CudaError::InvalidValue.into());
    }
    let room = read_room(count)?;
    let (befores, afters): (Vec<NodeId>, Vec<NodeId>) = edges.into_iter().unzip();
    // SAFETY: `from` and `to` are null or have `capacity` elements, as `cuGraphGetEdges` requires. `count` is
    // writable; it
    // is restored, so that the second list gets the same capacity.
    unsafe {
        give(befores, from, count)?;
        count.write(room);
        Ok(give(afters, to, count)?)
    }
}

/// Returns all edges, sorted by source node.
pub fn edges_of(body: &Body) -> Vec<(NodeId, NodeId)> {
    let edges = |(&id, node): (&NodeId, &super::body::Node)| -> Vec<_> {
        node.after.iter().map(|&before| (before, id)).collect()
    };
    let mut all: Vec<_> = body.nodes.iter().flat_map(edges).collect();
    all.sort();
    all
}

/// Generates the functions that return edges with edge data, which is always all zero.
macro_rules! with_data {
    ($($(#[$doc:meta])* $name:ident = $plain:ident($($argument:ident: $type:ty),*);)*) => {$(
        $(#[$doc])*
        pub unsafe fn $name(
            $($argument: $type,)*
            data: *mut EdgeData,
            count: *mut usize,
        ) -> Answer {
            let room = read_room(count)?;
            // SAFETY: `data` is null or has `capacity` elements; the other arguments are those of the
            // function without
            // edge data, whose contract is the same.
            unsafe {
                $plain($($argument,)* count)?;
                if !data.is_null() {
                    for at in 0..room {
                        data.add(at).write(EdgeData::default());
                    }
                }
            }
            Ok(())
        }
    )*};
}

with_data! {
    /// `cuGraphGetEdges` with edge data.
    edges_with_data = edges(graph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode);
    /// `cuGraphNodeGetDependencies` with edge data.
    dependencies_with_data = dependencies(node: CUgraphNode, to: *mut CUgraphNode);
    /// `cuGraphNodeGetDependentNodes` with edge data.
    dependents_with_data = dependents(node: CUgraphNode, to: *mut CUgraphNode);
}

/// `cuGraphAddDependencies`.
pub unsafe fn add_edges(
    graph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    count: usize,
) -> Answer {
    // SAFETY: `from` and `to` have `count` elements, as `cuGraphAddDependencies` requires of its caller.
    let (body, edges) = unsafe { (graph_id(graph), pairs(graph, from, to, count)?) };
    let mut graphs = graphs();
    let known = edges_of(graphs.graph(body)?);
    for (at, edge) in edges.iter().enumerate() {
        if edge.0 == edge.1 || known.contains(edge) || edges[..at].contains(edge) {
            return Err(CudaError::InvalidValue.into());
        }
    }
    for (before, node) in edges {
        graphs.node_mut(node)?.after.push(before);
    }
    Ok(())
}

/// `cuGraphRemoveDependencies`.
pub unsafe fn remove_edges(
    graph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    count: usize,
) -> Answer {
    // SAFETY: `from` and `to` have `count` elements, as `cuGraphRemoveDependencies` requires of its caller.
    let (body, edges) = unsafe { (graph_id(graph), pairs(graph, from, to, count)?) };
    let mut graphs = graphs();
    let found = graphs.graph(body)?;
    if found.has_memory() {
        return Err(CudaError::NotSupported.into());
    }
    let known = edges_of(found);
    if !edges.iter().all(|edge| known.contains(edge)) {
        return Err(CudaError::InvalidValue.into());
    }
    for (before, node) in edges {
        graphs
            .node_mut(node)?
            .after
            .retain(|other| *other != before);
    }
    Ok(())
}

/// Generates the functions that change edges with edge data from those without.
macro_rules! changes_with_data {
    ($($(#[$doc:meta])* $name:ident = $plain:ident;)*) => {$(
        $(#[$doc])*
        pub unsafe fn $name(
            graph: CUgraph,
            from: *const CUgraphNode,
            to: *const CUgraphNode,
            data: *const EdgeData,
            count: usize,
        ) -> Answer {
            // SAFETY: `data` is null or has `count` elements; the other arguments are those of the function
            // without edge
            // data, whose contract is the same.
            unsafe {
                check_edges(data, count)?;
                $plain(graph, from, to, count)
            }
        }
    )*};
}

changes_with_data! {
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
        say(format_args!(
            "the simulator does not do programmatic dependencies in graphs"
        ));
        return Err(CudaError::NotSupported);
    }
    Ok(())
}

/// Reads a list of edges from C, and checks that their nodes belong to `graph`.
///
/// # Safety
/// `from` and `to` must be null or have `count` elements.
unsafe fn pairs(
    graph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    count: usize,
) -> Result<Vec<(NodeId, NodeId)>, CudaError> {
    // SAFETY: both lists have `count` elements, by this function's contract.
    let (from, to) = unsafe { (list(from, count)?, list(to, count)?) };
    let pairs = from.into_iter().zip(to);
    let pairs: Vec<_> = pairs
        .map(|(from, to)| (node_id(from), node_id(to)))
        .collect();
    let graphs = graphs();
    let graph: GraphId = graphs.graph(graph_id(graph))?.id;
    let inside = |node| graphs.owner(node) == Ok(graph);
    match pairs.iter().all(|(from, to)| inside(*from) && inside(*to)) {
        true => Ok(pairs),
        false => Err(CudaError::InvalidValue),
    }
}

/// Reads the capacity of the caller's array.
fn read_room(count: *const usize) -> Result<usize, CudaError> {
    // SAFETY: `count` is null or readable, as all C functions that reach this require of their callers.
    unsafe { super::reading::read(count) }
}

/// Writes handles to the caller's array of `*count` elements and their number to `count`; fills unused
/// elements with null.
/// If `to` is null, writes only the number of handles.
///
/// # Safety
/// `count` must be null or writable; `to` must be null or have `*count` elements.
unsafe fn give(
    found: Vec<NodeId>,
    to: *mut CUgraphNode,
    count: *mut usize,
) -> Result<(), CudaError> {
    let room = read_room(count)?;
    // SAFETY: `count` is not null, else reading it failed; `to` is null or has `capacity` elements, by this
    // function's
    // contract.
    unsafe {
        if to.is_null() {
            count.write(found.len());
            return Ok(());
        }
        for at in 0..room {
            to.add(at)
                .write(handle(found.get(at).map_or(0, |node| node.0)));
        }
        count.write(found.len().min(room));
    }
    Ok(())
}
