//! All graphs and executable graphs there are, by their handles. Numbers that name them are not those of
//! anything else, so that a handle of another kind is simply not found.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use cuda_sim::driver::CudaError;

use super::body::{Body, GraphId, Node, NodeId};
use super::objects::{Destructor, Objects};
use crate::simulator::lock;
use crate::simulator::work::Work;

/// An executable graph (`CUgraphExec`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExecId(pub u64);

/// What an executable graph is.
pub struct Exec {
    pub body: Arc<Body>,
    /// What `cuGraphInstantiateWithFlags` was given.
    pub flags: u64,
}

/// All graphs.
pub struct Graphs {
    last: u64,
    /// Those that are in no node of another.
    graphs: BTreeMap<GraphId, Body>,
    /// The node that a graph is in, for the others.
    nested: BTreeMap<GraphId, NodeId>,
    /// The graph of each node.
    owners: BTreeMap<NodeId, GraphId>,
    pub execs: BTreeMap<ExecId, Exec>,
    pub objects: Objects,
}

/// Where the numbers of graphs start: far above those that the simulated driver deals out.
const FIRST: u64 = 1 << 40;

static GRAPHS: Mutex<Graphs> = Mutex::new(Graphs {
    last: FIRST,
    graphs: BTreeMap::new(),
    nested: BTreeMap::new(),
    owners: BTreeMap::new(),
    execs: BTreeMap::new(),
    objects: Objects::new(),
});

/// All graphs, for the calling thread alone. Who locks the machine too does so before.
pub fn graphs() -> MutexGuard<'static, Graphs> {
    lock(&GRAPHS)
}

impl Graphs {
    /// A number that nothing has had.
    pub fn next(&mut self) -> u64 {
        self.last += 0x10;
        self.last
    }

    /// A new graph without nodes.
    pub fn create(&mut self) -> GraphId {
        let id = GraphId(self.next());
        self.graphs.insert(id, Body::new(id));
        id
    }

    /// A graph by its handle, in a node of another or not. [`CudaError::InvalidValue`], here and below, for
    /// one that is not there.
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

    /// [`Graphs::graph`], to change it.
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

    /// The graph that a node is in.
    pub fn owner(&self, node: NodeId) -> Result<GraphId, CudaError> {
        self.owners
            .get(&node)
            .copied()
            .ok_or(CudaError::InvalidValue)
    }

    /// A node of any graph.
    pub fn node(&self, id: NodeId) -> Result<&Node, CudaError> {
        let graph = self.graph(self.owner(id)?)?;
        graph.nodes.get(&id).ok_or(CudaError::InvalidValue)
    }

    /// [`Graphs::node`], to change it.
    pub fn node_mut(&mut self, id: NodeId) -> Result<&mut Node, CudaError> {
        let graph = self.graph_mut(self.owner(id)?)?;
        graph.nodes.get_mut(&id).ok_or(CudaError::InvalidValue)
    }

    /// A new node of `graph`, which waits for other nodes of it, each named once.
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

    /// `cuGraphClone`: a graph of its own with copies of all nodes.
    pub fn duplicate(&mut self, graph: GraphId) -> Result<GraphId, CudaError> {
        let body = self.graph(graph)?.clone();
        let copy = self.copy(&body);
        let id = copy.id;
        self.graphs.insert(id, copy);
        Ok(id)
    }

    /// A copy of a graph, with new numbers for itself, its nodes and the graphs in them.
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
            // An edge from a node that was destroyed is not there.
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

    /// `cuGraphDestroy`; a graph in a node of another goes with that node alone. Returns what is to be
    /// called then.
    pub fn destroy(&mut self, graph: GraphId) -> Result<Vec<Destructor>, CudaError> {
        let removed = self.graphs.remove(&graph).ok_or(CudaError::InvalidValue)?;
        Ok(self.forget(&removed))
    }

    /// `cuGraphDestroyNode`: removes a node and its edges. Returns what is to be called then.
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

    /// Forgets the numbers of a graph that is gone, and lets go of its objects.
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

    /// `cuGraphInstantiate`: an executable graph of `graph`.
    pub fn instantiate(&mut self, graph: GraphId, flags: u64) -> Result<ExecId, CudaError> {
        let body = self.graph(graph)?.clone();
        self.hold_all(&body);
        let id = ExecId(self.next());
        let body = Arc::new(body);
        self.execs.insert(id, Exec { body, flags });
        Ok(id)
    }

    /// An executable graph by its handle.
    pub fn exec(&self, id: ExecId) -> Result<&Exec, CudaError> {
        self.execs.get(&id).ok_or(CudaError::InvalidValue)
    }

    /// A node of an executable graph, to change it; it has the number of the graph's node. What was launched
    /// before stays as it was.
    pub fn exec_node(&mut self, exec: ExecId, node: NodeId) -> Result<&mut Node, CudaError> {
        let exec = self.execs.get_mut(&exec).ok_or(CudaError::InvalidValue)?;
        if exec.body.find(node).is_none() {
            return Err(CudaError::InvalidValue);
        }
        let found = Arc::make_mut(&mut exec.body).find_mut(node);
        found.ok_or(CudaError::InvalidValue)
    }

    /// `cuGraphExecDestroy`. Returns what is to be called then.
    pub fn destroy_exec(&mut self, exec: ExecId) -> Result<Vec<Destructor>, CudaError> {
        let removed = self.execs.remove(&exec).ok_or(CudaError::InvalidValue)?;
        Ok(self.let_go_all(&removed.body))
    }

    /// Holds the objects of a graph and of those in it once more.
    pub fn hold_all(&mut self, body: &Body) {
        self.objects.hold(&body.objects);
        body.children().for_each(|child| self.hold_all(child));
    }

    /// Lets go of the objects of a graph and of those in it.
    pub fn let_go_all(&mut self, body: &Body) -> Vec<Destructor> {
        let mut calls = self.objects.let_go(&body.objects);
        for child in body.children() {
            calls.extend(self.let_go_all(child));
        }
        calls
    }
}
