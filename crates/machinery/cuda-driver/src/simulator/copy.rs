//! Copies of one, two and three dimensions.

use std::ffi::{c_int, c_void};

use cuda_sim::driver::{Copy, CudaError, Memory, Place};
use cust_raw::{CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUdeviceptr, CUstream};

use super::raw::bytes;
use super::{current, in_stream};
use crate::report::say;
use crate::status::Answer;

/// `CU_MEMORYTYPE_…`.
const HOST: c_int = 1;
const DEVICE: c_int = 2;
const ARRAY: c_int = 3;
const UNIFIED: c_int = 4;

pub unsafe fn unified(to: CUdeviceptr, from: CUdeviceptr, size: usize) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { run(&linear(Memory::Unified(to), Memory::Unified(from), size)) }
}

pub unsafe fn unified_async(
    to: CUdeviceptr,
    from: CUdeviceptr,
    size: usize,
    on: CUstream,
) -> Answer {
    // SAFETY: the caller's promise.
    unsafe {
        run_in(
            on,
            &linear(Memory::Unified(to), Memory::Unified(from), size),
        )
    }
}

pub unsafe fn host_to_device(to: CUdeviceptr, from: *const c_void, size: usize) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { run(&linear(Memory::Device(to), host(from), size)) }
}

pub unsafe fn host_to_device_async(
    to: CUdeviceptr,
    from: *const c_void,
    size: usize,
    on: CUstream,
) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { run_in(on, &linear(Memory::Device(to), host(from), size)) }
}

pub unsafe fn device_to_host(to: *mut c_void, from: CUdeviceptr, size: usize) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { run(&linear(host(to), Memory::Device(from), size)) }
}

pub unsafe fn device_to_host_async(
    to: *mut c_void,
    from: CUdeviceptr,
    size: usize,
    on: CUstream,
) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { run_in(on, &linear(host(to), Memory::Device(from), size)) }
}

pub unsafe fn device_to_device(to: CUdeviceptr, from: CUdeviceptr, size: usize) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { run(&linear(Memory::Device(to), Memory::Device(from), size)) }
}

pub unsafe fn device_to_device_async(
    to: CUdeviceptr,
    from: CUdeviceptr,
    size: usize,
    on: CUstream,
) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { run_in(on, &linear(Memory::Device(to), Memory::Device(from), size)) }
}

pub unsafe fn two_d(copy: *const CUDA_MEMCPY2D) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { run(&read_two_d(copy)?) }
}

pub unsafe fn two_d_async(copy: *const CUDA_MEMCPY2D, on: CUstream) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { run_in(on, &read_two_d(copy)?) }
}

pub unsafe fn three_d(copy: *const CUDA_MEMCPY3D) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { run(&read_three_d(copy)?) }
}

pub unsafe fn three_d_async(copy: *const CUDA_MEMCPY3D, on: CUstream) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { run_in(on, &read_three_d(copy)?) }
}

/// # Safety
/// As [`cuda_sim::driver::Driver::copy`].
unsafe fn run(copy: &Copy) -> Answer {
    let (mut driver, context) = current()?;
    // SAFETY: the caller's promise.
    unsafe { driver.copy(context, copy) }?;
    Ok(())
}

/// # Safety
/// As [`cuda_sim::driver::Driver::copy`].
unsafe fn run_in(on: CUstream, copy: &Copy) -> Answer {
    let (mut driver, context, stream) = in_stream(on)?;
    // SAFETY: the caller's promise.
    unsafe { driver.copy_async(context, stream, copy) }?;
    Ok(())
}

fn linear(to: Memory, from: Memory, size: usize) -> Copy {
    Copy::linear(to, from, size as u64)
}

fn host(memory: *const c_void) -> Memory {
    Memory::Host(bytes(memory.cast_mut()))
}

/// One end's memory by its `CUmemorytype`. That is read as a number, for a structure that C or
/// `zeroed` made may hold one the enum lacks.
fn memory(
    kind: c_int,
    at_host: *const c_void,
    at_device: CUdeviceptr,
) -> Result<Memory, CudaError> {
    match kind {
        HOST => Ok(host(at_host)),
        DEVICE => Ok(Memory::Device(at_device)),
        UNIFIED => Ok(Memory::Unified(at_device)),
        ARRAY => {
            say(format_args!(
                "the simulator does not do copies with CUDA arrays"
            ));
            Err(CudaError::NotSupported)
        }
        _ => Err(CudaError::InvalidValue),
    }
}

/// Reads field `$field` of the structure at `$structure` as a `$type`.
macro_rules! field {
    ($structure:ident.$field:ident as $type:ty) => {
        (&raw const (*$structure).$field).cast::<$type>().read()
    };
}

/// # Safety
/// `copy` must be null or readable.
unsafe fn read_two_d(copy: *const CUDA_MEMCPY2D) -> Result<Copy, CudaError> {
    if copy.is_null() {
        return Err(CudaError::InvalidValue);
    }
    // SAFETY: not null, so readable; every field but the memory types may hold anything, and
    // those are read as the plain numbers they are in C.
    unsafe {
        Ok(Copy {
            to: Place {
                memory: memory(
                    field!(copy.dstMemoryType as c_int),
                    (*copy).dstHost,
                    (*copy).dstDevice,
                )?,
                x: (*copy).dstXInBytes as u64,
                y: (*copy).dstY as u64,
                z: 0,
                pitch: (*copy).dstPitch as u64,
                rows: 0,
            },
            from: Place {
                memory: memory(
                    field!(copy.srcMemoryType as c_int),
                    (*copy).srcHost,
                    (*copy).srcDevice,
                )?,
                x: (*copy).srcXInBytes as u64,
                y: (*copy).srcY as u64,
                z: 0,
                pitch: (*copy).srcPitch as u64,
                rows: 0,
            },
            width: (*copy).WidthInBytes as u64,
            height: (*copy).Height as u64,
            depth: 1,
        })
    }
}

/// # Safety
/// `copy` must be null or readable.
unsafe fn read_three_d(copy: *const CUDA_MEMCPY3D) -> Result<Copy, CudaError> {
    if copy.is_null() {
        return Err(CudaError::InvalidValue);
    }
    // SAFETY: as in `read_two_d`.
    unsafe {
        // Levels of detail and the reserved fields must be zero.
        if (*copy).srcLOD != 0 || (*copy).dstLOD != 0 {
            return Err(CudaError::InvalidValue);
        }
        Ok(Copy {
            to: Place {
                memory: memory(
                    field!(copy.dstMemoryType as c_int),
                    (*copy).dstHost,
                    (*copy).dstDevice,
                )?,
                x: (*copy).dstXInBytes as u64,
                y: (*copy).dstY as u64,
                z: (*copy).dstZ as u64,
                pitch: (*copy).dstPitch as u64,
                rows: (*copy).dstHeight as u64,
            },
            from: Place {
                memory: memory(
                    field!(copy.srcMemoryType as c_int),
                    (*copy).srcHost,
                    (*copy).srcDevice,
                )?,
                x: (*copy).srcXInBytes as u64,
                y: (*copy).srcY as u64,
                z: (*copy).srcZ as u64,
                pitch: (*copy).srcPitch as u64,
                rows: (*copy).srcHeight as u64,
            },
            width: (*copy).WidthInBytes as u64,
            height: (*copy).Height as u64,
            depth: (*copy).Depth as u64,
        })
    }
}
