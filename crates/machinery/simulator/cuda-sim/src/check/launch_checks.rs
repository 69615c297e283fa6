//! The state that all checks of one launch share, including the shadow state of its allocations.

use super::accessed_bytes::{AccessedBytes, AllocationAccesses};
use super::blocks::{AllocationShadow, RacyWord};
use super::cause::Cause;
use super::device_shadow::DeviceShadow;
use super::finding::{Finding, FindingKind, Severity};
use super::finding_set::{
    Evidence, FindingKey, FindingSet, InitializedExtent, KernelContext, NO_SITE, Occurrence,
    OtherThread, SiteState,
};
use super::selection::Checks;
use super::shadow::Shadow;
use super::shared::SharedShadow;
use crate::isa::check_event::{CheckEvent, CheckEvents};
use crate::isa::{Access, Memory};
use crate::memory::coverage::Input;
use crate::memory::coverage::{Stores, Widths};
use crate::memory::global::{Allocation, Global};
use crate::memory::init_bitmap::AtomicInitBitmap;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// The limit on tracked lines of device memory in all resident blocks together, and the bounds on that in
/// each block.
const TOTAL_LINES: u32 = 1 << 20;
const MAX_BLOCK_LINES: u32 = 1 << 13;
const MIN_BLOCK_LINES: u32 = 1 << 8;

/// The blocks of a launch.
#[derive(Clone, Copy)]
pub struct LaunchedBlocks {
    pub count: u64,
    /// True if the blocks may synchronize with each other. The checks then run them one after the other.
    pub ordered: bool,
    /// The maximum number of resident blocks.
    pub resident: u32,
    /// The address of the allocation that holds the device heap of `malloc`. It is not tracked, because its
    /// parts are reused by other threads.
    pub heap: Option<u64>,
}

/// The state that all checks of one launch share.
pub struct LaunchChecks {
    pub checks: Checks,
    /// Bytes of shared memory per block.
    pub shared_bytes: u32,
    /// The granularity of shared-memory tracking in bytes: 4, or 1 if the program has accesses smaller than a
    /// word.
    pub granule: u32,
    pub(super) device: DeviceAllocations,
    /// The ranges of memory that were set byte by byte, with the value.
    pub(super) fills: Vec<(Range<u64>, u8)>,
    /// True if accesses to device memory are tracked.
    pub(super) tracks_device: bool,
    /// True if the kernel has executed a fence of system scope, or a volatile access or one of system scope to memory
    /// that the host can access: it may synchronize with the host.
    pub(super) system_access: AtomicBool,
    /// The kind of race detection between blocks.
    block_tracking: BlockTracking,
    /// The number of blocks of the launch.
    pub(super) blocks: u64,
    /// The maximum number of tracked lines of device memory per block.
    block_lines: u32,
    /// The granularity of device-memory tracking within a block in bytes: 4, or 1 as for shared memory.
    device_granule: u32,
}

impl LaunchChecks {
    /// Creates the state for a launch with `shared_bytes` bytes of shared memory per block. Returns `None` if
    /// no selected check instruments the kernel.
    pub fn new(
        checks: Checks,
        events: &CheckEvents,
        global: &Global,
        shared_bytes: u32,
        blocks: LaunchedBlocks,
    ) -> Option<Arc<LaunchChecks>> {
        let block_tracking = match (checks.race && blocks.count > 1, blocks.ordered) {
            (true, false) => BlockTracking::ConcurrentBlocks,
            (true, true) => BlockTracking::SerialBlocks,
            (false, _) => BlockTracking::None,
        };
        let device_granule = events.shadow_granularity(Memory::Global);
        checks.instruments().then(|| {
            Arc::new(LaunchChecks {
                checks,
                shared_bytes,
                granule: events.shadow_granularity(Memory::Shared),
                device: DeviceAllocations::of(
                    global,
                    block_tracking,
                    checks.tracks_accesses(),
                    device_granule,
                    blocks.heap,
                ),
                fills: if checks.init {
                    fills(global)
                } else {
                    Vec::new()
                },
                tracks_device: checks.race
                    || checks.init
                    || checks.tracks_accesses()
                    || checks.unused,
                system_access: AtomicBool::new(false),
                block_tracking,
                blocks: blocks.count,
                block_lines: (TOTAL_LINES / blocks.resident.max(1))
                    .clamp(MIN_BLOCK_LINES, MAX_BLOCK_LINES),
                device_granule,
            })
        })
    }

    /// Returns true if the blocks must run one after the other.
    pub fn is_serial(&self) -> bool {
        self.block_tracking == BlockTracking::SerialBlocks
    }

    /// Returns true if the blocks that access each word are recorded.
    pub fn tracks_blocks(&self) -> bool {
        self.block_tracking == BlockTracking::ConcurrentBlocks
    }

    /// Creates the shadow state of a block that has not started.
    pub fn shadow(&self) -> Box<Shadow> {
        let device = DeviceShadow::new(self.block_lines, self.device_granule, self.checks);
        let shared = SharedShadow::new(self.shared_bytes, self.granule, self.checks);
        Box::new(Shadow::new(shared, device))
    }

    /// Returns the findings, errors first. `completed` is true if the launch ended without a fault.
    pub fn findings(
        &self,
        mut findings: FindingSet,
        context: KernelContext,
        global: &Global,
        completed: bool,
    ) -> Vec<Finding> {
        for tracked in self.device.iter() {
            if let Some(stores) = tracked.stores.of_kernel(context.kernel) {
                global.add_stores(tracked.base, stores);
            }
        }
        if completed {
            // After a fault, which later blocks ran depends on timing, so races between blocks are reported
            // only if the launch completed.
            self.find_racy_words(&mut findings, &context.listing.check_events);
        }
        findings.into_findings(context, global, |base| {
            let tracked = self.device.get(self.device.find(base)?)?;
            Some(tracked.initialized)
        })
    }

    /// Returns the device memory that the launch has accessed. Empty unless the check of streams or of host accesses is
    /// on.
    pub fn accesses(&self, global: &Global) -> Vec<AllocationAccesses> {
        let synchronizes = self.system_access.load(Relaxed);
        let accesses = self.device.iter().filter_map(|tracked| {
            let accessed = tracked.accessed.as_ref()?;
            AllocationAccesses::of_launch(global.record(tracked.base)?, accessed, synchronizes)
        });
        accesses.collect()
    }

    /// Records the elements of device memory on which blocks race.
    fn find_racy_words(&self, findings: &mut FindingSet, events: &CheckEvents) {
        // The races between two instructions are one finding, an error if any of them is.
        let mut races: BTreeMap<(u32, u32), Vec<(BlockRace, Occurrence)>> = BTreeMap::new();
        for tracked in self.device.iter() {
            let Some(shadow) = &tracked.shadow else {
                continue;
            };
            // In large allocations neighbouring elements may be in one word.
            let is_coarse = shadow.word_bytes() > u64::from(self.device_granule);
            // A word may be part of an element.
            let mut last = None;
            for word in shadow.racy_words() {
                let sites = |numbers, writes| {
                    let sites = events.device_accesses(numbers, writes);
                    sites.filter(|&site| findings.site(site) != SiteState::NotExecuted)
                };
                let Some(writer) = sites(word.writers, true).next() else {
                    continue;
                };
                let race = BlockRace::new(
                    word,
                    findings.is_one_value(sites(word.writers, true)),
                    sites(word.readers, false).all(|site| only_decides(events, site)),
                );
                let Some(race) = race else {
                    continue;
                };
                let race = match is_coarse {
                    true => BlockRace::Neighbours,
                    false => race,
                };
                let reader = sites(word.readers, false).next();
                let other = match word.user_writes {
                    true => writer,
                    false => reader.unwrap_or(NO_SITE),
                };
                let bytes = match events.at(writer) {
                    CheckEvent::Access(access) => u64::from(access.bytes),
                    _ => shadow.word_bytes(),
                };
                let offset = word.offset - word.offset % bytes;
                if last.replace((offset, writer, other)) == Some((offset, writer, other)) {
                    continue;
                }
                let occurrence = Occurrence {
                    block: word.writer,
                    thread: 0,
                    other: Some(OtherThread {
                        block: word.user,
                        thread: 0,
                        write: word.user_writes,
                    }),
                    evidence: Evidence::Device {
                        at: tracked.base + offset,
                        bytes,
                    },
                };
                races
                    .entry((writer, other))
                    .or_default()
                    .push((race, occurrence));
            }
        }
        for ((site, other), races) in races {
            let worst = races.iter().map(|(race, _)| *race).max();
            let key = FindingKey {
                severity: match worst {
                    Some(BlockRace::Bug | BlockRace::SameElement) => Severity::Error,
                    _ => Severity::Warning,
                },
                kind: FindingKind::InterBlockRace,
                site,
                other,
            };
            let has_block_scope = [site, other]
                .iter()
                .any(|&site| events.has_block_scope(site));
            match worst {
                _ if has_block_scope => findings.set_cause(key, Cause::BlockScope),
                Some(BlockRace::Decision) => findings.set_cause(key, Cause::DecidesByFlag),
                Some(BlockRace::SameValue | BlockRace::SameElement) => {
                    findings.set_cause(key, Cause::SameElementInBlocks)
                }
                _ => {}
            }
            for (_, occurrence) in races {
                findings.record(key, occurrence.block, 1, || occurrence);
            }
        }
    }
}

/// A race between blocks on an element of device memory, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum BlockRace {
    /// A store always writes one value, which others only test.
    Decision,
    /// The blocks may only access neighbouring elements.
    Neighbours,
    /// Several blocks write the same value.
    SameValue,
    /// Several blocks write different values, which no block reads.
    SameElement,
    /// A block reads a value that depends on the order of the blocks.
    Bug,
}

impl BlockRace {
    /// Classifies a racy word. Returns `None` if all blocks only set a flag to one value. `is_flag` is true if the stores
    /// to its line always write one value, `only_tested` if the loads from its line only decide branches.
    fn new(word: RacyWord, is_flag: bool, only_tested: bool) -> Option<BlockRace> {
        match word.is_read {
            true if is_flag && only_tested => Some(BlockRace::Decision),
            true => Some(BlockRace::Bug),
            false if is_flag => None,
            false if word.one_value => Some(BlockRace::SameValue),
            false => Some(BlockRace::SameElement),
        }
    }
}

/// Returns true for a load whose value only decides branches.
fn only_decides(events: &CheckEvents, site: u32) -> bool {
    matches!(events.at(site), CheckEvent::Access(access) if access.loaded.only_decides)
}

/// Returns the allocations that were set byte by byte, with the value.
fn fills(global: &Global) -> Vec<(Range<u64>, u8)> {
    let fill = |allocation: Allocation| {
        let range = allocation.base..allocation.base + allocation.size;
        Some((range, global.fill(allocation.base)?.value))
    };
    global.allocations().filter_map(fill).collect()
}

/// An allocation with its shadow state.
pub struct TrackedAllocation {
    pub base: u64,
    pub bytes: u64,
    /// The bytes that are initialized. `None` if all are, or if initialization is not tracked.
    pub written: Option<Arc<AtomicInitBitmap>>,
    /// The stores of the launch, as far as initialization is tracked.
    pub stores: TrackedStores,
    /// The initialized bytes when the launch started.
    pub initialized: InitializedExtent,
    /// The blocks that access each word. `None` unless [`BlockTracking::ConcurrentBlocks`] is on.
    pub shadow: Option<AllocationShadow>,
    /// The bytes that the launch accesses. `None` unless the check of streams or of host accesses is on.
    pub accessed: Option<AccessedBytes>,
    /// True if the host can access the memory.
    pub is_host_accessible: bool,
    /// The input, of which the launch uses parts. `None` unless the check of unused input is on.
    pub input: Option<Arc<Input>>,
}

/// The stores of a launch to an allocation.
#[derive(Default)]
pub struct TrackedStores {
    widths: Widths,
    has_atomics: AtomicBool,
}

impl TrackedStores {
    /// Notes a store.
    #[inline(always)]
    pub fn note(&self, access: Access) {
        self.widths.note(access.bytes, access.element.bytes);
    }

    /// Notes a store of a part of a structure of `bytes` bytes, some of which are padding.
    #[cold]
    pub fn note_structure(&self, bytes: u32) {
        self.widths.note_structure(bytes);
    }

    /// Notes an atomic that changes uninitialized memory.
    #[cold]
    pub fn note_atomic(&self) {
        self.has_atomics.store(true, Relaxed);
    }

    /// Returns the stores, if there were any, as those of a kernel.
    fn of_kernel(&self, kernel: &str) -> Option<Stores> {
        let (stores, has_atomics) = (self.widths.stores(), self.has_atomics.load(Relaxed));
        let any = stores.instructions != 0;
        (any || has_atomics).then(|| Stores {
            has_atomics,
            kernel: any.then(|| kernel.to_owned()),
            ..stores
        })
    }
}

/// The kind of race detection between blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockTracking {
    None,
    /// Nothing orders the blocks: any two blocks that access a word race if one of them writes.
    ConcurrentBlocks,
    /// Blocks may synchronize with each other. They run one after the other, and vector clocks order them.
    SerialBlocks,
}

/// All allocations, sorted by address.
pub struct DeviceAllocations {
    sorted: Vec<TrackedAllocation>,
}

impl DeviceAllocations {
    /// Creates shadow state for all allocations, except the one at address `except`. Races between blocks are detected
    /// with a granularity of `granule` bytes.
    pub fn of(
        global: &Global,
        block_tracking: BlockTracking,
        tracks_accesses: bool,
        granule: u32,
        except: Option<u64>,
    ) -> DeviceAllocations {
        DeviceAllocations {
            sorted: global
                .allocations()
                .filter(|allocation| Some(allocation.base) != except)
                .map(|allocation| {
                    let written = global.init_bitmap(allocation.base);
                    let all = InitializedExtent {
                        prefix: allocation.size,
                        end: allocation.size,
                    };
                    let extent = |written: &AtomicInitBitmap| InitializedExtent {
                        prefix: written.initialized_prefix(allocation.size),
                        end: written.initialized_end(),
                    };
                    let initialized = written.as_deref().map_or(all, extent);
                    TrackedAllocation {
                        base: allocation.base,
                        bytes: allocation.size,
                        written: written.filter(|_| initialized.prefix < allocation.size),
                        initialized,
                        stores: TrackedStores::default(),
                        shadow: (block_tracking == BlockTracking::ConcurrentBlocks)
                            .then(|| AllocationShadow::new(allocation.size, granule)),
                        accessed: tracks_accesses.then(AccessedBytes::default),
                        is_host_accessible: allocation.kind.is_host_accessible(),
                        input: global.input(allocation.base).map(|(_, input)| input),
                    }
                })
                .collect(),
        }
    }

    /// Returns the index of the allocation that contains `address`, or `None` if no allocation does.
    pub fn find(&self, address: u64) -> Option<usize> {
        let after = self
            .sorted
            .partition_point(|allocation| allocation.base <= address);
        let index = after.checked_sub(1)?;
        let allocation = &self.sorted[index];
        (address - allocation.base < allocation.bytes).then_some(index)
    }

    /// Returns the allocation at `index`.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<&TrackedAllocation> {
        self.sorted.get(index)
    }

    pub fn iter(&self) -> impl Iterator<Item = &TrackedAllocation> {
        self.sorted.iter()
    }
}

impl TrackedAllocation {
    /// Returns the offset of `address` in the allocation. Returns `None` unless all `bytes` bytes from there
    /// on are inside.
    #[inline(always)]
    pub fn offset(&self, address: u64, bytes: u64) -> Option<u64> {
        let offset = address.wrapping_sub(self.base);
        (offset < self.bytes && self.bytes - offset >= bytes).then_some(offset)
    }
}
