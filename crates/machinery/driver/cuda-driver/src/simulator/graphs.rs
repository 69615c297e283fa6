//! The table of all graphs, executable graphs and user objects. Their numbers are unique across object types, so that a
//! handle of another type is simply not found.

use std::collections::BTreeMap;
use std::iter;
use std::sync::Arc;

use cuda_sim::driver::CudaError;

use super::operation::{
    Body, Conditional, ConditionalHandle, ConditionalKind, GraphId, HostFunction, Node, NodeId,
    StreamOp,
};

/// The number of an executable graph (`CUgraphExec`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExecId(pub u64);

/// An executable graph.
pub struct Exec {
    pub body: Arc<Body>,
    /// The flags of `cuGraphInstantiateWithFlags`.
    pub flags: u64,
}

/// All graphs, executable graphs and user objects.
pub struct Graphs {
    last: u64,
    /// The graphs that are not part of a node.
    graphs: BTreeMap<GraphId, Body>,
    /// The parent node of each child graph, and of each graph of a conditional node.
    nested: BTreeMap<GraphId, NodeId>,
    /// The graph of each node.
    owners: BTreeMap<NodeId, GraphId>,
    execs: BTreeMap<ExecId, Exec>,
    /// All user objects, by number.
    objects: BTreeMap<u64, Object>,
}

/// The first graph number, far above the simulated driver's numbers.
const FIRST: u64 = 1 << 40;

/// A user object: a resource of the program, destroyed when no graph needs it any more.
struct Object {
    /// Number of references held by the program and by graphs.
    references: u64,
    destructor: HostFunction,
}

/// The maximum number of graphs of a SWITCH node.
const MAX_CASES: u32 = 1 << 16;

impl Graphs {
    pub const fn new() -> Self {
        Self {
            last: FIRST,
            graphs: BTreeMap::new(),
            nested: BTreeMap::new(),
            owners: BTreeMap::new(),
            execs: BTreeMap::new(),
            objects: BTreeMap::new(),
        }
    }

    /// Returns an unused number.
    fn next(&mut self) -> u64 {
        self.last += 0x10;
        self.last
    }

    /// Creates an empty graph.
    pub fn create(&mut self) -> GraphId {
        let id = GraphId(self.next());
        self.graphs.insert(id, Body::new(id));
        id
    }

    /// Returns a graph or child graph. This method and those below return [`CudaError::InvalidValue`] for an
    /// object that does not exist.
    pub fn graph(&self, id: GraphId) -> Result<&Body, CudaError> {
        if let Some(graph) = self.graphs.get(&id) {
            return Ok(graph);
        }
        let parent = self.nested.get(&id).ok_or(CudaError::InvalidValue)?;
        let mut bodies = self.node(*parent)?.op.bodies().iter();
        let body = bodies.find(|body| body.id == id);
        body.map(|body| &**body).ok_or(CudaError::InvalidValue)
    }

    /// Same as [`Graphs::graph`], but mutable.
    pub fn graph_mut(&mut self, id: GraphId) -> Result<&mut Body, CudaError> {
        if self.graphs.contains_key(&id) {
            return self.graphs.get_mut(&id).ok_or(CudaError::InvalidValue);
        }
        let parent = *self.nested.get(&id).ok_or(CudaError::InvalidValue)?;
        let mut bodies = self.node_mut(parent)?.op.bodies_mut().iter_mut();
        let body = bodies.find(|body| body.id == id);
        body.map(Arc::make_mut).ok_or(CudaError::InvalidValue)
    }

    /// Returns the graph that contains a node.
    pub fn owner(&self, node: NodeId) -> Result<GraphId, CudaError> {
        self.owners
            .get(&node)
            .copied()
            .ok_or(CudaError::InvalidValue)
    }

    /// Returns a node of any graph.
    pub fn node(&self, id: NodeId) -> Result<&Node, CudaError> {
        let graph = self.graph(self.owner(id)?)?;
        graph.nodes.get(&id).ok_or(CudaError::InvalidValue)
    }

    /// Same as [`Graphs::node`], but mutable.
    pub fn node_mut(&mut self, id: NodeId) -> Result<&mut Node, CudaError> {
        let graph = self.graph_mut(self.owner(id)?)?;
        graph.nodes.get_mut(&id).ok_or(CudaError::InvalidValue)
    }

    /// Adds a node to `graph`. Its dependencies must be distinct nodes of the graph.
    pub fn add(
        &mut self,
        graph: GraphId,
        op: StreamOp,
        dependencies: Vec<NodeId>,
    ) -> Result<NodeId, CudaError> {
        let body = self.graph(graph)?;
        let is_valid = |(i, dependency): (usize, &NodeId)| {
            body.nodes.contains_key(dependency) && !dependencies[..i].contains(dependency)
        };
        if !dependencies.iter().enumerate().all(is_valid) {
            return Err(CudaError::InvalidValue);
        }
        if let StreamOp::Free(address) = op {
            let frees = |node: &Node| matches!(node.op, StreamOp::Free(freed) if freed == address);
            if body.nodes.values().any(frees) {
                return Err(CudaError::InvalidValue);
            }
        }
        let id = NodeId(self.next());
        let op = match op {
            StreamOp::Graph(body) => {
                let copy = self.copy(&body);
                self.nested.insert(copy.id, id);
                StreamOp::Graph(Arc::new(copy))
            }
            other => other,
        };
        if let StreamOp::Conditional(conditional) = &op {
            let bodies = conditional.bodies.iter();
            self.nested.extend(bodies.map(|body| (body.id, id)));
        }
        self.owners.insert(id, graph);
        self.graph_mut(graph)?
            .nodes
            .insert(id, Node::new(op, dependencies));
        Ok(id)
    }

    /// Returns a graph, the graph that contains it in a node, and so on.
    fn containing(&self, graph: GraphId) -> impl Iterator<Item = GraphId> {
        iter::successors(Some(graph), |graph| {
            self.owners.get(self.nested.get(graph)?).copied()
        })
    }

    /// Creates a handle for a conditional node of `graph` or of a graph in its nodes, for
    /// `cuGraphConditionalHandleCreate`.
    pub fn create_handle(
        &mut self,
        graph: GraphId,
        default: Option<u32>,
    ) -> Result<u64, CudaError> {
        let number = self.next();
        let handle = ConditionalHandle { number, default };
        self.graph_mut(graph)?.handles.push(handle);
        Ok(number)
    }

    /// Creates the operation of a conditional node of `graph` with `size` empty graphs. The handle must have been created
    /// for the graph or for one that contains it, and no other node may use it.
    pub fn create_conditional(
        &mut self,
        graph: GraphId,
        handle: u64,
        kind: ConditionalKind,
        size: u32,
    ) -> Result<StreamOp, CudaError> {
        let owns = |body: &&Body| body.handles.iter().any(|known| known.number == handle);
        let owner = self
            .containing(graph)
            .flat_map(|graph| self.graph(graph))
            .find(owns)
            .ok_or(CudaError::InvalidValue)?;
        let sizes = match kind {
            ConditionalKind::If => 1..=2,
            ConditionalKind::While => 1..=1,
            ConditionalKind::Switch => 1..=MAX_CASES,
        };
        if owner.uses_handle(handle) || !sizes.contains(&size) {
            return Err(CudaError::InvalidValue);
        }
        let bodies = (0..size).map(|_| Arc::new(Body::new(GraphId(self.next()))));
        let bodies = bodies.collect();
        Ok(StreamOp::Conditional(Conditional {
            handle,
            kind,
            bodies,
        }))
    }

    /// Clones a graph, for `cuGraphClone`.
    pub fn duplicate(&mut self, graph: GraphId) -> Result<GraphId, CudaError> {
        let body = self.graph(graph)?.clone();
        let copy = self.copy(&body);
        let id = copy.id;
        self.graphs.insert(id, copy);
        Ok(id)
    }

    /// Copies a graph, with new numbers for the graph, its nodes and its child graphs.
    fn copy(&mut self, body: &Body) -> Body {
        let id = GraphId(self.next());
        let new_ids: BTreeMap<NodeId, NodeId> = body
            .nodes
            .keys()
            .map(|&old| (old, NodeId(self.next())))
            .collect();
        let mut copy = Body::new(id);
        for (old, node) in &body.nodes {
            let new = new_ids[old];
            let op = match &node.op {
                StreamOp::Graph(child) => {
                    let child = self.copy(child);
                    self.nested.insert(child.id, new);
                    StreamOp::Graph(Arc::new(child))
                }
                other => other.clone(),
            };
            // Skip edges from destroyed nodes.
            let dependencies = node
                .dependencies
                .iter()
                .filter_map(|old| new_ids.get(old).copied());
            let copied = Node {
                original: Some(*old),
                enabled: node.enabled,
                ..Node::new(op, dependencies.collect())
            };
            self.owners.insert(new, id);
            copy.nodes.insert(new, copied);
        }
        self.retain_all(&body.objects);
        copy.objects.clone_from(&body.objects);
        copy
    }

    /// Destroys a graph, for `cuGraphDestroy`; a child graph is destroyed only with its node. Returns the
    /// destructors to call.
    pub fn destroy(&mut self, graph: GraphId) -> Result<Vec<HostFunction>, CudaError> {
        let removed = self.graphs.remove(&graph).ok_or(CudaError::InvalidValue)?;
        Ok(self.remove_ids(&removed))
    }

    /// Removes a node and its edges, for `cuGraphDestroyNode`. Returns the destructors to call.
    pub fn destroy_node(&mut self, node: NodeId) -> Result<Vec<HostFunction>, CudaError> {
        let graph = self.graph_mut(self.owner(node)?)?;
        if graph.has_memory() {
            return Err(CudaError::NotSupported);
        }
        let removed = graph.nodes.remove(&node);
        for other in graph.nodes.values_mut() {
            other.dependencies.retain(|dependency| *dependency != node);
        }
        self.owners.remove(&node);
        let removed = removed.iter().flat_map(|node| node.op.bodies());
        Ok(removed.flat_map(|body| self.remove_ids(body)).collect())
    }

    /// Removes a destroyed graph's numbers, and releases its user objects.
    fn remove_ids(&mut self, body: &Body) -> Vec<HostFunction> {
        self.nested.remove(&body.id);
        for node in body.nodes.keys() {
            self.owners.remove(node);
        }
        let mut destructors = self.release_all(&body.objects);
        for child in body.children() {
            destructors.extend(self.remove_ids(child));
        }
        destructors
    }

    /// Creates an executable graph of `graph`, for `cuGraphInstantiate`.
    pub fn instantiate(&mut self, graph: GraphId, flags: u64) -> Result<ExecId, CudaError> {
        let body = self.graph(graph)?.clone();
        self.retain_objects(&body);
        let id = ExecId(self.next());
        let body = Arc::new(body);
        self.execs.insert(id, Exec { body, flags });
        Ok(id)
    }

    /// Returns true if a graph has an executable graph.
    pub fn is_instantiated(&self, graph: GraphId) -> bool {
        self.execs.values().any(|exec| exec.body.id == graph)
    }

    /// Returns true if there are executable graphs that allocate memory.
    pub fn have_allocations(&self) -> bool {
        let mut execs = self.execs.values();
        execs.any(|exec| exec.body.allocations().next().is_some())
    }

    /// Returns an executable graph.
    pub fn exec(&self, id: ExecId) -> Result<&Exec, CudaError> {
        self.execs.get(&id).ok_or(CudaError::InvalidValue)
    }

    /// Returns a node of an executable graph to change it; it has the number of the original node. Pending
    /// launches are not affected.
    pub fn exec_node(&mut self, exec: ExecId, node: NodeId) -> Result<&mut Node, CudaError> {
        let exec = self.execs.get_mut(&exec).ok_or(CudaError::InvalidValue)?;
        if exec.body.find(node).is_none() {
            return Err(CudaError::InvalidValue);
        }
        let node = Arc::make_mut(&mut exec.body).find_mut(node);
        node.ok_or(CudaError::InvalidValue)
    }

    /// Destroys an executable graph, for `cuGraphExecDestroy`. Returns the destructors to call.
    pub fn destroy_exec(&mut self, exec: ExecId) -> Result<Vec<HostFunction>, CudaError> {
        let removed = self.execs.remove(&exec).ok_or(CudaError::InvalidValue)?;
        Ok(self.release_objects(&removed.body))
    }

    /// Adds references to the user objects of a graph and its child graphs.
    fn retain_objects(&mut self, body: &Body) {
        self.retain_all(&body.objects);
        body.children().for_each(|child| self.retain_objects(child));
    }

    /// Releases the user objects of a graph and its child graphs. Returns the destructors to call.
    fn release_objects(&mut self, body: &Body) -> Vec<HostFunction> {
        let mut destructors = self.release_all(&body.objects);
        for child in body.children() {
            destructors.extend(self.release_objects(child));
        }
        destructors
    }

    /// Adds edges to a graph, each from a node to a dependent node. They must be new.
    pub fn add_edges(
        &mut self,
        graph: GraphId,
        edges: &[(NodeId, NodeId)],
    ) -> Result<(), CudaError> {
        self.check_edges(graph, edges)?;
        let existing = self.graph(graph)?.edges();
        for (i, edge) in edges.iter().enumerate() {
            if edge.0 == edge.1 || existing.contains(edge) || edges[..i].contains(edge) {
                return Err(CudaError::InvalidValue);
            }
        }
        for &(source, node) in edges {
            self.node_mut(node)?.dependencies.push(source);
        }
        Ok(())
    }

    /// Removes edges, which must exist, from a graph without memory nodes.
    pub fn remove_edges(
        &mut self,
        graph: GraphId,
        edges: &[(NodeId, NodeId)],
    ) -> Result<(), CudaError> {
        self.check_edges(graph, edges)?;
        let body = self.graph(graph)?;
        if body.has_memory() {
            return Err(CudaError::NotSupported);
        }
        let existing = body.edges();
        if !edges.iter().all(|edge| existing.contains(edge)) {
            return Err(CudaError::InvalidValue);
        }
        for (source, node) in edges {
            let dependencies = &mut self.node_mut(*node)?.dependencies;
            dependencies.retain(|other| other != source);
        }
        Ok(())
    }

    /// Checks that the nodes of all edges belong to a graph.
    fn check_edges(&self, graph: GraphId, edges: &[(NodeId, NodeId)]) -> Result<(), CudaError> {
        let graph = self.graph(graph)?.id;
        let in_graph = |node: &NodeId| self.owner(*node) == Ok(graph);
        let mut edges = edges.iter();
        match edges.all(|(from, to)| in_graph(from) && in_graph(to)) {
            true => Ok(()),
            false => Err(CudaError::InvalidValue),
        }
    }

    /// Updates an executable graph to the operations of `graph`, for `cuGraphExecUpdate`. Returns the destructors to
    /// call.
    pub fn update(
        &mut self,
        exec: ExecId,
        graph: GraphId,
    ) -> Result<Vec<HostFunction>, Difference> {
        let error = |_| Difference {
            kind: DifferenceKind::Error,
            node: None,
        };
        let new = self.graph(graph).map_err(error)?.clone();
        let old = self.exec(exec).map_err(error)?.body.clone();
        let merged = merge_graphs(&old, &new)?;
        // Release the old graph's objects only after the new one's are retained.
        self.retain_objects(&merged);
        let destructors = self.release_objects(&old);
        if let Some(exec) = self.execs.get_mut(&exec) {
            exec.body = Arc::new(merged);
        }
        Ok(destructors)
    }

    /// Creates a user object with the program's first references.
    pub fn create_object(&mut self, references: u64, destructor: HostFunction) -> u64 {
        let id = self.next();
        let object = Object {
            references,
            destructor,
        };
        self.objects.insert(id, object);
        id
    }

    /// Adds references of the program to a user object.
    pub fn retain_object(&mut self, object: u64, count: u64) -> Result<(), CudaError> {
        self.object(object)?.references += count;
        Ok(())
    }

    /// Releases references to a user object. Returns its destructor if they were the last ones.
    pub fn release_object(
        &mut self,
        object: u64,
        count: u64,
    ) -> Result<Option<HostFunction>, CudaError> {
        let entry = self.object(object)?;
        entry.references = entry
            .references
            .checked_sub(count)
            .ok_or(CudaError::InvalidValue)?;
        if entry.references > 0 {
            return Ok(None);
        }
        Ok(self.objects.remove(&object).map(|object| object.destructor))
    }

    /// Adds references of a graph to a user object: new ones, or those of the program if `moves` is true.
    pub fn retain_object_in_graph(
        &mut self,
        graph: GraphId,
        object: u64,
        count: u64,
        moves: bool,
    ) -> Result<(), CudaError> {
        self.graph(graph)?;
        let entry = self.object(object)?;
        match moves {
            true if entry.references < count => return Err(CudaError::InvalidValue),
            true => {}
            false => entry.references += count,
        }
        *self.graph_mut(graph)?.objects.entry(object).or_default() += count;
        Ok(())
    }

    /// Releases references of a graph to a user object. Returns its destructor if they were the last ones.
    pub fn release_object_in_graph(
        &mut self,
        graph: GraphId,
        object: u64,
        count: u64,
    ) -> Result<Option<HostFunction>, CudaError> {
        let objects = &mut self.graph_mut(graph)?.objects;
        let entry = objects.get_mut(&object).ok_or(CudaError::InvalidValue)?;
        *entry = entry.checked_sub(count).ok_or(CudaError::InvalidValue)?;
        if *entry == 0 {
            objects.remove(&object);
        }
        self.release_object(object, count)
    }

    fn object(&mut self, object: u64) -> Result<&mut Object, CudaError> {
        self.objects.get_mut(&object).ok_or(CudaError::InvalidValue)
    }

    /// Adds references, by object.
    fn retain_all(&mut self, counts: &BTreeMap<u64, u64>) {
        for (object, count) in counts {
            // An object that no longer exists has no references to count.
            let _ = self.retain_object(*object, *count);
        }
    }

    /// Drops references and returns the destructors of objects that reached zero.
    fn release_all(&mut self, counts: &BTreeMap<u64, u64>) -> Vec<HostFunction> {
        let released = counts
            .iter()
            .map(|(object, count)| self.release_object(*object, *count));
        released.filter_map(|released| released.ok()?).collect()
    }
}

/// The reason why an executable graph cannot be updated, and the node of the new graph that differs.
pub struct Difference {
    pub kind: DifferenceKind,
    pub node: Option<NodeId>,
}

impl Difference {
    /// Returns the error of an update that finds this difference.
    pub fn error(&self) -> CudaError {
        match self.kind {
            DifferenceKind::Error => CudaError::InvalidValue,
            _ => CudaError::GraphExecUpdateFailure,
        }
    }
}

/// A `CUgraphExecUpdateResult` other than success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DifferenceKind {
    Error = 1,
    Topology = 2,
    Type = 3,
    Parameters = 5,
    NotSupported = 6,
    Attributes = 8,
}

/// Returns `old`, with its node numbers, and the operations of `new`. Nodes are paired in the order in which
/// they were added.
pub fn merge_graphs(old: &Body, new: &Body) -> Result<Body, Difference> {
    let topology_changed = |node| Difference {
        kind: DifferenceKind::Topology,
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
        let merged = Node {
            op,
            listed: Vec::new(),
            ..old_node.clone()
        };
        result.nodes.insert(old_ids[id], merged);
    }
    Ok(result)
}

/// Returns the operation that a node of an executable graph gets from its pair.
fn merge_node(old: &Node, new: &Node) -> Result<StreamOp, Difference> {
    let difference = |kind| Difference { kind, node: None };
    if !old.op.is_same_kind(&new.op) {
        return Err(difference(DifferenceKind::Type));
    }
    match (&old.op, &new.op) {
        (StreamOp::Graph(old), StreamOp::Graph(new)) => {
            Ok(StreamOp::Graph(Arc::new(merge_graphs(old, new)?)))
        }
        (StreamOp::Conditional(old), StreamOp::Conditional(new)) => {
            let is_same = (old.handle, old.kind, old.bodies.len())
                == (new.handle, new.kind, new.bodies.len());
            if !is_same {
                return Err(difference(DifferenceKind::Parameters));
            }
            let bodies = old.bodies.iter().zip(&new.bodies);
            let bodies = bodies.map(|(old, new)| merge_graphs(old, new).map(Arc::new));
            Ok(StreamOp::Conditional(Conditional {
                bodies: bodies.collect::<Result<_, _>>()?,
                ..old.clone()
            }))
        }
        (StreamOp::Kernel(old), StreamOp::Kernel(new))
            if old.launch.spec().cooperative != new.launch.spec().cooperative =>
        {
            Err(difference(DifferenceKind::Attributes))
        }
        (StreamOp::Allocate(old), StreamOp::Allocate(new)) if old != new => {
            Err(difference(DifferenceKind::NotSupported))
        }
        (StreamOp::Free(old), StreamOp::Free(new)) if old != new => {
            Err(difference(DifferenceKind::NotSupported))
        }
        (StreamOp::Memcpy(old_copy), StreamOp::Memcpy(new_copy))
            if old_copy != new_copy && (old.op.is_multi_row() || new.op.is_multi_row()) =>
        {
            Err(difference(DifferenceKind::Parameters))
        }
        (StreamOp::Memset(old_fill), StreamOp::Memset(new_fill))
            if old_fill != new_fill && (old.op.is_multi_row() || new.op.is_multi_row()) =>
        {
            Err(difference(DifferenceKind::Parameters))
        }
        (_, op) => Ok(op.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(graphs: &mut Graphs, length: usize) -> (GraphId, Vec<NodeId>) {
        let graph = graphs.create();
        let mut nodes: Vec<NodeId> = Vec::new();
        for _ in 0..length {
            let last = nodes.last().copied().into_iter().collect();
            nodes.push(graphs.add(graph, StreamOp::Empty, last).unwrap());
        }
        (graph, nodes)
    }

    fn destructor() -> HostFunction {
        HostFunction::Plain {
            function: None,
            data: std::ptr::null_mut(),
        }
    }

    #[test]
    fn edges_are_added_once_and_removed() {
        let mut graphs = Graphs::new();
        let (graph, nodes) = chain(&mut graphs, 3);
        let skipping = [(nodes[0], nodes[2])];
        assert_eq!(graphs.add_edges(graph, &skipping), Ok(()));
        assert_eq!(
            graphs.add_edges(graph, &skipping),
            Err(CudaError::InvalidValue)
        );
        let edges = graphs.graph(graph).unwrap().edges();
        assert_eq!(
            edges,
            [(nodes[0], nodes[1]), skipping[0], (nodes[1], nodes[2])]
        );
        assert_eq!(graphs.remove_edges(graph, &edges), Ok(()));
        assert!(graphs.graph(graph).unwrap().edges().is_empty());
        let (_, foreign) = chain(&mut graphs, 1);
        assert_eq!(
            graphs.add_edges(graph, &[(nodes[0], foreign[0])]),
            Err(CudaError::InvalidValue)
        );
        assert!(graphs.destroy_node(nodes[1]).unwrap().is_empty());
        assert_eq!(graphs.graph(graph).unwrap().nodes.len(), 2);
    }

    #[test]
    fn child_graphs_are_copies() {
        let mut graphs = Graphs::new();
        let (child, nodes) = chain(&mut graphs, 2);
        let (parent, _) = chain(&mut graphs, 0);
        let op = StreamOp::Graph(Arc::new(graphs.graph(child).unwrap().clone()));
        let node = graphs.add(parent, op, Vec::new()).unwrap();
        graphs.destroy(child).unwrap();
        assert!(graphs.node(nodes[0]).is_err());
        let copy = match &graphs.node(node).unwrap().op {
            StreamOp::Graph(copy) => copy.id,
            _ => unreachable!(),
        };
        assert_ne!(copy, child);
        assert_eq!(graphs.graph(copy).unwrap().nodes.len(), 2);
        // A child graph is destroyed only with its node.
        assert!(graphs.destroy(copy).is_err());
        graphs.destroy(parent).unwrap();
        assert!(graphs.graph(copy).is_err());
    }

    #[test]
    fn executable_graphs_are_updated_unless_the_topology_differs() {
        let mut graphs = Graphs::new();
        let (graph, nodes) = chain(&mut graphs, 2);
        let exec = graphs.instantiate(graph, 0).unwrap();
        let (longer, _) = chain(&mut graphs, 3);
        let difference = graphs.update(exec, longer).err().unwrap();
        assert_eq!(difference.kind, DifferenceKind::Topology);
        let (same, others) = chain(&mut graphs, 2);
        graphs
            .remove_edges(same, &[(others[0], others[1])])
            .unwrap();
        let difference = graphs.update(exec, same).err().unwrap();
        assert_eq!(difference.node, Some(others[1]));
        graphs.add_edges(same, &[(others[0], others[1])]).unwrap();
        graphs.node_mut(others[0]).unwrap().op = StreamOp::Free(8);
        let difference = graphs.update(exec, same).err().unwrap();
        assert_eq!(difference.kind, DifferenceKind::Type);
        graphs.node_mut(others[0]).unwrap().op = StreamOp::Empty;
        assert!(graphs.update(exec, same).is_ok());
        // The nodes keep their numbers.
        assert!(graphs.exec_node(exec, nodes[1]).is_ok());
        assert!(graphs.exec_node(exec, others[1]).is_err());
    }

    #[test]
    fn objects_live_as_long_as_a_graph_refers_to_them() {
        let mut graphs = Graphs::new();
        let (graph, _) = chain(&mut graphs, 1);
        let object = graphs.create_object(1, destructor());
        graphs
            .retain_object_in_graph(graph, object, 1, true)
            .unwrap();
        let exec = graphs.instantiate(graph, 0).unwrap();
        assert!(graphs.destroy(graph).unwrap().is_empty());
        assert_eq!(graphs.destroy_exec(exec).unwrap().len(), 1);
        assert!(graphs.retain_object(object, 1).is_err());
    }
}
