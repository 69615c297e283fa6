//! Instructions that several threads execute together: barriers of a block, with communication through shared memory
//! between them, and warp-wide instructions, with masks that name exactly the active lanes; and from compute capability 8.0
//! on, asynchronous copies, matrix loads and matrix multiply-accumulates.

use cuda_sim::ptx::ast::Type;

use super::{Context, Generator};
use crate::kernel::Node;
use crate::values::Kind;

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

impl Generator<'_> {
    /// Generates a warp-wide instruction. Returns `None` if the active lanes are unknown.
    pub fn warp_instruction(&mut self, context: &Context) -> Option<Node> {
        let mask = context.mask.clone()?;
        let kinds = match self.target {
            52 => 4,
            70 => 7,
            80 => 8,
            _ => 9,
        };
        let lines = match self.dice.below(kinds) {
            0 => self.vote(&mask),
            1 => self.shuffle_from(&mask),
            2 => self.shuffle_all(&mask),
            3 if context.whole_block => self.active_lanes(&mask),
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
        let (to, predicate) = (self.predicate(), self.maybe_negated_predicate());
        vec![match self.dice.below(4) {
            0 => {
                let to = self.register(Type::B32, 4);
                format!("vote.sync.ballot.b32 {to}, {predicate}, {mask};")
            }
            1 => format!("vote.sync.all.pred {to}, {predicate}, {mask};"),
            2 => format!("vote.sync.any.pred {to}, {predicate}, {mask};"),
            _ => format!("vote.sync.uni.pred {to}, {predicate}, {mask};"),
        }]
    }

    /// Generates a `shfl` from a participating lane: the nth lane of the mask, where n comes from a register.
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

    /// Generates a `shfl` of any mode and segment width, executed only if all lanes of the warp are active.
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

    /// Generates a query of the active lanes, outside branches, where all lanes have reconverged.
    fn active_lanes(&mut self, mask: &str) -> Vec<String> {
        let to = self.register(Type::B32, 4);
        let predicate = self.maybe_negated_predicate();
        let instruction = match self.dice.below(5) {
            0 if self.target == 52 => format!("vote.ballot.b32 {to}, {predicate};"),
            1 if self.target == 52 => format!("vote.any.pred {}, {predicate};", self.predicate()),
            2 if self.target == 52 => format!("vote.all.pred {}, {predicate};", self.predicate()),
            3 if self.target == 52 => format!("vote.uni.pred {}, {predicate};", self.predicate()),
            _ => return self.activemask(mask),
        };
        vec![format!("bar.warp.sync {mask};"), instruction]
    }

    /// Generates an `activemask`. Lanes need not stay converged after a barrier, so only two properties are
    /// checked: the mask contains the lane itself, and no lane that has exited.
    fn activemask(&mut self, mask: &str) -> Vec<String> {
        let (active, others, lane_bit) = (
            self.temporary('t'),
            self.temporary('t'),
            self.temporary('t'),
        );
        let (no_others, is_included) = (self.temporary('q'), self.temporary('q'));
        let to = self.predicate();
        vec![
            format!("activemask.b32 {active};"),
            format!("not.b32 {others}, {mask};"),
            format!("and.b32 {others}, {others}, {active};"),
            format!("setp.eq.u32 {no_others}, {others}, 0;"),
            format!("mov.u32 {lane_bit}, %lanemask_eq;"),
            format!("and.b32 {lane_bit}, {lane_bit}, {active};"),
            format!("setp.ne.u32 {is_included}, {lane_bit}, 0;"),
            format!("and.pred {to}, {no_others}, {is_included};"),
        ]
    }

    fn match_any(&mut self, mask: &str) -> Vec<String> {
        let to = self.register(Type::B32, 4);
        let (value, bits, lines) = self.match_value();
        let instruction = format!("match.any.sync.b{bits} {to}, {value}, {mask};");
        [lines, vec![instruction]].concat()
    }

    fn match_all(&mut self, mask: &str) -> Vec<String> {
        let to = self.register(Type::B32, 4);
        let to = self.with_predicate(to);
        let (value, bits, lines) = self.match_value();
        let instruction = format!("match.all.sync.b{bits} {to}, {value}, {mask};");
        [lines, vec![instruction]].concat()
    }

    /// Returns a value that some lanes share.
    fn match_value(&mut self) -> (String, u32, Vec<String>) {
        let (ty, bits, letter) = [(Type::B32, 32, 't'), (Type::B64, 64, 'u')][self.dice.below(2)];
        let value = self.register(ty, ty.bytes());
        if self.dice.chance(40) {
            return (value, bits, Vec::new());
        }
        let reduced = self.temporary(letter);
        let line = format!("and.b{bits} {reduced}, {value}, {};", self.dice.below(4));
        (reduced, bits, vec![line])
    }

    fn reduce(&mut self, mask: &str) -> Vec<String> {
        const KINDS: [&str; 9] = [
            "add.u32", "add.s32", "min.u32", "max.u32", "min.s32", "max.s32", "and.b32", "or.b32",
            "xor.b32",
        ];
        let kind = self.dice.choose(&KINDS);
        let (to, value) = (self.register(Type::U32, 4), self.register(Type::U32, 4));
        vec![format!("redux.sync.{kind} {to}, {value}, {mask};")]
    }

    fn elect(&mut self, mask: &str) -> Vec<String> {
        let to = self.register(Type::B32, 4);
        let predicate = self.predicate();
        vec![format!("elect.sync {to}|{predicate}, {mask};")]
    }

    /// Returns `d` or `d|p`.
    fn with_predicate(&mut self, to: String) -> String {
        if self.dice.chance(60) {
            format!("{to}|{}", self.predicate())
        } else {
            to
        }
    }
}

/// Forms of `mma`, each with the number of registers of the result, of A and of B.
const MMA_FORMS: [(&str, usize, usize, usize); 8] = [
    ("m16n8k4.row.col.f32.tf32.tf32.f32", 4, 2, 1),
    ("m16n8k8.row.col.f32.tf32.tf32.f32", 4, 4, 2),
    ("m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1),
    ("m16n8k16.row.col.f32.f16.f16.f32", 4, 4, 2),
    ("m16n8k8.row.col.f16.f16.f16.f16", 2, 2, 1),
    ("m16n8k16.row.col.f16.f16.f16.f16", 2, 4, 2),
    ("m16n8k8.row.col.f32.bf16.bf16.f32", 4, 2, 1),
    ("m16n8k16.row.col.f32.bf16.bf16.f32", 4, 4, 2),
];

impl Generator<'_> {
    /// Generates one of these instructions. Returns `None` if the target has none, or in a function, where
    /// the active lanes are unknown.
    pub fn matrix(&mut self, context: &Context) -> Option<Node> {
        if self.target < 80 || !context.kernel {
            return None;
        }
        if !context.whole_block || self.dice.chance(35) {
            let lines = self.copy_asynchronously();
            return Some(self.code(lines));
        }
        // The instructions below need whole warps.
        let (partial, number) = (self.temporary('q'), self.statements + 1);
        let mut lines = vec![
            format!("setp.ne.u32 {partial}, %mask, 0xffffffff;"),
            format!("@{partial} bra SKIP_{number};"),
            "bar.warp.sync 0xffffffff;".to_owned(),
        ];
        lines.extend(if self.dice.chance(50) {
            self.load_matrices()
        } else {
            self.mma()
        });
        lines.push(format!("SKIP_{number}:"));
        Some(self.code(lines))
    }

    /// Generates one or two copies from the inputs to the thread's shared memory, and a wait for them.
    fn copy_asynchronously(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        for part in 0..self.dice.between(1, 2) {
            let bytes = [4, 8, 16, 16][self.dice.below(4)];
            let to = 16 * part + bytes * self.dice.below(16 / bytes);
            let from = 16 * self.dice.below(128);
            let cache = if bytes == 16 && self.dice.chance(50) {
                "cg"
            } else {
                "ca"
            };
            let fetch = ["", "", ".L2::64B", ".L2::128B", ".L2::256B"][self.dice.below(5)];
            let space = ["shared", "shared::cta"][self.dice.below(2)];
            let source = match self.dice.below(4) {
                0 => format!(", {}", self.dice.below(bytes + 1)),
                1 => {
                    let (size, value) = (self.temporary('t'), self.register_of_kind(Kind::Int32));
                    lines.push(format!("rem.u32 {size}, {value}, {};", bytes + 1));
                    format!(", {size}")
                }
                2 => format!(", {}", self.predicate()),
                _ => String::new(),
            };
            lines.push(format!(
                "cp.async.{cache}.{space}.global{fetch} [%own+{to}], [%inputs+{from}], {bytes}{source};"
            ));
            if self.dice.chance(60) {
                lines.push("cp.async.commit_group;".to_owned());
            }
        }
        if self.dice.chance(50) {
            lines.push("cp.async.commit_group;".to_owned());
            lines.push("cp.async.wait_group 0;".to_owned());
        } else {
            lines.push("cp.async.wait_all;".to_owned());
        }
        lines
    }

    /// Generates a matrix load: each lane writes a row of eight halves, then all load the rows as fragments.
    fn load_matrices(&mut self) -> Vec<String> {
        let values: Vec<String> = (0..4)
            .map(|_| self.register_of_kind(Kind::Halves))
            .collect();
        let (row, lane) = (self.temporary('t'), self.temporary('t'));
        let count = [1, 2, 4][self.dice.below(3)];
        let numbers = self.dice.sample(count, self.pools.count(Kind::Halves));
        let to: Vec<String> = numbers.iter().map(|n| format!("%x{n}")).collect();
        let transposed = ["", ".trans"][self.dice.below(2)];
        let space = ["", ".shared", ".shared::cta"][self.dice.below(3)];
        let (factor, shift) = (self.dice.between(1, 7), self.dice.below(32));
        let generic = self.temporary('u');
        let address = if space.is_empty() { &generic } else { &row };
        vec![
            format!("mad.lo.u32 {row}, %lane, 16, %matrices;"),
            format!("st.shared.v4.b32 [{row}], {{{}}};", values.join(", ")),
            "bar.warp.sync 0xffffffff;".to_owned(),
            format!("mad.lo.u32 {lane}, %lane, {factor}, {shift};"),
            format!("and.b32 {lane}, {lane}, 31;"),
            format!("mad.lo.u32 {row}, {lane}, 16, %matrices;"),
            format!("cvt.u64.u32 {generic}, {row};"),
            format!("cvta.shared.u64 {generic}, {generic};"),
            format!(
                "ldmatrix.sync.aligned.m8n8.x{count}{transposed}{space}.b16 {{{}}}, [{address}];",
                to.join(", ")
            ),
            "bar.warp.sync 0xffffffff;".to_owned(),
        ]
    }

    fn mma(&mut self) -> Vec<String> {
        let (form, result_registers, first, second) = MMA_FORMS[self.dice.below(MMA_FORMS.len())];
        let (sums, factors) = (
            if result_registers == 4 {
                Kind::Single
            } else {
                Kind::Halves
            },
            if form.contains("tf32") {
                Kind::Single
            } else {
                Kind::Halves
            },
        );
        let numbers = self.dice.sample(result_registers, self.pools.count(sums));
        let prefix = super::prefix(sums);
        let to: Vec<String> = numbers.iter().map(|n| format!("{prefix}{n}")).collect();
        let mut registers = |kind, count: usize| {
            let all: Vec<String> = (0..count).map(|_| self.register_of_kind(kind)).collect();
            format!("{{{}}}", all.join(", "))
        };
        let (a, b, c) = (
            registers(factors, first),
            registers(factors, second),
            registers(sums, result_registers),
        );
        vec![format!(
            "mma.sync.aligned.{form} {{{}}}, {a}, {b}, {c};",
            to.join(", ")
        )]
    }
}
