//! Checks of accesses to device memory: initialization, data races between threads of a block, and data races
//! between blocks; and of texture fetches and surface stores.

use super::accessed_bytes::AccessedAs;
use super::blocks::BlockAccess;
use super::cause::Cause;
use super::checker::{
    Checker, Lanes, RECENT, Values, WarpAccess, record_uninitialized, remove_padding,
    uninitialized_reads,
};
use super::details::OutsideTexture;
use super::device_shadow::LINE;
use super::finding::{FindingKind, Severity};
use super::finding_set::{Evidence, FindingKey, NO_SITE, Occurrence, OtherThread};
use super::lane_runs::{LaneRun, LaneRuns, StoredValues};
use super::launch_checks::TrackedAllocation;
use super::semantics::{AccessSemantics, RaceRule};
use super::serial_blocks::{RacyPair, SerialAccess, WORD};
use super::shadow::{CopiedBytes, DeferredRead, Shadow};
use super::shared_access::{Suspect, may_race, synchronize};
use crate::isa::AccessKind;
use crate::isa::check_event::CheckEvents;
use crate::lanes::{LANES, active};
use std::sync::atomic::Ordering::Relaxed;

/// The state of the bytes that some lanes access.
enum AllocationCheck {
    /// The bytes are inside an allocation, aligned, and initialized if the access reads them.
    Valid,
    /// Some of the bytes that the access reads are uninitialized. They may be padding.
    Uninitialized,
    /// The bytes are not inside one allocation, or the address is misaligned.
    OutOfBounds,
}

impl Checker {
    /// Checks an access to device memory by the lanes in `lanes.mask`.
    #[inline(always)]
    pub fn check_device(
        &mut self,
        shadow: &mut Shadow,
        events: &CheckEvents,
        current: WarpAccess,
        lanes: Lanes,
        values: Values<impl StoredValues, impl Fn(u64, usize) -> [u8; 16]>,
    ) {
        if !self.launch.tracks_device {
            return;
        }
        let Lanes { at, mask, bytes } = lanes;
        let race = self.launch.checks.race;
        if current.access.ordered.is_some() && race {
            synchronize(&mut shadow.order, current);
            self.apply_ordering(current, lanes, &values.stored);
        }
        if race && current.semantics == AccessSemantics::Store {
            self.record_stores(current, lanes, &values.stored);
        }
        let number = events.device_access_ordinal(current.site);
        let copied = &mut shadow.copied;
        if !copied.is_empty()
            && current.access.kind != AccessKind::Store
            && let Some(loaded) = events.loaded(current.site)
        {
            copied.overwrite(current.warp, mask, loaded);
        }
        // The last range that was valid: runs often access the same range again.
        let mut last_valid = None;
        for run in LaneRuns::new(at, mask, bytes) {
            let range = (run.start, run.span(bytes));
            if last_valid != Some(range) {
                match self.check_allocation(
                    &mut shadow.copied,
                    events,
                    current,
                    number,
                    (&run, bytes),
                    &values.stored,
                ) {
                    AllocationCheck::Valid => last_valid = Some(range),
                    AllocationCheck::Uninitialized => last_valid = None,
                    // The access is about to raise a fault, which reports it.
                    AllocationCheck::OutOfBounds => return,
                }
                if current.reads && !self.launch.fills.is_empty() {
                    self.check_fill(current, &run, &values.before);
                }
                if race && self.serial.is_some() {
                    self.check_serial(events, current, &run, bytes, &values);
                }
            }
            if !race {
                continue;
            }
            let same_address = run.lanes > 1 && !run.contiguous;
            if same_address && current.access.kind == AccessKind::Store {
                let evidence = Evidence::Device {
                    at: run.start,
                    bytes,
                };
                self.check_lane_conflicts(current, &run, evidence, &values.stored);
            }
            self.check_within_block(shadow, events, (current, lanes), &run, &values);
        }
        let semantics = current.semantics_between_blocks();
        if semantics.can_release()
            && let Some(serial) = &mut self.serial
        {
            for lane in active(mask) {
                let location = at.of(lane) / WORD;
                serial.release(current.block, location);
                if matches!(semantics, AccessSemantics::OrderedStore { .. }) {
                    serial.release_reads(current.block, location);
                }
            }
        }
    }

    /// Checks a run of lanes against the state that the whole launch shares: bounds, initialization, and the
    /// blocks that access the bytes. `number` is the index of the instruction among those that access device
    /// memory.
    #[inline(always)]
    fn check_allocation(
        &mut self,
        copied: &mut CopiedBytes,
        events: &CheckEvents,
        current: WarpAccess,
        number: u32,
        (run, bytes): (&LaneRun, u64),
        stored: &impl StoredValues,
    ) -> AllocationCheck {
        let Checker {
            launch,
            findings,
            recent_allocations,
            recent_accesses,
            ..
        } = self;
        let slot = (run.start >> 20) as usize % RECENT;
        let span = run.span(bytes);
        let allocation = launch.device.get(recent_allocations[slot]);
        let allocation =
            match allocation.filter(|allocation| allocation.offset(run.start, span).is_some()) {
                Some(allocation) => allocation,
                None => {
                    let Some(number) = launch.device.find(run.start) else {
                        return AllocationCheck::OutOfBounds;
                    };
                    recent_allocations[slot] = number;
                    match launch.device.get(number) {
                        Some(allocation) => allocation,
                        None => return AllocationCheck::OutOfBounds,
                    }
                }
            };
        let Some(offset) = allocation.offset(run.start, span) else {
            return AllocationCheck::OutOfBounds;
        };
        if run.start & (bytes - 1) != 0 && bytes.is_power_of_two() {
            return AllocationCheck::OutOfBounds;
        }
        let mut status = AllocationCheck::Valid;
        if let (Some(written), true) = (&allocation.written, launch.checks.init) {
            if current.reads && !written.is_initialized(offset, span) {
                status = AllocationCheck::Uninitialized;
                let initialized = |at| written.is_initialized(at - allocation.base, bytes);
                let mut reads = uninitialized_reads(current, run, bytes, initialized);
                remove_padding(
                    &mut reads,
                    copied,
                    (current.warp, events.loaded(current.site)),
                    |byte| {
                        let inside = byte.wrapping_sub(allocation.base) < allocation.bytes;
                        inside && written.is_initialized(byte - allocation.base, 1)
                    },
                );
                for deferred in reads {
                    let kind = FindingKind::UninitializedDevice;
                    record_uninitialized(findings, kind, current.block, deferred);
                }
                if current.writes {
                    allocation.stores.note_atomic();
                }
            }
            if current.initializes() {
                written.set(offset, span);
                allocation.stores.note(current.access);
                if !copied.is_empty()
                    && let Some(stored) = events.stored(current.site)
                {
                    for (lane, at) in run.addresses(bytes) {
                        copied.stored((current.warp, lane), stored, |byte, structure| {
                            written.unset(at - allocation.base + byte);
                            allocation.stores.note_structure(structure);
                        });
                    }
                }
            }
        }
        if let Some(accessed) = &allocation.accessed {
            let kind = AccessedAs::of(current.access.ordered.is_some(), current.writes);
            accessed.record(kind, allocation.bytes, offset, span);
            if allocation.is_host_accessible
                && let Some(ordered) = current.access.ordered
                && ordered.is_system
            {
                launch.system_access.store(true, Relaxed);
            }
        }
        if let Some(input) = &allocation.input {
            let access = current.access;
            input.access(offset, span, access.bytes, access.element.bytes);
        }
        if let Some(shadow) = &allocation.shadow
            && current
                .access
                .ordered
                .is_none_or(|ordered| ordered.is_block)
        {
            let by = BlockAccess {
                block: current.block,
                site: number,
                write: current.writes,
            };
            if current.access.ordered.is_some() && current.reads && current.writes {
                // Nothing is known about the values that an atomic stores, so assume that those of each block differ.
                let values = |_, _| [current.block as u32; LANES];
                let read = BlockAccess { write: false, ..by };
                shadow.record(recent_accesses, offset, span, read, values);
                shadow.record(recent_accesses, offset, span, by, values);
                findings.record_execution(current.site);
                return status;
            }
            let word_bytes = shadow.word_bytes();
            // In the most frequent case each word belongs to one lane.
            let row = stored.words().filter(|_| run.contiguous && word_bytes == 4);
            let first_word = (offset / 4).wrapping_sub(run.first as u64);
            let value = |word: u64| match row {
                Some(row) => row[word.wrapping_sub(first_word) as usize % LANES],
                None => {
                    let at = (word * word_bytes).saturating_sub(offset);
                    run.stored_word(at, bytes, stored)
                }
            };
            let values = |first: u64, words: u32| match row {
                Some(row) if first == first_word => *row,
                _ => {
                    let mut values = [0; LANES];
                    active(words).for_each(|word| values[word] = value(first + word as u64));
                    values
                }
            };
            let is_new = shadow.record(recent_accesses, offset, span, by, values);
            if is_new && !current.writes {
                findings.record_execution(current.site);
            }
        }
        status
    }

    /// Checks whether a read of elements of several bytes finds the pattern of a fill by bytes.
    #[cold]
    fn check_fill(
        &mut self,
        current: WarpAccess,
        run: &LaneRun,
        before: &impl Fn(u64, usize) -> [u8; 16],
    ) {
        let element = current.access.element;
        let (at, bytes) = (run.start, element.bytes as usize);
        let mut fills = self.launch.fills.iter();
        let Some(&(_, value)) = fills.find(|(range, _)| range.contains(&at)) else {
            return;
        };
        let is_set = before(at, bytes)[..bytes].iter().all(|&byte| byte == value);
        // -1 is the same integer in all sizes.
        if bytes < 4 || !is_set || !element.is_float && value == u8::MAX {
            return;
        }
        // Programs that measure bandwidth do not care about the values.
        let key = current.key(FindingKind::ByteFill, Severity::Warning);
        self.findings.record(key, current.block, 1, || Occurrence {
            block: current.block,
            thread: current.thread(run.first),
            other: None,
            evidence: Evidence::ByteFill { at, element },
        });
    }

    /// Records that the kernel synchronizes with the host.
    pub fn note_system_access(&self) {
        self.launch.system_access.store(true, Relaxed);
    }

    /// Records that a block executes a fence.
    pub fn fence(&mut self, block: u64) {
        if let Some(serial) = &mut self.serial {
            serial.fence(block);
        }
    }

    /// Applies the release and acquire effects of an ordered access, and records the values that it stores.
    #[cold]
    fn apply_ordering(&mut self, current: WarpAccess, lanes: Lanes, stored: &impl StoredValues) {
        self.record_stores(current, lanes, stored);
        let semantics = current.semantics_between_blocks();
        let releases = current
            .access
            .ordered
            .is_some_and(|ordered| ordered.releases && !ordered.is_block);
        if let Some(serial) = &mut self.serial {
            if releases {
                serial.fence(current.block);
            }
            if semantics.can_acquire() {
                for lane in active(lanes.mask) {
                    let location = lanes.at.of(lane) / WORD;
                    serial.acquire(current.block, location);
                    if semantics.polls() {
                        serial.acquire_reads(current.block, location);
                    }
                }
            }
        }
    }

    /// Checks a run of lanes, which must be inside an allocation, for data races with other threads of the
    /// block.
    #[inline(always)]
    fn check_within_block(
        &mut self,
        shadow: &mut Shadow,
        events: &CheckEvents,
        (current, lanes): (WarpAccess, Lanes),
        run: &LaneRun,
        values: &Values<impl StoredValues, impl Fn(u64, usize) -> [u8; 16]>,
    ) {
        let Shadow { order, device, .. } = shadow;
        let (shadow_access, bytes) = (current.shadow_access(), lanes.bytes);
        let mut lane = run.first;
        while lane < run.first + run.lanes {
            let (part, may_conflict) = device.part(order, shadow_access, (run, lane), bytes);
            lane += part.lanes;
            let shadow = &mut device.lines;
            if may_conflict && shadow.may_conflict(order, shadow_access, &part, bytes) {
                let is_race = |other| may_race(events, current, other);
                for conflict in shadow.find_conflicts(order, shadow_access, &part, bytes, is_race) {
                    let evidence = Evidence::Device {
                        at: lanes.at.of(conflict.lane),
                        bytes,
                    };
                    let suspect = Suspect { conflict, evidence };
                    self.report_unless_same_value(order, events, (current, lanes), suspect, values);
                }
            }
            shadow.record(order, shadow_access, &part, bytes);
        }
    }

    /// Checks an access, which must be inside an allocation, for data races with earlier blocks of a launch
    /// that runs its blocks one after the other.
    #[cold]
    fn check_serial(
        &mut self,
        events: &CheckEvents,
        current: WarpAccess,
        run: &LaneRun,
        bytes: u64,
        values: &Values<impl StoredValues, impl Fn(u64, usize) -> [u8; 16]>,
    ) {
        let by = SerialAccess {
            block: current.block,
            site: current.site,
            semantics: current.semantics_between_blocks(),
        };
        let (start, span, width) = (run.start, run.span(bytes), bytes as usize);
        let keeps_value = |nth: usize| {
            let at = start
                + if run.contiguous {
                    nth as u64 * bytes
                } else {
                    0
                };
            values.stored.bytes(run.first + nth)[..width] == (values.before)(at, width)[..width]
        };
        let mut at = start;
        while at < start + span {
            let next = (at - at % LINE + LINE).min(start + span);
            let serial = self.serial.as_mut();
            let pair = serial.and_then(|serial| serial.record(by, at, next - at));
            if let Some(pair) = pair {
                let one_value =
                    current.access.kind == AccessKind::Store && (0..run.lanes).all(keeps_value);
                let has_block_scope = [by.site, pair.earlier.site]
                    .iter()
                    .any(|&site| events.has_block_scope(site));
                let cause = match (has_block_scope, pair.only_unfenced) {
                    (true, _) => Some(Cause::BlockScope),
                    (false, true) => Some(Cause::MissingFence),
                    (false, false) => None,
                };
                let width = current.access.bytes;
                self.record_racy_pair(by, width, at - at % LINE, pair, one_value, cause);
            }
            at = next;
        }
    }

    /// Records a data race between two blocks on a line. `one_value` is true if the current access stores the value that
    /// is there; `cause` is the cause if it does not follow from the kinds of the accesses.
    fn record_racy_pair(
        &mut self,
        by: SerialAccess,
        width: u32,
        line: u64,
        pair: RacyPair,
        one_value: bool,
        cause: Option<Cause>,
    ) {
        let earlier = pair.earlier;
        let (writer, user) = if earlier.semantics.writes() {
            (earlier, by)
        } else {
            (by, earlier)
        };
        let mut key = FindingKey {
            severity: Severity::Error,
            kind: FindingKind::InterBlockRace,
            site: writer.site,
            other: user.site,
        };
        let both_store = [earlier, by].map(|access| access.semantics == AccessSemantics::Store);
        match pair.rule {
            RaceRule::RaceUnlessConstant => self
                .findings
                .mark_conditional(key, [writer.site, user.site]),
            RaceRule::LoadBeforeAtomic => {
                key.severity = Severity::Warning;
                self.findings.set_cause(key, Cause::LoadBeforeAtomic);
            }
            RaceRule::DecidesByFlag => self.findings.mark_decision(key, user.site, writer.site),
            RaceRule::NoRace | RaceRule::Race if one_value && both_store == [true; 2] => {
                key.severity = Severity::Warning;
                self.findings.set_cause(key, Cause::SameElementInBlocks);
                self.findings
                    .mark_conditional(key, [writer.site, user.site]);
            }
            RaceRule::NoRace | RaceRule::Race => {}
        }
        if let Some(cause) = cause {
            self.findings.set_cause(key, cause);
        }
        let width = u64::from(width);
        let at = line + u64::from(pair.bytes.trailing_zeros());
        let count = u64::from(pair.bytes.count_ones()).div_ceil(width);
        self.findings
            .record(key, writer.block, count, || Occurrence {
                block: writer.block,
                thread: 0,
                other: Some(OtherThread {
                    block: user.block,
                    thread: 0,
                    write: user.semantics.writes(),
                }),
                evidence: Evidence::Device {
                    at: at - at % width,
                    bytes: width,
                },
            });
    }
}

/// A texture fetch, or a read of a surface, by one lane.
#[derive(Debug, Clone, Copy)]
pub struct Fetch {
    pub block: u64,
    pub thread: u32,
    /// The instruction's address.
    pub site: u32,
}

/// The texel that a fetch reads.
#[derive(Debug, Clone, Copy)]
pub struct Texel {
    /// The address of the texel; `None` if the fetch reads the border.
    pub at: Option<u64>,
    pub bytes: u64,
    /// A coordinate outside the texture whose address mode needs normalized coordinates.
    pub outside: Option<OutsideTexture>,
}

impl OutsideTexture {
    /// Creates the description of a coordinate `at` in a dimension with `texels` texels.
    pub fn new(dimension: usize, at: i64, texels: i64) -> OutsideTexture {
        match dimension {
            0 => OutsideTexture::X(at, texels),
            1 => OutsideTexture::Y(at, texels),
            _ => OutsideTexture::Z(at, texels),
        }
    }
}

impl Checker {
    /// Checks the texel or the surface element that a lane reads. `cause` is the likely cause if it is uninitialized.
    #[cold]
    pub fn check_texel(&mut self, fetch: Fetch, texel: Texel, cause: Cause) {
        let key = |kind, severity| FindingKey {
            severity,
            kind,
            site: fetch.site,
            other: NO_SITE,
        };
        if let (Some(outside), true) = (texel.outside, self.launch.checks.memory) {
            let key = key(FindingKind::IgnoredAddressMode, Severity::Warning);
            self.findings.record(key, fetch.block, 1, || Occurrence {
                block: fetch.block,
                thread: fetch.thread,
                other: None,
                evidence: Evidence::OutsideTexture(outside),
            });
        }
        if let Some(at) = texel.at {
            self.record_texels(AccessedAs::Read, at, texel.bytes);
        }
        if let (Some(at), true) = (texel.at, self.launch.checks.init)
            && !self.is_initialized(at, texel.bytes)
        {
            let kind = FindingKind::UninitializedDevice;
            let deferred = DeferredRead {
                site: fetch.site,
                thread: fetch.thread,
                at,
                bytes: texel.bytes,
            };
            record_uninitialized(&mut self.findings, kind, fetch.block, deferred);
            let key = key(kind, Severity::Error);
            self.findings.set_cause(key, cause);
        }
    }

    /// Notes that a kernel uses the memory at `address` in a way that is not tracked by bytes: a texture, whose fetches
    /// may read several texels, a surface, or a string.
    #[cold]
    pub fn use_memory(&self, address: u64) {
        if let Some(input) = self
            .tracked(address)
            .and_then(|memory| memory.input.as_ref())
        {
            input.use_all();
        }
    }

    /// Notes that a kernel writes bytes of a surface.
    #[cold]
    pub fn store_texels(&mut self, at: u64, bytes: u64) {
        self.record_texels(AccessedAs::Write, at, bytes);
        if let Some(allocation) = self.tracked(at)
            && let (Some(written), Some(offset)) =
                (&allocation.written, allocation.offset(at, bytes))
        {
            written.set(offset, bytes);
        }
    }

    /// Records an access to bytes of a texture or a surface, for the checks of streams and of the host.
    fn record_texels(&self, kind: AccessedAs, at: u64, bytes: u64) {
        if let Some(allocation) = self.tracked(at)
            && let (Some(accessed), Some(offset)) =
                (&allocation.accessed, allocation.offset(at, bytes))
        {
            accessed.record(kind, allocation.bytes, offset, bytes);
        }
    }

    /// Returns false for uninitialized bytes of device memory.
    fn is_initialized(&self, at: u64, bytes: u64) -> bool {
        self.tracked(at).is_none_or(|allocation| {
            match (&allocation.written, allocation.offset(at, bytes)) {
                (Some(written), Some(offset)) => written.is_initialized(offset, bytes),
                _ => true,
            }
        })
    }

    /// Returns the shadow state of the allocation that contains an address.
    fn tracked(&self, address: u64) -> Option<&TrackedAllocation> {
        let device = &self.launch.device;
        device.find(address).and_then(|index| device.get(index))
    }
}
