//! Device variables (symbols), which the program identifies by the addresses of their host shadows.

use std::ffi::{c_int, c_void};

use cust_raw::{CUfunction, CUstream};

use crate::arguments::Out;
use crate::memcpy::{self, CopyKind};
use crate::memory::pointer;
use crate::program;
use crate::status::{Error, Result};

/// `cudaGetSymbolAddress`.
pub unsafe fn address(to: *mut *mut c_void, symbol: *const c_void) -> Result {
    // SAFETY: `cudaGetSymbolAddress` requires `to` to be null or writable.
    let to = unsafe { Out::new(to) }?;
    to.set(pointer(program::variable(symbol)?.address));
    Ok(())
}

/// `cudaGetSymbolSize`.
pub unsafe fn size(to: *mut usize, symbol: *const c_void) -> Result {
    // SAFETY: `cudaGetSymbolSize` requires `to` to be null or writable.
    let to = unsafe { Out::new(to) }?;
    to.set(program::variable(symbol)?.bytes);
    Ok(())
}

/// `cudaGetFuncBySymbol`.
pub unsafe fn function(to: *mut CUfunction, symbol: *const c_void) -> Result {
    // SAFETY: `cudaGetFuncBySymbol` requires `to` to be null or writable.
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
) -> Result {
    let to = checked_symbol_ptr(symbol, bytes, offset, kind, TO_DEVICE_KINDS)?;
    // SAFETY: `cudaMemcpyToSymbol` has the same requirements for `src` as `memcpy::copy`.
    unsafe { memcpy::copy(to, src, bytes, kind) }
}

/// `cudaMemcpyToSymbolAsync`.
pub unsafe fn copy_to_async(
    symbol: *const c_void,
    src: *const c_void,
    bytes: usize,
    offset: usize,
    kind: c_int,
    stream: CUstream,
) -> Result {
    let to = checked_symbol_ptr(symbol, bytes, offset, kind, TO_DEVICE_KINDS)?;
    // SAFETY: `cudaMemcpyToSymbolAsync` has the same requirements for `src` as `memcpy::copy_async`.
    unsafe { memcpy::copy_async(to, src, bytes, kind, stream) }
}

/// `cudaMemcpyFromSymbol`.
pub unsafe fn copy_from(
    dst: *mut c_void,
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    kind: c_int,
) -> Result {
    let from = checked_symbol_ptr(symbol, bytes, offset, kind, FROM_DEVICE_KINDS)?;
    // SAFETY: `cudaMemcpyFromSymbol` has the same requirements for `dst` as `memcpy::copy`.
    unsafe { memcpy::copy(dst, from, bytes, kind) }
}

/// `cudaMemcpyFromSymbolAsync`.
pub unsafe fn copy_from_async(
    dst: *mut c_void,
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    kind: c_int,
    stream: CUstream,
) -> Result {
    let from = checked_symbol_ptr(symbol, bytes, offset, kind, FROM_DEVICE_KINDS)?;
    // SAFETY: `cudaMemcpyFromSymbolAsync` has the same requirements for `dst` as `memcpy::copy_async`.
    unsafe { memcpy::copy_async(dst, from, bytes, kind, stream) }
}

/// Allowed directions of copies to and from a device variable.
pub const TO_DEVICE_KINDS: [CopyKind; 3] = [
    CopyKind::HostToDevice,
    CopyKind::DeviceToDevice,
    CopyKind::Default,
];
pub const FROM_DEVICE_KINDS: [CopyKind; 3] = [
    CopyKind::DeviceToHost,
    CopyKind::DeviceToDevice,
    CopyKind::Default,
];

/// Returns the address of the bytes at `offset` of a device variable. Fails if they exceed the variable or if
/// `kind` is not among `allowed_kinds`.
pub fn checked_symbol_ptr(
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    kind: c_int,
    allowed_kinds: [CopyKind; 3],
) -> Result<*mut c_void> {
    let variable = program::variable(symbol)?;
    if !allowed_kinds.contains(&CopyKind::new(kind)?) {
        return Err(Error::INVALID_DIRECTION);
    }
    let end = offset.checked_add(bytes).ok_or(Error::INVALID_VALUE)?;
    if end > variable.bytes {
        return Err(Error::INVALID_VALUE);
    }
    Ok(pointer(variable.address + offset as u64))
}
