//! Copies of contiguous bytes (`cudaMemcpy`, `cudaMemcpyAsync`, `cudaMemcpyPeer`).

use std::ffi::{c_int, c_void};

use cuda_driver::types::CUstream;
use cuda_driver::{Reason, functions as cu};

use crate::context::{context, device};
use crate::errors::{Error, Result, check};
use crate::functions::{driver_stream, run_synchronously};
use crate::memory::address;

functions! {
    cudaMemcpy(
        dst: *mut c_void, src: *const c_void, bytes: usize, kind: c_int,
    ) | cudaMemcpy_ptds => copy;
    cudaMemcpyAsync(
        dst: *mut c_void, src: *const c_void, bytes: usize, kind: c_int, stream: CUstream,
    ) | cudaMemcpyAsync_ptsz => copy_async;
    cudaMemcpyPeer(
        dst: *mut c_void, dst_device: c_int, src: *const c_void, src_device: c_int, bytes: usize,
    ) | cudaMemcpyPeer_ptds
        = copy(dst, src, bytes, between(dst_device, src_device)?), unsafe;
    cudaMemcpyPeerAsync(
        dst: *mut c_void, dst_device: c_int, src: *const c_void, src_device: c_int, bytes: usize,
        stream: CUstream,
    ) | cudaMemcpyPeerAsync_ptsz
        = copy_async(dst, src, bytes, between(dst_device, src_device)?, stream), unsafe;
}

/// The direction of a copy (`cudaMemcpyKind`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyKind {
    HostToHost,
    HostToDevice,
    DeviceToHost,
    DeviceToDevice,
    /// The direction follows from the unified addresses.
    Default,
}

impl CopyKind {
    /// Returns the direction with this number, or `cudaErrorInvalidMemcpyDirection`.
    pub fn new(number: c_int) -> Result<Self> {
        Ok(match number {
            0 => Self::HostToHost,
            1 => Self::HostToDevice,
            2 => Self::DeviceToHost,
            3 => Self::DeviceToDevice,
            4 => Self::Default,
            _ => return Err(Error::INVALID_DIRECTION.because(Reason::UnknownDirection(number))),
        })
    }
}

/// `cudaMemcpy`.
pub(crate) unsafe fn copy(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    kind: c_int,
) -> Result {
    let direction = CopyKind::new(kind)?;
    context()?;
    if bytes == 0 {
        return Ok(());
    }
    let (to, from) = (address(dst), address(src));
    run_synchronously(
        || {
            // SAFETY: `cudaMemcpy` requires `dst` and `src` to be valid for `bytes` bytes on the side given
            // by `kind`.
            check(unsafe {
                match direction {
                    CopyKind::HostToDevice => cu::cuMemcpyHtoD_v2(to, src, bytes),
                    CopyKind::DeviceToHost => cu::cuMemcpyDtoH_v2(dst, from, bytes),
                    CopyKind::DeviceToDevice => cu::cuMemcpyDtoD_v2(to, from, bytes),
                    CopyKind::HostToHost | CopyKind::Default => cu::cuMemcpy(to, from, bytes),
                }
            })
        },
        // SAFETY: `cudaMemcpy` and `cudaMemcpyAsync` require the same of `dst` and `src`.
        |stream| unsafe { copy_async(dst, src, bytes, kind, stream) },
    )
}

/// `cudaMemcpyAsync`.
pub(crate) unsafe fn copy_async(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    kind: c_int,
    stream: CUstream,
) -> Result {
    let direction = CopyKind::new(kind)?;
    context()?;
    if bytes == 0 {
        return Ok(());
    }
    let (to, from) = (address(dst), address(src));
    let stream = driver_stream(stream);
    // SAFETY: `cudaMemcpyAsync` requires `dst` and `src` to be valid for `bytes` bytes on the side given by
    // `kind` until the stream has completed the copy.
    check(unsafe {
        match direction {
            CopyKind::HostToDevice => cu::cuMemcpyHtoDAsync_v2(to, src, bytes, stream),
            CopyKind::DeviceToHost => cu::cuMemcpyDtoHAsync_v2(dst, from, bytes, stream),
            CopyKind::DeviceToDevice => cu::cuMemcpyDtoDAsync_v2(to, from, bytes, stream),
            CopyKind::HostToHost | CopyKind::Default => cu::cuMemcpyAsync(to, from, bytes, stream),
        }
    })
}

/// Returns the kind of a copy between two devices, `cudaMemcpyDefault`: unified addresses already identify their
/// devices, so the ordinals are only validated.
fn between(dst_device: c_int, src_device: c_int) -> Result<c_int> {
    device(dst_device)?;
    device(src_device)?;
    Ok(4)
}
