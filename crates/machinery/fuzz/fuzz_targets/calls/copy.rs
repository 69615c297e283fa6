//! Copies: one way or the other, in one, two and three dimensions.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use arbitrary::Arbitrary;
use cuda_driver::functions::*;
use cust_raw::{CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUmemorytype};

use crate::known::{HOST, Known, Where, Which};

#[derive(Arbitrary, Debug)]
pub enum Call {
    ToDevice(Where, u16, Option<Which>),
    ToHost(Where, u16, Option<Which>),
    Across(Where, Where, usize, Option<Which>),
    Rows {
        to: Where,
        from: Where,
        shape: [u16; 4],
        size: [usize; 2],
    },
    RowsAndHost {
        device: Where,
        up: bool,
        shape: [u8; 4],
        size: [u8; 2],
    },
    Layers {
        to: Where,
        from: Where,
        shape: [u16; 8],
        size: [usize; 3],
    },
}

/// A copy of nothing from device memory to device memory.
const NO_COPY_2D: CUDA_MEMCPY2D = CUDA_MEMCPY2D {
    srcXInBytes: 0,
    srcY: 0,
    srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
    srcHost: null(),
    srcDevice: 0,
    srcArray: null_mut(),
    srcPitch: 0,
    dstXInBytes: 0,
    dstY: 0,
    dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
    dstHost: null_mut(),
    dstDevice: 0,
    dstArray: null_mut(),
    dstPitch: 0,
    WidthInBytes: 0,
    Height: 0,
};

/// The same in three dimensions.
const NO_COPY_3D: CUDA_MEMCPY3D = CUDA_MEMCPY3D {
    srcXInBytes: 0,
    srcY: 0,
    srcZ: 0,
    srcLOD: 0,
    srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
    srcHost: null(),
    srcDevice: 0,
    srcArray: null_mut(),
    reserved0: null_mut(),
    srcPitch: 0,
    srcHeight: 0,
    dstXInBytes: 0,
    dstY: 0,
    dstZ: 0,
    dstLOD: 0,
    dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
    dstHost: null_mut(),
    dstDevice: 0,
    dstArray: null_mut(),
    reserved1: null_mut(),
    dstPitch: 0,
    dstHeight: 0,
    WidthInBytes: 0,
    Height: 0,
    Depth: 0,
};

impl Call {
    /// # Safety
    /// The driver has been started.
    pub unsafe fn make(self, known: &mut Known) {
        let at = known.host();
        // SAFETY: no more than [`HOST`] bytes there; an address is a number, which the driver has to
        // make sure of.
        unsafe {
            match self {
                Call::ToDevice(to, bytes, stream) => {
                    let (to, bytes) = (known.address(to), usize::from(bytes) % HOST);
                    match stream.map(|which| known.stream(which)) {
                        Some(stream) => cuMemcpyHtoDAsync_v2(to, at, bytes, stream),
                        None => cuMemcpyHtoD_v2(to, at, bytes),
                    };
                }
                Call::ToHost(from, bytes, stream) => {
                    let (from, bytes) = (known.address(from), usize::from(bytes) % HOST);
                    match stream.map(|which| known.stream(which)) {
                        Some(stream) => cuMemcpyDtoHAsync_v2(at, from, bytes, stream),
                        None => cuMemcpyDtoH_v2(at, from, bytes),
                    };
                }
                Call::Across(to, from, bytes, stream) => {
                    let (to, from) = (known.address(to), known.address(from));
                    match stream.map(|which| known.stream(which)) {
                        Some(stream) => cuMemcpyDtoDAsync_v2(to, from, bytes, stream),
                        None => cuMemcpyDtoD_v2(to, from, bytes),
                    };
                }
                Call::Rows {
                    to,
                    from,
                    shape,
                    size,
                } => {
                    let [to_x, to_y, from_x, from_y] = shape.map(usize::from);
                    let [width, height] = size;
                    cuMemcpy2D_v2(&CUDA_MEMCPY2D {
                        srcXInBytes: from_x,
                        srcY: from_y,
                        srcDevice: known.address(from),
                        srcPitch: width.wrapping_add(from_y),
                        dstXInBytes: to_x,
                        dstY: to_y,
                        dstDevice: known.address(to),
                        dstPitch: width.wrapping_add(to_x),
                        WidthInBytes: width,
                        Height: height,
                        ..NO_COPY_2D
                    });
                }
                Call::RowsAndHost {
                    device,
                    up,
                    shape,
                    size,
                } => {
                    rows_and_host(known.address(device), up, shape, size, at);
                }
                Call::Layers {
                    to,
                    from,
                    shape,
                    size,
                } => {
                    let [width, height, depth] = size;
                    let [to_x, to_y, to_z, to_rows, from_x, from_y, from_z, from_rows] =
                        shape.map(usize::from);
                    let mut copy = NO_COPY_3D;
                    copy.srcDevice = known.address(from);
                    (copy.srcXInBytes, copy.srcY, copy.srcZ) = (from_x, from_y, from_z);
                    (copy.srcPitch, copy.srcHeight) = (width.wrapping_add(from_x), from_rows);
                    copy.dstDevice = known.address(to);
                    (copy.dstXInBytes, copy.dstY, copy.dstZ) = (to_x, to_y, to_z);
                    (copy.dstPitch, copy.dstHeight) = (width.wrapping_add(to_x), to_rows);
                    (copy.WidthInBytes, copy.Height, copy.Depth) = (width, height, depth);
                    cuMemcpy3D_v2(&copy);
                }
            }
        }
    }
}

/// Copies rows between a device address and the host's memory at `at`.
///
/// # Safety
/// There are [`HOST`] bytes at `at`.
unsafe fn rows_and_host(device: u64, up: bool, shape: [u8; 4], size: [u8; 2], at: *mut c_void) {
    // Less than 32 rows of less than 256 bytes, and as many before: all inside.
    let [host_x, host_y, device_x, pitch] = shape.map(usize::from);
    let [width, height] = size.map(usize::from);
    let (host_x, host_y) = (host_x % 64, host_y % 16);
    let (width, height) = (width % 192, height % 32);
    let host_pitch = 256;
    let mut copy = NO_COPY_2D;
    (copy.WidthInBytes, copy.Height) = (width, height);
    if up {
        copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_HOST;
        copy.srcHost = at;
        (copy.srcXInBytes, copy.srcY, copy.srcPitch) = (host_x, host_y, host_pitch);
        copy.dstDevice = device;
        (copy.dstXInBytes, copy.dstPitch) = (device_x, pitch);
    } else {
        copy.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_HOST;
        copy.dstHost = at;
        (copy.dstXInBytes, copy.dstY, copy.dstPitch) = (host_x, host_y, host_pitch);
        copy.srcDevice = device;
        (copy.srcXInBytes, copy.srcPitch) = (device_x, pitch);
    }
    // SAFETY: (16 + 32) rows of 256 bytes are what the host's side may take of the memory there.
    unsafe { cuMemcpy2D_v2(&copy) };
}
