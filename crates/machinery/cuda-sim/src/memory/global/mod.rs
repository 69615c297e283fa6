//! The device's address space: every live allocation, and the host memory behind it.
//!
//! An address is never handed out twice, and a gap follows each allocation, so a stale address
//! or one past an end belongs to nothing and is caught.

mod addresses;
mod allocation;
mod backing;
mod error;
mod home;
mod window;

pub use allocation::{Allocation, AllocationKind, AllocationRecord};
pub use backing::ALIGNMENT;
pub use error::{AlreadyMapped, NotAllocated, OutOfMemory};
pub use home::{Devices, MAX_DEVICES, Reach};

use super::footprint::Touched;
use super::init_bitmap::Written;
use allocation::LiveAllocation;
use backing::Backing;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use window::Window;

/// Where device addresses start. Above everything a 64-bit host gives a process, so that an
/// address is either the host's or the device's, and reading a device address on the host faults.
pub const BASE: u64 = 1 << 48;

/// Where device addresses end: 2⁵⁶ bytes can be handed out before the space is used up.
const END: u64 = 1 << 56;

/// Addresses left empty after an allocation. Wide, because a wrong index is often a row too far.
const GAP: u64 = 1 << 20;

/// Device memory and the host memory mapped into it.
pub struct Global {
    /// Of each device.
    capacity: u64,
    /// Of each device.
    used: Vec<u64>,
    /// The device that memory is made on and kernels run on now, and those whose memory its kernels reach as well.
    device: u32,
    peers: Devices,
    next: u64,
    entries: BTreeMap<u64, LiveAllocation>,
    /// Ranges of addresses that are reserved, by the first.
    windows: BTreeMap<u64, Window>,
    /// Allocations made so far, those with a name not counted.
    made: u64,
    /// The allocations that were freed last, the oldest first.
    freed: VecDeque<AllocationRecord>,
}

/// How many freed allocations are remembered.
const FREED: usize = 1024;

// SAFETY: the pointers are to memory this value owns or was promised (`map`), not to anything of
// one thread; reading and writing through them is the unsafe act, and its caller's to order.
unsafe impl Send for Global {}
// SAFETY: as above; `&Global` gives out addresses and changes nothing.
unsafe impl Sync for Global {}

impl Global {
    /// An empty address space of one device that hands out at most `capacity` bytes at a time.
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity,
            used: vec![0],
            device: 0,
            peers: 0,
            next: BASE,
            entries: BTreeMap::new(),
            windows: BTreeMap::new(),
            made: 0,
            freed: VecDeque::new(),
        }
    }

    /// Bytes of a device that may be live at once.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes not handed out of the device that memory is made on now.
    pub fn free_bytes(&self) -> u64 {
        self.free_bytes_of(self.device)
    }

    /// Bytes of a device not handed out.
    pub fn free_bytes_of(&self, device: u32) -> u64 {
        self.capacity - self.used[device as usize]
    }

    /// Device memory of `bytes` bytes, all zero. Returns its address: a multiple of 512, and of more where
    /// there are many bytes, as the driver's are.
    pub fn allocate(&mut self, bytes: u64) -> Result<u64, OutOfMemory> {
        let (address, past) = self.place(bytes, alignment_of(bytes))?;
        let backing = self.backing(bytes)?;
        self.next = past;
        self.insert(address, bytes, AllocationKind::Device, backing);
        Ok(address)
    }

    /// An address for `bytes` bytes that no allocation is given, but by [`Global::allocate_reserved`].
    pub fn set_aside(&mut self, bytes: u64) -> Result<u64, OutOfMemory> {
        let (address, past) = self.place(bytes, alignment_of(bytes))?;
        self.next = past;
        Ok(address)
    }

    /// Device memory of `bytes` bytes, all zero, at an address that was reserved for so many and that has
    /// none now.
    pub fn allocate_reserved(&mut self, address: u64, bytes: u64) -> Result<(), OutOfMemory> {
        let backing = self.backing(bytes)?;
        self.insert(address, bytes, AllocationKind::Device, backing);
        Ok(())
    }

    /// Where the next `bytes` addresses begin, at a multiple of `alignment`, a power of two of at least
    /// [`ALIGNMENT`], and where those after them may begin.
    fn place(&self, bytes: u64, alignment: u64) -> Result<(u64, u64), OutOfMemory> {
        let past = |address: u64| {
            address
                .checked_add(bytes)?
                .checked_add(GAP)?
                .checked_next_multiple_of(ALIGNMENT)
                .filter(|&end| end <= END)
        };
        let address = self.next.checked_next_multiple_of(alignment);
        address
            .and_then(|address| Some((address, past(address)?)))
            .ok_or_else(|| self.out_of_memory(bytes))
    }

    /// Managed memory of `bytes` bytes, all zero: its device address is its host address.
    pub fn allocate_managed(&mut self, bytes: u64) -> Result<u64, OutOfMemory> {
        self.allocate_shared(bytes, AllocationKind::Managed)
    }

    /// Page-locked host memory of `bytes` bytes, all zero: its device address is its host address.
    pub fn allocate_host(&mut self, bytes: u64) -> Result<u64, OutOfMemory> {
        self.allocate_shared(bytes, AllocationKind::Host)
    }

    /// Maps the caller's memory `[host, host + bytes)` into the device at its host address.
    ///
    /// # Safety
    /// The range must stay readable and writable until [`Global::unmap`].
    pub unsafe fn map(&mut self, host: *mut u8, bytes: u64) -> Result<(), AlreadyMapped> {
        let base = host as u64;
        let taken = self
            .entries
            .range(..base.saturating_add(bytes))
            .next_back()
            .is_some_and(|(&other, entry)| other.saturating_add(entry.size) > base);
        if taken {
            return Err(AlreadyMapped(base));
        }
        self.made += 1;
        let entry = LiveAllocation {
            size: bytes,
            host,
            kind: AllocationKind::Registered,
            home: self.device,
            reach: Reach::All,
            backing: None,
            touched: Mutex::default(),
            order: self.made,
            name: None,
            written: None,
        };
        self.entries.insert(base, entry);
        Ok(())
    }

    /// Ends a mapping made by [`Global::map`].
    pub fn unmap(&mut self, host: u64) -> Result<(), NotAllocated> {
        self.remove(host, |kind| kind == AllocationKind::Registered)
    }

    /// Frees device or managed memory by the address it starts at.
    pub fn free(&mut self, address: u64) -> Result<(), NotAllocated> {
        self.remove(address, |kind| {
            matches!(kind, AllocationKind::Device | AllocationKind::Managed)
        })
    }

    /// Frees page-locked host memory by the address it starts at.
    pub fn free_host(&mut self, address: u64) -> Result<(), NotAllocated> {
        self.remove(address, |kind| kind == AllocationKind::Host)
    }

    /// The live allocation that contains `address`.
    pub fn allocation(&self, address: u64) -> Option<Allocation> {
        let (&base, entry) = self.entries.range(..=address).next_back()?;
        (address - base < entry.size).then(|| entry.at(base))
    }

    /// Where the host holds `[address, address + bytes)`; `None` unless all of it is inside one
    /// live allocation, or in pieces of one range side by side.
    pub fn host(&self, address: u64, bytes: u64) -> Option<*mut u8> {
        let found = self.allocation(address)?;
        let offset = address - found.base;
        let fits = bytes <= self.together(found, offset.saturating_add(bytes)) - address;
        fits.then(|| found.host.wrapping_add(offset as usize))
    }

    /// All live allocations by ascending address.
    pub fn allocations(&self) -> impl Iterator<Item = Allocation> {
        self.entries.iter().map(|(&base, entry)| entry.at(base))
    }

    /// All live allocations that a launch reaches by ascending address, each with a footprint for one
    /// that is about to begin: nothing of it is touched.
    pub(in crate::memory) fn untouched(&self) -> impl Iterator<Item = (Allocation, Arc<Touched>)> {
        let entries = self
            .entries
            .iter()
            .filter(|(_, entry)| self.reaches(entry.home, entry.reach));
        entries.map(|(&base, entry)| (entry.at(base), entry.untouched()))
    }

    /// From now on it is kept which bytes of the allocation at `base` have been written. So far
    /// none counts as written.
    pub fn track_writes(&mut self, base: u64) {
        if let Some(entry) = self.entries.get_mut(&base) {
            entry.written = Some(Arc::new(Written::new(entry.size)));
        }
    }

    /// Notes that rows of bytes are written, each given by its address and length. All are in the
    /// allocation that holds `address`.
    pub fn wrote(&self, address: u64, rows: impl Iterator<Item = (u64, u64)>) {
        if let Some((base, written)) = self.written_in(address) {
            rows.for_each(|(row, bytes)| written.set(row - base, bytes));
        }
    }

    /// Notes that rows of bytes were copied. Each is given by the address it went to, the one it
    /// came from, and its length. A byte that was not written where it came from is not written
    /// where it went either.
    pub(crate) fn copied(&self, to: u64, from: u64, rows: impl Iterator<Item = (u64, u64, u64)>) {
        let Some((base, written)) = self.written_in(to) else {
            return;
        };
        let source = self.written_in(from);
        for (to, from, bytes) in rows {
            match &source {
                Some((from_base, source)) => {
                    written.copy(to - base, source, from - from_base, bytes);
                }
                None => written.set(to - base, bytes),
            }
        }
    }

    /// The allocation that holds `address`, by its first address, and which bytes of it are
    /// written, where that is kept.
    fn written_in(&self, address: u64) -> Option<(u64, Arc<Written>)> {
        let base = self.allocation(address)?.base;
        Some((base, self.written(base)?))
    }

    /// Which bytes of the allocation at `base` are written; none where that is not kept.
    pub(crate) fn written(&self, base: u64) -> Option<Arc<Written>> {
        self.entries.get(&base)?.written.clone()
    }

    /// Gives the allocation at `base`, which is the last one made, the name of a variable.
    pub(crate) fn name(&mut self, base: u64, name: &str) {
        if let Some(entry) = self.entries.get_mut(&base) {
            self.made -= 1;
            (entry.order, entry.name) = (0, Some(name.into()));
        }
    }

    /// The live allocation that contains `address`, as messages tell of it.
    pub(crate) fn known(&self, address: u64) -> Option<AllocationRecord> {
        let found = self.allocation(address)?;
        Some(self.entries.get(&found.base)?.known(found.base))
    }

    /// All live allocations, as messages tell of them.
    pub(crate) fn all_known(&self) -> impl Iterator<Item = AllocationRecord> {
        self.entries.iter().map(|(&base, entry)| entry.known(base))
    }

    /// The allocation that contained `address` and was freed; of several the one that was freed
    /// last. None where none is remembered.
    pub(crate) fn freed(&self, address: u64) -> Option<AllocationRecord> {
        let mut freed = self.freed.iter().rev();
        let found = freed.find(|one| address >= one.base && address - one.base < one.bytes);
        found.cloned()
    }

    /// The last allocation that begins at or before `address`, and the first one after it.
    pub(crate) fn neighbours(
        &self,
        address: u64,
    ) -> (Option<AllocationRecord>, Option<AllocationRecord>) {
        let below = self.entries.range(..=address).next_back();
        let above = self
            .entries
            .range(address..)
            .find(|(base, _)| **base > address);
        let known = |found: (&u64, &LiveAllocation)| found.1.known(*found.0);
        (below.map(known), above.map(known))
    }

    /// Zeroed memory whose device address is its host address.
    fn allocate_shared(&mut self, bytes: u64, kind: AllocationKind) -> Result<u64, OutOfMemory> {
        if bytes > self.free_bytes() {
            return Err(self.out_of_memory(bytes));
        }
        let backing = Backing::in_pages(bytes).ok_or_else(|| self.out_of_memory(bytes))?;
        let address = backing.aligned as u64;
        self.insert(address, bytes, kind, backing);
        Ok(address)
    }

    /// Host memory for an allocation of `bytes` bytes, if the device has so many left.
    fn backing(&self, bytes: u64) -> Result<Backing, OutOfMemory> {
        if bytes > self.free_bytes() {
            return Err(self.out_of_memory(bytes));
        }
        Backing::new(bytes).ok_or_else(|| self.out_of_memory(bytes))
    }

    /// Keeps a new allocation.
    fn insert(&mut self, address: u64, size: u64, kind: AllocationKind, backing: Backing) {
        self.used[self.device as usize] += size;
        self.made += 1;
        let entry = LiveAllocation {
            size,
            host: backing.aligned,
            kind,
            home: self.device,
            reach: kind.reach(),
            backing: Some(backing),
            touched: Mutex::default(),
            order: self.made,
            name: None,
            written: None,
        };
        self.entries.insert(address, entry);
    }

    /// Forgets the allocation that begins at `address`, if it is of a kind that `may` be freed so.
    fn remove(
        &mut self,
        address: u64,
        may: impl Fn(AllocationKind) -> bool,
    ) -> Result<(), NotAllocated> {
        match self.entries.get(&address) {
            Some(entry) if may(entry.kind) => {
                if entry.backing.is_some() {
                    self.used[entry.home as usize] -= entry.size;
                }
                if self.freed.len() == FREED {
                    self.freed.pop_front();
                }
                self.freed.push_back(entry.known(address));
                self.entries.remove(&address);
                Ok(())
            }
            _ => Err(NotAllocated(address)),
        }
    }

    fn out_of_memory(&self, requested: u64) -> OutOfMemory {
        OutOfMemory {
            requested,
            free: self.free_bytes(),
        }
    }
}

/// What the address of an allocation of so many bytes is a multiple of. As with NVIDIA's driver, a
/// megabyte begins at a megabyte, and what is larger at two.
fn alignment_of(bytes: u64) -> u64 {
    const MEGABYTE: u64 = 1 << 20;
    match bytes {
        0..MEGABYTE => ALIGNMENT,
        MEGABYTE => MEGABYTE,
        _ => 2 * MEGABYTE,
    }
}

#[cfg(test)]
mod tests;
