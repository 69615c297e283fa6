//! Stream-ordered allocation and memory pools.

use std::ffi::c_int;
use std::ptr::null_mut;

#[cfg(target_os = "linux")]
use cuda_driver::types::{
    CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_HANDLE_TYPE_NONE, CU_MEM_LOCATION_TYPE_DEVICE,
    CUmemAccessDesc, CUmemLocation, CUmemPoolProps, CUmemoryPool, ShareableHandle,
};

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
    let properties = CUmemPoolProps {
        allocType: CU_MEM_ALLOCATION_TYPE_PINNED,
        handleTypes: CU_MEM_HANDLE_TYPE_NONE,
        location: CUmemLocation {
            kind: CU_MEM_LOCATION_TYPE_DEVICE,
            id: 0,
        },
        win32SecurityAttributes: null_mut(),
        reserved: [0; 64],
    };
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
    let mut device_location = properties.location;
    calls! { cudaMemPoolGetAccess(&mut access, pool, &mut device_location); }
    assert_eq!(access, 3);
    let other = CUmemAccessDesc {
        location: CUmemLocation {
            id: 1,
            ..device_location
        },
        flags: 0,
    };
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

/// `CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR`.
#[cfg(target_os = "linux")]
const DESCRIPTOR: c_int = 1;

/// Two processes are needed for more: see the tests of the library `libcuda`.
#[cfg(target_os = "linux")]
#[test]
fn memory_events_and_pools_can_be_exported() {
    let memory = Memory::new(64);
    let (mut handle, mut other) = (ShareableHandle([0; 64]), ShareableHandle([0; 64]));
    let (mut ptr, mut event) = (null_mut(), null_mut());
    calls! {
        cudaIpcGetMemHandle(&mut handle, memory.0);
        cudaIpcGetMemHandle(&mut other, null_mut()) => "cudaErrorInvalidValue";
        cudaIpcOpenMemHandle(&mut ptr, handle, 0) => "cudaErrorInvalidValue";
        cudaIpcOpenMemHandle(&mut ptr, handle, 1) => "cudaErrorDeviceUninitialized";
        cudaIpcOpenMemHandle(&mut ptr, other, 1) => "cudaErrorInvalidValue";
        cudaIpcCloseMemHandle(memory.0) => "cudaErrorInvalidValue";
        cudaEventCreateWithFlags(&mut event, 6);
        cudaIpcGetEventHandle(&mut handle, event);
        cudaIpcOpenEventHandle(&mut event, handle) => "cudaErrorDeviceUninitialized";
        cudaIpcOpenEventHandle(&mut event, other) => "cudaErrorMapBufferObjectFailed";
        cudaEventDestroy(event);
    }
    let (mut pool, mut imported) = (null_mut(), null_mut());
    let mut descriptor: c_int = -1;
    // SAFETY: all bit patterns of the integers and null pointers in the structure are valid.
    let mut properties: CUmemPoolProps = unsafe { std::mem::zeroed() };
    // SAFETY: the structure starts with the type, the kinds of handles, and the location.
    unsafe {
        (&raw mut properties)
            .cast::<[c_int; 4]>()
            .write([1, DESCRIPTOR, 1, 0])
    };
    calls! {
        cudaMemPoolCreate(&mut pool, &properties);
        cudaMemPoolExportToShareableHandle((&raw mut descriptor).cast(), pool, DESCRIPTOR, 0);
        cudaMallocFromPoolAsync(&mut ptr, 64, pool, null_mut());
        cudaMemPoolExportPointer(&mut handle, ptr);
    }
    let descriptor = std::ptr::without_provenance_mut(descriptor as usize);
    let mut same = null_mut();
    calls! {
        cudaMemPoolImportFromShareableHandle(&mut imported, descriptor, DESCRIPTOR, 0);
        cudaMemPoolImportPointer(&mut same, imported, &mut handle);
        cudaMemset(same, 7, 64);
    }
    let mut byte = 0_u8;
    calls! {
        cudaMemcpy((&raw mut byte).cast(), ptr, 1, 4);
        cudaFree(same);
        cudaFree(ptr);
        cudaMemPoolDestroy(imported);
        cudaMemPoolDestroy(pool);
    }
    assert_eq!(byte, 7);
}
