//! What the checks of a launch share.

use super::choice::Checks;
use super::device::{Between, Device};
use super::evidence::Evidence;
use super::fenced::{Fences, MOST_BLOCKS};
use super::finding::{Finding, Severity};
use super::finding_kind::FindingKind;
use super::ledger::{FindingKey, KernelContext, Ledger, Occurrence, OtherThread};
use super::shadow::Shadow;
use crate::isa::checked::CheckedPlaces;
use crate::memory::global::Global;
use std::sync::Arc;

/// What the checks of a launch share.
pub struct LaunchChecks {
    pub checks: Checks,
    /// Bytes of a block's shared memory.
    pub shared_bytes: u32,
    /// Accesses of shared memory are noted for so many bytes at a time: 4, or 1 where the program
    /// accesses less than a word.
    pub granule: u32,
    pub(super) device: Device,
    /// Whether device memory is looked at.
    pub(super) watches_device: bool,
    /// When blocks went past fences, in a launch whose blocks fences may order.
    pub(super) fences: Option<Fences>,
}

impl LaunchChecks {
    /// For a launch of so many blocks with `shared_bytes` bytes of shared memory each; `ordered`
    /// tells whether the blocks run one after the other. None where no check looks at the kernel
    /// while it runs.
    pub fn new(
        checks: Checks,
        places: &CheckedPlaces,
        global: &Global,
        shared_bytes: u32,
        (blocks, ordered): (u64, bool),
    ) -> Option<Arc<LaunchChecks>> {
        let between = match (checks.race && blocks > 1, places.has_fences()) {
            (true, false) => Between::Blocks,
            // Where blocks run at the same time, which comes first is a matter of chance.
            (true, true) if ordered && blocks <= MOST_BLOCKS => Between::FencedBlocks,
            _ => Between::Nothing,
        };
        checks.watches().then(|| {
            Arc::new(LaunchChecks {
                checks,
                shared_bytes,
                granule: places.granule(),
                device: Device::of(global, between),
                watches_device: between != Between::Nothing || checks.init,
                fences: (between == Between::FencedBlocks).then(|| Fences::new(blocks)),
            })
        })
    }

    /// What is known of a block that has not begun.
    pub fn shadow(&self) -> Box<Shadow> {
        Box::new(Shadow::new(self.shared_bytes, self.granule, self.checks))
    }

    /// What was found, errors first. `whole` tells whether the launch has run to its end.
    pub fn findings(
        &self,
        mut ledger: Ledger,
        place: KernelContext,
        global: &Global,
        whole: bool,
    ) -> Vec<Finding> {
        if whole {
            // Of blocks after one that failed some ran, and some did not.
            self.find_contested(&mut ledger, &place.listing.checked);
        }
        ledger.findings(place, |seen| seen.describe(global))
    }

    /// Notes the device memory that several blocks used.
    fn find_contested(&self, ledger: &mut Ledger, places: &CheckedPlaces) {
        for tracked in self.device.iter() {
            let contested = tracked.lines.iter().flat_map(|lines| lines.contested());
            for word in contested {
                let site = |bits| places.first_device_site(bits);
                let writer = site((word.writers, true));
                let other = match word.user_writes {
                    true => writer,
                    false => site((word.readers, false)),
                };
                let key = FindingKey {
                    severity: Severity::Warning,
                    kind: FindingKind::BetweenBlocks,
                    site: writer,
                    other,
                };
                ledger.note(key, word.writer, 1, || Occurrence {
                    block: word.writer,
                    thread: 0,
                    other: Some(OtherThread {
                        block: word.user,
                        thread: 0,
                        write: word.user_writes,
                    }),
                    what: Evidence::Device {
                        at: tracked.base + word.offset,
                        bytes: 4,
                    },
                });
            }
        }
    }
}
