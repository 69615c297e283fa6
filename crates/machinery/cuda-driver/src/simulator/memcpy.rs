//! Copies (`cuMemcpy…`) of one, two and three dimensions.

use std::ffi::{c_int, c_void};

use cuda_sim::driver::{CudaError, Memcpy, MemcpyAddress, MemcpyOperand};
use cust_raw::{
    CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER, CUarray, CUcontext, CUdeviceptr, CUstream,
};

use super::capture::rules;
use super::graph::memory;
use super::raw::{OwnDefault, context, host_pointer, number};
use super::submit::submit;
use super::work::Work;
use super::{current, driver, in_live_stream, stream};
use crate::status::Answer;

/// The numbers of `CUmemorytype`.
const HOST: c_int = 1;
const DEVICE: c_int = 2;
const ARRAY: c_int = 3;
const UNIFIED: c_int = 4;

/// The default stream.
const DEFAULT: CUstream = std::ptr::null_mut();

/// The two functions that copy `size` bytes from one kind of memory to another: one that waits, and
/// one in a stream.
macro_rules! linear_copies {
    (
        $c_name:literal $name:ident $name_async:ident,
        $dst:ident: $dst_type:ty, $src:ident: $src_type:ty
    ) => {
        #[doc = concat!("`", $c_name, "`.")]
        pub unsafe fn $name(dst: $dst_type, src: $src_type, size: usize) -> Answer {
            // SAFETY: the caller's promise.
            unsafe { run(&Memcpy::linear($dst(dst), $src(src), size as u64)) }
        }

        #[doc = concat!("`", $c_name, "Async`.")]
        pub unsafe fn $name_async(
            dst: $dst_type,
            src: $src_type,
            size: usize,
            on: CUstream,
        ) -> Answer {
            // SAFETY: the caller's promise.
            unsafe { run_in(on, &Memcpy::linear($dst(dst), $src(src), size as u64)) }
        }
    };
}

linear_copies!(
    "cuMemcpy" unified unified_async,
    either: CUdeviceptr, either: CUdeviceptr
);
linear_copies!(
    "cuMemcpyHtoD" host_to_device host_to_device_async,
    device: CUdeviceptr, host: *const c_void
);
linear_copies!(
    "cuMemcpyDtoH" device_to_host device_to_host_async,
    host: *mut c_void, device: CUdeviceptr
);
linear_copies!(
    "cuMemcpyDtoD" device_to_device device_to_device_async,
    device: CUdeviceptr, device: CUdeviceptr
);

/// `cuMemcpyHtoA`.
pub unsafe fn host_to_array(to: CUarray, at: usize, from: *const c_void, bytes: usize) -> Answer {
    // SAFETY: the caller's promise.
    unsafe {
        run(&row(
            texels(to, at),
            MemcpyOperand::linear(host(from)),
            bytes,
        ))
    }
}

/// `cuMemcpyHtoAAsync`.
pub unsafe fn host_to_array_async(
    to: CUarray,
    at: usize,
    from: *const c_void,
    bytes: usize,
    on: CUstream,
) -> Answer {
    let copy = row(texels(to, at), MemcpyOperand::linear(host(from)), bytes);
    // SAFETY: the caller's promise.
    unsafe { run_in(on, &copy) }
}

/// `cuMemcpyAtoHAsync`.
pub unsafe fn array_to_host_async(
    to: *mut c_void,
    from: CUarray,
    at: usize,
    bytes: usize,
    on: CUstream,
) -> Answer {
    let copy = row(MemcpyOperand::linear(host(to)), texels(from, at), bytes);
    // SAFETY: the caller's promise.
    unsafe { run_in(on, &copy) }
}

/// `cuMemcpyPeer`: between two contexts. Addresses say themselves which device they are of.
pub unsafe fn peer(
    to: CUdeviceptr,
    to_context: CUcontext,
    from: CUdeviceptr,
    from_context: CUcontext,
    bytes: usize,
) -> Answer {
    check_contexts([to_context, from_context])?;
    // SAFETY: the caller's promise.
    unsafe { run(&Memcpy::linear(device(to), device(from), bytes as u64)) }
}

/// `cuMemcpyPeerAsync`.
pub unsafe fn peer_async(
    to: CUdeviceptr,
    to_context: CUcontext,
    from: CUdeviceptr,
    from_context: CUcontext,
    bytes: usize,
    on: CUstream,
) -> Answer {
    check_contexts([to_context, from_context])?;
    // SAFETY: the caller's promise.
    unsafe { run_in(on, &Memcpy::linear(device(to), device(from), bytes as u64)) }
}

/// `cuMemcpy3DPeer`.
pub unsafe fn three_d_peer(copy: *const CUDA_MEMCPY3D_PEER) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { run(&read_peer(copy)?) }
}

/// `cuMemcpy3DPeerAsync`.
pub unsafe fn three_d_peer_async(copy: *const CUDA_MEMCPY3D_PEER, on: CUstream) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { run_in(on, &read_peer(copy)?) }
}

/// The copy of a structure that differs from [`CUDA_MEMCPY3D`] in that it names two contexts where that has nothing.
///
/// # Safety
/// `copy` must be null or readable.
unsafe fn read_peer(copy: *const CUDA_MEMCPY3D_PEER) -> Result<Memcpy, CudaError> {
    if copy.is_null() {
        return Err(CudaError::InvalidValue);
    }
    // SAFETY: not null, so readable.
    let contexts = unsafe { [(*copy).dstContext, (*copy).srcContext] };
    check_contexts(contexts)?;
    // SAFETY: the structures are laid out alike.
    unsafe { read_three_d(copy.cast()) }
}

/// [`CudaError::InvalidContext`] unless all of them are contexts.
fn check_contexts(contexts: [CUcontext; 2]) -> Result<(), CudaError> {
    let driver = driver()?;
    let known = |handle| context(handle).is_some_and(|context| driver.is_context(context));
    contexts
        .into_iter()
        .all(known)
        .then_some(())
        .ok_or(CudaError::InvalidContext)
}

/// `cuMemcpyAtoH`.
pub unsafe fn array_to_host(to: *mut c_void, from: CUarray, at: usize, bytes: usize) -> Answer {
    // SAFETY: the caller's promise.
    unsafe {
        run(&row(
            MemcpyOperand::linear(host(to)),
            texels(from, at),
            bytes,
        ))
    }
}

/// `cuMemcpyDtoA`.
pub unsafe fn device_to_array(to: CUarray, at: usize, from: CUdeviceptr, bytes: usize) -> Answer {
    // SAFETY: the caller's promise.
    unsafe {
        run(&row(
            texels(to, at),
            MemcpyOperand::linear(device(from)),
            bytes,
        ))
    }
}

/// `cuMemcpyAtoD`.
pub unsafe fn array_to_device(to: CUdeviceptr, from: CUarray, at: usize, bytes: usize) -> Answer {
    // SAFETY: the caller's promise.
    unsafe {
        run(&row(
            MemcpyOperand::linear(device(to)),
            texels(from, at),
            bytes,
        ))
    }
}

/// `cuMemcpyAtoA`.
pub unsafe fn array_to_array(
    to: CUarray,
    to_at: usize,
    from: CUarray,
    from_at: usize,
    bytes: usize,
) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { run(&row(texels(to, to_at), texels(from, from_at), bytes)) }
}

/// The first row of an array, from a byte on.
fn texels(array: CUarray, at: usize) -> MemcpyOperand {
    MemcpyOperand {
        x: at as u64,
        ..MemcpyOperand::linear(MemcpyAddress::Array(number(array)))
    }
}

/// A copy of so many bytes of a row.
fn row(dst: MemcpyOperand, src: MemcpyOperand, bytes: usize) -> Memcpy {
    Memcpy {
        dst,
        src,
        width: bytes as u64,
        height: 1,
        depth: 1,
    }
}

/// `cuMemcpy2D` and `cuMemcpy2DUnaligned`.
pub unsafe fn two_d(copy: *const CUDA_MEMCPY2D) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { run(&read_two_d(copy)?) }
}

/// `cuMemcpy2DAsync`.
pub unsafe fn two_d_async(copy: *const CUDA_MEMCPY2D, on: CUstream) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { run_in(on, &read_two_d(copy)?) }
}

/// `cuMemcpy3D`.
pub unsafe fn three_d(copy: *const CUDA_MEMCPY3D) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { run(&read_three_d(copy)?) }
}

/// `cuMemcpy3DAsync`.
pub unsafe fn three_d_async(copy: *const CUDA_MEMCPY3D, on: CUstream) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { run_in(on, &read_three_d(copy)?) }
}

/// Copies in the default stream of the current context, and waits.
///
/// # Safety
/// As [`cuda_sim::driver::Driver::memcpy`].
unsafe fn run(copy: &Memcpy) -> Answer {
    if OwnDefault::is_on() {
        // SAFETY: the caller's promise; the stream is the thread's own.
        return unsafe { run_in(DEFAULT, copy).and_then(|()| stream::synchronize(DEFAULT)) };
    }
    let (mut driver, context) = current()?;
    rules::legacy(context)?;
    // SAFETY: the caller's promise.
    unsafe { driver.memcpy(context, copy) }?;
    Ok(())
}

/// Copies in the stream `on`.
///
/// # Safety
/// As [`cuda_sim::driver::Driver::memcpy`].
unsafe fn run_in(on: CUstream, copy: &Memcpy) -> Answer {
    let (driver, context, stream) = in_live_stream(on)?;
    match rules::is_captured(stream) {
        true => memory::check_copy(&driver, context, copy)?,
        false => driver.check_memcpy(context, copy)?,
    }
    Ok(submit(driver, context, stream, Work::Memcpy(*copy))?)
}

/// An address of the host's.
fn host(memory: *const c_void) -> MemcpyAddress {
    MemcpyAddress::Host(host_pointer(memory.cast_mut()))
}

/// An address of the device's.
fn device(address: CUdeviceptr) -> MemcpyAddress {
    MemcpyAddress::Device(address)
}

/// An address of the host's or the device's, which says itself whose it is.
fn either(address: CUdeviceptr) -> MemcpyAddress {
    MemcpyAddress::Unified(address)
}

/// Where an array starts, of the addresses that a structure has for it: `memory_type` is a
/// `CUmemorytype` and says which counts. It is a number, for a structure that C or `zeroed` made may
/// hold one that the enum lacks.
fn array_start(
    memory_type: c_int,
    at_host: *const c_void,
    at_device: CUdeviceptr,
    in_array: CUarray,
) -> Result<MemcpyAddress, CudaError> {
    match memory_type {
        HOST => Ok(host(at_host)),
        DEVICE => Ok(device(at_device)),
        UNIFIED => Ok(either(at_device)),
        ARRAY => Ok(MemcpyAddress::Array(number(in_array))),
        _ => Err(CudaError::InvalidValue),
    }
}

/// The source or the destination in the structure at `$copy`, from the fields named. `$z` and
/// `$height` are values, because a structure of two dimensions has no such fields.
macro_rules! operand {
    (
        $copy:ident: $memory_type:ident, $at_host:ident, $at_device:ident, $in_array:ident,
        $x:ident, $y:ident, $pitch:ident, z $z:expr, height $height:expr
    ) => {
        MemcpyOperand {
            array: array_start(
                (&raw const (*$copy).$memory_type).cast::<c_int>().read(),
                (*$copy).$at_host,
                (*$copy).$at_device,
                (*$copy).$in_array,
            )?,
            x: (*$copy).$x as u64,
            y: (*$copy).$y as u64,
            z: $z as u64,
            pitch: (*$copy).$pitch as u64,
            height: $height as u64,
        }
    };
}

/// # Safety
/// `copy` must be null or readable.
unsafe fn read_two_d(copy: *const CUDA_MEMCPY2D) -> Result<Memcpy, CudaError> {
    if copy.is_null() {
        return Err(CudaError::InvalidValue);
    }
    // SAFETY: not null, so readable; every field but the memory types may hold anything, and
    // those are read as the plain numbers they are in C.
    unsafe {
        Ok(Memcpy {
            dst: operand!(
                copy: dstMemoryType, dstHost, dstDevice, dstArray,
                dstXInBytes, dstY, dstPitch, z 0, height 0
            ),
            src: operand!(
                copy: srcMemoryType, srcHost, srcDevice, srcArray,
                srcXInBytes, srcY, srcPitch, z 0, height 0
            ),
            width: (*copy).WidthInBytes as u64,
            height: (*copy).Height as u64,
            depth: 1,
        })
    }
}

/// A copy as C describes it.
///
/// # Safety
/// `copy` must be null or readable.
pub unsafe fn read_three_d(copy: *const CUDA_MEMCPY3D) -> Result<Memcpy, CudaError> {
    if copy.is_null() {
        return Err(CudaError::InvalidValue);
    }
    // SAFETY: as in `read_two_d`.
    unsafe {
        // CUDA asks for zero here: there are no levels of detail.
        if (*copy).srcLOD != 0 || (*copy).dstLOD != 0 {
            return Err(CudaError::InvalidValue);
        }
        Ok(Memcpy {
            dst: operand!(
                copy: dstMemoryType, dstHost, dstDevice, dstArray,
                dstXInBytes, dstY, dstPitch, z (*copy).dstZ, height (*copy).dstHeight
            ),
            src: operand!(
                copy: srcMemoryType, srcHost, srcDevice, srcArray,
                srcXInBytes, srcY, srcPitch, z (*copy).srcZ, height (*copy).srcHeight
            ),
            width: (*copy).WidthInBytes as u64,
            height: (*copy).Height as u64,
            depth: (*copy).Depth as u64,
        })
    }
}
