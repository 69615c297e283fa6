//! Pages that nobody may touch unseen: a touch is a fault, whose handler notes it, opens the page and lets
//! the program go on.
//!
//! The handler runs in the middle of anything, so it takes no lock and allocates nothing: what is guarded,
//! and what was touched, lies in fixed tables of atomics.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, OnceLock};

use super::Use;
use crate::report::guarded;
use crate::simulator::lock;

/// What was touched.
#[derive(Debug)]
pub struct Touch {
    pub address: u64,
    pub writes: bool,
}

/// The pages of host memory, as `mprotect` takes them, are this long or a part of it.
const PAGE: u64 = 4096;

/// So many ranges are guarded at a time, and so many touches kept.
const RANGES: usize = 1024;
const TOUCHES: usize = 64;

/// One range of pages that is guarded; from 0 to 0 where there is none.
struct Range {
    start: AtomicU64,
    end: AtomicU64,
}

static GUARDED: [Range; RANGES] = [const {
    Range {
        start: AtomicU64::new(0),
        end: AtomicU64::new(0),
    }
}; RANGES];

/// How many of [`GUARDED`] count. Whoever changes them holds the lock.
static COUNT: Mutex<usize> = Mutex::new(0);

/// The addresses that were touched.
static ADDRESSES: [AtomicU64; TOUCHES] = [const { AtomicU64::new(0) }; TOUCHES];
/// Whether each touch was a write.
static WRITES: [AtomicBool; TOUCHES] = [const { AtomicBool::new(false) }; TOUCHES];
static TOUCHED: AtomicUsize = AtomicUsize::new(0);

/// The signals of a touch: which one it is depends on the system.
const SIGNALS: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// What the program did at these signals before.
static BEFORE: [OnceLock<libc::sigaction>; 2] = [const { OnceLock::new() }; 2];

/// Guards the pages of all these uses, and opens all others. Where work only reads, the program may too.
pub fn guard<'a>(uses: impl Iterator<Item = &'a Use>) {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(install);
    let mut count = lock(&COUNT);
    open_all(&mut count);
    let mut uses: Vec<&Use> = uses.take(RANGES).collect();
    // What may not be read at all comes last, for pages that two uses share.
    uses.sort_by_key(|one| !one.reads);
    for one in uses {
        let start = one.start / PAGE * PAGE;
        let end = one.end.next_multiple_of(PAGE);
        let range = &GUARDED[*count];
        range.end.store(end, Ordering::Relaxed);
        range.start.store(start, Ordering::Release);
        *count += 1;
        let may = if one.reads {
            libc::PROT_READ
        } else {
            libc::PROT_NONE
        };
        protect(start, end, may);
    }
}

/// Opens all pages.
pub fn open() {
    open_all(&mut lock(&COUNT));
}

fn open_all(count: &mut usize) {
    for range in &GUARDED[..*count] {
        let start = range.start.swap(0, Ordering::AcqRel);
        let end = range.end.swap(0, Ordering::AcqRel);
        protect(start, end, libc::PROT_READ | libc::PROT_WRITE);
    }
    *count = 0;
}

/// What was touched since this was last asked.
pub fn take() -> Vec<Touch> {
    let count = TOUCHED.swap(0, Ordering::AcqRel).min(TOUCHES);
    let addresses = ADDRESSES[..count].iter().zip(&WRITES);
    addresses
        .map(|(address, writes)| Touch {
            address: address.load(Ordering::Acquire),
            writes: writes.load(Ordering::Acquire),
        })
        .collect()
}

/// Sets what may be done with pages. They are whole pages of an allocation of the driver's that lives: who
/// frees one waits for all work before, and then no page is guarded.
fn protect(start: u64, end: u64, may: c_int) {
    let bytes = (end - start) as usize;
    // SAFETY: see above; a touch that is not allowed is handled below.
    unsafe { libc::mprotect(without_provenance_mut(start as usize), bytes, may) };
}

/// Has touches handled here.
fn install() {
    for (signal, before) in SIGNALS.into_iter().zip(&BEFORE) {
        // SAFETY: an action of all zero is a whole one, whose fields are then set; the handler does nothing
        // that a handler may not do.
        unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = touched as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            let mut old: libc::sigaction = MaybeUninit::zeroed().assume_init();
            if libc::sigaction(signal, &action, &mut old) == 0 {
                let _ = before.set(old);
            }
        }
    }
}

/// Called by the system at a fault. Who guards allocates nothing, as long as nothing is wrong.
extern "C" fn touched(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    guarded("a touched page", || {
        // SAFETY: the system gives what it says it gives.
        let address = unsafe { (*info).si_addr() }.addr() as u64;
        match is_guarded(address) {
            true => note(address, context),
            false => earlier(signal, info, context),
        }
        Ok(())
    });
}

/// Whether an address is in one of the pages that are guarded.
fn is_guarded(address: u64) -> bool {
    GUARDED.iter().any(|range| {
        let start = range.start.load(Ordering::Acquire);
        start != 0 && (start..range.end.load(Ordering::Relaxed)).contains(&address)
    })
}

/// Keeps that an address was touched, and opens its page.
fn note(address: u64, context: *mut c_void) {
    let at = TOUCHED.fetch_add(1, Ordering::AcqRel);
    if at < TOUCHES {
        WRITES[at].store(writes(context), Ordering::Release);
        ADDRESSES[at].store(address, Ordering::Release);
    }
    let page = address / PAGE * PAGE;
    protect(page, page + PAGE, libc::PROT_READ | libc::PROT_WRITE);
}

/// Whether the instruction that made a fault writes. Where that is not known it counts as a write.
fn writes(context: *mut c_void) -> bool {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    {
        /// The bit of a page fault's error code that says so.
        const WRITE: i64 = 2;
        let context = context.cast::<libc::ucontext_t>();
        // SAFETY: the system gives the context of the fault.
        let code = unsafe { (*context).uc_mcontext.gregs[libc::REG_ERR as usize] };
        code & WRITE != 0
    }
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    {
        let _ = context;
        true
    }
}

/// A fault that is none of these: what the program did about it before is done.
fn earlier(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let which = usize::from(signal == libc::SIGBUS);
    let before = BEFORE[which].get().filter(|before| {
        before.sa_sigaction != libc::SIG_DFL && before.sa_sigaction != libc::SIG_IGN
    });
    let Some(before) = before else {
        // SAFETY: the usual action; the fault comes again and ends the program.
        unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = libc::SIG_DFL;
            libc::sigaction(signal, &action, null_mut());
        }
        return;
    };
    // SAFETY: it was installed as a handler, of the form that its flag says.
    unsafe {
        match before.sa_flags & libc::SA_SIGINFO {
            0 => {
                let handler: extern "C" fn(c_int) = std::mem::transmute(before.sa_sigaction);
                handler(signal);
            }
            _ => {
                let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                    std::mem::transmute(before.sa_sigaction);
                handler(signal, info, context);
            }
        }
    }
}
