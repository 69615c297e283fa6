//! Graphs as data: nodes, each with its work and the nodes that it waits for.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use std::sync::Arc;

use crate::simulator::work::{Reserved, Work};

/// A graph (`CUgraph`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GraphId(pub u64);

/// A node (`CUgraphNode`). Later nodes have greater numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub u64);

/// A graph's nodes. An executable graph is a copy of them, in which they have the same numbers.
#[derive(Clone)]
pub struct Body {
    pub id: GraphId,
    /// In the order in which they were added.
    pub nodes: BTreeMap<NodeId, Node>,
    /// How often the graph holds each of the program's objects, by their numbers.
    pub objects: BTreeMap<u64, u64>,
}

#[derive(Clone)]
pub struct Node {
    pub work: Work,
    /// The nodes that it waits for.
    pub after: Vec<NodeId>,
    /// The node that it is a copy of, where its graph was cloned.
    pub original: Option<NodeId>,
    /// Whether it is done at a launch; a node that is not still keeps its place.
    pub enabled: bool,
    /// Where a kernel's arguments lie, once somebody has asked for them.
    pub pointers: Vec<Pointer>,
}

/// A pointer that the program was given.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Pointer(pub *mut c_void);

// SAFETY: it is not followed.
unsafe impl Send for Pointer {}
// SAFETY: as above.
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

    /// All nodes in an order in which each comes after those that it waits for: of several that could be
    /// next the one that was added first, or, with a seed, any of them. None where nodes wait for each
    /// other.
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

    /// A node of this graph, or of a graph in one of its nodes.
    pub fn find(&self, id: NodeId) -> Option<&Node> {
        let inside = || self.children().find_map(|child| child.find(id));
        self.nodes.get(&id).or_else(inside)
    }

    /// [`Body::find`], to change it.
    pub fn find_mut(&mut self, id: NodeId) -> Option<&mut Node> {
        // Twice, for a borrow that may be returned lasts to the end.
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

    /// The graphs in nodes of this one.
    pub fn children(&self) -> impl Iterator<Item = &Body> {
        self.nodes.values().filter_map(|node| match &node.work {
            Work::Graph(body) => Some(&**body),
            _ => None,
        })
    }

    /// Whether nodes here or below allocate or free memory, which forbids a graph several things.
    pub fn has_memory(&self) -> bool {
        let memory = |node: &Node| matches!(node.work, Work::Allocate(_) | Work::Free(_));
        self.nodes.values().any(memory) || self.children().any(Body::has_memory)
    }

    /// What its nodes allocate.
    pub fn allocations(&self) -> impl Iterator<Item = Reserved> {
        self.nodes.values().filter_map(|node| match node.work {
            Work::Allocate(reserved) => Some(reserved),
            _ => None,
        })
    }

    /// Every node of `nodes` and all that they wait for.
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

/// Numbers that a seed determines (SplitMix64).
pub struct Random(pub u64);

impl Random {
    /// A number below `limit`, which is not 0.
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
        // Two orders of the diamond, and five places for the node beside it.
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
