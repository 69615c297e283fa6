//! The program's call of the driver, for findings.
//!
//! Only the library that the program loads knows how to find it: see [`set_locator`]. Without a locator no line is
//! known, and looking for it costs nothing.

use crate::memory::global::{AllocationCall, CallSite};
use std::cell::RefCell;
use std::sync::OnceLock;

/// The functions that find the call of the program that the calling thread is in.
pub struct Locator {
    /// Returns the call's line. The argument is the symbol of the kernel that the call launches.
    pub line: fn(Option<&str>) -> Option<CallSite>,
    /// Returns a call that makes an allocation, and counts it.
    pub allocation: fn() -> Option<AllocationCall>,
    /// Returns the frames of the thread that belong to the program. A signal handler calls it: it must not allocate.
    pub frames: fn() -> Frames,
    /// Returns the line of the first of these frames whose line is known.
    pub line_of_frames: fn(&Frames) -> Option<CallSite>,
}

/// The addresses of an instruction, plus 1, and of the calls that led to it; 0 for none.
pub type Frames = [usize; 8];

static LOCATOR: OnceLock<Locator> = OnceLock::new();

thread_local! {
    /// The line that submitted the operation that this thread executes now, if it executes one.
    static SUBMITTED: RefCell<Option<Option<CallSite>>> = const { RefCell::new(None) };
}

/// Sets the locator. Only the first one counts.
pub fn set_locator(locator: Locator) {
    let _ = LOCATOR.set(locator);
}

/// Returns true if there is a locator.
pub fn is_known() -> bool {
    LOCATOR.get().is_some()
}

/// Returns the line of the program that called the driver, to launch the kernel with this symbol if there is one, or that submitted the
/// operation that is executing.
pub fn locate(kernel: Option<&str>) -> Option<CallSite> {
    match SUBMITTED.try_with(|submitted| submitted.borrow().clone()) {
        Ok(Some(line)) => line,
        _ => (LOCATOR.get()?.line)(kernel),
    }
}

/// Returns the call of the program that makes an allocation.
pub fn allocation() -> Option<AllocationCall> {
    (LOCATOR.get()?.allocation)()
}

/// Returns the frames of the calling thread that belong to the program, if they are known.
pub fn frames() -> Frames {
    LOCATOR.get().map_or([0; 8], |locator| (locator.frames)())
}

/// Returns the line of the first of these frames whose line is known.
pub fn line_of_frames(frames: &Frames) -> Option<CallSite> {
    (LOCATOR.get()?.line_of_frames)(frames)
}

/// Executes an operation that the program submitted at this line.
pub fn execute<T>(submitted: Option<CallSite>, operation: impl FnOnce() -> T) -> T {
    let outer = SUBMITTED.try_with(|line| line.replace(Some(submitted)));
    let result = operation();
    let _ = SUBMITTED.try_with(|line| line.replace(outer.ok().flatten()));
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_have_the_line_that_submitted_them() {
        let line = |line| {
            Some(CallSite {
                file: "main.cu".to_owned(),
                line,
            })
        };
        assert_eq!(locate(None), None);
        execute(line(1), || {
            assert_eq!(locate(None), line(1));
            execute(None, || assert_eq!(locate(None), None));
            assert_eq!(locate(None), line(1));
        });
        assert_eq!(locate(None), None);
    }
}
