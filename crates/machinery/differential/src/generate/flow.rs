//! Branches, loops, switches, early ends.

use super::{Generator, Place};
use crate::tree::Node;
use cuda_sim::ptx::ast::Type;

impl Generator<'_> {
    /// if/else by a predicate that may differ between lanes. From sm_70 on a vote before it tells
    /// each side who is there.
    pub fn branch(&mut self, place: &Place) -> Option<Node> {
        if place.depth >= 3 {
            return None;
        }
        let number = self.number();
        let predicate = self.temporary('q');
        let mut before = vec![self.condition(&predicate)];
        let (mut here, mut there) = (self.inner(place), self.inner(place));
        if let Some(mask) = self.votes(place) {
            let (yes, no) = (self.own(), self.own());
            before.push(format!("vote.sync.ballot.b32 {yes}, {predicate}, {mask};"));
            before.push(format!("not.b32 {no}, {yes};"));
            before.push(format!("and.b32 {no}, {no}, {mask};"));
            (here.mask, there.mask) = (Some(yes), Some(no));
        }
        let count = self.dice.between(1, 5);
        let then = self.statements(count, &here);
        let count = self.dice.below(4);
        let otherwise = self.statements(count, &there);
        Some(Node::If {
            number,
            before,
            predicate,
            then,
            otherwise,
        })
    }

    /// A loop of up to seven turns, as a register says; now and then left from inside.
    pub fn repeat(&mut self, place: &Place) -> Option<Node> {
        if place.depth >= 3 || place.loops >= 2 {
            return None;
        }
        let number = self.number();
        let (counter, leave) = (self.own(), self.temporary('q'));
        let source = self.register(Type::U32, 4);
        let mut before = vec![format!("and.b32 {counter}, {source}, 7;")];
        let mut head = vec![format!("setp.eq.u32 {leave}, {counter}, 0;")];
        let mut inside = self.inner(place);
        inside.loops += 1;
        if let Some(outer) = self.votes(place) {
            let mask = self.own();
            before.push(format!("mov.b32 {mask}, {outer};"));
            // Those who go on are those who come to the next turn.
            head.push(format!("vote.sync.ballot.b32 {mask}, !{leave}, {mask};"));
            inside.mask = Some(mask);
        }
        let count = self.dice.between(1, 5);
        let mut body = self.statements(count, &inside);
        if self.dice.chance(30) {
            let out = self.temporary('q');
            let mut lines = vec![self.condition(&out)];
            if let Some(mask) = &inside.mask {
                lines.push(format!("vote.sync.ballot.b32 {mask}, !{out}, {mask};"));
            }
            lines.push(format!("@{out} bra END_{number};"));
            let leaving = self.code(lines);
            let at = self.dice.below(body.len() + 1);
            body.insert(at, leaving);
        }
        let step = vec![format!("sub.u32 {counter}, {counter}, 1;")];
        Some(Node::Loop {
            number,
            before,
            head,
            leave,
            body,
            step,
        })
    }

    /// `brx.idx` to one of up to four arms.
    pub fn switch(&mut self, place: &Place) -> Option<Node> {
        if place.depth >= 3 {
            return None;
        }
        let number = self.number();
        let count = [2, 4][self.dice.below(2)];
        let (index, source) = (self.temporary('t'), self.register(Type::U32, 4));
        let mut before = vec![format!("and.b32 {index}, {source}, {};", count - 1)];
        let mut inside = self.inner(place);
        if let Some(outer) = self.votes(place) {
            let mask = self.own();
            before.push(format!("match.any.sync.b32 {mask}, {index}, {outer};"));
            inside.mask = Some(mask);
        }
        let arms = (0..count)
            .map(|_| {
                let statements = self.dice.below(4);
                self.statements(statements, &inside)
            })
            .collect();
        Some(Node::Switch {
            number,
            before,
            index,
            arms,
        })
    }

    /// Some threads end here, their values not written.
    pub fn end_early(&mut self, place: &Place) -> Option<Node> {
        if !place.whole_block || self.ended || self.dice.chance(50) {
            return None;
        }
        self.ended = true;
        let ends = self.temporary('q');
        let mut lines = vec![self.condition(&ends)];
        lines.push(format!("vote.sync.ballot.b32 %remain, !{ends}, %mask;"));
        let end = ["exit", "ret"][self.dice.below(2)];
        lines.push(format!("@{ends} {end};"));
        lines.push("mov.b32 %mask, %remain;".to_owned());
        Some(self.code(lines))
    }

    /// A predicate from values, from the lane, or from the block's number.
    fn condition(&mut self, predicate: &str) -> String {
        match self.dice.below(6) {
            0 => format!("setp.lt.u32 {predicate}, %lane, {};", self.dice.below(33)),
            1 => format!("setp.eq.u32 {predicate}, %block, {};", self.dice.below(3)),
            2 => format!("mov.pred {predicate}, {};", self.predicate()),
            3 => {
                let source = self.register(Type::F32, 4);
                format!("setp.gtu.f32 {predicate}, {source}, 0f3F800000;")
            }
            _ => {
                let (a, b) = (self.register(Type::S32, 4), self.register(Type::S32, 4));
                format!("setp.lt.s32 {predicate}, {a}, {b};")
            }
        }
    }

    fn inner(&self, place: &Place) -> Place {
        Place {
            mask: None,
            whole_block: false,
            depth: place.depth + 1,
            ..place.clone()
        }
    }

    /// The mask to vote under, where a vote may stand before a branch.
    fn votes(&self, place: &Place) -> Option<String> {
        place.mask.clone().filter(|_| self.target >= 70)
    }
}
