//! The check of the host's memory: while work waits in a stream, the pages of page-locked and managed
//! memory that it uses are guarded, and who touches them is told of. `pages.rs` guards them; here is what
//! uses which memory.
//!
//! Work that is being done opens all pages: the simulator itself uses them then. What a program touches in
//! that time is not seen, and neither is what the system reads or writes for it: there a call such as
//! `write` fails with `EFAULT`.

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

/// Memory that an item of the queue uses.
#[derive(Clone, Debug, PartialEq)]
pub struct Use {
    pub start: u64,
    pub end: u64,
    /// The item only reads there, so the program may too.
    pub reads: bool,
    pub severity: Severity,
    /// What the item does: "a copy of 4 bytes writes".
    pub work: String,
}

/// Memory that a graph is to copy and that nobody guards, and a number made of what was in it.
struct Source {
    start: u64,
    bytes: u64,
    hash: u64,
}

/// What an item uses.
#[derive(Default)]
pub struct Uses {
    guarded: Vec<Use>,
    sources: Vec<Source>,
}

/// What the items of the queue use, each with its item's number.
struct State {
    items: Vec<(u64, Uses)>,
    /// Items that are being done now.
    running: usize,
}

static STATE: Mutex<State> = Mutex::new(State {
    items: Vec::new(),
    running: 0,
});

/// Whether the check is on.
static ON: AtomicBool = AtomicBool::new(false);

/// Switches the check on or off. No work waits.
pub fn set(on: bool) {
    ON.store(on, Ordering::Relaxed);
}

/// Whether the check is on.
pub fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// What new work uses; nothing where the check is off.
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

/// From now on an item uses this.
pub fn add(item: u64, uses: Uses) {
    if uses.guarded.is_empty() && uses.sources.is_empty() {
        return;
    }
    let mut state = lock(&STATE);
    state.items.push((item, uses));
    state.guard();
}

/// An item begins: everything may be touched.
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
    // SAFETY: the program promised that what a graph copies can be read until it has been.
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

/// An item is done: what the others use is guarded again.
pub fn end(item: u64) {
    if !is_on() {
        return;
    }
    let mut state = lock(&STATE);
    state.items.retain(|(of, _)| *of != item);
    state.running = state.running.saturating_sub(1);
    state.guard();
}

/// The program frees memory: a finding where an item still uses it.
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

/// Reports what was touched since this was last called.
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
    /// Guards what the items use, unless one is being done.
    fn guard(&self) {
        if self.running == 0 {
            let uses = self.items.iter().flat_map(|(_, uses)| &uses.guarded);
            pages::guard(uses);
        }
    }
}

/// A number made of bytes, which is another one for most others.
///
/// # Safety
/// The bytes must be readable.
unsafe fn hash(start: u64, bytes: u64) -> u64 {
    let start = std::ptr::with_exposed_provenance::<u8>(start as usize);
    let mut hasher = DefaultHasher::new();
    // SAFETY: the caller's promise.
    hasher.write(unsafe { std::slice::from_raw_parts(start, bytes as usize) });
    hasher.finish()
}
