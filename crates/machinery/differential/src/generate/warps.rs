//! Warp-wide instructions, under masks that name exactly the lanes that are there.

use super::{Generator, Place};
use crate::tree::Node;
use cuda_sim::ptx::ast::Type;

impl Generator<'_> {
    /// A warp-wide instruction; None where it is not known who is here.
    pub fn warp_wide(&mut self, place: &Place) -> Option<Node> {
        let mask = place.mask.clone()?;
        let newest = match self.target {
            52 => 4,
            70 => 7,
            80 => 8,
            _ => 9,
        };
        let lines = match self.dice.below(newest) {
            0 => self.vote(&mask),
            1 => self.shuffle_from(&mask),
            2 => self.shuffle_all(&mask),
            3 if place.whole_block => self.who_is_active(&mask),
            3 => vec![format!("bar.warp.sync {mask};")],
            4 => self.match_any(&mask),
            5 => self.match_all(&mask),
            6 => vec![format!("bar.warp.sync {mask};")],
            7 => self.reduce(&mask),
            _ => self.elect(&mask),
        };
        Some(self.code(lines))
    }

    fn vote(&mut self, mask: &str) -> Vec<String> {
        let (to, question) = (self.predicate(), self.maybe_not());
        vec![match self.dice.below(4) {
            0 => {
                let to = self.register(Type::B32, 4);
                format!("vote.sync.ballot.b32 {to}, {question}, {mask};")
            }
            1 => format!("vote.sync.all.pred {to}, {question}, {mask};"),
            2 => format!("vote.sync.any.pred {to}, {question}, {mask};"),
            _ => format!("vote.sync.uni.pred {to}, {question}, {mask};"),
        }]
    }

    /// `shfl` from a lane that takes part: the nth of the mask, n by a register's value.
    fn shuffle_from(&mut self, mask: &str) -> Vec<String> {
        let (count, n, lane) = (
            self.temporary('t'),
            self.temporary('t'),
            self.temporary('t'),
        );
        let source = self.register(Type::U32, 4);
        let (to, value) = (self.register(Type::B32, 4), self.register(Type::B32, 4));
        let to = self.with_predicate(to);
        vec![
            format!("popc.b32 {count}, {mask};"),
            format!("rem.u32 {n}, {source}, {count};"),
            format!("add.u32 {n}, {n}, 1;"),
            format!("fns.b32 {lane}, {mask}, 0, {n};"),
            format!("shfl.sync.idx.b32 {to}, {value}, {lane}, 31, {mask};"),
        ]
    }

    /// `shfl` of any kind, with any segments, where all lanes of the warp are here.
    fn shuffle_all(&mut self, mask: &str) -> Vec<String> {
        let kind = ["up", "down", "bfly", "idx"][self.dice.below(4)];
        let (to, value) = (self.register(Type::B32, 4), self.register(Type::B32, 4));
        let to = self.with_predicate(to);
        let lane = match self.dice.below(3) {
            0 => self.register(Type::U32, 4),
            _ => self.dice.below(33).to_string(),
        };
        let segments = match self.dice.below(4) {
            0 => self.register(Type::U32, 4),
            1 => (if kind == "up" { 0 } else { 31 }).to_string(),
            _ => {
                let segment = [0, 16, 24, 28, 30, 31][self.dice.below(6)];
                let clamp = if kind == "up" { 0 } else { 31 & !segment };
                (segment << 8 | clamp).to_string()
            }
        };
        let (partial, number) = (self.temporary('q'), self.statements + 1);
        let legacy = self.target == 52 && self.dice.chance(30);
        let shuffle = if legacy {
            format!("shfl.{kind}.b32 {to}, {value}, {lane}, {segments};")
        } else {
            format!("shfl.sync.{kind}.b32 {to}, {value}, {lane}, {segments}, {mask};")
        };
        vec![
            format!("setp.ne.u32 {partial}, {mask}, 0xffffffff;"),
            format!("@{partial} bra SKIP_{number};"),
            shuffle,
            format!("SKIP_{number}:"),
        ]
    }

    /// Outside of branches, with all lanes brought together.
    fn who_is_active(&mut self, mask: &str) -> Vec<String> {
        let to = self.register(Type::B32, 4);
        let question = self.maybe_not();
        let last = match self.dice.below(5) {
            0 if self.target == 52 => format!("vote.ballot.b32 {to}, {question};"),
            1 if self.target == 52 => format!("vote.any.pred {}, {question};", self.predicate()),
            2 if self.target == 52 => format!("vote.all.pred {}, {question};", self.predicate()),
            3 if self.target == 52 => format!("vote.uni.pred {}, {question};", self.predicate()),
            _ => return self.ask_who_is_active(mask),
        };
        vec![format!("bar.warp.sync {mask};"), last]
    }

    /// Lanes need not run together after they have met: all that `activemask` must say is that the
    /// lane itself is there, and nobody who is not.
    fn ask_who_is_active(&mut self, mask: &str) -> Vec<String> {
        let (active, others, own) = (
            self.temporary('t'),
            self.temporary('t'),
            self.temporary('t'),
        );
        let (alone, here) = (self.temporary('q'), self.temporary('q'));
        let to = self.predicate();
        vec![
            format!("activemask.b32 {active};"),
            format!("not.b32 {others}, {mask};"),
            format!("and.b32 {others}, {others}, {active};"),
            format!("setp.eq.u32 {alone}, {others}, 0;"),
            format!("mov.u32 {own}, %lanemask_eq;"),
            format!("and.b32 {own}, {own}, {active};"),
            format!("setp.ne.u32 {here}, {own}, 0;"),
            format!("and.pred {to}, {alone}, {here};"),
        ]
    }

    fn match_any(&mut self, mask: &str) -> Vec<String> {
        let to = self.register(Type::B32, 4);
        let (value, bits, lines) = self.value_to_match();
        let last = format!("match.any.sync.b{bits} {to}, {value}, {mask};");
        [lines, vec![last]].concat()
    }

    fn match_all(&mut self, mask: &str) -> Vec<String> {
        let to = self.register(Type::B32, 4);
        let to = self.with_predicate(to);
        let (value, bits, lines) = self.value_to_match();
        let last = format!("match.all.sync.b{bits} {to}, {value}, {mask};");
        [lines, vec![last]].concat()
    }

    /// A value that some lanes share.
    fn value_to_match(&mut self) -> (String, u32, Vec<String>) {
        let (ty, bits, letter) = [(Type::B32, 32, 't'), (Type::B64, 64, 'u')][self.dice.below(2)];
        let value = self.register(ty, ty.bytes());
        if self.dice.chance(40) {
            return (value, bits, Vec::new());
        }
        let few = self.temporary(letter);
        let line = format!("and.b{bits} {few}, {value}, {};", self.dice.below(4));
        (few, bits, vec![line])
    }

    fn reduce(&mut self, mask: &str) -> Vec<String> {
        const KINDS: [&str; 9] = [
            "add.u32", "add.s32", "min.u32", "max.u32", "min.s32", "max.s32", "and.b32", "or.b32",
            "xor.b32",
        ];
        let kind = self.dice.one(&KINDS);
        let (to, value) = (self.register(Type::U32, 4), self.register(Type::U32, 4));
        vec![format!("redux.sync.{kind} {to}, {value}, {mask};")]
    }

    fn elect(&mut self, mask: &str) -> Vec<String> {
        let to = self.register(Type::B32, 4);
        let predicate = self.predicate();
        vec![format!("elect.sync {to}|{predicate}, {mask};")]
    }

    /// `d` or `d|p`
    fn with_predicate(&mut self, to: String) -> String {
        if self.dice.chance(60) {
            format!("{to}|{}", self.predicate())
        } else {
            to
        }
    }
}
