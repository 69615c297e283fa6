//! Arrays: their properties, and copies to, from and between them.

use std::ffi::c_uint;
use std::ptr::null_mut;

use cuda_runtime as cuda;
use cuda_runtime::types::{ChannelFormat, Extent, Memcpy3D, PitchedPtr, Pos};
use cust_raw::CUarray;

use super::program::{
    DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE, Memory, fails, ok, pattern, start,
};

/// Elements of two unsigned 16-bit channels.
const PAIRS: ChannelFormat = ChannelFormat {
    x: 16,
    y: 16,
    z: 0,
    w: 0,
    f: 1,
};

fn array(width: usize, height: usize) -> CUarray {
    start();
    let mut array = null_mut();
    // SAFETY: `array` is writable.
    ok(unsafe { cuda::cudaMallocArray(&mut array, &PAIRS, width, height, 0) });
    array
}

/// Copies all bytes of an array to the host.
fn bytes(of: CUarray, width: usize, height: usize) -> Vec<u8> {
    let mut output = vec![0_u8; width * 4 * height];
    let to = output.as_mut_ptr().cast();
    // SAFETY: `output` has `height` rows of `width * 4` bytes.
    ok(unsafe {
        cuda::cudaMemcpy2DFromArray(to, width * 4, of, 0, 0, width * 4, height, DEVICE_TO_HOST)
    });
    output
}

#[test]
fn an_array_reports_its_format_and_extent() {
    let described = array(10, 6);
    let mut format = ChannelFormat {
        x: 0,
        y: 0,
        z: 0,
        w: 0,
        f: 3,
    };
    let mut extent = Extent {
        width: 0,
        height: 0,
        depth: 9,
    };
    let mut flags: c_uint = 9;
    // SAFETY: all out-parameters are local variables.
    unsafe {
        ok(cuda::cudaArrayGetInfo(
            &mut format,
            &mut extent,
            &mut flags,
            described,
        ));
        assert_eq!(format, PAIRS);
        assert_eq!(
            (extent.width, extent.height, extent.depth, flags),
            (10, 6, 0, 0)
        );
        ok(cuda::cudaGetChannelDesc(&mut format, described));
        assert_eq!(format, PAIRS);
        ok(cuda::cudaFreeArray(described));
        ok(cuda::cudaFreeArray(null_mut()));
        fails(
            cuda::cudaFreeArray(described),
            "cudaErrorInvalidResourceHandle",
        );
        let mut rejected = null_mut();
        for invalid in [
            ChannelFormat { y: 8, ..PAIRS },
            ChannelFormat { z: 16, ..PAIRS },
            ChannelFormat {
                x: 64,
                y: 0,
                ..PAIRS
            },
            ChannelFormat {
                x: 8,
                y: 0,
                f: 2,
                ..PAIRS
            },
        ] {
            let code = cuda::cudaMallocArray(&mut rejected, &invalid, 4, 4, 0);
            fails(code, "cudaErrorInvalidChannelDescriptor");
        }
        fails(
            cuda::cudaGetChannelDesc(&mut format, null_mut()),
            "cudaErrorInvalidValue",
        );
    }
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
    // SAFETY: the copied rectangles lie inside the arrays and the host buffers.
    unsafe {
        let from = all.as_ptr().cast();
        ok(cuda::cudaMemcpy2DToArray(
            first,
            0,
            0,
            from,
            40,
            40,
            6,
            HOST_TO_DEVICE,
        ));
        let from = part.as_ptr().cast();
        ok(cuda::cudaMemcpy2DToArrayAsync(
            first,
            8,
            2,
            from,
            16,
            16,
            3,
            HOST_TO_DEVICE,
            null_mut(),
        ));
        ok(cuda::cudaMemset(Memory::new(4).0, 0, 4));
        ok(cuda::cudaMemcpy2DArrayToArray(
            second,
            0,
            0,
            first,
            0,
            0,
            40,
            6,
            DEVICE_TO_DEVICE,
        ));
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
    // SAFETY: the host buffers have 100 bytes; the copy outside the array is rejected.
    unsafe {
        ok(cuda::cudaMemcpyToArray(
            first,
            20,
            1,
            contiguous.as_ptr().cast(),
            100,
            HOST_TO_DEVICE,
        ));
        ok(cuda::cudaMemcpyFromArray(
            output.as_mut_ptr().cast(),
            first,
            20,
            1,
            100,
            DEVICE_TO_HOST,
        ));
        let outside =
            cuda::cudaMemcpyToArray(first, 40, 1, contiguous.as_ptr().cast(), 4, HOST_TO_DEVICE);
        fails(outside, "cudaErrorInvalidValue");
    }
    assert_eq!(output, contiguous);
    expected[40 + 20..][..100].copy_from_slice(&contiguous);
    assert_eq!(bytes(first, 10, 6), expected);
    // SAFETY: the arrays are not used again.
    unsafe {
        ok(cuda::cudaFreeArray(first));
        ok(cuda::cudaFreeArray(second));
    }
}

/// If an array is involved, an extent's width counts its elements.
#[test]
fn blocks_are_copied_to_arrays_and_back() {
    start();
    let extent = Extent {
        width: 5,
        height: 4,
        depth: 3,
    };
    let mut destination = null_mut();
    // SAFETY: `destination` is writable.
    ok(unsafe { cuda::cudaMalloc3DArray(&mut destination, &PAIRS, extent, 0) });
    let source = pattern(20 * 4 * 3);
    let no_ptr = PitchedPtr {
        ptr: null_mut(),
        pitch: 0,
        xsize: 0,
        ysize: 0,
    };
    let zero = Pos { x: 0, y: 0, z: 0 };
    let linear = |ptr: *mut u8| PitchedPtr {
        ptr: ptr.cast(),
        pitch: 20,
        xsize: 5,
        ysize: 4,
    };
    let upload = Memcpy3D {
        src_array: null_mut(),
        src_pos: zero,
        src_ptr: linear(source.as_ptr().cast_mut()),
        dst_array: destination,
        dst_pos: zero,
        dst_ptr: no_ptr,
        extent,
        kind: HOST_TO_DEVICE,
    };
    let mut output = vec![0_u8; 20 * 4 * 3];
    let download = Memcpy3D {
        src_array: destination,
        src_pos: Pos { x: 1, y: 2, z: 1 },
        src_ptr: no_ptr,
        dst_array: null_mut(),
        dst_pos: zero,
        dst_ptr: linear(output.as_mut_ptr()),
        extent: Extent {
            width: 3,
            height: 2,
            depth: 2,
        },
        kind: DEVICE_TO_HOST,
    };
    // SAFETY: the copied extents lie inside the array and the host buffers.
    unsafe {
        ok(cuda::cudaMemcpy3D(&upload));
        ok(cuda::cudaMemcpy3DAsync(&download, null_mut()));
        ok(cuda::cudaFreeArray(destination));
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
    let no_ptr = PitchedPtr {
        ptr: null_mut(),
        pitch: 0,
        xsize: 0,
        ysize: 0,
    };
    for (size, flags) in [
        ([5, 0, 3], LAYERED),
        ([5, 4, 3], LAYERED),
        ([4, 4, 6], CUBE),
        ([4, 4, 12], CUBE | LAYERED),
    ] {
        let [width, height, depth] = size;
        let extent = Extent {
            width,
            height,
            depth,
        };
        let layer_extent = Extent {
            width,
            height: height.max(1),
            depth: 1,
        };
        let layer = 4 * width * height.max(1);
        let source = pattern(layer * depth);
        let mut destination = null_mut();
        let (mut format, mut actual_extent, mut actual_flags) = (PAIRS, layer_extent, 9);
        // SAFETY: all out-parameters are local variables, and all copies lie inside the array and the buffers.
        unsafe {
            ok(cuda::cudaMalloc3DArray(
                &mut destination,
                &PAIRS,
                extent,
                flags,
            ));
            ok(cuda::cudaArrayGetInfo(
                &mut format,
                &mut actual_extent,
                &mut actual_flags,
                destination,
            ));
            assert_eq!(
                [
                    actual_extent.width,
                    actual_extent.height,
                    actual_extent.depth
                ],
                size
            );
            assert_eq!(actual_flags, flags);
            // Uploads the layers in descending order and downloads them with one copy.
            for z in (0..depth).rev() {
                let upload = Memcpy3D {
                    src_array: null_mut(),
                    src_pos: Pos { x: 0, y: 0, z: 0 },
                    src_ptr: PitchedPtr {
                        ptr: source[layer * z..].as_ptr().cast_mut().cast(),
                        pitch: 4 * width,
                        xsize: width,
                        ysize: height,
                    },
                    dst_array: destination,
                    dst_pos: Pos { x: 0, y: 0, z },
                    dst_ptr: no_ptr,
                    extent: layer_extent,
                    kind: HOST_TO_DEVICE,
                };
                ok(cuda::cudaMemcpy3D(&upload));
            }
            let mut output = vec![0_u8; layer * depth];
            let download = Memcpy3D {
                src_array: destination,
                src_pos: Pos { x: 0, y: 0, z: 0 },
                src_ptr: no_ptr,
                dst_array: null_mut(),
                dst_pos: Pos { x: 0, y: 0, z: 0 },
                dst_ptr: PitchedPtr {
                    ptr: output.as_mut_ptr().cast(),
                    pitch: 4 * width,
                    xsize: width,
                    ysize: height.max(1),
                },
                extent: Extent {
                    depth,
                    ..layer_extent
                },
                kind: DEVICE_TO_HOST,
            };
            ok(cuda::cudaMemcpy3D(&download));
            assert_eq!(output, source);
            ok(cuda::cudaFreeArray(destination));
            let invalid_extent = Extent {
                height: height + 1,
                depth: depth + 1,
                ..extent
            };
            if flags & CUBE != 0 {
                let code = cuda::cudaMalloc3DArray(&mut destination, &PAIRS, invalid_extent, flags);
                fails(code, "cudaErrorInvalidValue");
            }
        }
    }
}
