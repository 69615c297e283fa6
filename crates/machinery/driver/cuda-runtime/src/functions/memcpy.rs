//! Lines of the runtime API's function table: copies.

use std::ffi::{c_int, c_void};

use cust_raw::{CUarray, CUstream};

use super::entry::Entry;
use crate::last_error::call;
use crate::status::Code;
use crate::stream::DefaultStream;
use crate::types::{Memcpy3D, Memcpy3DPeer};
use crate::{memcpy, memcpy_2d, memcpy_3d, symbols};

functions! {
    cudaMemcpy(
        dst: *mut c_void, src: *const c_void, bytes: usize, kind: c_int,
    ) | cudaMemcpy_ptds => memcpy::copy;
    cudaMemcpyAsync(
        dst: *mut c_void, src: *const c_void, bytes: usize, kind: c_int, stream: CUstream,
    ) | cudaMemcpyAsync_ptsz => memcpy::copy_async;
    cudaMemcpyPeer(
        dst: *mut c_void, dst_device: c_int, src: *const c_void, src_device: c_int, bytes: usize,
    ) | cudaMemcpyPeer_ptds => memcpy::peer;
    cudaMemcpyPeerAsync(
        dst: *mut c_void, dst_device: c_int, src: *const c_void, src_device: c_int, bytes: usize,
        stream: CUstream,
    ) | cudaMemcpyPeerAsync_ptsz => memcpy::peer_async;
    cudaMemcpyToSymbol(
        symbol: *const c_void, src: *const c_void, bytes: usize, offset: usize, kind: c_int,
    ) | cudaMemcpyToSymbol_ptds => symbols::copy_to;
    cudaMemcpyToSymbolAsync(
        symbol: *const c_void, src: *const c_void, bytes: usize, offset: usize, kind: c_int,
        stream: CUstream,
    ) | cudaMemcpyToSymbolAsync_ptsz => symbols::copy_to_async;
    cudaMemcpyFromSymbol(
        dst: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize, kind: c_int,
    ) | cudaMemcpyFromSymbol_ptds => symbols::copy_from;
    cudaMemcpyFromSymbolAsync(
        dst: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize, kind: c_int,
        stream: CUstream,
    ) | cudaMemcpyFromSymbolAsync_ptsz => symbols::copy_from_async;
    cudaMemcpy2D(
        dst: *mut c_void, dst_pitch: usize, src: *const c_void, src_pitch: usize, width: usize,
        height: usize, kind: c_int,
    ) | cudaMemcpy2D_ptds => memcpy_2d::copy;
    cudaMemcpy2DAsync(
        dst: *mut c_void, dst_pitch: usize, src: *const c_void, src_pitch: usize, width: usize,
        height: usize, kind: c_int, stream: CUstream,
    ) | cudaMemcpy2DAsync_ptsz => memcpy_2d::copy_async;
    cudaMemcpy2DToArray(
        dst: CUarray, x: usize, y: usize, src: *const c_void, pitch: usize, width: usize,
        height: usize, kind: c_int,
    ) | cudaMemcpy2DToArray_ptds => memcpy_2d::to_array;
    cudaMemcpy2DToArrayAsync(
        dst: CUarray, x: usize, y: usize, src: *const c_void, pitch: usize, width: usize,
        height: usize, kind: c_int, stream: CUstream,
    ) | cudaMemcpy2DToArrayAsync_ptsz => memcpy_2d::to_array_async;
    cudaMemcpy2DFromArray(
        dst: *mut c_void, pitch: usize, src: CUarray, x: usize, y: usize, width: usize,
        height: usize, kind: c_int,
    ) | cudaMemcpy2DFromArray_ptds => memcpy_2d::from_array;
    cudaMemcpy2DFromArrayAsync(
        dst: *mut c_void, pitch: usize, src: CUarray, x: usize, y: usize, width: usize,
        height: usize, kind: c_int, stream: CUstream,
    ) | cudaMemcpy2DFromArrayAsync_ptsz => memcpy_2d::from_array_async;
    cudaMemcpy2DArrayToArray(
        dst: CUarray, dst_x: usize, dst_y: usize, src: CUarray, src_x: usize, src_y: usize,
        width: usize, height: usize, kind: c_int,
    ) | cudaMemcpy2DArrayToArray_ptds => memcpy_2d::between_arrays;
    cudaMemcpyToArray(
        dst: CUarray, x: usize, y: usize, src: *const c_void, bytes: usize, kind: c_int,
    ) | cudaMemcpyToArray_ptds => memcpy_2d::bytes_to_array;
    cudaMemcpyToArrayAsync(
        dst: CUarray, x: usize, y: usize, src: *const c_void, bytes: usize, kind: c_int,
        stream: CUstream,
    ) | cudaMemcpyToArrayAsync_ptsz => memcpy_2d::bytes_to_array_async;
    cudaMemcpyFromArray(
        dst: *mut c_void, src: CUarray, x: usize, y: usize, bytes: usize, kind: c_int,
    ) | cudaMemcpyFromArray_ptds => memcpy_2d::bytes_from_array;
    cudaMemcpyFromArrayAsync(
        dst: *mut c_void, src: CUarray, x: usize, y: usize, bytes: usize, kind: c_int,
        stream: CUstream,
    ) | cudaMemcpyFromArrayAsync_ptsz => memcpy_2d::bytes_from_array_async;
    cudaMemcpy3D(params: *const Memcpy3D) | cudaMemcpy3D_ptds => memcpy_3d::copy;
    cudaMemcpy3DAsync(
        params: *const Memcpy3D, stream: CUstream,
    ) | cudaMemcpy3DAsync_ptsz => memcpy_3d::copy_async;
    cudaMemcpy3DPeer(params: *const Memcpy3DPeer) | cudaMemcpy3DPeer_ptds => memcpy_3d::peer;
    cudaMemcpy3DPeerAsync(
        params: *const Memcpy3DPeer, stream: CUstream,
    ) | cudaMemcpy3DPeerAsync_ptsz => memcpy_3d::peer_async;
}
