//! Copies in either direction, in one, two and three dimensions.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use arbitrary::Arbitrary;
use cuda_driver::functions::*;
use cuda_driver::types::{CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, CUDA_MEMCPY2D, CUDA_MEMCPY3D};

use crate::state::{Address, HOST_BYTES, Handle, State};

#[derive(Arbitrary, Debug)]
pub enum Call {
    HostToDevice(Address, u16, Option<Handle>),
    DeviceToHost(Address, u16, Option<Handle>),
    DeviceToDevice(Address, Address, usize, Option<Handle>),
    Copy2D {
        to: Address,
        from: Address,
        shape: [u16; 4],
        size: [usize; 2],
    },
    CopyHost2D {
        device: Address,
        to_device: bool,
        shape: [u8; 4],
        size: [u8; 2],
    },
    Copy3D {
        to: Address,
        from: Address,
        shape: [u16; 8],
        size: [usize; 3],
    },
}

/// An empty copy from device memory to device memory.
const NO_COPY_2D: CUDA_MEMCPY2D = CUDA_MEMCPY2D {
    srcXInBytes: 0,
    srcY: 0,
    srcMemoryType: CU_MEMORYTYPE_DEVICE,
    srcHost: null(),
    srcDevice: 0,
    srcArray: null_mut(),
    srcPitch: 0,
    dstXInBytes: 0,
    dstY: 0,
    dstMemoryType: CU_MEMORYTYPE_DEVICE,
    dstHost: null_mut(),
    dstDevice: 0,
    dstArray: null_mut(),
    dstPitch: 0,
    WidthInBytes: 0,
    Height: 0,
};

/// An empty three-dimensional copy.
const NO_COPY_3D: CUDA_MEMCPY3D = CUDA_MEMCPY3D {
    srcXInBytes: 0,
    srcY: 0,
    srcZ: 0,
    srcLOD: 0,
    srcMemoryType: CU_MEMORYTYPE_DEVICE,
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
    dstMemoryType: CU_MEMORYTYPE_DEVICE,
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
    /// The driver must be initialized.
    pub unsafe fn execute(self, state: &mut State) {
        let host = state.host();
        // SAFETY: `host` has `HOST_BYTES` bytes, and every host copy is shorter. The driver validates device
        // addresses, which are only numbers.
        unsafe {
            match self {
                Call::HostToDevice(to, bytes, stream) => {
                    let (to, bytes) = (state.address(to), usize::from(bytes) % HOST_BYTES);
                    match stream.map(|handle| state.stream(handle)) {
                        Some(stream) => cuMemcpyHtoDAsync_v2(to, host, bytes, stream),
                        None => cuMemcpyHtoD_v2(to, host, bytes),
                    };
                }
                Call::DeviceToHost(from, bytes, stream) => {
                    let (from, bytes) = (state.address(from), usize::from(bytes) % HOST_BYTES);
                    match stream.map(|handle| state.stream(handle)) {
                        Some(stream) => cuMemcpyDtoHAsync_v2(host, from, bytes, stream),
                        None => cuMemcpyDtoH_v2(host, from, bytes),
                    };
                }
                Call::DeviceToDevice(to, from, bytes, stream) => {
                    let (to, from) = (state.address(to), state.address(from));
                    match stream.map(|handle| state.stream(handle)) {
                        Some(stream) => cuMemcpyDtoDAsync_v2(to, from, bytes, stream),
                        None => cuMemcpyDtoD_v2(to, from, bytes),
                    };
                }
                Call::Copy2D {
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
                        srcDevice: state.address(from),
                        srcPitch: width.wrapping_add(from_y),
                        dstXInBytes: to_x,
                        dstY: to_y,
                        dstDevice: state.address(to),
                        dstPitch: width.wrapping_add(to_x),
                        WidthInBytes: width,
                        Height: height,
                        ..NO_COPY_2D
                    });
                }
                Call::CopyHost2D {
                    device,
                    to_device,
                    shape,
                    size,
                } => {
                    copy_host_2d(state.address(device), to_device, shape, size, host);
                }
                Call::Copy3D {
                    to,
                    from,
                    shape,
                    size,
                } => {
                    let [width, height, depth] = size;
                    let [to_x, to_y, to_z, to_rows, from_x, from_y, from_z, from_rows] =
                        shape.map(usize::from);
                    let mut copy = NO_COPY_3D;
                    copy.srcDevice = state.address(from);
                    (copy.srcXInBytes, copy.srcY, copy.srcZ) = (from_x, from_y, from_z);
                    (copy.srcPitch, copy.srcHeight) = (width.wrapping_add(from_x), from_rows);
                    copy.dstDevice = state.address(to);
                    (copy.dstXInBytes, copy.dstY, copy.dstZ) = (to_x, to_y, to_z);
                    (copy.dstPitch, copy.dstHeight) = (width.wrapping_add(to_x), to_rows);
                    (copy.WidthInBytes, copy.Height, copy.Depth) = (width, height, depth);
                    cuMemcpy3D_v2(&copy);
                }
            }
        }
    }
}

/// Copies rows between a device address and the host memory at `host`.
///
/// # Safety
/// `host` must point to [`HOST_BYTES`] bytes.
unsafe fn copy_host_2d(
    device: u64,
    to_device: bool,
    shape: [u8; 4],
    size: [u8; 2],
    host: *mut c_void,
) {
    // Fewer than 32 rows of 256 bytes after at most 15 skipped rows: all inside the host memory.
    let [host_x, host_y, device_x, pitch] = shape.map(usize::from);
    let [width, height] = size.map(usize::from);
    let (host_x, host_y) = (host_x % 64, host_y % 16);
    let (width, height) = (width % 192, height % 32);
    let host_pitch = 256;
    let mut copy = NO_COPY_2D;
    (copy.WidthInBytes, copy.Height) = (width, height);
    if to_device {
        copy.srcMemoryType = CU_MEMORYTYPE_HOST;
        copy.srcHost = host;
        (copy.srcXInBytes, copy.srcY, copy.srcPitch) = (host_x, host_y, host_pitch);
        copy.dstDevice = device;
        (copy.dstXInBytes, copy.dstPitch) = (device_x, pitch);
    } else {
        copy.dstMemoryType = CU_MEMORYTYPE_HOST;
        copy.dstHost = host;
        (copy.dstXInBytes, copy.dstY, copy.dstPitch) = (host_x, host_y, host_pitch);
        copy.srcDevice = device;
        (copy.srcXInBytes, copy.srcPitch) = (device_x, pitch);
    }
    // SAFETY: the copy touches at most (16 + 32) rows of 256 bytes at `host`, fewer than its `HOST_BYTES`
    // bytes.
    unsafe { cuMemcpy2D_v2(&copy) };
}
