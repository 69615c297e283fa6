//! Whose memory is whose, where a machine has several devices: each allocation is at home on one, and a kernel
//! reaches what is its device's own, what is the host's, and what it was let into.

use super::Global;

/// The most devices of a machine.
pub const MAX_DEVICES: u32 = 16;

/// A set of devices, a bit each.
pub type Devices = u32;

/// Which devices' kernels reach an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// All: the host's memory, and managed memory.
    All,
    /// Its own device, and those that have access to all that is the device's.
    Peers,
    /// These alone.
    Listed(Devices),
}

impl Global {
    /// An empty address space of several devices, each of which hands out at most `capacity` bytes at a time.
    pub fn of_devices(count: u32, capacity: u64) -> Self {
        Self {
            used: vec![0; count as usize],
            ..Self::new(capacity)
        }
    }

    /// From now on memory is made on `device`, and launches are its: they reach what is its own, and what is that
    /// of `peers`.
    pub fn seen_by(&mut self, device: u32, peers: Devices) -> &mut Self {
        (self.device, self.peers) = (device, peers);
        self
    }

    /// Sets which devices reach the allocation that begins at `base`.
    pub fn set_reach(&mut self, base: u64, reach: Reach) {
        if let Some(entry) = self.entries.get_mut(&base) {
            entry.reach = reach;
        }
    }

    /// Whether a launch reaches an allocation that is at home there.
    pub(super) fn reaches(&self, home: u32, reach: Reach) -> bool {
        let own = 1 << self.device;
        match reach {
            Reach::All => true,
            Reach::Peers => (own | self.peers) & (1 << home) != 0,
            Reach::Listed(devices) => devices & own != 0,
        }
    }

    /// The device whose memory `address` is in, where a launch does not reach it.
    pub(crate) fn out_of_reach(&self, address: u64) -> Option<u32> {
        let found = self.allocation(address)?;
        let entry = self.entries.get(&found.base)?;
        (!self.reaches(entry.home, entry.reach)).then_some(entry.home)
    }
}
