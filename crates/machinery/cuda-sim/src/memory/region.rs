//! Device memory as a launch sees it: a sorted table of allocations, fixed while it runs.

use super::footprint::{DeviceTraffic, Marks, Touched, traffic};
use super::global::Global;
use std::sync::Arc;

/// An allocation, and where to mark what is touched of it.
#[derive(Debug, Clone, Copy)]
pub struct Region {
    pub base: u64,
    pub bytes: u64,
    pub host: *mut u8,
    /// Marks what is read of it.
    pub reads: Marks,
    /// Marks what is written of it.
    pub writes: Marks,
}

impl Region {
    /// No allocation: contains no address.
    pub const NONE: Region = Region {
        base: 0,
        bytes: 0,
        host: std::ptr::null_mut(),
        reads: Marks::NONE,
        writes: Marks::NONE,
    };

    /// The host's address of `bytes` bytes at `address`; null unless all are inside.
    #[inline(always)]
    pub fn host(&self, address: u64, bytes: u64) -> *mut u8 {
        let offset = address.wrapping_sub(self.base);
        if offset < self.bytes && self.bytes - offset >= bytes {
            self.host.wrapping_add(offset as usize)
        } else {
            std::ptr::null_mut()
        }
    }

    /// Whether it has the byte at `address`.
    #[inline(always)]
    pub fn holds(&self, address: u64) -> bool {
        address.wrapping_sub(self.base) < self.bytes
    }

    /// Marks `bytes` bytes at `address` as read or written in `epoch` of the launch.
    ///
    /// # Safety
    /// [`Region::host`] found all of them inside, and the [`Regions`] this is of still live.
    #[inline(always)]
    pub unsafe fn touch(&self, address: u64, bytes: u64, write: bool, epoch: u32) {
        let marks = if write { self.writes } else { self.reads };
        // SAFETY: the caller's promise.
        unsafe { marks.touch(address - self.base, bytes, epoch) }
    }
}

// SAFETY: the pointer names an allocation that lives at least as long as the launch; what
// several threads may do to its bytes at once is the kernel's business, as on a GPU.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

/// All allocations, by address, and what the launch touches of them.
#[derive(Debug)]
pub struct Regions {
    sorted: Vec<Region>,
    touched: Vec<Arc<Touched>>,
}

impl Regions {
    /// All live allocations, with nothing touched yet.
    pub fn of(global: &Global) -> Regions {
        let (mut sorted, mut touched) = (Vec::new(), Vec::new());
        for (found, untouched) in global.untouched() {
            sorted.push(Region {
                base: found.base,
                bytes: found.size,
                host: found.host,
                reads: untouched.reads.marks(),
                writes: untouched.writes.marks(),
            });
            touched.push(untouched);
        }
        Regions { sorted, touched }
    }

    /// The allocation that holds `address`, or [`Region::NONE`].
    pub fn find(&self, address: u64) -> Region {
        let after = self.sorted.partition_point(|region| region.base <= address);
        match after.checked_sub(1).map(|place| self.sorted[place]) {
            Some(region) if address - region.base < region.bytes => region,
            _ => Region::NONE,
        }
    }

    /// What the launch moved between device memory and an L2 cache of `capacity` bytes. Only
    /// for when it is over.
    pub fn traffic(&self, capacity: u64) -> DeviceTraffic {
        traffic(self.touched.iter().map(Arc::as_ref), capacity)
    }
}
