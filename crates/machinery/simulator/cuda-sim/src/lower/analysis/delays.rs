//! Delay loops: loops that do nothing but wait until a clock has advanced far enough.

use crate::exec::control;
use crate::exec::sm::Handler;
use crate::exec::special_registers::{self, IN_DELAY_LOOP};
use crate::isa::check_event::{CheckEvent, CopyGroupOp};
use crate::isa::{Class, Memory};
use crate::lower::cfg::Cfg;
use crate::lower::ir::{Flow, IrInst};

/// Marks the clock reads whose innermost loop has no effect that other threads can observe and reads nothing that they
/// write.
pub fn annotate(insts: &mut [IrInst], cfg: &Cfg) {
    for block in 0..cfg.ranges.len() {
        let reads: Vec<usize> = cfg.ranges[block]
            .clone()
            .filter(|&index| special_registers::reads_clock(insts[index].handlers.warp))
            .collect();
        if reads.is_empty() {
            continue;
        }
        let only_waits = |blocks: &Vec<usize>| {
            let mut insts = blocks
                .iter()
                .flat_map(|&block| &insts[cfg.ranges[block].clone()]);
            insts.all(is_private)
        };
        if cfg
            .innermost_loop(block)
            .is_some_and(|blocks| only_waits(&blocks))
        {
            for index in reads {
                insts[index].imm |= IN_DELAY_LOOP;
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
