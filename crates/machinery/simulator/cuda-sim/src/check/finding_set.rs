//! The set of findings of a launch, with the evidence of each. Occurrences of the same bug, at the same
//! instructions, are counted as one finding.

use super::cause::Cause;
use super::details::{
    BlockBytes, Bytes, Details, Fill, FillRead, Lanes, NamedArray, OutsideTexture,
};
use super::finding::{Finding, FindingKind, OtherAccess, Severity};
use super::refined_causes;
use crate::isa::check_event::{CheckEvent, SharedArray};
use crate::isa::{AccessKind, Dims, Element, Listing};
use crate::memory::global::Global;
use std::collections::{BTreeMap, BTreeSet};

/// A placeholder for the second instruction of findings that have only one.
pub const NO_SITE: u32 = u32::MAX;

/// The identity of a finding: two occurrences with equal keys are the same finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FindingKey {
    pub severity: Severity,
    pub kind: FindingKind,
    /// The instruction's address.
    pub site: u32,
    /// The address of the other access's instruction, or [`NO_SITE`].
    pub other: u32,
}

/// One occurrence of a bug.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrence {
    /// The block's index in the launch.
    pub block: u64,
    /// The thread's index in its block.
    pub thread: u32,
    pub other: Option<OtherThread>,
    pub evidence: Evidence,
}

/// The thread that performed the other access of a data race.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherThread {
    pub block: u64,
    pub thread: u32,
    pub write: bool,
}

/// The launched kernel, which maps indices of blocks, threads and instructions to what the user sees.
#[derive(Clone, Copy)]
pub struct KernelContext<'a> {
    pub listing: &'a Listing,
    /// The kernel's name.
    pub kernel: &'a str,
    pub dims: Dims,
}

/// The findings of one launch, or of one host thread's share of it.
#[derive(Debug, Default)]
pub struct FindingSet {
    entries: BTreeMap<FindingKey, Entry>,
    /// Candidate races, each with two store instructions. Dropped at the end if each of these instructions
    /// stored only one value during the launch.
    conditional: BTreeMap<FindingKey, [u32; 2]>,
    /// The causes of findings that are known better than by their kind.
    causes: BTreeMap<FindingKey, Cause>,
    /// The instructions that read shared memory before another thread wrote it for the first time.
    overtaking_reads: BTreeSet<u32>,
    /// Candidate races of weak loads whose values only decide branches, with the load and the store. Warnings if the
    /// stores always wrote one value.
    decisions: BTreeMap<FindingKey, (u32, u32)>,
    /// The state of each instruction, by address. Tracked for ordered stores and for accesses to device memory.
    sites: Vec<SiteState>,
}

/// The executions of an instruction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SiteState {
    #[default]
    NotExecuted,
    Executed,
    /// A store that always wrote this value.
    OneValue([u8; 16]),
    /// A store that wrote different values.
    Values,
}

impl SiteState {
    /// Records a value that the instruction stores.
    #[inline(always)]
    fn store(&mut self, value: [u8; 16]) {
        match self {
            SiteState::NotExecuted | SiteState::Executed => *self = SiteState::OneValue(value),
            SiteState::OneValue(other) if *other != value => *self = SiteState::Values,
            SiteState::OneValue(_) | SiteState::Values => {}
        }
    }
}

/// The initialized bytes of an allocation.
#[derive(Debug, Clone, Copy)]
pub struct InitializedExtent {
    /// The number of bytes before the first one that is uninitialized.
    pub prefix: u64,
    /// The offset after the last byte that is initialized.
    pub end: u64,
}

/// The occurrences of one finding.
#[derive(Debug)]
struct Entry {
    /// Blocks, each with its number of occurrences.
    counts: Vec<(u64, u64)>,
    /// The first occurrence in the lowest of these blocks.
    first: Occurrence,
}

impl FindingSet {
    /// Records `count` occurrences in a block. `describe_first` is called if the finding is new.
    #[cold]
    pub fn record(
        &mut self,
        key: FindingKey,
        block: u64,
        count: u64,
        describe_first: impl FnOnce() -> Occurrence,
    ) {
        let entry = self.entries.entry(key).or_insert_with(|| Entry {
            counts: Vec::new(),
            first: describe_first(),
        });
        match entry.counts.last_mut() {
            Some((last, existing)) if *last == block => *existing += count,
            _ => entry.counts.push((block, count)),
        }
    }

    /// Marks a finding as a candidate that counts only if one of `sites` stores different values during the
    /// launch.
    #[cold]
    pub fn mark_conditional(&mut self, key: FindingKey, sites: [u32; 2]) {
        self.conditional.insert(key, sites);
    }

    /// Sets the likely cause of a finding.
    #[cold]
    pub fn set_cause(&mut self, key: FindingKey, cause: Cause) {
        self.causes.insert(key, cause);
    }

    /// Records that an instruction reads shared memory before another thread writes it for the first time.
    pub fn record_overtaking_read(&mut self, site: u32) {
        self.overtaking_reads.insert(site);
    }

    /// Marks a race as intended if all stores that race with the load always wrote one value.
    #[cold]
    pub fn mark_decision(&mut self, key: FindingKey, load: u32, store: u32) {
        self.decisions.insert(key, (load, store));
    }

    /// Returns the state of an instruction.
    pub fn site(&self, site: u32) -> SiteState {
        self.sites.get(site as usize).copied().unwrap_or_default()
    }

    /// Records that an instruction other than a store is executed.
    pub fn record_execution(&mut self, site: u32) {
        let state = self.site_mut(site);
        if *state == SiteState::NotExecuted {
            *state = SiteState::Executed;
        }
    }

    /// Records the value that all lanes store, or `None` if they store different ones.
    #[inline(always)]
    pub fn record_stored_values(&mut self, site: u32, value: impl Fn() -> Option<[u8; 16]>) {
        let state = self.site_mut(site);
        if *state != SiteState::Values {
            match value() {
                Some(value) => state.store(value),
                None => *state = SiteState::Values,
            }
        }
    }

    fn site_mut(&mut self, site: u32) -> &mut SiteState {
        let site = site as usize;
        if site >= self.sites.len() {
            self.sites.resize(site + 1, SiteState::NotExecuted);
        }
        &mut self.sites[site]
    }

    /// Returns true unless the finding is a candidate whose stores each wrote a single value.
    fn is_confirmed(&self, key: &FindingKey) -> bool {
        let varies = |&site: &u32| self.site(site) == SiteState::Values;
        self.conditional
            .get(key)
            .is_none_or(|sites| sites.iter().any(varies))
    }

    /// Returns true if a race with a load that only decides branches is probably intended: the stores that race with the
    /// load always wrote one value.
    fn is_decision(&self, key: &FindingKey) -> bool {
        self.decisions.get(key).is_some_and(|(load, _)| {
            let same_load = self.decisions.values().filter(|(other, _)| other == load);
            self.is_one_value(same_load.map(|&(_, store)| store))
        })
    }

    /// Returns true if stores always wrote one value, all of them the same.
    pub fn is_one_value(&self, stores: impl Iterator<Item = u32>) -> bool {
        let mut common = None;
        stores.into_iter().all(|site| match self.site(site) {
            SiteState::OneValue(value) => *common.get_or_insert(value) == value,
            _ => false,
        })
    }

    /// Adds the findings of another host thread.
    pub fn merge(&mut self, other: FindingSet) {
        self.conditional.extend(other.conditional);
        self.causes.extend(other.causes);
        self.overtaking_reads.extend(other.overtaking_reads);
        self.decisions.extend(other.decisions);
        for (site, state) in (0..).zip(other.sites) {
            match state {
                SiteState::NotExecuted => {}
                SiteState::Executed => self.record_execution(site),
                SiteState::OneValue(value) => self.site_mut(site).store(value),
                SiteState::Values => *self.site_mut(site) = SiteState::Values,
            }
        }
        for (key, entry) in other.entries {
            match self.entries.get_mut(&key) {
                Some(existing) => {
                    existing.counts.extend(entry.counts);
                    if entry.first.block < existing.first.block {
                        existing.first = entry.first;
                    }
                }
                None => {
                    self.entries.insert(key, entry);
                }
            }
        }
    }

    /// Discards findings in blocks after `last`. Whether those blocks ran depends on timing.
    pub fn discard_after(&mut self, last: u64) {
        self.entries.retain(|_, entry| {
            entry.counts.retain(|&(block, _)| block <= last);
            !entry.counts.is_empty()
        });
    }

    /// Returns true if a finding's instruction is an atomic.
    fn is_atomic(listing: &Listing, site: u32) -> bool {
        let event = (site != NO_SITE).then(|| listing.check_events.at(site));
        matches!(event, Some(CheckEvent::Access(access)) if access.kind.is_atomic())
    }

    /// Returns the cause of a race in which a thread read too early: then the write should have come first, though it
    /// was executed last.
    fn cause_by_order(&self, key: &FindingKey) -> Option<Cause> {
        let overtaken = key.kind == FindingKind::WriteAfterRead
            && key.severity == Severity::Error
            && self.overtaking_reads.contains(&key.other);
        overtaken.then_some(Cause::MissingBarrier)
    }

    /// Converts the set into findings, errors first. `initialized` returns the bytes of the allocation at an address that
    /// were initialized when the launch started.
    pub fn into_findings(
        mut self,
        context: KernelContext,
        global: &Global,
        initialized: impl Fn(u64) -> Option<InitializedExtent>,
    ) -> Vec<Finding> {
        let KernelContext {
            listing,
            kernel,
            dims,
        } = context;
        let mut findings: Vec<Finding> = Vec::new();
        let entries = std::mem::take(&mut self.entries);
        for (key, entry) in entries {
            if !self.is_confirmed(&key) {
                continue;
            }
            let is_decision = self.is_decision(&key);
            let occurrence = entry.first;
            let is_race = occurrence.other.is_some();
            let source = listing.nearest_source_of(key.site);
            let details = occurrence.evidence.resolve(listing, global);
            let finding = Finding {
                check: key.kind.check(),
                kind: key.kind,
                severity: match is_decision {
                    true => Severity::Warning,
                    false => key.severity,
                },
                kernel: kernel.to_owned(),
                block: dims.block_index(occurrence.block),
                thread: dims.thread_index(occurrence.thread),
                ptx_lines: [source.ptx_line; 2],
                source,
                atomic: is_race && FindingSet::is_atomic(listing, key.site),
                other: occurrence.other.map(|other| OtherAccess {
                    block: dims.block_index(other.block),
                    thread: dims.thread_index(other.thread),
                    source: listing.nearest_source_of(key.other),
                    write: other.write,
                    atomic: FindingSet::is_atomic(listing, key.other),
                }),
                likely_cause: is_decision
                    .then_some(Cause::DecidesByFlag)
                    .or_else(|| self.causes.remove(&key))
                    .or_else(|| cause_by_types(&key, listing))
                    .or_else(|| self.cause_by_order(&key))
                    .or_else(|| cause_in(key.kind, &details, &initialized))
                    .or_else(|| key.kind.likely_cause()),
                details,
                count: entry.counts.iter().map(|(_, count)| count).sum(),
            };
            // The compiler may duplicate a source line; its copies are one bug.
            match findings
                .iter_mut()
                .find(|existing| existing.is_same_bug(&finding))
            {
                Some(existing) => existing.merge(&finding),
                None => findings.push(finding),
            }
        }
        findings.sort_by_key(|finding| finding.severity);
        refined_causes::refine(&mut findings);
        findings
    }
}

/// Returns the cause of a race within a block whose two accesses use the same bytes as elements of different types.
fn cause_by_types(key: &FindingKey, listing: &Listing) -> Option<Cause> {
    use FindingKind::{ReadAfterWrite, WriteAfterRead, WriteAfterWrite};
    if !matches!(key.kind, ReadAfterWrite | WriteAfterRead | WriteAfterWrite) {
        return None;
    }
    let own = TypedAccess::of(key.site, listing)?;
    let other = TypedAccess::of(key.other, listing)?;
    own.differs(other).then(|| {
        let [own, other] = [own, other].map(|access| access.element.type_name().to_owned());
        Cause::TypesDiffer(own, other)
    })
}

/// An access that does not merely copy bytes, as a copy of a structure does.
#[derive(Clone, Copy)]
struct TypedAccess {
    element: Element,
    /// True if the instruction shows the type of the element. A store of integers may store several smaller elements, or
    /// the bits of a constant.
    is_certain: bool,
}

impl TypedAccess {
    /// Returns the access of the instruction at `site`.
    fn of(site: u32, listing: &Listing) -> Option<TypedAccess> {
        let events = &listing.check_events;
        let CheckEvent::Access(access) = events.at(site) else {
            return None;
        };
        let is_load = matches!(access.kind, AccessKind::Load | AccessKind::ReadOnlyLoad);
        let is_typed = match access.kind {
            AccessKind::Store => events.stored(site).is_none(),
            _ => is_load && events.loaded(site).is_none_or(|loaded| loaded.used != 0),
        };
        is_typed.then_some(TypedAccess {
            element: access.element,
            is_certain: is_load || access.element.is_float,
        })
    }

    /// Returns true if the elements certainly have different types.
    fn differs(self, other: TypedAccess) -> bool {
        let wider = if self.element.bytes > other.element.bytes {
            self
        } else {
            other
        };
        let both = [self, other];
        match self.element.bytes == other.element.bytes {
            false => wider.is_certain,
            true => {
                self.element.is_float != other.element.is_float
                    && both.iter().all(|access| access.is_certain)
            }
        }
    }
}

/// Returns the cause that the accessed memory suggests, if it does.
fn cause_in(
    kind: FindingKind,
    details: &Details,
    initialized: impl Fn(u64) -> Option<InitializedExtent>,
) -> Option<Cause> {
    match details {
        Details::BeforeArray(..) => Some(Cause::NegativeIndex),
        Details::PartOfAllocation(bytes, _, byte, allocation)
            if kind == FindingKind::UninitializedDevice =>
        {
            let Some(rows) = allocation.rows else {
                let of = allocation.bytes;
                let InitializedExtent { prefix, end } = initialized(allocation.base)?;
                return match prefix {
                    0 => None,
                    _ if *byte < prefix => None,
                    _ if *byte < end => Some(Cause::GapsNotInitialized),
                    _ if bytes.0 > 1 && prefix.checked_mul(bytes.0) == Some(of) => {
                        Some(Cause::ElementsNotBytes(Bytes(prefix), Bytes(of)))
                    }
                    _ => Some(Cause::PartNotInitialized(Bytes(prefix), Bytes(of))),
                };
            };
            Some(match byte % rows.pitch < rows.width {
                true => Cause::RowsNotInitialized(Bytes(rows.pitch)),
                false => Cause::PaddingOfRow(Bytes(rows.width)),
            })
        }
        _ => None,
    }
}

/// The evidence of the first occurrence of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// Bytes of the block's memory.
    Block(BlockBytes),
    /// Bytes of shared memory outside `array`, from which their address was computed.
    OutsideArray {
        at: u64,
        bytes: u64,
        array: SharedArray,
    },
    /// Bytes of device memory.
    Device { at: u64, bytes: u64 },
    /// Part of a warp arrived at a barrier. `arrived` and `live` are lane masks: the lanes that arrived, and
    /// the lanes that have not exited.
    PartialArrival {
        arrived: u32,
        live: u32,
        /// The current instruction of one of the absent lanes, if it is known.
        elsewhere: Option<u32>,
    },
    /// `threads` threads of the block exited before a barrier, one of them after the instruction `after`.
    ExitedThreads { threads: u32, after: u32 },
    /// The mask operand of a warp-wide instruction, and the lanes that it includes or omits by mistake.
    Mask { mask: u32, wrong: u32 },
    /// An element at `at` of memory that was set byte by byte.
    ByteFill { at: u64, element: Element },
    /// A coordinate outside a texture.
    OutsideTexture(OutsideTexture),
    /// No evidence beyond the kind of finding.
    None,
}

impl Evidence {
    /// Returns the evidence of `bytes` bytes of shared memory.
    pub fn shared(at: u64, bytes: u64) -> Evidence {
        let bytes = Bytes(bytes);
        Evidence::Block(BlockBytes::Shared(bytes, at))
    }

    /// Looks up allocations and source lines.
    fn resolve(self, listing: &Listing, global: &Global) -> Details {
        match self {
            Evidence::Block(bytes) => Details::Block(bytes),
            Evidence::OutsideArray { at, bytes, array } => {
                let start = u64::from(array.start);
                let bytes = Bytes(bytes);
                match (NamedArray::of(array, listing), at.checked_sub(start)) {
                    (None, _) => Details::Block(BlockBytes::Shared(bytes, at)),
                    (Some(array), Some(byte)) => Details::PastArray(bytes, at, byte, array),
                    (Some(array), None) => {
                        Details::BeforeArray(bytes, at, Bytes(start - at), array)
                    }
                }
            }
            Evidence::Device { at, bytes } => Details::device(at, bytes, global.record(at)),
            Evidence::PartialArrival {
                arrived,
                live,
                elsewhere,
            } => {
                let (arrived, live) = (arrived.count_ones(), live.count_ones());
                match elsewhere.map(|site| listing.nearest_source_of(site)) {
                    Some(elsewhere) => Details::DivergentArrival(arrived, live, elsewhere),
                    None => Details::PartialArrival(arrived, live),
                }
            }
            Evidence::ExitedThreads { threads, after } => match listing.nearest_source_of(after) {
                first if threads == 1 => Details::ExitedThread(first),
                first => Details::ExitedThreads(threads, first),
            },
            Evidence::Mask { mask, wrong } => Details::Mask(mask, Lanes(wrong)),
            Evidence::ByteFill { at, element } => match (global.fill(at), global.record(at)) {
                (Some(fill), Some(allocation)) => {
                    let read = FillRead::of(fill.value, element);
                    let place = fill.source.map_or(Fill::Unknown, Fill::At);
                    Details::ByteFill(fill.value, place, read, allocation)
                }
                _ => Details::None,
            },
            Evidence::OutsideTexture(outside) => Details::Texture(outside),
            Evidence::None => Details::None,
        }
    }
}
