//! Rows of the driver API's function table: memory fills.

use std::ffi::{c_uchar, c_uint, c_ushort};

use cust_raw::{CUdeviceptr, CUstream};

use super::*;
use crate::simulator::memset;

functions! {
    3020 cuMemsetD8_v2(dst_device: CUdeviceptr, uc: c_uchar, n: usize) [memset::d8] / 7000 cuMemsetD8_v2_ptds;
    3020 cuMemsetD8Async(
        dst_device: CUdeviceptr, uc: c_uchar, n: usize, stream: CUstream,
    ) [memset::d8_async] / 7000 cuMemsetD8Async_ptsz;
    3020 cuMemsetD16_v2(dst_device: CUdeviceptr, us: c_ushort, n: usize) [memset::d16] / 7000 cuMemsetD16_v2_ptds;
    3020 cuMemsetD16Async(
        dst_device: CUdeviceptr, us: c_ushort, n: usize, stream: CUstream,
    ) [memset::d16_async] / 7000 cuMemsetD16Async_ptsz;
    3020 cuMemsetD32_v2(dst_device: CUdeviceptr, ui: c_uint, n: usize) [memset::d32] / 7000 cuMemsetD32_v2_ptds;
    3020 cuMemsetD32Async(
        dst_device: CUdeviceptr, ui: c_uint, n: usize, stream: CUstream,
    ) [memset::d32_async] / 7000 cuMemsetD32Async_ptsz;
    3020 cuMemsetD2D8_v2(
        dst_device: CUdeviceptr, dst_pitch: usize, uc: c_uchar, width: usize, height: usize,
    ) [memset::rows_d8] / 7000 cuMemsetD2D8_v2_ptds;
    3020 cuMemsetD2D8Async(
        dst_device: CUdeviceptr, dst_pitch: usize, uc: c_uchar, width: usize, height: usize, stream:
        CUstream,
    ) [memset::rows_d8_async] / 7000 cuMemsetD2D8Async_ptsz;
    3020 cuMemsetD2D16_v2(
        dst_device: CUdeviceptr, dst_pitch: usize, us: c_ushort, width: usize, height: usize,
    ) [memset::rows_d16] / 7000 cuMemsetD2D16_v2_ptds;
    3020 cuMemsetD2D16Async(
        dst_device: CUdeviceptr, dst_pitch: usize, us: c_ushort, width: usize, height: usize, stream:
        CUstream,
    ) [memset::rows_d16_async] / 7000 cuMemsetD2D16Async_ptsz;
    3020 cuMemsetD2D32_v2(
        dst_device: CUdeviceptr, dst_pitch: usize, ui: c_uint, width: usize, height: usize,
    ) [memset::rows_d32] / 7000 cuMemsetD2D32_v2_ptds;
    3020 cuMemsetD2D32Async(
        dst_device: CUdeviceptr, dst_pitch: usize, ui: c_uint, width: usize, height: usize, stream:
        CUstream,
    ) [memset::rows_d32_async] / 7000 cuMemsetD2D32Async_ptsz;

    unsupported {
        2000 cuMemsetD16, 2000 cuMemsetD2D16, 2000 cuMemsetD2D32, 2000 cuMemsetD2D8, 2000 cuMemsetD32,
        2000 cuMemsetD8,
    }
}
