//! Allocations: what is kept of each, and what others see of it.

use super::backing::Backing;
use super::home::Reach;
use crate::memory::footprint::Touched;
use crate::memory::init_bitmap::Written;
use std::sync::{Arc, Mutex, PoisonError};

/// How an allocation came to be, and so how it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocationKind {
    /// Device memory (`cuMemAlloc`), at an address the host cannot use.
    Device,
    /// Managed memory (`cuMemAllocManaged`): the same address on host and device.
    Managed,
    /// Page-locked host memory (`cuMemAllocHost`): the same address on host and device.
    Host,
    /// Memory that was made without an address (`cuMemCreate`) and is mapped to one.
    Mapped,
    /// The caller's own memory, mapped into the device (`cuMemHostRegister`).
    Registered,
}

impl AllocationKind {
    /// Which devices' kernels reach such an allocation.
    pub(super) fn reach(self) -> Reach {
        match self {
            Self::Device => Reach::Peers,
            Self::Managed | Self::Host | Self::Registered => Reach::All,
            Self::Mapped => Reach::Listed(0),
        }
    }
}

/// A live allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Its first device address.
    pub base: u64,
    /// Its length in bytes.
    pub size: u64,
    /// The host memory that holds its bytes.
    pub host: *mut u8,
    /// How it came to be.
    pub kind: AllocationKind,
    /// The device that it was made on.
    pub home: u32,
}

/// An allocation as messages tell of it, live or freed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocationRecord {
    /// Its first device address.
    pub base: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its number among all allocations in the order in which they were made, from 1; 0 where it
    /// has a name.
    pub order: u64,
    /// The name of the module's variable that it is for, if any.
    pub name: Option<Arc<str>>,
}

/// What is kept of a live allocation.
pub struct LiveAllocation {
    /// Its length in bytes.
    pub size: u64,
    /// The host memory that holds its bytes.
    pub host: *mut u8,
    /// How it came to be.
    pub kind: AllocationKind,
    /// The device that it was made on.
    pub home: u32,
    /// Which devices' kernels reach it.
    pub reach: Reach,
    /// The memory itself, unless it is the caller's own.
    pub backing: Option<Backing>,
    /// What the last launch touched of it, for the next one to clear and use again.
    pub touched: Mutex<Option<Arc<Touched>>>,
    /// Its number among all allocations in the order in which they were made, from 1; 0 where it
    /// has a name.
    pub order: u64,
    /// The name of the module's variable that it is for, if any.
    pub name: Option<Arc<str>>,
    /// Which bytes somebody has written, where that is kept.
    pub written: Option<Arc<Written>>,
}

impl LiveAllocation {
    /// A footprint in which nothing of the allocation is touched: that of the last launch, cleared,
    /// where nobody uses it any more.
    pub fn untouched(&self) -> Arc<Touched> {
        let mut kept = self.touched.lock().unwrap_or_else(PoisonError::into_inner);
        let mut touched = kept
            .take()
            .unwrap_or_else(|| Arc::new(Touched::new(self.size)));
        match Arc::get_mut(&mut touched) {
            Some(mine) => mine.clear(),
            // A thread of the launch before has not let go of it yet.
            None => touched = Arc::new(Touched::new(self.size)),
        }
        *kept = Some(touched.clone());
        touched
    }

    /// The allocation as messages tell of it; it begins at `base`.
    pub fn known(&self, base: u64) -> AllocationRecord {
        AllocationRecord {
            base,
            bytes: self.size,
            order: self.order,
            name: self.name.clone(),
        }
    }

    /// The allocation as launches and copies see it; it begins at `base`.
    pub fn at(&self, base: u64) -> Allocation {
        Allocation {
            base,
            size: self.size,
            host: self.host,
            kind: self.kind,
            home: self.home,
        }
    }
}
