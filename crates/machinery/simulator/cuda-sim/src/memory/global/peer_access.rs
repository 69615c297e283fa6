//! Memory ownership and peer access on machines with several devices. Every allocation is owned by one
//! device. A kernel can access memory of its own device, host memory, and memory to which its device was
//! given access.

use super::Global;

/// The maximum number of devices per machine.
pub const MAX_DEVICES: u32 = 16;

/// A set of devices as a bit mask.
pub type Devices = u32;

/// The devices whose kernels can access an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceAccess {
    /// All devices: host memory and managed memory.
    All,
    /// The owner, and its peers with peer access enabled.
    Peers,
    /// Exactly the devices of a set.
    Listed(Devices),
}

impl Global {
    /// Creates an empty address space of `count` devices with `capacity` bytes each.
    pub fn with_device_count(count: u32, capacity: u64) -> Self {
        Self {
            used: vec![0; count as usize],
            ..Self::new(capacity)
        }
    }

    /// Sets the device that owns new allocations and runs launches. Its kernels can also access the memory of
    /// `peers`.
    pub fn set_device(&mut self, device: u32, peers: Devices) -> &mut Self {
        (self.device, self.peers) = (device, peers);
        self
    }

    /// Sets the devices that can access the allocation at `base`.
    pub fn set_access(&mut self, base: u64, access: DeviceAccess) {
        if let Some(entry) = self.entries.get_mut(&base) {
            entry.access = access;
        }
    }

    /// Returns true if launches on the current device can access an allocation with this owner and access.
    pub(super) fn is_accessible(&self, owner: u32, access: DeviceAccess) -> bool {
        let current = 1 << self.device;
        match access {
            DeviceAccess::All => true,
            DeviceAccess::Peers => (current | self.peers) & (1 << owner) != 0,
            DeviceAccess::Listed(devices) => devices & current != 0,
        }
    }

    /// Returns the owner of the allocation that contains `address` if the current device cannot access it.
    pub(crate) fn inaccessible_owner(&self, address: u64) -> Option<u32> {
        let allocation = self.allocation(address)?;
        let entry = self.entries.get(&allocation.base)?;
        (!self.is_accessible(entry.owner, entry.access)).then_some(entry.owner)
    }
}
