//! The sanitizing copies of a program's code, whose handlers check an instruction before they run the handler
//! of the plain or counting copy.

mod access;
mod sync;
mod wgmma;

pub use sync::close;

use crate::check::{Checker, Shadow};
use crate::exec::cpu::Cpu;
use crate::exec::sm::{Handler, Inst, Next, Program, Sm};
use crate::isa::Memory;
use crate::isa::check_event::{CheckEvent, CheckEvents};

/// Returns the sanitizing copy of the program's code, on top of the counting copy if `counting` is true.
/// Creates the copy on first use.
pub fn code(program: &Program, counting: bool) -> &[Inst] {
    let code = &program.code;
    let (copy, base) = match counting {
        false => (&code.sanitizing, &code.plain),
        true => (&code.sanitizing_counting, &code.counting),
    };
    copy.get_or_init(|| redirect(base, &program.listing.check_events))
}

fn redirect(code: &[Inst], events: &CheckEvents) -> Vec<Inst> {
    let cpu = Cpu::detect();
    let mut copy = code.to_vec();
    for (inst, checked) in copy.iter_mut().zip(events.iter()) {
        if let Some(handler) = sanitizing_handler(checked, cpu) {
            inst.run = handler;
        }
    }
    copy
}

/// Returns the handler that checks an instruction and then runs it, or `None` if there is nothing to check.
fn sanitizing_handler(checked: CheckEvent, cpu: Cpu) -> Option<Handler> {
    let handler = match checked {
        CheckEvent::None | CheckEvent::Branch { .. } => return None,
        CheckEvent::Access(access) if access.kind.is_async_copy() => access::copy as Handler,
        CheckEvent::Access(access) => match access.memory {
            Memory::Constant => return None,
            Memory::Local => access::local_access,
            Memory::Global => access::device_access(cpu),
            Memory::Shared => access::shared_access(cpu),
            Memory::Generic => access::generic_access,
        },
        CheckEvent::Barrier(_) => sync::barrier,
        CheckEvent::WarpSync(_) => sync::warp_sync,
        CheckEvent::Fence(_) => sync::fence,
        CheckEvent::ExitBranch(_) => sync::exit_branch,
        CheckEvent::Exit => sync::exit,
        CheckEvent::CopyWait(_) => access::wait,
        CheckEvent::Wgmma => wgmma::product,
        CheckEvent::WgmmaWait => wgmma::wait,
    };
    Some(handler)
}

/// Runs the instruction itself, by its handler in the copy below.
///
/// # Safety
/// The requirements of [`Handler`].
#[inline(always)]
unsafe fn run_base(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: `sanitizing_base` is the copy below, which has the same instruction with the same operands here.
    unsafe {
        let base = sm.sanitizing_base.add(sm.address_of(inst) as usize);
        ((*base).run)(sm, inst)
    }
}

/// Calls `f` with the SM's checker and the block's shadow state.
#[inline(always)]
fn check(sm: &mut Sm, f: impl FnOnce(&mut Sm, &mut Checker, &mut Shadow)) {
    if let Some((mut checker, mut shadow)) = take(sm) {
        f(sm, &mut checker, &mut shadow);
        put_back(sm, checker, shadow);
    }
}

/// Takes the SM's checker and the block's shadow state, which must be put back.
#[inline(always)]
fn take(sm: &mut Sm) -> Option<(Box<Checker>, Box<Shadow>)> {
    // A checked block has both.
    let checker = sm.checker.take()?;
    let Some(shadow) = sm.block.shadow.take() else {
        sm.checker = Some(checker);
        return None;
    };
    Some((checker, shadow))
}

#[inline(always)]
fn put_back(sm: &mut Sm, checker: Box<Checker>, shadow: Box<Shadow>) {
    // The replaced values are `None`, so there is nothing to drop.
    std::mem::forget(sm.checker.replace(checker));
    std::mem::forget(sm.block.shadow.replace(shadow));
}
