//! Detection of accesses with protected pages: an access raises a signal, whose handler records it,
//! unprotects the page and resumes the program.
//!
//! The handler may interrupt any code, so it takes no lock and does not allocate: the protected ranges and
//! the recorded accesses are in fixed-size tables of atomics.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, OnceLock};

use cuda_sim::check::call_site::{self, Frames};

use super::HostAccess;
use crate::log::catch_panic;
use crate::simulator::lock;

/// An access to a protected page.
#[derive(Debug)]
pub struct PageAccess {
    pub address: u64,
    pub is_write: bool,
    /// The addresses of the accessing instruction and its callers, if they are known.
    pub frames: Frames,
}

/// The page size for `mprotect`, or a multiple of it.
const PAGE: u64 = 4096;

/// Capacity of the table of protected ranges and of the table of recorded accesses.
const RANGES: usize = 1024;
const MAX_PAGE_ACCESSES: usize = 64;

/// A range of protected pages; from 0 to 0 if unused.
struct Range {
    start: AtomicU64,
    end: AtomicU64,
}

/// An access that the handler has recorded.
struct Recorded {
    address: AtomicU64,
    is_write: AtomicBool,
    frames: [AtomicUsize; 8],
}

/// The signals for an access violation; which one is raised depends on the system.
const SIGNALS: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// The tables of the signal handler.
struct PageGuard {
    ranges: [Range; RANGES],
    /// Number of used entries in `ranges`, which only the holder of the lock changes.
    range_count: Mutex<usize>,
    accesses: [Recorded; MAX_PAGE_ACCESSES],
    /// Number of accesses since they were last taken, including those that did not fit into the table.
    access_count: AtomicUsize,
    /// The installation of the handler.
    installed: Once,
    /// The program's actions for [`SIGNALS`].
    previous_actions: [OnceLock<libc::sigaction>; 2],
}

/// The page guard. Its own static, because a signal handler takes no argument and may interrupt any code.
static GUARD: PageGuard = PageGuard {
    ranges: [const {
        Range {
            start: AtomicU64::new(0),
            end: AtomicU64::new(0),
        }
    }; RANGES],
    range_count: Mutex::new(0),
    accesses: [const {
        Recorded {
            address: AtomicU64::new(0),
            is_write: AtomicBool::new(false),
            frames: [const { AtomicUsize::new(0) }; 8],
        }
    }; MAX_PAGE_ACCESSES],
    access_count: AtomicUsize::new(0),
    installed: Once::new(),
    previous_actions: [const { OnceLock::new() }; 2],
};

/// Protects the pages of these accesses and unprotects all others. Pages that operations only read stay
/// readable.
pub fn guard<'a>(accesses: impl Iterator<Item = &'a HostAccess>) {
    GUARD.installed.call_once(install);
    let mut count = lock(&GUARD.range_count);
    unprotect_all(&mut count);
    let mut accesses: Vec<&HostAccess> = accesses.take(RANGES).collect();
    // Inaccessible ranges come last, so that they win on pages that two operations share.
    accesses.sort_by_key(|access| !access.read_only);
    for access in accesses {
        let start = access.start / PAGE * PAGE;
        let end = access.end.next_multiple_of(PAGE);
        let range = &GUARD.ranges[*count];
        range.end.store(end, Ordering::Relaxed);
        range.start.store(start, Ordering::Release);
        *count += 1;
        let protection = if access.read_only {
            libc::PROT_READ
        } else {
            libc::PROT_NONE
        };
        protect(start, end, protection);
    }
}

/// Unprotects all pages.
pub fn unprotect() {
    unprotect_all(&mut lock(&GUARD.range_count));
}

fn unprotect_all(count: &mut usize) {
    for range in &GUARD.ranges[..*count] {
        let start = range.start.swap(0, Ordering::AcqRel);
        let end = range.end.swap(0, Ordering::AcqRel);
        protect(start, end, libc::PROT_READ | libc::PROT_WRITE);
    }
    *count = 0;
}

/// Returns the accesses recorded since the last call.
pub fn take_page_accesses() -> Vec<PageAccess> {
    let count = GUARD
        .access_count
        .swap(0, Ordering::AcqRel)
        .min(MAX_PAGE_ACCESSES);
    GUARD.accesses[..count]
        .iter()
        .map(|access| PageAccess {
            address: access.address.load(Ordering::Acquire),
            is_write: access.is_write.load(Ordering::Acquire),
            frames: std::array::from_fn(|n| access.frames[n].load(Ordering::Acquire)),
        })
        .collect()
}

/// Sets the protection of whole pages. They belong to a live allocation of the driver: freeing one first
/// waits for all earlier operations, after which no page is protected.
fn protect(start: u64, end: u64, protection: c_int) {
    let bytes = (end - start) as usize;
    // SAFETY: the pages belong to a live allocation, see above; an access violation is handled by `on_access_violation`.
    unsafe { libc::mprotect(without_provenance_mut(start as usize), bytes, protection) };
}

/// Installs the signal handler.
fn install() {
    for (signal, previous) in SIGNALS.into_iter().zip(&GUARD.previous_actions) {
        // SAFETY: an all-zero `sigaction` is valid, and its fields are then set. The handler is
        // async-signal-safe: it takes no lock and does not allocate.
        unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = on_access_violation as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            let mut old: libc::sigaction = MaybeUninit::zeroed().assume_init();
            if libc::sigaction(signal, &action, &mut old) == 0 {
                let _ = previous.set(old);
            }
        }
    }
}

/// Handles an access violation. `catch_panic` does not allocate unless a panic occurs.
extern "C" fn on_access_violation(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    catch_panic("the page-access handler", &mut || {
        // SAFETY: with `SA_SIGINFO`, the system passes a valid `siginfo_t`.
        let address = unsafe { (*info).si_addr() }.addr() as u64;
        match is_guarded(address) {
            true => record(address, context),
            false => run_previous_action(signal, info, context),
        }
        Ok(())
    });
}

/// Returns true if an address lies in a protected page.
fn is_guarded(address: u64) -> bool {
    GUARD.ranges.iter().any(|range| {
        let start = range.start.load(Ordering::Acquire);
        start != 0 && (start..range.end.load(Ordering::Relaxed)).contains(&address)
    })
}

/// Records an access, and unprotects its page.
fn record(address: u64, context: *mut c_void) {
    let slot = GUARD.access_count.fetch_add(1, Ordering::AcqRel);
    if let Some(access) = GUARD.accesses.get(slot) {
        let is_write = is_write(context);
        access.is_write.store(is_write, Ordering::Release);
        let frames = call_site::frames();
        let at = instruction(context);
        for (slot, frame) in access.frames.iter().zip(frames) {
            // The other addresses are those after a call.
            slot.store(frame + usize::from(frame == at), Ordering::Release);
        }
        access.address.store(address, Ordering::Release);
    }
    let page = address / PAGE * PAGE;
    protect(page, page + PAGE, libc::PROT_READ | libc::PROT_WRITE);
}

/// Returns the address of the faulting instruction; 0 if it is unknown.
fn instruction(context: *mut c_void) -> usize {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    {
        let context = context.cast::<libc::ucontext_t>();
        // SAFETY: with `SA_SIGINFO`, the system passes the `ucontext_t` of the fault.
        let address = unsafe { (*context).uc_mcontext.gregs[libc::REG_RIP as usize] };
        address as usize
    }
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    {
        let _ = context;
        0
    }
}

/// Returns true if the faulting instruction writes. If that is unknown, assumes a write.
fn is_write(context: *mut c_void) -> bool {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    {
        /// The write bit of a page fault's error code.
        const WRITE: i64 = 2;
        let context = context.cast::<libc::ucontext_t>();
        // SAFETY: with `SA_SIGINFO`, the system passes the `ucontext_t` of the fault.
        let code = unsafe { (*context).uc_mcontext.gregs[libc::REG_ERR as usize] };
        code & WRITE != 0
    }
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    {
        let _ = context;
        true
    }
}

/// Runs the program's own action for a fault at an unprotected address.
fn run_previous_action(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let index = usize::from(signal == libc::SIGBUS);
    let previous = GUARD.previous_actions[index].get().filter(|previous| {
        previous.sa_sigaction != libc::SIG_DFL && previous.sa_sigaction != libc::SIG_IGN
    });
    let Some(previous) = previous else {
        // SAFETY: `SIG_DFL` is a valid action; the faulting instruction is executed again and ends the program.
        unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = libc::SIG_DFL;
            libc::sigaction(signal, &action, null_mut());
        }
        return;
    };
    // SAFETY: the action is neither `SIG_DFL` nor `SIG_IGN`, so it is a handler with the signature that its
    // flags state.
    unsafe {
        match previous.sa_flags & libc::SA_SIGINFO {
            0 => {
                let handler: extern "C" fn(c_int) = std::mem::transmute(previous.sa_sigaction);
                handler(signal);
            }
            _ => {
                let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                    std::mem::transmute(previous.sa_sigaction);
                handler(signal, info, context);
            }
        }
    }
}
