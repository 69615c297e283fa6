//! Data-flow and control-flow analyses of a lowered function.
//!
//! Some serve the interpreter (uniformity, address reuse); some predict decisions of NVIDIA's assembler that
//! the counters must reproduce (vectorized accesses, if-conversion, lowering of atomics); some serve the
//! sanitizer and the detection of spin loops (address provenance, used shuffle results, polling loads), or make
//! long waits short (delay loops).

pub mod machine_code;
pub mod sanitizer;
pub mod uniformity;
pub mod vectorizer;

use crate::exec::control;
use crate::exec::sm::Handler;
use crate::exec::special_registers::{self, IN_DELAY_LOOP};
use crate::isa::check_event::{CheckEvent, CopyGroupOp};
use crate::isa::{Class, Memory};
use crate::lower::cfg::Cfg;
use crate::lower::ir::{Flow, IrInst};

/// Marks the clock reads in delay loops, which only wait until a clock has advanced far enough: those whose innermost loop has no effect that other threads can observe and reads nothing that they
/// write.
pub fn annotate_delays(insts: &mut [IrInst], cfg: &Cfg) {
    let reads_clock = |inst: &IrInst| special_registers::reads_clock(inst.handlers.warp);
    if !insts.iter().any(reads_clock) {
        return;
    }
    let loops = cfg.loops();
    for (block, range) in cfg.ranges.iter().enumerate() {
        if !insts[range.clone()].iter().any(reads_clock) {
            continue;
        }
        let containing = loops.iter().filter(|blocks| blocks.contains(&block));
        let innermost = containing.min_by_key(|blocks| blocks.len());
        let only_waits = innermost.is_some_and(|blocks| {
            let ranges = blocks.iter().map(|&block| cfg.ranges[block].clone());
            ranges.flatten().all(|index| is_private(&insts[index]))
        });
        for inst in insts[range.clone()].iter_mut() {
            if only_waits && reads_clock(inst) {
                inst.imm |= IN_DELAY_LOOP;
            }
        }
    }
}

/// Returns true if the instruction neither affects other threads nor depends on them.
fn is_private(inst: &IrInst) -> bool {
    let steps: [Handler; 2] = [control::guard, control::sleep];
    let is_step = |handler: &Handler| std::ptr::fn_addr_eq(inst.handlers.warp, *handler);
    match inst.class {
        Class::Control => {
            matches!(inst.flow, Flow::Jump(_) | Flow::Branch(_)) || steps.iter().any(is_step)
        }
        Class::Tensor | Class::Warpgroup => false,
        _ => {
            let is_own = |memory| matches!(memory, Memory::Local | Memory::Constant);
            inst.access.is_none_or(|access| is_own(access.memory))
                && inst.sync_event == CheckEvent::None
                && inst.copy_group_op == CopyGroupOp::None
        }
    }
}
