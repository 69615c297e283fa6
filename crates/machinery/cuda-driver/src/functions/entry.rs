//! Who answers a function of the driver API.

use std::sync::atomic::{AtomicPtr, Ordering};

/// A function of any signature.
pub(crate) type Erased = unsafe extern "C" fn();

/// One function of the driver API and who may answer for it.
pub(crate) struct EntryPoint {
    /// Its C name, ending in NUL.
    pub name: &'static str,
    /// The function that answers now.
    pub(super) slot: &'static AtomicPtr<()>,
    /// The simulator's answer.
    pub(super) simulated: Erased,
    /// The answer where NVIDIA's library lacks the function.
    pub(super) absent: Erased,
}

impl EntryPoint {
    /// From now on the simulator answers.
    pub fn simulate(&self) {
        self.slot
            .store(self.simulated as *mut (), Ordering::Release);
    }

    /// From now on NVIDIA's `function` answers, or, where its library has none, an error.
    ///
    /// # Safety
    /// `function` must be the driver API's function of this name, for as long as the process runs.
    pub unsafe fn forward(&self, function: Option<Erased>) {
        let function = function.unwrap_or(self.absent);
        self.slot.store(function as *mut (), Ordering::Release);
    }
}
