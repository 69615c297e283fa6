//! Device enumeration, properties and settings.

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::mem::MaybeUninit;

use cuda_runtime::types::DeviceProperties;

use super::program::*;

fn properties() -> DeviceProperties {
    start();
    let mut properties = MaybeUninit::zeroed();
    calls! { cudaGetDeviceProperties(properties.as_mut_ptr(), 0); }
    // SAFETY: zero is valid for integers and arrays of integers, and the call then fills the structure.
    unsafe { properties.assume_init() }
}

#[test]
fn properties_match_the_device_attributes() {
    let properties = properties();
    // SAFETY: `name` is NUL-terminated.
    let name = unsafe { CStr::from_ptr(properties.name.as_ptr()) };
    assert!(name.to_str().unwrap().contains("H200"), "{name:?}");
    let attribute = |number| get(|to| code!(cudaDeviceGetAttribute(to, number, 0)));
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
    assert_eq!(get::<c_int>(|to| code!(cudaGetDeviceCount(to))), 1);
    assert_eq!(get::<c_int>(|to| code!(cudaGetDevice(to))), 0);
    assert_eq!(
        get::<c_int>(|to| code!(cudaChooseDevice(to, &properties()))),
        0
    );
    calls! {
        cudaInitDevice(0, 0, 0);
        cudaSetValidDevices([0].as_mut_ptr(), 1);
        cudaSetValidDevices([3].as_mut_ptr(), 1) => "cudaErrorInvalidDevice";
        cudaSetDevice(1) => "cudaErrorInvalidDevice";
        cudaSetDevice(-1) => "cudaErrorInvalidDevice";
    }
    let mut value = 0;
    calls! {
        cudaDeviceGetAttribute(&mut value, 1, 1) => "cudaErrorInvalidDevice";
        cudaDeviceGetAttribute(&mut value, 0, 0) => "cudaErrorInvalidValue";
        cudaGetDeviceCount(std::ptr::null_mut()) => "cudaErrorInvalidValue";
    }
    assert_eq!(
        get::<c_int>(|to| code!(cudaDeviceCanAccessPeer(to, 0, 0))),
        0
    );
    calls! {
        cudaDeviceEnablePeerAccess(0, 0) => "cudaErrorInvalidDevice";
        cudaDeviceDisablePeerAccess(0) => "cudaErrorInvalidDevice";
    }
    assert_eq!(get::<c_int>(|to| code!(cudaRuntimeGetVersion(to))), 12080);
    assert!(get::<c_int>(|to| code!(cudaDriverGetVersion(to))) >= 12080);
}

#[test]
fn a_device_is_found_by_its_pci_bus_id() {
    start();
    let mut text = [0 as c_char; 13];
    calls! { cudaDeviceGetPCIBusId(text.as_mut_ptr(), 13, 0); }
    // SAFETY: the text is NUL-terminated.
    let bus_id = unsafe { CStr::from_ptr(text.as_ptr()) }.to_str().unwrap();
    assert_eq!(
        (bus_id.len(), &bus_id[4..5], &bus_id[10..]),
        (12, ":", ".0")
    );
    assert_eq!(
        get::<c_int>(|to| code!(cudaDeviceGetByPCIBusId(to, text.as_ptr()))),
        0
    );
    let mut device = 0;
    calls! {
        cudaDeviceGetByPCIBusId(&mut device, c"ffff:ff:1f.0".as_ptr())
            => "cudaErrorInvalidDevice";
        cudaDeviceGetPCIBusId(text.as_mut_ptr(), 12, 0) => "cudaErrorInvalidValue";
    }
}

#[test]
fn device_settings_are_stored() {
    start();
    // The stack size is a lower bound per thread.
    calls! { cudaDeviceSetLimit(0, 4096); }
    assert!(get::<usize>(|to| code!(cudaDeviceGetLimit(to, 0))) >= 4096);
    calls! {
        cudaDeviceSetLimit(77, 1) => "cudaErrorInvalidValue";
        cudaDeviceSetCacheConfig(2);
    }
    assert_eq!(get::<c_int>(|to| code!(cudaDeviceGetCacheConfig(to))), 2);
    calls! { cudaDeviceSetSharedMemConfig(1); }
    get::<c_int>(|to| code!(cudaDeviceGetSharedMemConfig(to)));
    calls! { cudaSetDeviceFlags(8); }
    assert_eq!(get::<c_uint>(|to| code!(cudaGetDeviceFlags(to))) & 8, 8);
    calls! {
        cudaSetDeviceFlags(0x1000) => "cudaErrorInvalidValue";
        cudaProfilerStart();
        cudaProfilerStop();
        cudaThreadSynchronize();
        cudaCtxResetPersistingL2Cache();
    }
}
