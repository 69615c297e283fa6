//! Copies of rows of bytes.

use std::ffi::{c_int, c_void};

use cuda_driver::functions as cu;
use cust_raw::CUstream;

use crate::memory::address;
use crate::start::{context, device};
use crate::status::{Answer, Error, driver};
use crate::stream::{named, waited};

/// Which way a copy goes (`cudaMemcpyKind`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    HostToHost,
    HostToDevice,
    DeviceToHost,
    DeviceToDevice,
    /// The addresses say it themselves.
    Default,
}

impl Kind {
    /// The kind with a number, or `cudaErrorInvalidMemcpyDirection`.
    pub fn new(number: c_int) -> Answer<Self> {
        Ok(match number {
            0 => Self::HostToHost,
            1 => Self::HostToDevice,
            2 => Self::DeviceToHost,
            3 => Self::DeviceToDevice,
            4 => Self::Default,
            _ => return Err(Error::INVALID_DIRECTION),
        })
    }
}

/// `cudaMemcpy`.
pub unsafe fn copy(dst: *mut c_void, src: *const c_void, bytes: usize, kind: c_int) -> Answer {
    let way = Kind::new(kind)?;
    context()?;
    if bytes == 0 {
        return Ok(());
    }
    let (to, from) = (address(dst), address(src));
    waited(
        || {
            // SAFETY: the caller's promise.
            driver(unsafe {
                match way {
                    Kind::HostToDevice => cu::cuMemcpyHtoD_v2(to, src, bytes),
                    Kind::DeviceToHost => cu::cuMemcpyDtoH_v2(dst, from, bytes),
                    Kind::DeviceToDevice => cu::cuMemcpyDtoD_v2(to, from, bytes),
                    Kind::HostToHost | Kind::Default => cu::cuMemcpy(to, from, bytes),
                }
            })
        },
        // SAFETY: the caller's promise.
        |stream| unsafe { copy_async(dst, src, bytes, kind, stream) },
    )
}

/// `cudaMemcpyAsync`.
pub unsafe fn copy_async(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    kind: c_int,
    stream: CUstream,
) -> Answer {
    let way = Kind::new(kind)?;
    context()?;
    if bytes == 0 {
        return Ok(());
    }
    let (to, from) = (address(dst), address(src));
    let stream = named(stream);
    // SAFETY: the caller's promise.
    driver(unsafe {
        match way {
            Kind::HostToDevice => cu::cuMemcpyHtoDAsync_v2(to, src, bytes, stream),
            Kind::DeviceToHost => cu::cuMemcpyDtoHAsync_v2(dst, from, bytes, stream),
            Kind::DeviceToDevice => cu::cuMemcpyDtoDAsync_v2(to, from, bytes, stream),
            Kind::HostToHost | Kind::Default => cu::cuMemcpyAsync(to, from, bytes, stream),
        }
    })
}

/// `cudaMemcpyPeer`: addresses say themselves which device they are of.
pub unsafe fn peer(
    dst: *mut c_void,
    dst_device: c_int,
    src: *const c_void,
    src_device: c_int,
    bytes: usize,
) -> Answer {
    device(dst_device)?;
    device(src_device)?;
    // SAFETY: the caller's promise.
    unsafe { copy(dst, src, bytes, 4) }
}

/// `cudaMemcpyPeerAsync`.
pub unsafe fn peer_async(
    dst: *mut c_void,
    dst_device: c_int,
    src: *const c_void,
    src_device: c_int,
    bytes: usize,
    stream: CUstream,
) -> Answer {
    device(dst_device)?;
    device(src_device)?;
    // SAFETY: the caller's promise.
    unsafe { copy_async(dst, src, bytes, 4, stream) }
}
