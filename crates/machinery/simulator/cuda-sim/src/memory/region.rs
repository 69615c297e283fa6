//! A snapshot of device memory for one launch: a sorted table of allocations.

use super::footprint::{AccessFootprint, DeviceTraffic, FootprintHandle, traffic};
use super::global::{ALIGNMENT, Global};
use std::sync::Arc;

/// An allocation with handles to its footprints.
#[derive(Debug, Clone, Copy)]
pub struct Region {
    pub base: u64,
    pub bytes: u64,
    pub host: *mut u8,
    pub reads: FootprintHandle,
    pub writes: FootprintHandle,
}

impl Region {
    /// An empty region, which contains no address.
    pub const NONE: Region = Region {
        base: 0,
        bytes: 0,
        host: std::ptr::null_mut(),
        reads: FootprintHandle::NONE,
        writes: FootprintHandle::NONE,
    };

    /// Returns the host address of `bytes` bytes at `address`; null unless all of them are inside.
    #[inline(always)]
    pub fn host(&self, address: u64, bytes: u64) -> *mut u8 {
        let offset = address.wrapping_sub(self.base);
        if offset < self.bytes && self.bytes - offset >= bytes {
            self.host.wrapping_add(offset as usize)
        } else {
            std::ptr::null_mut()
        }
    }

    /// Returns true if the region contains the byte at `address`.
    #[inline(always)]
    pub fn contains(&self, address: u64) -> bool {
        address.wrapping_sub(self.base) < self.bytes
    }

    /// Marks `bytes` bytes at `address` as read or written in `epoch` of the launch.
    ///
    /// # Safety
    /// [`Region::host`] must have returned a non-null pointer for these bytes, and the [`Regions`] that this
    /// region is from must still be alive.
    #[inline(always)]
    pub unsafe fn touch(&self, address: u64, bytes: u64, write: bool, epoch: u32) {
        let handle = if write { self.writes } else { self.reads };
        // SAFETY: the caller guarantees that the bytes are inside the region and that the footprints, which
        // `Regions` owns, are alive.
        unsafe { handle.touch(address - self.base, bytes, epoch) }
    }
}

// SAFETY: `host` points to an allocation that outlives the launch. Unsynchronized accesses by several threads
// are data races of the kernel, as on a GPU.
unsafe impl Send for Region {}
// SAFETY: shared references only copy the pointers; see `Send` about accesses through them.
unsafe impl Sync for Region {}

/// All allocations by address, with the footprints of the launch.
#[derive(Debug)]
pub struct Regions {
    sorted: Vec<Region>,
    touched: Vec<Arc<AccessFootprint>>,
}

impl Regions {
    /// Creates a snapshot of all live allocations, with empty footprints.
    pub fn of(global: &Global) -> Regions {
        let (mut sorted, mut touched) = (Vec::new(), Vec::new());
        for (allocation, empty_footprint) in global.empty_footprint() {
            sorted.push(Region {
                base: allocation.base,
                bytes: allocation.size,
                host: allocation.host,
                reads: empty_footprint.reads.handle(),
                writes: empty_footprint.writes.handle(),
            });
            touched.push(empty_footprint);
        }
        Regions { sorted, touched }
    }

    /// Returns the allocation that contains `address`, or [`Region::NONE`].
    pub fn find(&self, address: u64) -> Region {
        let after = self.sorted.partition_point(|region| region.base <= address);
        match after.checked_sub(1).map(|index| self.sorted[index]) {
            Some(region) if address - region.base < region.bytes => region,
            _ => Region::NONE,
        }
    }

    /// Returns the allocation whose granules of [`ALIGNMENT`] bytes contain `bytes` bytes at `address`, which may be past
    /// its end; [`Region::NONE`] if there is none.
    pub fn find_by_granule(&self, address: u64, bytes: u64) -> Region {
        let after = self.sorted.partition_point(|region| region.base <= address);
        let before = after.checked_sub(1).map(|index| self.sorted[index]);
        // Host memory that a program has registered need not start at a granule; what follows it is not known.
        let has_room = |region: &Region| {
            let granules = region.bytes.checked_next_multiple_of(ALIGNMENT);
            let end = (address - region.base).checked_add(bytes);
            region.base.is_multiple_of(ALIGNMENT)
                && end.is_some_and(|end| granules.is_some_and(|all| end <= all))
        };
        before.filter(has_room).unwrap_or(Region::NONE)
    }

    /// Returns the traffic between device memory and an L2 cache of `capacity` bytes. Call it only after the
    /// launch has finished.
    pub fn traffic(&self, capacity: u64) -> DeviceTraffic {
        traffic(self.touched.iter().map(Arc::as_ref), capacity)
    }
}
