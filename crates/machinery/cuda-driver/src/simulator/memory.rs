//! Allocation and what is known about an address.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::{Mutex, MutexGuard};

use cuda_sim::driver::{ContextId, CudaError, Driver};
use cuda_sim::memory::global::{Allocation, AllocationKind};
use cust_raw::{CUcontext, CUdevice, CUdeviceptr, CUmemoryPool, CUstream};

use super::device::check_device;
use super::raw::{Out, handle, host_pointer, set_if_wanted};
use super::{contexts, current, driver, in_stream, lock, pool};
use crate::report::say;
use crate::status::Answer;

/// The flags that `cuMemAllocManaged` takes: one of `CU_MEM_ATTACH_GLOBAL` and `CU_MEM_ATTACH_HOST`.
const ATTACH: std::ops::RangeInclusive<c_uint> = 1..=2;

/// The flags that `cuMemHostAlloc` takes: portable, device-mapped, write-combined. All memory is
/// portable and mapped here, and write-combining makes no difference.
const HOST_ALLOC_FLAGS: c_uint = 0x7;

/// The flags that `cuMemHostRegister` takes: portable, device-mapped.
const REGISTER_FLAGS: c_uint = 0x3;

/// The numbers of `CUmem_advise`, which `cuMemAdvise` takes.
const ADVICE: std::ops::RangeInclusive<c_int> = 1..=6;

/// The flags that page-locked memory was allocated with, by its address.
static HOST_FLAGS: Mutex<BTreeMap<u64, c_uint>> = Mutex::new(BTreeMap::new());

/// `CU_DEVICE_CPU`: prefetching to the host.
const CPU: CUdevice = -1;

/// `cuMemGetInfo`.
pub unsafe fn info(free: *mut usize, total: *mut usize) -> Answer {
    let (driver, context) = current()?;
    let info = driver.memory_info(context)?;
    // SAFETY: the caller's promise.
    unsafe {
        set_if_wanted(free, info.0 as usize);
        set_if_wanted(total, info.1 as usize);
    }
    Ok(())
}

/// `cuMemAlloc`.
pub unsafe fn allocate(address: *mut CUdeviceptr, bytes: usize) -> Answer {
    // SAFETY: the caller's promise.
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
    // SAFETY: the caller's promise.
    let (address, pitch) = unsafe { (Out::new(address)?, Out::new(pitch)?) };
    let (mut driver, context) = current()?;
    let found = driver.allocate_pitched(context, width as u64, height as u64, element)?;
    address.set(found.0);
    pitch.set(found.1 as usize);
    Ok(())
}

/// `cuMemAllocManaged`.
pub unsafe fn allocate_managed(address: *mut CUdeviceptr, bytes: usize, flags: c_uint) -> Answer {
    // SAFETY: the caller's promise.
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
    // SAFETY: the caller's promise.
    let address = unsafe { Out::new(address) }?;
    let (mut driver, context) = in_live_stream(on)?;
    let made = driver.allocate(context, bytes as u64)?;
    pool::allocated(pool::current(), made, bytes as u64);
    address.set(made);
    Ok(())
}

/// `cuMemAllocFromPoolAsync`.
pub unsafe fn allocate_from_pool(
    address: *mut CUdeviceptr,
    bytes: usize,
    from: CUmemoryPool,
    on: CUstream,
) -> Answer {
    // SAFETY: the caller's promise.
    let address = unsafe { Out::new(address) }?;
    let from = pool::known(from)?;
    let (mut driver, context) = in_live_stream(on)?;
    let made = driver.allocate(context, bytes as u64)?;
    pool::allocated(from, made, bytes as u64);
    address.set(made);
    Ok(())
}

/// `cuMemFree`.
pub unsafe fn free(address: CUdeviceptr) -> Answer {
    let mut driver = driver()?;
    match owner_or_current(&driver, address) {
        Some(context) => {
            driver.free(context, address)?;
            pool::freed(address);
            Ok(())
        }
        None if address == 0 => Ok(()),
        None => Err(CudaError::InvalidValue.into()),
    }
}

/// The context in which the allocation at `address` was made, whatever context is current. Where
/// there is no such allocation, the current context.
fn owner_or_current(driver: &Driver, address: u64) -> Option<ContextId> {
    let owner = driver.owner(address);
    owner.or_else(|| contexts(|contexts| contexts.current()))
}

/// The machine, once it is known that the current context lives and has not faulted.
fn with_live_context() -> Result<MutexGuard<'static, Driver>, CudaError> {
    let (driver, context) = current()?;
    driver.memory_info(context)?;
    Ok(driver)
}

/// The machine and the context of a stream, once it is known that both live and the context has not
/// faulted.
fn in_live_stream(on: CUstream) -> Result<(MutexGuard<'static, Driver>, ContextId), CudaError> {
    let (driver, context, stream) = in_stream(on)?;
    driver.stream_flags(context, stream)?;
    Ok((driver, context))
}

/// `cuMemFreeAsync`. All work that is in the stream has been done, so the memory is freed at once.
pub unsafe fn free_async(address: CUdeviceptr, on: CUstream) -> Answer {
    let (mut driver, context) = in_live_stream(on)?;
    if address == 0 {
        return Err(CudaError::InvalidValue.into());
    }
    driver.free(context, address)?;
    pool::freed(address);
    Ok(())
}

/// `cuMemAllocHost`.
pub unsafe fn allocate_host(host: *mut *mut c_void, bytes: usize) -> Answer {
    // SAFETY: the caller's promise.
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
    // SAFETY: the caller's promise.
    unsafe { allocate_host(host, bytes) }?;
    // SAFETY: it was written just now.
    let address = unsafe { *host } as u64;
    lock(&HOST_FLAGS).insert(address, flags);
    Ok(())
}

/// `cuMemHostGetFlags`: the flags that memory was allocated with, and that the device reaches it.
pub unsafe fn host_flags(flags: *mut c_uint, host: *mut c_void) -> Answer {
    /// `CU_MEMHOSTALLOC_DEVICEMAP`.
    const DEVICE_MAP: c_uint = 2;
    // SAFETY: the caller's promise.
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
    // SAFETY: the caller's promise.
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
    let (mut driver, context) = current()?;
    if flags & !REGISTER_FLAGS != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    // SAFETY: the caller's promise: the memory stays until it is unregistered.
    unsafe { driver.register_host(context, host_pointer(host), length as u64) }?;
    Ok(())
}

/// `cuMemHostUnregister`.
pub unsafe fn unregister_host(host: *mut c_void) -> Answer {
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
    // SAFETY: the caller's promise.
    unsafe {
        set_if_wanted(base, found.base);
        set_if_wanted(size, found.size as usize);
    }
    Ok(())
}

/// `cuPointerGetAttribute`, for those attributes (`CUpointer_attribute`) that its allocation is enough
/// for.
pub unsafe fn pointer_attribute(
    data: *mut c_void,
    attribute: c_int,
    address: CUdeviceptr,
) -> Answer {
    if data.is_null() {
        return Err(CudaError::InvalidValue.into());
    }
    let driver = driver()?;
    let found = driver.allocation(address)?;
    let owner = driver.owner(found.base);
    drop(driver);
    // SAFETY: for each attribute the caller promises room for a value of its documented type.
    unsafe {
        match attribute {
            // CONTEXT
            1 => data
                .cast::<CUcontext>()
                .write(owner.map_or(std::ptr::null_mut(), |context| handle(context.0))),
            // MEMORY_TYPE
            2 => data.cast::<c_uint>().write(memory_type(found)),
            // DEVICE_POINTER
            3 => data.cast::<CUdeviceptr>().write(address),
            // HOST_POINTER
            4 if found.kind == AllocationKind::Device => return Err(CudaError::InvalidValue.into()),
            4 => data.cast::<u64>().write(address),
            // IS_MANAGED
            8 => data
                .cast::<bool>()
                .write(found.kind == AllocationKind::Managed),
            // DEVICE_ORDINAL
            9 => data.cast::<c_int>().write(0),
            // RANGE_START_ADDR
            11 => data.cast::<CUdeviceptr>().write(found.base),
            // RANGE_SIZE
            12 => data.cast::<usize>().write(found.size as usize),
            // MAPPED
            13 => data.cast::<bool>().write(true),
            5..=7 | 10 | 14..=17 => {
                say(format_args!(
                    "the simulator does not do pointer attribute {attribute}"
                ));
                return Err(CudaError::NotSupported.into());
            }
            _ => return Err(CudaError::InvalidValue.into()),
        }
    }
    Ok(())
}

/// The `CUmemorytype` of an allocation: 1 for the host's memory, 2 for the device's. Managed memory
/// counts as the device's.
fn memory_type(found: Allocation) -> c_uint {
    match found.kind {
        AllocationKind::Host | AllocationKind::Registered => 1,
        AllocationKind::Device | AllocationKind::Managed => 2,
    }
}

/// `cuMemAdvise`.
pub unsafe fn advise(
    address: CUdeviceptr,
    bytes: usize,
    advice: c_int,
    device: CUdevice,
) -> Answer {
    check_managed_location(device)?;
    let (driver, context) = current()?;
    if !ADVICE.contains(&advice) {
        return Err(CudaError::InvalidValue.into());
    }
    Ok(driver.advise(context, address, bytes as u64)?)
}

/// `cuMemPrefetchAsync`.
pub unsafe fn prefetch(
    address: CUdeviceptr,
    bytes: usize,
    device: CUdevice,
    on: CUstream,
) -> Answer {
    check_managed_location(device)?;
    let (driver, context) = in_live_stream(on)?;
    Ok(driver.advise(context, address, bytes as u64)?)
}

/// Refuses devices that managed memory cannot be on: it may be on device 0 or on the host.
fn check_managed_location(device: CUdevice) -> Result<(), CudaError> {
    if device == CPU {
        return Ok(());
    }
    check_device(device)
}
