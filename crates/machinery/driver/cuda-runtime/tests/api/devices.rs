//! Device enumeration, properties and settings.

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::mem::MaybeUninit;

use cuda_runtime as cuda;
use cuda_runtime::types::DeviceProperties;

use super::program::{fails, get, ok, start};

fn properties() -> DeviceProperties {
    start();
    let mut properties = MaybeUninit::zeroed();
    // SAFETY: zero is valid for integers and arrays of integers, and the call then fills the structure.
    unsafe {
        ok(cuda::cudaGetDeviceProperties(properties.as_mut_ptr(), 0));
        properties.assume_init()
    }
}

#[test]
fn properties_match_the_device_attributes() {
    let properties = properties();
    // SAFETY: `name` is NUL-terminated.
    let name = unsafe { CStr::from_ptr(properties.name.as_ptr()) };
    assert!(name.to_str().unwrap().contains("H200"), "{name:?}");
    // SAFETY: `get` passes a writable integer.
    let attribute = |number| get(|to| unsafe { cuda::cudaDeviceGetAttribute(to, number, 0) });
    assert_eq!(
        (properties.major, properties.minor, properties.warpSize),
        (9, 0, 32)
    );
    assert_eq!(properties.maxThreadsPerBlock, attribute(1));
    assert_eq!(properties.maxThreadsDim, [2, 3, 4].map(attribute));
    assert_eq!(properties.maxGridSize, [5, 6, 7].map(attribute));
    assert_eq!(properties.multiProcessorCount, attribute(16));
    assert_eq!(properties.clockRate, attribute(13));
    assert_eq!(properties.memoryClockRate, attribute(36));
    assert_eq!(properties.memoryBusWidth, attribute(37));
    assert_eq!(properties.sharedMemPerBlockOptin, attribute(97) as usize);
    assert_eq!(properties.cooperativeLaunch, attribute(95));
    assert!(properties.totalGlobalMem > 1 << 28);
    // The layout of `cudaDeviceProp` in CUDA 12.
    assert_eq!(size_of::<DeviceProperties>(), 1032);
    assert_eq!(std::mem::offset_of!(DeviceProperties, totalGlobalMem), 288);
}

#[test]
fn devices_are_counted_and_chosen_and_invalid_ordinals_rejected() {
    start();
    // SAFETY: all out-parameters are local variables.
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
fn a_device_is_found_by_its_pci_bus_id() {
    start();
    let mut text = [0 as c_char; 13];
    // SAFETY: `text` has the 13 bytes that the calls may write.
    unsafe {
        ok(cuda::cudaDeviceGetPCIBusId(text.as_mut_ptr(), 13, 0));
        let bus_id = CStr::from_ptr(text.as_ptr()).to_str().unwrap();
        assert_eq!(
            (bus_id.len(), &bus_id[4..5], &bus_id[10..]),
            (12, ":", ".0")
        );
        assert_eq!(
            get::<c_int>(|to| cuda::cudaDeviceGetByPCIBusId(to, text.as_ptr())),
            0
        );
        let mut device = 0;
        let unknown = cuda::cudaDeviceGetByPCIBusId(&mut device, c"ffff:ff:1f.0".as_ptr());
        fails(unknown, "cudaErrorInvalidDevice");
        let short = cuda::cudaDeviceGetPCIBusId(text.as_mut_ptr(), 12, 0);
        fails(short, "cudaErrorInvalidValue");
    }
}

#[test]
fn device_settings_are_stored() {
    start();
    // SAFETY: all out-parameters are local variables.
    unsafe {
        // The stack size is a lower bound per thread.
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
