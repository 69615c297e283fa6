//! Hints about managed memory. The simulator's managed memory never migrates, so hints have no effect; they
//! are stored for `cuMemRangeGetAttribute`.

use std::ffi::{c_int, c_uint, c_void};
use std::ops::Range;

use cuda_sim::driver::{CudaError, Driver};

use super::SIMULATOR;
use super::device::{all, check_device};
use crate::arguments::{Argument, In, Out, required};
use crate::simulator::{Advice, Hints, Stream, lock};
use crate::status::CallResult;
use crate::types::{CUdevice, CUdeviceptr, CUmemLocation};

/// `CU_DEVICE_CPU` and `CU_DEVICE_INVALID`: the host, and no device.
const CPU: c_int = -1;
const INVALID_DEVICE: c_int = -2;

/// Values of `CUmemLocationType`.
const DEVICE: c_int = 1;
const HOST: Range<c_int> = 2..5;

/// Values of `CUmem_range_attribute`.
const READ_MOSTLY: c_int = 1;
const PREFERRED: c_int = 2;
const ACCESSED_BY: c_int = 3;
const LAST_PREFETCH: c_int = 4;
const PREFERRED_KIND: c_int = 5;
const PREFERRED_ID: c_int = 6;
const PREFETCH_KIND: c_int = 7;
const PREFETCH_ID: c_int = 8;

/// `cuMemAdvise`.
pub fn advise(address: CUdeviceptr, bytes: usize, advice: c_int, device: CUdevice) -> CallResult {
    let hint = match advice {
        1 => Advice::ReadMostly(true),
        2 => Advice::ReadMostly(false),
        3 => Advice::Preferred(check_advised(device)?),
        4 => Advice::Preferred(INVALID_DEVICE),
        5 | 6 => Advice::Accessed {
            by: check_advised(device)?,
            yes: advice == 5,
        },
        _ => return Err(CudaError::InvalidValue.into()),
    };
    let (driver, context) = SIMULATOR.lock_current_context_settled()?;
    driver.advise(context, address, bytes as u64)?;
    drop(driver);
    let range = address..address + bytes as u64;
    lock(&SIMULATOR.tables.managed_hints).add(range, hint);
    Ok(())
}

/// `cuMemAdvise` of CUDA 12.2.
pub fn advise_at(
    address: CUdeviceptr,
    bytes: usize,
    advice: c_int,
    location: CUmemLocation,
) -> CallResult {
    // The location is ignored by the other kinds of advice.
    let device = match advice {
        3 | 5 | 6 => device_of(location)?,
        _ => CPU,
    };
    advise(address, bytes, advice, device)
}

/// `cuMemPrefetchAsync`.
pub fn prefetch(
    address: CUdeviceptr,
    bytes: usize,
    device: CUdevice,
    h_stream: Stream,
) -> CallResult {
    let location = check_location(device)?;
    let (driver, context, stream) = SIMULATOR.lock_live_stream(h_stream)?;
    SIMULATOR.captures.check_stream_wait(context, stream)?;
    driver.advise(context, address, bytes as u64)?;
    drop(driver);
    let range = address..address + bytes as u64;
    lock(&SIMULATOR.tables.managed_hints).add(range, Advice::Prefetched(location));
    Ok(())
}

/// `cuMemPrefetchAsync` of CUDA 12.2.
pub fn prefetch_to(
    address: CUdeviceptr,
    bytes: usize,
    location: CUmemLocation,
    flags: c_uint,
    h_stream: Stream,
) -> CallResult {
    if flags != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    prefetch(address, bytes, device_of(location)?, h_stream)
}

/// Checks that managed memory can be on `device`: any device, or the host.
fn check_location(device: CUdevice) -> Result<c_int, CudaError> {
    if device != CPU {
        check_device(device)?;
    }
    Ok(device)
}

/// Checks a location as [`check_location`] does, with the error of `cuMemAdvise`.
fn check_advised(device: CUdevice) -> Result<c_int, CudaError> {
    check_location(device).map_err(|_| CudaError::InvalidValue)
}

/// Returns the device of a location; [`CPU`] for the host.
fn device_of(location: CUmemLocation) -> Result<CUdevice, CudaError> {
    match location.kind {
        DEVICE => Ok(location.id),
        kind if HOST.contains(&kind) => Ok(CPU),
        _ => Err(CudaError::InvalidValue),
    }
}

/// `cuMemRangeGetAttribute`.
pub fn attribute(
    data: Option<Out<c_void>>,
    size: usize,
    attribute: c_int,
    address: CUdeviceptr,
    bytes: usize,
) -> CallResult {
    let driver = SIMULATOR.lock_driver_settled()?;
    // SAFETY: `data` has `size` bytes, as `cuMemRangeGetAttribute` requires of its caller.
    Ok(unsafe { write_attribute(&driver, data, size, attribute, address, bytes) }?)
}

/// `cuMemRangeGetAttributes`.
pub fn attributes(
    data: In<*mut c_void>,
    sizes: In<usize>,
    attributes: In<c_int>,
    count: usize,
    address: CUdeviceptr,
    bytes: usize,
) -> CallResult {
    if count == 0 {
        return Err(CudaError::InvalidValue.into());
    }
    let driver = SIMULATOR.lock_driver_settled()?;
    // SAFETY: the three arrays have `count` elements, as `cuMemRangeGetAttributes` requires of its caller.
    let (data, sizes, attributes) = unsafe {
        (
            data.read_all(count),
            sizes.read_all(count),
            attributes.read_all(count),
        )
    };
    for ((data, size), attribute) in data.into_iter().zip(sizes).zip(attributes) {
        // SAFETY: `data` is null or has `size` bytes, as `cuMemRangeGetAttributes` requires of its caller.
        unsafe {
            let data = Argument::from_c(data)?;
            write_attribute(&driver, data, size, attribute, address, bytes)?;
        }
    }
    Ok(())
}

/// Writes one attribute of a range to `data`.
///
/// # Safety
/// `data` must have room for `size` bytes.
unsafe fn write_attribute(
    driver: &Driver,
    data: Option<Out<c_void>>,
    size: usize,
    attribute: c_int,
    address: u64,
    bytes: usize,
) -> Result<(), CudaError> {
    const VALUE_SIZE: usize = size_of::<c_int>();
    driver.check_managed(address, bytes as u64)?;
    let capacity = size / VALUE_SIZE;
    let fits = match attribute {
        ACCESSED_BY => capacity >= 1 && size.is_multiple_of(VALUE_SIZE),
        _ => size == VALUE_SIZE,
    };
    let data = required(data)?;
    if !fits {
        return Err(CudaError::InvalidValue);
    }
    let range = address..address + bytes as u64;
    let hints = lock(&SIMULATOR.tables.managed_hints);
    let preferred = || {
        let value = hints.of(&range, |advice| match advice {
            Advice::Preferred(location) => Some(location),
            _ => None,
        });
        value.unwrap_or(INVALID_DEVICE)
    };
    let prefetched = || {
        let value = hints.of(&range, |advice| match advice {
            Advice::Prefetched(location) => Some(location),
            _ => None,
        });
        value.unwrap_or(INVALID_DEVICE)
    };
    let first = match attribute {
        READ_MOSTLY => {
            let value = hints.of(&range, |advice| match advice {
                Advice::ReadMostly(yes) => Some(yes),
                _ => None,
            });
            value.unwrap_or(false).into()
        }
        PREFERRED => preferred(),
        LAST_PREFETCH => prefetched(),
        PREFERRED_KIND => kind_of(preferred()),
        PREFETCH_KIND => kind_of(prefetched()),
        PREFERRED_ID => id_of(preferred()),
        PREFETCH_ID => id_of(prefetched()),
        ACCESSED_BY => {
            // An H200's driver lists the devices before the CPU, whatever the order of the hints.
            let locations = (all())
                .chain(std::iter::once(CPU))
                .filter(|&location| is_accessed_by(&hints, &range, location));
            let locations = locations.chain(std::iter::repeat(INVALID_DEVICE));
            // SAFETY: `data` has room for `capacity` values.
            unsafe { data.set_all_as(locations.take(capacity)) };
            return Ok(());
        }
        _ => return Err(CudaError::InvalidValue),
    };
    // SAFETY: `size` is the size of one value.
    unsafe { data.set_as::<c_int>(first) };
    Ok(())
}

/// Returns true if `location` was advised to access all of a range.
fn is_accessed_by(hints: &Hints, range: &Range<u64>, location: c_int) -> bool {
    let value = hints.of(range, |advice| match advice {
        Advice::Accessed { by, yes } if by == location => Some(yes),
        _ => None,
    });
    value == Some(true)
}

/// Returns the number of a location among those of its type.
fn id_of(location: c_int) -> c_int {
    match location {
        INVALID_DEVICE => INVALID_DEVICE,
        _ => location.max(0),
    }
}

/// Returns the `CUmemLocationType` of a location.
fn kind_of(location: c_int) -> c_int {
    match location {
        INVALID_DEVICE => 0,
        CPU => HOST.start,
        _ => DEVICE,
    }
}
