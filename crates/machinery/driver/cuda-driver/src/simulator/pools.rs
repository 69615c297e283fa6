//! Memory for stream-ordered allocation. An allocation from a pool is usable as soon as the call returns, and its
//! memory is released when the stream reaches the free; so a pool consists only of its settings and its
//! statistics. For an allocation by a graph node, the address is reserved when the node is created, and the memory is
//! allocated at each launch.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use cuda_sim::driver::{ContextId, CudaError, Driver, Memcpy, MemcpyAddress, Memset};
use cuda_sim::memory::global::{Devices, MAX_DEVICES};

use super::lock;
use super::operation::{Body, Reservation};

/// The default pool of device 0; those of the other devices have the following numbers.
const DEFAULT: u64 = 1;
/// The last number of a default pool.
const LAST_DEFAULT: u64 = DEFAULT + MAX_DEVICES as u64 - 1;

/// The memory pools of all devices.
pub struct PoolTable {
    /// True once memory has been allocated from a pool: programs without pools skip the lookups.
    any_used: AtomicBool,
    pools: Mutex<Pools>,
}

impl PoolTable {
    pub const fn new() -> Self {
        Self {
            any_used: AtomicBool::new(false),
            pools: Mutex::new(Pools {
                last: LAST_DEFAULT,
                current: BTreeMap::new(),
                pools: BTreeMap::new(),
                allocations: BTreeMap::new(),
            }),
        }
    }

    /// Creates the default pools.
    pub fn start(&self, devices: u32) {
        let defaults = (0..devices).map(|device| (default_pool(device), Pool::new(device)));
        self.lock().pools.extend(defaults);
    }

    pub fn lock(&self) -> MutexGuard<'_, Pools> {
        lock(&self.pools)
    }

    /// Records an allocation from a pool.
    pub fn record_allocation(&self, from: u64, address: u64, bytes: u64) {
        self.any_used.store(true, Ordering::Relaxed);
        let mut pools = self.lock();
        // An earlier allocation at this address was freed with its context.
        pools.remove_allocation(address);
        pools.allocations.insert(address, (from, bytes));
        if let Ok(pool) = pools.pool(from) {
            pool.used += bytes;
            pool.peak_used = pool.peak_used.max(pool.used);
            pool.peak_reserved = pool.peak_reserved.max(pool.reserved());
        }
    }

    /// Records a free of memory that may belong to a pool.
    pub fn record_free(&self, address: u64) {
        if self.any_used.load(Ordering::Relaxed) {
            self.lock().remove_allocation(address);
        }
    }
}

/// The locked pools.
pub struct Pools {
    /// The last number assigned to a pool.
    last: u64,
    /// Each device's current pool, if it is not the default pool.
    current: BTreeMap<u32, u64>,
    pools: BTreeMap<u64, Pool>,
    /// The pool and the size of each allocation, by address.
    allocations: BTreeMap<u64, (u64, u64)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Pool {
    /// The device of the memory, and a bit mask of the devices that can access it.
    pub device: u32,
    pub accessible_by: Devices,
    pub reuse: [c_int; 3],
    pub threshold: u64,
    pub used: u64,
    pub peak_used: u64,
    /// Peak of the reserved bytes since the program last reset it.
    pub peak_reserved: u64,
}

impl Pool {
    fn new(device: u32) -> Self {
        Self {
            device,
            accessible_by: 1 << device,
            reuse: [1; 3],
            threshold: 0,
            used: 0,
            peak_used: 0,
            peak_reserved: 0,
        }
    }
}

impl Pool {
    /// Returns the bytes that the pool has reserved on its device: the driver of an H200 reserves blocks of 32 MiB.
    pub fn reserved(&self) -> u64 {
        const BLOCK: u64 = 32 << 20;
        self.used.next_multiple_of(BLOCK)
    }
}

impl Pools {
    /// Returns a pool, or [`CudaError::InvalidValue`].
    pub fn pool(&mut self, pool: u64) -> Result<&mut Pool, CudaError> {
        self.pools.get_mut(&pool).ok_or(CudaError::InvalidValue)
    }

    /// Creates a pool. Returns its number.
    pub fn create(&mut self, device: u32) -> u64 {
        self.last += 1;
        self.pools.insert(self.last, Pool::new(device));
        self.last
    }

    /// Destroys a pool; its allocations stay valid. A default pool cannot be destroyed.
    pub fn destroy(&mut self, pool: u64) -> Result<(), CudaError> {
        if pool <= LAST_DEFAULT {
            return Err(CudaError::InvalidValue);
        }
        self.pools.remove(&pool).ok_or(CudaError::InvalidValue)?;
        self.current.retain(|_, current| *current != pool);
        Ok(())
    }

    /// Returns a device's current pool.
    pub fn current(&self, device: u32) -> u64 {
        let current = self.current.get(&device).copied();
        current.unwrap_or(default_pool(device))
    }

    /// Sets a device's current pool, which must be on the device.
    pub fn set_current(&mut self, device: u32, pool: u64) -> Result<(), CudaError> {
        if self.pool(pool)?.device != device {
            return Err(CudaError::InvalidValue);
        }
        self.current.insert(device, pool);
        Ok(())
    }

    /// Returns the pool of the allocation at an address; 0 if it is not from a pool.
    pub fn pool_of(&self, address: u64) -> u64 {
        let allocation = self.allocations.get(&address);
        allocation.map_or(0, |(pool, _)| *pool)
    }

    /// Returns the addresses of a pool's allocations.
    pub fn allocations(&self, pool: u64) -> impl Iterator<Item = u64> {
        let allocations = self.allocations.iter();
        let of_pool = allocations.filter(move |(_, (owner, _))| *owner == pool);
        of_pool.map(|(address, _)| *address)
    }

    fn remove_allocation(&mut self, address: u64) {
        if let Some((pool, bytes)) = self.allocations.remove(&address)
            && let Ok(pool) = self.pool(pool)
        {
            pool.used -= bytes;
        }
    }
}

/// Returns the number of a device's default pool.
pub fn default_pool(device: u32) -> u64 {
    DEFAULT + u64::from(device)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_follow_allocations_and_frees() {
        let table = PoolTable::new();
        table.start(2);
        let pool = table.lock().create(1);
        table.record_allocation(pool, 0x1000, 100);
        table.record_allocation(pool, 0x2000, 50);
        table.record_free(0x1000);
        table.record_free(0x3000);
        // The context of the first allocation at this address was destroyed.
        table.record_allocation(pool, 0x2000, 60);
        let mut pools = table.lock();
        let statistics = pools.pool(pool).unwrap();
        assert_eq!((statistics.used, statistics.peak_used), (60, 150));
        assert_eq!((pools.pool_of(0x2000), pools.pool_of(0x1000)), (pool, 0));
        assert_eq!(pools.allocations(pool).collect::<Vec<_>>(), [0x2000]);
    }

    #[test]
    fn devices_have_a_current_pool() {
        let table = PoolTable::new();
        table.start(2);
        let mut pools = table.lock();
        let pool = pools.create(1);
        assert_eq!(pools.set_current(0, pool), Err(CudaError::InvalidValue));
        assert_eq!(pools.set_current(1, pool), Ok(()));
        assert_eq!(
            (pools.current(0), pools.current(1)),
            (default_pool(0), pool)
        );
        assert_eq!(pools.destroy(pool), Ok(()));
        assert_eq!(pools.current(1), default_pool(1));
        for missing in [pool, default_pool(1), default_pool(2)] {
            assert_eq!(pools.destroy(missing), Err(CudaError::InvalidValue));
        }
    }
}
