//! Analyses for gangs: the work that the warps of a gang share.
//!
//! **Uniformity.** A register that holds the same value for all warps of a block is computed once per gang.
//! Parameters, block sizes and block indices are uniform, and so is everything computed or loaded from
//! uniform values only. Divergent threads may execute a block at different times, so no definition between a
//! divergent branch and its reconvergence point is uniform.
//!
//! **Address reuse.** An access may use the address register of an earlier access of the same kind. A kernel
//! that reads `a[i]`, `a[i + 1]` and `a[i + 2]` keeps one address in a register and adds constant offsets.
//! The access pattern of a gang's warps is classified at the first such access, and later ones reuse the
//! result (see [`crate::exec::profiler::access_pattern`]).

use crate::isa::{Access, AccessKind, Class};
use crate::lower::cfg::Cfg;
use crate::lower::ir::{Flow, IrInst, Register, RegisterInfo};
use crate::lower::limits;
use std::collections::HashMap;

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
                let differs = inst.uses.iter().any(|used| varying[used.0 as usize]);
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
    uniform_and_divergent(insts, cfg, registers).0
}

/// Returns the uniform registers, as [`uniform_registers`] does, and for each block whether execution may be divergent
/// in it.
pub fn uniform_and_divergent(
    insts: &[IrInst],
    cfg: &Cfg,
    registers: &[RegisterInfo],
) -> (Vec<bool>, Vec<bool>) {
    let unknown = || (vec![false; registers.len()], vec![true; cfg.ranges.len()]);
    let Some((_, divergent)) = find_divergence(insts, cfg, registers) else {
        return unknown();
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
            return unknown();
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
    (uniform_registers, divergent)
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

/// Returns, for each instruction of a basic block, the distance back to the first access of the same kind
/// with the same address register, or 0 if there is none. All warps of a gang have executed that access with
/// the same addresses up to constant offsets, and no other warps have run in between.
pub fn reuse_distances(insts: &[IrInst]) -> Vec<u16> {
    // The first access of each kind, by address register.
    let mut first_accesses: HashMap<Register, Vec<(Access, usize)>> = HashMap::new();
    let mut reuse_distances = Vec::with_capacity(insts.len());
    for (index, inst) in insts.iter().enumerate() {
        if inst.class == Class::Control || inst.handlers.gang.is_none() || inst.predicated {
            // Warps may diverge or block here.
            first_accesses = HashMap::new();
        }
        let mut distance = 0;
        if let Some(access) = inst
            .access
            .filter(|access| has_access_pattern(inst, access))
        {
            let register = inst.operands[access.address];
            let accesses = first_accesses.entry(register).or_default();
            match accesses.iter().find(|(other, _)| *other == access) {
                Some((_, first)) => distance = u16::try_from(index - first).unwrap_or(0),
                None => accesses.push((access, index)),
            }
        }
        for def in &inst.defs {
            first_accesses.remove(def);
        }
        reuse_distances.push(distance);
    }
    reuse_distances
}

/// Returns true if a gang classifies the access pattern of this access.
fn has_access_pattern(inst: &IrInst, access: &Access) -> bool {
    use AccessKind::{Load, ReadOnlyLoad, Store};
    let is_load_or_store = matches!(access.kind, Load | ReadOnlyLoad | Store);
    is_load_or_store && inst.handlers.gang.is_some() && !inst.predicated
}

#[cfg(test)]
mod tests {
    use crate::device::DeviceSpec;
    use crate::exec::cpu::Cpu;
    use crate::memory::global::Global;

    /// Returns the nonzero reuse distances of the code of `body`, in order.
    fn reuse_distances(body: &str) -> Vec<u16> {
        let text = format!(
            ".version 6.4\n.target sm_52\n.address_size 64\n.global .align 16 .b8 data[4096];\n\
             .entry kernel() {{ .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %d<9>;\n\
             mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 8; mov.u64 %d2, data;\n\
             add.s64 %d1, %d1, %d2; add.s64 %d3, %d1, 4; setp.eq.u32 %p1, %r1, 3;\n{body} ret; }}"
        );
        let mut global = Global::new(1 << 20);
        let program =
            crate::lower::load(&text, &DeviceSpec::h200(), &mut global).expect("the module loads");
        let back = program.code.plain.iter().map(|inst| inst.reuse_distance);
        back.filter(|&back| back > 0).collect()
    }

    #[test]
    fn accesses_through_one_register_reuse_its_pattern() {
        if !Cpu::detect().is_wide() {
            return;
        }
        let load = "ld.global.u32 %r2, [%d1];";
        let next = "ld.global.u32 %r3, [%d1+4];";
        for (body, expected) in [
            (format!("{load} {next} {load}"), vec![1, 2]),
            (
                format!("{load} st.global.u32 [%d1], %r2; {next} st.global.u32 [%d1+4], %r3;"),
                vec![2, 2],
            ),
            // A different register, a different width, or a different state space.
            (format!("{load} ld.global.u32 %r3, [%d3];"), vec![]),
            (format!("{load} ld.global.u64 %d4, [%d1];"), vec![]),
            (
                format!("{load} ld.global.v2.u32 {{%r3, %r4}}, [%d1];"),
                vec![],
            ),
            (format!("{load} ld.u32 %r3, [%d1];"), vec![]),
            // The register is redefined in between.
            (format!("{load} add.s64 %d1, %d1, 4; {next}"), vec![]),
            (
                "ld.global.u64 %d1, [%d1]; ld.global.u64 %d4, [%d1];".into(),
                vec![],
            ),
            // Other warps may run in between, or not all lanes take part.
            (format!("{load} bar.sync 0; {next}"), vec![]),
            (format!("{load} @%p1 {next} {load}"), vec![]),
            (format!("{load} @%p1 bra L; {next} L: {load}"), vec![]),
            (
                format!("{load} atom.global.add.u32 %r4, [%d1], 1; {next}"),
                vec![],
            ),
        ] {
            assert_eq!(reuse_distances(&body), expected, "{body}");
        }
    }
}
