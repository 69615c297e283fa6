//! Detection of memory leaks: allocations that remain when a context is destroyed or the program ends.

use super::Context;
use crate::check::Finding;
use crate::driver::Driver;
use crate::memory::global::AllocationKind;

impl Driver {
    /// Returns and clears the leaks found since the last call: what was still allocated when contexts were
    /// destroyed. Empty unless [`Checks::leak`](crate::check::Checks::leak) was enabled at that time. At the
    /// end of a program, [`Driver::take_leaks_at_exit`] also reports live contexts.
    pub fn take_leaks(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.leaks)
    }

    /// Returns [`Driver::take_leaks`] and the allocations of contexts that were never destroyed. Called when
    /// the program is about to end.
    pub fn take_leaks_at_exit(&mut self) -> Vec<Finding> {
        let mut leaks = self.take_leaks();
        if self.checks.leak {
            let live = self.contexts.values();
            leaks.extend(live.flat_map(|context| self.leak_findings(context)));
        }
        leaks
    }

    /// Returns a finding for each allocation of `context`.
    pub(super) fn leak_findings(&self, context: &Context) -> Vec<Finding> {
        // After a fault the program cannot free anything in the context.
        let owned = context.owned.iter().filter(|_| context.fault.is_none());
        owned
            .filter_map(|&address| {
                let record = self.global.record(address)?;
                let call = match self.global.allocation(address)?.kind {
                    AllocationKind::Device => "cuMemAlloc",
                    AllocationKind::Managed => "cuMemAllocManaged",
                    AllocationKind::Mapped => "cuMemMap",
                    AllocationKind::Host => "cuMemAllocHost",
                    AllocationKind::Registered => "cuMemHostRegister",
                };
                Some(Finding::leak(&record, call))
            })
            .collect()
    }
}
