//! The copy functions through the C API on the simulator: the address, the function or the structure
//! determines the kind of memory on each side.

#[macro_use]
mod support;

use std::ffi::c_void;

use cuda_driver::types::{CUDA_MEMCPY2D, CUDA_MEMCPY3D};
use cust::memory::{DeviceBuffer, LockedBuffer, UnifiedBuffer};
use support::*;

/// Returns test data in which no two neighbouring bytes are equal.
fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i % 251) as u8).collect()
}

#[test]
fn unified_addresses_determine_the_copy_direction() {
    const BYTES: usize = 1000;
    let _context = primary_context();
    let mut pageable = [vec![0u8; BYTES], vec![0u8; BYTES]];
    let mut locked = LockedBuffer::new(&0u8, 2 * BYTES).unwrap();
    let mut unified = UnifiedBuffer::new(&0u8, 2 * BYTES).unwrap();
    let device = DeviceBuffer::from_slice(&[0u8; 2 * BYTES]).unwrap();
    // Two addresses in each kind of memory.
    let addresses = [
        pageable.each_mut().map(|part| part.as_mut_ptr() as u64),
        [locked.as_mut_ptr() as u64; 2],
        [unified.as_mut_ptr() as u64; 2],
        [device.as_device_ptr().as_raw(); 2],
    ]
    .map(|[first, second]| {
        let second = if first == second {
            first + BYTES as u64
        } else {
            second
        };
        [first, second]
    });
    let source = pattern(BYTES);
    for from in addresses {
        for to in addresses {
            for asynchronous in [false, true] {
                let mut result = vec![0xee; BYTES];
                let (sent, got) = (source.as_ptr() as u64, result.as_mut_ptr() as u64);
                let legacy = std::ptr::null_mut();
                let copy = |to: u64, from: u64| match asynchronous {
                    true => code!(cuMemcpyAsync(to, from, BYTES, legacy)),
                    false => code!(cuMemcpy(to, from, BYTES)),
                };
                ok(copy(from[0], sent));
                ok(copy(to[1], from[0]));
                ok(copy(got, to[1]));
                calls! { cuStreamSynchronize(legacy); }
                assert_eq!(result, source, "{from:x?} to {to:x?}");
            }
        }
    }
}

/// On an H200 (driver 580.159.04, 2026-11-29), the host side of a copy may be any memory, and the device side any but
/// pageable host memory.
#[test]
fn device_memory_is_accepted_as_host_memory() {
    const BYTES: usize = 64;
    let _context = primary_context();
    let source = pattern(BYTES);
    let legacy = std::ptr::null_mut();
    let from = DeviceBuffer::from_slice(&source).unwrap();
    let from = from.as_device_ptr().as_raw();
    let two_d = |to: u64| CUDA_MEMCPY2D {
        srcHost: from as *const c_void,
        dstHost: to as *mut c_void,
        WidthInBytes: BYTES,
        Height: 1,
        ..copy_2d(HOST, HOST)
    };
    let copies: [&dyn Fn(u64) -> i32; 5] = [
        &|to| code!(cuMemcpyDtoH_v2(to as *mut c_void, from, BYTES)),
        &|to| code!(cuMemcpyDtoHAsync_v2(to as *mut c_void, from, BYTES, legacy)),
        &|to| code!(cuMemcpyHtoD_v2(to, from as *const c_void, BYTES)),
        &|to| {
            code!(cuMemcpyHtoDAsync_v2(
                to,
                from as *const c_void,
                BYTES,
                legacy
            ))
        },
        &|to| code!(cuMemcpy2D_v2(&two_d(to))),
    ];
    for (index, copy) in copies.iter().enumerate() {
        let to = DeviceBuffer::from_slice(&[0xee_u8; BYTES]).unwrap();
        ok(copy(to.as_device_ptr().as_raw()));
        calls! { cuStreamSynchronize(legacy); }
        assert_eq!(to.as_host_vec().unwrap(), source, "copy {index}");
    }
    let mut pageable = vec![0u8; BYTES];
    let address = pageable.as_mut_ptr() as u64;
    for refused in [
        code!(cuMemcpyHtoD_v2(address, from as *const c_void, BYTES)),
        code!(cuMemcpyDtoH_v2(from as *mut c_void, address, BYTES)),
    ] {
        assert_eq!(refused, INVALID_VALUE);
    }
}

#[test]
fn unallocated_addresses_are_rejected() {
    let _context = primary_context();
    let mut host = [0u8; 16];
    let device = DeviceBuffer::from_slice(&[0u8; 16]).unwrap();
    let (host, device) = (host.as_mut_ptr() as u64, device.as_device_ptr().as_raw());
    for (to, from) in [(0, host), (host, 0), (device + 1, host), (host, device + 1)] {
        let refused = code!(cuMemcpy(to, from, 16));
        assert_eq!(refused, INVALID_VALUE, "{from:#x} to {to:#x}");
    }
}

#[test]
fn unknown_memory_types_are_rejected() {
    let _context = primary_context();
    calls! {
        cuMemcpy2D_v2(&copy_2d(HOST, HOST));
        cuMemcpy3D_v2(&copy_3d(HOST, HOST));
    }
    for unknown in [i32::MIN, -1, 0, 5] {
        for (from, to) in [(unknown, HOST), (HOST, unknown)] {
            calls! {
                cuMemcpy2D_v2(&copy_2d(from, to)) => INVALID_VALUE;
                cuMemcpy3D_v2(&copy_3d(from, to)) => INVALID_VALUE;
            }
        }
    }
}

/// One side of a two- or three-dimensional copy.
#[derive(Clone, Copy)]
struct Side {
    kind: CUmemorytype,
    address: u64,
    pitch: usize,
    rows: usize,
}

impl Side {
    fn host(memory: *const u8, pitch: usize, rows: usize) -> Self {
        Self {
            kind: HOST,
            address: memory as u64,
            pitch,
            rows,
        }
    }

    /// Returns the same memory as a unified address.
    fn unified(self) -> Self {
        Self {
            kind: UNIFIED,
            ..self
        }
    }

    /// Returns the address as a host pointer; only used for sides in host memory.
    fn as_host(self) -> *mut c_void {
        std::ptr::with_exposed_provenance_mut(self.address as usize)
    }
}

/// Returns a copy of `height` rows of `width` bytes, from byte 3 in row 1 of `from` to byte 1 in row 2 of `to`.
fn two_d(to: Side, from: Side, [width, height]: [usize; 2]) -> CUDA_MEMCPY2D {
    CUDA_MEMCPY2D {
        srcHost: from.as_host(),
        srcDevice: from.address,
        srcPitch: from.pitch,
        srcXInBytes: 3,
        srcY: 1,
        dstHost: to.as_host(),
        dstDevice: to.address,
        dstPitch: to.pitch,
        dstXInBytes: 1,
        dstY: 2,
        WidthInBytes: width,
        Height: height,
        ..copy_2d(from.kind, to.kind)
    }
}

/// Returns a copy of `depth` slices of such rows, from slice 1 of `from` to slice 0 of `to`.
fn three_d(to: Side, from: Side, [width, height, depth]: [usize; 3]) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
        srcHost: from.as_host(),
        srcDevice: from.address,
        srcPitch: from.pitch,
        srcHeight: from.rows,
        srcXInBytes: 3,
        srcY: 1,
        srcZ: 1,
        dstHost: to.as_host(),
        dstDevice: to.address,
        dstPitch: to.pitch,
        dstHeight: to.rows,
        dstXInBytes: 1,
        dstY: 2,
        WidthInBytes: width,
        Height: height,
        Depth: depth,
        ..copy_3d(from.kind, to.kind)
    }
}

/// Copies boxes from host to host, to the device, within it and back, with a different pitch and height on
/// each side and with every function for the purpose.
#[test]
fn boxes_round_trip_through_device_memory() {
    const BYTES: usize = 4 * 8 * 64;
    let _context = primary_context();
    let source = pattern(BYTES);
    let (mut address, mut pitch) = (0, 0);
    calls! { cuMemAllocPitch_v2(&mut address, &mut pitch, 60, 4 * 9, 16); }
    assert_eq!(pitch, 512);
    let sent = Side::host(source.as_ptr(), 64, 8);
    let on_device = Side {
        kind: DEVICE,
        address,
        pitch,
        rows: 9,
    };
    let expected = |width: usize, height: usize, depth: usize, result: Side| {
        let mut expected = vec![0xee; BYTES];
        for (z, y, x) in (0..depth)
            .flat_map(|z| (0..height).flat_map(move |y| (0..width).map(move |x| (z, y, x))))
        {
            // Two-dimensional copies have no slice 1 to start from.
            let from = (y + 1) * sent.pitch + x + 3;
            let slice = if result.rows == 0 {
                0
            } else {
                (z + 1) * sent.rows * sent.pitch
            };
            let to = (z * result.rows + y + 2) * result.pitch + x + 1;
            expected[to] = source[slice + from];
        }
        expected
    };
    let legacy = std::ptr::null_mut();
    for by_address in [false, true] {
        let named = |end: Side| if by_address { end.unified() } else { end };
        for asynchronous in [false, true] {
            let mut bytes = vec![0xee; BYTES];
            let result = named(Side::host(bytes.as_mut_ptr(), 37, 0));
            let run = |copy: &CUDA_MEMCPY2D| {
                ok(match asynchronous {
                    true => code!(cuMemcpy2DAsync_v2(copy, legacy)),
                    false => code!(cuMemcpy2DUnaligned_v2(copy)),
                });
            };
            // Directly from host to host.
            run(&two_d(result, named(sent), [33, 5]));
            assert_eq!(bytes, expected(33, 5, 1, result));

            // To the device, so that its row 2 is row 1 of the copy back.
            bytes.fill(0xee);
            let written = Side {
                address: on_device.address + 2,
                ..on_device
            };
            run(&two_d(named(written), named(sent), [33, 5]));
            let shifted = Side {
                address: written.address + pitch as u64 - 2,
                ..on_device
            };
            run(&two_d(result, named(shifted), [33, 5]));
            assert_eq!(bytes, expected(33, 5, 1, result));

            // In three dimensions: slice 1 on the device is slice 0 of the copy to it.
            bytes.fill(0xee);
            let result = named(Side::host(bytes.as_mut_ptr(), 41, 7));
            let run = |copy: &CUDA_MEMCPY3D| {
                ok(match asynchronous {
                    true => code!(cuMemcpy3DAsync_v2(copy, legacy)),
                    false => code!(cuMemcpy3D_v2(copy)),
                });
            };
            run(&three_d(result, named(sent), [33, 5, 2]));
            assert_eq!(bytes, expected(33, 5, 2, result));

            bytes.fill(0xee);
            let slice = (pitch * on_device.rows) as u64;
            let written = Side {
                address: on_device.address + slice,
                ..on_device
            };
            run(&three_d(named(written), named(sent), [33, 5, 2]));
            let shifted = Side {
                address: written.address - slice + pitch as u64 - 2,
                ..on_device
            };
            run(&three_d(result, named(shifted), [33, 5, 2]));
            assert_eq!(bytes, expected(33, 5, 2, result));
        }
    }
    calls! { cuMemFree_v2(address); }
}
