//! The host-access check: while an operation is pending, the pages of page-locked and managed memory that it
//! uses are protected, and accesses of the program are reported. `page_guard.rs` protects pages; this file
//! tracks which operation uses which memory.
//!
//! All pages are unprotected while an operation runs, because the simulator accesses them itself. Accesses of
//! the program in that time are not detected. System calls on protected memory, such as `write`, are not
//! reported but fail with `EFAULT`.

#[cfg(unix)]
mod page_guard;

use std::hash::{DefaultHasher, Hasher};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use cuda_sim::check::call_site::Frames;
use cuda_sim::check::{FindingKind, HostAction, PendingWork, Severity};
use cuda_sim::driver::{CheckedLaunch, Driver, Memcpy, MemsetValue};
use cuda_sim::memory::global::AllocationKind;

use super::lock;
use super::operation::StreamOp;
use crate::names;

/// A range of memory that a pending operation accesses.
#[derive(Clone, Debug, PartialEq)]
pub struct HostAccess {
    pub start: u64,
    pub end: u64,
    /// True if the operation only reads the range, so that the program may read it too.
    pub read_only: bool,
    pub severity: Severity,
    /// The operation, for findings.
    pub work: PendingWork,
}

/// Unprotected memory that a graph will copy from, with a hash of its contents at submission.
struct Source {
    start: u64,
    bytes: u64,
    hash: u64,
}

/// The memory that an operation uses.
#[derive(Default)]
pub struct HostAccesses {
    ranges: Vec<HostAccess>,
    sources: Vec<Source>,
}

/// A violation that the program has committed.
pub struct HostFinding {
    pub kind: FindingKind,
    pub severity: Severity,
    /// The program's access, and its address.
    pub action: (HostAction, u64),
    /// The pending operation.
    pub work: PendingWork,
    /// The frames of the access, if they are known.
    pub frames: Frames,
}

/// The check of host accesses.
pub struct HostAccessCheck {
    state: Mutex<State>,
    /// True if the check is enabled.
    enabled: AtomicBool,
}

/// The memory that pending operations use, with their numbers.
struct State {
    items: Vec<(u64, HostAccesses)>,
    /// Number of operations that are running.
    running: usize,
}

impl State {
    fn ranges(&self) -> impl Iterator<Item = &HostAccess> {
        self.items.iter().flat_map(|(_, accesses)| &accesses.ranges)
    }

    /// Protects the memory of all pending operations, unless one is running.
    fn guard(&self) {
        if self.running == 0 {
            page_guard::guard(self.ranges());
        }
    }
}

impl HostAccessCheck {
    pub const fn new() -> Self {
        Self {
            state: Mutex::new(State {
                items: Vec::new(),
                running: 0,
            }),
            enabled: AtomicBool::new(false),
        }
    }

    /// Enables or disables the check. No operation may be pending.
    pub fn set_enabled(&self, on: bool) {
        self.enabled.store(on, Ordering::Relaxed);
    }

    /// Returns true if the check is enabled.
    pub fn is_enabled(&self) -> bool {
        self.enabled.load(Ordering::Relaxed)
    }

    /// Adds the memory of a pending operation.
    pub fn add_pending(&self, item: u64, accesses: HostAccesses) {
        if accesses.ranges.is_empty() && accesses.sources.is_empty() {
            return;
        }
        let mut state = lock(&self.state);
        state.items.push((item, accesses));
        state.guard();
    }

    /// Unprotects all pages, because an operation starts. Returns the sources that the program has changed.
    pub fn begin_operation(&self, item: u64) -> Vec<HostFinding> {
        let mut state = lock(&self.state);
        state.running += 1;
        page_guard::unprotect();
        let accesses = state.items.iter().find(|(id, _)| *id == item);
        let sources = accesses.map_or(&[][..], |(_, accesses)| &accesses.sources);
        // SAFETY: the source of a copy must stay readable until the copy has executed, as `cuGraphLaunch` requires.
        let changed = |source: &&Source| unsafe { hash(source.start, source.bytes) } != source.hash;
        let findings = sources.iter().filter(changed).map(|source| HostFinding {
            kind: FindingKind::HostChanged,
            severity: Severity::Error,
            action: (HostAction::Changed, source.start),
            work: PendingWork::GraphCopy(source.bytes),
            frames: [0; 8],
        });
        findings.collect()
    }

    /// Removes a completed operation, and protects the memory of the others again.
    pub fn end_operation(&self, item: u64) {
        if !self.is_enabled() {
            return;
        }
        let mut state = lock(&self.state);
        state.items.retain(|(id, _)| *id != item);
        state.running = state.running.saturating_sub(1);
        state.guard();
    }

    /// Returns the accesses of the program since the last call that conflict with a pending operation.
    pub fn take_page_accesses(&self) -> Vec<HostFinding> {
        let page_accesses = page_guard::take_page_accesses();
        if page_accesses.is_empty() {
            return Vec::new();
        }
        let state = lock(&self.state);
        let findings = page_accesses.into_iter().filter_map(|page_access| {
            let access = state.ranges().find(|access| {
                (access.start..access.end).contains(&page_access.address)
                    && (page_access.is_write || !access.read_only)
            })?;
            let action = if page_access.is_write {
                HostAction::Writes
            } else {
                HostAction::Reads
            };
            Some(HostFinding {
                kind: FindingKind::HostAccessed,
                severity: access.severity,
                action: (action, page_access.address),
                work: access.work.clone(),
                frames: page_access.frames,
            })
        });
        findings.collect()
    }
}

impl HostAccesses {
    /// Returns the memory that an operation uses.
    pub fn of(driver: &Driver, op: &StreamOp) -> HostAccesses {
        let mut accesses = HostAccesses::default();
        add_accesses(driver, op, false, &mut accesses);
        accesses
    }
}

/// Returns a 64-bit hash of `bytes` bytes at `start`.
///
/// # Safety
/// The bytes must be readable.
unsafe fn hash(start: u64, bytes: u64) -> u64 {
    let start = std::ptr::with_exposed_provenance::<u8>(start as usize);
    let mut hasher = DefaultHasher::new();
    // SAFETY: the range is readable, by this function's contract.
    hasher.write(unsafe { std::slice::from_raw_parts(start, bytes as usize) });
    hasher.finish()
}

/// Adds the page-locked and managed allocations that `op` accesses, and for a graph's copies the pageable
/// memory that they read.
fn add_accesses(driver: &Driver, op: &StreamOp, in_graph: bool, accesses: &mut HostAccesses) {
    match op {
        StreamOp::Memcpy(copy) => add_copy(driver, copy, in_graph, accesses),
        StreamOp::Memset(memset) => {
            let value = match memset.value {
                MemsetValue::U8(_) => 1,
                MemsetValue::U16(_) => 2,
                MemsetValue::U32(_) => 4,
            };
            let row = memset.width * value;
            let bytes = memset.pitch * memset.height.saturating_sub(1) + row;
            if host_accessible(driver, memset.address).is_some() {
                accesses.ranges.push(HostAccess {
                    start: memset.address,
                    end: memset.address + bytes,
                    read_only: false,
                    severity: Severity::Error,
                    work: PendingWork::Fill(bytes),
                });
            }
        }
        StreamOp::Kernel(kernel) => add_kernel(driver, &kernel.launch, accesses),
        StreamOp::Graph(body) => {
            for node in body.nodes.values().filter(|node| node.enabled) {
                add_accesses(driver, &node.op, true, accesses);
            }
        }
        StreamOp::Empty
        | StreamOp::Host(_)
        | StreamOp::RecordEvent(_)
        | StreamOp::WaitEvent(_)
        | StreamOp::Allocate(_)
        | StreamOp::Free(_) => {}
    }
}

/// Returns the kind of the allocation at an address if the host can access it; `None` for memory not
/// allocated by the driver.
fn host_accessible(driver: &Driver, address: u64) -> Option<AllocationKind> {
    let kind = driver.allocation(address).ok()?.kind;
    matches!(kind, AllocationKind::Host | AllocationKind::Managed).then_some(kind)
}

fn add_copy(driver: &Driver, copy: &Memcpy, in_graph: bool, accesses: &mut HostAccesses) {
    let Some([dst, src]) = driver.copy_spans(copy) else {
        return;
    };
    let bytes = copy.width * copy.height * copy.depth;
    let (reads, writes) = (PendingWork::CopyFrom(bytes), PendingWork::CopyTo(bytes));
    for ((start, span), read_only, work) in [(dst, false, writes), (src, true, reads)] {
        if host_accessible(driver, start).is_some() {
            accesses.ranges.push(HostAccess {
                start,
                end: start + span,
                read_only,
                severity: Severity::Error,
                work,
            });
        }
    }
    let (start, span) = src;
    if in_graph && span == bytes && driver.allocation(start).is_err() {
        accesses.sources.push(Source {
            start,
            bytes,
            // SAFETY: the source of a graph's copy must be readable when the graph is launched.
            hash: unsafe { hash(start, bytes) },
        });
    }
}

/// Adds the allocations whose addresses are in a kernel's arguments: the kernel may access all of their memory.
fn add_kernel(driver: &Driver, launch: &CheckedLaunch, accesses: &mut HostAccesses) {
    let name = driver.function_name(launch.function()).unwrap_or_default();
    let words = launch.spec().parameters.chunks_exact(8);
    for word in words.filter_map(|word| Some(u64::from_ne_bytes(word.try_into().ok()?))) {
        let Some(kind) = host_accessible(driver, word) else {
            continue;
        };
        let Ok(allocation) = driver.allocation(word) else {
            continue;
        };
        accesses.ranges.push(HostAccess {
            start: allocation.base,
            end: allocation.base + allocation.size,
            read_only: false,
            // Only a warning: kernel and host may communicate through page-locked memory.
            severity: match kind {
                AllocationKind::Managed => Severity::Error,
                _ => Severity::Warning,
            },
            work: PendingWork::Kernel(names::short(name)),
        });
    }
}

/// The page guard on systems without memory protection: it detects nothing.
#[cfg(not(unix))]
mod page_guard {
    use super::{Frames, HostAccess};

    /// An access to a protected page.
    pub struct PageAccess {
        pub address: u64,
        pub is_write: bool,
        pub frames: Frames,
    }

    /// Does nothing.
    pub fn guard<'a>(_: impl Iterator<Item = &'a HostAccess>) {}

    /// Does nothing.
    pub fn unprotect() {}

    /// Returns an empty list.
    pub fn take_page_accesses() -> Vec<PageAccess> {
        Vec::new()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::alloc::{Layout, alloc_zeroed};

    /// Returns memory that fills a page of its own.
    fn page() -> &'static mut [u8] {
        let layout = Layout::from_size_align(4096, 4096).unwrap();
        // SAFETY: the size is not 0, and the memory is never freed.
        unsafe { std::slice::from_raw_parts_mut(alloc_zeroed(layout), 4096) }
    }

    fn kinds(findings: Vec<HostFinding>) -> Vec<(FindingKind, HostAction)> {
        let findings = findings.into_iter();
        findings
            .map(|finding| (finding.kind, finding.action.0))
            .collect()
    }

    #[test]
    fn conflicts_with_pending_operations_are_found() {
        let (check, page) = (HostAccessCheck::new(), page());
        check.set_enabled(true);
        let start = page.as_ptr().expose_provenance() as u64;
        let written = HostAccess {
            start,
            end: start + 64,
            read_only: false,
            severity: Severity::Error,
            work: PendingWork::CopyTo(64),
        };
        let accesses = HostAccesses {
            ranges: vec![written],
            sources: Vec::new(),
        };
        check.add_pending(1, accesses);
        // SAFETY: the page is readable; it is protected until the first access.
        unsafe { page.as_ptr().read_volatile() };
        let accessed = kinds(check.take_page_accesses());
        assert_eq!(accessed, [(FindingKind::HostAccessed, HostAction::Reads)]);
        assert!(check.begin_operation(1).is_empty());
        check.end_operation(1);
        page[0] = 1;
        assert!(check.take_page_accesses().is_empty());
    }

    #[test]
    fn changed_sources_of_a_graph_are_found() {
        let (check, mut source) = (HostAccessCheck::new(), vec![1_u8; 64]);
        check.set_enabled(true);
        let (start, bytes) = (source.as_ptr().expose_provenance() as u64, 64);
        for (item, changes) in [(1, false), (2, true)] {
            // SAFETY: the source is readable.
            let hash = unsafe { hash(start, bytes) };
            let accesses = HostAccesses {
                ranges: Vec::new(),
                sources: vec![Source { start, bytes, hash }],
            };
            check.add_pending(item, accesses);
            if changes {
                source[63] = 2;
            }
            let expected = [(FindingKind::HostChanged, HostAction::Changed)];
            let found = kinds(check.begin_operation(item));
            assert_eq!(found, expected[..usize::from(changes)]);
            check.end_operation(item);
        }
    }
}
