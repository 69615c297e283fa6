//! Control flow: branches, loops, switches and early exits.

use super::{Context, Generator};
use crate::tree::Node;
use cuda_sim::ptx::ast::Type;

impl Generator<'_> {
    /// Generates an if/else on a predicate that may diverge. From sm_70 on, a vote before the branch
    /// computes the mask of active lanes for each side.
    pub fn branch(&mut self, context: &Context) -> Option<Node> {
        if context.depth >= 3 {
            return None;
        }
        let number = self.next_statement();
        let predicate = self.temporary('q');
        let mut before = vec![self.condition(&predicate)];
        let (mut then_context, mut else_context) = (self.nested(context), self.nested(context));
        if let Some(mask) = self.vote_mask(context) {
            let (yes, no) = (self.mask_register(), self.mask_register());
            before.push(format!("vote.sync.ballot.b32 {yes}, {predicate}, {mask};"));
            before.push(format!("not.b32 {no}, {yes};"));
            before.push(format!("and.b32 {no}, {no}, {mask};"));
            (then_context.mask, else_context.mask) = (Some(yes), Some(no));
        }
        let count = self.dice.between(1, 5);
        let then = self.statements(count, &then_context);
        let count = self.dice.below(4);
        let otherwise = self.statements(count, &else_context);
        Some(Node::If {
            number,
            before,
            predicate,
            then,
            otherwise,
        })
    }

    /// Generates a loop of up to seven iterations; a register holds their number. Some loops have a `break`.
    pub fn loop_statement(&mut self, context: &Context) -> Option<Node> {
        if context.depth >= 3 || context.loops >= 2 {
            return None;
        }
        let number = self.next_statement();
        let (counter, leave) = (self.mask_register(), self.temporary('q'));
        let source = self.register(Type::U32, 4);
        let mut before = vec![format!("and.b32 {counter}, {source}, 7;")];
        let mut head = vec![format!("setp.eq.u32 {leave}, {counter}, 0;")];
        let mut inner = self.nested(context);
        inner.loops += 1;
        if let Some(outer) = self.vote_mask(context) {
            let mask = self.mask_register();
            before.push(format!("mov.b32 {mask}, {outer};"));
            // The mask keeps the lanes that stay in the loop, which all reach the next iteration.
            head.push(format!("vote.sync.ballot.b32 {mask}, !{leave}, {mask};"));
            inner.mask = Some(mask);
        }
        let count = self.dice.between(1, 5);
        let mut body = self.statements(count, &inner);
        if self.dice.chance(30) {
            let out = self.temporary('q');
            let mut lines = vec![self.condition(&out)];
            if let Some(mask) = &inner.mask {
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

    /// Generates a `brx.idx` to one of up to four arms.
    pub fn switch(&mut self, context: &Context) -> Option<Node> {
        if context.depth >= 3 {
            return None;
        }
        let number = self.next_statement();
        let count = [2, 4][self.dice.below(2)];
        let (index, source) = (self.temporary('t'), self.register(Type::U32, 4));
        let mut before = vec![format!("and.b32 {index}, {source}, {};", count - 1)];
        let mut inner = self.nested(context);
        if let Some(outer) = self.vote_mask(context) {
            let mask = self.mask_register();
            before.push(format!("match.any.sync.b32 {mask}, {index}, {outer};"));
            inner.mask = Some(mask);
        }
        let arms = (0..count)
            .map(|_| {
                let statements = self.dice.below(4);
                self.statements(statements, &inner)
            })
            .collect();
        Some(Node::Switch {
            number,
            before,
            index,
            arms,
        })
    }

    /// Generates an early exit of some threads, whose results are never written.
    pub fn early_exit(&mut self, context: &Context) -> Option<Node> {
        if !context.whole_block || self.exited || self.dice.chance(50) {
            return None;
        }
        self.exited = true;
        let exits = self.temporary('q');
        let mut lines = vec![self.condition(&exits)];
        lines.push(format!("vote.sync.ballot.b32 %remain, !{exits}, %mask;"));
        let instruction = ["exit", "ret"][self.dice.below(2)];
        lines.push(format!("@{exits} {instruction};"));
        lines.push("mov.b32 %mask, %remain;".to_owned());
        Some(self.code(lines))
    }

    /// Generates a predicate from register values, from the lane, or from the block's index.
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

    fn nested(&self, context: &Context) -> Context {
        Context {
            mask: None,
            whole_block: false,
            depth: context.depth + 1,
            ..context.clone()
        }
    }

    /// Returns the mask to vote with, if the target and the context allow a vote before a branch.
    fn vote_mask(&self, context: &Context) -> Option<String> {
        context.mask.clone().filter(|_| self.target >= 70)
    }
}
