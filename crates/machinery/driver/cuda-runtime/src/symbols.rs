//! The program's kernels and device variables (symbols), which it identifies by host addresses: attributes of
//! kernels, occupancy, and copies to and from variables.

use std::ffi::{c_char, c_int, c_uint, c_void};

use cuda_driver::findings::Bytes;
use cuda_driver::types::{CUfunction, CUstream};
use cuda_driver::{Reason, functions as cu};

use crate::errors::{Error, Result, check};
use crate::memcpy::CopyKind::{self, DeviceToHost, HostToDevice};
use crate::memcpy::{copy, copy_async};
use crate::memory::pointer;
use crate::program;
use crate::types::{FunctionAttributes, LaunchConfig};

functions! {
    // Kernels
    cudaGetFuncBySymbol(function: *mut CUfunction, symbol: *const c_void)
        -> function = program::kernel(symbol);
    cudaFuncGetAttributes(attributes: *mut FunctionAttributes, function: *const c_void)
        -> attributes = kernel_attributes(function);
    cudaFuncSetAttribute(function: *const c_void, attribute: c_int, value: c_int)
        => cuFuncSetAttribute(program::kernel(function)?, attribute, value), no_context;
    cudaFuncSetCacheConfig(function: *const c_void, config: c_int)
        => cuFuncSetCacheConfig(program::kernel(function)?, config), no_context;
    cudaFuncSetSharedMemConfig(function: *const c_void, config: c_int)
        => cuFuncSetSharedMemConfig(program::kernel(function)?, config), no_context;
    cudaFuncGetName(name: *mut *const c_char, function: *const c_void)
        -> name = program::kernel_name(function);
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
    cudaGetSymbolAddress(to: *mut *mut c_void, symbol: *const c_void)
        -> to = Ok(pointer(program::variable(symbol)?.address));
    cudaGetSymbolSize(to: *mut usize, symbol: *const c_void)
        -> to = Ok(program::variable(symbol)?.bytes);
    cudaMemcpyToSymbol(
        symbol: *const c_void, src: *const c_void, bytes: usize, offset: usize, kind: c_int,
    ) | cudaMemcpyToSymbol_ptds
        = copy(symbol_ptr(symbol, bytes, offset, kind, HostToDevice)?, src, bytes, kind), unsafe;
    cudaMemcpyToSymbolAsync(
        symbol: *const c_void, src: *const c_void, bytes: usize, offset: usize, kind: c_int,
        stream: CUstream,
    ) | cudaMemcpyToSymbolAsync_ptsz
        = copy_async(
            symbol_ptr(symbol, bytes, offset, kind, HostToDevice)?, src, bytes, kind, stream,
        ), unsafe;
    cudaMemcpyFromSymbol(
        dst: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize, kind: c_int,
    ) | cudaMemcpyFromSymbol_ptds
        = copy(dst, symbol_ptr(symbol, bytes, offset, kind, DeviceToHost)?, bytes, kind), unsafe;
    cudaMemcpyFromSymbolAsync(
        dst: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize, kind: c_int,
        stream: CUstream,
    ) | cudaMemcpyFromSymbolAsync_ptsz
        = copy_async(
            dst, symbol_ptr(symbol, bytes, offset, kind, DeviceToHost)?, bytes, kind, stream,
        ), unsafe;
}

/// `cudaFuncGetAttributes`.
fn kernel_attributes(host: *const c_void) -> Result<FunctionAttributes> {
    let function = program::kernel(host)?;
    let get = |number| attribute(function, number);
    Ok(FunctionAttributes {
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
    })
}

/// Returns the attribute with this number in `CUfunction_attribute`.
fn attribute(function: CUfunction, number: c_int) -> Result<c_int> {
    let mut value = 0;
    // SAFETY: `value` is writable, and `function` comes from the loaded module.
    check(unsafe { cu::cuFuncGetAttribute(&mut value, number, function) })?;
    Ok(value)
}

/// Returns the address of the bytes at `offset` of a device variable. Fails if they exceed the variable or if
/// `kind` is neither `host_kind`, nor within the device, nor given by the addresses.
pub(crate) fn symbol_ptr(
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    kind: c_int,
    host_kind: CopyKind,
) -> Result<*mut c_void> {
    let variable = program::variable(symbol)?;
    let allowed = [host_kind, CopyKind::DeviceToDevice, CopyKind::Default];
    if !allowed.contains(&CopyKind::new(kind)?) {
        return Err(Error::INVALID_DIRECTION.because(Reason::SymbolDirection));
    }
    let end = offset.checked_add(bytes).ok_or(Error::INVALID_VALUE)?;
    if end > variable.bytes {
        let reason = Reason::SymbolBounds(end as u64, Bytes(variable.bytes as u64));
        return Err(Error::INVALID_VALUE.because(reason));
    }
    Ok(pointer(variable.address + offset as u64))
}
