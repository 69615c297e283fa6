//! Arrays: their properties, and copies to, from and between them.

use std::ffi::c_uint;
use std::ptr::null_mut;

use cuda_driver::types::CUarray;
use cuda_runtime as cuda;
use cuda_runtime::types::{ChannelFormat, Memcpy3D};

use super::program::*;

/// Elements of two unsigned 16-bit channels.
const PAIRS: ChannelFormat = channels([16, 16, 0, 0], 1);

fn array(width: usize, height: usize) -> CUarray {
    start();
    let mut array = null_mut();
    calls! { cudaMallocArray(&mut array, &PAIRS, width, height, 0); }
    array
}

/// Copies all bytes of an array to the host.
fn bytes(of: CUarray, width: usize, height: usize) -> Vec<u8> {
    let mut output = vec![0_u8; width * 4 * height];
    let to = output.as_mut_ptr().cast();
    ok(code!(cudaMemcpy2DFromArray(
        to,
        width * 4,
        of,
        0,
        0,
        width * 4,
        height,
        DEVICE_TO_HOST
    )));
    output
}

#[test]
fn an_array_reports_its_format_and_extent() {
    let described = array(10, 6);
    let mut format = channels([0; 4], 3);
    let mut size = extent([0, 0, 9]);
    let mut flags: c_uint = 9;
    calls! { cudaArrayGetInfo(&mut format, &mut size, &mut flags, described); }
    assert_eq!(format, PAIRS);
    assert_eq!((size, flags), (extent([10, 6, 0]), 0));
    calls! { cudaGetChannelDesc(&mut format, described); }
    assert_eq!(format, PAIRS);
    calls! {
        cudaFreeArray(described);
        cudaFreeArray(null_mut());
        cudaFreeArray(described) => "cudaErrorInvalidResourceHandle";
    }
    let mut rejected = null_mut();
    for (bits, kind) in [
        ([16, 8, 0, 0], 1),
        ([16, 16, 16, 0], 1),
        ([64, 0, 0, 0], 1),
        ([8, 0, 0, 0], 2),
    ] {
        let invalid = channels(bits, kind);
        calls! {
            cudaMallocArray(&mut rejected, &invalid, 4, 4, 0)
                => "cudaErrorInvalidChannelDescriptor";
        }
    }
    calls! { cudaGetChannelDesc(&mut format, null_mut()) => "cudaErrorInvalidValue"; }
    assert_eq!(cuda::cudaCreateChannelDesc(16, 16, 0, 0, 1), PAIRS);
}

#[test]
fn parts_of_arrays_are_copied() {
    let (first, second) = (array(10, 6), array(10, 6));
    let all = pattern(10 * 4 * 6);
    let part = pattern(4 * 4 * 3)
        .into_iter()
        .map(|byte| byte ^ 0xff)
        .collect::<Vec<u8>>();
    let from = all.as_ptr().cast();
    calls! { cudaMemcpy2DToArray(first, 0, 0, from, 40, 40, 6, HOST_TO_DEVICE); }
    let from = part.as_ptr().cast();
    calls! {
        cudaMemcpy2DToArrayAsync(first, 8, 2, from, 16, 16, 3, HOST_TO_DEVICE, null_mut());
        cudaMemset(Memory::new(4).0, 0, 4);
        cudaMemcpy2DArrayToArray(second, 0, 0, first, 0, 0, 40, 6, DEVICE_TO_DEVICE);
    }
    let mut expected = all.clone();
    for row in 0..3 {
        expected[40 * (row + 2) + 8..][..16].copy_from_slice(&part[16 * row..][..16]);
    }
    assert_eq!(bytes(first, 10, 6), expected);
    assert_eq!(bytes(second, 10, 6), expected);
    // The older functions continue at the start of the next row.
    let contiguous = pattern(100);
    let mut output = vec![0_u8; 100];
    calls! {
        cudaMemcpyToArray(first, 20, 1, contiguous.as_ptr().cast(), 100, HOST_TO_DEVICE);
        cudaMemcpyFromArray(output.as_mut_ptr().cast(), first, 20, 1, 100, DEVICE_TO_HOST);
        cudaMemcpyToArray(first, 40, 1, contiguous.as_ptr().cast(), 4, HOST_TO_DEVICE)
            => "cudaErrorInvalidValue";
    }
    assert_eq!(output, contiguous);
    expected[40 + 20..][..100].copy_from_slice(&contiguous);
    assert_eq!(bytes(first, 10, 6), expected);
    calls! {
        cudaFreeArray(first);
        cudaFreeArray(second);
    }
}

/// If an array is involved, an extent's width counts its elements.
#[test]
fn blocks_are_copied_to_arrays_and_back() {
    start();
    let size = extent([5, 4, 3]);
    let mut destination = null_mut();
    calls! { cudaMalloc3DArray(&mut destination, &PAIRS, size, 0); }
    let source = pattern(20 * 4 * 3);
    let upload = Memcpy3D {
        src_ptr: pitched(source.as_ptr().cast_mut().cast(), 20, 5, 4),
        dst_array: destination,
        extent: size,
        kind: HOST_TO_DEVICE,
        ..NO_COPY
    };
    let mut output = vec![0_u8; 20 * 4 * 3];
    let download = Memcpy3D {
        src_array: destination,
        src_pos: pos([1, 2, 1]),
        dst_ptr: pitched(output.as_mut_ptr().cast(), 20, 5, 4),
        extent: extent([3, 2, 2]),
        kind: DEVICE_TO_HOST,
        ..NO_COPY
    };
    calls! {
        cudaMemcpy3D(&upload);
        cudaMemcpy3DAsync(&download, null_mut());
        cudaFreeArray(destination);
    }
    let mut expected = vec![0_u8; 20 * 4 * 3];
    for (z, y) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let from = 20 * (4 * (z + 1) + y + 2) + 4;
        expected[20 * (4 * z + y)..][..12].copy_from_slice(&source[from..][..12]);
    }
    assert_eq!(output, expected);
}

/// In layered arrays and cubemaps (`cudaArrayLayered`, `cudaArrayCubemap`) an extent's depth and a position's z
/// count layers and faces.
#[test]
fn layered_and_cubemap_arrays_are_copied_layer_by_layer() {
    const LAYERED: c_uint = 1;
    const CUBE: c_uint = 4;
    start();
    for (size, flags) in [
        ([5, 0, 3], LAYERED),
        ([5, 4, 3], LAYERED),
        ([4, 4, 6], CUBE),
        ([4, 4, 12], CUBE | LAYERED),
    ] {
        let [width, height, depth] = size;
        let layer_size = [width, height.max(1), 1];
        let layer = 4 * width * height.max(1);
        let source = pattern(layer * depth);
        let mut destination = null_mut();
        let (mut format, mut actual_extent, mut actual_flags) = (PAIRS, extent(layer_size), 9);
        calls! {
            cudaMalloc3DArray(&mut destination, &PAIRS, extent(size), flags);
            cudaArrayGetInfo(&mut format, &mut actual_extent, &mut actual_flags, destination);
        }
        assert_eq!(actual_extent, extent(size));
        assert_eq!(actual_flags, flags);
        // Uploads the layers in descending order and downloads them with one copy.
        for z in (0..depth).rev() {
            let from = source[layer * z..].as_ptr().cast_mut().cast();
            let upload = Memcpy3D {
                src_ptr: pitched(from, 4 * width, width, height),
                dst_array: destination,
                dst_pos: pos([0, 0, z]),
                extent: extent(layer_size),
                kind: HOST_TO_DEVICE,
                ..NO_COPY
            };
            calls! { cudaMemcpy3D(&upload); }
        }
        let mut output = vec![0_u8; layer * depth];
        let download = Memcpy3D {
            src_array: destination,
            dst_ptr: pitched(output.as_mut_ptr().cast(), 4 * width, width, height.max(1)),
            extent: extent([width, height.max(1), depth]),
            kind: DEVICE_TO_HOST,
            ..NO_COPY
        };
        calls! { cudaMemcpy3D(&download); }
        assert_eq!(output, source);
        calls! { cudaFreeArray(destination); }
        let invalid_extent = extent([width, height + 1, depth + 1]);
        if flags & CUBE != 0 {
            calls! {
                cudaMalloc3DArray(&mut destination, &PAIRS, invalid_extent, flags)
                    => "cudaErrorInvalidValue";
            }
        }
    }
}
