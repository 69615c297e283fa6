//! Rows of the driver API's function table: memory copies and fills.

use std::ffi::{c_uchar, c_uint, c_ulonglong, c_ushort, c_void};

use super::*;
use crate::api::memcpy;
use crate::types::{
    CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER, CUarray, CUcontext, CUdeviceptr, CUstream,
    MemcpyAttributes, MemcpyBatchOp,
};

functions! {
    // Copies
    4000 cuMemcpy(dst: CUdeviceptr, src: CUdeviceptr, byte_count: usize) [memcpy::unified] / 7000 cuMemcpy_ptds;
    4000 cuMemcpyAsync(
        dst: CUdeviceptr, src: CUdeviceptr, byte_count: usize, stream: CUstream,
    ) [memcpy::unified_async] / 7000 cuMemcpyAsync_ptsz;
    3020 cuMemcpyHtoD_v2(
        dst_device: CUdeviceptr, src_host: *const c_void, byte_count: usize,
    ) [memcpy::host_to_device] / 7000 cuMemcpyHtoD_v2_ptds;
    3020 cuMemcpyHtoDAsync_v2(
        dst_device: CUdeviceptr, src_host: *const c_void, byte_count: usize, stream: CUstream,
    ) [memcpy::host_to_device_async] / 7000 cuMemcpyHtoDAsync_v2_ptsz;
    3020 cuMemcpyDtoH_v2(
        dst_host: *mut c_void, src_device: CUdeviceptr, byte_count: usize,
    ) [memcpy::device_to_host] / 7000 cuMemcpyDtoH_v2_ptds;
    3020 cuMemcpyDtoHAsync_v2(
        dst_host: *mut c_void, src_device: CUdeviceptr, byte_count: usize, stream: CUstream,
    ) [memcpy::device_to_host_async] / 7000 cuMemcpyDtoHAsync_v2_ptsz;
    3020 cuMemcpyDtoD_v2(
        dst_device: CUdeviceptr, src_device: CUdeviceptr, byte_count: usize,
    ) [memcpy::device_to_device] / 7000 cuMemcpyDtoD_v2_ptds;
    3020 cuMemcpyDtoDAsync_v2(
        dst_device: CUdeviceptr, src_device: CUdeviceptr, byte_count: usize, stream: CUstream,
    ) [memcpy::device_to_device_async] / 7000 cuMemcpyDtoDAsync_v2_ptsz;
    3020 cuMemcpy2D_v2(copy: *const CUDA_MEMCPY2D) [memcpy::two_d] / 7000 cuMemcpy2D_v2_ptds;
    3020 cuMemcpy2DUnaligned_v2(copy: *const CUDA_MEMCPY2D) [memcpy::two_d] / 7000 cuMemcpy2DUnaligned_v2_ptds;
    3020 cuMemcpy2DAsync_v2(
        copy: *const CUDA_MEMCPY2D, stream: CUstream,
    ) [memcpy::two_d_async] / 7000 cuMemcpy2DAsync_v2_ptsz;
    3020 cuMemcpy3D_v2(copy: *const CUDA_MEMCPY3D) [memcpy::three_d] / 7000 cuMemcpy3D_v2_ptds;
    3020 cuMemcpy3DAsync_v2(
        copy: *const CUDA_MEMCPY3D, stream: CUstream,
    ) [memcpy::three_d_async] / 7000 cuMemcpy3DAsync_v2_ptsz;
    3020 cuMemcpyHtoA_v2(
        dst_array: CUarray, dst_offset: usize, src_host: *const c_void, byte_count: usize,
    ) [memcpy::host_to_array] / 7000 cuMemcpyHtoA_v2_ptds;
    3020 cuMemcpyAtoH_v2(
        dst_host: *mut c_void, src_array: CUarray, src_offset: usize, byte_count: usize,
    ) [memcpy::array_to_host] / 7000 cuMemcpyAtoH_v2_ptds;
    3020 cuMemcpyDtoA_v2(
        dst_array: CUarray, dst_offset: usize, src_device: CUdeviceptr, byte_count: usize,
    ) [memcpy::device_to_array] / 7000 cuMemcpyDtoA_v2_ptds;
    3020 cuMemcpyAtoD_v2(
        dst_device: CUdeviceptr, src_array: CUarray, src_offset: usize, byte_count: usize,
    ) [memcpy::array_to_device] / 7000 cuMemcpyAtoD_v2_ptds;
    3020 cuMemcpyAtoA_v2(
        dst_array: CUarray, dst_offset: usize, src_array: CUarray, src_offset: usize, byte_count: usize,
    ) [memcpy::array_to_array] / 7000 cuMemcpyAtoA_v2_ptds;
    3020 cuMemcpyHtoAAsync_v2(
        dst_array: CUarray, dst_offset: usize, src_host: *const c_void, byte_count: usize, stream:
        CUstream,
    ) [memcpy::host_to_array_async] / 7000 cuMemcpyHtoAAsync_v2_ptsz;
    3020 cuMemcpyAtoHAsync_v2(
        dst_host: *mut c_void, src_array: CUarray, src_offset: usize, byte_count: usize, stream:
        CUstream,
    ) [memcpy::array_to_host_async] / 7000 cuMemcpyAtoHAsync_v2_ptsz;
    4000 cuMemcpyPeer(
        dst_device: CUdeviceptr, dst_context: CUcontext, src_device: CUdeviceptr, src_context:
        CUcontext, byte_count: usize,
    ) [memcpy::peer] / 7000 cuMemcpyPeer_ptds;
    4000 cuMemcpyPeerAsync(
        dst_device: CUdeviceptr, dst_context: CUcontext, src_device: CUdeviceptr, src_context:
        CUcontext, byte_count: usize, stream: CUstream,
    ) [memcpy::peer_async] / 7000 cuMemcpyPeerAsync_ptsz;
    4000 cuMemcpy3DPeer(copy: *const CUDA_MEMCPY3D_PEER) [memcpy::three_d_peer] / 7000 cuMemcpy3DPeer_ptds;
    4000 cuMemcpy3DPeerAsync(
        copy: *const CUDA_MEMCPY3D_PEER, stream: CUstream,
    ) [memcpy::three_d_peer_async] / 7000 cuMemcpy3DPeerAsync_ptsz;

    12080 cuMemcpyBatchAsync(
        destinations: *mut CUdeviceptr, sources: *mut CUdeviceptr, sizes: *mut usize, count: usize,
        attributes: *mut MemcpyAttributes, attribute_starts: *mut usize, attribute_count: usize,
        failed: *mut usize, stream: CUstream,
    ) [memcpy::batch_v1] / 12080 cuMemcpyBatchAsync_ptsz;
    13000 cuMemcpyBatchAsync_v2(
        destinations: *mut CUdeviceptr, sources: *mut CUdeviceptr, sizes: *mut usize, count: usize,
        attributes: *mut MemcpyAttributes, attribute_starts: *mut usize, attribute_count: usize,
        stream: CUstream,
    ) [memcpy::batch] / 13000 cuMemcpyBatchAsync_v2_ptsz;
    12080 cuMemcpy3DBatchAsync(
        count: usize, copies: *mut MemcpyBatchOp, failed: *mut usize, flags: c_ulonglong, stream: CUstream,
    ) [memcpy::batch_3d_v1] / 12080 cuMemcpy3DBatchAsync_ptsz;
    13000 cuMemcpy3DBatchAsync_v2(
        count: usize, copies: *mut MemcpyBatchOp, flags: c_ulonglong, stream: CUstream,
    ) [memcpy::batch_3d] / 13000 cuMemcpy3DBatchAsync_v2_ptsz;

    // Fills
    3020 cuMemsetD8_v2(dst_device: CUdeviceptr, uc: c_uchar, n: usize) [memcpy::d8] / 7000 cuMemsetD8_v2_ptds;
    3020 cuMemsetD8Async(
        dst_device: CUdeviceptr, uc: c_uchar, n: usize, stream: CUstream,
    ) [memcpy::d8_async] / 7000 cuMemsetD8Async_ptsz;
    3020 cuMemsetD16_v2(dst_device: CUdeviceptr, us: c_ushort, n: usize) [memcpy::d16] / 7000 cuMemsetD16_v2_ptds;
    3020 cuMemsetD16Async(
        dst_device: CUdeviceptr, us: c_ushort, n: usize, stream: CUstream,
    ) [memcpy::d16_async] / 7000 cuMemsetD16Async_ptsz;
    3020 cuMemsetD32_v2(dst_device: CUdeviceptr, ui: c_uint, n: usize) [memcpy::d32] / 7000 cuMemsetD32_v2_ptds;
    3020 cuMemsetD32Async(
        dst_device: CUdeviceptr, ui: c_uint, n: usize, stream: CUstream,
    ) [memcpy::d32_async] / 7000 cuMemsetD32Async_ptsz;
    3020 cuMemsetD2D8_v2(
        dst_device: CUdeviceptr, dst_pitch: usize, uc: c_uchar, width: usize, height: usize,
    ) [memcpy::rows_d8] / 7000 cuMemsetD2D8_v2_ptds;
    3020 cuMemsetD2D8Async(
        dst_device: CUdeviceptr, dst_pitch: usize, uc: c_uchar, width: usize, height: usize, stream:
        CUstream,
    ) [memcpy::rows_d8_async] / 7000 cuMemsetD2D8Async_ptsz;
    3020 cuMemsetD2D16_v2(
        dst_device: CUdeviceptr, dst_pitch: usize, us: c_ushort, width: usize, height: usize,
    ) [memcpy::rows_d16] / 7000 cuMemsetD2D16_v2_ptds;
    3020 cuMemsetD2D16Async(
        dst_device: CUdeviceptr, dst_pitch: usize, us: c_ushort, width: usize, height: usize, stream:
        CUstream,
    ) [memcpy::rows_d16_async] / 7000 cuMemsetD2D16Async_ptsz;
    3020 cuMemsetD2D32_v2(
        dst_device: CUdeviceptr, dst_pitch: usize, ui: c_uint, width: usize, height: usize,
    ) [memcpy::rows_d32] / 7000 cuMemsetD2D32_v2_ptds;
    3020 cuMemsetD2D32Async(
        dst_device: CUdeviceptr, dst_pitch: usize, ui: c_uint, width: usize, height: usize, stream:
        CUstream,
    ) [memcpy::rows_d32_async] / 7000 cuMemsetD2D32Async_ptsz;

    unsupported {
        12060 cuMemBatchDecompressAsync / 12060 cuMemBatchDecompressAsync_ptsz, 2000 cuMemcpy2D,
        2000 cuMemcpy2DAsync, 2000 cuMemcpy2DUnaligned, 2000 cuMemcpy3D, 2000 cuMemcpy3DAsync,
        2000 cuMemcpyAtoA, 2000 cuMemcpyAtoD,
        2000 cuMemcpyAtoH, 2000 cuMemcpyAtoHAsync, 2000 cuMemcpyDtoA, 2000 cuMemcpyDtoD,
        3000 cuMemcpyDtoDAsync, 2000 cuMemcpyDtoH, 2000 cuMemcpyDtoHAsync, 2000 cuMemcpyHtoA,
        2000 cuMemcpyHtoAAsync, 2000 cuMemcpyHtoD, 2000 cuMemcpyHtoDAsync,
        2000 cuMemsetD16, 2000 cuMemsetD2D16, 2000 cuMemsetD2D32, 2000 cuMemsetD2D8, 2000 cuMemsetD32,
        2000 cuMemsetD8,
    }
}
