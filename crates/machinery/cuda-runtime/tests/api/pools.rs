//! Memory in the order of a stream's work.

use std::ffi::c_int;
use std::ptr::null_mut;

use cuda_runtime as cuda;
use cust_raw::{CUmemAccessDesc, CUmemLocation, CUmemPoolProps, CUmemoryPool};

use super::program::{fails, ok, start};

const THRESHOLD: c_int = 4;
const USED_NOW: c_int = 7;
const USED_MOST: c_int = 8;

fn number(pool: CUmemoryPool, attribute: c_int) -> u64 {
    let mut value = 0_u64;
    // SAFETY: these attributes are numbers of 64 bits.
    ok(unsafe { cuda::cudaMemPoolGetAttribute(pool, attribute, (&raw mut value).cast()) });
    value
}

#[test]
fn a_pool_knows_what_is_allocated_from_it() {
    start();
    let mut how = CUmemPoolProps::default();
    // SAFETY: the enums' numbers are those of C.
    unsafe {
        (&raw mut how.allocType).cast::<c_int>().write(1);
        (&raw mut how.location.type_).cast::<c_int>().write(1);
    }
    let mut pool = null_mut();
    let mut at = null_mut();
    // SAFETY: handles and addresses are written.
    unsafe {
        ok(cuda::cudaMemPoolCreate(&mut pool, &how));
        assert_eq!(number(pool, THRESHOLD), 0);
        let mut most = u64::MAX;
        ok(cuda::cudaMemPoolSetAttribute(
            pool,
            THRESHOLD,
            (&raw mut most).cast(),
        ));
        assert_eq!(number(pool, THRESHOLD), u64::MAX);
        ok(cuda::cudaMallocFromPoolAsync(
            &mut at,
            1000,
            pool,
            null_mut(),
        ));
        assert_eq!(number(pool, USED_NOW), 1000);
        ok(cuda::cudaMemsetAsync(at, 1, 1000, null_mut()));
        ok(cuda::cudaFreeAsync(at, null_mut()));
        assert_eq!(number(pool, USED_NOW), 0);
        assert_eq!(number(pool, USED_MOST), 1000);
        ok(cuda::cudaMemPoolTrimTo(pool, 0));
        // Memory of a pool may be freed as any other.
        ok(cuda::cudaMallocFromPoolAsync(&mut at, 10, pool, null_mut()));
        ok(cuda::cudaFree(at));
        assert_eq!(number(pool, USED_NOW), 0);
        let mut zero = 0_u64;
        ok(cuda::cudaMemPoolSetAttribute(
            pool,
            USED_MOST,
            (&raw mut zero).cast(),
        ));
        assert_eq!(number(pool, USED_MOST), 0);
        let mut value = 5_u64;
        let fixed = cuda::cudaMemPoolSetAttribute(pool, USED_NOW, (&raw mut value).cast());
        fails(fixed, "cudaErrorInvalidValue");
        let mut access = 0;
        let mut here = CUmemLocation::default();
        ok(cuda::cudaMemPoolGetAccess(&mut access, pool, &mut here));
        assert_eq!(access, 3);
        let mut other = CUmemAccessDesc::default();
        other.location.id = 1;
        fails(
            cuda::cudaMemPoolSetAccess(pool, &other, 1),
            "cudaErrorInvalidDevice",
        );
        ok(cuda::cudaMemPoolDestroy(pool));
        let gone = cuda::cudaMallocFromPoolAsync(&mut at, 10, pool, null_mut());
        fails(gone, "cudaErrorInvalidValue");
        fails(
            cuda::cudaFreeAsync(null_mut(), null_mut()),
            "cudaErrorInvalidValue",
        );
    }
}

#[test]
fn a_device_has_a_pool_for_those_who_name_none() {
    start();
    let (mut default, mut current) = (null_mut(), null_mut());
    let mut at = null_mut();
    // SAFETY: handles and addresses are written.
    unsafe {
        ok(cuda::cudaDeviceGetDefaultMemPool(&mut default, 0));
        ok(cuda::cudaDeviceGetMemPool(&mut current, 0));
        assert_eq!(default, current);
        ok(cuda::cudaDeviceSetMemPool(0, default));
        ok(cuda::cudaMallocAsync(&mut at, 64, null_mut()));
        assert!(number(default, USED_NOW) >= 64);
        ok(cuda::cudaFreeAsync(at, null_mut()));
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
