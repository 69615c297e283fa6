//! Checks of accesses to shared memory: initialization, array bounds, and data races.

use super::cause::Cause;
use super::checker::{Checker, Lanes, Values, WarpAccess, remove_padding, uninitialized_reads};
use super::finding::{FindingKind, Severity};
use super::finding_set::{Evidence, FindingKey, Occurrence, OtherThread};
use super::happens_before::HappensBefore;
use super::lane_runs::{Accessor, LaneRun, LaneRuns, StoredValues};
use super::selection::Checks;
use super::semantics::{AccessSemantics, RaceRule};
use super::shadow::Shadow;
use super::shared::{Conflict, PENDING, SharedShadow};
use crate::isa::AccessKind;
use crate::isa::check_event::{CheckEvent, CheckEvents, LoadedBytes, SharedArray};
use crate::lanes::{FULL, LANES, active};

/// The maximum number of deferred reads per block. Further reads are recorded as findings at once.
const MAX_DEFERRED_READS: usize = 1 << 16;

/// A conflict with an earlier access, and the accessed bytes.
pub struct Suspect {
    pub conflict: Conflict,
    pub evidence: Evidence,
}

impl Checker {
    /// Checks an access to shared memory.
    #[inline(always)]
    pub fn check_shared(
        &mut self,
        shadow: &mut Shadow,
        events: &CheckEvents,
        current: WarpAccess,
        lanes: Lanes,
        values: Values<impl StoredValues, impl Fn(u64, usize) -> [u8; 16]>,
    ) {
        let Lanes { at, mask, bytes } = lanes;
        let checks = self.launch.checks;
        let Shadow {
            order,
            shared,
            deferred,
            uninitialized,
            copied,
            ..
        } = shadow;
        if !copied.is_empty()
            && current.reads
            && let Some(loaded) = events.loaded(current.site)
        {
            copied.overwrite(current.warp, mask, loaded);
        }
        if current.access.ordered.is_some() && checks.race {
            synchronize(order, current);
            self.record_stores(current, lanes, &values.stored);
        }
        let array = events.array(current.site);
        let contains = |lane| array.contains(at.of(lane), bytes);
        // Without branches, so that vector instructions compare the addresses. Inactive lanes may be outside.
        let all_inside = (0..LANES).fold(true, |inside, lane| inside & contains(lane));
        if checks.memory && !all_inside && !active(mask).all(contains) {
            self.record_outside_array(shared, current, lanes, array);
        }
        let shadow_access = current.shadow_access();
        if current.writes {
            shared.flush_reads(order);
        } else if checks.race
            && mask == FULL
            && shared.try_log_read(order, shadow_access, at, bytes)
        {
            return;
        }
        for run in LaneRuns::new(at, mask, bytes) {
            let span = run.span(bytes);
            if !shared.contains(run.start, span) || run.start & (bytes - 1) != 0 {
                // The access is about to raise a fault, which reports it.
                return;
            }
            if checks.init {
                if current.reads && !shared.written.is_initialized(run.start, span) {
                    let initialized = |at| shared.written.is_initialized(at, bytes);
                    let mut new = uninitialized_reads(current, &run, bytes, initialized);
                    let loaded = (current.warp, events.loaded(current.site));
                    remove_padding(&mut new, copied, loaded, |byte| {
                        shared.contains(byte, 1) && shared.written.is_initialized(byte, 1)
                    });
                    if current.writes {
                        let kind = FindingKind::UninitializedShared;
                        let key = current.key(kind, Severity::Error);
                        self.findings.set_cause(key, Cause::SumNotInitialized);
                    }
                    // If another thread writes the bytes before the next barrier, this is reported as a race.
                    if checks.race && deferred.len() < MAX_DEFERRED_READS {
                        deferred.extend(new)
                    } else {
                        uninitialized.extend(new)
                    }
                }
                if current.initializes() {
                    shared.written.set(run.start, span);
                    if !copied.is_empty()
                        && let Some(stored) = events.stored(current.site)
                    {
                        for (lane, at) in run.addresses(bytes) {
                            let thread = (current.warp, lane);
                            copied.stored(thread, stored, |byte, _| {
                                shared.written.unset(at + byte);
                            });
                        }
                    }
                }
            }
            if !checks.race {
                continue;
            }
            if current.access.kind == AccessKind::Store && !run.contiguous && run.lanes > 1 {
                let evidence = Evidence::shared(run.start, bytes);
                self.check_lane_conflicts(current, &run, evidence, &values.stored);
            }
            if shared.may_conflict(order, shadow_access, &run, bytes) {
                let is_race = |other| may_race(events, current, other);
                for conflict in shared.find_conflicts(order, shadow_access, &run, bytes, is_race) {
                    let evidence = Evidence::shared(at.of(conflict.lane), bytes);
                    let suspect = Suspect { conflict, evidence };
                    self.report_unless_same_value(
                        order,
                        events,
                        (current, lanes),
                        suspect,
                        &values,
                    );
                }
            }
            shared.record(order, shadow_access, &run, bytes);
        }
    }

    /// Records accesses outside the array from which the address was computed. Accesses outside all of shared
    /// memory are about to raise a fault, which reports them.
    #[cold]
    fn record_outside_array(
        &mut self,
        shared: &SharedShadow,
        current: WarpAccess,
        lanes: Lanes,
        array: SharedArray,
    ) {
        let Lanes { at, mask, bytes } = lanes;
        let outside = |&lane: &usize| {
            !array.contains(at.of(lane), bytes) && shared.contains(at.of(lane), bytes)
        };
        for lane in active(mask).filter(outside) {
            let key = current.key(FindingKind::OtherArray, Severity::Warning);
            let at = at.of(lane);
            self.findings.record(key, current.block, 1, || Occurrence {
                block: current.block,
                thread: current.thread(lane),
                other: None,
                evidence: Evidence::OutsideArray { at, bytes, array },
            });
        }
    }

    /// Reports a conflict, unless both threads write the same value.
    #[cold]
    pub fn report_unless_same_value(
        &mut self,
        order: &HappensBefore,
        events: &CheckEvents,
        (current, lanes): (WarpAccess, Lanes),
        Suspect { conflict, evidence }: Suspect,
        values: &Values<impl StoredValues, impl Fn(u64, usize) -> [u8; 16]>,
    ) {
        let Lanes { at, mask, bytes } = lanes;
        let other = conflict.other;
        let address = at.of(conflict.lane);
        // True if the other lane performs the current access too, at the same address.
        let both = other.warp() == current.warp
            && mask >> other.lane() & 1 == 1
            && at.of(other.lane()) == address;
        let together = both && other.site() == current.site;
        let store = current.access.kind == AccessKind::Store;
        if conflict.other_wrote && store && !conflict.pending {
            let width = bytes as usize;
            let new = values.stored.bytes(conflict.lane);
            let same = if together {
                values.stored.bytes(other.lane())[..width] == new[..width]
            } else {
                (values.before)(address, width)[..width] == new[..width]
            };
            if same {
                return;
            }
            if together {
                return self.record_lane_conflict(current, (conflict.lane, other.lane()), evidence);
            }
        }
        if both && store && !conflict.other_wrote {
            // Both lanes read and write the element: they update it.
            let key = conflict_key(current, &conflict);
            self.findings.set_cause(key, Cause::SumWithoutAtomic);
        }
        if !(together && conflict.other_wrote) {
            self.report_conflict(order, events, current, Suspect { conflict, evidence });
        }
    }

    /// Records the values that an ordered store writes, or a plain one to device memory.
    pub fn record_stores(&mut self, current: WarpAccess, lanes: Lanes, stored: &impl StoredValues) {
        if matches!(
            current.semantics,
            AccessSemantics::OrderedStore { .. } | AccessSemantics::Store
        ) {
            let value = || {
                let is_uniform = stored.is_uniform(lanes.mask);
                is_uniform.then(|| stored.bytes(lanes.mask.trailing_zeros() as usize % LANES))
            };
            self.findings.record_stored_values(current.site, value);
        }
    }

    /// Reports a conflict within one store whose lanes write to the same address, if two of them write
    /// different values.
    #[inline(always)]
    pub fn check_lane_conflicts(
        &mut self,
        current: WarpAccess,
        run: &LaneRun,
        evidence: Evidence,
        stored: &impl StoredValues,
    ) {
        let width = current.access.bytes as usize;
        let first = stored.bytes(run.first);
        let mut lanes = run.first + 1..run.first + run.lanes;
        if let Some(other) = lanes.find(|&lane| stored.bytes(lane)[..width] != first[..width]) {
            self.record_lane_conflict(current, (other, run.first), evidence);
        }
    }

    /// Records that two lanes of one store write different values to the same address.
    fn record_lane_conflict(
        &mut self,
        current: WarpAccess,
        (lane, other): (usize, usize),
        evidence: Evidence,
    ) {
        let key = FindingKey {
            other: current.site,
            ..current.key(FindingKind::ConflictingStore, Severity::Error)
        };
        self.findings.record(key, current.block, 1, || Occurrence {
            block: current.block,
            thread: current.thread(lane),
            other: Some(OtherThread {
                block: current.block,
                thread: current.thread(other),
                write: true,
            }),
            evidence,
        });
    }

    /// Reports a conflict, unless both accesses are synchronization operations.
    #[cold]
    fn report_conflict(
        &mut self,
        order: &HappensBefore,
        events: &CheckEvents,
        current: WarpAccess,
        Suspect { conflict, evidence }: Suspect,
    ) {
        let Conflict { other, .. } = conflict;
        let mut key = conflict_key(current, &conflict);
        let is_device = matches!(evidence, Evidence::Device { .. });
        if let CheckEvent::Access(access) = events.at(other.site())
            && conflict.pending
            && access.kind.is_bulk_copy()
        {
            self.findings.set_cause(key, Cause::BulkCopyNotAwaited);
        }
        match race_rule(events, current, other) {
            RaceRule::NoRace => return,
            // A thread that polls until it sees another's store, and then stores itself, comes after that
            // store.
            RaceRule::RaceUnlessConstant
                if current.writes && order.may_have_waited(current.warp, conflict.stamp) =>
            {
                return;
            }
            RaceRule::RaceUnlessConstant => self
                .findings
                .mark_conditional(key, [current.site, other.site()]),
            RaceRule::LoadBeforeAtomic => {
                key.severity = Severity::Warning;
                self.findings.set_cause(key, Cause::LoadBeforeAtomic);
            }
            RaceRule::DecidesByFlag if is_device && !conflict.pending => {
                let (load, store) = match current.writes {
                    true => (other.site(), current.site),
                    false => (current.site, other.site()),
                };
                self.findings.mark_decision(key, load, store);
            }
            RaceRule::DecidesByFlag | RaceRule::Race => {}
        }
        self.findings.record(key, current.block, 1, || Occurrence {
            block: current.block,
            thread: current.thread(conflict.lane),
            other: Some(OtherThread {
                block: current.block,
                thread: other.thread(),
                write: conflict.other_wrote,
            }),
            evidence,
        });
    }

    /// Records that the lane of a run of one starts an asynchronous copy to shared memory. Until the lane has
    /// waited for it, any access to the destination is a race.
    pub fn start_copy(
        &mut self,
        shadow: &mut Shadow,
        events: &CheckEvents,
        current: WarpAccess,
        run: LaneRun,
        bytes: u64,
    ) {
        let Shadow {
            order,
            shared,
            copied,
            ..
        } = shadow;
        let (lane, at) = (run.first, run.start);
        if !shared.contains(at, bytes) || at & (bytes - 1) != 0 {
            return;
        }
        if self.launch.checks.init {
            shared.written.set(at, bytes);
            let halves = LoadedBytes::of_copy().registers;
            copied.stored((current.warp, lane), halves, |byte, _| {
                if byte < bytes {
                    shared.written.unset(at + byte);
                }
            });
        }
        if self.launch.checks.race {
            let current = WarpAccess {
                writes: true,
                semantics: AccessSemantics::Store,
                ..current
            };
            let shadow_access = current.shadow_access();
            shared.flush_reads(order);
            if shared.may_conflict(order, shadow_access, &run, bytes) {
                let is_race = |other| may_race(events, current, other);
                for conflict in shared.find_conflicts(order, shadow_access, &run, bytes, is_race) {
                    let evidence = Evidence::shared(at, bytes);
                    self.report_conflict(order, events, current, Suspect { conflict, evidence });
                }
            }
            shared.record(order, shadow_access, &run, bytes);
            shared.record_copy(
                PENDING,
                Accessor::new(current.warp, lane, current.site),
                at,
                bytes,
            );
        }
    }
}

impl SharedShadow {
    /// Records that a thread starts a bulk copy to bytes of shared memory. Until [`SharedShadow::end_bulk_copy`], any
    /// access to them is a race, which is reported instead of a read of uninitialized memory.
    pub fn start_bulk_copy(
        &mut self,
        order: &HappensBefore,
        checks: Checks,
        accessor: Accessor,
        at: u64,
        bytes: u64,
    ) {
        if !checks.race {
            return;
        }
        self.flush_reads(order);
        self.record_copy(PENDING, accessor, at, bytes);
        if checks.init {
            self.written.set(at, bytes);
        }
    }

    /// Records that the data of a bulk copy has arrived. No thread has written it, because the barrier to which the copy
    /// reports orders it before all threads that wait there.
    pub fn end_bulk_copy(&mut self, checks: Checks, at: u64, bytes: u64) {
        if checks.race {
            self.record_copy(0, Accessor::new(0, 0, 0), at, bytes);
        }
        if checks.init {
            self.written.set(at, bytes);
        }
    }
}

/// Returns the key of the finding that reports a conflict.
fn conflict_key(current: WarpAccess, conflict: &Conflict) -> FindingKey {
    let other = conflict.other;
    let kind = match (conflict.pending, current.writes, conflict.other_wrote) {
        (true, ..) => FindingKind::CopyNotAwaited,
        (_, true, true) => FindingKind::WriteAfterWrite,
        (_, true, false) => FindingKind::WriteAfterRead,
        (_, false, _) => FindingKind::ReadAfterWrite,
    };
    let severity = if other.warp() == current.warp && !conflict.pending {
        Severity::Warning
    } else {
        Severity::Error
    };
    FindingKey {
        other: other.site(),
        ..current.key(kind, severity)
    }
}

/// Returns the rule for the current access and an earlier one, which nothing orders.
fn race_rule(events: &CheckEvents, current: WarpAccess, other: Accessor) -> RaceRule {
    let CheckEvent::Access(access) = events.at(other.site()) else {
        return RaceRule::Race;
    };
    let other_semantics = AccessSemantics::of(access);
    let both = [
        (access, other_semantics),
        (current.access, current.semantics),
    ];
    // The threads of a warp do not run in lockstep: volatile accesses do not replace `__syncwarp`.
    let is_atomic = both.iter().any(|(access, _)| access.kind.is_atomic())
        || current.semantics.are_atomic(other_semantics);
    let all_ordered = both.iter().all(|(_, semantics)| semantics.is_ordered());
    if other.warp() == current.warp && all_ordered {
        return match is_atomic {
            true => RaceRule::NoRace,
            false => RaceRule::Race,
        };
    }
    current.semantics.race_rule(other_semantics)
}

/// Returns false for an earlier access that does not race with the current one.
pub fn may_race(events: &CheckEvents, current: WarpAccess, other: Accessor) -> bool {
    race_rule(events, current, other) != RaceRule::NoRace
}

/// Applies the acquire, release and polling effects of an ordered access to the happens-before relation.
#[inline(always)]
pub fn synchronize(order: &mut HappensBefore, current: WarpAccess) {
    // A release operation has the effect of a fence before it.
    if current.semantics.can_release()
        && current
            .access
            .ordered
            .is_some_and(|ordered| ordered.releases)
    {
        order.fence(current.warp);
    }
    if current.semantics.can_acquire() {
        order.acquire(current.warp);
        if current.semantics.polls() {
            order.poll(current.warp);
        }
    }
}
