//! Hints about managed memory.

use std::ptr::null_mut;

use cuda_driver::functions::*;
use cuda_driver::types::CUmemLocation;

use super::*;

const SIZE: usize = 4096;
const CPU: i32 = -1;
const INVALID_DEVICE: i32 = -2;

fn managed() -> u64 {
    let mut address = 0;
    // SAFETY: `address` is writable.
    assert_eq!(unsafe { cuMemAllocManaged(&mut address, SIZE, 1) }, 0);
    address
}

fn attribute(id: i32, address: u64, bytes: usize) -> Result<i32, i32> {
    let mut value = 7;
    // SAFETY: `value` is writable; `address` is a device address that the driver looks up.
    match unsafe { cuMemRangeGetAttribute((&raw mut value).cast(), 4, id, address, bytes) } {
        0 => Ok(value),
        code => Err(code),
    }
}

#[test]
fn hints_are_reported_only_for_fully_covered_ranges() {
    let _context = OwnContext::new();
    let all = managed();
    let half = SIZE / 2;
    for id in [1, 5, 6, 7, 8] {
        assert_eq!(attribute(id, all, SIZE), Ok(0), "attribute {id}");
    }
    assert_eq!(attribute(2, all, SIZE), Ok(INVALID_DEVICE));
    assert_eq!(attribute(4, all, SIZE), Ok(INVALID_DEVICE));
    // SAFETY: handles and addresses are looked up by the driver, never dereferenced.
    unsafe {
        assert_eq!(cuMemAdvise(all, SIZE, 1, 0), 0);
        assert_eq!(attribute(1, all, SIZE), Ok(1));
        assert_eq!(cuMemAdvise(all + half as u64, half, 2, 0), 0);
        assert_eq!(attribute(1, all, SIZE), Ok(0), "not of all of it");
        assert_eq!(attribute(1, all, half), Ok(1));

        let device = CUmemLocation { kind: 1, id: 0 };
        let host = CUmemLocation { kind: 2, id: 0 };
        assert_eq!(cuMemAdvise_v2(all, SIZE, 3, device), 0);
        assert_eq!(attribute(2, all, SIZE), Ok(0));
        assert_eq!(attribute(5, all, SIZE), Ok(1));
        assert_eq!(cuMemAdvise_v2(all, SIZE, 3, host), 0);
        assert_eq!(attribute(2, all, SIZE), Ok(CPU));
        assert_eq!(attribute(5, all, SIZE), Ok(2));
        assert_eq!(cuMemAdvise(all, SIZE, 4, 0), 0);
        assert_eq!(attribute(2, all, SIZE), Ok(INVALID_DEVICE));

        let stream = null_mut();
        assert_eq!(cuMemPrefetchAsync(all, half, CPU, stream), 0);
        assert_eq!(attribute(4, all, half), Ok(CPU));
        assert_eq!(attribute(4, all, SIZE), Ok(INVALID_DEVICE));
        assert_eq!(cuMemPrefetchAsync_v2(all, SIZE, device, 0, stream), 0);
        assert_eq!(attribute(4, all, SIZE), Ok(0));
        assert_eq!(attribute(7, all, SIZE), Ok(1));
        assert_eq!(
            cuMemPrefetchAsync_v2(all, SIZE, device, 1, stream),
            INVALID_VALUE
        );
        let nowhere = CUmemLocation { kind: 0, id: 0 };
        assert_eq!(
            cuMemPrefetchAsync_v2(all, SIZE, nowhere, 0, stream),
            INVALID_VALUE
        );
        assert_eq!(cuMemAdvise(all, SIZE, 9, 0), INVALID_VALUE);
        assert_eq!(cuMemAdvise(all, SIZE, 3, 1), 101);
    }
}

#[test]
fn accessing_devices_of_a_range_are_listed() {
    let _context = OwnContext::new();
    let all = managed();
    let list = |capacity: usize| {
        let mut list = [7_i32; 4];
        // SAFETY: the array has the size passed.
        let code =
            unsafe { cuMemRangeGetAttribute(list.as_mut_ptr().cast(), 4 * capacity, 3, all, SIZE) };
        (code, list)
    };
    assert_eq!(list(2), (0, [INVALID_DEVICE, INVALID_DEVICE, 7, 7]));
    // SAFETY: `all` is an opaque handle that the driver looks up, never dereferences.
    unsafe {
        assert_eq!(cuMemAdvise(all, SIZE, 5, 0), 0);
        assert_eq!(cuMemAdvise(all, SIZE, 5, CPU), 0);
        assert_eq!(list(3), (0, [CPU, 0, INVALID_DEVICE, 7]));
        assert_eq!(cuMemAdvise(all, SIZE, 6, CPU), 0);
        assert_eq!(list(1), (0, [0, 7, 7, 7]));
    }
    assert_eq!(list(0).0, INVALID_VALUE);
}

#[test]
fn hints_are_removed_with_their_memory() {
    let _context = OwnContext::new();
    let device = floats(&[0.0; 4]);
    assert_eq!(attribute(1, device, 16), Err(INVALID_VALUE));
    let all = managed();
    assert_eq!(attribute(9, all, SIZE), Err(INVALID_VALUE));
    assert_eq!(attribute(1, all, SIZE + 1), Err(INVALID_VALUE));
    let (mut first, mut second) = (7, 7);
    let mut data = [(&raw mut first).cast(), (&raw mut second).cast()];
    let (mut sizes, mut ids) = ([4, 4], [1, 2]);
    // SAFETY: the three arrays have the length passed.
    unsafe {
        assert_eq!(cuMemAdvise(all, SIZE, 1, 0), 0);
        let code = cuMemRangeGetAttributes(
            data.as_mut_ptr(),
            sizes.as_mut_ptr(),
            ids.as_mut_ptr(),
            2,
            all,
            SIZE,
        );
        assert_eq!(code, 0);
        assert_eq!(cuMemFree_v2(all), 0);
    }
    assert_eq!((first, second), (1, INVALID_DEVICE));
    assert_eq!(attribute(1, all, SIZE), Err(INVALID_VALUE));
}
