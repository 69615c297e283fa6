//! Generates random kernels that are valid and whose results do not depend on the schedule.
//!
//! The generator avoids whatever PTX leaves unspecified. A register is written before it is read. A lane
//! that a shuffle reads from takes part in it. Barriers are outside branches, and the mask of a warp-wide
//! instruction names exactly the lanes that execute it. Threads share memory only between barriers, and
//! atomics on shared cells commute. A product that the assembler could fuse with a later sum is hidden from
//! it. The result of an approximate instruction is used nowhere except in the output.

mod collectives;
mod flow;
mod memory;
mod operations;
mod scaffold;

use crate::forms::{Forms, TARGETS};
use crate::kernel::{Function, Kernel, Node, Slot};
use crate::values::{Dice, Kind};
use cuda_sim::ptx::ast::Type;

/// The context of a statement.
#[derive(Clone)]
struct Context {
    /// The register with the mask of the active lanes; `None` if they are unknown.
    mask: Option<String>,
    /// True if all threads of the block that have not exited reach the statement.
    whole_block: bool,
    /// The number of enclosing loops.
    loops: usize,
    /// The number of enclosing branches and loops.
    depth: usize,
    /// True in a kernel, false in a function that it calls.
    kernel: bool,
}

/// The state of the generator of one kernel.
struct Generator<'f> {
    dice: Dice,
    forms: &'f Forms,
    target: u32,
    pools: Pools,
    /// The number of statements so far.
    statements: u32,
    /// The number of temporary registers, each used by one statement only. The letter gives the width: `%t`
    /// has 32 bits, `%u` 64, `%v` 16, and `%q` is a predicate.
    temporaries: u32,
    /// The number of registers for masks and loop counters.
    masks: u32,
    block: [u32; 3],
    threads: u32,
    /// The slots of approximate results: their forms and numbers of operands.
    approximate: Vec<Slot>,
    /// Initial values of the cells in global and shared memory.
    global_cells: Vec<u64>,
    shared_cells: Vec<u64>,
    /// True if some threads may have exited early.
    exited: bool,
    /// The signature of the functions that can be called.
    signature: flow::Signature,
    functions: usize,
    /// True if the size of shared memory is set at launch.
    dynamic: bool,
}

/// Generates the kernel with this number of a series.
pub fn kernel(forms: &Forms, seed: u64, number: u64) -> Kernel {
    let mut dice = Dice::new(seed, number, 0);
    let target = TARGETS[[0, 0, 1, 2, 2, 3, 3, 3][dice.below(8)]];
    let block = match dice.below(6) {
        0 => [dice.between(1, 33) as u32, 1, 1],
        1 | 2 => [32 * dice.between(1, 6) as u32, 1, 1],
        3 => [dice.between(34, 200) as u32, 1, 1],
        4 => [dice.between(1, 17) as u32, dice.between(1, 8) as u32, 1],
        _ => [
            dice.between(1, 9) as u32,
            dice.between(1, 5) as u32,
            dice.between(1, 4) as u32,
        ],
    };
    let grid = match dice.below(3) {
        0 => [1, 1, 1],
        1 => [dice.between(1, 4) as u32, 1, 1],
        _ => [
            dice.between(1, 2) as u32,
            dice.between(1, 2) as u32,
            dice.between(1, 2) as u32,
        ],
    };
    let functions = dice.below(3);
    let dynamic = dice.chance(30);
    let size = dice.between(20, 100);
    let mut generator = Generator {
        signature: flow::Signature::random(&mut dice),
        dice,
        forms,
        target,
        pools: Pools::kernel(),
        statements: 0,
        temporaries: 0,
        masks: 0,
        block,
        threads: block.iter().product(),
        approximate: Vec::new(),
        global_cells: Vec::new(),
        shared_cells: Vec::new(),
        exited: false,
        functions,
        dynamic,
    };
    let functions: Vec<Function> = (0..functions).map(|n| generator.function(n)).collect();
    generator.pools = Pools::kernel();
    let context = Context {
        mask: Some("%mask".to_owned()),
        whole_block: true,
        loops: 0,
        depth: 0,
        kernel: true,
    };
    let body = generator.statements(size, &context);
    generator.finish(number, grid, functions, body)
}

impl Generator<'_> {
    /// Returns the number of a new statement.
    fn next_statement(&mut self) -> u32 {
        self.statements += 1;
        self.statements
    }

    /// Returns a new temporary register: `t` has 32 bits, `u` 64, `v` 16, and `q` is a predicate.
    fn temporary(&mut self, letter: char) -> String {
        self.temporaries += 1;
        format!("%{letter}{}", self.temporaries)
    }

    /// Returns a new register for a mask or a loop counter.
    fn mask_register(&mut self) -> String {
        self.masks += 1;
        format!("%m{}", self.masks)
    }

    fn code(&mut self, lines: Vec<String>) -> Node {
        let number = self.next_statement();
        Node::Code { number, lines }
    }

    /// Generates `count` statements, not counting those nested in branches and loops.
    fn statements(&mut self, count: usize, context: &Context) -> Vec<Node> {
        (0..count).map(|_| self.statement(context)).collect()
    }

    fn statement(&mut self, context: &Context) -> Node {
        loop {
            let statement_node = match self.dice.below(100) {
                0..45 => Some(self.operation()),
                45..49 => Some(self.carry_chain()),
                49..52 => context.kernel.then(|| self.approximation()),
                52..63 => context.kernel.then(|| self.access()),
                63..67 => context.kernel.then(|| self.refresh()),
                67..71 => context.kernel.then(|| self.atomic()),
                71..77 => self.warp_instruction(context),
                77..80 => self.barrier(context),
                80..83 => self.matrix(context),
                83..86 => self.call(context),
                86..88 => context.kernel.then(|| self.special()),
                88..94 => self.branch(context),
                94..96 => self.loop_statement(context),
                96..98 => self.switch(context),
                98 => Some(self.no_effect(context)),
                _ => self.early_exit(context),
            };
            if let Some(node) = statement_node {
                return node;
            }
        }
    }
}

/// The register pools: the number of registers of each kind of value, and of predicates. Each kind has a pool of its
/// own, so that chains of single-precision sums do not fill up with NaNs that are the bits of integers. Values cross
/// between pools only occasionally.
#[derive(Clone)]
struct Pools {
    counts: [usize; Kind::ALL.len()],
    predicates: usize,
}

impl Pools {
    fn kernel() -> Pools {
        Pools {
            counts: [5, 5, 8, 8, 4, 6, 6],
            predicates: 6,
        }
    }

    fn function() -> Pools {
        Pools {
            counts: [4, 4, 4, 4, 4, 4, 4],
            predicates: 3,
        }
    }

    fn count(&self, kind: Kind) -> usize {
        self.counts[kind as usize]
    }

    fn predicates(&self) -> usize {
        self.predicates
    }
}

/// Returns the prefix of a kind's registers: `%r`, `%f`, …
fn prefix(kind: Kind) -> &'static str {
    match kind {
        Kind::Int16 => "%h",
        Kind::Half => "%g",
        Kind::Int32 => "%r",
        Kind::Single => "%f",
        Kind::Halves => "%x",
        Kind::Int64 => "%l",
        Kind::Double => "%e",
    }
}

/// Returns the width in bytes of a kind's registers.
fn bytes(kind: Kind) -> u32 {
    match kind {
        Kind::Int16 | Kind::Half => 2,
        Kind::Int32 | Kind::Single | Kind::Halves => 4,
        Kind::Int64 | Kind::Double => 8,
    }
}

/// Returns the kind of value that a type usually holds.
fn kind_of(ty: Type) -> Kind {
    match ty {
        Type::F16 | Type::BF16 => Kind::Half,
        Type::F16x2 | Type::BF16x2 => Kind::Halves,
        Type::F32 => Kind::Single,
        Type::F64 => Kind::Double,
        _ => match ty.bytes() {
            8 => Kind::Int64,
            4 => Kind::Int32,
            _ => Kind::Int16,
        },
    }
}

impl Generator<'_> {
    /// Picks a register of `width` bytes for a value of the type.
    fn register(&mut self, ty: Type, width: u32) -> String {
        if ty == Type::Pred {
            return self.predicate();
        }
        let natural = kind_of(ty);
        let fits: Vec<Kind> = Kind::ALL
            .into_iter()
            .filter(|&kind| bytes(kind) == width)
            .collect();
        let kind = if bytes(natural) == width && self.dice.chance(88) {
            natural
        } else {
            fits[self.dice.below(fits.len())]
        };
        self.register_of_kind(kind)
    }

    fn register_of_kind(&mut self, kind: Kind) -> String {
        let number = self.dice.below(self.pools.count(kind));
        format!("{}{number}", prefix(kind))
    }

    /// Picks distinct registers of `width` bytes, because a vector must not write a register twice.
    fn distinct_registers(&mut self, ty: Type, width: u32, count: usize) -> Vec<String> {
        let natural = kind_of(ty);
        let kind = if bytes(natural) == width && self.pools.count(natural) >= count {
            natural
        } else {
            match width {
                2 => Kind::Int16,
                4 => Kind::Int32,
                _ => Kind::Int64,
            }
        };
        let numbers = self.dice.sample(count, self.pools.count(kind));
        numbers
            .into_iter()
            .map(|number| format!("{}{number}", prefix(kind)))
            .collect()
    }

    fn predicate(&mut self) -> String {
        format!("%p{}", self.dice.below(self.pools.predicates()))
    }

    /// Returns `%p` or `!%p`.
    fn maybe_negated_predicate(&mut self) -> String {
        let not = if self.dice.chance(30) { "!" } else { "" };
        format!("{not}{}", self.predicate())
    }

    /// Returns `@%p ` occasionally, otherwise an empty string.
    fn guard(&mut self) -> String {
        if self.dice.chance(10) {
            format!("@{} ", self.maybe_negated_predicate())
        } else {
            String::new()
        }
    }
}
