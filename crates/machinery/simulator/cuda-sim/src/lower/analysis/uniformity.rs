//! Uniformity analysis: finds registers that hold the same value for all warps of a block, so that a gang
//! computes them once.
//!
//! Parameters, block sizes and block indices are uniform, and so is everything computed or loaded from
//! uniform values only. Divergent threads may execute a block at different times, so no definition between a
//! divergent branch and its reconvergence point is uniform.

use crate::lower::cfg::Cfg;
use crate::lower::ir::{Flow, IrInst};
use crate::lower::limits;
use crate::lower::register::{Register, RegisterInfo};

/// The frames that hold a register's value while a gang runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowOwner {
    /// Each warp's own frame: the values may differ.
    Warps,
    /// The gang's frame.
    Gang,
    /// The gang's frame and each warp's: the value is uniform, but warps that execute an instruction by
    /// themselves also read it.
    Both,
}

/// Returns the frames that hold each register of a kernel. If the analysis exceeds its step limit, every
/// register is held per warp.
pub fn row_owners(insts: &[IrInst], cfg: &Cfg, registers: &[RegisterInfo]) -> Vec<RowOwner> {
    let Some((varying, divergent)) = find_divergence(insts, cfg, registers) else {
        return vec![RowOwner::Warps; registers.len()];
    };
    let mut row_owners: Vec<RowOwner> = varying
        .iter()
        .map(|&varying| {
            if varying {
                RowOwner::Warps
            } else {
                RowOwner::Gang
            }
        })
        .collect();
    for (block, range) in cfg.ranges.iter().enumerate() {
        for inst in &insts[range.clone()] {
            // A guarded instruction executes per warp, with its guard.
            let per_warp = divergent[block] || inst.predicated || inst.handlers.gang.is_none();
            for used in inst.uses.iter().filter(|_| per_warp) {
                let owner = &mut row_owners[used.0 as usize];
                if *owner == RowOwner::Gang {
                    *owner = RowOwner::Both;
                }
            }
        }
    }
    row_owners
}

/// Returns, for each register, whether its value may differ between threads and, for each block, whether
/// execution may be divergent in it. Returns `None` if the analysis exceeds its step limit.
fn find_divergence(
    insts: &[IrInst],
    cfg: &Cfg,
    registers: &[RegisterInfo],
) -> Option<(Vec<bool>, Vec<bool>)> {
    let mut written: Vec<bool> = registers.iter().map(|r| r.literal.is_some()).collect();
    for def in insts.iter().flat_map(|inst| &inst.defs) {
        written[def.0 as usize] = true;
    }
    // A register that is never written is uninitialized and may differ.
    let mut varying: Vec<bool> = written.iter().map(|written| !written).collect();
    let mut divergence = DivergentBlocks::new(cfg);
    let mut steps = 0;
    let mut changed = true;
    while changed {
        changed = false;
        steps += insts.len();
        if steps + divergence.steps > limits::STEPS {
            return None;
        }
        for (block, range) in cfg.ranges.iter().enumerate() {
            for inst in &insts[range.clone()] {
                let differs = |used: &Register| varying[used.0 as usize];
                let differs = inst.uses.iter().any(differs);
                if differs || divergence.divergent[block] || !preserves_uniformity(inst) {
                    for def in &inst.defs {
                        changed |= !std::mem::replace(&mut varying[def.0 as usize], true);
                    }
                }
                let diverges = match inst.flow {
                    Flow::Branch(_) => differs && !one_side_exits(block, insts, cfg),
                    Flow::Table(_) => true,
                    _ => false,
                };
                if diverges && divergence.steps <= limits::STEPS {
                    changed |= divergence.mark_branch(block, cfg);
                }
            }
        }
    }
    Some((varying, divergence.divergent))
}

/// Returns, for each register, whether all lanes of a warp that reach a use of it are known to have the same
/// value. Returns false for all registers if the analysis exceeds its step limit.
pub fn uniform_registers(insts: &[IrInst], cfg: &Cfg, registers: &[RegisterInfo]) -> Vec<bool> {
    let Some((_, divergent)) = find_divergence(insts, cfg, registers) else {
        return vec![false; registers.len()];
    };
    let mut definition_counts = vec![0; registers.len()];
    for def in insts.iter().flat_map(|inst| &inst.defs) {
        definition_counts[def.0 as usize] += 1;
    }
    let is_defined = |(info, &count): (&RegisterInfo, &u32)| info.literal.is_some() || count > 0;
    let mut uniform_registers: Vec<bool> = registers
        .iter()
        .zip(&definition_counts)
        .map(is_defined)
        .collect();
    let (mut changed, mut steps) = (true, 0);
    while std::mem::take(&mut changed) {
        steps += insts.len();
        if steps > limits::STEPS {
            return vec![false; registers.len()];
        }
        for (block, range) in cfg.ranges.iter().enumerate() {
            for inst in &insts[range.clone()] {
                let is_uniform = preserves_uniformity(inst)
                    && inst
                        .uses
                        .iter()
                        .all(|used| uniform_registers[used.0 as usize]);
                for def in &inst.defs {
                    // With several reaching definitions in divergent code, the value depends on the path.
                    let single_path = definition_counts[def.0 as usize] == 1 || !divergent[block];
                    if !(is_uniform && single_path) {
                        changed |= std::mem::replace(&mut uniform_registers[def.0 as usize], false);
                    }
                }
            }
        }
    }
    uniform_registers
}

/// Returns true if threads with equal sources get equal results from the instruction.
fn preserves_uniformity(inst: &IrInst) -> bool {
    let ordered = inst.access.is_some_and(|access| access.ordered.is_some());
    inst.handlers.preserves_uniformity && !inst.predicated && !ordered
}

/// The blocks in which execution may be divergent.
struct DivergentBlocks {
    /// For each block, whether only some of the threads may execute it together.
    divergent: Vec<bool>,
    /// For each block, whether the paths from the branch at its end have been followed.
    followed: Vec<bool>,
    /// For each block, one more than the number of the branching block whose paths last visited it; 0 if none
    /// has.
    last_visitor: Vec<usize>,
    /// The number of blocks visited so far.
    steps: usize,
}

impl DivergentBlocks {
    fn new(cfg: &Cfg) -> DivergentBlocks {
        let blocks = cfg.ranges.len();
        DivergentBlocks {
            divergent: vec![false; blocks],
            followed: vec![false; blocks],
            last_visitor: vec![0; blocks],
            steps: 0,
        }
    }

    /// Marks the blocks between the branch at the end of `block` and its reconvergence point as divergent.
    /// Returns true if any is newly marked.
    fn mark_branch(&mut self, block: usize, cfg: &Cfg) -> bool {
        if std::mem::replace(&mut self.followed[block], true) {
            return false;
        }
        let reconvergence = cfg.reconvergence[block];
        let mut worklist = cfg.successors[block].clone();
        let mut changed = false;
        while let Some(next) = worklist.pop() {
            self.steps += 1;
            let visited = std::mem::replace(&mut self.last_visitor[next], block + 1) == block + 1;
            if Some(next) != reconvergence && !visited {
                changed |= !std::mem::replace(&mut self.divergent[next], true);
                worklist.extend(&cfg.successors[next]);
            }
        }
        changed
    }
}

/// Returns true if one side of the branch at the end of `block` only ends the thread.
fn one_side_exits(block: usize, insts: &[IrInst], cfg: &Cfg) -> bool {
    cfg.successors[block]
        .iter()
        .any(|&next| only_exits(next, insts, cfg))
}

/// Returns true if a block only ends the thread.
pub fn only_exits(block: usize, insts: &[IrInst], cfg: &Cfg) -> bool {
    let first = insts[cfg.ranges[block].clone()].first();
    first.is_some_and(|inst| inst.flow == Flow::Exit)
}
