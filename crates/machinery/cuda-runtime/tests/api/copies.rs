//! Copies of rows of bytes, of rows with a distance, of blocks, and to and from variables.

use std::ffi::c_void;
use std::ptr::null_mut;

use cuda_runtime as cuda;
use cuda_runtime::types::{Extent, Memcpy3D, PitchedPtr, Pos};

use super::program::{
    DEFAULT, FACTOR, HOST_TO_HOST, Memory, ON_DEVICE, STRANGER, TABLE, TO_DEVICE, TO_HOST, fails,
    get, host, ok, pattern, start,
};

#[test]
fn bytes_go_every_way() {
    let source = pattern(1000);
    let from = source.as_ptr().cast::<c_void>();
    for asynchronous in [false, true] {
        let copy = |to, from, kind| {
            // SAFETY: all places have as many bytes.
            ok(unsafe {
                match asynchronous {
                    false => cuda::cudaMemcpy(to, from, 1000, kind),
                    true => cuda::cudaMemcpyAsync(to, from, 1000, kind, null_mut()),
                }
            });
        };
        for kinds in [[TO_DEVICE, ON_DEVICE, TO_HOST, HOST_TO_HOST], [DEFAULT; 4]] {
            let (first, second) = (Memory::new(1000), Memory::new(1000));
            let (mut third, mut fourth) = (vec![0_u8; 1000], vec![0_u8; 1000]);
            copy(first.0, from, kinds[0]);
            copy(second.0, first.0, kinds[1]);
            copy(third.as_mut_ptr().cast(), second.0, kinds[2]);
            copy(fourth.as_mut_ptr().cast(), third.as_ptr().cast(), kinds[3]);
            assert_eq!(fourth, source);
        }
    }
}

#[test]
fn copies_that_cannot_be_are_refused() {
    let memory = Memory::new(100);
    let mut own = [0_u8; 100];
    let at = own.as_mut_ptr().cast::<c_void>();
    // SAFETY: refused, or of no bytes.
    unsafe {
        fails(
            cuda::cudaMemcpy(memory.0, at, 4, 5),
            "cudaErrorInvalidMemcpyDirection",
        );
        fails(
            cuda::cudaMemcpy(memory.0, at, 101, TO_DEVICE),
            "cudaErrorInvalidValue",
        );
        fails(
            cuda::cudaMemcpy(at, at, 4, TO_DEVICE),
            "cudaErrorInvalidValue",
        );
        ok(cuda::cudaMemcpy(null_mut(), at, 0, TO_DEVICE));
        ok(cuda::cudaMemcpyPeer(memory.0, 0, at, 0, 4));
        fails(
            cuda::cudaMemcpyPeer(memory.0, 1, at, 0, 4),
            "cudaErrorInvalidDevice",
        );
        let wide = cuda::cudaMemcpy2D(memory.0, 8, at, 10, 9, 2, TO_DEVICE);
        fails(wide, "cudaErrorInvalidPitchValue");
    }
}

#[test]
fn rows_with_a_distance_arrive_as_rows_with_another() {
    let source = pattern(40 * 9);
    let memory = Memory::of(&[0xee_u8; 64 * 9]);
    // SAFETY: all rows are inside.
    unsafe {
        let from = source.as_ptr().cast();
        ok(cuda::cudaMemcpy2D(memory.0, 64, from, 40, 33, 9, TO_DEVICE));
    }
    let mut expected = vec![0xee; 64 * 9];
    for row in 0..9 {
        expected[64 * row..][..33].copy_from_slice(&source[40 * row..][..33]);
    }
    assert_eq!(memory.values::<u8>(64 * 9), expected);
    let mut back = vec![0x11_u8; 50 * 9];
    // SAFETY: as above.
    unsafe {
        let to = back.as_mut_ptr().cast();
        ok(cuda::cudaMemcpy2DAsync(
            to,
            50,
            memory.0,
            64,
            33,
            9,
            DEFAULT,
            null_mut(),
        ));
    }
    let mut expected = vec![0x11; 50 * 9];
    for row in 0..9 {
        expected[50 * row..][..33].copy_from_slice(&source[40 * row..][..33]);
    }
    assert_eq!(back, expected);
}

/// A part of a block in linear memory goes to another place in another block.
#[test]
fn blocks_arrive_where_they_were_sent() {
    let (from_pitch, from_rows) = (32, 5);
    let (to_pitch, to_rows) = (48, 7);
    let source = pattern(from_pitch * from_rows * 4);
    let memory = Memory::of(&vec![0xee_u8; to_pitch * to_rows * 6]);
    let extent = Extent {
        width: 20,
        height: 3,
        depth: 2,
    };
    let (at, to) = (Pos { x: 4, y: 1, z: 1 }, Pos { x: 7, y: 2, z: 3 });
    let mut how = Memcpy3D {
        src_array: null_mut(),
        src_pos: at,
        src_ptr: PitchedPtr {
            ptr: source.as_ptr().cast_mut().cast(),
            pitch: from_pitch,
            xsize: 30,
            ysize: from_rows,
        },
        dst_array: null_mut(),
        dst_pos: to,
        dst_ptr: PitchedPtr {
            ptr: memory.0,
            pitch: to_pitch,
            xsize: 40,
            ysize: to_rows,
        },
        extent,
        kind: TO_DEVICE,
    };
    // SAFETY: all is inside.
    unsafe { ok(cuda::cudaMemcpy3D(&how)) };
    let mut expected = vec![0xee; to_pitch * to_rows * 6];
    for (z, y) in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)] {
        let from = from_pitch * (from_rows * (z + at.z) + y + at.y) + at.x;
        let to = to_pitch * (to_rows * (z + to.z) + y + to.y) + to.x;
        expected[to..][..20].copy_from_slice(&source[from..][..20]);
    }
    assert_eq!(memory.values::<u8>(expected.len()), expected);
    // SAFETY: refused.
    unsafe {
        how.extent.width = 33;
        fails(cuda::cudaMemcpy3D(&how), "cudaErrorInvalidPitchValue");
        how.dst_ptr.ptr = null_mut();
        fails(
            cuda::cudaMemcpy3DAsync(&how, null_mut()),
            "cudaErrorInvalidValue",
        );
        fails(
            cuda::cudaMemcpy3D(std::ptr::null()),
            "cudaErrorInvalidValue",
        );
    }
}

#[test]
fn variables_are_found_by_their_places_on_the_host() {
    start();
    let table = host(&TABLE);
    let values: Vec<u8> = pattern(64);
    let mut read = vec![0_u8; 60];
    // SAFETY: all is inside the variable.
    unsafe {
        assert_eq!(get::<usize>(|to| cuda::cudaGetSymbolSize(to, table)), 64);
        let mut at = null_mut();
        ok(cuda::cudaGetSymbolAddress(&mut at, table));
        assert!(!at.is_null());
        ok(cuda::cudaMemcpyToSymbol(
            table,
            values.as_ptr().cast(),
            64,
            0,
            TO_DEVICE,
        ));
        let to = read.as_mut_ptr().cast();
        ok(cuda::cudaMemcpyFromSymbol(to, table, 60, 4, TO_HOST));
        assert_eq!(read, values[4..]);
        ok(cuda::cudaMemcpyFromSymbolAsync(
            to,
            table,
            10,
            0,
            DEFAULT,
            null_mut(),
        ));
        assert_eq!(read[..10], values[..10]);
        let from = values.as_ptr().cast();
        fails(
            cuda::cudaMemcpyToSymbol(table, from, 61, 4, TO_DEVICE),
            "cudaErrorInvalidValue",
        );
        let wrong_way = cuda::cudaMemcpyToSymbol(table, from, 4, 0, TO_HOST);
        fails(wrong_way, "cudaErrorInvalidMemcpyDirection");
        let unknown = cuda::cudaGetSymbolAddress(&mut at, host(&STRANGER));
        fails(unknown, "cudaErrorInvalidSymbol");
        assert_eq!(
            get::<usize>(|to| cuda::cudaGetSymbolSize(to, host(&FACTOR))),
            4
        );
    }
}
