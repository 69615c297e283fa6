//! Memory that nobody freed: what is still allocated when a context goes or the program ends.

use super::Context;
use crate::check::Finding;
use crate::driver::Driver;
use crate::memory::global::AllocationKind;

impl Driver {
    /// What was still allocated when contexts were destroyed, since this was last asked. Empty
    /// unless [`Checks::leak`](crate::check::Checks::leak) was on then. At the end of a program
    /// [`Driver::take_leaks_at_exit`] has what lives on as well.
    pub fn take_leaks(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.leaks)
    }

    /// [`Driver::take_leaks`], and what is allocated in contexts that nobody destroyed: the program
    /// is about to end.
    pub fn take_leaks_at_exit(&mut self) -> Vec<Finding> {
        let mut leaks = self.take_leaks();
        if self.checks.leak {
            let living = self.contexts.values();
            leaks.extend(living.flat_map(|context| self.leaked(context)));
        }
        leaks
    }

    /// A finding for each allocation of `context`.
    pub(super) fn leaked(&self, context: &Context) -> Vec<Finding> {
        // In a context that a fault has ended nobody can free anything.
        let owned = context.owned.iter().filter(|_| context.fault.is_none());
        owned
            .filter_map(|&address| {
                let known = self.global.known(address)?;
                let call = match self.global.allocation(address)?.kind {
                    AllocationKind::Device => "cuMemAlloc",
                    AllocationKind::Managed => "cuMemAllocManaged",
                    AllocationKind::Mapped => "cuMemMap",
                    AllocationKind::Host => "cuMemAllocHost",
                    AllocationKind::Registered => "cuMemHostRegister",
                };
                Some(Finding::leak(&known, call))
            })
            .collect()
    }
}
