//! The address space of device memory: all live allocations and the host memory that backs them.
//!
//! Addresses are never reused, and a gap follows each allocation, so stale and out-of-bounds addresses do not
//! belong to any allocation and are detected.
//!
//! On machines with several devices, every allocation is owned by one of them. A kernel can access memory of
//! its own device, host memory, and memory to which its device was given access.

mod allocation;
mod reservation;

pub use super::coverage::Rows;
pub use allocation::{
    ALIGNMENT, Allocation, AllocationCall, AllocationKind, AllocationRecord, ByteFill, CallSite,
};

use super::coverage::{Coverage, Input, InputOrigin, Stores};
use super::footprint::AccessFootprint;
use super::init_bitmap::AtomicInitBitmap;
use super::lock;
use allocation::{Backing, LiveAllocation};
use reservation::Reservation;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use thiserror::Error;

/// The start of device addresses. It is above all addresses that a 64-bit host gives to processes, so an
/// address belongs to either the host or the device, and the host faults on device addresses.
pub const BASE: u64 = 1 << 48;

/// The end of device addresses, which allows for almost 2⁵⁶ bytes of allocations over the lifetime of the
/// address space.
const END: u64 = 1 << 56;

/// The gap after each allocation in bytes. It is wide because a wrong index is often off by a whole row.
const GAP: u64 = 1 << 20;

/// Device memory, and the host memory that is mapped into it.
pub struct Global {
    /// Bytes of memory per device.
    capacity: u64,
    /// Allocated bytes of each device.
    used: Vec<u64>,
    /// The current device, which owns new allocations and runs kernels.
    device: u32,
    /// The devices whose memory the current device's kernels can access.
    peers: Devices,
    next: u64,
    entries: BTreeMap<u64, LiveAllocation>,
    /// Reserved address ranges, by their first address.
    reservations: BTreeMap<u64, Reservation>,
    /// The number of unnamed allocations so far.
    allocation_count: u64,
    /// The most recently freed allocations, oldest first, with the lines that freed them, if they are known.
    freed: VecDeque<(AllocationRecord, Option<CallSite>)>,
}

/// Maximum number of freed allocations that are remembered.
const MAX_FREED_RECORDS: usize = 1024;

// SAFETY: the pointers refer to memory that this value owns or that the caller of `map` guarantees to be
// valid, from any thread. Dereferencing them is unsafe and must be synchronized by the code that does it.
unsafe impl Send for Global {}
// SAFETY: methods that take `&Global` return addresses and do not access the memory.
unsafe impl Sync for Global {}

impl Global {
    /// Creates an empty address space of one device with `capacity` bytes.
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity,
            used: vec![0],
            device: 0,
            peers: 0,
            next: BASE,
            entries: BTreeMap::new(),
            reservations: BTreeMap::new(),
            allocation_count: 0,
            freed: VecDeque::new(),
        }
    }

    /// Returns the memory capacity of a device in bytes.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Returns the unallocated bytes of the current device.
    pub fn free_bytes(&self) -> u64 {
        self.free_bytes_of(self.device)
    }

    /// Returns the unallocated bytes of a device.
    pub fn free_bytes_of(&self, device: u32) -> u64 {
        self.capacity - self.used[device as usize]
    }

    /// Allocates `bytes` bytes of zeroed device memory. Returns its address, which is a multiple of 512, or
    /// of more for large allocations, as with NVIDIA's driver.
    pub fn allocate(&mut self, bytes: u64) -> Result<u64, OutOfMemory> {
        self.allocate_device(bytes, AllocationKind::Device)
    }

    /// Allocates device memory of a pool as [`Global::allocate`] does.
    pub fn allocate_from_pool(&mut self, bytes: u64) -> Result<u64, OutOfMemory> {
        self.allocate_device(bytes, AllocationKind::Pool)
    }

    fn allocate_device(&mut self, bytes: u64, kind: AllocationKind) -> Result<u64, OutOfMemory> {
        let (address, past) = self.next_address(bytes, allocation_alignment(bytes))?;
        let backing = self.backing(bytes)?;
        self.next = past;
        self.insert(address, bytes, kind, backing);
        Ok(address)
    }

    /// Reserves an address for `bytes` bytes, for later use by [`Global::allocate_reserved`].
    pub fn reserve_address(&mut self, bytes: u64) -> Result<u64, OutOfMemory> {
        let (address, past) = self.next_address(bytes, allocation_alignment(bytes))?;
        self.next = past;
        Ok(address)
    }

    /// Allocates `bytes` bytes of zeroed device memory at an address that was reserved for this size and has
    /// no memory yet.
    pub fn allocate_reserved(&mut self, address: u64, bytes: u64) -> Result<(), OutOfMemory> {
        let backing = self.backing(bytes)?;
        self.insert(address, bytes, AllocationKind::Pool, backing);
        Ok(())
    }

    /// Returns the next free address for `bytes` bytes at a multiple of `alignment`, which must be a power of
    /// two of at least [`ALIGNMENT`], and the first address that may be used after it.
    fn next_address(&self, bytes: u64, alignment: u64) -> Result<(u64, u64), OutOfMemory> {
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

    /// Allocates `bytes` bytes of zeroed managed memory. Its device address is its host address.
    pub fn allocate_managed(&mut self, bytes: u64) -> Result<u64, OutOfMemory> {
        self.allocate_shared(bytes, AllocationKind::Managed)
    }

    /// Allocates `bytes` bytes of zeroed page-locked host memory. Its device address is its host address.
    pub fn allocate_host(&mut self, bytes: u64) -> Result<u64, OutOfMemory> {
        self.allocate_shared(bytes, AllocationKind::Host)
    }

    /// Maps the host memory `[host, host + bytes)` into the device at its host address.
    ///
    /// # Safety
    /// The range must stay readable and writable until [`Global::unmap`].
    pub unsafe fn map(&mut self, host: *mut u8, bytes: u64) -> Result<(), AlreadyMapped> {
        let base = host as u64;
        let overlaps = self
            .entries
            .range(..base.saturating_add(bytes))
            .next_back()
            .is_some_and(|(&other, entry)| other.saturating_add(entry.size) > base);
        if overlaps {
            return Err(AlreadyMapped(base));
        }
        self.allocation_count += 1;
        let entry = LiveAllocation::new(
            bytes,
            host,
            AllocationKind::Registered,
            self.device,
            self.allocation_count,
        );
        self.entries.insert(base, entry);
        Ok(())
    }

    /// Removes a mapping created by [`Global::map`].
    pub fn unmap(&mut self, host: u64) -> Result<(), NotAllocated> {
        self.remove(host, |kind| kind == AllocationKind::Registered)
    }

    /// Frees device or managed memory that starts at `address`.
    pub fn free(&mut self, address: u64) -> Result<(), NotAllocated> {
        self.remove(address, |kind| {
            matches!(
                kind,
                AllocationKind::Device | AllocationKind::Pool | AllocationKind::Managed
            )
        })
    }

    /// Frees page-locked host memory that starts at `address`.
    pub fn free_host(&mut self, address: u64) -> Result<(), NotAllocated> {
        self.remove(address, |kind| kind == AllocationKind::Host)
    }

    /// Returns the live allocation that contains `address`.
    pub fn allocation(&self, address: u64) -> Option<Allocation> {
        let (&base, entry) = self.entries.range(..=address).next_back()?;
        (address - base < entry.size).then(|| entry.to_allocation(base))
    }

    /// Returns the host pointer to `[address, address + bytes)`. Returns `None` unless all of it is inside
    /// one live allocation, or inside adjacent mappings of one reserved range.
    pub fn host(&self, address: u64, bytes: u64) -> Option<*mut u8> {
        let allocation = self.allocation(address)?;
        let offset = address - allocation.base;
        let is_contiguous =
            bytes <= self.contiguous_end(allocation, offset.saturating_add(bytes)) - address;
        is_contiguous.then(|| allocation.host.wrapping_add(offset as usize))
    }

    /// Iterates over all live allocations by ascending address.
    pub fn allocations(&self) -> impl Iterator<Item = Allocation> {
        self.entries
            .iter()
            .map(|(&base, entry)| entry.to_allocation(base))
    }

    /// Iterates over all live allocations that a launch can access by ascending address, each with an empty
    /// footprint for the launch.
    pub(in crate::memory) fn empty_footprint(
        &self,
    ) -> impl Iterator<Item = (Allocation, Arc<AccessFootprint>)> {
        let entries = self
            .entries
            .iter()
            .filter(|(_, entry)| self.is_accessible(entry.owner, entry.access));
        entries.map(|(&base, entry)| (entry.to_allocation(base), entry.empty_footprint()))
    }

    /// Starts to track the initialized bytes of the allocation at `base`, all of which count as uninitialized.
    pub fn track_initialization(&mut self, base: u64) {
        if let Some(entry) = self.entries.get_mut(&base) {
            entry.written = Some(Arc::new(AtomicInitBitmap::new(entry.size)));
        }
    }

    /// Starts to track the input of the allocation at `base`.
    pub(crate) fn track_input(&mut self, base: u64) {
        if let Some(entry) = self.entries.get_mut(&base) {
            entry.input = Some(Arc::new(Input::new(entry.size)));
        }
    }

    /// Stops tracking the input of all allocations.
    pub(crate) fn forget_inputs(&mut self) {
        self.entries
            .values_mut()
            .for_each(|entry| entry.input = None);
    }

    /// Returns the base of the allocation that contains `address` and its input; `None` if it is not tracked.
    pub(crate) fn input(&self, address: u64) -> Option<(u64, Arc<Input>)> {
        let base = self.allocation(address)?.base;
        Some((base, self.entries.get(&base)?.input.clone()?))
    }

    /// Adds rows of bytes, given as addresses and lengths, to the input of the allocation that contains `address`, which
    /// must contain all of them. `line` returns the line of the call that wrote them.
    pub(crate) fn add_input(
        &self,
        address: u64,
        origin: InputOrigin,
        rows: impl Iterator<Item = (u64, u64)>,
        line: impl FnOnce() -> Option<CallSite>,
    ) {
        if let Some((base, input)) = self.input(address)
            && let Some(entry) = self.entries.get(&base)
        {
            input.add(origin, rows.map(|(row, bytes)| (row - base, bytes)));
            lock(&entry.input_calls)[origin as usize] = line();
        }
    }

    /// Notes that a copy or a fill uses rows of bytes, given as addresses and lengths. All of them must be in the
    /// allocation that contains `address`.
    pub(crate) fn use_input(&self, address: u64, rows: impl Iterator<Item = (u64, u64)>) {
        if let Some((base, input)) = self.input(address) {
            rows.for_each(|(row, bytes)| input.use_bytes(row - base, bytes));
        }
    }

    /// Returns the elements of the input of the allocation at `base` that nothing has used, their origin, and the line of
    /// the call that wrote them; `None` if there are none.
    pub(crate) fn unused_input(
        &self,
        base: u64,
    ) -> Option<(Coverage, InputOrigin, Option<CallSite>)> {
        let entry = self.entries.get(&base)?;
        let (coverage, origin) = entry.input.as_ref()?.unused(entry.rows)?;
        let line = lock(&entry.input_calls)[origin as usize].clone();
        Some((coverage, origin, line))
    }

    /// Notes the last fill of the allocation that contains `address`; `None` if it was not by bytes.
    pub(crate) fn set_fill(&self, address: u64, fill: Option<ByteFill>) {
        if let Some(allocation) = self.allocation(address)
            && let Some(entry) = self.entries.get(&allocation.base)
        {
            *lock(&entry.fill) = fill;
        }
    }

    /// Returns the last fill of the allocation that contains `address`, if it was by bytes.
    pub(crate) fn fill(&self, address: u64) -> Option<ByteFill> {
        let base = self.allocation(address)?.base;
        lock(&self.entries.get(&base)?.fill).clone()
    }

    /// Adds the stores of a launch to those of the allocation at `base`.
    pub(crate) fn add_stores(&self, base: u64, stores: Stores) {
        if let Some(entry) = self.entries.get(&base) {
            lock(&entry.stores).add(stores);
        }
    }

    /// Returns the uninitialized elements among rows of bytes, given as addresses and lengths. All of them must be
    /// in the allocation that contains `address`.
    pub(crate) fn coverage(
        &self,
        address: u64,
        rows: impl Iterator<Item = (u64, u64)>,
    ) -> Option<Coverage> {
        let (base, written) = self.init_bitmap_at(address)?;
        let entry = self.entries.get(&base)?;
        let stores = lock(&entry.stores).clone();
        Coverage::of(
            &written,
            stores,
            entry.rows,
            rows.map(|(row, bytes)| (row - base, bytes)),
        )
    }

    /// Marks rows of bytes, given as addresses and lengths, as initialized. All of them must be in the
    /// allocation that contains `address`.
    pub fn mark_initialized(&self, address: u64, rows: impl Iterator<Item = (u64, u64)>) {
        if let Some((base, written)) = self.init_bitmap_at(address) {
            rows.for_each(|(row, bytes)| written.set(row - base, bytes));
        }
    }

    /// Copies the initialization state of rows of bytes, given as destination, source and length: bytes
    /// copied from uninitialized memory are uninitialized.
    pub(crate) fn copy_initialization(
        &self,
        to: u64,
        from: u64,
        rows: impl Iterator<Item = (u64, u64, u64)>,
    ) {
        let Some((base, written)) = self.init_bitmap_at(to) else {
            return;
        };
        let source = self.init_bitmap_at(from);
        for (to, from, bytes) in rows {
            match &source {
                Some((from_base, source)) => {
                    written.copy(to - base, source, from - from_base, bytes);
                }
                None => written.set(to - base, bytes),
            }
        }
    }

    /// Returns the base of the allocation that contains `address` and its bitmap of initialized bytes; `None`
    /// if it is not tracked.
    fn init_bitmap_at(&self, address: u64) -> Option<(u64, Arc<AtomicInitBitmap>)> {
        let base = self.allocation(address)?.base;
        Some((base, self.init_bitmap(base)?))
    }

    /// Returns the bitmap of initialized bytes of the allocation at `base`; `None` if it is not tracked.
    pub(crate) fn init_bitmap(&self, base: u64) -> Option<Arc<AtomicInitBitmap>> {
        self.entries.get(&base)?.written.clone()
    }

    /// Names the allocation at `base`, which must be the most recent one, after a variable.
    pub(crate) fn name(&mut self, base: u64, name: &str) {
        if let Some(entry) = self.entries.get_mut(&base) {
            self.allocation_count -= 1;
            (entry.order, entry.name) = (0, Some(name.into()));
        }
    }

    /// Sets the layout of the rows of the allocation at `base`.
    pub(crate) fn set_rows(&mut self, base: u64, rows: Rows) {
        if let Some(entry) = self.entries.get_mut(&base) {
            entry.rows = Some(rows);
        }
    }

    /// Sets the call of the program that made the allocation at `base`.
    pub(crate) fn set_call(&mut self, base: u64, call: AllocationCall) {
        if let Some(entry) = self.entries.get_mut(&base) {
            entry.call = Some(Arc::new(call));
        }
    }

    /// Returns the description of the live allocation that contains `address`.
    pub(crate) fn record(&self, address: u64) -> Option<AllocationRecord> {
        let allocation = self.allocation(address)?;
        Some(self.entries.get(&allocation.base)?.record(allocation.base))
    }

    /// Iterates over the descriptions of all live allocations.
    pub(crate) fn records(&self) -> impl Iterator<Item = AllocationRecord> {
        self.entries.iter().map(|(&base, entry)| entry.record(base))
    }

    /// Returns the most recently freed allocation that contained `address`; `None` if no such allocation is
    /// remembered.
    pub(crate) fn freed(&self, address: u64) -> Option<AllocationRecord> {
        Some(self.freed_with_line(address)?.0)
    }

    /// Returns the most recently freed allocation that contained `address`, with the line that freed it.
    pub(crate) fn freed_with_line(
        &self,
        address: u64,
    ) -> Option<(AllocationRecord, Option<CallSite>)> {
        let mut freed = self.freed.iter().rev();
        let contains = |record: &AllocationRecord| {
            address >= record.base && address - record.base < record.bytes
        };
        freed.find(|(record, _)| contains(record)).cloned()
    }

    /// Sets the line that freed the allocation that was freed last.
    pub(crate) fn set_free_line(&mut self, line: Option<CallSite>) {
        if let Some((_, last)) = self.freed.back_mut() {
            *last = line;
        }
    }

    /// Returns the last allocation that starts at or before `address` and the first one that starts after it.
    pub(crate) fn neighbours(
        &self,
        address: u64,
    ) -> (Option<AllocationRecord>, Option<AllocationRecord>) {
        let below = self.entries.range(..=address).next_back();
        let above = self
            .entries
            .range(address..)
            .find(|(base, _)| **base > address);
        let record = |(&base, entry): (&u64, &LiveAllocation)| entry.record(base);
        (below.map(record), above.map(record))
    }

    /// Allocates zeroed memory whose device address is its host address.
    fn allocate_shared(&mut self, bytes: u64, kind: AllocationKind) -> Result<u64, OutOfMemory> {
        if bytes > self.free_bytes() {
            return Err(self.out_of_memory(bytes));
        }
        let backing = Backing::in_pages(bytes).ok_or_else(|| self.out_of_memory(bytes))?;
        let address = backing.aligned as u64;
        self.insert(address, bytes, kind, backing);
        Ok(address)
    }

    /// Allocates the host memory of an allocation. Fails if the device has fewer than `bytes` free bytes.
    fn backing(&self, bytes: u64) -> Result<Backing, OutOfMemory> {
        if bytes > self.free_bytes() {
            return Err(self.out_of_memory(bytes));
        }
        Backing::new(bytes).ok_or_else(|| self.out_of_memory(bytes))
    }

    /// Records a new allocation.
    fn insert(&mut self, address: u64, size: u64, kind: AllocationKind, backing: Backing) {
        self.used[self.device as usize] += size;
        self.allocation_count += 1;
        let host = backing.aligned;
        let entry = LiveAllocation {
            backing: Some(backing),
            ..LiveAllocation::new(size, host, kind, self.device, self.allocation_count)
        };
        self.entries.insert(address, entry);
    }

    /// Removes the allocation at `address` if its kind satisfies `may`.
    fn remove(
        &mut self,
        address: u64,
        may: impl Fn(AllocationKind) -> bool,
    ) -> Result<(), NotAllocated> {
        match self.entries.get(&address) {
            Some(entry) if may(entry.kind) => {
                if entry.kind.takes_memory() {
                    self.used[entry.owner as usize] -= entry.size;
                }
                if self.freed.len() == MAX_FREED_RECORDS {
                    self.freed.pop_front();
                }
                self.freed.push_back((entry.record(address), None));
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

/// Returns the alignment of an allocation of `bytes` bytes. As with NVIDIA's driver, an allocation of 1 MiB
/// is aligned to 1 MiB and a larger one to 2 MiB.
fn allocation_alignment(bytes: u64) -> u64 {
    const MEGABYTE: u64 = 1 << 20;
    match bytes {
        0..MEGABYTE => ALIGNMENT,
        MEGABYTE => MEGABYTE,
        _ => 2 * MEGABYTE,
    }
}

/// The device's memory, the host's memory or the address space is exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("out of memory: {requested} bytes requested, {free} bytes free")]
pub struct OutOfMemory {
    /// The requested bytes.
    pub requested: u64,
    /// The bytes that were still available.
    pub free: u64,
}

/// The address is not the start of a live allocation of the expected kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{0:#x} is not the start of a live allocation")]
pub struct NotAllocated(pub u64);

/// The host range overlaps memory that is already mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the host memory at {0:#x} is already mapped")]
pub struct AlreadyMapped(pub u64);

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
    fn is_accessible(&self, owner: u32, access: DeviceAccess) -> bool {
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

#[cfg(test)]
mod tests;
