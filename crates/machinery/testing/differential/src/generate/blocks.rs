//! Barriers of a block, and communication through shared memory between them.

use super::{Context, Generator};
use crate::tree::Node;
use cuda_sim::ptx::ast::Type;

impl Generator<'_> {
    /// Generates a barrier. Returns `None` inside branches, where not all threads would reach it.
    pub fn barrier(&mut self, context: &Context) -> Option<Node> {
        if !context.whole_block {
            return None;
        }
        let lines = match self.dice.below(4) {
            0 | 1 => self.exchange(),
            2 => self.block_reduction(),
            _ if self.exited || self.threads <= 32 => self.exchange(),
            _ => self.producer_consumer(),
        };
        // A barrier requires warps whose lanes have reconverged.
        let reconverge = "bar.warp.sync %mask;".to_owned();
        Some(self.code([vec![reconverge], lines].concat()))
    }

    /// Returns the number of threads of the block, rounded up to whole warps.
    fn rounded_threads(&self) -> u32 {
        self.threads.next_multiple_of(32)
    }

    /// Generates a barrier for all threads, in one of its spellings.
    fn sync(&mut self) -> String {
        let number = self.dice.below(16);
        let counted = if self.exited {
            String::new()
        } else {
            format!(", {}", self.rounded_threads())
        };
        let name = self.barrier_mnemonic("sync", "");
        if self.dice.chance(20) {
            return format!("{name} 0;");
        }
        if self.dice.chance(50) {
            return format!("{name} {number}{counted};");
        }
        format!("{name} {number};")
    }

    /// Returns one spelling of a barrier's mnemonic, for example `bar.red.popc.u32`.
    fn barrier_mnemonic(&mut self, kind: &str, ty: &str) -> String {
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

    /// Generates an exchange: each thread writes a value and, after a barrier, reads another thread's.
    fn exchange(&mut self) -> Vec<String> {
        let ty = [Type::B64, Type::B32, Type::B16][self.dice.below(3)];
        let (to, from) = (self.register(ty, ty.bytes()), self.register(ty, ty.bytes()));
        let (other, address) = (self.temporary('t'), self.temporary('t'));
        let (factor, shift) = (self.dice.between(1, 9), self.dice.below(300));
        vec![
            format!("st.shared.{} [%exchange], {from};", ty.modifier()),
            self.sync(),
            format!("mad.lo.u32 {other}, %tid_linear, {factor}, {shift};"),
            format!("rem.u32 {other}, {other}, {};", self.threads),
            format!("mov.u32 {address}, exchange;"),
            format!("mad.lo.u32 {address}, {other}, 8, {address};"),
            format!("ld.shared.{} {to}, [{address}];", ty.modifier()),
            self.sync(),
        ]
    }

    fn block_reduction(&mut self) -> Vec<String> {
        let (to, source) = (self.predicate(), self.maybe_negated_predicate());
        let number = self.dice.below(16);
        let count = if !self.exited && self.dice.chance(40) {
            format!(", {}", self.rounded_threads())
        } else {
            String::new()
        };
        vec![match self.dice.below(3) {
            0 => {
                let to = self.register(Type::U32, 4);
                let name = self.barrier_mnemonic("red.popc", ".u32");
                format!("{name} {to}, {number}{count}, {source};")
            }
            1 => {
                let name = self.barrier_mnemonic("red.and", ".pred");
                format!("{name} {to}, {number}{count}, {source};")
            }
            _ => {
                let name = self.barrier_mnemonic("red.or", ".pred");
                format!("{name} {to}, {number}{count}, {source};")
            }
        }]
    }

    /// Generates a producer-consumer pair: even warps write and arrive, odd ones wait and read.
    fn producer_consumer(&mut self) -> Vec<String> {
        let number = self.dice.between(1, 15);
        let (odd, warp) = (self.temporary('q'), self.temporary('t'));
        let (address, other) = (self.temporary('t'), self.temporary('t'));
        let (to, from) = (self.register(Type::B64, 8), self.register(Type::B64, 8));
        let label = self.statements + 1;
        let rounded_threads = self.rounded_threads();
        let arrive = self.barrier_mnemonic("arrive", "");
        vec![
            format!("and.b32 {warp}, %tid_linear, 32;"),
            format!("setp.ne.u32 {odd}, {warp}, 0;"),
            format!("@{odd} bra TAKE_{label};"),
            format!("st.shared.b64 [%exchange], {from};"),
            format!("{arrive} {number}, {rounded_threads};"),
            format!("bra.uni MEET_{label};"),
            format!("TAKE_{label}:"),
            format!("bar.sync {number}, {rounded_threads};"),
            // The thread of the same lane in the previous warp.
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
