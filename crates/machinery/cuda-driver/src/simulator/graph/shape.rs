//! Which nodes a graph has, and which of them wait for which.

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
    // SAFETY: the caller's promise.
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
    // SAFETY: the caller's promise.
    Ok(unsafe { give(found, to, count) }?)
}

/// `cuGraphGetRootNodes`: those that wait for no other.
pub unsafe fn roots(graph: CUgraph, to: *mut CUgraphNode, count: *mut usize) -> Answer {
    let graphs = graphs();
    let nodes = graphs.graph(graph_id(graph))?.nodes.iter();
    let found = nodes.filter(|(_, node)| node.after.is_empty());
    let found = found.map(|(id, _)| *id).collect();
    // SAFETY: the caller's promise.
    Ok(unsafe { give(found, to, count) }?)
}

/// `cuGraphNodeGetDependencies`: the nodes that this one waits for.
pub unsafe fn dependencies(node: CUgraphNode, to: *mut CUgraphNode, count: *mut usize) -> Answer {
    let found = graphs().node(node_id(node))?.after.clone();
    // SAFETY: the caller's promise.
    Ok(unsafe { give(found, to, count) }?)
}

/// `cuGraphNodeGetDependentNodes`: the nodes that wait for this one.
pub unsafe fn dependents(node: CUgraphNode, to: *mut CUgraphNode, count: *mut usize) -> Answer {
    let graphs = graphs();
    let node = node_id(node);
    let nodes = graphs.graph(graphs.owner(node)?)?.nodes.iter();
    let found = nodes.filter(|(_, other)| other.after.contains(&node));
    let found = found.map(|(id, _)| *id).collect();
    // SAFETY: the caller's promise.
    Ok(unsafe { give(found, to, count) }?)
}

/// `cuGraphGetEdges`: each node that is waited for, and the one that waits for it.
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
    // SAFETY: the caller's promise; the count is written twice, to say the same.
    unsafe {
        give(befores, from, count)?;
        count.write(room);
        Ok(give(afters, to, count)?)
    }
}

/// All edges, by the node that is waited for.
pub fn edges_of(body: &Body) -> Vec<(NodeId, NodeId)> {
    let edges = |(&id, node): (&NodeId, &super::body::Node)| -> Vec<_> {
        node.after.iter().map(|&before| (before, id)).collect()
    };
    let mut all: Vec<_> = body.nodes.iter().flat_map(edges).collect();
    all.sort();
    all
}

/// The functions that give edges with their data, which is always the usual: all zero.
macro_rules! with_data {
    ($($(#[$doc:meta])* $name:ident = $plain:ident($($argument:ident: $type:ty),*);)*) => {$(
        $(#[$doc])*
        pub unsafe fn $name(
            $($argument: $type,)*
            data: *mut EdgeData,
            count: *mut usize,
        ) -> Answer {
            let room = read_room(count)?;
            // SAFETY: the caller's promise.
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
    /// `cuGraphGetEdges` with data.
    edges_with_data = edges(graph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode);
    /// `cuGraphNodeGetDependencies` with data.
    dependencies_with_data = dependencies(node: CUgraphNode, to: *mut CUgraphNode);
    /// `cuGraphNodeGetDependentNodes` with data.
    dependents_with_data = dependents(node: CUgraphNode, to: *mut CUgraphNode);
}

/// `cuGraphAddDependencies`.
pub unsafe fn add_edges(
    graph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    count: usize,
) -> Answer {
    // SAFETY: the caller's promise.
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
    // SAFETY: the caller's promise.
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

/// Functions that change edges by a list with data, each after the one without.
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
            // SAFETY: the caller's promise.
            unsafe {
                check_edges(data, count)?;
                $plain(graph, from, to, count)
            }
        }
    )*};
}

changes_with_data! {
    /// `cuGraphAddDependencies` with data of the edges.
    add_edges_with_data = add_edges;
    /// `cuGraphRemoveDependencies` with data of the edges.
    remove_edges_with_data = remove_edges;
}

/// Refuses edges of another type than the usual: a kernel's end alone is waited for.
///
/// # Safety
/// `data` must be null or hold as many.
pub unsafe fn check_edges(data: *const EdgeData, count: usize) -> Result<(), CudaError> {
    if data.is_null() {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    let data = unsafe { list(data, count) }?;
    if data.iter().any(|edge| *edge != EdgeData::default()) {
        say(format_args!(
            "the simulator does not do programmatic dependencies in graphs"
        ));
        return Err(CudaError::NotSupported);
    }
    Ok(())
}

/// Edges as C gives them, all between nodes of one graph.
///
/// # Safety
/// The lists must be as long as is said.
unsafe fn pairs(
    graph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    count: usize,
) -> Result<Vec<(NodeId, NodeId)>, CudaError> {
    // SAFETY: the caller's promise.
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

/// How many handles the caller has room for.
fn read_room(count: *const usize) -> Result<usize, CudaError> {
    // SAFETY: the functions' callers promise a null pointer or a readable number.
    unsafe { super::reading::read(count) }
}

/// Writes handles where the caller has room for so many, and how many there were; what is left of the room
/// is filled with null. With a null pointer the number alone is asked for.
///
/// # Safety
/// `count` must be null or writable; `to` must be null or have room for as many as it says.
unsafe fn give(
    found: Vec<NodeId>,
    to: *mut CUgraphNode,
    count: *mut usize,
) -> Result<(), CudaError> {
    let room = read_room(count)?;
    // SAFETY: the caller's promise.
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
