//! The operations of streams, and graphs of operations: streams execute them, captures collect them, and graphs store
//! them as nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{c_int, c_void};
use std::mem::discriminant;
use std::sync::Arc;

use cuda_sim::driver::{CheckedLaunch, ContextId, EventId, LibraryCall, Memcpy, Memset, StreamId};

use crate::types::{
    AccessWindow, CUhostFn, CUlaunchAttributeValue, CUstream, CUstreamCallback, MemoryOperation,
};

/// The set of operations that a wait covers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum WaitTarget {
    /// All operations submitted so far.
    All,
    Stream(ContextId, StreamId),
    Event(EventId),
}

/// One operation.
#[derive(Clone)]
pub enum StreamOp {
    /// No operation: an empty graph node, used as a dependency.
    Empty,
    Kernel(Kernel),
    Memcpy(Memcpy),
    Memset(Memset),
    Library(Arc<LibraryCall>),
    Host(HostFunction),
    /// Writes of values to memory, waits for values and barriers, in this order.
    Memory(Arc<[MemoryOperation]>),
    RecordEvent(EventId),
    WaitEvent(EventId),
    /// Records an event after the earlier operations of all streams of the context.
    RecordInContext(EventId),
    /// Delays the later operations of all streams of the context until an event has completed.
    WaitInContext(EventId),
    Allocate(Reservation),
    /// Frees the allocation at this address.
    Free(u64),
    Graph(Arc<Body>),
    Conditional(Conditional),
}

// SAFETY: the pointers in an operation are only dereferenced when it executes. The driver API requires them
// to be valid until then, on whichever thread executes the operation.
unsafe impl Send for StreamOp {}
// SAFETY: shared access to an operation dereferences no pointer.
unsafe impl Sync for StreamOp {}

impl StreamOp {
    /// Returns the events that it records.
    pub fn recorded_events(&self) -> Vec<EventId> {
        let mut events = Vec::new();
        self.visit(&mut |op| {
            if let StreamOp::RecordEvent(event) | StreamOp::RecordInContext(event) = op {
                events.push(*event);
            }
        });
        events
    }

    /// Returns the events that it waits for.
    pub fn awaited_events(&self) -> Vec<EventId> {
        let mut events = Vec::new();
        self.visit(&mut |op| {
            if let StreamOp::WaitEvent(event) | StreamOp::WaitInContext(event) = op {
                events.push(*event);
            }
        });
        events
    }

    /// Returns true if it is ordered with the operations of all streams of its context.
    pub fn concerns_context(&self) -> bool {
        matches!(
            self,
            StreamOp::RecordInContext(_) | StreamOp::WaitInContext(_)
        )
    }

    /// Returns the graph that it launches. Launches of one graph execute one after another.
    pub fn graph(&self) -> Option<GraphId> {
        match self {
            StreamOp::Graph(body) => Some(body.id),
            _ => None,
        }
    }

    /// Returns true if it calls a host function.
    pub fn calls_host_function(&self) -> bool {
        let mut calls = false;
        self.visit(&mut |op| calls |= matches!(op, StreamOp::Host(_)));
        calls
    }

    /// Returns true if it may wait for a later call of the program: if it calls a host function or waits for a value.
    pub fn may_wait_for_program(&self) -> bool {
        let mut may_wait = false;
        self.visit(&mut |op| {
            may_wait |= match op {
                StreamOp::Host(_) => true,
                StreamOp::Memory(operations) => operations.iter().any(|op| op.is_wait()),
                _ => false,
            }
        });
        may_wait
    }

    /// Returns true if both are of one kind, as types of graph nodes.
    pub fn is_same_kind(&self, other: &StreamOp) -> bool {
        discriminant(self) == discriminant(other)
    }

    /// Returns true if a copy or fill has more than one row: such nodes of an executable graph cannot be changed.
    pub fn is_multi_row(&self) -> bool {
        match self {
            StreamOp::Memcpy(Memcpy { height, depth, .. }) => *height > 1 || *depth > 1,
            StreamOp::Memset(memset) => memset.height > 1,
            _ => false,
        }
    }

    /// Calls `f` for each operation: for a graph, for those of its nodes.
    fn visit(&self, f: &mut impl FnMut(&StreamOp)) {
        let bodies = self.bodies();
        for node in bodies.iter().flat_map(|body| body.nodes.values()) {
            node.op.visit(f);
        }
        if bodies.is_empty() {
            f(self);
        }
    }

    /// Returns the graphs that it contains.
    pub fn bodies(&self) -> &[Arc<Body>] {
        match self {
            StreamOp::Graph(body) => std::slice::from_ref(body),
            StreamOp::Conditional(conditional) => &conditional.bodies,
            _ => &[],
        }
    }

    /// Same as [`StreamOp::bodies`], but mutable.
    pub fn bodies_mut(&mut self) -> &mut [Arc<Body>] {
        match self {
            StreamOp::Graph(body) => std::slice::from_mut(body),
            StreamOp::Conditional(conditional) => &mut conditional.bodies,
            _ => &mut [],
        }
    }

    /// Returns true if a graph of a conditional node may contain it. Source: CUDA Driver API, `cuGraphAddNode`.
    pub fn is_allowed_in_conditional(&self) -> bool {
        match self {
            StreamOp::Empty
            | StreamOp::Kernel(_)
            | StreamOp::Memcpy(_)
            | StreamOp::Memset(_)
            | StreamOp::Library(_)
            | StreamOp::Conditional(_) => true,
            StreamOp::Graph(body) => {
                let mut nodes = body.nodes.values();
                nodes.all(|node| node.op.is_allowed_in_conditional())
            }
            _ => false,
        }
    }
}

/// A conditional node: its graphs, of which the value of a handle selects one.
#[derive(Clone)]
pub struct Conditional {
    /// The number of the handle.
    pub handle: u64,
    pub kind: ConditionalKind,
    pub bodies: Vec<Arc<Body>>,
}

/// A `CUgraphConditionalNodeType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionalKind {
    /// Runs the first graph if the value is not 0, otherwise the second one, if there is one.
    If = 0,
    /// Runs the graph until the value is 0.
    While = 1,
    /// Runs the graph whose index is the value.
    Switch = 2,
}

impl Conditional {
    /// Returns the graph that a value of the handle selects.
    pub fn selected(&self, value: u32) -> Option<&Arc<Body>> {
        let index = match self.kind {
            ConditionalKind::If => u32::from(value == 0),
            ConditionalKind::While if value == 0 => return None,
            ConditionalKind::While => 0,
            ConditionalKind::Switch => value,
        };
        self.bodies.get(index as usize)
    }
}

/// A handle of a conditional node.
#[derive(Clone, Copy)]
pub struct ConditionalHandle {
    pub number: u64,
    /// The value at the start of each launch of the graph; `None` if a launch keeps the value.
    pub default: Option<u32>,
}

/// A kernel launch.
#[derive(Clone, PartialEq)]
pub struct Kernel {
    pub launch: CheckedLaunch,
    /// The size of a cluster as requested; `None` for that of the kernel.
    pub cluster: Option<[u32; 3]>,
    /// A graph node's priority.
    pub priority: i32,
    /// A graph node's access policy window.
    pub window: AccessWindow,
    /// A graph node's other attributes, which have no effect.
    pub stored: BTreeMap<c_int, CUlaunchAttributeValue>,
}

/// A host function and its argument.
#[derive(Clone, Copy)]
pub enum HostFunction {
    /// From `cuLaunchHostFunc`.
    Plain {
        function: CUhostFn,
        data: *mut c_void,
    },
    /// From `cuStreamAddCallback`; also receives the stream.
    Callback {
        function: CUstreamCallback,
        stream: CUstream,
        data: *mut c_void,
    },
}

// SAFETY: the driver API requires that a host function and its argument may be used on any thread.
unsafe impl Send for HostFunction {}

/// An allocation of a graph: its address is valid as long as the graph exists, its memory only between an
/// allocation node and a free.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Reservation {
    pub address: u64,
    pub bytes: u64,
}

/// The number of a graph (`CUgraph`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GraphId(pub u64);

/// The number of a node (`CUgraphNode`). Later nodes have greater numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub u64);

/// The nodes of a graph. An executable graph is a copy in which the nodes keep their numbers.
#[derive(Clone)]
pub struct Body {
    pub id: GraphId,
    /// The nodes, in the order in which they were added.
    pub nodes: BTreeMap<NodeId, Node>,
    /// Number of references that the graph holds to each user object, by object number.
    pub objects: BTreeMap<u64, u64>,
    /// The handles of conditional nodes that were created for the graph.
    pub handles: Vec<ConditionalHandle>,
}

/// A node: an operation and its dependencies.
#[derive(Clone)]
pub struct Node {
    pub op: StreamOp,
    /// The nodes that it depends on.
    pub dependencies: Vec<NodeId>,
    /// The node that it was cloned from, in a cloned graph.
    pub original: Option<NodeId>,
    /// True if launches execute the node. A disabled node still orders its neighbours.
    pub enabled: bool,
    /// A list that the program reads: pointers to a kernel's arguments, created when the program reads the node's
    /// parameters, or the handles of a conditional node's graphs.
    pub listed: Vec<Pointer>,
}

/// A pointer handed out to the program.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Pointer(pub *mut c_void);

// SAFETY: the pointer is never dereferenced here.
unsafe impl Send for Pointer {}
// SAFETY: the pointer is never dereferenced here.
unsafe impl Sync for Pointer {}

impl Node {
    pub fn new(op: StreamOp, dependencies: Vec<NodeId>) -> Self {
        Self {
            op,
            dependencies,
            original: None,
            enabled: true,
            listed: Vec::new(),
        }
    }
}

impl Body {
    pub fn new(id: GraphId) -> Self {
        Self {
            id,
            nodes: BTreeMap::new(),
            objects: BTreeMap::new(),
            handles: Vec::new(),
        }
    }

    /// Returns all nodes in a topological order. Among several nodes that could be next, chooses the one that
    /// was added first, or with a seed, a random one. Returns `None` if the graph has a cycle.
    pub fn order(&self, seed: Option<u64>) -> Option<Vec<NodeId>> {
        let mut successors: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
        let mut pending: BTreeMap<NodeId, usize> = BTreeMap::new();
        let mut ready = BTreeSet::new();
        for (&id, node) in &self.nodes {
            for &dependency in &node.dependencies {
                successors.entry(dependency).or_default().push(id);
            }
            match node.dependencies.len() {
                0 => {
                    ready.insert(id);
                }
                count => {
                    pending.insert(id, count);
                }
            }
        }
        let mut random = seed.map(Random);
        let mut order = Vec::with_capacity(self.nodes.len());
        while !ready.is_empty() {
            let index = random
                .as_mut()
                .map_or(0, |random| random.below(ready.len()));
            let next = *ready.iter().nth(index)?;
            ready.remove(&next);
            order.push(next);
            for successor in successors.get(&next).into_iter().flatten() {
                let remaining = pending.get_mut(successor)?;
                *remaining -= 1;
                if *remaining == 0 {
                    ready.insert(*successor);
                }
            }
        }
        (order.len() == self.nodes.len()).then_some(order)
    }

    /// Returns a node of this graph or of a child graph.
    pub fn find(&self, id: NodeId) -> Option<&Node> {
        let in_children = || self.children().find_map(|child| child.find(id));
        self.nodes.get(&id).or_else(in_children)
    }

    /// Same as [`Body::find`], but mutable.
    pub fn find_mut(&mut self, id: NodeId) -> Option<&mut Node> {
        // Looks up twice to satisfy the borrow checker (Polonius case 3).
        if self.nodes.contains_key(&id) {
            return self.nodes.get_mut(&id);
        }
        let children = self.nodes.values_mut();
        children
            .flat_map(|node| node.op.bodies_mut())
            .find_map(|child| Arc::make_mut(child).find_mut(id))
    }

    /// Returns the nodes that `matches` accepts.
    pub fn nodes_where(&self, matches: impl Fn(&Node) -> bool) -> Vec<NodeId> {
        let nodes = self.nodes.iter().filter(|(_, node)| matches(node));
        nodes.map(|(id, _)| *id).collect()
    }

    /// Returns all edges, from a node to a dependent node, sorted by source node.
    pub fn edges(&self) -> Vec<(NodeId, NodeId)> {
        let edges_to = |(&id, node): (&NodeId, &Node)| -> Vec<_> {
            node.dependencies
                .iter()
                .map(|&source| (source, id))
                .collect()
        };
        let mut edges: Vec<_> = self.nodes.iter().flat_map(edges_to).collect();
        edges.sort();
        edges
    }

    /// Returns a node of a dependency cycle, here or in a child graph.
    pub fn find_cycle(&self) -> Option<NodeId> {
        if self.order(None).is_none() {
            let waits_for_itself = |node: &NodeId| {
                self.ancestors(&self.nodes[node].dependencies)
                    .contains(node)
            };
            return self.nodes.keys().copied().find(waits_for_itself);
        }
        self.children().find_map(Body::find_cycle)
    }

    /// Returns the graphs in its nodes: child graphs, and those of conditional nodes.
    pub fn children(&self) -> impl Iterator<Item = &Body> {
        let bodies = self.nodes.values().flat_map(|node| node.op.bodies());
        bodies.map(|body| &**body)
    }

    /// Returns true if it can be copied and be a child graph: if it has neither memory nodes nor conditional nodes.
    pub fn can_be_child(&self) -> bool {
        let is_conditional = |node: &Node| matches!(node.op, StreamOp::Conditional(_));
        !self.has_memory()
            && !self.nodes.values().any(is_conditional)
            && self.children().all(Body::can_be_child)
    }

    /// Returns a node of a type that is not permitted in the graph of a conditional node, here or in a child graph.
    pub fn find_forbidden(&self) -> Option<NodeId> {
        self.nodes.values().find_map(|node| match &node.op {
            StreamOp::Conditional(conditional) => {
                let nodes = conditional.bodies.iter().flat_map(|body| &body.nodes);
                let mut forbidden = nodes.filter(|(_, node)| !node.op.is_allowed_in_conditional());
                let in_bodies = || {
                    conditional
                        .bodies
                        .iter()
                        .find_map(|body| body.find_forbidden())
                };
                forbidden.next().map(|(id, _)| *id).or_else(in_bodies)
            }
            op => op.bodies().iter().find_map(|body| body.find_forbidden()),
        })
    }

    /// Returns true if a conditional node here or in one of the graphs in its nodes uses this handle.
    pub fn uses_handle(&self, handle: u64) -> bool {
        let uses = |node: &Node| match &node.op {
            StreamOp::Conditional(conditional) => conditional.handle == handle,
            _ => false,
        };
        self.nodes.values().any(uses) || self.children().any(|child| child.uses_handle(handle))
    }

    /// Returns true if a node here or in a child graph allocates or frees memory, which restricts what a
    /// graph can do.
    pub fn has_memory(&self) -> bool {
        let touches_memory =
            |node: &Node| matches!(node.op, StreamOp::Allocate(_) | StreamOp::Free(_));
        self.nodes.values().any(touches_memory) || self.children().any(Body::has_memory)
    }

    /// Returns the allocations of its nodes.
    pub fn allocations(&self) -> impl Iterator<Item = Reservation> {
        self.nodes.values().filter_map(|node| match node.op {
            StreamOp::Allocate(reserved) => Some(reserved),
            _ => None,
        })
    }

    /// Returns `nodes` and all their transitive dependencies.
    pub fn ancestors(&self, nodes: &[NodeId]) -> BTreeSet<NodeId> {
        let mut ancestors = BTreeSet::new();
        let mut next = nodes.to_vec();
        while let Some(id) = next.pop() {
            if ancestors.insert(id) {
                let dependencies = self.nodes.get(&id).map(|node| &node.dependencies[..]);
                next.extend(dependencies.unwrap_or_default());
            }
        }
        ancestors
    }
}

/// A pseudorandom number generator (SplitMix64).
pub struct Random(pub u64);

impl Random {
    /// Returns a number below `limit`, which must not be 0.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(edges: &[(u64, &[u64])]) -> Body {
        let mut body = Body::new(GraphId(1));
        for &(id, dependencies) in edges {
            let dependencies = dependencies.iter().map(|&id| NodeId(id)).collect();
            body.nodes
                .insert(NodeId(id), Node::new(StreamOp::Empty, dependencies));
        }
        body
    }

    #[test]
    fn orders_respect_edges_and_vary_with_the_seed() {
        let diamond = body(&[(1, &[]), (2, &[1]), (3, &[1]), (4, &[2, 3]), (5, &[])]);
        let default_order: Vec<u64> = diamond.order(None).unwrap().iter().map(|id| id.0).collect();
        assert_eq!(default_order, [1, 2, 3, 4, 5]);
        let mut orders = BTreeSet::new();
        for seed in 0..64 {
            let order = diamond.order(Some(seed)).unwrap();
            assert_eq!(diamond.order(Some(seed)).unwrap(), order);
            let position = |id| order.iter().position(|&other| other == NodeId(id)).unwrap();
            assert!(position(1) < position(2) && position(1) < position(3));
            assert!(position(2) < position(4) && position(3) < position(4));
            orders.insert(order);
        }
        // Two orders of the diamond, with five positions for the independent node.
        assert_eq!(orders.len(), 10);
    }

    #[test]
    fn cyclic_graphs_have_no_order() {
        let cyclic = body(&[(1, &[2]), (2, &[1]), (3, &[])]);
        assert_eq!(cyclic.order(None), None);
        assert_eq!(cyclic.find_cycle(), Some(NodeId(1)));
    }

    #[test]
    fn ancestors_include_transitive_dependencies() {
        let diamond = body(&[(1, &[]), (2, &[1]), (3, &[1]), (4, &[2]), (5, &[])]);
        let ancestors = diamond.ancestors(&[NodeId(4)]);
        assert_eq!(ancestors, [1, 2, 4].map(NodeId).into());
    }
}
