//! Memory allocation.

use std::collections::BTreeMap;
use std::ffi::{c_uint, c_void};
use std::sync::{Mutex, MutexGuard};

use cuda_sim::driver::{ContextId, CudaError, Driver, StreamId};
use cuda_sim::memory::global::AllocationKind;
use cust_raw::{CUdeviceptr, CUmemoryPool, CUstream};

use super::raw::{Out, host_pointer, set_if_wanted};
use super::submit::submit;
use super::work::{Reserved, Work};
use super::{
    capture, contexts, current, driver, graph, host, in_live_stream, lock, managed, pool, queue,
};
use crate::status::Answer;

/// The flags that `cuMemAllocManaged` accepts: `CU_MEM_ATTACH_GLOBAL` or `CU_MEM_ATTACH_HOST`.
const ATTACH: std::ops::RangeInclusive<c_uint> = 1..=2;

/// The flags that `cuMemHostAlloc` accepts: portable, device-mapped, write-combined. In the simulator all
/// host memory is
/// portable and mapped, and write-combining has no effect.
const HOST_ALLOC_FLAGS: c_uint = 0x7;

/// The flags that `cuMemHostRegister` accepts: portable, device-mapped.
const REGISTER_FLAGS: c_uint = 0x3;

/// The allocation flags of page-locked memory, by address.
static HOST_FLAGS: Mutex<BTreeMap<u64, c_uint>> = Mutex::new(BTreeMap::new());

/// `cuMemGetInfo`.
pub unsafe fn info(free: *mut usize, total: *mut usize) -> Answer {
    let (driver, context) = current()?;
    let info = driver.memory_info(context)?;
    // SAFETY: `free` and `total` are null or writable, as `cuMemGetInfo` requires of its caller.
    unsafe {
        set_if_wanted(free, info.0 as usize);
        set_if_wanted(total, info.1 as usize);
    }
    Ok(())
}

/// `cuMemAlloc`.
pub unsafe fn allocate(address: *mut CUdeviceptr, bytes: usize) -> Answer {
    capture::rules::safe()?;
    // SAFETY: `address` is null or writable, as `cuMemAlloc` requires of its caller.
    let address = unsafe { Out::new(address) }?;
    let (mut driver, context) = current()?;
    address.set(driver.allocate(context, bytes as u64)?);
    Ok(())
}

/// `cuMemAllocPitch`.
pub unsafe fn allocate_pitched(
    address: *mut CUdeviceptr,
    pitch: *mut usize,
    width: usize,
    height: usize,
    element: c_uint,
) -> Answer {
    capture::rules::safe()?;
    // SAFETY: `address` and `pitch` are null or writable, as `cuMemAllocPitch` requires of its caller.
    let (address, pitch) = unsafe { (Out::new(address)?, Out::new(pitch)?) };
    let (mut driver, context) = current()?;
    let found = driver.allocate_pitched(context, width as u64, height as u64, element)?;
    address.set(found.0);
    pitch.set(found.1 as usize);
    Ok(())
}

/// `cuMemAllocManaged`.
pub unsafe fn allocate_managed(address: *mut CUdeviceptr, bytes: usize, flags: c_uint) -> Answer {
    capture::rules::safe()?;
    // SAFETY: `address` is null or writable, as `cuMemAllocManaged` requires of its caller.
    let address = unsafe { Out::new(address) }?;
    let (mut driver, context) = current()?;
    if !ATTACH.contains(&flags) {
        return Err(CudaError::InvalidValue.into());
    }
    address.set(driver.allocate_managed(context, bytes as u64)?);
    Ok(())
}

/// `cuMemAllocAsync`.
pub unsafe fn allocate_async(address: *mut CUdeviceptr, bytes: usize, on: CUstream) -> Answer {
    // SAFETY: `address` is null or writable, as `cuMemAllocAsync` requires of its caller.
    let address = unsafe { Out::new(address) }?;
    address.set(allocate_in_stream(bytes as u64, None, on)?);
    Ok(())
}

/// `cuMemAllocFromPoolAsync`.
pub unsafe fn allocate_from_pool(
    address: *mut CUdeviceptr,
    bytes: usize,
    from: CUmemoryPool,
    on: CUstream,
) -> Answer {
    // SAFETY: `address` is null or writable, as `cuMemAllocFromPoolAsync` requires of its caller.
    let address = unsafe { Out::new(address) }?;
    let from = pool::known(from)?;
    address.set(allocate_in_stream(bytes as u64, Some(from), on)?);
    Ok(())
}

/// Allocates memory from a pool, by default the pool of the stream's device. The memory is usable
/// immediately. If the
/// stream is capturing, reserves an address for an allocation node of the graph instead.
fn allocate_in_stream(bytes: u64, from: Option<u64>, on: CUstream) -> Result<u64, CudaError> {
    let (mut driver, context, stream) = in_live_stream(on)?;
    if capture::rules::is_captured(stream) {
        let address = graph::memory::reserve(&mut driver, context, bytes)?;
        let work = Work::Allocate(Reserved { address, bytes });
        submit(driver, context, stream, work)?;
        return Ok(address);
    }
    if stream == StreamId::LEGACY {
        capture::rules::legacy(context)?;
    }
    let from = match from {
        Some(from) => from,
        None => pool::current(driver.context_device(context)?),
    };
    let (device, reached_by) = pool::reach(from)?;
    let made = match driver.allocate_of_pool(context, bytes, device, reached_by) {
        Err(CudaError::OutOfMemory) => {
            // Pending operations may free some.
            drop(driver);
            self::driver()?.allocate_of_pool(context, bytes, device, reached_by)?
        }
        other => other?,
    };
    pool::allocated(from, made, bytes);
    Ok(made)
}

/// `cuMemFree`.
pub unsafe fn free(address: CUdeviceptr) -> Answer {
    capture::rules::safe()?;
    host::freed(address);
    let mut driver = driver()?;
    match owner_or_current(&driver, address) {
        Some(context) => {
            let found = driver.allocation(address);
            driver.free(context, address)?;
            pool::freed(address);
            if let Ok(found) = found {
                managed::forget(found.base..found.base + found.size);
            }
            Ok(())
        }
        None if address == 0 => Ok(()),
        None => Err(CudaError::InvalidValue.into()),
    }
}

/// Returns the context that owns the allocation at `address`, whatever context is current. If there is no such
/// allocation, returns the current context.
fn owner_or_current(driver: &Driver, address: u64) -> Option<ContextId> {
    let owner = driver.owner(address);
    owner.or_else(|| contexts(|contexts| contexts.current()))
}

/// Locks the driver, after a check that the current context exists and has not faulted.
fn with_live_context() -> Result<MutexGuard<'static, Driver>, CudaError> {
    let (driver, context) = current()?;
    driver.memory_info(context)?;
    Ok(driver)
}

/// `cuMemFreeAsync`: frees memory when all earlier operations of the stream have completed.
pub unsafe fn free_async(address: CUdeviceptr, on: CUstream) -> Answer {
    let (driver, context, stream) = in_live_stream(on)?;
    let known = driver.owner(address).is_some() || graph::memory::is_reserved(address);
    if !known || queue::frees(address) {
        return Err(CudaError::InvalidValue.into());
    }
    Ok(submit(driver, context, stream, Work::Free(address))?)
}

/// `cuMemAllocHost`.
pub unsafe fn allocate_host(host: *mut *mut c_void, bytes: usize) -> Answer {
    capture::rules::safe()?;
    // SAFETY: `host` is null or writable, as `cuMemAllocHost` requires of its caller.
    let host = unsafe { Out::new(host) }?;
    let (mut driver, context) = current()?;
    let address = driver.allocate_host(context, bytes as u64)?;
    host.set(std::ptr::with_exposed_provenance_mut(address as usize));
    Ok(())
}

/// `cuMemHostAlloc`.
pub unsafe fn allocate_host_with_flags(
    host: *mut *mut c_void,
    bytes: usize,
    flags: c_uint,
) -> Answer {
    if flags & !HOST_ALLOC_FLAGS != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    // SAFETY: `host` is null or writable, as `cuMemHostAlloc` requires of its caller.
    unsafe { allocate_host(host, bytes) }?;
    // SAFETY: `allocate_host` succeeded, so `host` is not null and was just written.
    let address = unsafe { *host } as u64;
    lock(&HOST_FLAGS).insert(address, flags);
    Ok(())
}

/// `cuMemHostGetFlags`: returns the allocation flags plus `CU_MEMHOSTALLOC_DEVICEMAP`, since all host memory
/// is mapped.
pub unsafe fn host_flags(flags: *mut c_uint, host: *mut c_void) -> Answer {
    /// `CU_MEMHOSTALLOC_DEVICEMAP`.
    const DEVICE_MAP: c_uint = 2;
    // SAFETY: `flags` is null or writable, as `cuMemHostGetFlags` requires of its caller.
    let flags = unsafe { Out::new(flags) }?;
    let driver = with_live_context()?;
    let found = driver.allocation(host as u64)?;
    if found.kind != AllocationKind::Host {
        return Err(CudaError::InvalidValue.into());
    }
    let given = lock(&HOST_FLAGS).get(&found.base).copied();
    flags.set(given.unwrap_or(0) | DEVICE_MAP);
    Ok(())
}

/// `cuMemFreeHost`.
pub unsafe fn free_host(host: *mut c_void) -> Answer {
    capture::rules::safe()?;
    super::host::freed(host as u64);
    let mut driver = driver()?;
    let context = owner_or_current(&driver, host as u64).ok_or(CudaError::InvalidValue)?;
    driver.free_host(context, host as u64)?;
    lock(&HOST_FLAGS).remove(&(host as u64));
    Ok(())
}

/// `cuMemHostGetDevicePointer`.
pub unsafe fn host_device_pointer(
    address: *mut CUdeviceptr,
    host: *mut c_void,
    flags: c_uint,
) -> Answer {
    // SAFETY: `address` is null or writable, as `cuMemHostGetDevicePointer` requires of its caller.
    let address = unsafe { Out::new(address) }?;
    let driver = with_live_context()?;
    let found = driver.allocation(host as u64)?;
    if flags != 0
        || !matches!(
            found.kind,
            AllocationKind::Host | AllocationKind::Registered
        )
    {
        return Err(CudaError::InvalidValue.into());
    }
    address.set(host as u64);
    Ok(())
}

/// `cuMemHostRegister`.
pub unsafe fn register_host(host: *mut c_void, length: usize, flags: c_uint) -> Answer {
    capture::rules::safe()?;
    let (mut driver, context) = current()?;
    if flags & !REGISTER_FLAGS != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    // SAFETY: the memory stays valid until it is unregistered, as `cuMemHostRegister` requires of its caller.
    unsafe { driver.register_host(context, host_pointer(host), length as u64) }?;
    Ok(())
}

/// `cuMemHostUnregister`.
pub unsafe fn unregister_host(host: *mut c_void) -> Answer {
    capture::rules::safe()?;
    let (mut driver, context) = current()?;
    Ok(driver.unregister_host(context, host as u64)?)
}

/// `cuMemGetAddressRange`.
pub unsafe fn address_range(
    base: *mut CUdeviceptr,
    size: *mut usize,
    address: CUdeviceptr,
) -> Answer {
    let driver = with_live_context()?;
    let found = driver
        .allocation(address)
        .map_err(|_| CudaError::NotFound)?;
    // SAFETY: `base` and `size` are null or writable, as `cuMemGetAddressRange` requires of its caller.
    unsafe {
        set_if_wanted(base, found.base);
        set_if_wanted(size, found.size as usize);
    }
    Ok(())
}
