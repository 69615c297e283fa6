//! The same instructions, checked: what handlers of a checked launch do before the plain ones, or
//! before those that count.

mod access;
mod sync;
mod wgmma;

pub use sync::close;

use crate::check::{Checker, Shadow};
use crate::exec::cpu::Cpu;
use crate::exec::sm::{Handler, Inst, Next, Program, Sm};
use crate::isa::Memory;
use crate::isa::check_event::{Checked, CheckedPlaces};

/// The program's code with every instruction that a check looks at led here first; `observed`: the
/// copy that is counted as well. It is made when a launch first asks for it.
pub fn code(program: &Program, counting: bool) -> &[Inst] {
    let code = &program.code;
    let (copy, base) = match counting {
        false => (&code.sanitizing, &code.plain),
        true => (&code.sanitizing_counting, &code.counting),
    };
    copy.get_or_init(|| redirect(base, &program.listing.checked))
}

fn redirect(code: &[Inst], places: &CheckedPlaces) -> Vec<Inst> {
    let cpu = Cpu::detect();
    let mut copy = code.to_vec();
    for (inst, checked) in copy.iter_mut().zip(places.iter()) {
        if let Some(handler) = sanitizing_handler(checked, cpu) {
            inst.run = handler;
        }
    }
    copy
}

/// The handler that checks an instruction and then runs it; none where there is nothing to check.
fn sanitizing_handler(checked: Checked, cpu: Cpu) -> Option<Handler> {
    let handler = match checked {
        Checked::Nothing | Checked::Branch { .. } => return None,
        Checked::Access(access) if access.kind.is_copy() => access::copy as Handler,
        Checked::Access(access) => match access.memory {
            Memory::Constant => return None,
            Memory::Local => access::local_access,
            Memory::Global => access::device_access(cpu),
            Memory::Shared => access::shared_access(cpu),
            Memory::Generic => access::generic_access,
        },
        Checked::Barrier(_) => sync::barrier,
        Checked::Warp(_) => sync::meeting,
        Checked::Fence(_) => sync::fence,
        Checked::Leave(_) => sync::leave,
        Checked::End => sync::end,
        Checked::Wait(_) => access::wait,
        Checked::Product => wgmma::product,
        Checked::ProductsAwaited => wgmma::wait,
    };
    Some(handler)
}

/// Runs the instruction itself.
///
/// # Safety
/// As for [`Handler`].
#[inline(always)]
unsafe fn run_base(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the code underneath is the checked code's, instruction for instruction.
    unsafe {
        let base = sm.sanitizing_base.add(sm.address_of(inst) as usize);
        ((*base).run)(sm, inst)
    }
}

/// Runs `f` with the multiprocessor's checker and the block's shadow.
#[inline(always)]
fn check(sm: &mut Sm, f: impl FnOnce(&mut Sm, &mut Checker, &mut Shadow)) {
    if let Some((mut checker, mut shadow)) = take(sm) {
        f(sm, &mut checker, &mut shadow);
        put_back(sm, checker, shadow);
    }
}

/// The multiprocessor's checker and the block's shadow, which are to be given back.
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
    // There is nothing to drop in their places.
    std::mem::forget(sm.checker.replace(checker));
    std::mem::forget(sm.block.shadow.replace(shadow));
}
