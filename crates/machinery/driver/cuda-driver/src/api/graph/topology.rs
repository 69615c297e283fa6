//! The topology of graphs: their nodes and edges, and their export in the DOT language of Graphviz.

use std::ffi::{c_int, c_uint};
use std::fmt::Write as _;

use cuda_sim::driver::{CudaError, Driver};

use super::{check_edges, node_id};
use crate::api::SIMULATOR;
use crate::arguments::{In, InOut, Out, handle, read_list};
use crate::names;
use crate::simulator::{Body, ConditionalKind, GraphId, Node, NodeId, StreamOp};
use crate::status::CallResult;
use crate::types::CUgraphNode;
use crate::types::graph::EdgeData;

/// `cuGraphNodeGetType`.
pub fn type_of_node(node: NodeId, out: Out<c_int>) -> CallResult {
    out.set(node_type(&SIMULATOR.graphs().node(node)?.op));
    Ok(())
}

/// Returns the `CUgraphNodeType` of a node with this operation.
pub fn node_type(op: &StreamOp) -> c_int {
    match op {
        // NVIDIA's libraries launch kernels.
        StreamOp::Kernel(_) | StreamOp::Library(_) => 0,
        StreamOp::Memcpy(_) => 1,
        StreamOp::Memset(_) => 2,
        StreamOp::Host(_) => 3,
        StreamOp::Graph(_) => 4,
        StreamOp::Empty => 5,
        StreamOp::WaitEvent(_) | StreamOp::WaitInContext(_) => 6,
        StreamOp::RecordEvent(_) | StreamOp::RecordInContext(_) => 7,
        StreamOp::Allocate(_) => 10,
        StreamOp::Free(_) => 11,
        StreamOp::Memory(_) => 12,
        StreamOp::Conditional(_) => 13,
    }
}

/// Generates the functions that return nodes, from the expression that lists them.
macro_rules! node_lists {
    ($($(#[$doc:meta])* $name:ident($argument:ident: $type:ty, $graphs:ident) $nodes:expr;)*) => {$(
        $(#[$doc])*
        pub fn $name(
            $argument: $type,
            out: Option<Out<CUgraphNode>>,
            count: InOut<usize>,
        ) -> CallResult {
            let $graphs = SIMULATOR.graphs();
            // SAFETY: the C function requires that `out` has `count` elements.
            unsafe { write_nodes($nodes, out, count) };
            Ok(())
        }
    )*};
}

node_lists! {
    /// `cuGraphGetNodes`.
    nodes(graph: GraphId, graphs) graphs.graph(graph)?.nodes_where(|_| true);
    /// `cuGraphGetRootNodes`: the nodes without dependencies.
    roots(graph: GraphId, graphs) graphs.graph(graph)?.nodes_where(|node| node.dependencies.is_empty());
    /// `cuGraphNodeGetDependencies`: the nodes that `node` depends on.
    dependencies(node: NodeId, graphs) graphs.node(node)?.dependencies.clone();
    /// `cuGraphNodeGetDependentNodes`: the nodes that depend on `node`.
    dependents(node: NodeId, graphs) {
        graphs.graph(graphs.owner(node)?)?.nodes_where(|other| other.dependencies.contains(&node))
    };
}

/// `cuGraphGetEdges`: each edge from a node to a dependent node.
pub fn edges(
    graph: GraphId,
    from: Option<Out<CUgraphNode>>,
    to: Option<Out<CUgraphNode>>,
    count: InOut<usize>,
) -> CallResult {
    let graphs = SIMULATOR.graphs();
    let edges = graphs.graph(graph)?.edges();
    if from.is_none() != to.is_none() {
        return Err(CudaError::InvalidValue.into());
    }
    let capacity = count.read();
    let (sources, targets): (Vec<NodeId>, Vec<NodeId>) = edges.into_iter().unzip();
    // SAFETY: `from` and `to` have `capacity` elements, as `cuGraphGetEdges` requires. `count` is restored, so
    // that the second list gets the same capacity.
    unsafe {
        write_nodes(sources, from, count);
        count.set(capacity);
        write_nodes(targets, to, count);
    }
    Ok(())
}

/// Generates the functions that return edges with edge data, which is always all zero.
macro_rules! with_edge_data {
    ($($(#[$doc:meta])* $name:ident = $base_function:ident($($argument:ident: $type:ty),*);)*) => {$(
        $(#[$doc])*
        pub fn $name(
            $($argument: $type,)*
            data: Option<Out<EdgeData>>,
            count: InOut<usize>,
        ) -> CallResult {
            let capacity = count.read();
            $base_function($($argument,)* count)?;
            if let Some(data) = data {
                // SAFETY: the C function requires that `data` has `capacity` elements.
                unsafe { data.set_all((0..capacity).map(|_| EdgeData::default())) };
            }
            Ok(())
        }
    )*};
}

with_edge_data! {
    /// `cuGraphGetEdges` with edge data.
    edges_with_data = edges(graph: GraphId, from: Option<Out<CUgraphNode>>, to: Option<Out<CUgraphNode>>);
    /// `cuGraphNodeGetDependencies` with edge data.
    dependencies_with_data = dependencies(node: NodeId, out: Option<Out<CUgraphNode>>);
    /// `cuGraphNodeGetDependentNodes` with edge data.
    dependents_with_data = dependents(node: NodeId, out: Option<Out<CUgraphNode>>);
}

/// `cuGraphAddDependencies`.
pub fn add_edges(
    graph: GraphId,
    from: Option<In<CUgraphNode>>,
    to: Option<In<CUgraphNode>>,
    count: usize,
) -> CallResult {
    // SAFETY: `from` and `to` have `count` elements, as `cuGraphAddDependencies` requires of its caller.
    let edges = unsafe { read_edges(from, to, count) }?;
    Ok(SIMULATOR.graphs().add_edges(graph, &edges)?)
}

/// `cuGraphRemoveDependencies`.
pub fn remove_edges(
    graph: GraphId,
    from: Option<In<CUgraphNode>>,
    to: Option<In<CUgraphNode>>,
    count: usize,
) -> CallResult {
    // SAFETY: `from` and `to` have `count` elements, as `cuGraphRemoveDependencies` requires of its caller.
    let edges = unsafe { read_edges(from, to, count) }?;
    Ok(SIMULATOR.graphs().remove_edges(graph, &edges)?)
}

/// Generates the functions that change edges with edge data from those without.
macro_rules! edge_changes_with_data {
    ($($(#[$doc:meta])* $name:ident = $base_function:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(
            graph: GraphId,
            from: Option<In<CUgraphNode>>,
            to: Option<In<CUgraphNode>>,
            data: Option<In<EdgeData>>,
            count: usize,
        ) -> CallResult {
            // SAFETY: the C function requires that `data` has `count` elements.
            unsafe { check_edges(data, count) }?;
            $base_function(graph, from, to, count)
        }
    )*};
}

edge_changes_with_data! {
    /// `cuGraphAddDependencies` with edge data.
    add_edges_with_data = add_edges;
    /// `cuGraphRemoveDependencies` with edge data.
    remove_edges_with_data = remove_edges;
}

/// Reads a list of edges from C.
///
/// # Safety
/// `from` and `to` must have `count` elements.
unsafe fn read_edges(
    from: Option<In<CUgraphNode>>,
    to: Option<In<CUgraphNode>>,
    count: usize,
) -> Result<Vec<(NodeId, NodeId)>, CudaError> {
    // SAFETY: both lists have `count` elements, by this function's contract.
    let (from, to) = unsafe { (read_list(from, count)?, read_list(to, count)?) };
    let pairs = from
        .into_iter()
        .map(node_id)
        .zip(to.into_iter().map(node_id));
    Ok(pairs.collect())
}

/// Writes handles to the caller's array of `*count` elements and their number to `count`; fills unused
/// elements with null. If `out` is null, writes only the number of handles.
///
/// # Safety
/// `out` must have `*count` elements.
unsafe fn write_nodes(nodes: Vec<NodeId>, out: Option<Out<CUgraphNode>>, count: InOut<usize>) {
    let Some(out) = out else {
        return count.set(nodes.len());
    };
    let capacity = count.read();
    let handles = (0..capacity).map(|i| handle(nodes.get(i).map_or(0, |node| node.0)));
    // SAFETY: `out` has `capacity` elements, by this function's contract.
    unsafe { out.set_all(handles) };
    count.set(nodes.len().min(capacity));
}

const HANDLES: c_uint = 1 << 10 | 1;

/// `cuGraphDebugDotPrint`.
pub fn print_dot(graph: GraphId, path: &str, flags: c_uint) -> CallResult {
    let driver = SIMULATOR.lock_driver_settled()?;
    let mut output = String::from("digraph dot {\n");
    let graphs = SIMULATOR.graphs();
    describe(&driver, graphs.graph(graph)?, flags, &mut output);
    output.push_str("}\n");
    std::fs::write(path, output).map_err(|_| CudaError::OperatingSystem)?;
    Ok(())
}

/// Writes a graph, then the child graphs in its nodes.
fn describe(driver: &Driver, body: &Body, flags: c_uint, output: &mut String) {
    let node_name = |id: NodeId| format!("graph_{:x}_node_{:x}", body.id.0, id.0);
    // Writing to a string cannot fail.
    let _ = writeln!(output, "subgraph cluster_{:x} {{", body.id.0);
    for (&id, node) in &body.nodes {
        let mut label = label(driver, node);
        if flags & HANDLES != 0 {
            let _ = write!(label, "\\n{:#x}", id.0);
        }
        let _ = writeln!(
            output,
            "  \"{}\" [shape=record, label=\"{label}\"];",
            node_name(id)
        );
    }
    for (dependency, node) in body.edges() {
        let _ = writeln!(
            output,
            "  \"{}\" -> \"{}\";",
            node_name(dependency),
            node_name(node)
        );
    }
    output.push_str("}\n");
    for child in body.children() {
        describe(driver, child, flags, output);
    }
}

/// Returns the label of a node, escaped for DOT.
fn label(driver: &Driver, node: &Node) -> String {
    match &node.op {
        StreamOp::Empty => "EMPTY".into(),
        StreamOp::Kernel(kernel) => {
            let symbol = driver
                .function_name(kernel.launch.function())
                .unwrap_or("?");
            let name: String = names::short(symbol)
                .chars()
                .flat_map(|c| {
                    matches!(c, '<' | '>' | '{' | '}' | '|' | '"')
                        .then_some('\\')
                        .into_iter()
                        .chain([c])
                })
                .collect();
            let spec = kernel.launch.spec();
            let ([gx, gy, gz], [bx, by, bz]) = (spec.grid, spec.block);
            format!("KERNEL {name}\\ngrid {gx} {gy} {gz}, block {bx} {by} {bz}")
        }
        StreamOp::Memcpy(copy) => {
            format!(
                "MEMCPY\\n{} x {} x {} bytes",
                copy.width, copy.height, copy.depth
            )
        }
        StreamOp::Memset(memset) => format!("MEMSET\\n{} x {}", memset.width, memset.height),
        StreamOp::Library(call) => format!("KERNEL {}", call.function),
        StreamOp::Host(_) => "HOST".into(),
        StreamOp::Memory(_) => "BATCH_MEM_OP".into(),
        StreamOp::RecordEvent(_) | StreamOp::RecordInContext(_) => "EVENT_RECORD".into(),
        StreamOp::WaitEvent(_) | StreamOp::WaitInContext(_) => "EVENT_WAIT".into(),
        StreamOp::Allocate(reserved) => format!("MEM_ALLOC\\n{} bytes", reserved.bytes),
        StreamOp::Free(_) => "MEM_FREE".into(),
        StreamOp::Graph(body) => format!("GRAPH\\ncluster_{:x}", body.id.0),
        StreamOp::Conditional(conditional) => {
            let kind = match conditional.kind {
                ConditionalKind::If => "IF",
                ConditionalKind::While => "WHILE",
                ConditionalKind::Switch => "SWITCH",
            };
            let bodies = conditional.bodies.iter();
            let bodies: String = bodies
                .map(|body| format!("\\ncluster_{:x}", body.id.0))
                .collect();
            format!("CONDITIONAL {kind}{bodies}")
        }
    }
}
