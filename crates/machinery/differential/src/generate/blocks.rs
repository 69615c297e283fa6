//! Barriers of a block, and what threads tell each other through shared memory between them.

use super::{Generator, Place};
use crate::tree::Node;
use cuda_sim::ptx::ast::Type;

impl Generator<'_> {
    /// A barrier; None inside of branches.
    pub fn barrier(&mut self, place: &Place) -> Option<Node> {
        if !place.whole_block {
            return None;
        }
        let lines = match self.dice.below(4) {
            0 | 1 => self.exchange(),
            2 => self.vote_of_block(),
            _ if self.ended || self.threads <= 32 => self.exchange(),
            _ => self.produce(),
        };
        // A barrier is for warps whose lanes are together.
        let together = "bar.warp.sync %mask;".to_owned();
        Some(self.code([vec![together], lines].concat()))
    }

    /// The threads of the block, rounded up to whole warps.
    fn count(&self) -> u32 {
        self.threads.next_multiple_of(32)
    }

    /// A barrier for all, in one of its spellings.
    fn meet(&mut self) -> String {
        let number = self.dice.below(16);
        let counted = if self.ended {
            String::new()
        } else {
            format!(", {}", self.count())
        };
        let name = self.spelled_barrier("sync", "");
        if self.dice.chance(20) {
            return format!("{name} 0;");
        }
        if self.dice.chance(50) {
            return format!("{name} {number}{counted};");
        }
        format!("{name} {number};")
    }

    /// A barrier's name in one of its spellings: `bar.red.popc.u32`.
    fn spelled_barrier(&mut self, kind: &str, ty: &str) -> String {
        let name = if self.target >= 70 {
            ["bar", "barrier", "bar.cta", "barrier.cta"][self.dice.below(4)]
        } else {
            ["bar", "bar", "barrier"][self.dice.below(3)]
        };
        let aligned = if name.starts_with("barrier") && self.dice.chance(50) {
            ".aligned"
        } else {
            ""
        };
        format!("{name}.{kind}{aligned}{ty}")
    }

    /// Each thread writes a value and, behind a barrier, reads another's.
    fn exchange(&mut self) -> Vec<String> {
        let ty = [Type::B64, Type::B32, Type::B16][self.dice.below(3)];
        let (to, from) = (self.register(ty, ty.bytes()), self.register(ty, ty.bytes()));
        let (other, address) = (self.temporary('t'), self.temporary('t'));
        let (factor, shift) = (self.dice.between(1, 9), self.dice.below(300));
        vec![
            format!("st.shared.{} [%exchange], {from};", ty.modifier()),
            self.meet(),
            format!("mad.lo.u32 {other}, %tid_linear, {factor}, {shift};"),
            format!("rem.u32 {other}, {other}, {};", self.threads),
            format!("mov.u32 {address}, exchange;"),
            format!("mad.lo.u32 {address}, {other}, 8, {address};"),
            format!("ld.shared.{} {to}, [{address}];", ty.modifier()),
            self.meet(),
        ]
    }

    fn vote_of_block(&mut self) -> Vec<String> {
        let (to, question) = (self.predicate(), self.maybe_not());
        let number = self.dice.below(16);
        let count = if !self.ended && self.dice.chance(40) {
            format!(", {}", self.count())
        } else {
            String::new()
        };
        vec![match self.dice.below(3) {
            0 => {
                let to = self.register(Type::U32, 4);
                let name = self.spelled_barrier("red.popc", ".u32");
                format!("{name} {to}, {number}{count}, {question};")
            }
            1 => {
                let name = self.spelled_barrier("red.and", ".pred");
                format!("{name} {to}, {number}{count}, {question};")
            }
            _ => {
                let name = self.spelled_barrier("red.or", ".pred");
                format!("{name} {to}, {number}{count}, {question};")
            }
        }]
    }

    /// Even warps write and arrive, odd ones wait and read.
    fn produce(&mut self) -> Vec<String> {
        let number = self.dice.between(1, 15);
        let (odd, warp) = (self.temporary('q'), self.temporary('t'));
        let (address, other) = (self.temporary('t'), self.temporary('t'));
        let (to, from) = (self.register(Type::B64, 8), self.register(Type::B64, 8));
        let label = self.statements + 1;
        let count = self.count();
        let arrive = self.spelled_barrier("arrive", "");
        vec![
            format!("and.b32 {warp}, %tid_linear, 32;"),
            format!("setp.ne.u32 {odd}, {warp}, 0;"),
            format!("@{odd} bra TAKE_{label};"),
            format!("st.shared.b64 [%exchange], {from};"),
            format!("{arrive} {number}, {count};"),
            format!("bra.uni MEET_{label};"),
            format!("TAKE_{label}:"),
            format!("bar.sync {number}, {count};"),
            // The thread of the same lane one warp before.
            format!("sub.u32 {other}, %tid_linear, 32;"),
            format!("mov.u32 {address}, exchange;"),
            format!("mad.lo.u32 {address}, {other}, 8, {address};"),
            format!("ld.shared.b64 {to}, [{address}];"),
            format!("MEET_{label}:"),
            "bar.warp.sync %mask;".to_owned(),
            "bar.sync 0;".to_owned(),
        ]
    }
}
