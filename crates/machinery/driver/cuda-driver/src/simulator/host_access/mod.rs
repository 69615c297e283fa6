//! The host-access check: the pages of page-locked and managed memory that operations use are protected until the
//! program has waited for the operations, and accesses of the program are recorded. `page_guard.rs` protects pages;
//! this file tracks which operation uses which pages, and `stream_order.rs` judges the accesses by bytes.
//!
//! All pages are unprotected while an operation runs, because the simulator accesses them itself. Accesses of
//! the program in that time are not detected.
//!
//! If system calls on protected pages would fail, only pages are protected all of whose bytes are in use.

#[cfg(unix)]
mod page_guard;

use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use cuda_sim::check::AllocationAccesses;
use cuda_sim::driver::{Driver, Memcpy};
use cuda_sim::memory::global::AllocationKind;

use super::lock;
use super::operation::StreamOp;
use super::stream_order::{Submission, accesses_of};
pub use page_guard::take_page_accesses;
use page_guard::{PAGE, Pages};

/// Unprotected memory that a graph will copy from, with a hash of its contents at submission.
pub struct Source {
    pub start: u64,
    pub bytes: u64,
    hash: u64,
}

/// The memory that an operation uses.
#[derive(Default)]
pub struct HostAccesses {
    pages: Vec<Pages>,
    sources: Vec<Source>,
}

/// An operation that the program has not waited for.
struct Operation {
    submission: Submission,
    accesses: HostAccesses,
}

/// The check of host accesses.
pub struct HostAccessCheck {
    state: Mutex<State>,
    /// True if the check is enabled.
    enabled: AtomicBool,
}

/// The memory that operations use.
struct State {
    operations: Vec<Operation>,
    /// Number of operations and calls that are running.
    running: usize,
}

/// The maximum number of operations whose pages are protected.
const MAX_OPERATIONS: usize = 256;

impl State {
    /// Protects the memory of all operations, unless one is running.
    fn guard(&self) {
        if self.running == 0 {
            let pages = self.operations.iter();
            page_guard::guard(pages.flat_map(|operation| &operation.accesses.pages));
        }
    }

    fn add(&mut self, submission: &Submission, accesses: HostAccesses) {
        if accesses.pages.is_empty() && accesses.sources.is_empty() {
            return;
        }
        // An equal operation of a loop comes later in the same stream, so a wait for it covers both.
        self.operations.retain(|earlier| {
            !(earlier.submission.is_same_stream(submission)
                && earlier.accesses.sources.is_empty()
                && earlier.accesses.pages == accesses.pages)
        });
        if self.operations.len() < MAX_OPERATIONS {
            self.operations.push(Operation {
                submission: submission.clone(),
                accesses,
            });
        }
    }
}

impl HostAccessCheck {
    pub const fn new() -> Self {
        Self {
            state: Mutex::new(State {
                operations: Vec::new(),
                running: 0,
            }),
            enabled: AtomicBool::new(false),
        }
    }

    /// Enables or disables the check. No operation may be pending.
    pub fn set_enabled(&self, on: bool) {
        self.enabled.store(on, Ordering::Relaxed);
        self.release(|_| true);
    }

    /// Returns true if the check is enabled.
    pub fn is_enabled(&self) -> bool {
        self.enabled.load(Ordering::Relaxed)
    }

    /// Adds the memory of a pending operation.
    pub fn add_pending(&self, submission: &Submission, accesses: HostAccesses) {
        if accesses.pages.is_empty() && accesses.sources.is_empty() {
            return;
        }
        let mut state = lock(&self.state);
        state.add(submission, accesses);
        state.guard();
    }

    /// Adds the memory that an operation which is running has used.
    pub fn add_executed(&self, submission: &Submission, accesses: HostAccesses) {
        lock(&self.state).add(submission, accesses);
    }

    /// Unprotects all pages, because an operation starts. Returns the sources that the program has changed.
    pub fn begin_operation(&self, submission: &Submission) -> Vec<Source> {
        let mut state = lock(&self.state);
        state.running += 1;
        page_guard::unprotect();
        let mut sources = Vec::new();
        // The pages that it really uses are added when it has executed.
        state.operations.retain_mut(|operation| {
            let is_own = operation.submission.is_same_operation(submission);
            if is_own {
                sources.append(&mut operation.accesses.sources);
            }
            !is_own
        });
        // SAFETY: the source of a copy must stay readable until the copy has executed, as `cuGraphLaunch` requires.
        let is_changed =
            |source: &Source| unsafe { hash(source.start, source.bytes) } != source.hash;
        sources.retain(is_changed);
        sources
    }

    /// Unprotects all pages, because a call of the driver accesses host memory itself.
    pub fn begin_call(&self) {
        if self.is_enabled() {
            lock(&self.state).running += 1;
            page_guard::unprotect();
        }
    }

    /// Protects the pages again after an operation or a call.
    pub fn end(&self) {
        if !self.is_enabled() {
            return;
        }
        let mut state = lock(&self.state);
        state.running = state.running.saturating_sub(1);
        state.guard();
    }

    /// Forgets the operations that the program has waited for, and protects the pages of the others.
    pub fn release(&self, has_waited: impl Fn(&Submission) -> bool) {
        let mut state = lock(&self.state);
        if state.operations.is_empty() {
            return;
        }
        state
            .operations
            .retain(|operation| !has_waited(&operation.submission));
        state.guard();
    }

    /// Protects the pages again that accesses have left unprotected.
    pub fn protect_again(&self) {
        lock(&self.state).guard();
    }
}

impl HostAccesses {
    /// Returns the memory that an operation will use.
    pub fn of(driver: &Driver, op: &StreamOp) -> HostAccesses {
        let mut accesses = HostAccesses::default();
        accesses.add(driver, op, false);
        accesses
    }

    /// Returns the memory that an operation has used.
    pub fn of_executed(driver: &Driver, used: &[AllocationAccesses]) -> HostAccesses {
        let mut accesses = HostAccesses::default();
        used.iter().for_each(|used| accesses.add_used(driver, used));
        accesses
    }

    /// Adds the page-locked and managed memory that `op` accesses, and for a graph's copies the pageable memory that
    /// they read.
    fn add(&mut self, driver: &Driver, op: &StreamOp, in_graph: bool) {
        match op {
            StreamOp::Kernel(kernel) => {
                let words = kernel.launch.spec().parameters.chunks_exact(8);
                let words =
                    words.filter_map(|word| Some(u64::from_ne_bytes(word.try_into().ok()?)));
                self.add_operands(driver, words);
            }
            StreamOp::Library(call) => self.add_operands(driver, call.operands.iter().copied()),
            StreamOp::Graph(_) | StreamOp::Conditional(_) => {
                let nodes = op.bodies().iter().flat_map(|body| body.nodes.values());
                for node in nodes.filter(|node| node.enabled) {
                    self.add(driver, &node.op, true);
                }
            }
            StreamOp::Memcpy(copy) if in_graph => {
                self.add_source(driver, copy);
                self.add_known(driver, op);
            }
            op => self.add_known(driver, op),
        }
    }

    /// Adds the memory of a copy or fill.
    fn add_known(&mut self, driver: &Driver, op: &StreamOp) {
        for used in accesses_of(driver, op) {
            self.add_used(driver, &used);
        }
    }

    fn add_used(&mut self, driver: &Driver, used: &AllocationAccesses) {
        if used.synchronizes_with_host || !is_guarded(driver, used.allocation.base) {
            return;
        }
        let end = used.allocation.base + used.allocation.bytes;
        for (addresses, writes) in used.addresses() {
            self.add_range(addresses, end, !writes);
        }
    }

    /// Adds the pages of these addresses, which are in ascending order.
    fn add_range(&mut self, addresses: Range<u64>, end_of_allocation: u64, read_only: bool) {
        let Range { mut start, mut end } = addresses;
        if page_guard::detects_system_calls() {
            start = start / PAGE * PAGE;
            end = end.next_multiple_of(PAGE);
        } else {
            start = start.next_multiple_of(PAGE);
            // Nothing else is in the allocation's last page.
            end = match end == end_of_allocation {
                true => end.next_multiple_of(PAGE),
                false => end / PAGE * PAGE,
            };
        }
        if start >= end {
            return;
        }
        match self.pages.last_mut() {
            Some(last)
                if last.read_only == read_only
                    && (last.addresses.start..=last.addresses.end).contains(&start) =>
            {
                last.addresses.end = last.addresses.end.max(end);
            }
            _ => self.pages.push(Pages {
                addresses: start..end,
                read_only,
            }),
        }
    }

    /// Adds the allocations that contain these addresses, the arguments of a kernel or of a library's function: which of
    /// their bytes the call accesses is not yet known.
    fn add_operands(&mut self, driver: &Driver, addresses: impl Iterator<Item = u64>) {
        if !page_guard::detects_system_calls() {
            return;
        }
        for address in addresses {
            if let Ok(allocation) = driver.allocation(address)
                && is_guarded(driver, address)
            {
                let end = allocation.base + allocation.size;
                self.add_range(allocation.base..end, end, false);
            }
        }
    }

    /// Adds the source of a graph's copy if it is contiguous and pageable.
    fn add_source(&mut self, driver: &Driver, copy: &Memcpy) {
        let Some([_, (start, span)]) = driver.copy_spans(copy) else {
            return;
        };
        let bytes = copy.width * copy.height * copy.depth;
        if span == bytes && driver.allocation(start).is_err() {
            self.sources.push(Source {
                start,
                bytes,
                // SAFETY: the source of a graph's copy must be readable when the graph is launched.
                hash: unsafe { hash(start, bytes) },
            });
        }
    }
}

/// Returns true for page-locked and managed memory, whose pages contain nothing else.
fn is_guarded(driver: &Driver, address: u64) -> bool {
    let allocation = driver.allocation(address);
    allocation.is_ok_and(|allocation| {
        matches!(
            allocation.kind,
            AllocationKind::Host | AllocationKind::Managed
        )
    })
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

/// The page guard on systems without memory protection: it detects nothing.
#[cfg(not(unix))]
mod page_guard {
    use cuda_sim::check::call_site::Frames;
    use std::ops::Range;

    pub const PAGE: u64 = 4096;

    /// An access to protected pages.
    #[derive(Clone, Debug)]
    pub struct PageAccess {
        pub addresses: Range<u64>,
        pub is_write: bool,
        pub frames: Frames,
    }

    /// A range of pages to protect.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Pages {
        pub addresses: Range<u64>,
        pub read_only: bool,
    }

    /// Does nothing.
    pub fn guard<'a>(_: impl Iterator<Item = &'a Pages>) {}

    /// Does nothing.
    pub fn unprotect() {}

    /// Returns an empty list.
    pub fn take_page_accesses() -> Vec<PageAccess> {
        Vec::new()
    }

    /// Returns true: no page is protected.
    pub fn detects_system_calls() -> bool {
        true
    }
}
