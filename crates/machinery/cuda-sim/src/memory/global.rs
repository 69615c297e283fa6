//! The device's address space: every live allocation, and the host memory behind it.
//!
//! An address is never handed out twice, and a gap follows each allocation, so a stale address
//! or one past an end belongs to nothing and is caught.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use super::footprint::Touched;
use super::written::Written;

use thiserror::Error;

/// Where device addresses start. Above everything a 64-bit host gives a process, so that an
/// address is either the host's or the device's, and reading a device address on the host faults.
pub const BASE: u64 = 1 << 48;

/// Where device addresses end: 2⁵⁶ bytes can be handed out before the space is used up.
const END: u64 = 1 << 56;

/// What real GPUs align an allocation to.
pub const ALIGNMENT: u64 = 512;

/// Addresses left empty after an allocation. Wide, because a wrong index is often a row too far.
const GAP: u64 = 1 << 20;

/// No room: the device's memory, the host's memory or the address space is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("out of memory: {requested} bytes asked for, {free} bytes free")]
pub struct OutOfMemory {
    /// Bytes asked for.
    pub requested: u64,
    /// Bytes that could still have been had.
    pub free: u64,
}

/// The address is not the start of a live allocation of the kind to be freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{0:#x} is not the start of a live allocation")]
pub struct NotAllocated(pub u64);

/// The host range overlaps memory that is mapped already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the host memory at {0:#x} is mapped already")]
pub struct AlreadyMapped(pub u64);

/// How an allocation came to be, and so how it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Device memory (`cuMemAlloc`), at an address the host cannot use.
    Device,
    /// Managed memory (`cuMemAllocManaged`): the same address on host and device.
    Managed,
    /// Page-locked host memory (`cuMemAllocHost`): the same address on host and device.
    Host,
    /// The caller's own memory, mapped into the device (`cuMemHostRegister`).
    Registered,
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
    pub kind: Kind,
}

/// Zeroed host memory aligned to [`ALIGNMENT`].
///
/// The system allocator clears memory of a small alignment lazily, page by page as it is
/// touched, and memory of a large one at once; so this asks for a little more and aligns itself.
struct Block {
    start: *mut u8,
    layout: Layout,
    aligned: *mut u8,
}

impl Block {
    fn new(bytes: u64) -> Option<Self> {
        let padded = usize::try_from(bytes.checked_add(ALIGNMENT)?).ok()?;
        let layout = Layout::from_size_align(padded, 16).ok()?;
        // SAFETY: the layout is at least ALIGNMENT bytes long, so not empty.
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            return None;
        }
        let aligned = start.wrapping_add(start.align_offset(ALIGNMENT as usize));
        Some(Self {
            start,
            layout,
            aligned,
        })
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: `start` came from `alloc_zeroed` with this layout and is freed only here.
        unsafe { dealloc(self.start, self.layout) }
    }
}

struct Entry {
    size: u64,
    host: *mut u8,
    kind: Kind,
    /// The memory itself, unless it is the caller's own.
    block: Option<Block>,
    /// What the last launch touched of it, for the next one to clear and use again.
    touched: Mutex<Option<Arc<Touched>>>,
    order: u64,
    name: Option<Arc<str>>,
    /// Which bytes somebody has written, where that is kept.
    written: Option<Arc<Written>>,
}

/// Device memory and the host memory mapped into it.
pub struct Global {
    capacity: u64,
    used: u64,
    next: u64,
    entries: BTreeMap<u64, Entry>,
    /// Allocations made so far, those with a name not counted.
    made: u64,
    /// The last ones that were freed, the oldest first.
    freed: VecDeque<Known>,
}

/// An allocation, as a reader knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// Its first device address.
    pub base: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// Which it was of all that were made, from 1; 0 where it has a name.
    pub order: u64,
    /// The variable that it is.
    pub name: Option<Arc<str>>,
}

/// How many freed allocations are remembered.
const FREED: usize = 1024;

// SAFETY: the pointers are to memory this value owns or was promised (`map`), not to anything of
// one thread; reading and writing through them is the unsafe act, and its caller's to order.
unsafe impl Send for Global {}
// SAFETY: as above; `&Global` gives out addresses and changes nothing.
unsafe impl Sync for Global {}

impl Global {
    /// An empty address space that hands out at most `capacity` bytes at a time.
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity,
            used: 0,
            next: BASE,
            entries: BTreeMap::new(),
            made: 0,
            freed: VecDeque::new(),
        }
    }

    /// Bytes that may be live at once.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes not handed out.
    pub fn free_bytes(&self) -> u64 {
        self.capacity - self.used
    }

    /// Device memory of `bytes` bytes, all zero. Returns its address, a multiple of 512.
    pub fn allocate(&mut self, bytes: u64) -> Result<u64, OutOfMemory> {
        let past = self
            .next
            .checked_add(bytes)
            .and_then(|end| end.checked_add(GAP))
            .and_then(|end| end.checked_next_multiple_of(ALIGNMENT))
            .filter(|&end| end <= END)
            .ok_or_else(|| self.out_of_memory(bytes))?;
        let block = self.block(bytes)?;
        let address = std::mem::replace(&mut self.next, past);
        self.insert(address, bytes, Kind::Device, block);
        Ok(address)
    }

    /// Managed memory of `bytes` bytes, all zero: its device address is its host address.
    pub fn allocate_managed(&mut self, bytes: u64) -> Result<u64, OutOfMemory> {
        self.allocate_shared(bytes, Kind::Managed)
    }

    /// Page-locked host memory of `bytes` bytes, all zero: its device address is its host address.
    pub fn allocate_host(&mut self, bytes: u64) -> Result<u64, OutOfMemory> {
        self.allocate_shared(bytes, Kind::Host)
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
        let entry = Entry {
            size: bytes,
            host,
            kind: Kind::Registered,
            block: None,
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
        self.remove(host, |kind| kind == Kind::Registered)
    }

    /// Frees device or managed memory by the address it starts at.
    pub fn free(&mut self, address: u64) -> Result<(), NotAllocated> {
        self.remove(address, |kind| matches!(kind, Kind::Device | Kind::Managed))
    }

    /// Frees page-locked host memory by the address it starts at.
    pub fn free_host(&mut self, address: u64) -> Result<(), NotAllocated> {
        self.remove(address, |kind| kind == Kind::Host)
    }

    /// The live allocation that contains `address`.
    pub fn allocation(&self, address: u64) -> Option<Allocation> {
        let (&base, entry) = self.entries.range(..=address).next_back()?;
        (address - base < entry.size).then(|| entry.at(base))
    }

    /// Where the host holds `[address, address + bytes)`; `None` unless all of it is inside one
    /// live allocation.
    pub fn host(&self, address: u64, bytes: u64) -> Option<*mut u8> {
        let found = self.allocation(address)?;
        let offset = address - found.base;
        (bytes <= found.size - offset).then(|| found.host.wrapping_add(offset as usize))
    }

    /// All live allocations by ascending address.
    pub fn allocations(&self) -> impl Iterator<Item = Allocation> {
        self.entries.iter().map(|(&base, entry)| entry.at(base))
    }

    /// The same, each with what a launch that is about to begin has touched of it: nothing.
    pub(super) fn untouched(&self) -> impl Iterator<Item = (Allocation, Arc<Touched>)> {
        let entries = self.entries.iter();
        entries.map(|(&base, entry)| (entry.at(base), entry.untouched()))
    }

    /// From now on it is kept which bytes of the allocation at `base` somebody has written: none so
    /// far.
    pub fn track_writes(&mut self, base: u64) {
        if let Some(entry) = self.entries.get_mut(&base) {
            entry.written = Some(Arc::new(Written::new(entry.size)));
        }
    }

    /// Bytes at `rows`, addresses and lengths, all in the allocation that holds `address`, are
    /// written.
    pub fn wrote(&self, address: u64, rows: impl Iterator<Item = (u64, u64)>) {
        if let Some((base, written)) = self.written_in(address) {
            rows.for_each(|(row, bytes)| written.set(row - base, bytes));
        }
    }

    /// Rows were copied, from and to such addresses, so many bytes each: what they bring is written
    /// if it was written where it comes from.
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

    fn written_in(&self, address: u64) -> Option<(u64, Arc<Written>)> {
        let base = self.allocation(address)?.base;
        Some((base, self.written(base)?))
    }

    /// Which bytes of the allocation at `base` are written, where that is kept.
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

    /// The live allocation that contains `address`, as a reader knows it.
    pub(crate) fn known(&self, address: u64) -> Option<Known> {
        let found = self.allocation(address)?;
        Some(self.entries.get(&found.base)?.known(found.base))
    }

    /// All live allocations, as a reader knows them.
    pub(crate) fn all_known(&self) -> impl Iterator<Item = Known> {
        self.entries.iter().map(|(&base, entry)| entry.known(base))
    }

    /// The allocation that contained `address` and was freed, if it is still remembered: the last
    /// one.
    pub(crate) fn freed(&self, address: u64) -> Option<Known> {
        let mut freed = self.freed.iter().rev();
        let found = freed.find(|one| address >= one.base && address - one.base < one.bytes);
        found.cloned()
    }

    /// The last allocation that begins at or before `address`, and the first one after it.
    pub(crate) fn neighbours(&self, address: u64) -> (Option<Known>, Option<Known>) {
        let below = self.entries.range(..=address).next_back();
        let above = self
            .entries
            .range(address..)
            .find(|(base, _)| **base > address);
        let known = |found: (&u64, &Entry)| found.1.known(*found.0);
        (below.map(known), above.map(known))
    }

    fn allocate_shared(&mut self, bytes: u64, kind: Kind) -> Result<u64, OutOfMemory> {
        let block = self.block(bytes)?;
        let address = block.aligned as u64;
        self.insert(address, bytes, kind, block);
        Ok(address)
    }

    fn block(&self, bytes: u64) -> Result<Block, OutOfMemory> {
        if bytes > self.free_bytes() {
            return Err(self.out_of_memory(bytes));
        }
        Block::new(bytes).ok_or_else(|| self.out_of_memory(bytes))
    }

    fn insert(&mut self, address: u64, size: u64, kind: Kind, block: Block) {
        self.used += size;
        self.made += 1;
        let entry = Entry {
            size,
            host: block.aligned,
            kind,
            block: Some(block),
            touched: Mutex::default(),
            order: self.made,
            name: None,
            written: None,
        };
        self.entries.insert(address, entry);
    }

    fn remove(&mut self, address: u64, may: impl Fn(Kind) -> bool) -> Result<(), NotAllocated> {
        match self.entries.get(&address) {
            Some(entry) if may(entry.kind) => {
                if entry.block.is_some() {
                    self.used -= entry.size;
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

impl Entry {
    fn untouched(&self) -> Arc<Touched> {
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

    fn known(&self, base: u64) -> Known {
        Known {
            base,
            bytes: self.size,
            order: self.order,
            name: self.name.clone(),
        }
    }

    fn at(&self, base: u64) -> Allocation {
        Allocation {
            base,
            size: self.size,
            host: self.host,
            kind: self.kind,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_are_aligned_zeroed_and_apart() {
        let mut global = Global::new(1 << 20);
        let first = global.allocate(100).unwrap();
        let second = global.allocate(513).unwrap();
        assert_eq!(first, BASE);
        assert_eq!(second % ALIGNMENT, 0);
        assert!(second > first + 100);
        let host = global.host(second, 513).unwrap();
        assert_eq!(host as u64 % ALIGNMENT, 0);
        for i in 0..513 {
            // SAFETY: 513 bytes from `host` belong to the second allocation.
            assert_eq!(unsafe { *host.add(i) }, 0);
        }
    }

    #[test]
    fn only_ranges_inside_one_allocation_have_a_host_pointer() {
        let mut global = Global::new(1 << 20);
        let address = global.allocate(64).unwrap();
        let host = global.host(address, 64).unwrap();
        assert_eq!(global.host(address + 60, 4), Some(host.wrapping_add(60)));
        assert_eq!(global.host(address + 60, 5), None);
        assert_eq!(global.host(address + 64, 0), None);
        assert_eq!(global.host(address - 1, 1), None);
        assert_eq!(global.host(address, u64::MAX), None);
        assert_eq!(global.host(0, 1), None);
        assert_eq!(global.allocation(address + 63).unwrap().base, address);
    }

    #[test]
    fn a_freed_address_is_gone_for_good() {
        let mut global = Global::new(1 << 20);
        let address = global.allocate(64).unwrap();
        assert_eq!(global.free(address + 1), Err(NotAllocated(address + 1)));
        global.free(address).unwrap();
        assert_eq!(global.free(address), Err(NotAllocated(address)));
        assert_eq!(global.host(address, 1), None);
        assert_ne!(global.allocate(64).unwrap(), address);
    }

    #[test]
    fn capacity_and_impossible_sizes_are_refused() {
        let mut global = Global::new(1000);
        let address = global.allocate(600).unwrap();
        assert_eq!(
            global.allocate(401),
            Err(OutOfMemory {
                requested: 401,
                free: 400
            })
        );
        global.free(address).unwrap();
        assert!(global.allocate(1000).is_ok());
        let mut endless = Global::new(u64::MAX);
        for bytes in [u64::MAX, 1 << 56, 1 << 55] {
            assert!(endless.allocate(bytes).is_err());
            assert!(endless.allocate_managed(bytes).is_err());
        }
        assert_eq!(endless.free_bytes(), u64::MAX);
    }

    #[test]
    fn each_kind_is_freed_its_own_way() {
        let mut global = Global::new(1 << 20);
        let managed = global.allocate_managed(8).unwrap();
        let pinned = global.allocate_host(8).unwrap();
        assert_eq!(global.allocation(managed).unwrap().host as u64, managed);
        assert!(managed < BASE && pinned < BASE);
        assert_eq!(global.free_host(managed), Err(NotAllocated(managed)));
        assert_eq!(global.free(pinned), Err(NotAllocated(pinned)));
        assert_eq!(global.unmap(pinned), Err(NotAllocated(pinned)));
        global.free(managed).unwrap();
        global.free_host(pinned).unwrap();
        assert_eq!(global.free_bytes(), 1 << 20);
    }

    #[test]
    fn mapped_host_memory_is_found_and_not_mapped_twice() {
        let mut global = Global::new(0);
        let mut bytes = [7u8; 32];
        let host = bytes.as_mut_ptr();
        // SAFETY: `bytes` outlives the mapping.
        unsafe { global.map(host, 32) }.unwrap();
        for offset in [0, 8, 31] {
            let inside = host.wrapping_add(offset);
            // SAFETY: refused, or else still inside `bytes`.
            let again = unsafe { global.map(inside, 1) };
            assert_eq!(again, Err(AlreadyMapped(inside as u64)));
        }
        assert_eq!(global.host(host as u64 + 8, 8), Some(host.wrapping_add(8)));
        global.unmap(host as u64).unwrap();
        assert_eq!(global.host(host as u64, 1), None);
    }

    #[test]
    fn allocations_are_listed_by_address() {
        let mut global = Global::new(1 << 20);
        let device = global.allocate(8).unwrap();
        let managed = global.allocate_managed(8).unwrap();
        let listed: Vec<u64> = global.allocations().map(|found| found.base).collect();
        assert_eq!(listed, [managed, device]);
    }
}
