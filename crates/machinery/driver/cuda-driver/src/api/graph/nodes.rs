//! Creation and destruction of graphs and nodes; their topology, nodes and edges; and its export in the DOT language of
//! Graphviz.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::fmt::Write as _;

use cuda_sim::driver::{ContextId, CudaError, Driver, EventId};

use super::{check_edges, node_id, params_in};
use crate::api::SIMULATOR;
use crate::arguments::{Argument, In, InOut, Out, handle, number, read_list, required};
use crate::names;
use crate::simulator::{
    Body, ConditionalKind, GraphId, Node, NodeId, Pointer, StreamOp, call_host_functions,
};
use crate::status::{CallResult, warn};
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
