//! The host-access check: while an operation is pending, the pages of page-locked and managed memory that it
//! uses are
//! protected, and accesses of the program are reported. `page_guard.rs` protects pages; this file tracks
//! which operation
//! uses which memory.
//!
//! All pages are unprotected while an operation runs, because the simulator accesses them itself. Accesses of
//! the program
//! in that time are not detected. System calls on protected memory, such as `write`, are not reported but
//! fail with
//! `EFAULT`.

#[cfg_attr(unix, path = "pages.rs")]
#[cfg_attr(not(unix), path = "no_pages.rs")]
mod pages;
mod uses;

use std::hash::{DefaultHasher, Hasher};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use cuda_sim::check::{FindingKind, Severity};

use super::check::report;
use super::work::Work;
use super::{lock, machine};

/// A range of memory that a pending operation accesses.
#[derive(Clone, Debug, PartialEq)]
pub struct Use {
    pub start: u64,
    pub end: u64,
    /// True if the operation only reads the range, so that the program may read it too.
    pub reads: bool,
    pub severity: Severity,
    /// Text for findings: "a copy of 4 bytes writes".
    pub work: String,
}

/// Unprotected memory that a graph will copy from, with a hash of its contents at submission.
struct Source {
    start: u64,
    bytes: u64,
    hash: u64,
}

/// The memory that an operation uses.
#[derive(Default)]
pub struct Uses {
    guarded: Vec<Use>,
    sources: Vec<Source>,
}

/// The memory that pending operations use, with their numbers.
struct State {
    items: Vec<(u64, Uses)>,
    /// Number of operations that are running.
    running: usize,
}

static STATE: Mutex<State> = Mutex::new(State {
    items: Vec::new(),
    running: 0,
});

/// True if the check is enabled.
static ON: AtomicBool = AtomicBool::new(false);

/// Enables or disables the check. No operation may be pending.
pub fn set(on: bool) {
    ON.store(on, Ordering::Relaxed);
}

/// Returns true if the check is enabled.
pub fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Returns the memory that a new operation uses; nothing if the check is disabled.
pub fn of(work: &Work) -> Uses {
    let mut found = Uses::default();
    if is_on() {
        collect();
        if let Ok(driver) = machine() {
            uses::find(&driver, work, false, &mut found);
        }
    }
    found
}

/// Adds the memory of a pending operation.
pub fn add(item: u64, uses: Uses) {
    if uses.guarded.is_empty() && uses.sources.is_empty() {
        return;
    }
    let mut state = lock(&STATE);
    state.items.push((item, uses));
    state.guard();
}

/// Unprotects all pages, because an operation starts, and reports sources that the program has changed.
pub fn begin(item: u64) {
    if !is_on() {
        return;
    }
    collect();
    let mut state = lock(&STATE);
    state.running += 1;
    pages::open();
    let (_, own) = match state.items.iter().find(|(of, _)| *of == item) {
        Some(found) => found,
        None => return,
    };
    // SAFETY: the source of a copy must stay readable until the copy has executed, as `cuGraphLaunch` requires.
    let changed = |source: &&Source| unsafe { hash(source.start, source.bytes) } != source.hash;
    let changed = own.sources.iter().filter(changed);
    let changed: Vec<(u64, u64)> = changed.map(|source| (source.start, source.bytes)).collect();
    drop(state);
    for (start, bytes) in changed {
        let work = format!("a launched graph was still to copy: {bytes} bytes");
        tell(
            FindingKind::HostChanged,
            Severity::Error,
            ("changed", start),
            &work,
        );
    }
}

/// Removes a completed operation, and protects the memory of the others again.
pub fn end(item: u64) {
    if !is_on() {
        return;
    }
    let mut state = lock(&STATE);
    state.items.retain(|(of, _)| *of != item);
    state.running = state.running.saturating_sub(1);
    state.guard();
}

/// Reports an error if the program frees memory that a pending operation uses.
pub fn freed(address: u64) {
    if !is_on() {
        return;
    }
    let Some(found) = machine()
        .ok()
        .and_then(|driver| driver.allocation(address).ok())
    else {
        return;
    };
    let state = lock(&STATE);
    let uses = state.items.iter().flat_map(|(_, uses)| &uses.guarded);
    let inside = |one: &&Use| one.start < found.base + found.size && one.end > found.base;
    let uses: Vec<Use> = uses.filter(inside).cloned().collect();
    drop(state);
    for one in uses {
        tell(
            FindingKind::HostFreed,
            one.severity,
            ("frees", one.start),
            &one.work,
        );
    }
}

/// Reports the accesses since the last call.
pub fn collect() {
    if !is_on() {
        return;
    }
    let touches = pages::take();
    if touches.is_empty() {
        return;
    }
    let state = lock(&STATE);
    let uses: Vec<Use> = state
        .items
        .iter()
        .flat_map(|(_, uses)| &uses.guarded)
        .cloned()
        .collect();
    drop(state);
    for touch in touches {
        let covers = |one: &&Use| {
            (one.start..one.end).contains(&touch.address) && (touch.writes || !one.reads)
        };
        if let Some(found) = uses.iter().find(covers) {
            let does = if touch.writes { "writes" } else { "reads" };
            let what = (does, touch.address);
            tell(FindingKind::HostTouched, found.severity, what, &found.work);
        }
    }
}

fn tell(kind: FindingKind, severity: Severity, what: (&str, u64), work: &str) {
    if let Ok(driver) = machine() {
        let finding = driver.host_finding(kind, severity, what, work);
        drop(driver);
        report(vec![finding], None);
    }
}

impl State {
    /// Protects the memory of all pending operations, unless one is running.
    fn guard(&self) {
        if self.running == 0 {
            let uses = self.items.iter().flat_map(|(_, uses)| &uses.guarded);
            pages::guard(uses);
        }
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
