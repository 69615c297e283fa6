//! Device memory as a launch sees it: a sorted table of allocations, fixed while it runs.

use super::global::Global;

/// One allocation.
#[derive(Debug, Clone, Copy)]
pub struct Region {
    pub base: u64,
    pub bytes: u64,
    pub host: *mut u8,
}

impl Region {
    /// No allocation: contains no address.
    pub const NONE: Region = Region {
        base: 0,
        bytes: 0,
        host: std::ptr::null_mut(),
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
}

// SAFETY: the pointer names an allocation that lives at least as long as the launch; what
// several threads may do to its bytes at once is the kernel's business, as on a GPU.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

/// All allocations, by address.
#[derive(Debug)]
pub struct Regions {
    sorted: Vec<Region>,
}

impl Regions {
    pub fn of(global: &Global) -> Regions {
        let sorted = global
            .allocations()
            .map(|found| Region {
                base: found.base,
                bytes: found.size,
                host: found.host,
            })
            .collect();
        Regions { sorted }
    }

    /// The allocation that holds `address`, or [`Region::NONE`].
    pub fn find(&self, address: u64) -> Region {
        let after = self.sorted.partition_point(|region| region.base <= address);
        match after.checked_sub(1).map(|place| self.sorted[place]) {
            Some(region) if address - region.base < region.bytes => region,
            _ => Region::NONE,
        }
    }
}
