//! Pools that memory is allocated from in the order of a stream's work. Memory is there from the call on, and
//! given back as soon as the stream comes to where it is freed; so a pool is what is known of it: its
//! settings, and how much of the device's memory it has.

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

/// The default pool of the first device; those of the others follow it.
const DEFAULT: u64 = 1;
/// The last number that is a default pool's.
const LAST_DEFAULT: u64 = DEFAULT + MAX_DEVICES as u64 - 1;

/// The numbers of `CUmemPool_attribute`: three settings that are on or off, how much memory is kept when
/// it is freed, and how much the pool has, now and at most.
const REUSE: std::ops::RangeInclusive<c_int> = 1..=3;
const THRESHOLD: c_int = 4;
const RESERVED_NOW: c_int = 5;
const RESERVED_MOST: c_int = 6;
const USED_NOW: c_int = 7;
const USED_MOST: c_int = 8;

/// `CU_MEM_ALLOCATION_TYPE_PINNED` and `CU_MEM_LOCATION_TYPE_DEVICE`: all memory of pools is so.
const PINNED: c_int = 1;
const DEVICE: c_int = 1;

/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`, what a device may do with its own pools, and `_NONE`.
const READ_AND_WRITE: c_int = 3;
const NOTHING: c_int = 0;

/// Whether any memory was ever allocated from a pool: programs without pools need not ask.
static USED: AtomicBool = AtomicBool::new(false);

static POOLS: Mutex<Pools> = Mutex::new(Pools {
    made: LAST_DEFAULT,
    current: BTreeMap::new(),
    pools: BTreeMap::new(),
    allocations: BTreeMap::new(),
});

struct Pools {
    /// The last number given to a pool.
    made: u64,
    /// Each device's pool for allocations that name none, where it is not the default one.
    current: BTreeMap<u32, u64>,
    pools: BTreeMap<u64, Pool>,
    /// The pool and the size of each allocation, by its address.
    allocations: BTreeMap<u64, (u64, u64)>,
}

#[derive(Clone)]
struct Pool {
    /// The device that its memory is of, and those whose kernels reach it, a bit each.
    device: u32,
    reached_by: Devices,
    reuse: [c_int; 3],
    threshold: u64,
    used: u64,
    most: u64,
    /// The most that was reserved since somebody set it back.
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

/// All pools; the default ones are there from the beginning.
fn pools() -> MutexGuard<'static, Pools> {
    let mut pools = lock(&POOLS);
    if pools.pools.is_empty() {
        let all = device::all().map(|device| (default_of(device as u32), Pool::new(device as u32)));
        pools.pools.extend(all);
    }
    pools
}

impl Pools {
    /// The pool that a handle names.
    fn pool(&mut self, pool: CUmemoryPool) -> Result<&mut Pool, CudaError> {
        let found = self.pools.get_mut(&number(pool));
        found.ok_or(CudaError::InvalidValue)
    }
}

/// The number of a device's default pool.
fn default_of(device: u32) -> u64 {
    DEFAULT + u64::from(device)
}

/// The number of the pool that a handle names.
pub fn known(pool: CUmemoryPool) -> Result<u64, CudaError> {
    pools().pool(pool)?;
    Ok(number(pool))
}

/// A device's pool for allocations that name none.
pub fn current(device: u32) -> u64 {
    let own = pools().current.get(&device).copied();
    own.unwrap_or(default_of(device))
}

/// The device that a pool's memory is of, and those whose kernels reach it, a bit each.
pub fn reach(pool: u64) -> Result<(u32, Devices), CudaError> {
    let pools = pools();
    let found = pools.pools.get(&pool).ok_or(CudaError::InvalidValue)?;
    Ok((found.device, found.reached_by))
}

/// The pool that the allocation at an address is from; 0 where it is from none.
pub fn of(address: u64) -> u64 {
    let pools = pools();
    pools.allocations.get(&address).map_or(0, |found| found.0)
}

/// Takes note of an allocation from a pool.
pub fn allocated(from: u64, address: u64, bytes: u64) {
    USED.store(true, Ordering::Relaxed);
    let mut pools = pools();
    // An allocation that was at this address has gone with its context.
    forget(&mut pools, address);
    pools.allocations.insert(address, (from, bytes));
    if let Some(pool) = pools.pools.get_mut(&from) {
        pool.used += bytes;
        pool.most = pool.most.max(pool.used);
        pool.most_reserved = pool.most_reserved.max(pool.used);
    }
}

/// Takes note that memory was freed, which may be a pool's.
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
    // SAFETY: the caller's promise.
    unsafe { Out::new(to) }?.set(handle(default_of(device)));
    Ok(())
}

/// `cuDeviceGetMemPool`.
pub unsafe fn get(to: *mut CUmemoryPool, device: CUdevice) -> Answer {
    let device = check_device(device)?;
    // SAFETY: the caller's promise.
    unsafe { Out::new(to) }?.set(handle(current(device)));
    Ok(())
}

/// `cuDeviceSetMemPool`: a pool of the device's own memory.
pub unsafe fn set(device: CUdevice, pool: CUmemoryPool) -> Answer {
    let device = check_device(device)?;
    let mut pools = pools();
    if pools.pool(pool)?.device != device {
        return Err(CudaError::InvalidValue.into());
    }
    pools.current.insert(device, number(pool));
    Ok(())
}

/// `cuMemGetDefaultMemPool` and `cuMemGetMemPool` of CUDA 13: pools by the place and the kind of memory.
pub unsafe fn default_at(
    to: *mut CUmemoryPool,
    location: *const types::CUmemLocation,
    kind: c_int,
) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { default(to, device_at(location, kind)?) }
}

/// As [`default_at`].
pub unsafe fn get_at(
    to: *mut CUmemoryPool,
    location: *const types::CUmemLocation,
    kind: c_int,
) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { get(to, device_at(location, kind)?) }
}

/// `cuMemSetMemPool`.
pub unsafe fn set_at(
    location: *const types::CUmemLocation,
    kind: c_int,
    pool: CUmemoryPool,
) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { set(device_at(location, kind)?, pool) }
}

/// The device at a place. [`CudaError::NotSupported`] for other memory than the device's own, of which there are no
/// pools.
///
/// # Safety
/// `location` must be null or readable.
unsafe fn device_at(
    location: *const types::CUmemLocation,
    kind: c_int,
) -> Result<CUdevice, CudaError> {
    // SAFETY: the caller's promise.
    let location = unsafe { location.as_ref() }.ok_or(CudaError::InvalidValue)?;
    if kind != PINNED || location.kind != DEVICE {
        return Err(CudaError::NotSupported);
    }
    Ok(location.id)
}

/// `cuMemPoolCreate`.
pub unsafe fn create(to: *mut CUmemoryPool, how: *const CUmemPoolProps) -> Answer {
    // SAFETY: the caller's promise.
    let to = unsafe { Out::new(to) }?;
    if how.is_null() {
        return Err(CudaError::InvalidValue.into());
    }
    // SAFETY: not null, so readable; enums are read as the numbers that they are in C.
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
        // No memory is shared with other processes.
        return Err(CudaError::NotSupported.into());
    }
    let mut pools = pools();
    pools.made += 1;
    let made = pools.made;
    pools.pools.insert(made, Pool::new(device));
    to.set(handle(made));
    Ok(())
}

/// `cuMemPoolDestroy`: what is allocated from it stays. A default pool cannot be destroyed.
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

/// `cuMemPoolTrimTo`: nothing is kept that was freed.
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
    // SAFETY: the caller promises a value of the attribute's type.
    let number = |value: *mut c_void| unsafe { value.cast::<u64>().read() };
    match attribute {
        _ if REUSE.contains(&attribute) => {
            // SAFETY: as above.
            pool.reuse[attribute as usize - 1] = unsafe { value.cast::<c_int>().read() };
        }
        THRESHOLD => pool.threshold = number(value),
        // What there was at most can be set back.
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
            // SAFETY: the caller promises room for the attribute's type.
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
    // SAFETY: as above.
    unsafe { value.cast::<u64>().write(number) };
    Ok(())
}

/// `cuMemPoolSetAccess`: a device reads and writes its own pools in any case. What is allocated of them already is
/// opened or closed too.
pub unsafe fn set_access(pool: CUmemoryPool, list: *const CUmemAccessDesc, count: usize) -> Answer {
    let driver = driver()?;
    let mut pools = pools();
    let (own, mut reached_by) = (pools.pool(pool)?.device, pools.pool(pool)?.reached_by);
    if list.is_null() && count > 0 {
        return Err(CudaError::InvalidValue.into());
    }
    for i in 0..count {
        // SAFETY: the caller promises as many; enums are read as the numbers that they are in C.
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
    // SAFETY: not null, so readable.
    let device = check_device(unsafe { (*at).id })?;
    let may = match reached_by & (1 << device) {
        0 => NOTHING,
        _ => READ_AND_WRITE,
    };
    // SAFETY: the caller's promise.
    unsafe { Out::new(to) }?.set(may);
    Ok(())
}
