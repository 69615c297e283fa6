//! Stream-ordered allocation and memory pools.

use std::ffi::c_int;
use std::ptr::null_mut;

use cust_raw::{CUmemAccessDesc, CUmemLocation, CUmemPoolProps, CUmemoryPool};

use super::program::*;

const RELEASE_THRESHOLD: c_int = 4;
const USED_CURRENT: c_int = 7;
const USED_HIGH: c_int = 8;

fn get_attribute(pool: CUmemoryPool, attribute: c_int) -> u64 {
    let mut value = 0_u64;
    calls! { cudaMemPoolGetAttribute(pool, attribute, (&raw mut value).cast()); }
    value
}

#[test]
fn a_pool_reports_its_usage() {
    start();
    let mut properties = CUmemPoolProps::default();
    // SAFETY: the numbers are values of the C enums.
    unsafe {
        (&raw mut properties.allocType).cast::<c_int>().write(1);
        (&raw mut properties.location.type_)
            .cast::<c_int>()
            .write(1);
    }
    let mut pool = null_mut();
    let mut ptr = null_mut();
    calls! { cudaMemPoolCreate(&mut pool, &properties); }
    assert_eq!(get_attribute(pool, RELEASE_THRESHOLD), 0);
    let mut threshold = u64::MAX;
    calls! { cudaMemPoolSetAttribute(pool, RELEASE_THRESHOLD, (&raw mut threshold).cast()); }
    assert_eq!(get_attribute(pool, RELEASE_THRESHOLD), u64::MAX);
    calls! { cudaMallocFromPoolAsync(&mut ptr, 1000, pool, null_mut()); }
    assert_eq!(get_attribute(pool, USED_CURRENT), 1000);
    calls! {
        cudaMemsetAsync(ptr, 1, 1000, null_mut());
        cudaFreeAsync(ptr, null_mut());
    }
    assert_eq!(get_attribute(pool, USED_CURRENT), 0);
    assert_eq!(get_attribute(pool, USED_HIGH), 1000);
    calls! {
        cudaMemPoolTrimTo(pool, 0);
        // Memory from a pool may also be freed with `cudaFree`.
        cudaMallocFromPoolAsync(&mut ptr, 10, pool, null_mut());
        cudaFree(ptr);
    }
    assert_eq!(get_attribute(pool, USED_CURRENT), 0);
    let mut zero = 0_u64;
    calls! { cudaMemPoolSetAttribute(pool, USED_HIGH, (&raw mut zero).cast()); }
    assert_eq!(get_attribute(pool, USED_HIGH), 0);
    let mut value = 5_u64;
    calls! {
        cudaMemPoolSetAttribute(pool, USED_CURRENT, (&raw mut value).cast())
            => "cudaErrorInvalidValue";
    }
    let mut access = 0;
    let mut device_location = CUmemLocation::default();
    calls! { cudaMemPoolGetAccess(&mut access, pool, &mut device_location); }
    assert_eq!(access, 3);
    let mut other = CUmemAccessDesc::default();
    other.location.id = 1;
    calls! {
        cudaMemPoolSetAccess(pool, &other, 1) => "cudaErrorInvalidDevice";
        cudaMemPoolDestroy(pool);
        cudaMallocFromPoolAsync(&mut ptr, 10, pool, null_mut()) => "cudaErrorInvalidValue";
        cudaFreeAsync(null_mut(), null_mut()) => "cudaErrorInvalidValue";
    }
}

#[test]
fn a_device_has_a_default_pool() {
    start();
    let (mut default, mut current) = (null_mut(), null_mut());
    let mut ptr = null_mut();
    calls! {
        cudaDeviceGetDefaultMemPool(&mut default, 0);
        cudaDeviceGetMemPool(&mut current, 0);
    }
    assert_eq!(default, current);
    calls! {
        cudaDeviceSetMemPool(0, default);
        cudaMallocAsync(&mut ptr, 64, null_mut());
    }
    assert!(get_attribute(default, USED_CURRENT) >= 64);
    calls! {
        cudaFreeAsync(ptr, null_mut());
        cudaMemPoolDestroy(default) => "cudaErrorInvalidValue";
        cudaDeviceGetMemPool(&mut current, 3) => "cudaErrorInvalidDevice";
        cudaMemPoolTrimTo(null_mut(), 0) => "cudaErrorInvalidValue";
    }
}
