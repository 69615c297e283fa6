//! Copies.

use std::ffi::{c_int, c_void};

use cust_raw::{CUarray, CUstream};

use super::entry::Entry;
use crate::last_error::call;
use crate::status::Code;
use crate::stream::DefaultStream;
use crate::types::{Memcpy3D, Memcpy3DPeer};
use crate::{copies, rows, symbols, volume};

functions! {
    cudaMemcpy(
        dst: *mut c_void, src: *const c_void, bytes: usize, kind: c_int,
    ) | cudaMemcpy_ptds => copies::copy;
    cudaMemcpyAsync(
        dst: *mut c_void, src: *const c_void, bytes: usize, kind: c_int, stream: CUstream,
    ) | cudaMemcpyAsync_ptsz => copies::copy_async;
    cudaMemcpyPeer(
        dst: *mut c_void, dst_device: c_int, src: *const c_void, src_device: c_int, bytes: usize,
    ) | cudaMemcpyPeer_ptds => copies::peer;
    cudaMemcpyPeerAsync(
        dst: *mut c_void, dst_device: c_int, src: *const c_void, src_device: c_int, bytes: usize,
        stream: CUstream,
    ) | cudaMemcpyPeerAsync_ptsz => copies::peer_async;
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
    ) | cudaMemcpy2D_ptds => rows::copy;
    cudaMemcpy2DAsync(
        dst: *mut c_void, dst_pitch: usize, src: *const c_void, src_pitch: usize, width: usize,
        height: usize, kind: c_int, stream: CUstream,
    ) | cudaMemcpy2DAsync_ptsz => rows::copy_async;
    cudaMemcpy2DToArray(
        dst: CUarray, x: usize, y: usize, src: *const c_void, pitch: usize, width: usize,
        height: usize, kind: c_int,
    ) | cudaMemcpy2DToArray_ptds => rows::to_array;
    cudaMemcpy2DToArrayAsync(
        dst: CUarray, x: usize, y: usize, src: *const c_void, pitch: usize, width: usize,
        height: usize, kind: c_int, stream: CUstream,
    ) | cudaMemcpy2DToArrayAsync_ptsz => rows::to_array_async;
    cudaMemcpy2DFromArray(
        dst: *mut c_void, pitch: usize, src: CUarray, x: usize, y: usize, width: usize,
        height: usize, kind: c_int,
    ) | cudaMemcpy2DFromArray_ptds => rows::from_array;
    cudaMemcpy2DFromArrayAsync(
        dst: *mut c_void, pitch: usize, src: CUarray, x: usize, y: usize, width: usize,
        height: usize, kind: c_int, stream: CUstream,
    ) | cudaMemcpy2DFromArrayAsync_ptsz => rows::from_array_async;
    cudaMemcpy2DArrayToArray(
        dst: CUarray, dst_x: usize, dst_y: usize, src: CUarray, src_x: usize, src_y: usize,
        width: usize, height: usize, kind: c_int,
    ) | cudaMemcpy2DArrayToArray_ptds => rows::between_arrays;
    cudaMemcpyToArray(
        dst: CUarray, x: usize, y: usize, src: *const c_void, bytes: usize, kind: c_int,
    ) | cudaMemcpyToArray_ptds => rows::bytes_to_array;
    cudaMemcpyToArrayAsync(
        dst: CUarray, x: usize, y: usize, src: *const c_void, bytes: usize, kind: c_int,
        stream: CUstream,
    ) | cudaMemcpyToArrayAsync_ptsz => rows::bytes_to_array_async;
    cudaMemcpyFromArray(
        dst: *mut c_void, src: CUarray, x: usize, y: usize, bytes: usize, kind: c_int,
    ) | cudaMemcpyFromArray_ptds => rows::bytes_from_array;
    cudaMemcpyFromArrayAsync(
        dst: *mut c_void, src: CUarray, x: usize, y: usize, bytes: usize, kind: c_int,
        stream: CUstream,
    ) | cudaMemcpyFromArrayAsync_ptsz => rows::bytes_from_array_async;
    cudaMemcpy3D(how: *const Memcpy3D) | cudaMemcpy3D_ptds => volume::copy;
    cudaMemcpy3DAsync(
        how: *const Memcpy3D, stream: CUstream,
    ) | cudaMemcpy3DAsync_ptsz => volume::copy_async;
    cudaMemcpy3DPeer(how: *const Memcpy3DPeer) | cudaMemcpy3DPeer_ptds => volume::peer;
    cudaMemcpy3DPeerAsync(
        how: *const Memcpy3DPeer, stream: CUstream,
    ) | cudaMemcpy3DPeerAsync_ptsz => volume::peer_async;
}
