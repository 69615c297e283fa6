//! Allocation and what is known about an address.

use std::ffi::{c_int, c_uint, c_void};

use cuda_sim::driver::{ContextId, CudaError, Driver};
use cuda_sim::memory::global::{Allocation, AllocationKind};
use cust_raw::{CUcontext, CUdevice, CUdeviceptr, CUstream};

use super::device::check;
use super::raw::{Out, bytes, handle, set_if_wanted};
use super::{current, driver, in_stream, thread};
use crate::report::say;
use crate::status::Answer;

/// `CU_MEM_ATTACH_GLOBAL` and `CU_MEM_ATTACH_HOST`, of which managed memory takes one.
const ATTACH: std::ops::RangeInclusive<c_uint> = 1..=2;

/// What `cuMemHostAlloc` takes: portable, device-mapped, write-combined. All memory is portable
/// and mapped here, and write-combining is a wish.
const HOST_ALLOC_FLAGS: c_uint = 0x7;

/// What `cuMemHostRegister` takes: portable, device-mapped.
const REGISTER_FLAGS: c_uint = 0x3;

/// What `cuMemAdvise` takes (`CUmem_advise`).
const ADVICE: std::ops::RangeInclusive<c_int> = 1..=6;

/// `CU_DEVICE_CPU`, as a place to prefetch to.
const CPU: CUdevice = -1;

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

pub unsafe fn allocate(address: *mut CUdeviceptr, bytes: usize) -> Answer {
    // SAFETY: the caller's promise.
    let address = unsafe { Out::new(address) }?;
    let (mut driver, context) = current()?;
    address.set(driver.allocate(context, bytes as u64)?);
    Ok(())
}

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

pub unsafe fn allocate_async(address: *mut CUdeviceptr, bytes: usize, on: CUstream) -> Answer {
    // SAFETY: the caller's promise.
    let address = unsafe { Out::new(address) }?;
    let (mut driver, context, stream) = in_stream(on)?;
    driver.stream_flags(context, stream)?;
    address.set(driver.allocate(context, bytes as u64)?);
    Ok(())
}

pub unsafe fn free(address: CUdeviceptr) -> Answer {
    let mut driver = driver()?;
    match owner(&driver, address) {
        Some(context) => Ok(driver.free(context, address)?),
        None if address == 0 => Ok(()),
        None => Err(CudaError::InvalidValue.into()),
    }
}

/// The context in which the allocation at `address` was made, whatever context is current; failing
/// that, the current one.
fn owner(driver: &Driver, address: u64) -> Option<ContextId> {
    let owner = driver.owner(address);
    owner.or_else(|| thread(|thread| thread.current()))
}

/// Everything in the stream has been done by now, so the memory goes at once.
pub unsafe fn free_async(address: CUdeviceptr, on: CUstream) -> Answer {
    let (mut driver, context, stream) = in_stream(on)?;
    driver.stream_flags(context, stream)?;
    if address == 0 {
        return Err(CudaError::InvalidValue.into());
    }
    Ok(driver.free(context, address)?)
}

pub unsafe fn allocate_host(host: *mut *mut c_void, bytes: usize) -> Answer {
    // SAFETY: the caller's promise.
    let host = unsafe { Out::new(host) }?;
    let (mut driver, context) = current()?;
    let address = driver.allocate_host(context, bytes as u64)?;
    host.set(std::ptr::with_exposed_provenance_mut(address as usize));
    Ok(())
}

pub unsafe fn allocate_host_with_flags(
    host: *mut *mut c_void,
    bytes: usize,
    flags: c_uint,
) -> Answer {
    if flags & !HOST_ALLOC_FLAGS != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    // SAFETY: the caller's promise.
    unsafe { allocate_host(host, bytes) }
}

pub unsafe fn free_host(host: *mut c_void) -> Answer {
    let mut driver = driver()?;
    let context = owner(&driver, host as u64).ok_or(CudaError::InvalidValue)?;
    Ok(driver.free_host(context, host as u64)?)
}

pub unsafe fn host_device_pointer(
    address: *mut CUdeviceptr,
    host: *mut c_void,
    flags: c_uint,
) -> Answer {
    // SAFETY: the caller's promise.
    let address = unsafe { Out::new(address) }?;
    let (driver, context) = current()?;
    driver.memory_info(context)?;
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

pub unsafe fn register_host(host: *mut c_void, length: usize, flags: c_uint) -> Answer {
    let (mut driver, context) = current()?;
    if flags & !REGISTER_FLAGS != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    // SAFETY: the caller's promise: the memory stays until it is unregistered.
    unsafe { driver.register_host(context, bytes(host), length as u64) }?;
    Ok(())
}

pub unsafe fn unregister_host(host: *mut c_void) -> Answer {
    let (mut driver, context) = current()?;
    Ok(driver.unregister_host(context, host as u64)?)
}

pub unsafe fn address_range(
    base: *mut CUdeviceptr,
    size: *mut usize,
    address: CUdeviceptr,
) -> Answer {
    let (driver, context) = current()?;
    driver.memory_info(context)?;
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

/// The attributes of a pointer (`CUpointer_attribute`) that need no more than its allocation.
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

/// A `CUmemorytype`. Managed memory counts as the device's.
fn memory_type(found: Allocation) -> c_uint {
    match found.kind {
        AllocationKind::Host | AllocationKind::Registered => 1,
        AllocationKind::Device | AllocationKind::Managed => 2,
    }
}

pub unsafe fn advise(
    address: CUdeviceptr,
    bytes: usize,
    advice: c_int,
    device: CUdevice,
) -> Answer {
    check_place(device)?;
    let (driver, context) = current()?;
    if !ADVICE.contains(&advice) {
        return Err(CudaError::InvalidValue.into());
    }
    Ok(driver.advise(context, address, bytes as u64)?)
}

pub unsafe fn prefetch(
    address: CUdeviceptr,
    bytes: usize,
    device: CUdevice,
    on: CUstream,
) -> Answer {
    check_place(device)?;
    let (driver, context, stream) = in_stream(on)?;
    driver.stream_flags(context, stream)?;
    Ok(driver.advise(context, address, bytes as u64)?)
}

/// Managed memory may be wanted on the device or on the host.
fn check_place(device: CUdevice) -> Result<(), CudaError> {
    if device == CPU {
        return Ok(());
    }
    check(device)
}
