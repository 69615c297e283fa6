//! Control flow: branches, loops, switches and early exits; device functions, and calls of them by name and by
//! pointer.

use super::{Context, Generator, Pools, bytes, prefix};
use crate::kernel::{Function, Node};
use crate::values::{Dice, Kind};
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

/// The parameters of a kernel's functions. All have the same ones, so that a pointer may lead to any of them.
#[derive(Clone)]
pub struct Signature {
    params: Vec<Param>,
}

#[derive(Clone, Copy)]
enum Param {
    Value(Type),
    /// A 16-byte structure.
    Structure,
}

impl Signature {
    pub fn random(dice: &mut Dice) -> Signature {
        let types = [
            Param::Value(Type::B32),
            Param::Value(Type::B64),
            Param::Value(Type::B16),
            Param::Value(Type::F32),
            Param::Value(Type::F64),
            Param::Value(Type::B8),
            Param::Structure,
        ];
        let count = dice.between(1, 5);
        Signature {
            params: (0..count).map(|_| types[dice.below(types.len())]).collect(),
        }
    }

    /// Returns the declaration, `(.param .align 8 .b8 ret[16]) NAME (.param .b32 p0, …)`.
    fn declaration(&self, name: &str, formal: bool) -> String {
        let params: Vec<String> = self
            .params
            .iter()
            .enumerate()
            .map(|(n, param)| {
                let name = if formal {
                    format!("p{n}")
                } else {
                    "_".to_owned()
                };
                param.declaration(&name)
            })
            .collect();
        let result = if formal { "ret" } else { "_" };
        format!(
            "(.param .align 8 .b8 {result}[16]) {name} ({})",
            params.join(", ")
        )
    }
}

impl Param {
    fn declaration(self, name: &str) -> String {
        match self {
            Param::Value(ty) => format!(".param .{} {name}", ty.modifier()),
            Param::Structure => format!(".param .align 8 .b8 {name}[16]"),
        }
    }
}

impl Generator<'_> {
    /// Generates a function of register instructions and control flow, whose result mixes all its registers.
    pub fn function(&mut self, n: usize) -> Function {
        self.pools = Pools::function();
        let context = Context {
            mask: None,
            whole_block: false,
            loops: 1,
            depth: 1,
            kernel: false,
        };
        let count = self.dice.between(2, 12);
        let body = self.statements(count, &context);
        Function {
            head: format!(
                ".func {}",
                self.signature.declaration(&format!("f{n}"), true)
            ),
            prologue: self.load_parameters(),
            body,
            epilogue: self.store_result(),
        }
    }

    /// Loads the parameters into all registers.
    fn load_parameters(&mut self) -> Vec<String> {
        let mut lines = vec!["mov.b64 %sum, 0x9e3779b97f4a7c15;".to_owned()];
        let mut add = |name: String, offset: usize, bits: u32| {
            lines.push(format!("ld.param.b{bits} %in{bits}, [{name}+{offset}];"));
            match bits {
                8 => lines.push("cvt.u64.u8 %in64, %in8;".to_owned()),
                16 => lines.push("cvt.u64.u16 %in64, %in16;".to_owned()),
                32 => lines.push("cvt.u64.u32 %in64, %in32;".to_owned()),
                _ => {}
            }
            lines.push("mad.lo.u64 %sum, %sum, 31, %in64;".to_owned());
        };
        for (n, param) in self.signature.params.clone().into_iter().enumerate() {
            match param {
                Param::Value(ty) => add(format!("p{n}"), 0, 8 * ty.bytes()),
                Param::Structure => {
                    add(format!("p{n}"), 0, 64);
                    add(format!("p{n}"), 8, 32);
                }
            }
        }
        for kind in Kind::ALL {
            for register in 0..self.pools.count(kind) {
                let register = format!("{}{register}", prefix(kind));
                let salt = self.dice.bits() | 1;
                lines.push(format!("mad.lo.u64 %sum, %sum, 0x{salt:x}, 12345;"));
                lines.push(match bytes(kind) {
                    2 => format!("cvt.u16.u64 {register}, %sum;"),
                    4 => format!("cvt.u32.u64 {register}, %sum;"),
                    _ => format!("mov.b64 {register}, %sum;"),
                });
            }
        }
        for register in 0..self.pools.predicates() {
            lines.push(format!("setp.lt.s32 %p{register}, %r{register}, 0;"));
        }
        lines
    }

    /// Mixes all registers into the result.
    fn store_result(&self) -> Vec<String> {
        let mut lines = vec!["mov.b64 %sum, 0;".to_owned()];
        for kind in Kind::ALL {
            for register in 0..self.pools.count(kind) {
                let register = format!("{}{register}", prefix(kind));
                lines.push(match bytes(kind) {
                    2 => format!("cvt.u64.u16 %in64, {register};"),
                    4 => format!("cvt.u64.u32 %in64, {register};"),
                    _ => format!("mov.b64 %in64, {register};"),
                });
                lines.push("mad.lo.u64 %sum, %sum, 0x100000001b3, %in64;".to_owned());
            }
        }
        lines.push("st.param.b64 [ret], %sum;".to_owned());
        lines.push("cvt.u32.u64 %in32, %sum;".to_owned());
        lines.push("st.param.b32 [ret+8], %in32;".to_owned());
        lines.push("st.param.b32 [ret+12], %r0;".to_owned());
        lines.push("ret;".to_owned());
        lines
    }

    /// Generates a call of a function, directly or through a pointer that a predicate selects.
    pub fn call(&mut self, context: &Context) -> Option<Node> {
        if !context.kernel || self.functions == 0 || context.loops >= 2 {
            return None;
        }
        let label = self.statements + 1;
        let mut lines = vec!["{".to_owned(), ".param .align 8 .b8 result[16];".to_owned()];
        let mut names = Vec::new();
        for (n, param) in self.signature.params.clone().into_iter().enumerate() {
            let name = format!("argument{n}");
            lines.push(format!("{};", param.declaration(&name)));
            match param {
                Param::Value(ty) => {
                    let width = ty.bytes().max(2);
                    let from = self.register(ty, width);
                    let from = self.opaque_bits(from, ty, width, &mut lines);
                    lines.push(format!("st.param.{} [{name}], {from};", ty.modifier()));
                }
                Param::Structure => {
                    let (a, b) = (self.register(Type::B64, 8), self.register(Type::B32, 4));
                    lines.push(format!("st.param.b64 [{name}], {a};"));
                    lines.push(format!("st.param.v2.b32 [{name}+8], {{{b}, {b}}};"));
                }
            }
            names.push(name);
        }
        let names = names.join(", ");
        let callee = self.dice.below(self.functions);
        if self.dice.chance(40) {
            let (pointer, other) = (self.temporary('u'), self.temporary('u'));
            let (second, choice) = (self.dice.below(self.functions), self.predicate());
            lines.push(format!("mov.u64 {pointer}, f{callee};"));
            lines.push(format!("mov.u64 {other}, f{second};"));
            lines.push(format!("selp.b64 {pointer}, {pointer}, {other}, {choice};"));
            lines.push(format!(
                "PROTOTYPE_{label}: .callprototype {};",
                self.signature.declaration("_", false)
            ));
            lines.push(format!(
                "call (result), {pointer}, ({names}), PROTOTYPE_{label};"
            ));
        } else {
            let guard = self.guard();
            if guard.is_empty() {
                lines.push(format!("call.uni (result), f{callee}, ({names});"));
            } else {
                // If the guard is false the call does not happen, so its result must not be read.
                lines.push(format!("{guard}call (result), f{callee}, ({names});"));
                lines.push("}".to_owned());
                return Some(self.code(lines));
            }
        }
        let (wide, narrow) = (
            self.register_of_kind(Kind::Int64),
            self.register_of_kind(Kind::Int32),
        );
        lines.push(format!("ld.param.b64 {wide}, [result];"));
        lines.push(format!("ld.param.b32 {narrow}, [result+8];"));
        lines.push("}".to_owned());
        Some(self.code(lines))
    }
}
