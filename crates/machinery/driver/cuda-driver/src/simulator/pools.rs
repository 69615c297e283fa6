//! Memory pools for stream-ordered allocation. An allocation is usable as soon as the call returns, and its
//! memory is released when the stream reaches the free; so a pool consists only of its settings and its
//! statistics.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use cuda_sim::driver::CudaError;
use cuda_sim::memory::global::{Devices, MAX_DEVICES};

use super::lock;

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
