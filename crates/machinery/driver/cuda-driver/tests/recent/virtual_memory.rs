//! Virtual memory management: physical memory mapped to reserved addresses.

use std::ptr::{null, null_mut};

use cuda_driver::functions::*;
use cuda_driver::types::{CUmemAccessDesc, CUmemAllocationProp, CUmemLocation};

use super::*;

const DEVICE_0: CUmemLocation = CUmemLocation { kind: 1, id: 0 };

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
        location: DEVICE_0,
        flags,
    }
}

/// A growing buffer as programs use it: addresses for the maximum size, memory for one piece at a time.
#[test]
fn buffers_grow_in_place() {
    let _context = OwnContext::new();
    let made = properties(DEVICE_0, 0);
    let (mut size, mut buffer, mut memories, mut flags) = (0, 0, [0; 3], 9);
    // SAFETY: all outputs are writable locals; handles and addresses are looked up by the driver, never
    // dereferenced.
    unsafe {
        assert_eq!(cuMemGetAllocationGranularity(&mut size, &made, 0), 0);
        assert_eq!(size, 2 << 20);
        assert_eq!(cuMemAddressReserve(&mut buffer, 4 * size, 0, 0, 0), 0);
        for (i, memory) in memories.iter_mut().enumerate() {
            assert_eq!(cuMemCreate(memory, size, &made, 0), 0);
            let at = buffer + (i * size) as u64;
            assert_eq!(cuMemMap(at, size, 0, *memory, 0), 0);
            assert_eq!(cuMemGetAccess(&mut flags, &DEVICE_0, at), 0);
            assert_eq!(flags, 0);
            assert_eq!(
                cuMemsetD32_v2(at, 1, 1),
                INVALID_VALUE,
                "no access granted yet"
            );
            assert_eq!(cuMemSetAccess(at, size, &access(3), 1), 0);
            assert_eq!(cuMemGetAccess(&mut flags, &DEVICE_0, at + 5), 0);
            assert_eq!(flags, 3);
            assert_eq!(cuMemRelease(*memory), 0);
        }
        // From one piece into the next, with a fill, a kernel and a copy.
        let middle = buffer + size as u64 - 8;
        assert_eq!(cuMemsetD32_v2(middle, 1.0_f32.to_bits(), 4), 0);
        assert_eq!(saxpy(middle, buffer + 2 * size as u64 - 8, 4), 0);
        assert_eq!(read(buffer + 2 * size as u64 - 8, 4), [3.0; 4]);

        let mut held = 0;
        let inside = (buffer + 7) as *mut c_void;
        assert_eq!(cuMemRetainAllocationHandle(&mut held, inside), 0);
        assert_eq!(held, memories[0]);
        let mut actual = properties(DEVICE_0, 7);
        assert_eq!(cuMemGetAllocationPropertiesFromHandle(&mut actual, held), 0);
        assert_eq!(
            (actual.kind, actual.shared, actual.location.kind),
            (1, 0, 1)
        );
        assert_eq!(cuMemRelease(held), 0);

        assert_eq!(cuMemUnmap(buffer, 3 * size), 0);
        assert_eq!(cuMemRelease(memories[0]), INVALID_VALUE, "it is gone");
        assert_eq!(cuMemAddressFree(buffer, 4 * size), 0);
        assert_eq!(cuMemsetD32_v2(middle, 1, 1), INVALID_VALUE);
    }
}

/// Adds three times `x` to `y`, for `n` numbers.
fn saxpy(mut x: u64, mut y: u64, mut n: u32) -> i32 {
    let (mut module, mut function) = (null_mut(), null_mut());
    let (mut factor, mut bytes) = (0, 0);
    let three = 3.0_f32;
    let mut parameters: [*mut c_void; 3] = [
        (&raw mut x).cast(),
        (&raw mut y).cast(),
        (&raw mut n).cast(),
    ];
    // SAFETY: the PTX is NUL-terminated, the outputs are writable, and the parameters match the kernel's
    // signature.
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
fn invalid_allocations_and_mappings_are_rejected() {
    let _context = OwnContext::new();
    let here = properties(DEVICE_0, 0);
    let host = properties(CUmemLocation { kind: 2, id: 0 }, 0);
    let shared = properties(DEVICE_0, 1);
    let second = properties(CUmemLocation { kind: 1, id: 1 }, 0);
    let size = 2 << 20;
    let (mut memory, mut range) = (0, 0);
    // SAFETY: `memory` and `range` are writable; `second_place` is an opaque handle that the driver looks up,
    // never dereferences.
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
