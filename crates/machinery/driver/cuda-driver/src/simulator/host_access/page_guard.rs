//! Detection of accesses with protected pages: an access raises a signal, whose handler records it, unprotects the
//! page, and resumes the program for one instruction, after which another signal protects the page again. Where that is
//! impossible, the page stays unprotected until the next call of the driver.
//!
//! System calls fail on protected pages. So the functions of the C library that pass the program's memory to the system
//! are replaced by functions that record the access and unprotect its pages first.
//!
//! The handlers may interrupt any code, so they take no lock and do not allocate: the protected ranges and the recorded
//! accesses are in fixed-size tables of atomics.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::{null_mut, without_provenance_mut};
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, OnceLock};

use cuda_sim::check::call_site;

use crate::simulator::stream_order::PageAccess;
use crate::simulator::{lock, thread};
use crate::status::catch_panic;

/// A range of pages to protect.
#[derive(Clone, Debug, PartialEq)]
pub struct Pages {
    pub addresses: Range<u64>,
    /// True if the program may read them.
    pub read_only: bool,
}

/// The page size for `mprotect`, or a multiple of it.
pub const PAGE: u64 = 4096;

/// Capacity of the table of protected ranges and of the table of recorded accesses.
const RANGES: usize = 1024;
const MAX_PAGE_ACCESSES: usize = 2048;

/// The number of recorded accesses from which on pages stay unprotected after an access, so that many accesses to one page
/// do not fill the table.
const MAX_STEPPED: usize = MAX_PAGE_ACCESSES / 2;

/// The maximum number of accesses in the whole program after which the page is protected again, which takes
/// microseconds.
const MAX_STEPS: usize = 1 << 15;

/// A range of protected pages; from 0 to 0 if unused.
struct GuardedRange {
    start: AtomicU64,
    end: AtomicU64,
    protection: AtomicI32,
}

/// An access that the handler has recorded.
struct Recorded {
    start: AtomicU64,
    end: AtomicU64,
    is_write: AtomicBool,
    frames: [AtomicUsize; 8],
    /// True if all other fields are set.
    is_complete: AtomicBool,
}

/// A page that is unprotected for one instruction of a thread.
struct Step {
    /// The thread; 0 if unused.
    thread: AtomicUsize,
    page: AtomicU64,
}

/// The signals for an access violation, of which the system raises one, and for the end of a step.
const SIGNALS: [c_int; 3] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGTRAP];

/// The tables of the signal handlers.
struct PageGuard {
    ranges: [GuardedRange; RANGES],
    /// Number of used entries in `ranges`, which only the holder of the lock changes.
    range_count: Mutex<usize>,
    accesses: [Recorded; MAX_PAGE_ACCESSES],
    /// Number of accesses since they were last taken, including those that did not fit into the table.
    access_count: AtomicUsize,
    steps: [Step; 16],
    /// Number of steps since the start of the program.
    step_count: AtomicUsize,
    /// The installation of the handlers.
    installed: Once,
    /// True if the functions of `system_calls` replace those of the C library.
    replaces_calls: OnceLock<bool>,
    /// The program's actions for [`SIGNALS`].
    previous_actions: [OnceLock<libc::sigaction>; 3],
    /// The definitions in the C library of the functions of `system_calls`; null before the first call.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    replaced_calls: [AtomicPtr<c_void>; system_calls::COUNT],
}

/// The page guard. Its own static, because a signal handler takes no argument and may interrupt any code.
static GUARD: PageGuard = PageGuard {
    ranges: [const {
        GuardedRange {
            start: AtomicU64::new(0),
            end: AtomicU64::new(0),
            protection: AtomicI32::new(0),
        }
    }; RANGES],
    range_count: Mutex::new(0),
    accesses: [const {
        Recorded {
            start: AtomicU64::new(0),
            end: AtomicU64::new(0),
            is_write: AtomicBool::new(false),
            frames: [const { AtomicUsize::new(0) }; 8],
            is_complete: AtomicBool::new(false),
        }
    }; MAX_PAGE_ACCESSES],
    access_count: AtomicUsize::new(0),
    steps: [const {
        Step {
            thread: AtomicUsize::new(0),
            page: AtomicU64::new(0),
        }
    }; 16],
    step_count: AtomicUsize::new(0),
    installed: Once::new(),
    replaces_calls: OnceLock::new(),
    previous_actions: [const { OnceLock::new() }; 3],
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    replaced_calls: [const { AtomicPtr::new(null_mut()) }; system_calls::COUNT],
};

/// Protects these pages and unprotects all others. On pages that two ranges share, the stricter protection applies.
pub fn guard<'a>(pages: impl Iterator<Item = &'a Pages>) {
    let mut count = lock(&GUARD.range_count);
    unprotect_all(&mut count);
    let mut pages: Vec<&Pages> = pages.take(RANGES / 2).collect();
    if pages.is_empty() {
        return;
    }
    GUARD.installed.call_once(install);
    pages.sort_by_key(|pages| (pages.read_only, pages.addresses.start));
    let (strict, read_only) = pages.split_at(pages.partition_point(|pages| !pages.read_only));
    let strict = merge(strict);
    let protections = [
        (strict.clone(), libc::PROT_NONE),
        (subtract(merge(read_only), &strict), libc::PROT_READ),
    ];
    for (ranges, protection) in protections {
        for Range { start, end } in ranges {
            let Some(range) = GUARD.ranges.get(*count) else {
                return;
            };
            range.protection.store(protection, Ordering::Relaxed);
            range.end.store(end, Ordering::Relaxed);
            range.start.store(start, Ordering::Release);
            *count += 1;
            protect(start, end, protection);
        }
    }
}

/// Returns the ranges of pages, in ascending order and disjoint. They must be sorted.
fn merge(pages: &[&Pages]) -> Vec<Range<u64>> {
    let mut merged: Vec<Range<u64>> = Vec::new();
    for pages in pages {
        let Range { start, end } = pages.addresses;
        match merged.last_mut() {
            Some(last) if start <= last.end => last.end = last.end.max(end),
            _ => merged.push(start..end),
        }
    }
    merged
}

/// Returns the parts of `ranges` that are outside `others`. Both are in ascending order and disjoint.
fn subtract(ranges: Vec<Range<u64>>, others: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut rest = Vec::new();
    for Range { mut start, end } in ranges {
        for other in others {
            if other.end <= start || other.start >= end {
                continue;
            }
            if start < other.start {
                rest.push(start..other.start);
            }
            start = other.end.min(end);
        }
        if start < end {
            rest.push(start..end);
        }
    }
    rest
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
    if GUARD.access_count.load(Ordering::Relaxed) == 0 {
        return Vec::new();
    }
    let count = GUARD
        .access_count
        .swap(0, Ordering::AcqRel)
        .min(MAX_PAGE_ACCESSES);
    let accesses = GUARD.accesses[..count].iter();
    let complete = accesses.filter(|access| access.is_complete.swap(false, Ordering::AcqRel));
    complete
        .map(|access| PageAccess {
            addresses: access.start.load(Ordering::Relaxed)..access.end.load(Ordering::Relaxed),
            is_write: access.is_write.load(Ordering::Relaxed),
            frames: std::array::from_fn(|n| access.frames[n].load(Ordering::Relaxed)),
        })
        .collect()
}

/// Sets the protection of whole pages. They belong to a live allocation of the driver: freeing one first
/// waits for all earlier operations, after which no page is protected. Returns false if the system refuses it.
fn protect(start: u64, end: u64, protection: c_int) -> bool {
    let bytes = (end - start) as usize;
    // SAFETY: the pages belong to a live allocation, see above; an access violation is handled by `on_signal`.
    unsafe { libc::mprotect(without_provenance_mut(start as usize), bytes, protection) == 0 }
}

/// Installs the signal handlers.
fn install() {
    for (signal, previous) in SIGNALS.into_iter().zip(&GUARD.previous_actions) {
        // SAFETY: an all-zero `sigaction` is valid, and its fields are then set. The handler is
        // async-signal-safe: it takes no lock and does not allocate.
        unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = on_signal as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            let mut old: libc::sigaction = MaybeUninit::zeroed().assume_init();
            if libc::sigaction(signal, &action, &mut old) == 0 {
                let _ = previous.set(old);
            }
        }
    }
}

/// Handles an access violation or the end of a step. `catch_panic` does not allocate unless a panic occurs.
extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    catch_panic("the page-access handler", &mut || {
        let is_handled = match signal {
            libc::SIGTRAP => end_steps(context),
            // SAFETY: with `SA_SIGINFO`, the system passes a valid `siginfo_t`.
            _ => on_access_violation(unsafe { (*info).si_addr() }.addr() as u64, context),
        };
        if !is_handled {
            run_previous_action(signal, info, context);
        }
        Ok(())
    });
}

/// Records the access that was interrupted, and unprotects its page. Returns false for an address outside the protected
/// pages.
fn on_access_violation(address: u64, context: *mut c_void) -> bool {
    let page = address / PAGE * PAGE;
    if protection_of(address).is_none() {
        // Another thread may have unprotected all pages while this page was protected again.
        let is_stepped = |step: &Step| step.page.load(Ordering::Acquire) == page;
        let is_stepped = page != 0 && GUARD.steps.iter().any(is_stepped);
        // The page may have been freed since.
        return is_stepped && protect(page, page + PAGE, libc::PROT_READ | libc::PROT_WRITE);
    }
    if thread::is_checked() {
        record(
            address..address + 1,
            is_write(context),
            instruction(context),
        );
    }
    protect(page, page + PAGE, libc::PROT_READ | libc::PROT_WRITE);
    if GUARD.access_count.load(Ordering::Relaxed) < MAX_STEPPED {
        start_step(page, context);
    }
    true
}

/// Returns the protection of the page that contains an address; `None` if it is not protected.
fn protection_of(address: u64) -> Option<c_int> {
    let contains = |range: &&GuardedRange| {
        let start = range.start.load(Ordering::Acquire);
        start != 0 && (start..range.end.load(Ordering::Relaxed)).contains(&address)
    };
    let range = GUARD.ranges.iter().find(contains)?;
    Some(range.protection.load(Ordering::Relaxed))
}

/// Records an access by the calling thread, by the instruction at this address, which is 0 for a system call.
fn record(addresses: Range<u64>, is_write: bool, instruction: usize) {
    let slot = GUARD.access_count.fetch_add(1, Ordering::AcqRel);
    let Some(access) = GUARD.accesses.get(slot) else {
        return;
    };
    access.is_write.store(is_write, Ordering::Relaxed);
    access.start.store(addresses.start, Ordering::Relaxed);
    access.end.store(addresses.end, Ordering::Relaxed);
    let last = slot.checked_sub(1).map(|slot| &GUARD.accesses[slot]);
    // An instruction in a loop.
    let same = last.filter(|last| {
        instruction != 0 && last.frames[0].load(Ordering::Relaxed) == instruction + 1
    });
    let frames = match same {
        Some(same) => std::array::from_fn(|n| same.frames[n].load(Ordering::Relaxed)),
        // The other addresses are those after a call.
        None => {
            call_site::frames().map(|frame| frame + usize::from(frame == instruction && frame != 0))
        }
    };
    for (slot, frame) in access.frames.iter().zip(frames) {
        slot.store(frame, Ordering::Relaxed);
    }
    access.is_complete.store(true, Ordering::Release);
}

/// Lets the interrupted thread execute one instruction, after which [`end_steps`] protects the page again. Does nothing
/// where that is impossible.
fn start_step(page: u64, context: *mut c_void) {
    if GUARD.step_count.fetch_add(1, Ordering::Relaxed) >= MAX_STEPS || is_atomic(context) {
        return;
    }
    let Some(thread) = thread_id() else {
        return;
    };
    let claim = |step: &&Step| {
        let claimed = step
            .thread
            .compare_exchange(0, thread, Ordering::AcqRel, Ordering::Relaxed);
        claimed.is_ok()
    };
    if let Some(step) = GUARD.steps.iter().find(claim) {
        step.page.store(page, Ordering::Release);
        set_stepping(context, true);
    }
}

/// Protects the pages again that the calling thread has accessed. Returns false if it has not.
fn end_steps(context: *mut c_void) -> bool {
    let Some(thread) = thread_id() else {
        return false;
    };
    let mut is_step = false;
    for step in &GUARD.steps {
        if step.thread.load(Ordering::Acquire) != thread {
            continue;
        }
        is_step = true;
        set_stepping(context, false);
        let page = step.page.load(Ordering::Acquire);
        if let Some(protection) = protection_of(page) {
            protect(page, page + PAGE, protection);
        }
        step.thread.store(0, Ordering::Release);
    }
    is_step
}

/// Returns a number of the calling thread that is not 0, if threads can be resumed for one instruction.
fn thread_id() -> Option<usize> {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    {
        // SAFETY: the function has no requirements; each thread has its own `errno`.
        Some(unsafe { libc::__errno_location() }.addr())
    }
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    None
}

/// Makes the interrupted thread raise `SIGTRAP` after its next instruction, or no longer.
fn set_stepping(context: *mut c_void, is_on: bool) {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    {
        /// The trap flag.
        const TRAP: i64 = 0x100;
        let context = context.cast::<libc::ucontext_t>();
        // SAFETY: with `SA_SIGINFO`, the system passes the `ucontext_t` of the interrupted thread.
        let flags = unsafe { &mut (*context).uc_mcontext.gregs[libc::REG_EFL as usize] };
        *flags = if is_on { *flags | TRAP } else { *flags & !TRAP };
    }
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    let _ = (context, is_on);
}

/// Returns true if the faulting instruction has a lock prefix, or is an exchange: the system may access its word next, to
/// wait for it.
fn is_atomic(context: *mut c_void) -> bool {
    let instruction = std::ptr::with_exposed_provenance::<u8>(instruction(context));
    // SAFETY: the thread has just executed this instruction; it is longer than a byte.
    let first = |offset| unsafe { instruction.add(offset).read() };
    let is_prefix = |byte: u8| (0x40..0x50).contains(&byte) || byte == 0x66;
    instruction.is_null()
        || first(0) == 0xf0
        || matches!(first(usize::from(is_prefix(first(0)))), 0x86 | 0x87 | 0xf0)
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
    let index = SIGNALS
        .iter()
        .position(|&other| other == signal)
        .unwrap_or_default();
    let previous = GUARD.previous_actions[index].get().filter(|previous| {
        previous.sa_sigaction != libc::SIG_DFL && previous.sa_sigaction != libc::SIG_IGN
    });
    let Some(previous) = previous else {
        // SAFETY: `SIG_DFL` is a valid action. A faulting instruction is executed again and ends the program; other signals,
        // of a breakpoint or another process, are raised again.
        unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = libc::SIG_DFL;
            libc::sigaction(signal, &action, null_mut());
            if signal == libc::SIGTRAP || (*info).si_code <= 0 {
                libc::raise(signal);
            }
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

/// Returns true if system calls of the program on protected pages are detected, so that they do not fail.
pub fn detects_system_calls() -> bool {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        *GUARD.replaces_calls.get_or_init(|| {
            // SAFETY: the name is a C string.
            let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"write".as_ptr()) };
            found.addr() == system_calls::write as *const () as usize
        })
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    false
}

/// Functions of the C library that pass memory of the program to the system.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod system_calls {
    use super::*;
    use libc::{FILE, c_char, iovec, off_t, size_t, sockaddr, socklen_t, ssize_t};

    /// Unprotects the pages of a range until the next call of the driver. Returns true if one was protected.
    fn open(addresses: Range<u64>) -> bool {
        let mut is_guarded = false;
        for range in &GUARD.ranges {
            let start = range
                .start
                .load(Ordering::Acquire)
                .max(addresses.start / PAGE * PAGE);
            let end = range.end.load(Ordering::Relaxed);
            let end = end.min(addresses.end.next_multiple_of(PAGE));
            if start < end {
                is_guarded = true;
                protect(start, end, libc::PROT_READ | libc::PROT_WRITE);
            }
        }
        is_guarded
    }

    /// Calls a function that passes memory to the system, and records the access to as many bytes as it returns.
    fn access(
        memory: *const c_void,
        bytes: usize,
        is_write: bool,
        call: impl FnOnce() -> usize,
    ) -> usize {
        let start = memory.addr() as u64;
        let is_guarded = GUARD.installed.is_completed()
            && thread::is_checked()
            && open(start..start.saturating_add(bytes as u64));
        let accessed = call();
        if is_guarded && accessed as isize > 0 {
            record(start..start + accessed.min(bytes) as u64, is_write, 0);
        }
        accessed
    }

    /// Defines functions of the C library. The columns: the arguments, the address and size of the memory, true if the
    /// system writes it, and the number of bytes per unit of the result. Those in `vectors` take the memory as several parts.
    macro_rules! system_calls {
        (
            buffers {
                $($name:ident($($argument:ident: $type:ty),*) -> $result:ty,
                    $memory:ident, $bytes:expr, $writes:literal, $unit:expr;)*
            }
            vectors { $($vector:ident => $vector_writes:literal;)* }
        ) => {
            /// Indices into `replaced_calls`.
            #[expect(non_camel_case_types, reason = "the names are those of C")]
            enum Call {
                $($name,)*
                $($vector,)*
            }

            /// The number of functions.
            pub const COUNT: usize = [$(Call::$name as usize,)* $(Call::$vector as usize,)*].len();

            $(
                #[unsafe(no_mangle)]
                pub unsafe extern "C" fn $name($($argument: $type),*) -> $result {
                    let function = next(Call::$name, concat!(stringify!($name), "\0"));
                    let function: unsafe extern "C" fn($($type),*) -> $result =
                        // SAFETY: the C library's function of this name has this type.
                        unsafe { std::mem::transmute(function) };
                    let mut result: $result = 0;
                    access($memory.cast(), $bytes, $writes, || {
                        // SAFETY: the requirements are those of this function.
                        result = unsafe { function($($argument),*) };
                        (result as usize).wrapping_mul($unit)
                    });
                    result
                }
            )*

            $(
                #[unsafe(no_mangle)]
                pub unsafe extern "C" fn $vector(file: c_int, parts: *const iovec, count: c_int) -> ssize_t {
                    let function = next(Call::$vector, concat!(stringify!($vector), "\0"));
                    let function: unsafe extern "C" fn(c_int, *const iovec, c_int) -> ssize_t =
                        // SAFETY: the C library's function of this name has this type.
                        unsafe { std::mem::transmute(function) };
                    for index in 0..usize::try_from(count).unwrap_or(0) {
                        // SAFETY: there are `count` parts.
                        let part = unsafe { &*parts.add(index) };
                        access(part.iov_base, part.iov_len, $vector_writes, || part.iov_len);
                    }
                    // SAFETY: the requirements are those of this function.
                    unsafe { function(file, parts, count) }
                }
            )*
        };
    }

    /// Returns the next definition of a function, whose name ends with a zero byte.
    fn next(call: Call, name: &'static str) -> *mut c_void {
        let known = &GUARD.replaced_calls[call as usize];
        let mut function = known.load(Ordering::Relaxed);
        if function.is_null() {
            // SAFETY: the name ends with a zero byte.
            function = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr().cast::<c_char>()) };
            known.store(function, Ordering::Relaxed);
        }
        function
    }

    system_calls! {
        buffers {
            write(file: c_int, from: *const c_void, bytes: size_t) -> ssize_t, from, bytes, false, 1;
            pwrite(file: c_int, from: *const c_void, bytes: size_t, at: off_t) -> ssize_t, from, bytes, false, 1;
            pwrite64(file: c_int, from: *const c_void, bytes: size_t, at: off_t) -> ssize_t, from, bytes, false, 1;
            send(socket: c_int, from: *const c_void, bytes: size_t, flags: c_int) -> ssize_t, from, bytes, false, 1;
            sendto(socket: c_int, from: *const c_void, bytes: size_t, flags: c_int, to: *const sockaddr, length: socklen_t)
                -> ssize_t, from, bytes, false, 1;
            fwrite(from: *const c_void, size: size_t, count: size_t, file: *mut FILE)
                -> size_t, from, size.saturating_mul(count), false, size;
            fwrite_unlocked(from: *const c_void, size: size_t, count: size_t, file: *mut FILE)
                -> size_t, from, size.saturating_mul(count), false, size;
            read(file: c_int, to: *mut c_void, bytes: size_t) -> ssize_t, to, bytes, true, 1;
            pread(file: c_int, to: *mut c_void, bytes: size_t, at: off_t) -> ssize_t, to, bytes, true, 1;
            pread64(file: c_int, to: *mut c_void, bytes: size_t, at: off_t) -> ssize_t, to, bytes, true, 1;
            recv(socket: c_int, to: *mut c_void, bytes: size_t, flags: c_int) -> ssize_t, to, bytes, true, 1;
            recvfrom(socket: c_int, to: *mut c_void, bytes: size_t, flags: c_int, from: *mut sockaddr, length: *mut socklen_t)
                -> ssize_t, to, bytes, true, 1;
            fread(to: *mut c_void, size: size_t, count: size_t, file: *mut FILE)
                -> size_t, to, size.saturating_mul(count), true, size;
            fread_unlocked(to: *mut c_void, size: size_t, count: size_t, file: *mut FILE)
                -> size_t, to, size.saturating_mul(count), true, size;
        }
        vectors {
            writev => false;
            readv => true;
        }
    }
}
