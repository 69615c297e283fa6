//! Instructions introduced with compute capability 8.0: asynchronous copies, matrix loads and matrix
//! multiply-accumulates.

use super::{Context, Generator};
use crate::kernel::Node;
use crate::values::Kind;

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
