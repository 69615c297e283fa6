//! Memory pools for stream-ordered allocation.

use std::ffi::{c_int, c_void};

use cuda_sim::driver::CudaError;

use super::SIMULATOR;
use super::device::check_device;
use super::sharing;
use crate::arguments::{In, Out, handle, number, required};
use crate::simulator::{Pool, WaitTarget, default_pool};
use crate::status::CallResult;
use crate::types::{
    CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_DEVICE, CUdevice, CUmemAccessDesc,
    CUmemLocation, CUmemPoolProps, CUmemoryPool,
};

/// Values of `CUmemPool_attribute`: three reuse policies, the release threshold, and the reserved and used
/// bytes, current and peak.
const REUSE: std::ops::RangeInclusive<c_int> = 1..=3;
const THRESHOLD: c_int = 4;
const RESERVED_CURRENT: c_int = 5;
const RESERVED_HIGH: c_int = 6;
const USED_CURRENT: c_int = 7;
const USED_HIGH: c_int = 8;

/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`, the access of a device to its own pools, and `_NONE`.
const READ_AND_WRITE: c_int = 3;
const READ: c_int = 1;
const NOTHING: c_int = 0;

/// All values of `CUmemAllocationHandleType`.
const HANDLE_TYPES: c_int = 0xf;

/// `cuDeviceGetDefaultMemPool`.
pub fn default(out: Option<Out<CUmemoryPool>>, device: CUdevice) -> CallResult {
    let device = check_device(device)?;
    required(out)?.set(handle(default_pool(device)));
    Ok(())
}

/// `cuDeviceGetMemPool`.
pub fn get(out: Option<Out<CUmemoryPool>>, device: CUdevice) -> CallResult {
    let device = check_device(device)?;
    required(out)?.set(handle(SIMULATOR.pools.lock().current(device)));
    Ok(())
}

/// `cuDeviceSetMemPool`: the pool must be on the device, and of this process.
pub fn set(device: CUdevice, pool: CUmemoryPool) -> CallResult {
    let device = location_device(device)?;
    if SIMULATOR.shared_pools.is_imported(number(pool)) {
        return Err(CudaError::InvalidValue.into());
    }
    let mut pools = SIMULATOR.pools.lock();
    Ok(pools.set_current(device, number(pool))?)
}

/// `cuMemGetDefaultMemPool` of CUDA 13: the default pool of a location.
pub fn default_at(
    out: Option<Out<CUmemoryPool>>,
    location: In<CUmemLocation>,
    kind: c_int,
) -> CallResult {
    default(out, device_at(location, kind)?)
}

/// `cuMemGetMemPool` of CUDA 13: the current pool of a location.
pub fn get_at(
    out: Option<Out<CUmemoryPool>>,
    location: In<CUmemLocation>,
    kind: c_int,
) -> CallResult {
    get(out, device_at(location, kind)?)
}

/// `cuMemSetMemPool`.
pub fn set_at(location: In<CUmemLocation>, kind: c_int, pool: CUmemoryPool) -> CallResult {
    set(device_at(location, kind)?, pool)
}

/// Returns the device at a location. Returns [`CudaError::NotSupported`] for other memory than pinned device
/// memory: only that has pools.
fn device_at(location: In<CUmemLocation>, kind: c_int) -> Result<CUdevice, CudaError> {
    let location = location.read();
    if kind != CU_MEM_ALLOCATION_TYPE_PINNED || location.kind != CU_MEM_LOCATION_TYPE_DEVICE {
        return Err(CudaError::NotSupported);
    }
    Ok(location.id)
}

/// Returns the device of a location. Returns [`CudaError::InvalidValue`] if there is none, as the driver does for the
/// locations of pools.
fn location_device(device: CUdevice) -> Result<u32, CudaError> {
    check_device(device).map_err(|_| CudaError::InvalidValue)
}

/// `cuMemPoolCreate`.
pub fn create(out: Out<CUmemoryPool>, properties: In<CUmemPoolProps>) -> CallResult {
    let properties = properties.read();
    let is_pinned = properties.allocType == CU_MEM_ALLOCATION_TYPE_PINNED;
    if !is_pinned || properties.location.kind != CU_MEM_LOCATION_TYPE_DEVICE {
        return Err(CudaError::InvalidValue.into());
    }
    let device = location_device(properties.location.id)?;
    if properties.handleTypes & !HANDLE_TYPES != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    if !sharing::can_share(properties.handleTypes) {
        return Err(CudaError::NotSupported.into());
    }
    let pool = SIMULATOR.pools.lock().create(device);
    if properties.handleTypes != 0 {
        SIMULATOR.shared_pools.share(pool, device)?;
    }
    out.set(handle(pool));
    Ok(())
}

/// `cuMemPoolDestroy`: allocations stay valid. A default pool cannot be destroyed.
pub fn destroy(pool: CUmemoryPool) -> CallResult {
    SIMULATOR.pools.lock().destroy(number(pool))?;
    SIMULATOR.shared_pools.remove(number(pool));
    Ok(())
}

/// `cuMemPoolTrimTo`: a no-op, because pools do not cache freed memory.
pub fn trim(pool: CUmemoryPool, _keep: usize) -> CallResult {
    SIMULATOR.pools.lock().pool(number(pool))?;
    Ok(())
}

/// `cuMemPoolSetAttribute`.
pub fn set_attribute(pool: CUmemoryPool, attribute: c_int, value: In<c_void>) -> CallResult {
    let mut pools = SIMULATOR.pools.lock();
    let pool = pools.pool(number(pool))?;
    // SAFETY: all attributes that call this are 64-bit numbers.
    let new_value = || unsafe { value.read_as::<u64>() };
    match attribute {
        _ if REUSE.contains(&attribute) => {
            // SAFETY: the reuse policies are of type `int`.
            pool.reuse[attribute as usize - 1] = unsafe { value.read_as() };
        }
        THRESHOLD => pool.threshold = new_value(),
        // A peak can only be reset, to the current value.
        RESERVED_HIGH if new_value() == 0 => pool.peak_reserved = pool.reserved(),
        USED_HIGH if new_value() == 0 => pool.peak_used = pool.used,
        _ => return Err(CudaError::InvalidValue.into()),
    }
    Ok(())
}

/// `cuMemPoolGetAttribute`.
pub fn attribute(pool: CUmemoryPool, attribute: c_int, value: Option<Out<c_void>>) -> CallResult {
    SIMULATOR.wait(WaitTarget::All);
    let mut pools = SIMULATOR.pools.lock();
    let pool = pools.pool(number(pool))?;
    let value = required(value)?;
    let result = match attribute {
        _ if REUSE.contains(&attribute) => {
            // SAFETY: the reuse policies are of type `int`.
            unsafe { value.set_as(pool.reuse[attribute as usize - 1]) };
            return Ok(());
        }
        THRESHOLD => pool.threshold,
        RESERVED_CURRENT => pool.reserved(),
        USED_CURRENT => pool.used,
        RESERVED_HIGH => pool.peak_reserved,
        USED_HIGH => pool.peak_used,
        _ => return Err(CudaError::InvalidValue.into()),
    };
    // SAFETY: all other attributes are 64-bit numbers.
    unsafe { value.set_as(result) };
    Ok(())
}

/// `cuMemPoolSetAccess`: a device can always access its own pools. Existing allocations of the pool change too.
pub fn set_access(
    pool: CUmemoryPool,
    descriptors: Option<In<CUmemAccessDesc>>,
    count: usize,
) -> CallResult {
    let mut driver = SIMULATOR.lock_driver_settled()?;
    let mut pools = SIMULATOR.pools.lock();
    let &mut Pool {
        device: home,
        mut accessible_by,
        ..
    } = pools.pool(number(pool))?;
    let descriptors = match count {
        0 => Vec::new(),
        // SAFETY: `descriptors` has `count` elements, as `cuMemPoolSetAccess` requires of its caller.
        _ => unsafe { required(descriptors)?.read_all(count) },
    };
    for CUmemAccessDesc { location, flags } in descriptors {
        let device = check_device(location.id)?;
        match flags {
            _ if location.kind != CU_MEM_LOCATION_TYPE_DEVICE => {
                return Err(CudaError::InvalidValue.into());
            }
            READ_AND_WRITE if device == home || driver.can_access_peer(device, home)? => {
                accessible_by |= 1 << device;
            }
            READ_AND_WRITE => return Err(CudaError::InvalidDevice.into()),
            NOTHING if device != home => accessible_by &= !(1 << device),
            NOTHING => return Err(CudaError::InvalidDevice.into()),
            READ => return Err(CudaError::NotSupported.into()),
            _ => return Err(CudaError::InvalidValue.into()),
        }
    }
    pools.pool(number(pool))?.accessible_by = accessible_by;
    for address in pools.allocations(number(pool)) {
        driver.set_accessible_from(address, accessible_by);
    }
    Ok(())
}

/// `cuMemPoolGetAccess`.
pub fn access(
    out: Option<Out<c_int>>,
    pool: CUmemoryPool,
    location: In<CUmemLocation>,
) -> CallResult {
    let accessible_by = SIMULATOR.pools.lock().pool(number(pool))?.accessible_by;
    let device = location_device(location.read().id)?;
    let flags = match accessible_by & (1 << device) {
        0 => NOTHING,
        _ => READ_AND_WRITE,
    };
    required(out)?.set(flags);
    Ok(())
}
