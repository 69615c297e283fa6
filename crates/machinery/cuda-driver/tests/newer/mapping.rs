//! Memory that is made without an address and mapped to one.

use std::ptr::{null, null_mut};

use cuda_driver::functions::*;
use cuda_driver::types::{CUmemAccessDesc, CUmemAllocationProp, CUmemLocation};

use super::*;

const HERE: CUmemLocation = CUmemLocation { kind: 1, id: 0 };

fn properties(location: CUmemLocation, shared: i32) -> CUmemAllocationProp {
    CUmemAllocationProp {
        kind: 1,
        shared,
        location,
        windows: null_mut(),
        flags: [0; 8],
    }
}

fn access(flags: i32) -> CUmemAccessDesc {
    CUmemAccessDesc {
        location: HERE,
        flags,
    }
}

/// What programs do that let a buffer grow: addresses for all of it, memory a piece at a time.
#[test]
fn a_buffer_grows_where_it_is() {
    let _context = Own::new();
    let made = properties(HERE, 0);
    let (mut size, mut buffer, mut memories, mut flags) = (0, 0, [0; 3], 9);
    // SAFETY: places to write to and to read.
    unsafe {
        assert_eq!(cuMemGetAllocationGranularity(&mut size, &made, 0), 0);
        assert_eq!(size, 2 << 20);
        assert_eq!(cuMemAddressReserve(&mut buffer, 4 * size, 0, 0, 0), 0);
        for (i, memory) in memories.iter_mut().enumerate() {
            assert_eq!(cuMemCreate(memory, size, &made, 0), 0);
            let at = buffer + (i * size) as u64;
            assert_eq!(cuMemMap(at, size, 0, *memory, 0), 0);
            assert_eq!(cuMemGetAccess(&mut flags, &HERE, at), 0);
            assert_eq!(flags, 0);
            assert_eq!(cuMemsetD32_v2(at, 1, 1), INVALID_VALUE, "nobody may yet");
            assert_eq!(cuMemSetAccess(at, size, &access(3), 1), 0);
            assert_eq!(cuMemGetAccess(&mut flags, &HERE, at + 5), 0);
            assert_eq!(flags, 3);
            assert_eq!(cuMemRelease(*memory), 0);
        }
        // From one piece into the next, by a fill, a kernel and a copy.
        let middle = buffer + size as u64 - 8;
        assert_eq!(cuMemsetD32_v2(middle, 1.0_f32.to_bits(), 4), 0);
        assert_eq!(saxpy(middle, buffer + 2 * size as u64 - 8, 4), 0);
        assert_eq!(read(buffer + 2 * size as u64 - 8, 4), [3.0; 4]);

        let mut held = 0;
        let inside = (buffer + 7) as *mut c_void;
        assert_eq!(cuMemRetainAllocationHandle(&mut held, inside), 0);
        assert_eq!(held, memories[0]);
        let mut found = properties(HERE, 7);
        assert_eq!(cuMemGetAllocationPropertiesFromHandle(&mut found, held), 0);
        assert_eq!((found.kind, found.shared, found.location.kind), (1, 0, 1));
        assert_eq!(cuMemRelease(held), 0);

        assert_eq!(cuMemUnmap(buffer, 3 * size), 0);
        assert_eq!(cuMemRelease(memories[0]), INVALID_VALUE, "it is gone");
        assert_eq!(cuMemAddressFree(buffer, 4 * size), 0);
        assert_eq!(cuMemsetD32_v2(middle, 1, 1), INVALID_VALUE);
    }
}

/// Adds three times `x` to `y`, of so many numbers.
fn saxpy(mut x: u64, mut y: u64, mut n: u32) -> i32 {
    let (mut module, mut function) = (null_mut(), null_mut());
    let (mut factor, mut bytes) = (0, 0);
    let three = 3.0_f32;
    let mut parameters: [*mut c_void; 3] = [
        (&raw mut x).cast(),
        (&raw mut y).cast(),
        (&raw mut n).cast(),
    ];
    // SAFETY: a text that ends in NUL, places to write to, the kernel's parameters.
    unsafe {
        assert_eq!(cuMemsetD32_v2(y, 0, n as usize), 0);
        assert_eq!(cuModuleLoadData(&mut module, SAXPY.as_ptr().cast()), 0);
        let name = c"factor".as_ptr();
        assert_eq!(
            cuModuleGetGlobal_v2(&mut factor, &mut bytes, module, name),
            0
        );
        assert_eq!(cuMemcpyHtoD_v2(factor, (&raw const three).cast(), 4), 0);
        assert_eq!(
            cuModuleGetFunction(&mut function, module, c"saxpy".as_ptr()),
            0
        );
        let launched = cuLaunchKernel(
            function,
            1,
            1,
            1,
            n,
            1,
            1,
            0,
            null_mut(),
            parameters.as_mut_ptr(),
            null_mut(),
        );
        assert_eq!(launched, 0);
        cuCtxSynchronize()
    }
}

#[test]
fn what_cannot_be_made_or_mapped_is_refused() {
    let _context = Own::new();
    let here = properties(HERE, 0);
    let host = properties(CUmemLocation { kind: 2, id: 0 }, 0);
    let shared = properties(HERE, 1);
    let second = properties(CUmemLocation { kind: 1, id: 1 }, 0);
    let size = 2 << 20;
    let (mut memory, mut range) = (0, 0);
    // SAFETY: places to write to and to read.
    unsafe {
        assert_eq!(cuMemCreate(&mut memory, 100, &here, 0), INVALID_VALUE);
        assert_eq!(cuMemCreate(&mut memory, size, &here, 1), INVALID_VALUE);
        assert_eq!(cuMemCreate(&mut memory, size, &host, 0), NOT_SUPPORTED);
        assert_eq!(cuMemCreate(&mut memory, size, &shared, 0), NOT_SUPPORTED);
        assert_eq!(cuMemCreate(&mut memory, size, &second, 0), 101);
        assert_eq!(cuMemCreate(&mut memory, size, null(), 0), INVALID_VALUE);
        assert_eq!(cuMemCreate(&mut memory, size, &here, 0), 0);
        assert_eq!(
            cuMemAddressReserve(&mut range, 2 * size, 0, 0, 1),
            INVALID_VALUE
        );
        assert_eq!(cuMemAddressReserve(&mut range, 2 * size, 0, 0, 0), 0);
        assert_eq!(cuMemMap(range, size, size, memory, 0), INVALID_VALUE);
        assert_eq!(cuMemMap(range, size, 0, memory, 0), 0);
        let second_place = range + size as u64;
        assert_eq!(cuMemMap(second_place, size, 0, memory, 0), NOT_SUPPORTED);
        assert_eq!(cuMemSetAccess(range, size, &access(2), 1), INVALID_VALUE);
        assert_eq!(cuMemSetAccess(range, size, null(), 1), INVALID_VALUE);
        assert_eq!(cuMemAddressFree(range, 2 * size), INVALID_VALUE);
        assert_eq!(cuMemFree_v2(range), INVALID_VALUE);
        assert_eq!(cuMemUnmap(range, size), 0);
        assert_eq!(cuMemRelease(memory), 0);
        assert_eq!(cuMemAddressFree(range, 2 * size), 0);
    }
}
