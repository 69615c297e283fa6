//! Hints about managed memory. The simulator's managed memory never migrates, so hints have no effect; they
//! are stored
//! for `cuMemRangeGetAttribute`.

use std::ffi::{c_int, c_uint, c_void};
use std::ops::Range;
use std::sync::Mutex;

use cuda_sim::driver::{CudaError, Driver};
use cust_raw::{CUdevice, CUdeviceptr, CUstream};

use super::capture::rules;
use super::{current, device::check_device, driver, in_live_stream, lock};
use crate::status::Answer;
use crate::types::CUmemLocation;

/// `CU_DEVICE_CPU` and `CU_DEVICE_INVALID`: the host, and no device.
const CPU: c_int = -1;
const NOWHERE: c_int = -2;

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

/// A hint for a range of addresses.
struct Hint {
    range: Range<u64>,
    said: Said,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    ReadMostly(bool),
    Preferred(c_int),
    Accessed { by: c_int, yes: bool },
    Prefetched(c_int),
}

impl Said {
    /// Returns true if this hint supersedes `other`.
    fn replaces(self, other: Self) -> bool {
        match (self, other) {
            (Self::Accessed { by, .. }, Self::Accessed { by: other, .. }) => by == other,
            _ => std::mem::discriminant(&self) == std::mem::discriminant(&other),
        }
    }
}

/// All hints, the newest last. Hints that are fully superseded are removed.
static HINTS: Mutex<Vec<Hint>> = Mutex::new(Vec::new());

/// Adds a hint, which supersedes earlier ones of the same kind in its range.
fn keep(range: Range<u64>, said: Said) {
    let mut hints = lock(&HINTS);
    let (same, mut rest): (Vec<_>, Vec<_>) = hints
        .drain(..)
        .partition(|old| said.replaces(old.said) && overlap(&old.range, &range));
    for old in same {
        let parts = [
            old.range.start..range.start.min(old.range.end),
            range.end.max(old.range.start)..old.range.end,
        ];
        rest.extend(
            parts
                .into_iter()
                .filter(|part| !part.is_empty())
                .map(|part| Hint {
                    range: part,
                    said: old.said,
                }),
        );
    }
    rest.push(Hint { range, said });
    *hints = rest;
}

fn overlap(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Removes the hints for freed memory.
pub fn forget(range: Range<u64>) {
    lock(&HINTS).retain(|hint| !overlap(&hint.range, &range));
}

/// Returns the hint that applies to all of a range; `None` if parts have none or differ.
fn said<T: PartialEq + Copy>(range: &Range<u64>, of: impl Fn(Said) -> Option<T>) -> Option<T> {
    let hints = lock(&HINTS);
    let mut found = hints
        .iter()
        .filter(|hint| overlap(&hint.range, range))
        .filter_map(|hint| Some((hint.range.clone(), of(hint.said)?)))
        .collect::<Vec<_>>();
    found.sort_by_key(|(part, _)| part.start);
    let (mut reached, value) = (range.start, found.first()?.1);
    for (part, other) in found {
        if part.start > reached || other != value {
            return None;
        }
        reached = part.end;
    }
    (reached >= range.end).then_some(value)
}

/// `cuMemAdvise`.
pub unsafe fn advise(
    address: CUdeviceptr,
    bytes: usize,
    advice: c_int,
    device: CUdevice,
) -> Answer {
    let said = match advice {
        1 => Said::ReadMostly(true),
        2 => Said::ReadMostly(false),
        3 => Said::Preferred(place(device)?),
        4 => Said::Preferred(NOWHERE),
        5 | 6 => Said::Accessed {
            by: place(device)?,
            yes: advice == 5,
        },
        _ => return Err(CudaError::InvalidValue.into()),
    };
    let (driver, context) = current()?;
    driver.advise(context, address, bytes as u64)?;
    drop(driver);
    keep(address..address + bytes as u64, said);
    Ok(())
}

/// `cuMemAdvise` of CUDA 12.2.
pub unsafe fn advise_at(
    address: CUdeviceptr,
    bytes: usize,
    advice: c_int,
    location: CUmemLocation,
) -> Answer {
    // The location is ignored by the other kinds of advice.
    let device = match advice {
        3 | 5 | 6 => device_of(location)?,
        _ => CPU,
    };
    // SAFETY: `advise` dereferences no pointer: `address` is only looked up in the table of allocations.
    unsafe { advise(address, bytes, advice, device) }
}

/// `cuMemPrefetchAsync`.
pub unsafe fn prefetch(
    address: CUdeviceptr,
    bytes: usize,
    device: CUdevice,
    on: CUstream,
) -> Answer {
    let place = place(device)?;
    let (driver, context, stream) = in_live_stream(on)?;
    rules::uncapturable(context, stream)?;
    driver.advise(context, address, bytes as u64)?;
    drop(driver);
    keep(address..address + bytes as u64, Said::Prefetched(place));
    Ok(())
}

/// `cuMemPrefetchAsync` of CUDA 12.2.
pub unsafe fn prefetch_to(
    address: CUdeviceptr,
    bytes: usize,
    location: CUmemLocation,
    flags: c_uint,
    on: CUstream,
) -> Answer {
    if flags != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    // SAFETY: `prefetch` dereferences no pointer: `address` is only looked up in the table of allocations.
    unsafe { prefetch(address, bytes, device_of(location)?, on) }
}

/// Checks that managed memory can be on `device`: any device, or the host.
fn place(device: CUdevice) -> Result<c_int, CudaError> {
    if device != CPU {
        check_device(device)?;
    }
    Ok(device)
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
pub unsafe fn attribute(
    data: *mut c_void,
    size: usize,
    attribute: c_int,
    address: CUdeviceptr,
    bytes: usize,
) -> Answer {
    let driver = driver()?;
    // SAFETY: `data` is null or has `size` bytes, as `cuMemRangeGetAttribute` requires of its caller.
    Ok(unsafe { answer(&driver, data, size, attribute, address, bytes) }?)
}

/// `cuMemRangeGetAttributes`.
pub unsafe fn attributes(
    data: *mut *mut c_void,
    sizes: *mut usize,
    attributes: *mut c_int,
    count: usize,
    address: CUdeviceptr,
    bytes: usize,
) -> Answer {
    if data.is_null() || sizes.is_null() || attributes.is_null() || count == 0 {
        return Err(CudaError::InvalidValue.into());
    }
    let driver = driver()?;
    for i in 0..count {
        // SAFETY: the three arrays have `count` elements and each buffer has its size, as
        // `cuMemRangeGetAttributes`
        // requires of its caller.
        unsafe {
            let (data, size, attribute) = (*data.add(i), *sizes.add(i), *attributes.add(i));
            answer(&driver, data, size, attribute, address, bytes)?;
        }
    }
    Ok(())
}

/// Writes one attribute of a range to `data`.
///
/// # Safety
/// `data` must be null or have room for `size` bytes.
unsafe fn answer(
    driver: &Driver,
    data: *mut c_void,
    size: usize,
    attribute: c_int,
    address: u64,
    bytes: usize,
) -> Result<(), CudaError> {
    const NUMBER: usize = size_of::<c_int>();
    driver.managed(address, bytes as u64)?;
    let room = size / NUMBER;
    let fits = match attribute {
        ACCESSED_BY => room >= 1 && size.is_multiple_of(NUMBER),
        _ => size == NUMBER,
    };
    if data.is_null() || !fits {
        return Err(CudaError::InvalidValue);
    }
    let range = address..address + bytes as u64;
    let preferred = || {
        let found = said(&range, |said| match said {
            Said::Preferred(place) => Some(place),
            _ => None,
        });
        found.unwrap_or(NOWHERE)
    };
    let prefetched = || {
        let found = said(&range, |said| match said {
            Said::Prefetched(place) => Some(place),
            _ => None,
        });
        found.unwrap_or(NOWHERE)
    };
    let first = match attribute {
        READ_MOSTLY => {
            let found = said(&range, |said| match said {
                Said::ReadMostly(yes) => Some(yes),
                _ => None,
            });
            found.unwrap_or(false).into()
        }
        PREFERRED => preferred(),
        LAST_PREFETCH => prefetched(),
        PREFERRED_KIND => kind_of(preferred()),
        PREFETCH_KIND => kind_of(prefetched()),
        PREFERRED_ID => preferred().max(0),
        PREFETCH_ID => prefetched().max(0),
        ACCESSED_BY => {
            let places = std::iter::once(CPU)
                .chain(super::device::all())
                .filter(|&place| accessed(&range, place));
            let places = places.chain(std::iter::repeat(NOWHERE));
            for (i, place) in places.take(room).enumerate() {
                // SAFETY: `data` has room for `capacity` values, and `i` is less than that.
                unsafe { data.cast::<c_int>().add(i).write(place) };
            }
            return Ok(());
        }
        _ => return Err(CudaError::InvalidValue),
    };
    // SAFETY: `size` is the size of one value, and `data` is not null.
    unsafe { data.cast::<c_int>().write(first) };
    Ok(())
}

/// Returns true if `location` was advised to access all of a range.
fn accessed(range: &Range<u64>, place: c_int) -> bool {
    let found = said(range, |said| match said {
        Said::Accessed { by, yes } if by == place => Some(yes),
        _ => None,
    });
    found == Some(true)
}

/// Returns the `CUmemLocationType` of a location.
fn kind_of(place: c_int) -> c_int {
    match place {
        NOWHERE => 0,
        CPU => HOST.start,
        _ => DEVICE,
    }
}
