//! What the checks of a launch share.

use super::choice::Checks;
use super::device::{Between, Device};
use super::device_shadow::DeviceShadow;
use super::evidence::Evidence;
use super::finding::{Finding, Severity};
use super::finding_kind::FindingKind;
use super::ledger::{FindingKey, KernelContext, Ledger, Occurrence, OtherThread};
use super::shadow::Shadow;
use super::shared::SharedShadow;
use crate::isa::Memory;
use crate::isa::checked::CheckedPlaces;
use crate::memory::global::Global;
use std::sync::Arc;

/// Lines of device memory that are looked at in all blocks under way together, and in each of them.
const LINES: u32 = 1 << 20;
const MOST_LINES: u32 = 1 << 13;
const FEWEST_LINES: u32 = 1 << 8;

/// The blocks of a launch.
#[derive(Clone, Copy)]
pub struct LaunchedBlocks {
    pub count: u64,
    /// They may put themselves in order: they have to run one after the other then.
    pub ordered: bool,
    /// How many are under way at once, at most.
    pub resident: u32,
    /// Where `malloc` takes memory of, whose parts are used by one thread and then by another.
    pub heap: Option<u64>,
}

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
    /// What is looked at of how blocks use device memory.
    pub(super) between: Between,
    /// How many blocks there are.
    pub(super) blocks: u64,
    /// So many lines of device memory are looked at in a block.
    block_lines: u32,
    /// Accesses of device memory by the threads of a block are noted for so many bytes at a time,
    /// as for shared memory.
    device_granule: u32,
}

impl LaunchChecks {
    /// For a launch of `blocks` with `shared_bytes` bytes of shared memory each. None where no check
    /// looks at the kernel while it runs.
    pub fn new(
        checks: Checks,
        places: &CheckedPlaces,
        global: &Global,
        shared_bytes: u32,
        blocks: LaunchedBlocks,
    ) -> Option<Arc<LaunchChecks>> {
        let between = match (checks.race && blocks.count > 1, blocks.ordered) {
            (true, false) => Between::Blocks,
            (true, true) => Between::BlocksInOrder,
            (false, _) => Between::Nothing,
        };
        checks.watches().then(|| {
            Arc::new(LaunchChecks {
                checks,
                shared_bytes,
                granule: places.granule(Memory::Shared),
                device: Device::of(global, between, blocks.heap),
                watches_device: checks.race || checks.init,
                between,
                blocks: blocks.count,
                block_lines: (LINES / blocks.resident.max(1)).clamp(FEWEST_LINES, MOST_LINES),
                device_granule: places.granule(Memory::Global),
            })
        })
    }

    /// Whether the blocks have to run one after the other.
    pub fn in_order(&self) -> bool {
        self.between == Between::BlocksInOrder
    }

    /// What is known of a block that has not begun.
    pub fn shadow(&self) -> Box<Shadow> {
        let device = DeviceShadow::new(self.block_lines, self.device_granule, self.checks);
        let shared = SharedShadow::new(self.shared_bytes, self.granule, self.checks);
        Box::new(Shadow::new(shared, device))
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
