//! Copies of contiguous bytes, of pitched rows, of three-dimensional blocks, and to and from device variables.

use std::ffi::c_void;
use std::ptr::null_mut;

use cuda_runtime::types::Memcpy3D;

use super::program::*;

#[test]
fn bytes_are_copied_in_every_direction() {
    let source = pattern(1000);
    let from = source.as_ptr().cast::<c_void>();
    for asynchronous in [false, true] {
        let copy = |to, from, kind| {
            ok({
                if asynchronous {
                    code!(cudaMemcpyAsync(to, from, 1000, kind, null_mut()))
                } else {
                    code!(cudaMemcpy(to, from, 1000, kind))
                }
            });
        };
        for kinds in [
            [
                HOST_TO_DEVICE,
                DEVICE_TO_DEVICE,
                DEVICE_TO_HOST,
                HOST_TO_HOST,
            ],
            [DEFAULT; 4],
        ] {
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
fn invalid_copies_are_rejected() {
    let memory = Memory::new(100);
    let mut host_bytes = [0_u8; 100];
    let ptr = host_bytes.as_mut_ptr().cast::<c_void>();
    calls! {
        cudaMemcpy(memory.0, ptr, 4, 5) => "cudaErrorInvalidMemcpyDirection";
        cudaMemcpy(memory.0, ptr, 101, HOST_TO_DEVICE) => "cudaErrorInvalidValue";
        cudaMemcpy(ptr, ptr, 4, HOST_TO_DEVICE) => "cudaErrorInvalidValue";
        cudaMemcpy(null_mut(), ptr, 0, HOST_TO_DEVICE);
        cudaMemcpyPeer(memory.0, 0, ptr, 0, 4);
        cudaMemcpyPeer(memory.0, 1, ptr, 0, 4) => "cudaErrorInvalidDevice";
        cudaMemcpy2D(memory.0, 8, ptr, 10, 9, 2, HOST_TO_DEVICE)
            => "cudaErrorInvalidPitchValue";
    }
}

#[test]
fn rows_are_copied_between_different_pitches() {
    let source = pattern(40 * 9);
    let memory = Memory::of(&[0xee_u8; 64 * 9]);
    let from = source.as_ptr().cast();
    calls! { cudaMemcpy2D(memory.0, 64, from, 40, 33, 9, HOST_TO_DEVICE); }
    let mut expected = vec![0xee; 64 * 9];
    for row in 0..9 {
        expected[64 * row..][..33].copy_from_slice(&source[40 * row..][..33]);
    }
    assert_eq!(memory.values::<u8>(64 * 9), expected);
    let mut output = vec![0x11_u8; 50 * 9];
    let to = output.as_mut_ptr().cast();
    calls! { cudaMemcpy2DAsync(to, 50, memory.0, 64, 33, 9, DEFAULT, null_mut()); }
    let mut expected = vec![0x11; 50 * 9];
    for row in 0..9 {
        expected[50 * row..][..33].copy_from_slice(&source[40 * row..][..33]);
    }
    assert_eq!(output, expected);
}

/// A part of a block is copied to a different position in another block.
#[test]
fn blocks_are_copied_to_their_destination_offset() {
    let (from_pitch, from_rows) = (32, 5);
    let (to_pitch, to_rows) = (48, 7);
    let source = pattern(from_pitch * from_rows * 4);
    let memory = Memory::of(&vec![0xee_u8; to_pitch * to_rows * 6]);
    let (from_pos, to_pos) = (pos([4, 1, 1]), pos([7, 2, 3]));
    let from = source.as_ptr().cast_mut().cast();
    let mut params = Memcpy3D {
        src_pos: from_pos,
        src_ptr: pitched(from, from_pitch, 30, from_rows),
        dst_pos: to_pos,
        dst_ptr: pitched(memory.0, to_pitch, 40, to_rows),
        extent: extent([20, 3, 2]),
        kind: HOST_TO_DEVICE,
        ..NO_COPY
    };
    calls! { cudaMemcpy3D(&params); }
    let mut expected = vec![0xee; to_pitch * to_rows * 6];
    for (z, y) in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)] {
        let from = from_pitch * (from_rows * (z + from_pos.z) + y + from_pos.y) + from_pos.x;
        let to = to_pitch * (to_rows * (z + to_pos.z) + y + to_pos.y) + to_pos.x;
        expected[to..][..20].copy_from_slice(&source[from..][..20]);
    }
    assert_eq!(memory.values::<u8>(expected.len()), expected);
    params.extent.width = 33;
    calls! { cudaMemcpy3D(&params) => "cudaErrorInvalidPitchValue"; }
    params.dst_ptr.ptr = null_mut();
    calls! {
        cudaMemcpy3DAsync(&params, null_mut()) => "cudaErrorInvalidValue";
        cudaMemcpy3D(std::ptr::null()) => "cudaErrorInvalidValue";
    }
}

#[test]
fn symbols_are_found_by_their_host_addresses() {
    start();
    let table = host(&TABLE);
    let values: Vec<u8> = pattern(64);
    let mut output = vec![0_u8; 60];
    assert_eq!(get::<usize>(|to| code!(cudaGetSymbolSize(to, table))), 64);
    let mut address = null_mut();
    calls! { cudaGetSymbolAddress(&mut address, table); }
    assert!(!address.is_null());
    calls! { cudaMemcpyToSymbol(table, values.as_ptr().cast(), 64, 0, HOST_TO_DEVICE); }
    let to = output.as_mut_ptr().cast();
    calls! { cudaMemcpyFromSymbol(to, table, 60, 4, DEVICE_TO_HOST); }
    assert_eq!(output, values[4..]);
    calls! { cudaMemcpyFromSymbolAsync(to, table, 10, 0, DEFAULT, null_mut()); }
    assert_eq!(output[..10], values[..10]);
    let from = values.as_ptr().cast();
    calls! {
        cudaMemcpyToSymbol(table, from, 61, 4, HOST_TO_DEVICE) => "cudaErrorInvalidValue";
        cudaMemcpyToSymbol(table, from, 4, 0, DEVICE_TO_HOST)
            => "cudaErrorInvalidMemcpyDirection";
        cudaGetSymbolAddress(&mut address, host(&UNREGISTERED)) => "cudaErrorInvalidSymbol";
    }
    assert_eq!(
        get::<usize>(|to| code!(cudaGetSymbolSize(to, host(&FACTOR)))),
        4
    );
}
