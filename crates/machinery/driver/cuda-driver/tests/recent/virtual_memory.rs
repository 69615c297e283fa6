//! Virtual memory management: physical memory mapped to reserved addresses.

use std::ptr::{null, null_mut};

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
    calls! { cuMemGetAllocationGranularity(&mut size, &made, 0); }
    assert_eq!(size, 2 << 20);
    calls! { cuMemAddressReserve(&mut buffer, 4 * size, 0, 0, 0); }
    for (i, memory) in memories.iter_mut().enumerate() {
        calls! { cuMemCreate(memory, size, &made, 0); }
        let at = buffer + (i * size) as u64;
        calls! {
            cuMemMap(at, size, 0, *memory, 0);
            cuMemGetAccess(&mut flags, &DEVICE_0, at);
        }
        assert_eq!(flags, 0);
        calls! {
            cuMemsetD32_v2(at, 1, 1) => INVALID_VALUE, "no access granted yet";
            cuMemSetAccess(at, size, &access(3), 1);
            cuMemGetAccess(&mut flags, &DEVICE_0, at + 5);
        }
        assert_eq!(flags, 3);
        calls! { cuMemRelease(*memory); }
    }
    // From one piece into the next, with a fill, a kernel and a copy.
    let middle = buffer + size as u64 - 8;
    calls! { cuMemsetD32_v2(middle, 1.0_f32.to_bits(), 4); }
    assert_eq!(saxpy(middle, buffer + 2 * size as u64 - 8, 4), 0);
    assert_eq!(read(buffer + 2 * size as u64 - 8, 4), [3.0; 4]);

    let mut held = 0;
    let inside = (buffer + 7) as *mut std::ffi::c_void;
    calls! { cuMemRetainAllocationHandle(&mut held, inside); }
    assert_eq!(held, memories[0]);
    let mut actual = properties(DEVICE_0, 7);
    calls! { cuMemGetAllocationPropertiesFromHandle(&mut actual, held); }
    assert_eq!(
        (actual.kind, actual.shared, actual.location.kind),
        (1, 0, 1)
    );
    calls! { cuMemRelease(held); }

    calls! {
        cuMemUnmap(buffer, 3 * size);
        cuMemRelease(memories[0]) => INVALID_VALUE, "it is gone";
        cuMemAddressFree(buffer, 4 * size);
        cuMemsetD32_v2(middle, 1, 1) => INVALID_VALUE;
    }
}

/// Adds three times `x` to `y`, for `n` numbers.
pub fn saxpy(x: u64, y: u64, n: u32) -> i32 {
    let (mut factor, mut bytes, three) = (0, 0, 3.0_f32);
    let module = support::module(SAXPY);
    calls! {
        cuMemsetD32_v2(y, 0, n as usize);
        cuModuleGetGlobal_v2(&mut factor, &mut bytes, module, c"factor".as_ptr());
        cuMemcpyHtoD_v2(factor, (&raw const three).cast(), 4);
    }
    let function = support::function(module, c"saxpy");
    support::ok(support::launch(
        function,
        [1, n],
        null_mut(),
        &[x, y, n.into()],
    ));
    code!(cuCtxSynchronize())
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
    // Processes share memory on Linux only.
    const SHARED: i32 = if cfg!(target_os = "linux") {
        0
    } else {
        NOT_SUPPORTED
    };
    calls! {
        cuMemCreate(&mut memory, 100, &here, 0) => INVALID_VALUE;
        cuMemCreate(&mut memory, size, &here, 1) => INVALID_VALUE;
        cuMemCreate(&mut memory, size, &host, 0) => NOT_SUPPORTED;
        cuMemCreate(&mut memory, size, &shared, 0) => SHARED;
        cuMemCreate(&mut memory, size, &second, 0) => 101;
        cuMemCreate(&mut memory, size, null(), 0) => INVALID_VALUE;
        cuMemCreate(&mut memory, size, &here, 0);
        cuMemAddressReserve(&mut range, 2 * size, 0, 0, 1) => INVALID_VALUE;
        cuMemAddressReserve(&mut range, 2 * size, 0, 0, 0);
        cuMemMap(range, size, size, memory, 0) => NOT_SUPPORTED;
        cuMemMap(range, 2 * size, 0, memory, 0) => NOT_SUPPORTED;
        cuMemMap(range, size, 0, memory, 0);
        cuMemMap(range, size, 0, memory, 0) => INVALID_VALUE;
        cuMemSetAccess(range, size, &access(2), 1) => INVALID_VALUE;
        cuMemSetAccess(range, size, null(), 1) => INVALID_VALUE;
        cuMemAddressFree(range, 2 * size) => INVALID_VALUE;
        cuMemFree_v2(range) => INVALID_VALUE;
        cuMemUnmap(range, size / 2) => INVALID_VALUE;
        cuMemUnmap(range, size);
        cuMemUnmap(range, size);
        cuMemRelease(memory);
        cuMemAddressFree(range, 2 * size);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_may_be_mapped_twice() {
    let _context = OwnContext::new();
    let (size, mut memory, mut range, mut flags) = (2 << 20, 0, 0, 0);
    calls! {
        cuMemCreate(&mut memory, size, &properties(DEVICE_0, 0), 0);
        cuMemAddressReserve(&mut range, 2 * size, 0, 0, 0);
    }
    let second = range + size as u64;
    for start in [range, second] {
        calls! {
            cuMemMap(start, size, 0, memory, 0);
            cuMemSetAccess(start, size, &access(3), 1);
        }
    }
    calls! { cuMemsetD32_v2(range, 1.0_f32.to_bits(), 4); }
    assert_eq!(saxpy(range, second + 16, 4), 0);
    assert_eq!(read(range, 8), [1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0]);
    calls! {
        cuMemSetAccess(second, size, &access(1), 1);
        cuMemGetAccess(&mut flags, &DEVICE_0, second);
        cuMemRelease(memory);
        cuMemUnmap(range, 2 * size);
        cuMemAddressFree(range, 2 * size);
    }
    assert_eq!(flags, 1);
}

#[test]
fn memory_may_be_compressible() {
    let _context = OwnContext::new();
    let (mut memory, mut supported) = (0, 0);
    let compressible = CUmemAllocationProp {
        flags: [1, 0, 0, 0, 0, 0, 0, 0],
        ..properties(DEVICE_0, 0)
    };
    calls! { cuDeviceGetAttribute(&mut supported, 107, 0); }
    assert_eq!(supported, 1);
    for created in [compressible, properties(DEVICE_0, 0)] {
        let mut stored = properties(DEVICE_0, 0);
        calls! {
            cuMemCreate(&mut memory, 2 << 20, &created, 0);
            cuMemGetAllocationPropertiesFromHandle(&mut stored, memory);
            cuMemRelease(memory);
        }
        assert_eq!(stored.flags, created.flags);
    }
    let unknown = CUmemAllocationProp {
        flags: [2, 0, 0, 0, 0, 0, 0, 0],
        ..compressible
    };
    calls! { cuMemCreate(&mut memory, 2 << 20, &unknown, 0) => INVALID_VALUE; }
}
