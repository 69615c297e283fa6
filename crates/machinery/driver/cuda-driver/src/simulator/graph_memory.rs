//! Memory that graph nodes allocate: the address is reserved when the node is created, the memory is
//! allocated at each launch.

use std::collections::BTreeMap;
use std::sync::Mutex;

use cuda_sim::driver::{ContextId, CudaError, Driver, Memcpy, MemcpyAddress, Memset};

use super::lock;
use super::operation::{Body, Reservation};
use super::pools::PoolTable;

/// The memory of graph nodes.
pub struct GraphMemory {
    /// The reserved addresses, with the size of each reservation in bytes.
    reservations: Mutex<BTreeMap<u64, u64>>,
    /// The allocations of graph nodes, some of which may have been freed since.
    allocated: Mutex<Allocated>,
}

struct Allocated {
    /// Size in bytes, by address.
    bytes: BTreeMap<u64, u64>,
    /// The footprint, by device.
    footprints: BTreeMap<u32, Footprint>,
}

/// The physical memory that a GPU's driver would hold for graphs: whole blocks, which remain when a graph frees its memory,
/// until the program trims them. Here, freed memory is not kept; only the numbers are the same.
#[derive(Clone, Copy, Default)]
struct Footprint {
    /// The bytes of the blocks.
    reserved: u64,
    /// The peaks since they were last reset.
    used_peak: u64,
    reserved_peak: u64,
}

/// The bytes of a block, as an H200 reports them (580.159.04).
const BLOCK: u64 = 32 << 20;

/// The attributes of the graphs' memory of a device, in bytes.
#[derive(Clone, Copy)]
pub enum GraphMemoryAttribute {
    Used,
    UsedPeak,
    Reserved,
    ReservedPeak,
}

impl Allocated {
    /// Returns the bytes of the blocks in which memory of a device is allocated. Skips memory that was freed since: any free
    /// function may have done so.
    fn live_blocks(&mut self, driver: &Driver, device: u32) -> u64 {
        self.bytes
            .retain(|&address, _| driver.owner(address).is_some());
        let of_device = self.bytes.iter().filter(|(address, _)| {
            let allocation = driver.allocation(**address);
            allocation.is_ok_and(|allocation| allocation.owner == device)
        });
        let bytes: u64 = of_device.map(|(_, bytes)| bytes).sum();
        bytes.next_multiple_of(BLOCK)
    }

    /// Returns the bytes of the blocks in use: all that are reserved while an executable graph may use them again, or else
    /// those in which memory is allocated.
    fn used(&mut self, driver: &Driver, device: u32, has_graphs: bool) -> u64 {
        match has_graphs {
            true => self.footprint(device).reserved,
            false => self.live_blocks(driver, device),
        }
    }

    fn footprint(&mut self, device: u32) -> &mut Footprint {
        self.footprints.entry(device).or_default()
    }
}

impl GraphMemory {
    pub const fn new() -> Self {
        Self {
            reservations: Mutex::new(BTreeMap::new()),
            allocated: Mutex::new(Allocated {
                bytes: BTreeMap::new(),
                footprints: BTreeMap::new(),
            }),
        }
    }

    /// Reserves an address for a node that allocates `bytes` bytes.
    pub fn reserve(
        &self,
        driver: &mut Driver,
        context: ContextId,
        bytes: u64,
    ) -> Result<Reservation, CudaError> {
        let address = driver.reserve(context, bytes)?;
        lock(&self.reservations).insert(address, bytes);
        Ok(Reservation { address, bytes })
    }

    /// Returns true if an address lies in the reservation of a graph node.
    pub fn is_reserved(&self, address: u64) -> bool {
        let reservations = lock(&self.reservations);
        let candidate = reservations.range(..=address).next_back();
        candidate.is_some_and(|(start, bytes)| address - start < *bytes)
    }

    /// Checks the copy of a new node. Skips the address check for memory of allocation nodes, which may not exist
    /// yet.
    pub fn check_memcpy(
        &self,
        driver: &Driver,
        context: ContextId,
        copy: &Memcpy,
    ) -> Result<(), CudaError> {
        let sides = [copy.dst.array, copy.src.array];
        let is_unallocated = sides.iter().any(|side| match side {
            MemcpyAddress::Device(address) | MemcpyAddress::Unified(address) => {
                self.is_reserved(*address)
            }
            MemcpyAddress::Host(address) => self.is_reserved(*address as u64),
            MemcpyAddress::Array(_) => false,
        });
        match is_unallocated {
            true => driver.memory_info(context).map(|_| ()),
            false => driver.check_memcpy(context, copy),
        }
    }

    /// Checks the fill of a new node, as [`GraphMemory::check_memcpy`] does for copies.
    pub fn check_memset(
        &self,
        driver: &Driver,
        context: ContextId,
        memset: &Memset,
    ) -> Result<(), CudaError> {
        match self.is_reserved(memset.address) {
            true => driver.memory_info(context).map(|_| ()),
            false => driver.check_memset(context, memset),
        }
    }

    /// Executes an allocation node.
    pub fn allocate(
        &self,
        driver: &mut Driver,
        context: ContextId,
        reservation: &Reservation,
    ) -> Result<(), CudaError> {
        driver.allocate_reserved(context, reservation.address, reservation.bytes)?;
        let mut allocated = lock(&self.allocated);
        allocated
            .bytes
            .insert(reservation.address, reservation.bytes);
        let device = driver.context_device(context)?;
        let live = allocated.live_blocks(driver, device);
        let footprint = allocated.footprint(device);
        footprint.reserved = footprint.reserved.max(live);
        footprint.reserved_peak = footprint.reserved_peak.max(footprint.reserved);
        // The executable graph that allocates uses all blocks.
        footprint.used_peak = footprint.used_peak.max(footprint.reserved);
        Ok(())
    }

    /// Returns an attribute of a device. `has_graphs` is true if there are executable graphs that allocate memory.
    pub fn attribute(
        &self,
        driver: &Driver,
        device: u32,
        attribute: GraphMemoryAttribute,
        has_graphs: bool,
    ) -> u64 {
        let mut allocated = lock(&self.allocated);
        match attribute {
            GraphMemoryAttribute::Used => allocated.used(driver, device, has_graphs),
            GraphMemoryAttribute::UsedPeak => allocated.footprint(device).used_peak,
            GraphMemoryAttribute::Reserved => allocated.footprint(device).reserved,
            GraphMemoryAttribute::ReservedPeak => allocated.footprint(device).reserved_peak,
        }
    }

    /// Resets the peak of the used or the reserved bytes of a device to the present number. Returns false for another
    /// attribute.
    pub fn reset_peak(
        &self,
        driver: &Driver,
        device: u32,
        attribute: GraphMemoryAttribute,
        has_graphs: bool,
    ) -> bool {
        let mut allocated = lock(&self.allocated);
        let used = allocated.used(driver, device, has_graphs);
        let footprint = allocated.footprint(device);
        match attribute {
            GraphMemoryAttribute::UsedPeak => footprint.used_peak = used,
            GraphMemoryAttribute::ReservedPeak => footprint.reserved_peak = footprint.reserved,
            _ => return false,
        }
        true
    }

    /// Gives back the blocks of a device in which no memory is allocated.
    pub fn trim(&self, driver: &Driver, device: u32) {
        let mut allocated = lock(&self.allocated);
        let live = allocated.live_blocks(driver, device);
        let footprint = allocated.footprint(device);
        footprint.reserved = footprint.reserved.min(live);
    }
}

/// Prepares the memory that a launch of a graph allocates. If memory of the previous launch is still allocated, frees it
/// if `free` is true; otherwise returns [`CudaError::InvalidValue`].
pub fn make_room(
    driver: &mut Driver,
    pools: &PoolTable,
    context: ContextId,
    body: &Body,
    free: bool,
) -> Result<(), CudaError> {
    for reservation in body.allocations() {
        if driver.owner(reservation.address).is_none() {
            continue;
        }
        if !free {
            return Err(CudaError::InvalidValue);
        }
        driver.free(context, reservation.address)?;
        pools.record_free(reservation.address);
    }
    let mut children = body.children();
    children.try_for_each(|child| make_room(driver, pools, context, child, free))
}
