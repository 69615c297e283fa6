//! The program's kernels and device variables (symbols), which it identifies by host addresses: attributes of
//! kernels, occupancy, and copies to and from variables.

use std::ffi::{c_char, c_int, c_uint, c_void};

use cuda_driver::functions as cu;
use cust_raw::{CUfunction, CUstream};

use crate::errors::{Error, Result, check};
use crate::functions::Out;
use crate::memcpy::{self, CopyKind};
use crate::memory::pointer;
use crate::program;
use crate::types::{FunctionAttributes, LaunchConfig};

functions! {
    // Kernels
    cudaGetFuncBySymbol(function: *mut CUfunction, symbol: *const c_void) => function_by_symbol;
    cudaFuncGetAttributes(attributes: *mut FunctionAttributes, function: *const c_void)
        => kernel_attributes;
    cudaFuncSetAttribute(function: *const c_void, attribute: c_int, value: c_int)
        => cuFuncSetAttribute(program::kernel(function)?, attribute, value), no_context;
    cudaFuncSetCacheConfig(function: *const c_void, config: c_int)
        => cuFuncSetCacheConfig(program::kernel(function)?, config), no_context;
    cudaFuncSetSharedMemConfig(function: *const c_void, config: c_int)
        => cuFuncSetSharedMemConfig(program::kernel(function)?, config), no_context;
    cudaFuncGetName(name: *mut *const c_char, function: *const c_void) => kernel_name;
    cudaFuncGetParamInfo(
        function: *const c_void, index: usize, offset: *mut usize, size: *mut usize,
    );
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int, function: *const c_void, threads: c_int, dynamic_shared: usize,
    )
        => cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            blocks, program::kernel(function)?, threads, dynamic_shared, 0,
        ), no_context;
    cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: *mut c_int, function: *const c_void, threads: c_int, dynamic_shared: usize,
        flags: c_uint,
    )
        => cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            blocks, program::kernel(function)?, threads, dynamic_shared, flags,
        ), no_context;
    cudaOccupancyAvailableDynamicSMemPerBlock(
        bytes: *mut usize, function: *const c_void, blocks: c_int, threads: c_int,
    )
        => cuOccupancyAvailableDynamicSMemPerBlock(
            bytes, program::kernel(function)?, blocks, threads,
        ), no_context;
    cudaOccupancyMaxPotentialClusterSize(
        size: *mut c_int, function: *const c_void, config: *const LaunchConfig,
    );
    cudaOccupancyMaxActiveClusters(
        clusters: *mut c_int, function: *const c_void, config: *const LaunchConfig,
    );

    // Variables
    cudaGetSymbolAddress(to: *mut *mut c_void, symbol: *const c_void) => address;
    cudaGetSymbolSize(to: *mut usize, symbol: *const c_void) => size;
    cudaMemcpyToSymbol(
        symbol: *const c_void, src: *const c_void, bytes: usize, offset: usize, kind: c_int,
    ) | cudaMemcpyToSymbol_ptds => copy_to;
    cudaMemcpyToSymbolAsync(
        symbol: *const c_void, src: *const c_void, bytes: usize, offset: usize, kind: c_int,
        stream: CUstream,
    ) | cudaMemcpyToSymbolAsync_ptsz => copy_to_async;
    cudaMemcpyFromSymbol(
        dst: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize, kind: c_int,
    ) | cudaMemcpyFromSymbol_ptds => copy_from;
    cudaMemcpyFromSymbolAsync(
        dst: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize, kind: c_int,
        stream: CUstream,
    ) | cudaMemcpyFromSymbolAsync_ptsz => copy_from_async;
}

/// `cudaGetFuncBySymbol`.
unsafe fn function_by_symbol(to: *mut CUfunction, symbol: *const c_void) -> Result {
    // SAFETY: `cudaGetFuncBySymbol` requires `to` to be null or writable.
    let to = unsafe { Out::new(to) }?;
    to.set(program::kernel(symbol)?);
    Ok(())
}

/// `cudaFuncGetAttributes`.
unsafe fn kernel_attributes(to: *mut FunctionAttributes, host: *const c_void) -> Result {
    // SAFETY: `cudaFuncGetAttributes` requires `to` to be null or writable.
    let to = unsafe { Out::new(to) }?;
    let function = program::kernel(host)?;
    let get = |number| attribute(function, number);
    to.set(FunctionAttributes {
        max_threads_per_block: get(0)?,
        shared_size: get(1)? as usize,
        const_size: get(2)? as usize,
        local_size: get(3)? as usize,
        registers: get(4)?,
        ptx_version: get(5)?,
        binary_version: get(6)?,
        cache_mode_ca: get(7)?,
        max_dynamic_shared_size: get(8)?,
        preferred_shmem_carveout: get(9)?,
        ..FunctionAttributes::default()
    });
    Ok(())
}

/// Returns the attribute with this number in `CUfunction_attribute`.
fn attribute(function: CUfunction, number: c_int) -> Result<c_int> {
    let mut value = 0;
    // SAFETY: `value` is writable, and `function` comes from the loaded module.
    check(unsafe { cu::cuFuncGetAttribute(&mut value, number, function) })?;
    Ok(value)
}

/// `cudaFuncGetName`.
unsafe fn kernel_name(to: *mut *const c_char, host: *const c_void) -> Result {
    // SAFETY: `cudaFuncGetName` requires `to` to be null or writable.
    let to = unsafe { Out::new(to) }?;
    to.set(program::kernel_name(host)?);
    Ok(())
}

/// `cudaGetSymbolAddress`.
unsafe fn address(to: *mut *mut c_void, symbol: *const c_void) -> Result {
    // SAFETY: `cudaGetSymbolAddress` requires `to` to be null or writable.
    let to = unsafe { Out::new(to) }?;
    to.set(pointer(program::variable(symbol)?.address));
    Ok(())
}

/// `cudaGetSymbolSize`.
unsafe fn size(to: *mut usize, symbol: *const c_void) -> Result {
    // SAFETY: `cudaGetSymbolSize` requires `to` to be null or writable.
    let to = unsafe { Out::new(to) }?;
    to.set(program::variable(symbol)?.bytes);
    Ok(())
}

/// `cudaMemcpyToSymbol`.
unsafe fn copy_to(
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
unsafe fn copy_to_async(
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
unsafe fn copy_from(
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
unsafe fn copy_from_async(
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
pub(crate) const TO_DEVICE_KINDS: [CopyKind; 3] = [
    CopyKind::HostToDevice,
    CopyKind::DeviceToDevice,
    CopyKind::Default,
];
pub(crate) const FROM_DEVICE_KINDS: [CopyKind; 3] = [
    CopyKind::DeviceToHost,
    CopyKind::DeviceToDevice,
    CopyKind::Default,
];

/// Returns the address of the bytes at `offset` of a device variable. Fails if they exceed the variable or if
/// `kind` is not among `allowed_kinds`.
pub(crate) fn checked_symbol_ptr(
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
