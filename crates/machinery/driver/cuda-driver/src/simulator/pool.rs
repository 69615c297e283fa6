//! Memory pools for stream-ordered allocation. An allocation is usable as soon as the call returns, and its
//! memory is released when the stream reaches the free; so a pool consists only of its settings and its
//! statistics.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use cuda_sim::driver::CudaError;
use cuda_sim::memory::global::{Devices, MAX_DEVICES};
use cust_raw::{CUdevice, CUmemPoolProps, CUmemoryPool};

use super::arguments::{In, Out, handle, number, required};
use super::device::{self, check_device};
use super::queue::{self, WaitTarget};
use super::{SIMULATOR, lock_driver_drained, lock_mutex};
use crate::status::CallResult;
use crate::types;

/// The default pool of device 0; those of the other devices have the following numbers.
const DEFAULT: u64 = 1;
/// The last number of a default pool.
const LAST_DEFAULT: u64 = DEFAULT + MAX_DEVICES as u64 - 1;

/// Values of `CUmemPool_attribute`: three reuse policies, the release threshold, and the reserved and used
/// bytes, current and peak.
const REUSE: std::ops::RangeInclusive<c_int> = 1..=3;
const THRESHOLD: c_int = 4;
const RESERVED_CURRENT: c_int = 5;
const RESERVED_HIGH: c_int = 6;
const USED_CURRENT: c_int = 7;
const USED_HIGH: c_int = 8;

/// `CU_MEM_ALLOCATION_TYPE_PINNED` and `CU_MEM_LOCATION_TYPE_DEVICE`: the only kind of pool memory.
const PINNED: c_int = 1;
const DEVICE: c_int = 1;

/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`, the access of a device to its own pools, and `_NONE`.
const READ_AND_WRITE: c_int = 3;
const NOTHING: c_int = 0;

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
}

struct Pools {
    /// The last number assigned to a pool.
    last: u64,
    /// Each device's current pool, if it is not the default pool.
    current: BTreeMap<u32, u64>,
    pools: BTreeMap<u64, Pool>,
    /// The pool and the size of each allocation, by address.
    allocations: BTreeMap<u64, (u64, u64)>,
}

#[derive(Clone)]
struct Pool {
    /// The device of the memory, and a bit mask of the devices that can access it.
    device: u32,
    accessible_by: Devices,
    reuse: [c_int; 3],
    threshold: u64,
    used: u64,
    peak_used: u64,
    /// Peak of the reserved bytes since the program last reset it.
    peak_reserved: u64,
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

/// Locks all pools; creates the default pools at first use.
fn pools() -> MutexGuard<'static, Pools> {
    let mut pools = lock_mutex(&SIMULATOR.pools.pools);
    if pools.pools.is_empty() {
        let all = device::all().map(|device| (default_of(device as u32), Pool::new(device as u32)));
        pools.pools.extend(all);
    }
    pools
}

impl Pools {
    /// Returns the pool of a handle.
    fn pool(&mut self, pool: CUmemoryPool) -> Result<&mut Pool, CudaError> {
        let entry = self.pools.get_mut(&number(pool));
        entry.ok_or(CudaError::InvalidValue)
    }
}

/// Returns the number of a device's default pool.
fn default_of(device: u32) -> u64 {
    DEFAULT + u64::from(device)
}

/// Returns the number of the pool of a handle, after a check that it exists.
pub fn validate(pool: CUmemoryPool) -> Result<u64, CudaError> {
    pools().pool(pool)?;
    Ok(number(pool))
}

/// Returns a device's current pool.
pub fn current_pool(device: u32) -> u64 {
    let current = pools().current.get(&device).copied();
    current.unwrap_or(default_of(device))
}

/// Returns the device of a pool's memory, and a bit mask of the devices that can access it.
pub fn accessibility(pool: u64) -> Result<(u32, Devices), CudaError> {
    let pools = pools();
    let entry = pools.pools.get(&pool).ok_or(CudaError::InvalidValue)?;
    Ok((entry.device, entry.accessible_by))
}

/// Returns the pool of the allocation at an address; 0 if it is not from a pool.
pub fn pool_of(address: u64) -> u64 {
    let pools = pools();
    pools.allocations.get(&address).map_or(0, |(pool, _)| *pool)
}

/// Records an allocation from a pool.
pub fn record_allocation(from: u64, address: u64, bytes: u64) {
    SIMULATOR.pools.any_used.store(true, Ordering::Relaxed);
    let mut pools = pools();
    // An earlier allocation at this address was freed with its context.
    remove_allocation(&mut pools, address);
    pools.allocations.insert(address, (from, bytes));
    if let Some(pool) = pools.pools.get_mut(&from) {
        pool.used += bytes;
        pool.peak_used = pool.peak_used.max(pool.used);
        pool.peak_reserved = pool.peak_reserved.max(pool.used);
    }
}

/// Records a free of memory that may belong to a pool.
pub fn record_free(address: u64) {
    if SIMULATOR.pools.any_used.load(Ordering::Relaxed) {
        remove_allocation(&mut pools(), address);
    }
}

fn remove_allocation(pools: &mut Pools, address: u64) {
    if let Some((pool, bytes)) = pools.allocations.remove(&address)
        && let Some(pool) = pools.pools.get_mut(&pool)
    {
        pool.used -= bytes;
    }
}

/// `cuDeviceGetDefaultMemPool`.
pub fn default(out: Option<Out<CUmemoryPool>>, device: CUdevice) -> CallResult {
    let device = check_device(device)?;
    required(out)?.set(handle(default_of(device)));
    Ok(())
}

/// `cuDeviceGetMemPool`.
pub fn get(out: Option<Out<CUmemoryPool>>, device: CUdevice) -> CallResult {
    let device = check_device(device)?;
    required(out)?.set(handle(current_pool(device)));
    Ok(())
}

/// `cuDeviceSetMemPool`: the pool must be on the device.
pub fn set(device: CUdevice, pool: CUmemoryPool) -> CallResult {
    let device = check_device(device)?;
    let mut pools = pools();
    if pools.pool(pool)?.device != device {
        return Err(CudaError::InvalidValue.into());
    }
    pools.current.insert(device, number(pool));
    Ok(())
}

/// `cuMemGetDefaultMemPool` of CUDA 13: the default pool of a location.
pub fn default_at(
    out: Option<Out<CUmemoryPool>>,
    location: In<types::CUmemLocation>,
    kind: c_int,
) -> CallResult {
    default(out, device_at(location, kind)?)
}

/// `cuMemGetMemPool` of CUDA 13: the current pool of a location.
pub fn get_at(
    out: Option<Out<CUmemoryPool>>,
    location: In<types::CUmemLocation>,
    kind: c_int,
) -> CallResult {
    get(out, device_at(location, kind)?)
}

/// `cuMemSetMemPool`.
pub fn set_at(location: In<types::CUmemLocation>, kind: c_int, pool: CUmemoryPool) -> CallResult {
    set(device_at(location, kind)?, pool)
}

/// Returns the device at a location. Returns [`CudaError::NotSupported`] for other memory than pinned device
/// memory: only that has pools.
fn device_at(location: In<types::CUmemLocation>, kind: c_int) -> Result<CUdevice, CudaError> {
    let location = location.read();
    if kind != PINNED || location.kind != DEVICE {
        return Err(CudaError::NotSupported);
    }
    Ok(location.id)
}

/// `cuMemPoolCreate`.
pub fn create(out: Out<CUmemoryPool>, properties: In<CUmemPoolProps>) -> CallResult {
    let properties = properties.as_ptr();
    // SAFETY: the structure is readable; enums are read as integers, because they may hold any value.
    let (kind, shared, location_kind, device) = unsafe {
        (
            (&raw const (*properties).allocType).cast::<c_int>().read(),
            (&raw const (*properties).handleTypes)
                .cast::<c_int>()
                .read(),
            (&raw const (*properties).location.type_)
                .cast::<c_int>()
                .read(),
            (*properties).location.id,
        )
    };
    if kind != PINNED || location_kind != DEVICE {
        return Err(CudaError::InvalidValue.into());
    }
    let device = check_device(device)?;
    if shared != 0 {
        // The simulator shares no memory with other processes.
        return Err(CudaError::NotSupported.into());
    }
    let mut pools = pools();
    pools.last += 1;
    let created = pools.last;
    pools.pools.insert(created, Pool::new(device));
    out.set(handle(created));
    Ok(())
}

/// `cuMemPoolDestroy`: allocations stay valid. A default pool cannot be destroyed.
pub fn destroy(pool: CUmemoryPool) -> CallResult {
    let pool = validate(pool)?;
    if pool <= LAST_DEFAULT {
        return Err(CudaError::InvalidValue.into());
    }
    let mut pools = pools();
    pools.pools.remove(&pool);
    pools.current.retain(|_, current| *current != pool);
    Ok(())
}

/// `cuMemPoolTrimTo`: a no-op, because pools do not cache freed memory.
pub fn trim(pool: CUmemoryPool, _keep: usize) -> CallResult {
    validate(pool)?;
    Ok(())
}

/// `cuMemPoolSetAttribute`.
pub fn set_attribute(pool: CUmemoryPool, attribute: c_int, value: In<c_void>) -> CallResult {
    let mut pools = pools();
    let pool = pools.pool(pool)?;
    // SAFETY: all attributes that call this are 64-bit numbers.
    let number = || unsafe { value.read_as::<u64>() };
    match attribute {
        _ if REUSE.contains(&attribute) => {
            // SAFETY: the reuse policies are of type `int`.
            pool.reuse[attribute as usize - 1] = unsafe { value.read_as() };
        }
        THRESHOLD => pool.threshold = number(),
        // A peak can only be reset, to the current value.
        RESERVED_HIGH if number() == 0 => pool.peak_reserved = pool.used,
        USED_HIGH if number() == 0 => pool.peak_used = pool.used,
        _ => return Err(CudaError::InvalidValue.into()),
    }
    Ok(())
}

/// `cuMemPoolGetAttribute`.
pub fn attribute(pool: CUmemoryPool, attribute: c_int, value: Option<Out<c_void>>) -> CallResult {
    queue::wait(WaitTarget::All);
    let mut pools = pools();
    let pool = pools.pool(pool)?;
    let value = required(value)?;
    let number = match attribute {
        _ if REUSE.contains(&attribute) => {
            // SAFETY: the reuse policies are of type `int`.
            unsafe { value.set_as(pool.reuse[attribute as usize - 1]) };
            return Ok(());
        }
        THRESHOLD => pool.threshold,
        RESERVED_CURRENT | USED_CURRENT => pool.used,
        RESERVED_HIGH => pool.peak_reserved,
        USED_HIGH => pool.peak_used,
        _ => return Err(CudaError::InvalidValue.into()),
    };
    // SAFETY: all other attributes are 64-bit numbers.
    unsafe { value.set_as(number) };
    Ok(())
}

/// `cuMemPoolSetAccess`: a device can always access its own pools. Existing allocations of the pool change too.
pub fn set_access(
    pool: CUmemoryPool,
    descriptors: Option<In<types::CUmemAccessDesc>>,
    count: usize,
) -> CallResult {
    let driver = lock_driver_drained()?;
    let mut pools = pools();
    let (home, mut accessible_by) = (pools.pool(pool)?.device, pools.pool(pool)?.accessible_by);
    let descriptors = match count {
        0 => Vec::new(),
        // SAFETY: `descriptors` has `count` elements, as `cuMemPoolSetAccess` requires of its caller.
        _ => unsafe { required(descriptors)?.read_all(count) },
    };
    for types::CUmemAccessDesc { location, flags } in descriptors {
        let device = check_device(location.id)?;
        match flags {
            _ if location.kind != DEVICE => return Err(CudaError::InvalidValue.into()),
            READ_AND_WRITE if device == home || driver.can_access_peer(device, home)? => {
                accessible_by |= 1 << device;
            }
            READ_AND_WRITE => return Err(CudaError::InvalidDevice.into()),
            NOTHING if device != home => accessible_by &= !(1 << device),
            _ => return Err(CudaError::InvalidValue.into()),
        }
    }
    pools.pool(pool)?.accessible_by = accessible_by;
    let of_pool = pools.allocations.iter();
    let of_pool = of_pool.filter(|(_, (owner, _))| *owner == number(pool));
    let mut driver = driver;
    for (&address, _) in of_pool {
        driver.set_accessible_from(address, accessible_by);
    }
    Ok(())
}

/// `cuMemPoolGetAccess`.
pub fn access(
    out: Option<Out<c_int>>,
    pool: CUmemoryPool,
    location: In<types::CUmemLocation>,
) -> CallResult {
    let (_, accessible_by) = accessibility(number(pool))?;
    let device = check_device(location.read().id)?;
    let flags = match accessible_by & (1 << device) {
        0 => NOTHING,
        _ => READ_AND_WRITE,
    };
    required(out)?.set(flags);
    Ok(())
}
