//! Memory pools for stream-ordered allocation. An allocation is usable as soon as the call returns, and its
//! memory is
//! released when the stream reaches the free; so a pool consists only of its settings and its statistics.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use cuda_sim::driver::CudaError;
use cuda_sim::memory::global::{Devices, MAX_DEVICES};
use cust_raw::{CUdevice, CUmemAccessDesc, CUmemLocation, CUmemPoolProps, CUmemoryPool};

use super::device::{self, check_device};
use super::queue::{self, Awaited};
use super::raw::{Out, handle, number};
use super::{driver, lock};
use crate::status::Answer;
use crate::types;

/// The default pool of device 0; those of the other devices have the following numbers.
const DEFAULT: u64 = 1;
/// The last number of a default pool.
const LAST_DEFAULT: u64 = DEFAULT + MAX_DEVICES as u64 - 1;

/// Values of `CUmemPool_attribute`: three reuse policies, the release threshold, and the reserved and used
/// bytes, current
/// and peak.
const REUSE: std::ops::RangeInclusive<c_int> = 1..=3;
const THRESHOLD: c_int = 4;
const RESERVED_NOW: c_int = 5;
const RESERVED_MOST: c_int = 6;
const USED_NOW: c_int = 7;
const USED_MOST: c_int = 8;

/// `CU_MEM_ALLOCATION_TYPE_PINNED` and `CU_MEM_LOCATION_TYPE_DEVICE`: the only kind of pool memory.
const PINNED: c_int = 1;
const DEVICE: c_int = 1;

/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`, the access of a device to its own pools, and `_NONE`.
const READ_AND_WRITE: c_int = 3;
const NOTHING: c_int = 0;

/// True once memory has been allocated from a pool: programs without pools skip the lookups.
static USED: AtomicBool = AtomicBool::new(false);

static POOLS: Mutex<Pools> = Mutex::new(Pools {
    made: LAST_DEFAULT,
    current: BTreeMap::new(),
    pools: BTreeMap::new(),
    allocations: BTreeMap::new(),
});

struct Pools {
    /// The last number assigned to a pool.
    made: u64,
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
    reached_by: Devices,
    reuse: [c_int; 3],
    threshold: u64,
    used: u64,
    most: u64,
    /// Peak of the reserved bytes since the program last reset it.
    most_reserved: u64,
}

impl Pool {
    fn new(device: u32) -> Self {
        Self {
            device,
            reached_by: 1 << device,
            reuse: [1; 3],
            threshold: 0,
            used: 0,
            most: 0,
            most_reserved: 0,
        }
    }
}

/// Locks all pools; creates the default pools at first use.
fn pools() -> MutexGuard<'static, Pools> {
    let mut pools = lock(&POOLS);
    if pools.pools.is_empty() {
        let all = device::all().map(|device| (default_of(device as u32), Pool::new(device as u32)));
        pools.pools.extend(all);
    }
    pools
}

impl Pools {
    /// Returns the pool of a handle.
    fn pool(&mut self, pool: CUmemoryPool) -> Result<&mut Pool, CudaError> {
        let found = self.pools.get_mut(&number(pool));
        found.ok_or(CudaError::InvalidValue)
    }
}

/// Returns the number of a device's default pool.
fn default_of(device: u32) -> u64 {
    DEFAULT + u64::from(device)
}

/// Returns the number of the pool of a handle, after a check that it exists.
pub fn known(pool: CUmemoryPool) -> Result<u64, CudaError> {
    pools().pool(pool)?;
    Ok(number(pool))
}

/// Returns a device's current pool.
pub fn current(device: u32) -> u64 {
    let own = pools().current.get(&device).copied();
    own.unwrap_or(default_of(device))
}

/// Returns the device of a pool's memory, and a bit mask of the devices that can access it.
pub fn reach(pool: u64) -> Result<(u32, Devices), CudaError> {
    let pools = pools();
    let found = pools.pools.get(&pool).ok_or(CudaError::InvalidValue)?;
    Ok((found.device, found.reached_by))
}

/// Returns the pool of the allocation at an address; 0 if it is not from a pool.
pub fn of(address: u64) -> u64 {
    let pools = pools();
    pools.allocations.get(&address).map_or(0, |found| found.0)
}

/// Records an allocation from a pool.
pub fn allocated(from: u64, address: u64, bytes: u64) {
    USED.store(true, Ordering::Relaxed);
    let mut pools = pools();
    // An earlier allocation at this address was freed with its context.
    forget(&mut pools, address);
    pools.allocations.insert(address, (from, bytes));
    if let Some(pool) = pools.pools.get_mut(&from) {
        pool.used += bytes;
        pool.most = pool.most.max(pool.used);
        pool.most_reserved = pool.most_reserved.max(pool.used);
    }
}

/// Records a free of memory that may belong to a pool.
pub fn freed(address: u64) {
    if USED.load(Ordering::Relaxed) {
        forget(&mut pools(), address);
    }
}

fn forget(pools: &mut Pools, address: u64) {
    if let Some((pool, bytes)) = pools.allocations.remove(&address)
        && let Some(pool) = pools.pools.get_mut(&pool)
    {
        pool.used -= bytes;
    }
}

/// `cuDeviceGetDefaultMemPool`.
pub unsafe fn default(to: *mut CUmemoryPool, device: CUdevice) -> Answer {
    let device = check_device(device)?;
    // SAFETY: `to` is null or writable, as `cuDeviceGetDefaultMemPool` requires of its caller.
    unsafe { Out::new(to) }?.set(handle(default_of(device)));
    Ok(())
}

/// `cuDeviceGetMemPool`.
pub unsafe fn get(to: *mut CUmemoryPool, device: CUdevice) -> Answer {
    let device = check_device(device)?;
    // SAFETY: `to` is null or writable, as `cuDeviceGetMemPool` requires of its caller.
    unsafe { Out::new(to) }?.set(handle(current(device)));
    Ok(())
}

/// `cuDeviceSetMemPool`: the pool must be on the device.
pub unsafe fn set(device: CUdevice, pool: CUmemoryPool) -> Answer {
    let device = check_device(device)?;
    let mut pools = pools();
    if pools.pool(pool)?.device != device {
        return Err(CudaError::InvalidValue.into());
    }
    pools.current.insert(device, number(pool));
    Ok(())
}

/// `cuMemGetDefaultMemPool` of CUDA 13: the default pool of a location.
pub unsafe fn default_at(
    to: *mut CUmemoryPool,
    location: *const types::CUmemLocation,
    kind: c_int,
) -> Answer {
    // SAFETY: `to` is null or writable and `location` null or readable, as `cuMemGetDefaultMemPool` requires.
    unsafe { default(to, device_at(location, kind)?) }
}

/// `cuMemGetMemPool` of CUDA 13: the current pool of a location.
pub unsafe fn get_at(
    to: *mut CUmemoryPool,
    location: *const types::CUmemLocation,
    kind: c_int,
) -> Answer {
    // SAFETY: `to` is null or writable and `location` null or readable, as `cuMemGetMemPool` requires of its
    // caller.
    unsafe { get(to, device_at(location, kind)?) }
}

/// `cuMemSetMemPool`.
pub unsafe fn set_at(
    location: *const types::CUmemLocation,
    kind: c_int,
    pool: CUmemoryPool,
) -> Answer {
    // SAFETY: `location` is null or readable, as `cuMemSetMemPool` requires of its caller.
    unsafe { set(device_at(location, kind)?, pool) }
}

/// Returns the device at a location. Returns [`CudaError::NotSupported`] for other memory than pinned device
/// memory: only
/// that has pools.
///
/// # Safety
/// `location` must be null or readable.
unsafe fn device_at(
    location: *const types::CUmemLocation,
    kind: c_int,
) -> Result<CUdevice, CudaError> {
    // SAFETY: `location` is null or readable, by this function's contract.
    let location = unsafe { location.as_ref() }.ok_or(CudaError::InvalidValue)?;
    if kind != PINNED || location.kind != DEVICE {
        return Err(CudaError::NotSupported);
    }
    Ok(location.id)
}

/// `cuMemPoolCreate`.
pub unsafe fn create(to: *mut CUmemoryPool, how: *const CUmemPoolProps) -> Answer {
    // SAFETY: `to` is null or writable, as `cuMemPoolCreate` requires of its caller.
    let to = unsafe { Out::new(to) }?;
    if how.is_null() {
        return Err(CudaError::InvalidValue.into());
    }
    // SAFETY: `properties` is not null, so it is readable as `cuMemPoolCreate` requires; enums are read as
    // integers.
    let (kind, shared, place, device) = unsafe {
        (
            (&raw const (*how).allocType).cast::<c_int>().read(),
            (&raw const (*how).handleTypes).cast::<c_int>().read(),
            (&raw const (*how).location.type_).cast::<c_int>().read(),
            (*how).location.id,
        )
    };
    if kind != PINNED || place != DEVICE {
        return Err(CudaError::InvalidValue.into());
    }
    let device = check_device(device)?;
    if shared != 0 {
        // The simulator shares no memory with other processes.
        return Err(CudaError::NotSupported.into());
    }
    let mut pools = pools();
    pools.made += 1;
    let made = pools.made;
    pools.pools.insert(made, Pool::new(device));
    to.set(handle(made));
    Ok(())
}

/// `cuMemPoolDestroy`: allocations stay valid. A default pool cannot be destroyed.
pub unsafe fn destroy(pool: CUmemoryPool) -> Answer {
    let pool = known(pool)?;
    if pool <= LAST_DEFAULT {
        return Err(CudaError::InvalidValue.into());
    }
    let mut pools = pools();
    pools.pools.remove(&pool);
    pools.current.retain(|_, current| *current != pool);
    Ok(())
}

/// `cuMemPoolTrimTo`: a no-op, because pools do not cache freed memory.
pub unsafe fn trim(pool: CUmemoryPool, _keep: usize) -> Answer {
    known(pool)?;
    Ok(())
}

/// `cuMemPoolSetAttribute`.
pub unsafe fn set_attribute(pool: CUmemoryPool, attribute: c_int, value: *mut c_void) -> Answer {
    let mut pools = pools();
    let pool = pools.pool(pool)?;
    if value.is_null() {
        return Err(CudaError::InvalidValue.into());
    }
    // SAFETY: `value` is not null and points to a value of the attribute's type, as `cuMemPoolSetAttribute`
    // requires.
    let number = |value: *mut c_void| unsafe { value.cast::<u64>().read() };
    match attribute {
        _ if REUSE.contains(&attribute) => {
            // SAFETY: `value` is not null and points to an `int` for this attribute.
            pool.reuse[attribute as usize - 1] = unsafe { value.cast::<c_int>().read() };
        }
        THRESHOLD => pool.threshold = number(value),
        // A peak can only be reset, to the current value.
        RESERVED_MOST if number(value) == 0 => pool.most_reserved = pool.used,
        USED_MOST if number(value) == 0 => pool.most = pool.used,
        _ => return Err(CudaError::InvalidValue.into()),
    }
    Ok(())
}

/// `cuMemPoolGetAttribute`.
pub unsafe fn attribute(pool: CUmemoryPool, attribute: c_int, value: *mut c_void) -> Answer {
    queue::wait(Awaited::All);
    let mut pools = pools();
    let pool = pools.pool(pool)?;
    if value.is_null() {
        return Err(CudaError::InvalidValue.into());
    }
    let number = match attribute {
        _ if REUSE.contains(&attribute) => {
            // SAFETY: `value` is not null and has room for an `int`, the type of this attribute.
            unsafe {
                value
                    .cast::<c_int>()
                    .write(pool.reuse[attribute as usize - 1])
            };
            return Ok(());
        }
        THRESHOLD => pool.threshold,
        RESERVED_NOW | USED_NOW => pool.used,
        RESERVED_MOST => pool.most_reserved,
        USED_MOST => pool.most,
        _ => return Err(CudaError::InvalidValue.into()),
    };
    // SAFETY: `value` is not null and has room for a `cuuint64_t`, the type of these attributes.
    unsafe { value.cast::<u64>().write(number) };
    Ok(())
}

/// `cuMemPoolSetAccess`: a device can always access its own pools. Existing allocations of the pool change too.
pub unsafe fn set_access(pool: CUmemoryPool, list: *const CUmemAccessDesc, count: usize) -> Answer {
    let driver = driver()?;
    let mut pools = pools();
    let (own, mut reached_by) = (pools.pool(pool)?.device, pools.pool(pool)?.reached_by);
    if list.is_null() && count > 0 {
        return Err(CudaError::InvalidValue.into());
    }
    for i in 0..count {
        // SAFETY: `list` has `count` elements, as `cuMemPoolSetAccess` requires; enums are read as integers.
        let (place, device, flags) = unsafe {
            let one = list.add(i);
            (
                (&raw const (*one).location.type_).cast::<c_int>().read(),
                (*one).location.id,
                (&raw const (*one).flags).cast::<c_int>().read(),
            )
        };
        let device = check_device(device)?;
        match flags {
            _ if place != DEVICE => return Err(CudaError::InvalidValue.into()),
            READ_AND_WRITE if device == own || driver.can_access_peer(device, own)? => {
                reached_by |= 1 << device;
            }
            READ_AND_WRITE => return Err(CudaError::InvalidDevice.into()),
            NOTHING if device != own => reached_by &= !(1 << device),
            _ => return Err(CudaError::InvalidValue.into()),
        }
    }
    pools.pool(pool)?.reached_by = reached_by;
    let of_pool = pools.allocations.iter();
    let of_pool = of_pool.filter(|(_, found)| found.0 == number(pool));
    let mut driver = driver;
    for (&address, _) in of_pool {
        driver.open_to(address, reached_by);
    }
    Ok(())
}

/// `cuMemPoolGetAccess`.
pub unsafe fn access(to: *mut c_int, pool: CUmemoryPool, at: *mut CUmemLocation) -> Answer {
    let (_, reached_by) = reach(number(pool))?;
    if at.is_null() {
        return Err(CudaError::InvalidValue.into());
    }
    // SAFETY: `at` is not null, so it is readable as `cuMemPoolGetAccess` requires of its caller.
    let device = check_device(unsafe { (*at).id })?;
    let may = match reached_by & (1 << device) {
        0 => NOTHING,
        _ => READ_AND_WRITE,
    };
    // SAFETY: `to` is null or writable, as `cuMemPoolGetAccess` requires of its caller.
    unsafe { Out::new(to) }?.set(may);
    Ok(())
}
