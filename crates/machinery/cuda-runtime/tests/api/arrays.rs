//! Arrays: what they are, and copies to, from and between them.

use std::ffi::c_uint;
use std::ptr::null_mut;

use cuda_runtime as cuda;
use cuda_runtime::types::{ChannelFormat, Extent, Memcpy3D, PitchedPtr, Pos};
use cust_raw::CUarray;

use super::program::{Memory, ON_DEVICE, TO_DEVICE, TO_HOST, fails, ok, pattern, start};

/// Elements of two channels of 16 bits.
const PAIRS: ChannelFormat = ChannelFormat {
    x: 16,
    y: 16,
    z: 0,
    w: 0,
    f: 1,
};

fn array(width: usize, height: usize) -> CUarray {
    start();
    let mut made = null_mut();
    // SAFETY: a handle is written.
    ok(unsafe { cuda::cudaMallocArray(&mut made, &PAIRS, width, height, 0) });
    made
}

/// All bytes of an array.
fn bytes(of: CUarray, width: usize, height: usize) -> Vec<u8> {
    let mut read = vec![0_u8; width * 4 * height];
    let to = read.as_mut_ptr().cast();
    // SAFETY: there are so many bytes.
    ok(unsafe { cuda::cudaMemcpy2DFromArray(to, width * 4, of, 0, 0, width * 4, height, TO_HOST) });
    read
}

#[test]
fn an_array_says_what_it_is() {
    let made = array(10, 6);
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
    // SAFETY: descriptions are written.
    unsafe {
        ok(cuda::cudaArrayGetInfo(
            &mut format,
            &mut extent,
            &mut flags,
            made,
        ));
        assert_eq!(format, PAIRS);
        assert_eq!(
            (extent.width, extent.height, extent.depth, flags),
            (10, 6, 0, 0)
        );
        ok(cuda::cudaGetChannelDesc(&mut format, made));
        assert_eq!(format, PAIRS);
        ok(cuda::cudaFreeArray(made));
        ok(cuda::cudaFreeArray(null_mut()));
        fails(cuda::cudaFreeArray(made), "cudaErrorInvalidResourceHandle");
        let mut made = null_mut();
        for wrong in [
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
            let made = cuda::cudaMallocArray(&mut made, &wrong, 4, 4, 0);
            fails(made, "cudaErrorInvalidChannelDescriptor");
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
    // SAFETY: all is inside.
    unsafe {
        let from = all.as_ptr().cast();
        ok(cuda::cudaMemcpy2DToArray(
            first, 0, 0, from, 40, 40, 6, TO_DEVICE,
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
            TO_DEVICE,
            null_mut(),
        ));
        ok(cuda::cudaMemset(Memory::new(4).0, 0, 4));
        ok(cuda::cudaMemcpy2DArrayToArray(
            second, 0, 0, first, 0, 0, 40, 6, ON_DEVICE,
        ));
    }
    let mut expected = all.clone();
    for row in 0..3 {
        expected[40 * (row + 2) + 8..][..16].copy_from_slice(&part[16 * row..][..16]);
    }
    assert_eq!(bytes(first, 10, 6), expected);
    assert_eq!(bytes(second, 10, 6), expected);
    // The old copies go on from row to row.
    let run = pattern(100);
    let mut read = vec![0_u8; 100];
    // SAFETY: as above.
    unsafe {
        ok(cuda::cudaMemcpyToArray(
            first,
            20,
            1,
            run.as_ptr().cast(),
            100,
            TO_DEVICE,
        ));
        ok(cuda::cudaMemcpyFromArray(
            read.as_mut_ptr().cast(),
            first,
            20,
            1,
            100,
            TO_HOST,
        ));
        let outside = cuda::cudaMemcpyToArray(first, 40, 1, run.as_ptr().cast(), 4, TO_DEVICE);
        fails(outside, "cudaErrorInvalidValue");
    }
    assert_eq!(read, run);
    expected[40 + 20..][..100].copy_from_slice(&run);
    assert_eq!(bytes(first, 10, 6), expected);
    // SAFETY: nobody uses them any more.
    unsafe {
        ok(cuda::cudaFreeArray(first));
        ok(cuda::cudaFreeArray(second));
    }
}

/// Where an array takes part, a block's width counts its elements.
#[test]
fn blocks_go_to_arrays_and_back() {
    start();
    let extent = Extent {
        width: 5,
        height: 4,
        depth: 3,
    };
    let mut made = null_mut();
    // SAFETY: a handle is written.
    ok(unsafe { cuda::cudaMalloc3DArray(&mut made, &PAIRS, extent, 0) });
    let source = pattern(20 * 4 * 3);
    let nowhere = PitchedPtr {
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
    let there = Memcpy3D {
        src_array: null_mut(),
        src_pos: zero,
        src_ptr: linear(source.as_ptr().cast_mut()),
        dst_array: made,
        dst_pos: zero,
        dst_ptr: nowhere,
        extent,
        kind: TO_DEVICE,
    };
    let mut read = vec![0_u8; 20 * 4 * 3];
    let back = Memcpy3D {
        src_array: made,
        src_pos: Pos { x: 1, y: 2, z: 1 },
        src_ptr: nowhere,
        dst_array: null_mut(),
        dst_pos: zero,
        dst_ptr: linear(read.as_mut_ptr()),
        extent: Extent {
            width: 3,
            height: 2,
            depth: 2,
        },
        kind: TO_HOST,
    };
    // SAFETY: all is inside.
    unsafe {
        ok(cuda::cudaMemcpy3D(&there));
        ok(cuda::cudaMemcpy3DAsync(&back, null_mut()));
        ok(cuda::cudaFreeArray(made));
    }
    let mut expected = vec![0_u8; 20 * 4 * 3];
    for (z, y) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let from = 20 * (4 * (z + 1) + y + 2) + 4;
        expected[20 * (4 * z + y)..][..12].copy_from_slice(&source[from..][..12]);
    }
    assert_eq!(read, expected);
}

/// `cudaArrayLayered`, `cudaArrayCubemap`: the depth counts layers and faces, and so does z in a copy.
#[test]
fn layers_and_faces_are_made_and_copied_one_by_one() {
    const LAYERED: c_uint = 1;
    const CUBE: c_uint = 4;
    start();
    let nowhere = PitchedPtr {
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
        let one = Extent {
            width,
            height: height.max(1),
            depth: 1,
        };
        let layer = 4 * width * height.max(1);
        let source = pattern(layer * depth);
        let mut made = null_mut();
        let (mut format, mut found, mut found_flags) = (PAIRS, one, 9);
        // SAFETY: handles and descriptions are written; all copies are inside.
        unsafe {
            ok(cuda::cudaMalloc3DArray(&mut made, &PAIRS, extent, flags));
            ok(cuda::cudaArrayGetInfo(
                &mut format,
                &mut found,
                &mut found_flags,
                made,
            ));
            assert_eq!([found.width, found.height, found.depth], size);
            assert_eq!(found_flags, flags);
            // Layers from the last to the first, and read back together.
            for z in (0..depth).rev() {
                let there = Memcpy3D {
                    src_array: null_mut(),
                    src_pos: Pos { x: 0, y: 0, z: 0 },
                    src_ptr: PitchedPtr {
                        ptr: source[layer * z..].as_ptr().cast_mut().cast(),
                        pitch: 4 * width,
                        xsize: width,
                        ysize: height,
                    },
                    dst_array: made,
                    dst_pos: Pos { x: 0, y: 0, z },
                    dst_ptr: nowhere,
                    extent: one,
                    kind: TO_DEVICE,
                };
                ok(cuda::cudaMemcpy3D(&there));
            }
            let mut read = vec![0_u8; layer * depth];
            let back = Memcpy3D {
                src_array: made,
                src_pos: Pos { x: 0, y: 0, z: 0 },
                src_ptr: nowhere,
                dst_array: null_mut(),
                dst_pos: Pos { x: 0, y: 0, z: 0 },
                dst_ptr: PitchedPtr {
                    ptr: read.as_mut_ptr().cast(),
                    pitch: 4 * width,
                    xsize: width,
                    ysize: height.max(1),
                },
                extent: Extent { depth, ..one },
                kind: TO_HOST,
            };
            ok(cuda::cudaMemcpy3D(&back));
            assert_eq!(read, source);
            ok(cuda::cudaFreeArray(made));
            let odd = Extent {
                height: height + 1,
                depth: depth + 1,
                ..extent
            };
            if flags & CUBE != 0 {
                let made = cuda::cudaMalloc3DArray(&mut made, &PAIRS, odd, flags);
                fails(made, "cudaErrorInvalidValue");
            }
        }
    }
}
