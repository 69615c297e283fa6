//! The table of all graphs and executable graphs. Their numbers are unique across object types, so that a
//! handle of another type is simply not found.

use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard};

use cuda_sim::driver::CudaError;

use super::objects::{Destructor, Objects};
use super::{Body, GraphId, Node, NodeId};
use crate::simulator::stream_op::StreamOp;
use crate::simulator::{SIMULATOR, lock_mutex};

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
    /// The graphs that are not child graphs.
    graphs: BTreeMap<GraphId, Body>,
    /// The parent node of each child graph.
    nested: BTreeMap<GraphId, NodeId>,
    /// The graph of each node.
    owners: BTreeMap<NodeId, GraphId>,
    pub execs: BTreeMap<ExecId, Exec>,
    pub objects: Objects,
}

/// The first graph number, far above the simulated driver's numbers.
const FIRST: u64 = 1 << 40;

/// Locks all graphs. A thread that also locks the driver must lock it first.
pub fn graphs() -> MutexGuard<'static, Graphs> {
    lock_mutex(&SIMULATOR.graphs)
}

impl Graphs {
    pub const fn new() -> Self {
        Self {
            last: FIRST,
            graphs: BTreeMap::new(),
            nested: BTreeMap::new(),
            owners: BTreeMap::new(),
            execs: BTreeMap::new(),
            objects: Objects::new(),
        }
    }

    /// Returns an unused number.
    pub fn next(&mut self) -> u64 {
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
        match &self.node(*parent)?.op {
            StreamOp::Graph(body) => Ok(body),
            _ => Err(CudaError::InvalidValue),
        }
    }

    /// Same as [`Graphs::graph`], but mutable.
    pub fn graph_mut(&mut self, id: GraphId) -> Result<&mut Body, CudaError> {
        if self.graphs.contains_key(&id) {
            return self.graphs.get_mut(&id).ok_or(CudaError::InvalidValue);
        }
        let parent = *self.nested.get(&id).ok_or(CudaError::InvalidValue)?;
        match &mut self.node_mut(parent)?.op {
            StreamOp::Graph(body) => Ok(Arc::make_mut(body)),
            _ => Err(CudaError::InvalidValue),
        }
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
        let id = NodeId(self.next());
        let op = match op {
            StreamOp::Graph(body) => {
                let copy = self.copy(&body);
                self.nested.insert(copy.id, id);
                StreamOp::Graph(Arc::new(copy))
            }
            other => other,
        };
        self.owners.insert(id, graph);
        self.graph_mut(graph)?
            .nodes
            .insert(id, Node::new(op, dependencies));
        Ok(id)
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
    pub fn copy(&mut self, body: &Body) -> Body {
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
        self.objects.retain_all(&body.objects);
        copy.objects.clone_from(&body.objects);
        copy
    }

    /// Destroys a graph, for `cuGraphDestroy`; a child graph is destroyed only with its node. Returns the
    /// destructors to call.
    pub fn destroy(&mut self, graph: GraphId) -> Result<Vec<Destructor>, CudaError> {
        let removed = self.graphs.remove(&graph).ok_or(CudaError::InvalidValue)?;
        Ok(self.remove_ids(&removed))
    }

    /// Removes a node and its edges, for `cuGraphDestroyNode`. Returns the destructors to call.
    pub fn destroy_node(&mut self, node: NodeId) -> Result<Vec<Destructor>, CudaError> {
        let graph = self.graph_mut(self.owner(node)?)?;
        if graph.has_memory() {
            return Err(CudaError::NotSupported);
        }
        let removed = graph.nodes.remove(&node);
        for other in graph.nodes.values_mut() {
            other.dependencies.retain(|dependency| *dependency != node);
        }
        self.owners.remove(&node);
        match removed.map(|node| node.op) {
            Some(StreamOp::Graph(body)) => Ok(self.remove_ids(&body)),
            _ => Ok(Vec::new()),
        }
    }

    /// Removes a destroyed graph's numbers, and releases its user objects.
    fn remove_ids(&mut self, body: &Body) -> Vec<Destructor> {
        self.nested.remove(&body.id);
        for node in body.nodes.keys() {
            self.owners.remove(node);
        }
        let mut destructors = self.objects.release_all(&body.objects);
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
    pub fn destroy_exec(&mut self, exec: ExecId) -> Result<Vec<Destructor>, CudaError> {
        let removed = self.execs.remove(&exec).ok_or(CudaError::InvalidValue)?;
        Ok(self.release_objects(&removed.body))
    }

    /// Adds references to the user objects of a graph and its child graphs.
    pub fn retain_objects(&mut self, body: &Body) {
        self.objects.retain_all(&body.objects);
        body.children().for_each(|child| self.retain_objects(child));
    }

    /// Releases the user objects of a graph and its child graphs. Returns the destructors to call.
    pub fn release_objects(&mut self, body: &Body) -> Vec<Destructor> {
        let mut destructors = self.objects.release_all(&body.objects);
        for child in body.children() {
            destructors.extend(self.release_objects(child));
        }
        destructors
    }
}
