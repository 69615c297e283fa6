//! Stream-ordered allocation and memory pools.

use std::ffi::c_int;
use std::ptr::null_mut;

use cuda_runtime as cuda;
use cust_raw::{CUmemAccessDesc, CUmemLocation, CUmemPoolProps, CUmemoryPool};

use super::program::{fails, ok, start};

const RELEASE_THRESHOLD: c_int = 4;
const USED_CURRENT: c_int = 7;
const USED_HIGH: c_int = 8;

fn get_attribute(pool: CUmemoryPool, attribute: c_int) -> u64 {
    let mut value = 0_u64;
    // SAFETY: these attributes are 64-bit integers.
    ok(unsafe { cuda::cudaMemPoolGetAttribute(pool, attribute, (&raw mut value).cast()) });
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
    // SAFETY: all out-parameters are local variables.
    unsafe {
        ok(cuda::cudaMemPoolCreate(&mut pool, &properties));
        assert_eq!(get_attribute(pool, RELEASE_THRESHOLD), 0);
        let mut threshold = u64::MAX;
        ok(cuda::cudaMemPoolSetAttribute(
            pool,
            RELEASE_THRESHOLD,
            (&raw mut threshold).cast(),
        ));
        assert_eq!(get_attribute(pool, RELEASE_THRESHOLD), u64::MAX);
        ok(cuda::cudaMallocFromPoolAsync(
            &mut ptr,
            1000,
            pool,
            null_mut(),
        ));
        assert_eq!(get_attribute(pool, USED_CURRENT), 1000);
        ok(cuda::cudaMemsetAsync(ptr, 1, 1000, null_mut()));
        ok(cuda::cudaFreeAsync(ptr, null_mut()));
        assert_eq!(get_attribute(pool, USED_CURRENT), 0);
        assert_eq!(get_attribute(pool, USED_HIGH), 1000);
        ok(cuda::cudaMemPoolTrimTo(pool, 0));
        // Memory from a pool may also be freed with `cudaFree`.
        ok(cuda::cudaMallocFromPoolAsync(
            &mut ptr,
            10,
            pool,
            null_mut(),
        ));
        ok(cuda::cudaFree(ptr));
        assert_eq!(get_attribute(pool, USED_CURRENT), 0);
        let mut zero = 0_u64;
        ok(cuda::cudaMemPoolSetAttribute(
            pool,
            USED_HIGH,
            (&raw mut zero).cast(),
        ));
        assert_eq!(get_attribute(pool, USED_HIGH), 0);
        let mut value = 5_u64;
        let read_only = cuda::cudaMemPoolSetAttribute(pool, USED_CURRENT, (&raw mut value).cast());
        fails(read_only, "cudaErrorInvalidValue");
        let mut access = 0;
        let mut device_location = CUmemLocation::default();
        ok(cuda::cudaMemPoolGetAccess(
            &mut access,
            pool,
            &mut device_location,
        ));
        assert_eq!(access, 3);
        let mut other = CUmemAccessDesc::default();
        other.location.id = 1;
        fails(
            cuda::cudaMemPoolSetAccess(pool, &other, 1),
            "cudaErrorInvalidDevice",
        );
        ok(cuda::cudaMemPoolDestroy(pool));
        let destroyed = cuda::cudaMallocFromPoolAsync(&mut ptr, 10, pool, null_mut());
        fails(destroyed, "cudaErrorInvalidValue");
        fails(
            cuda::cudaFreeAsync(null_mut(), null_mut()),
            "cudaErrorInvalidValue",
        );
    }
}

#[test]
fn a_device_has_a_default_pool() {
    start();
    let (mut default, mut current) = (null_mut(), null_mut());
    let mut ptr = null_mut();
    // SAFETY: all out-parameters are local variables.
    unsafe {
        ok(cuda::cudaDeviceGetDefaultMemPool(&mut default, 0));
        ok(cuda::cudaDeviceGetMemPool(&mut current, 0));
        assert_eq!(default, current);
        ok(cuda::cudaDeviceSetMemPool(0, default));
        ok(cuda::cudaMallocAsync(&mut ptr, 64, null_mut()));
        assert!(get_attribute(default, USED_CURRENT) >= 64);
        ok(cuda::cudaFreeAsync(ptr, null_mut()));
        fails(cuda::cudaMemPoolDestroy(default), "cudaErrorInvalidValue");
        fails(
            cuda::cudaDeviceGetMemPool(&mut current, 3),
            "cudaErrorInvalidDevice",
        );
        fails(
            cuda::cudaMemPoolTrimTo(null_mut(), 0),
            "cudaErrorInvalidValue",
        );
    }
}
