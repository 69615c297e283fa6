//! Random kernels: valid, and the same answer however threads are scheduled.
//!
//! What PTX leaves open is kept out: a register is written before it is read; a lane that a shuffle
//! reads from takes part in it; threads meet at barriers outside of branches, and in warp-wide
//! instructions under masks that say who comes; threads share memory between barriers only, and
//! atomics to shared places commute. A product that could be fused with a later sum is hidden from
//! the assembler. What an approximate instruction answers goes nowhere but into the output.

mod blocks;
mod calls;
mod flow;
mod matrices;
mod memory;
mod operations;
mod pools;
mod shell;
mod warps;

use crate::dice::Dice;
use crate::forms::{Forms, TARGETS};
use crate::kernel::{Function, Kernel, Slot};
use crate::tree::Node;
use pools::Pools;

/// What holds where a statement stands.
#[derive(Clone)]
struct Place {
    /// The register with the mask of the lanes that are here together; None where that is not known.
    mask: Option<String>,
    /// All threads of the block that have not ended are here.
    whole_block: bool,
    /// Loops around it.
    loops: usize,
    /// Branches and loops around it.
    depth: usize,
    /// In a kernel, not in a function that it calls.
    kernel: bool,
}

/// A statement that is being written: what its instructions need of their own.
struct Generator<'f> {
    dice: Dice,
    forms: &'f Forms,
    target: u32,
    pools: Pools,
    /// Statements so far.
    statements: u32,
    /// Registers of one statement only, by width: `%t` of 32 bits, `%u` of 64, `%v` of 16, `%q`
    /// predicates.
    temporaries: u32,
    /// Masks and loop counters.
    masks: u32,
    block: [u32; 3],
    threads: u32,
    /// Places for approximate answers: what they are, and their operands' bytes.
    approximate: Vec<Slot>,
    /// What global and shared cells hold first.
    global_cells: Vec<u64>,
    shared_cells: Vec<u64>,
    /// Some thread may have ended early.
    ended: bool,
    /// Functions that can be called.
    signature: calls::Signature,
    functions: usize,
    /// Shared memory is sized at launch.
    dynamic: bool,
}

/// The kernel with this number of a series.
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
        signature: calls::Signature::random(&mut dice),
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
        ended: false,
        functions,
        dynamic,
    };
    let functions: Vec<Function> = (0..functions).map(|n| generator.function(n)).collect();
    generator.pools = Pools::kernel();
    let place = Place {
        mask: Some("%mask".to_owned()),
        whole_block: true,
        loops: 0,
        depth: 0,
        kernel: true,
    };
    let body = generator.statements(size, &place);
    generator.finish(number, grid, functions, body)
}

impl Generator<'_> {
    /// A new statement's number.
    fn number(&mut self) -> u32 {
        self.statements += 1;
        self.statements
    }

    /// A register of one statement's own: `t` 32 bits, `u` 64, `v` 16, `q` a predicate.
    fn temporary(&mut self, letter: char) -> String {
        self.temporaries += 1;
        format!("%{letter}{}", self.temporaries)
    }

    /// A register for a mask or a loop's counter.
    fn own(&mut self) -> String {
        self.masks += 1;
        format!("%m{}", self.masks)
    }

    fn code(&mut self, lines: Vec<String>) -> Node {
        let number = self.number();
        Node::Code { number, lines }
    }

    /// About `count` statements, those inside branches and loops not counted.
    fn statements(&mut self, count: usize, place: &Place) -> Vec<Node> {
        (0..count).map(|_| self.statement(place)).collect()
    }

    fn statement(&mut self, place: &Place) -> Node {
        loop {
            let made = match self.dice.below(100) {
                0..45 => Some(self.operation()),
                45..49 => Some(self.carry_chain()),
                49..52 => place.kernel.then(|| self.approximation()),
                52..63 => place.kernel.then(|| self.access()),
                63..67 => place.kernel.then(|| self.refresh()),
                67..71 => place.kernel.then(|| self.atomic()),
                71..77 => self.warp_wide(place),
                77..80 => self.barrier(place),
                80..83 => self.matrix(place),
                83..86 => self.call(place),
                86..88 => place.kernel.then(|| self.special()),
                88..94 => self.branch(place),
                94..96 => self.repeat(place),
                96..98 => self.switch(place),
                98 => Some(self.no_effect(place)),
                _ => self.end_early(place),
            };
            if let Some(node) = made {
                return node;
            }
        }
    }
}
