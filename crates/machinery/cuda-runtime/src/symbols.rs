//! Variables of the device's, which the program names by their own names.

use std::ffi::{c_int, c_void};

use cust_raw::{CUfunction, CUstream};

use crate::arguments::Out;
use crate::copies::{self, Kind};
use crate::memory::pointer;
use crate::program;
use crate::status::{Answer, Error};

/// `cudaGetSymbolAddress`.
pub unsafe fn address(to: *mut *mut c_void, symbol: *const c_void) -> Answer {
    // SAFETY: the caller's promise.
    let to = unsafe { Out::new(to) }?;
    to.set(pointer(program::variable(symbol)?.address));
    Ok(())
}

/// `cudaGetSymbolSize`.
pub unsafe fn size(to: *mut usize, symbol: *const c_void) -> Answer {
    // SAFETY: the caller's promise.
    let to = unsafe { Out::new(to) }?;
    to.set(program::variable(symbol)?.bytes);
    Ok(())
}

/// `cudaGetFuncBySymbol`.
pub unsafe fn function(to: *mut CUfunction, symbol: *const c_void) -> Answer {
    // SAFETY: the caller's promise.
    let to = unsafe { Out::new(to) }?;
    to.set(program::kernel(symbol)?);
    Ok(())
}

/// `cudaMemcpyToSymbol`.
pub unsafe fn copy_to(
    symbol: *const c_void,
    src: *const c_void,
    bytes: usize,
    offset: usize,
    kind: c_int,
) -> Answer {
    let to = target(symbol, bytes, offset, kind, TO)?;
    // SAFETY: the caller's promise.
    unsafe { copies::copy(to, src, bytes, kind) }
}

/// `cudaMemcpyToSymbolAsync`.
pub unsafe fn copy_to_async(
    symbol: *const c_void,
    src: *const c_void,
    bytes: usize,
    offset: usize,
    kind: c_int,
    stream: CUstream,
) -> Answer {
    let to = target(symbol, bytes, offset, kind, TO)?;
    // SAFETY: the caller's promise.
    unsafe { copies::copy_async(to, src, bytes, kind, stream) }
}

/// `cudaMemcpyFromSymbol`.
pub unsafe fn copy_from(
    dst: *mut c_void,
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    kind: c_int,
) -> Answer {
    let from = target(symbol, bytes, offset, kind, FROM)?;
    // SAFETY: the caller's promise.
    unsafe { copies::copy(dst, from, bytes, kind) }
}

/// `cudaMemcpyFromSymbolAsync`.
pub unsafe fn copy_from_async(
    dst: *mut c_void,
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    kind: c_int,
    stream: CUstream,
) -> Answer {
    let from = target(symbol, bytes, offset, kind, FROM)?;
    // SAFETY: the caller's promise.
    unsafe { copies::copy_async(dst, from, bytes, kind, stream) }
}

/// The ways that copies to and from a variable go.
pub const TO: [Kind; 3] = [Kind::HostToDevice, Kind::DeviceToDevice, Kind::Default];
pub const FROM: [Kind; 3] = [Kind::DeviceToHost, Kind::DeviceToDevice, Kind::Default];

/// The bytes of a variable from `offset` on, if it has so many and a copy may go this way.
pub fn target(
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    kind: c_int,
    ways: [Kind; 3],
) -> Answer<*mut c_void> {
    let variable = program::variable(symbol)?;
    if !ways.contains(&Kind::new(kind)?) {
        return Err(Error::INVALID_DIRECTION);
    }
    let end = offset.checked_add(bytes).ok_or(Error::INVALID_VALUE)?;
    if end > variable.bytes {
        return Err(Error::INVALID_VALUE);
    }
    Ok(pointer(variable.address + offset as u64))
}
