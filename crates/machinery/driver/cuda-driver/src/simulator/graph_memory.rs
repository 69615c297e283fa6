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
    /// Peak of the used bytes, by device.
    peak: BTreeMap<u32, u64>,
}

impl Allocated {
    /// Returns the bytes in use on a device. Skips memory that was freed since: any free function may have
    /// done so.
    fn used(&mut self, driver: &Driver, device: u32) -> u64 {
        self.bytes
            .retain(|&address, _| driver.owner(address).is_some());
        let of_device = self.bytes.iter().filter(|(address, _)| {
            let allocation = driver.allocation(**address);
            allocation.is_ok_and(|allocation| allocation.owner == device)
        });
        of_device.map(|(_, bytes)| bytes).sum()
    }
}

impl GraphMemory {
    pub const fn new() -> Self {
        Self {
            reservations: Mutex::new(BTreeMap::new()),
            allocated: Mutex::new(Allocated {
                bytes: BTreeMap::new(),
                peak: BTreeMap::new(),
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
        let used = allocated.used(driver, device);
        let peak = allocated.peak.entry(device).or_default();
        *peak = used.max(*peak);
        Ok(())
    }

    /// Returns the bytes in use on a device.
    pub fn used(&self, driver: &Driver, device: u32) -> u64 {
        lock(&self.allocated).used(driver, device)
    }

    /// Returns the peak of the bytes in use on a device since it was last reset.
    pub fn peak(&self, device: u32) -> u64 {
        let allocated = lock(&self.allocated);
        allocated.peak.get(&device).copied().unwrap_or(0)
    }

    /// Resets the peak to the bytes in use.
    pub fn reset_peak(&self, driver: &Driver, device: u32) {
        let mut allocated = lock(&self.allocated);
        let used = allocated.used(driver, device);
        allocated.peak.insert(device, used);
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
