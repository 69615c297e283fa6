//! The table of all graphs and executable graphs. Their numbers are unique across object types, so that a
//! handle of
//! another type is simply not found.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use cuda_sim::driver::CudaError;

use super::body::{Body, GraphId, Node, NodeId};
use super::objects::{Destructor, Objects};
use crate::simulator::lock;
use crate::simulator::work::Work;

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

static GRAPHS: Mutex<Graphs> = Mutex::new(Graphs {
    last: FIRST,
    graphs: BTreeMap::new(),
    nested: BTreeMap::new(),
    owners: BTreeMap::new(),
    execs: BTreeMap::new(),
    objects: Objects::new(),
});

/// Locks all graphs. A thread that also locks the driver must lock it first.
pub fn graphs() -> MutexGuard<'static, Graphs> {
    lock(&GRAPHS)
}

impl Graphs {
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
    /// object that
    /// does not exist.
    pub fn graph(&self, id: GraphId) -> Result<&Body, CudaError> {
        if let Some(found) = self.graphs.get(&id) {
            return Ok(found);
        }
        let parent = self.nested.get(&id).ok_or(CudaError::InvalidValue)?;
        match &self.node(*parent)?.work {
            Work::Graph(body) => Ok(body),
            _ => Err(CudaError::InvalidValue),
        }
    }

    /// Same as [`Graphs::graph`], but mutable.
    pub fn graph_mut(&mut self, id: GraphId) -> Result<&mut Body, CudaError> {
        if self.graphs.contains_key(&id) {
            return self.graphs.get_mut(&id).ok_or(CudaError::InvalidValue);
        }
        let parent = *self.nested.get(&id).ok_or(CudaError::InvalidValue)?;
        match &mut self.node_mut(parent)?.work {
            Work::Graph(body) => Ok(Arc::make_mut(body)),
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
        work: Work,
        after: Vec<NodeId>,
    ) -> Result<NodeId, CudaError> {
        let body = self.graph(graph)?;
        let known = |(at, before): (usize, &NodeId)| {
            body.nodes.contains_key(before) && !after[..at].contains(before)
        };
        if !after.iter().enumerate().all(known) {
            return Err(CudaError::InvalidValue);
        }
        let id = NodeId(self.next());
        let work = match work {
            Work::Graph(body) => {
                let copy = self.copy(&body);
                self.nested.insert(copy.id, id);
                Work::Graph(Arc::new(copy))
            }
            other => other,
        };
        self.owners.insert(id, graph);
        self.graph_mut(graph)?
            .nodes
            .insert(id, Node::new(work, after));
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
        let numbers: BTreeMap<NodeId, NodeId> = body
            .nodes
            .keys()
            .map(|&old| (old, NodeId(self.next())))
            .collect();
        let mut copy = Body::new(id);
        for (old, node) in &body.nodes {
            let new = numbers[old];
            let work = match &node.work {
                Work::Graph(child) => {
                    let child = self.copy(child);
                    self.nested.insert(child.id, new);
                    Work::Graph(Arc::new(child))
                }
                other => other.clone(),
            };
            // Skip edges from destroyed nodes.
            let after = node
                .after
                .iter()
                .filter_map(|old| numbers.get(old).copied());
            let made = Node {
                original: Some(*old),
                enabled: node.enabled,
                ..Node::new(work, after.collect())
            };
            self.owners.insert(new, id);
            copy.nodes.insert(new, made);
        }
        self.objects.hold(&body.objects);
        copy.objects.clone_from(&body.objects);
        copy
    }

    /// Destroys a graph, for `cuGraphDestroy`; a child graph is destroyed only with its node. Returns the
    /// destructors to
    /// call.
    pub fn destroy(&mut self, graph: GraphId) -> Result<Vec<Destructor>, CudaError> {
        let removed = self.graphs.remove(&graph).ok_or(CudaError::InvalidValue)?;
        Ok(self.forget(&removed))
    }

    /// Removes a node and its edges, for `cuGraphDestroyNode`. Returns the destructors to call.
    pub fn destroy_node(&mut self, node: NodeId) -> Result<Vec<Destructor>, CudaError> {
        let graph = self.graph_mut(self.owner(node)?)?;
        if graph.has_memory() {
            return Err(CudaError::NotSupported);
        }
        let removed = graph.nodes.remove(&node);
        for other in graph.nodes.values_mut() {
            other.after.retain(|before| *before != node);
        }
        self.owners.remove(&node);
        match removed.map(|node| node.work) {
            Some(Work::Graph(body)) => Ok(self.forget(&body)),
            _ => Ok(Vec::new()),
        }
    }

    /// Removes a destroyed graph's numbers, and releases its user objects.
    fn forget(&mut self, body: &Body) -> Vec<Destructor> {
        self.nested.remove(&body.id);
        for node in body.nodes.keys() {
            self.owners.remove(node);
        }
        let mut calls = self.objects.let_go(&body.objects);
        for child in body.children() {
            calls.extend(self.forget(child));
        }
        calls
    }

    /// Creates an executable graph of `graph`, for `cuGraphInstantiate`.
    pub fn instantiate(&mut self, graph: GraphId, flags: u64) -> Result<ExecId, CudaError> {
        let body = self.graph(graph)?.clone();
        self.hold_all(&body);
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
    /// launches are
    /// not affected.
    pub fn exec_node(&mut self, exec: ExecId, node: NodeId) -> Result<&mut Node, CudaError> {
        let exec = self.execs.get_mut(&exec).ok_or(CudaError::InvalidValue)?;
        if exec.body.find(node).is_none() {
            return Err(CudaError::InvalidValue);
        }
        let found = Arc::make_mut(&mut exec.body).find_mut(node);
        found.ok_or(CudaError::InvalidValue)
    }

    /// Destroys an executable graph, for `cuGraphExecDestroy`. Returns the destructors to call.
    pub fn destroy_exec(&mut self, exec: ExecId) -> Result<Vec<Destructor>, CudaError> {
        let removed = self.execs.remove(&exec).ok_or(CudaError::InvalidValue)?;
        Ok(self.let_go_all(&removed.body))
    }

    /// Adds references to the user objects of a graph and its child graphs.
    pub fn hold_all(&mut self, body: &Body) {
        self.objects.hold(&body.objects);
        body.children().for_each(|child| self.hold_all(child));
    }

    /// Releases the user objects of a graph and its child graphs. Returns the destructors to call.
    pub fn let_go_all(&mut self, body: &Body) -> Vec<Destructor> {
        let mut calls = self.objects.let_go(&body.objects);
        for child in body.children() {
            calls.extend(self.let_go_all(child));
        }
        calls
    }
}
