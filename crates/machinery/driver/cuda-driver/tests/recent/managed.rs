//! Hints about managed memory.

use std::ptr::null_mut;

use cuda_driver::types::CUmemLocation;

use super::*;

const SIZE: usize = 4096;
const CPU: i32 = -1;
const INVALID_DEVICE: i32 = -2;

fn managed() -> u64 {
    let mut address = 0;
    calls! { cuMemAllocManaged(&mut address, SIZE, 1); }
    address
}

fn attribute(id: i32, address: u64, bytes: usize) -> Result<i32, i32> {
    let mut value = 7;
    support::result(
        code!(cuMemRangeGetAttribute(
            (&raw mut value).cast(),
            4,
            id,
            address,
            bytes
        )),
        value,
    )
}

#[test]
fn hints_are_reported_only_for_fully_covered_ranges() {
    let _context = OwnContext::new();
    let all = managed();
    let half = SIZE / 2;
    for (id, value) in [
        (1, 0),
        (5, 0),
        (6, INVALID_DEVICE),
        (7, 0),
        (8, INVALID_DEVICE),
    ] {
        assert_eq!(attribute(id, all, SIZE), Ok(value), "attribute {id}");
    }
    assert_eq!(attribute(2, all, SIZE), Ok(INVALID_DEVICE));
    assert_eq!(attribute(4, all, SIZE), Ok(INVALID_DEVICE));
    calls! { cuMemAdvise(all, SIZE, 1, 0); }
    assert_eq!(attribute(1, all, SIZE), Ok(1));
    calls! { cuMemAdvise(all + half as u64, half, 2, 0); }
    assert_eq!(attribute(1, all, SIZE), Ok(0), "not of all of it");
    assert_eq!(attribute(1, all, half), Ok(1));

    let device = CUmemLocation { kind: 1, id: 0 };
    let host = CUmemLocation { kind: 2, id: 0 };
    calls! { cuMemAdvise_v2(all, SIZE, 3, device); }
    assert_eq!(attribute(2, all, SIZE), Ok(0));
    assert_eq!(attribute(5, all, SIZE), Ok(1));
    calls! { cuMemAdvise_v2(all, SIZE, 3, host); }
    assert_eq!(attribute(2, all, SIZE), Ok(CPU));
    assert_eq!(attribute(5, all, SIZE), Ok(2));
    calls! { cuMemAdvise(all, SIZE, 4, 0); }
    assert_eq!(attribute(2, all, SIZE), Ok(INVALID_DEVICE));

    let stream = null_mut();
    calls! { cuMemPrefetchAsync(all, half, CPU, stream); }
    assert_eq!(attribute(4, all, half), Ok(CPU));
    assert_eq!(attribute(4, all, SIZE), Ok(INVALID_DEVICE));
    calls! { cuMemPrefetchAsync_v2(all, SIZE, device, 0, stream); }
    assert_eq!(attribute(4, all, SIZE), Ok(0));
    assert_eq!(attribute(7, all, SIZE), Ok(1));
    calls! { cuMemPrefetchAsync_v2(all, SIZE, device, 1, stream) => INVALID_VALUE; }
    let nowhere = CUmemLocation { kind: 0, id: 0 };
    calls! {
        cuMemPrefetchAsync_v2(all, SIZE, nowhere, 0, stream) => INVALID_VALUE;
        cuMemAdvise(all, SIZE, 9, 0) => INVALID_VALUE;
        cuMemAdvise(all, SIZE, 3, 1) => INVALID_VALUE;
    }
}

#[test]
fn accessing_devices_of_a_range_are_listed() {
    let _context = OwnContext::new();
    let all = managed();
    let list = |capacity: usize| {
        let mut list = [7_i32; 4];
        let code = code!(cuMemRangeGetAttribute(
            list.as_mut_ptr().cast(),
            4 * capacity,
            3,
            all,
            SIZE
        ));
        (code, list)
    };
    assert_eq!(list(2), (0, [INVALID_DEVICE, INVALID_DEVICE, 7, 7]));
    calls! {
        cuMemAdvise(all, SIZE, 5, 0);
        cuMemAdvise(all, SIZE, 5, CPU);
    }
    assert_eq!(list(3), (0, [0, CPU, INVALID_DEVICE, 7]));
    calls! { cuMemAdvise(all, SIZE, 6, CPU); }
    assert_eq!(list(1), (0, [0, 7, 7, 7]));
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
    calls! {
        cuMemAdvise(all, SIZE, 1, 0);
        cuMemRangeGetAttributes(
            data.as_mut_ptr(), sizes.as_mut_ptr(), ids.as_mut_ptr(), 2, all, SIZE
        );
        cuMemFree_v2(all);
    }
    assert_eq!((first, second), (1, INVALID_DEVICE));
    assert_eq!(attribute(1, all, SIZE), Err(INVALID_VALUE));
}
