//! Virtual memory management: physical memory, reserved addresses, and mappings between them.

use std::ffi::{c_int, c_ulonglong, c_void};

use cuda_sim::driver::{CudaError, GRANULARITY, MappingAccess};

use super::device::check_device;
use super::{SIMULATOR, sharing};
use crate::arguments::{In, Out};
use crate::simulator::lock;
use crate::status::{CallResult, warn};
use crate::types::{
    CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_DEVICE, CUdeviceptr, CUmemAccessDesc,
    CUmemAllocationProp, CUmemLocation,
};

/// `CU_MEM_ALLOCATION_COMP_GENERIC`, a compression type, which is the first byte of the allocation flags.
const COMPRESSIBLE: u8 = 1;
/// `CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED`.
const COMPRESSION: c_int = 107;

/// All values of `CUmemAllocationHandleType`.
const HANDLE_TYPES: c_int = 0xf;

/// Values of `CUmemAccess_flags`.
const NO_ACCESS: c_int = 0;
const READ: c_int = 1;
const READ_AND_WRITE: c_int = 3;

/// `cuMemGetAllocationGranularity`: minimum and recommended granularity are equal, and independent of the properties.
pub fn granularity(
    bytes: Out<usize>,
    _properties: In<CUmemAllocationProp>,
    option: c_int,
) -> CallResult {
    if !(0..=1).contains(&option) {
        return Err(CudaError::InvalidValue.into());
    }
    bytes.set(GRANULARITY as usize);
    Ok(())
}

/// Returns the device of the memory to create. Rejects memory that is not device memory.
fn check_properties(properties: &CUmemAllocationProp) -> Result<u32, CudaError> {
    if properties.kind != CU_MEM_ALLOCATION_TYPE_PINNED {
        return Err(CudaError::InvalidValue);
    }
    let device = check_location(properties.location)?;
    if !matches!(properties.flags[0], 0 | COMPRESSIBLE) {
        return Err(CudaError::InvalidValue);
    }
    // As the driver does, ignores unknown types.
    if !sharing::can_share(properties.shared & HANDLE_TYPES) {
        warn(format_args!(
            "the simulator shares memory only on Linux, and only by file descriptors"
        ));
        return Err(CudaError::NotSupported);
    }
    Ok(device)
}

/// Returns the device at a location. Rejects other locations.
fn check_location(location: CUmemLocation) -> Result<u32, CudaError> {
    match location.kind {
        CU_MEM_LOCATION_TYPE_DEVICE => check_device(location.id),
        2..=4 => Err(CudaError::NotSupported),
        _ => Err(CudaError::InvalidValue),
    }
}

/// `cuMemCreate`: accepts compressible memory if the device has it, and does not model the compression. As on a GPU, a
/// device without it allocates memory that is not compressible.
pub fn create(
    memory: Out<c_ulonglong>,
    bytes: usize,
    properties: In<CUmemAllocationProp>,
    flags: c_ulonglong,
) -> CallResult {
    let properties = properties.read();
    let device = check_properties(&properties)?;
    if flags != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    let mut driver = SIMULATOR.lock_driver_settled()?;
    let handle = driver.create_memory(device, bytes as u64)?;
    if properties.shared != 0 {
        driver.make_shareable(handle)?;
    }
    if properties.flags[0] == COMPRESSIBLE && driver.device_attribute(COMPRESSION)? != 0 {
        lock(&SIMULATOR.tables.compressible_memory).insert(handle);
    }
    memory.set(handle);
    Ok(())
}

/// `cuMemRelease`.
pub fn release(memory: c_ulonglong) -> CallResult {
    Ok(SIMULATOR.lock_driver_settled()?.release_memory(memory)?)
}

/// `cuMemAddressReserve`: ignores the requested address, which is only a hint.
pub fn reserve(
    address: Out<CUdeviceptr>,
    bytes: usize,
    alignment: usize,
    _requested: CUdeviceptr,
    flags: c_ulonglong,
) -> CallResult {
    if flags != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    address.set(
        SIMULATOR
            .lock_driver_settled()?
            .reserve_addresses(bytes as u64, alignment as u64)?,
    );
    Ok(())
}

/// `cuMemAddressFree`.
pub fn free(address: CUdeviceptr, bytes: usize) -> CallResult {
    Ok(SIMULATOR
        .lock_driver_settled()?
        .free_addresses(address, bytes as u64)?)
}

/// `cuMemMap`: the driver supports no offset.
pub fn map(
    address: CUdeviceptr,
    bytes: usize,
    offset: usize,
    memory: c_ulonglong,
    flags: c_ulonglong,
) -> CallResult {
    if flags != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    if offset != 0 {
        return Err(CudaError::NotSupported.into());
    }
    let mapped = SIMULATOR
        .lock_driver_settled()?
        .map_memory(address, bytes as u64, memory);
    if mapped == Err(CudaError::NotSupported) {
        warn(format_args!(
            "a mapping is larger than its memory, or the system cannot map memory twice"
        ));
    }
    Ok(mapped?)
}

/// `cuMemUnmap`.
pub fn unmap(address: CUdeviceptr, bytes: usize) -> CallResult {
    Ok(SIMULATOR
        .lock_driver_drained()?
        .unmap_memory(address, bytes as u64)?)
}

/// `cuMemSetAccess`: the simulator does not enforce read-only access.
pub fn set_access(
    address: CUdeviceptr,
    bytes: usize,
    descriptors: In<CUmemAccessDesc>,
    count: usize,
) -> CallResult {
    if count == 0 {
        return Err(CudaError::InvalidValue.into());
    }
    // SAFETY: `descriptors` has `count` elements, as `cuMemSetAccess` requires of its caller.
    for CUmemAccessDesc { location, flags } in unsafe { descriptors.read_all(count) } {
        let device = check_location(location).map_err(|error| match error {
            CudaError::InvalidDevice => CudaError::InvalidValue,
            other => other,
        })?;
        let access = match flags {
            NO_ACCESS => MappingAccess::None,
            READ => MappingAccess::Read,
            READ_AND_WRITE => MappingAccess::ReadWrite,
            _ => return Err(CudaError::InvalidValue.into()),
        };
        SIMULATOR
            .lock_driver_settled()?
            .set_access(address, bytes as u64, device, access)?;
    }
    Ok(())
}

/// `cuMemGetAccess`.
pub fn access(
    flags: Out<c_ulonglong>,
    location: In<CUmemLocation>,
    address: CUdeviceptr,
) -> CallResult {
    let device = check_location(location.read())?;
    let access = SIMULATOR.lock_driver_settled()?.access(address, device)?;
    flags.set(match access {
        MappingAccess::None => NO_ACCESS,
        MappingAccess::Read => READ,
        MappingAccess::ReadWrite => READ_AND_WRITE,
    } as c_ulonglong);
    Ok(())
}

/// `cuMemRetainAllocationHandle`.
pub fn retain(memory: Out<c_ulonglong>, address: *mut c_void) -> CallResult {
    memory.set(
        SIMULATOR
            .lock_driver_settled()?
            .retain_memory(address as u64)?,
    );
    Ok(())
}

/// `cuMemGetAllocationPropertiesFromHandle`: allocations differ only in their device, their
/// compression and the handles that they can be shared by.
pub fn properties(properties: Out<CUmemAllocationProp>, memory: c_ulonglong) -> CallResult {
    let driver = SIMULATOR.lock_driver_settled()?;
    let device = driver.memory_device(memory)?;
    let is_shareable = driver.is_shareable(memory);
    drop(driver);
    let is_compressible = lock(&SIMULATOR.tables.compressible_memory).contains(&memory);
    let compression = if is_compressible { COMPRESSIBLE } else { 0 };
    properties.set(CUmemAllocationProp {
        kind: CU_MEM_ALLOCATION_TYPE_PINNED,
        shared: is_shareable.into(),
        location: CUmemLocation {
            kind: CU_MEM_LOCATION_TYPE_DEVICE,
            id: device as c_int,
        },
        windows: std::ptr::null_mut(),
        flags: [compression, 0, 0, 0, 0, 0, 0, 0],
    });
    Ok(())
}
