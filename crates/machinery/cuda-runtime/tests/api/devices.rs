//! Devices: which there are and what they can do, and settings.

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::mem::MaybeUninit;

use cuda_runtime as cuda;
use cuda_runtime::types::DeviceProperties;

use super::program::{fails, get, ok, start};

fn properties() -> DeviceProperties {
    start();
    let mut found = MaybeUninit::zeroed();
    // SAFETY: numbers, and arrays of numbers, may all be zero; then the structure is filled.
    unsafe {
        ok(cuda::cudaGetDeviceProperties(found.as_mut_ptr(), 0));
        found.assume_init()
    }
}

#[test]
fn properties_are_the_devices_attributes() {
    let has = properties();
    // SAFETY: a name ends in NUL.
    let name = unsafe { CStr::from_ptr(has.name.as_ptr()) };
    assert!(name.to_str().unwrap().contains("H200"), "{name:?}");
    // SAFETY: a number is written.
    let attribute = |number| get(|to| unsafe { cuda::cudaDeviceGetAttribute(to, number, 0) });
    assert_eq!((has.major, has.minor, has.warpSize), (9, 0, 32));
    assert_eq!(has.maxThreadsPerBlock, attribute(1));
    assert_eq!(has.maxThreadsDim, [2, 3, 4].map(attribute));
    assert_eq!(has.maxGridSize, [5, 6, 7].map(attribute));
    assert_eq!(has.multiProcessorCount, attribute(16));
    assert_eq!(has.clockRate, attribute(13));
    assert_eq!(has.memoryClockRate, attribute(36));
    assert_eq!(has.memoryBusWidth, attribute(37));
    assert_eq!(has.sharedMemPerBlockOptin, attribute(97) as usize);
    assert_eq!(has.cooperativeLaunch, attribute(95));
    assert!(has.totalGlobalMem > 1 << 28);
    // The layout is that of `cudaDeviceProp` in CUDA 12.
    assert_eq!(size_of::<DeviceProperties>(), 1032);
    assert_eq!(std::mem::offset_of!(DeviceProperties, totalGlobalMem), 288);
}

#[test]
fn devices_are_counted_chosen_and_refused() {
    start();
    // SAFETY: numbers are written.
    unsafe {
        assert_eq!(get::<c_int>(|to| cuda::cudaGetDeviceCount(to)), 1);
        assert_eq!(get::<c_int>(|to| cuda::cudaGetDevice(to)), 0);
        assert_eq!(
            get::<c_int>(|to| cuda::cudaChooseDevice(to, &properties())),
            0
        );
        ok(cuda::cudaInitDevice(0, 0, 0));
        ok(cuda::cudaSetValidDevices([0].as_mut_ptr(), 1));
        fails(
            cuda::cudaSetValidDevices([3].as_mut_ptr(), 1),
            "cudaErrorInvalidDevice",
        );
        fails(cuda::cudaSetDevice(1), "cudaErrorInvalidDevice");
        fails(cuda::cudaSetDevice(-1), "cudaErrorInvalidDevice");
        let mut value = 0;
        fails(
            cuda::cudaDeviceGetAttribute(&mut value, 1, 1),
            "cudaErrorInvalidDevice",
        );
        fails(
            cuda::cudaDeviceGetAttribute(&mut value, 0, 0),
            "cudaErrorInvalidValue",
        );
        fails(
            cuda::cudaGetDeviceCount(std::ptr::null_mut()),
            "cudaErrorInvalidValue",
        );
        assert_eq!(
            get::<c_int>(|to| cuda::cudaDeviceCanAccessPeer(to, 0, 0)),
            0
        );
        fails(
            cuda::cudaDeviceEnablePeerAccess(0, 0),
            "cudaErrorInvalidDevice",
        );
        fails(
            cuda::cudaDeviceDisablePeerAccess(0),
            "cudaErrorInvalidDevice",
        );
        assert_eq!(get::<c_int>(|to| cuda::cudaRuntimeGetVersion(to)), 12080);
        assert!(get::<c_int>(|to| cuda::cudaDriverGetVersion(to)) >= 12080);
    }
}

#[test]
fn a_device_is_found_by_its_place() {
    start();
    let mut text = [0 as c_char; 13];
    // SAFETY: so many bytes may be written.
    unsafe {
        ok(cuda::cudaDeviceGetPCIBusId(text.as_mut_ptr(), 13, 0));
        let found = CStr::from_ptr(text.as_ptr()).to_str().unwrap();
        assert_eq!((found.len(), &found[4..5], &found[10..]), (12, ":", ".0"));
        assert_eq!(
            get::<c_int>(|to| cuda::cudaDeviceGetByPCIBusId(to, text.as_ptr())),
            0
        );
        let mut device = 0;
        let elsewhere = cuda::cudaDeviceGetByPCIBusId(&mut device, c"ffff:ff:1f.0".as_ptr());
        fails(elsewhere, "cudaErrorInvalidDevice");
        let short = cuda::cudaDeviceGetPCIBusId(text.as_mut_ptr(), 12, 0);
        fails(short, "cudaErrorInvalidValue");
    }
}

#[test]
fn settings_are_kept() {
    start();
    // SAFETY: numbers are written.
    unsafe {
        // The stack, of which every thread has at least so much.
        ok(cuda::cudaDeviceSetLimit(0, 4096));
        assert!(get::<usize>(|to| cuda::cudaDeviceGetLimit(to, 0)) >= 4096);
        fails(cuda::cudaDeviceSetLimit(77, 1), "cudaErrorInvalidValue");
        ok(cuda::cudaDeviceSetCacheConfig(2));
        assert_eq!(get::<c_int>(|to| cuda::cudaDeviceGetCacheConfig(to)), 2);
        ok(cuda::cudaDeviceSetSharedMemConfig(1));
        get::<c_int>(|to| cuda::cudaDeviceGetSharedMemConfig(to));
        ok(cuda::cudaSetDeviceFlags(8));
        assert_eq!(get::<c_uint>(|to| cuda::cudaGetDeviceFlags(to)) & 8, 8);
        fails(cuda::cudaSetDeviceFlags(0x1000), "cudaErrorInvalidValue");
        ok(cuda::cudaProfilerStart());
        ok(cuda::cudaProfilerStop());
        ok(cuda::cudaThreadSynchronize());
        ok(cuda::cudaCtxResetPersistingL2Cache());
    }
}
