//! A function of the driver API, and who answers it.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// A function of any signature.
pub(crate) type Erased = unsafe extern "C" fn();

/// Which stream a null handle means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefaultStream {
    /// The one that all threads share.
    Legacy,
    /// The calling thread's own: functions whose names end in `_ptsz` or `_ptds`.
    PerThread,
}

/// One function of the driver API.
pub(crate) struct EntryPoint {
    /// Its C name, ending in NUL.
    pub name: &'static str,
    /// The first version of CUDA that has it, as `cuDriverGetVersion` writes it: 12040 for 12.4.
    pub since: u32,
    pub default_stream: DefaultStream,
    /// How often it was called and the simulator answered.
    pub(super) calls: &'static AtomicU64,
    /// What C calls.
    pub(super) exported: Erased,
    /// Who may answer it; `None` for a function whose arguments are unknown here, which nobody does.
    pub(super) answers: Option<Answers>,
    /// Whether the simulator does it.
    #[cfg(test)]
    pub(crate) simulated: bool,
    /// The types of its arguments, as the table writes them.
    #[cfg(test)]
    pub(super) arguments: &'static [&'static str],
}

/// Who may answer a function.
pub(super) struct Answers {
    /// The function that answers now.
    pub slot: &'static AtomicPtr<()>,
    /// The simulator's answer.
    pub simulated: Erased,
    /// The answer where NVIDIA's library lacks the function.
    pub absent: Erased,
}

impl EntryPoint {
    /// Its name as it is linked, without the NUL.
    pub fn name(&self) -> &'static str {
        self.name.trim_end_matches('\0')
    }

    /// What C calls.
    pub fn exported(&self) -> Erased {
        self.exported
    }

    /// From now on the simulator answers.
    pub fn simulate(&self) {
        if let Some(answers) = &self.answers {
            let function = answers.simulated as *mut ();
            answers.slot.store(function, Ordering::Release);
        }
    }

    /// From now on NVIDIA's `function` answers, or, where its library has none, an error.
    ///
    /// # Safety
    /// `function` must be the driver API's function of this name, for as long as the process runs.
    pub unsafe fn forward(&self, function: Option<Erased>) {
        if let Some(answers) = &self.answers {
            let function = function.unwrap_or(answers.absent);
            answers.slot.store(function as *mut (), Ordering::Release);
        }
    }
}
