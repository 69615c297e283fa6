//! The copy functions as C has them, on the simulator: which end is where is told by the address,
//! by the function or by the structure.

extern crate cuda_driver as _;

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::Once;

use cust::context::Context;
use cust::memory::{DeviceBuffer, LockedBuffer, UnifiedBuffer};
use cust::sys::{self, CUmemorytype as Type, CUresult as Code};

const DONE: Code = Code::CUDA_SUCCESS;

fn simulator() -> Context {
    static FORCED: Once = Once::new();
    // SAFETY: before any call of the driver, which alone reads it; Rust's own reading of the
    // environment waits.
    FORCED.call_once(|| unsafe { std::env::set_var("CUDA_BACKEND", "sim") });
    cust::quick_init().unwrap()
}

/// What is copied: no two bytes in a row are alike.
fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i % 251) as u8).collect()
}

#[test]
fn the_addresses_alone_say_which_way_a_copy_goes() {
    const BYTES: usize = 1000;
    let _context = simulator();
    let mut pageable = [vec![0u8; BYTES], vec![0u8; BYTES]];
    let mut locked = LockedBuffer::new(&0u8, 2 * BYTES).unwrap();
    let mut unified = UnifiedBuffer::new(&0u8, 2 * BYTES).unwrap();
    let device = DeviceBuffer::from_slice(&[0u8; 2 * BYTES]).unwrap();
    // Two places in each kind of memory.
    let places = [
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
    for from in places {
        for to in places {
            for asynchronous in [false, true] {
                let mut result = vec![0xee; BYTES];
                let (sent, got) = (source.as_ptr() as u64, result.as_mut_ptr() as u64);
                let legacy = std::ptr::null_mut();
                // SAFETY: all places have as many bytes, and the stream's work is waited for.
                unsafe {
                    let copy = |to: u64, from: u64| match asynchronous {
                        true => sys::cuMemcpyAsync(to, from, BYTES, legacy),
                        false => sys::cuMemcpy(to, from, BYTES),
                    };
                    assert_eq!(copy(from[0], sent), DONE);
                    assert_eq!(copy(to[1], from[0]), DONE);
                    assert_eq!(copy(got, to[1]), DONE);
                    assert_eq!(sys::cuStreamSynchronize(legacy), DONE);
                }
                assert_eq!(result, source, "{from:x?} to {to:x?}");
            }
        }
    }
}

#[test]
fn an_address_that_is_nothings_is_refused() {
    let _context = simulator();
    let mut host = [0u8; 16];
    let device = DeviceBuffer::from_slice(&[0u8; 16]).unwrap();
    let (host, device) = (host.as_mut_ptr() as u64, device.as_device_ptr().as_raw());
    for (to, from) in [(0, host), (host, 0), (device + 1, host), (host, device + 1)] {
        // SAFETY: refused.
        let refused = unsafe { sys::cuMemcpy(to, from, 16) };
        assert_eq!(
            refused,
            Code::CUDA_ERROR_INVALID_VALUE,
            "{from:#x} to {to:#x}"
        );
    }
}

/// One end of a two- or three-dimensional copy.
#[derive(Clone, Copy)]
struct End {
    kind: Type,
    address: u64,
    pitch: usize,
    rows: usize,
}

impl End {
    fn host(memory: *const u8, pitch: usize, rows: usize) -> Self {
        Self {
            kind: Type::CU_MEMORYTYPE_HOST,
            address: memory as u64,
            pitch,
            rows,
        }
    }

    /// The same memory, to be found by its address.
    fn unified(self) -> Self {
        Self {
            kind: Type::CU_MEMORYTYPE_UNIFIED,
            ..self
        }
    }

    /// The address as the host's; only an end in host memory is read there.
    fn as_host(self) -> *mut c_void {
        std::ptr::with_exposed_provenance_mut(self.address as usize)
    }
}

/// `height` rows of `width` bytes from byte 3, row 1 of `from` to byte 1, row 2 of `to`.
fn two_d(to: End, from: End, [width, height]: [usize; 2]) -> sys::CUDA_MEMCPY2D {
    let mut copy = MaybeUninit::<sys::CUDA_MEMCPY2D>::zeroed();
    let at = copy.as_mut_ptr();
    // SAFETY: zero is a value of every field but the memory types, which are set.
    unsafe {
        (*at).srcMemoryType = from.kind;
        (*at).srcHost = from.as_host();
        (*at).srcDevice = from.address;
        (*at).srcPitch = from.pitch;
        (*at).srcXInBytes = 3;
        (*at).srcY = 1;
        (*at).dstMemoryType = to.kind;
        (*at).dstHost = to.as_host();
        (*at).dstDevice = to.address;
        (*at).dstPitch = to.pitch;
        (*at).dstXInBytes = 1;
        (*at).dstY = 2;
        (*at).WidthInBytes = width;
        (*at).Height = height;
        copy.assume_init()
    }
}

/// `depth` slices of such rows, from slice 1 of `from` to slice 0 of `to`.
fn three_d(to: End, from: End, [width, height, depth]: [usize; 3]) -> sys::CUDA_MEMCPY3D {
    let mut copy = MaybeUninit::<sys::CUDA_MEMCPY3D>::zeroed();
    let at = copy.as_mut_ptr();
    // SAFETY: as in `two_d`.
    unsafe {
        (*at).srcMemoryType = from.kind;
        (*at).srcHost = from.as_host();
        (*at).srcDevice = from.address;
        (*at).srcPitch = from.pitch;
        (*at).srcHeight = from.rows;
        (*at).srcXInBytes = 3;
        (*at).srcY = 1;
        (*at).srcZ = 1;
        (*at).dstMemoryType = to.kind;
        (*at).dstHost = to.as_host();
        (*at).dstDevice = to.address;
        (*at).dstPitch = to.pitch;
        (*at).dstHeight = to.rows;
        (*at).dstXInBytes = 1;
        (*at).dstY = 2;
        (*at).WidthInBytes = width;
        (*at).Height = height;
        (*at).Depth = depth;
        copy.assume_init()
    }
}

/// Boxes from host to host, to the device, within it and back, each end with a pitch and a height
/// of its own, by every function there is for it.
#[test]
fn boxes_go_through_device_memory_unharmed() {
    const BYTES: usize = 4 * 8 * 64;
    let _context = simulator();
    let source = pattern(BYTES);
    let (mut address, mut pitch) = (0, 0);
    // SAFETY: the addresses of two numbers.
    let allocated = unsafe { sys::cuMemAllocPitch_v2(&mut address, &mut pitch, 60, 4 * 9, 16) };
    assert_eq!((allocated, pitch), (DONE, 512));
    let sent = End::host(source.as_ptr(), 64, 8);
    let on_device = End {
        kind: Type::CU_MEMORYTYPE_DEVICE,
        address,
        pitch,
        rows: 9,
    };
    let expected = |width: usize, height: usize, depth: usize, result: End| {
        let mut expected = vec![0xee; BYTES];
        for (z, y, x) in (0..depth)
            .flat_map(|z| (0..height).flat_map(move |y| (0..width).map(move |x| (z, y, x))))
        {
            // In two dimensions there is no slice 1 to begin at.
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
        let named = |end: End| if by_address { end.unified() } else { end };
        for asynchronous in [false, true] {
            let mut bytes = vec![0xee; BYTES];
            let result = named(End::host(bytes.as_mut_ptr(), 37, 0));
            let run = |copy: &sys::CUDA_MEMCPY2D| {
                // SAFETY: the boxes are within their arrays, and the stream's work is waited for.
                let code = unsafe {
                    match asynchronous {
                        true => sys::cuMemcpy2DAsync_v2(copy, legacy),
                        false => sys::cuMemcpy2DUnaligned_v2(copy),
                    }
                };
                assert_eq!(code, DONE);
            };
            // Straight from host to host.
            run(&two_d(result, named(sent), [33, 5]));
            assert_eq!(bytes, expected(33, 5, 1, result));

            // To the device, whose row 2 then is what row 1 of the copy back is to be.
            bytes.fill(0xee);
            let there = End {
                address: on_device.address + 2,
                ..on_device
            };
            run(&two_d(named(there), named(sent), [33, 5]));
            let back = End {
                address: there.address + pitch as u64 - 2,
                ..on_device
            };
            run(&two_d(result, named(back), [33, 5]));
            assert_eq!(bytes, expected(33, 5, 1, result));

            // The same in three dimensions, slice 1 of the device being slice 0 of the copy there.
            bytes.fill(0xee);
            let result = named(End::host(bytes.as_mut_ptr(), 41, 7));
            let run = |copy: &sys::CUDA_MEMCPY3D| {
                // SAFETY: as above.
                let code = unsafe {
                    match asynchronous {
                        true => sys::cuMemcpy3DAsync_v2(copy, legacy),
                        false => sys::cuMemcpy3D_v2(copy),
                    }
                };
                assert_eq!(code, DONE);
            };
            run(&three_d(result, named(sent), [33, 5, 2]));
            assert_eq!(bytes, expected(33, 5, 2, result));

            bytes.fill(0xee);
            let slice = (pitch * on_device.rows) as u64;
            let there = End {
                address: on_device.address + slice,
                ..on_device
            };
            run(&three_d(named(there), named(sent), [33, 5, 2]));
            let back = End {
                address: there.address - slice + pitch as u64 - 2,
                ..on_device
            };
            run(&three_d(result, named(back), [33, 5, 2]));
            assert_eq!(bytes, expected(33, 5, 2, result));
        }
    }
    // SAFETY: allocated above, and used no more.
    assert_eq!(unsafe { sys::cuMemFree_v2(address) }, DONE);
}
