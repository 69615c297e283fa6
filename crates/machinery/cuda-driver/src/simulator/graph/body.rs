//! The graph data structure: nodes with their operations and dependencies.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use std::sync::Arc;

use crate::simulator::work::{Reserved, Work};

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
}

/// A node: an operation and its dependencies.
#[derive(Clone)]
pub struct Node {
    pub work: Work,
    /// The nodes that it depends on.
    pub after: Vec<NodeId>,
    /// The node that it was cloned from, in a cloned graph.
    pub original: Option<NodeId>,
    /// True if launches execute the node. A disabled node still orders its neighbours.
    pub enabled: bool,
    /// Pointers to a kernel's arguments, created when the program reads the node's parameters.
    pub pointers: Vec<Pointer>,
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
    pub fn new(work: Work, after: Vec<NodeId>) -> Self {
        Self {
            work,
            after,
            original: None,
            enabled: true,
            pointers: Vec::new(),
        }
    }
}

impl Body {
    pub fn new(id: GraphId) -> Self {
        Self {
            id,
            nodes: BTreeMap::new(),
            objects: BTreeMap::new(),
        }
    }

    /// Returns all nodes in a topological order. Among several nodes that could be next, chooses the one that
    /// was added
    /// first, or with a seed, a random one. Returns `None` if the graph has a cycle.
    pub fn order(&self, seed: Option<u64>) -> Option<Vec<NodeId>> {
        let mut followers: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
        let mut waiting: BTreeMap<NodeId, usize> = BTreeMap::new();
        let mut ready = BTreeSet::new();
        for (&id, node) in &self.nodes {
            for &before in &node.after {
                followers.entry(before).or_default().push(id);
            }
            match node.after.len() {
                0 => {
                    ready.insert(id);
                }
                others => {
                    waiting.insert(id, others);
                }
            }
        }
        let mut random = seed.map(Random);
        let mut order = Vec::with_capacity(self.nodes.len());
        while !ready.is_empty() {
            let at = random
                .as_mut()
                .map_or(0, |random| random.below(ready.len()));
            let next = *ready.iter().nth(at)?;
            ready.remove(&next);
            order.push(next);
            for follower in followers.get(&next).into_iter().flatten() {
                let left = waiting.get_mut(follower)?;
                *left -= 1;
                if *left == 0 {
                    ready.insert(*follower);
                }
            }
        }
        (order.len() == self.nodes.len()).then_some(order)
    }

    /// Returns a node of this graph or of a child graph.
    pub fn find(&self, id: NodeId) -> Option<&Node> {
        let inside = || self.children().find_map(|child| child.find(id));
        self.nodes.get(&id).or_else(inside)
    }

    /// Same as [`Body::find`], but mutable.
    pub fn find_mut(&mut self, id: NodeId) -> Option<&mut Node> {
        // Looks up twice to satisfy the borrow checker (Polonius case 3).
        if self.nodes.contains_key(&id) {
            return self.nodes.get_mut(&id);
        }
        let children = self.nodes.values_mut();
        children
            .filter_map(|node| match &mut node.work {
                Work::Graph(body) => Some(Arc::make_mut(body)),
                _ => None,
            })
            .find_map(|child| child.find_mut(id))
    }

    /// Returns the child graphs in its nodes.
    pub fn children(&self) -> impl Iterator<Item = &Body> {
        self.nodes.values().filter_map(|node| match &node.work {
            Work::Graph(body) => Some(&**body),
            _ => None,
        })
    }

    /// Returns true if a node here or in a child graph allocates or frees memory, which restricts what a
    /// graph can do.
    pub fn has_memory(&self) -> bool {
        let memory = |node: &Node| matches!(node.work, Work::Allocate(_) | Work::Free(_));
        self.nodes.values().any(memory) || self.children().any(Body::has_memory)
    }

    /// Returns the allocations of its nodes.
    pub fn allocations(&self) -> impl Iterator<Item = Reserved> {
        self.nodes.values().filter_map(|node| match node.work {
            Work::Allocate(reserved) => Some(reserved),
            _ => None,
        })
    }

    /// Returns `nodes` and all their transitive dependencies.
    pub fn ancestors(&self, nodes: &[NodeId]) -> BTreeSet<NodeId> {
        let mut found = BTreeSet::new();
        let mut next = nodes.to_vec();
        while let Some(id) = next.pop() {
            if found.insert(id) {
                let after = self.nodes.get(&id).map(|node| &node.after[..]);
                next.extend(after.unwrap_or_default());
            }
        }
        found
    }
}

/// A pseudorandom number generator (SplitMix64).
pub struct Random(pub u64);

impl Random {
    /// Returns a number below `limit`, which must not be 0.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(edges: &[(u64, &[u64])]) -> Body {
        let mut body = Body::new(GraphId(1));
        for &(id, after) in edges {
            let after = after.iter().map(|&id| NodeId(id)).collect();
            body.nodes.insert(NodeId(id), Node::new(Work::Empty, after));
        }
        body
    }

    #[test]
    fn an_order_respects_every_edge_and_a_seed_chooses_among_them() {
        let diamond = body(&[(1, &[]), (2, &[1]), (3, &[1]), (4, &[2, 3]), (5, &[])]);
        let usual: Vec<u64> = diamond.order(None).unwrap().iter().map(|id| id.0).collect();
        assert_eq!(usual, [1, 2, 3, 4, 5]);
        let mut seen = BTreeSet::new();
        for seed in 0..64 {
            let order = diamond.order(Some(seed)).unwrap();
            assert_eq!(diamond.order(Some(seed)).unwrap(), order);
            let place = |id| order.iter().position(|&other| other == NodeId(id)).unwrap();
            assert!(place(1) < place(2) && place(1) < place(3));
            assert!(place(2) < place(4) && place(3) < place(4));
            seen.insert(order);
        }
        // Two orders of the diamond, with five positions for the independent node.
        assert_eq!(seen.len(), 10);
    }

    #[test]
    fn nodes_that_wait_for_each_other_have_no_order() {
        assert_eq!(body(&[(1, &[2]), (2, &[1]), (3, &[])]).order(None), None);
    }

    #[test]
    fn ancestors_are_all_that_is_waited_for() {
        let diamond = body(&[(1, &[]), (2, &[1]), (3, &[1]), (4, &[2]), (5, &[])]);
        let found = diamond.ancestors(&[NodeId(4)]);
        assert_eq!(found, [1, 2, 4].map(NodeId).into());
    }
}
