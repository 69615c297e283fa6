//! Counting handlers for gangs, which count all warps at once where possible.

use super::{counting_handler, offset_by, profiler, site_of};
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{GangView, View as _};
use crate::exec::memory::access::pattern_key;
use crate::exec::profiler::access_pattern::{GangTraffic, TRAFFIC_ORIGIN};
use crate::exec::profiler::{AccessCost, LINE, Profiler, SiteAccess, Transfer};
use crate::exec::sm::{CountedSite, Handler, Inst, Next, Sm};
use crate::isa::Memory;
use crate::isa::listing::SiteKind;
use crate::lanes::{FULL, LANES};

/// Returns the handler that counts a site for all warps of a gang and then runs it, or `None` if a gang runs
/// the site warp by warp.
pub fn handler(kind: SiteKind, cpu: Cpu) -> Option<Handler> {
    match kind {
        SiteKind::Access(access)
            if access.kind.is_async_copy()
                || access.kind.is_bulk_copy()
                || access.starts_with_load() =>
        {
            None
        }
        SiteKind::Access(access) => match access.memory {
            Memory::Global => Some(global_gang(cpu)),
            Memory::Shared => Some(shared_gang(cpu)),
            Memory::Constant => Some(constant_gang(cpu)),
            Memory::Local | Memory::Generic => None,
        },
        SiteKind::Branch => Some(branch_gang),
        SiteKind::Barrier => None,
    }
}

/// Returns the profiler and the indices in the block of the running gang's warps.
#[inline(always)]
fn gang_profiler(sm: &mut Sm) -> (&mut Profiler, &[usize]) {
    match &mut sm.profiler {
        Some(profiler) => (profiler, sm.gang.warp_indices()),
        None => unreachable!("counting code runs in profiled blocks alone"),
    }
}

/// Adds the traffic of one warp's access.
type AddTraffic = fn(&mut GangTraffic, &[u64; LANES], Transfer);

/// A kind of memory whose accesses by gangs are counted.
trait CountedMemory {
    /// Adds the traffic, for patterns whose traffic can be cached; `None` otherwise.
    const ADD: Option<AddTraffic>;

    /// Counts an access that each of the warps at `warps` of the block makes.
    fn count(profiler: &mut Profiler, warps: &[usize], access: SiteAccess);
}

struct ToGlobal;
struct ToShared;
struct ToConstant;

impl CountedMemory for ToGlobal {
    const ADD: Option<AddTraffic> = Some(|traffic, at, transfer| {
        let mut lines = AccessCost::default();
        lines.of_global(at, FULL, transfer);
        traffic.sectors += u64::from(lines.traffic.sectors);
        traffic.wavefronts += u64::from(lines.traffic.wavefronts);
        let relative =
            |&(line, sectors): &(u64, u8)| (line.wrapping_sub(TRAFFIC_ORIGIN / LINE), sectors);
        let lines = lines.list[..lines.count].iter().map(relative);
        traffic.lines.extend(lines);
    });

    #[inline(always)]
    fn count(profiler: &mut Profiler, warps: &[usize], access: SiteAccess) {
        profiler.global(warps, access);
    }
}

impl CountedMemory for ToShared {
    const ADD: Option<AddTraffic> = Some(|traffic, at, transfer| {
        let mut lines = AccessCost::default();
        lines.of_shared(at, FULL, transfer);
        traffic.wavefronts += u64::from(lines.traffic.wavefronts);
        traffic.conflicts += u64::from(lines.conflicts);
    });

    #[inline(always)]
    fn count(profiler: &mut Profiler, warps: &[usize], access: SiteAccess) {
        profiler.shared(warps, access);
    }
}

impl CountedMemory for ToConstant {
    const ADD: Option<AddTraffic> = None;

    #[inline(always)]
    fn count(profiler: &mut Profiler, warps: &[usize], access: SiteAccess) {
        profiler.constant(warps, access);
    }
}

/// Counts a gang's access from its cached access pattern, without a look at each warp. Returns false if the
/// access has no such pattern.
#[inline(always)]
fn count_by_pattern<C: CountedMemory>(
    sm: &mut Sm,
    inst: &Inst,
    counted: &CountedSite,
    transfer: Transfer,
    operand: usize,
) -> bool {
    let is_uniform = inst.uniform >> operand & 1 == 1;
    let (Some(add), false) = (C::ADD, counted.site.is_merged || is_uniform) else {
        return false;
    };
    let Some(count) = sm.gang.full_warp_count() else {
        return false;
    };
    let (at, key) = (inst.operands[operand] as usize, pattern_key(sm, inst));
    let frames = &sm.gang.frames;
    // SAFETY: the site's operand is a 64-bit row of each warp's own frame, and nothing writes to it meanwhile.
    let rows = |member: usize| unsafe { &*frames[member][0].add(at).cast::<[u64; LANES]>() };
    let origin = rows(0)[0].wrapping_add(counted.site.offset);
    let Some(mut pattern) = sm.patterns.take(key, transfer.bytes, count, rows) else {
        return false;
    };
    let traffic = pattern.traffic_at(origin, |traffic, at| add(traffic, at, transfer));
    let (profiler, warps) = gang_profiler(sm);
    profiler.count_traffic(counted.site.slot, transfer, origin / LINE, traffic, warps);
    sm.patterns.put_back_verified(key, pattern);
    true
}

/// Counts a gang's access and runs it.
#[inline(always)]
fn run_gang<C: CountedMemory>(sm: &mut Sm, inst: &Inst) -> Next {
    let (counted, transfer, operand) = site_of(sm, inst);
    if !count_by_pattern::<C>(sm, inst, counted, transfer, operand) {
        count_warp_by_warp::<C>(sm, inst, counted, transfer, operand);
    }
    let Some(run) = counted.gang else {
        unreachable!("the site has a form for gangs");
    };
    // SAFETY: `run` is the uninstrumented handler of this instruction.
    let next = unsafe { run(sm, inst) };
    sm.patterns.invalidate_verification();
    next
}

counting_handler!(global_gang, |sm, inst| run_gang::<ToGlobal>(sm, inst));
counting_handler!(shared_gang, |sm, inst| run_gang::<ToShared>(sm, inst));
counting_handler!(constant_gang, |sm, inst| run_gang::<ToConstant>(sm, inst));

/// Counts a gang's access warp by warp, or once for all warps if its addresses are uniform.
#[inline(always)]
fn count_warp_by_warp<C: CountedMemory>(
    sm: &mut Sm,
    inst: &Inst,
    counted: &CountedSite,
    transfer: Transfer,
    operand: usize,
) {
    let slot = counted.site.slot as usize;
    // SAFETY: the site's operand is a 64-bit row.
    let row = |sm: &Sm, member| unsafe { GangView::of(&sm.gang, member).row(sm, inst, operand) };
    if inst.uniform >> operand & 1 == 1 && sm.gang.full_warp_count().is_some() {
        let at = offset_by(row(sm, 0), counted.site.offset);
        let (profiler, warps) = gang_profiler(sm);
        let access = SiteAccess::new(slot, &at, FULL, transfer);
        C::count(profiler, warps, access);
        return;
    }
    for member in 0..sm.gang.masks().len() {
        sm.select_warp(member);
        let at = offset_by(row(sm, member), counted.site.offset);
        let (mask, warp) = (sm.gang.masks()[member], sm.block.running);
        let access = SiteAccess::new(slot, &at, mask, transfer);
        C::count(profiler(sm), &[warp], access);
    }
}

/// Counts a gang's branch.
///
/// # Safety
/// The requirements of [`Handler`]; the instruction is a counted branch.
unsafe fn branch_gang(sm: &mut Sm, inst: &Inst) -> Next {
    let counted = *sm.grid.program.code.sites.at(sm.address_of(inst));
    let (before, warps) = (sm.counts.divergent_branches, sm.gang.masks().len());
    let Some(run) = counted.gang else {
        unreachable!("the site has a form for gangs");
    };
    // SAFETY: `run` is the uninstrumented handler of this instruction.
    let next = unsafe { run(sm, inst) };
    if !next.is_null() {
        // Otherwise the gang has disbanded, and its warps run the branch again one by one.
        let divergent = sm.counts.divergent_branches - before;
        let counts = &mut profiler(sm).sites[counted.site.slot as usize];
        counts.requests += warps as u64;
        counts.conflicts += divergent;
    }
    next
}
