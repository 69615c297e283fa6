//! The same for a gang: counted for all its warps at once where that can be.

use super::{counting_handler, found, moved, observer};
use crate::exec::access::spread_key;
use crate::exec::access_pattern::{FAR, GangTraffic};
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{Together, View as _};
use crate::exec::profiler::{AccessCost, LINE, Observer, Transfer};
use crate::exec::sm::{Handler, Inst, Next, ObservedSite, Sm};
use crate::isa::Memory;
use crate::isa::sites::SiteKind;
use crate::lanes::{FULL, LANES};

/// The handler that counts a site for the warps of a gang and then runs it for them; none where it
/// runs warp by warp.
pub fn handler(kind: SiteKind, cpu: Cpu) -> Option<Handler> {
    match kind {
        SiteKind::Access(access) if access.kind.is_copy() || access.loads_first() => None,
        SiteKind::Access(access) => match access.memory {
            Memory::Global => Some(global_together(cpu)),
            Memory::Shared => Some(shared_together(cpu)),
            Memory::Constant => Some(constant_together(cpu)),
            Memory::Local | Memory::Generic => None,
        },
        SiteKind::Branch => Some(branch_together),
        SiteKind::Barrier => None,
    }
}

/// The same, and where the warps of the running gang are in their block.
#[inline(always)]
fn observer_of_gang(sm: &mut Sm) -> (&mut Observer, &[usize]) {
    match &mut sm.observer {
        Some(observer) => (observer, sm.gang.places()),
        None => unreachable!("observed code runs in observed blocks alone"),
    }
}

/// A memory that gangs access, as their accesses are counted.
trait CountedMemory {
    /// What an access of a warp adds, if it is to be remembered.
    const ADD: Option<fn(&mut GangTraffic, &[u64; LANES], Transfer)>;

    /// Counts an access that the warps at `places` of the block all make.
    fn count(
        observer: &mut Observer,
        places: &[usize],
        slot: usize,
        at: &[u64; LANES],
        mask: u32,
        transfer: Transfer,
    );
}

struct ToGlobal;
struct ToShared;
struct ToConstant;

impl CountedMemory for ToGlobal {
    const ADD: Option<fn(&mut GangTraffic, &[u64; LANES], Transfer)> =
        Some(|traffic, at, transfer| {
            let mut lines = AccessCost::default();
            lines.of_global(at, FULL, transfer);
            traffic.sectors += u64::from(lines.traffic.sectors);
            traffic.wavefronts += u64::from(lines.traffic.wavefronts);
            let relative = |&(line, sectors): &(u64, u8)| (line.wrapping_sub(FAR / LINE), sectors);
            let lines = lines.list[..lines.count].iter().map(relative);
            traffic.lines.extend(lines);
        });

    #[inline(always)]
    fn count(
        observer: &mut Observer,
        places: &[usize],
        slot: usize,
        at: &[u64; LANES],
        mask: u32,
        transfer: Transfer,
    ) {
        observer.global(places, slot, at, mask, transfer);
    }
}

impl CountedMemory for ToShared {
    const ADD: Option<fn(&mut GangTraffic, &[u64; LANES], Transfer)> =
        Some(|traffic, at, transfer| {
            let mut lines = AccessCost::default();
            lines.of_shared(at, FULL, transfer);
            traffic.wavefronts += u64::from(lines.traffic.wavefronts);
            traffic.conflicts += u64::from(lines.conflicts);
        });

    #[inline(always)]
    fn count(
        observer: &mut Observer,
        places: &[usize],
        slot: usize,
        at: &[u64; LANES],
        mask: u32,
        transfer: Transfer,
    ) {
        observer.shared(places, slot, at, mask, transfer);
    }
}

impl CountedMemory for ToConstant {
    const ADD: Option<fn(&mut GangTraffic, &[u64; LANES], Transfer)> = None;

    #[inline(always)]
    fn count(
        observer: &mut Observer,
        places: &[usize],
        slot: usize,
        at: &[u64; LANES],
        mask: u32,
        transfer: Transfer,
    ) {
        observer.constant(places, slot, at, mask, transfer);
    }
}

/// Counts a gang's access if its addresses lie in quarters, without a look at each warp's; whether
/// it did.
#[inline(always)]
fn count_spread<C: CountedMemory>(
    sm: &mut Sm,
    inst: &Inst,
    observed: &ObservedSite,
    transfer: Transfer,
    operand: usize,
) -> bool {
    let (Some(add), false) = (
        C::ADD,
        observed.site.leads || inst.common >> operand & 1 == 1,
    ) else {
        return false;
    };
    let Some(warps) = sm.gang.whole_warps() else {
        return false;
    };
    let (at, key) = (inst.o[operand] as usize, spread_key(sm, inst));
    let frames = &sm.gang.frames;
    // SAFETY: the site's operand is a 64-bit row of each warp's own; nothing is written meanwhile.
    let rows = |turn: usize| unsafe { &*frames[turn][0].add(at).cast::<[u64; LANES]>() };
    let origin = rows(0)[0].wrapping_add(observed.site.offset);
    let Some(mut spread) = sm.spreads.take(key, transfer.bytes, warps, rows) else {
        return false;
    };
    let traffic = spread.comes_to(origin, |traffic, at| add(traffic, at, transfer));
    let (observer, places) = observer_of_gang(sm);
    observer.count_traffic(observed.site.slot, transfer, origin / LINE, traffic, places);
    sm.spreads.keep_proven(key, spread);
    true
}

/// Counts what a gang does to a memory, and does it.
#[inline(always)]
fn run_together<C: CountedMemory>(sm: &mut Sm, inst: &Inst) -> Next {
    let (observed, transfer, operand) = found(sm, inst);
    if !count_spread::<C>(sm, inst, observed, transfer, operand) {
        count_each::<C>(sm, inst, observed, transfer, operand);
    }
    let Some(run) = observed.together else {
        unreachable!("the site has a form for gangs");
    };
    // SAFETY: the instruction was made for this handler.
    let next = unsafe { run(sm, inst) };
    sm.spreads.prove_nothing();
    next
}

counting_handler!(global_together, |sm, inst| run_together::<ToGlobal>(
    sm, inst
));
counting_handler!(shared_together, |sm, inst| run_together::<ToShared>(
    sm, inst
));
counting_handler!(constant_together, |sm, inst| run_together::<ToConstant>(
    sm, inst
));

/// Counts a gang's access warp by warp, or once for all of them where its addresses are what they
/// have in common.
#[inline(always)]
fn count_each<C: CountedMemory>(
    sm: &mut Sm,
    inst: &Inst,
    observed: &ObservedSite,
    transfer: Transfer,
    operand: usize,
) {
    let slot = observed.site.slot as usize;
    // SAFETY: the site's operand is a 64-bit row.
    let row = |sm: &Sm, turn| unsafe { Together::of(&sm.gang, turn).row(sm, inst, operand) };
    if inst.common >> operand & 1 == 1 && sm.gang.whole_warps().is_some() {
        let at = moved(row(sm, 0), observed.site.offset);
        let (observer, places) = observer_of_gang(sm);
        C::count(observer, places, slot, &at, FULL, transfer);
        return;
    }
    for turn in 0..sm.gang.masks().len() {
        sm.take_turn(turn);
        let at = moved(row(sm, turn), observed.site.offset);
        let (mask, warp) = (sm.gang.masks()[turn], sm.block.running);
        C::count(observer(sm), &[warp], slot, &at, mask, transfer);
    }
}

/// # Safety
/// As for [`Handler`], for a branch of a gang that is a site.
unsafe fn branch_together(sm: &mut Sm, inst: &Inst) -> Next {
    let observed = *sm.grid.program.code.sites.at(sm.address_of(inst));
    let (before, warps) = (sm.counts.divergent_branches, sm.gang.masks().len());
    let Some(run) = observed.together else {
        unreachable!("the site has a form for gangs");
    };
    // SAFETY: the instruction was made for this handler.
    let next = unsafe { run(sm, inst) };
    if !next.is_null() {
        // Else the warps come here again, one by one.
        let parted = sm.counts.divergent_branches - before;
        let counts = &mut observer(sm).sites[observed.site.slot as usize];
        counts.requests += warps as u64;
        counts.conflicts += parted;
    }
    next
}
