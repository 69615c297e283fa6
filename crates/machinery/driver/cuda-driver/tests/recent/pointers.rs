//! Pointer attributes.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use super::*;

/// Returns an attribute of an address; unused high bytes are zero.
fn attribute(id: i32, address: u64) -> Result<u64, i32> {
    let mut value = 0_u64;
    support::result(
        code!(cuPointerGetAttribute((&raw mut value).cast(), id, address)),
        value,
    )
}

#[test]
fn device_memory_has_all_attributes_except_host_pointers() {
    let context = OwnContext::new();
    let start = floats(&[0.0; 64]);
    let inside = start + 16;
    let expected = [
        (1, Ok(context.0 as u64)),
        (2, Ok(2)),
        (3, Ok(inside)),
        (4, Err(INVALID_VALUE)),
        (5, Err(NOT_SUPPORTED)),
        (6, Ok(0)),
        (7, Ok(start)),
        (8, Ok(0)),
        (9, Ok(0)),
        (10, Ok(1)),
        (11, Ok(start)),
        (12, Ok(256)),
        (13, Ok(1)),
        (14, Ok(0)),
        (15, Ok(1)),
        (16, Ok(3)),
        (17, Ok(0)),
        (18, Ok(256)),
        (19, Ok(start)),
        (20, Ok(start)),
        (21, Ok(0)),
        (22, Err(INVALID_VALUE)),
        (0, Err(INVALID_VALUE)),
    ];
    for (id, expected) in expected {
        assert_eq!(attribute(id, inside), expected, "attribute {id}");
    }
    assert_eq!(attribute(2, 64), Err(INVALID_VALUE), "unallocated address");
}

#[test]
fn pool_memory_reports_its_pool() {
    let _context = OwnContext::new();
    let (mut address, mut pool) = (0, null_mut());
    calls! {
        cuMemAllocAsync(&mut address, 64, null_mut());
        cuDeviceGetDefaultMemPool(&mut pool, 0);
    }
    assert_eq!(attribute(17, address), Ok(pool as u64));
    let here = cuda_driver::types::CUmemLocation { kind: 1, id: 0 };
    let there = cuda_driver::types::CUmemLocation { kind: 2, id: 0 };
    let mut actual = null_mut();
    calls! { cuMemGetDefaultMemPool(&mut actual, &here, 1); }
    assert_eq!(actual, pool);
    calls! {
        cuMemGetMemPool(&mut actual, &here, 1);
        cuMemSetMemPool(&here, 1, actual);
        cuMemGetMemPool(&mut actual, &there, 1) => NOT_SUPPORTED;
        cuMemGetMemPool(&mut actual, null(), 1) => INVALID_VALUE;
    }
}

#[test]
fn several_attributes_can_be_queried_at_once() {
    let _context = OwnContext::new();
    let address = floats(&[0.0; 4]);
    let mut ids = [2, 4, 12, 9];
    let query = |address, ids: &mut [i32; 4]| {
        let (mut kind, mut host, mut size, mut device) = (7_u32, 7_u64, 7_u64, 7_i32);
        let mut data: [*mut c_void; 4] = [
            (&raw mut kind).cast(),
            (&raw mut host).cast(),
            (&raw mut size).cast(),
            (&raw mut device).cast(),
        ];
        let code = code!(cuPointerGetAttributes(
            4,
            ids.as_mut_ptr(),
            data.as_mut_ptr(),
            address
        ));
        (code, kind, host, size, device)
    };
    assert_eq!(query(address, &mut ids), (0, 2, 0, 16, 0));
    assert_eq!(query(64, &mut ids), (0, 0, 0, 0, -2), "unallocated address");
    ids[0] = 99;
    assert_eq!(query(address, &mut ids).0, INVALID_VALUE);
    calls! { cuPointerGetAttributes(1, null_mut(), null_mut(), address) => INVALID_VALUE; }
}

#[test]
fn sync_memops_can_be_set() {
    let _context = OwnContext::new();
    let address = floats(&[0.0; 4]);
    for on in [1_u32, 0] {
        calls! { cuPointerSetAttribute((&raw const on).cast(), 6, address + 4); }
        assert_eq!(attribute(6, address), Ok(on.into()));
    }
    calls! { cuPointerSetAttribute(null(), 6, address) => INVALID_VALUE; }
    let one = 1_u32;
    calls! { cuPointerSetAttribute((&raw const one).cast(), 8, address) => INVALID_VALUE; }
}
