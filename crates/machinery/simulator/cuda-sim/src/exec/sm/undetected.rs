//! Accesses past the end of memory that a GPU does not detect: it maps memory in granules, and an access to the rest of
//! an allocation's last granule goes through.

use crate::exec::fault::Fault;
use std::collections::BTreeMap;

/// The undetected accesses of a launch, by instruction.
#[derive(Default)]
pub struct UndetectedAccesses(BTreeMap<u32, SiteAccesses>);

/// The undetected accesses of one instruction.
struct SiteAccesses {
    /// The lowest block with such an access, and its first access as the fault that would have been reported.
    first: (u64, Fault),
    /// The number of accesses by block.
    counts: BTreeMap<u64, u64>,
}

impl UndetectedAccesses {
    /// Adds an access of block `block` by the instruction at `site`.
    pub fn add(&mut self, site: u32, block: u64, fault: Fault) {
        let accesses = self.0.entry(site).or_insert_with(|| SiteAccesses {
            first: (block, fault.clone()),
            counts: BTreeMap::new(),
        });
        if block < accesses.first.0 {
            accesses.first = (block, fault);
        }
        *accesses.counts.entry(block).or_default() += 1;
    }

    /// Returns the first fault of each instruction in blocks up to `last`, and the number of its accesses in them.
    /// Whether later blocks ran depends on timing if block `last` faulted.
    pub fn up_to(self, last: u64) -> impl Iterator<Item = (Fault, u64)> {
        let sites = self.0.into_values();
        sites.filter_map(move |SiteAccesses { first, counts }| {
            let count = counts.range(..=last).map(|(_, count)| count).sum();
            (count > 0).then_some((first.1, count))
        })
    }
}
