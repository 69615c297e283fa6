//! Lines of the runtime API's function table: devices, versions and settings.

use std::ffi::{c_char, c_int, c_uint};

use super::entry::Entry;
use crate::device;
use crate::last_error::{call, unsupported};
use crate::properties;
use crate::status::Code;
use crate::stream::{self, DefaultStream};
use crate::types::{ChannelFormat, DeviceProperties};

functions! {
    cudaGetDeviceCount(count: *mut c_int) => device::count;
    cudaGetDevice(device: *mut c_int) => device::get;
    cudaSetDevice(device: c_int) => device::set;
    cudaInitDevice(device: c_int, device_flags: c_uint, flags: c_uint) => device::init;
    cudaSetValidDevices(list: *mut c_int, length: c_int) => device::set_valid;
    cudaChooseDevice(
        device: *mut c_int, properties: *const DeviceProperties,
    ) => device::choose;
    cudaGetDeviceProperties(
        properties: *mut DeviceProperties, device: c_int,
    ) => properties::get;
    cudaGetDeviceProperties_v2(
        properties: *mut DeviceProperties, device: c_int,
    ) => properties::get;
    cudaDeviceGetAttribute(
        value: *mut c_int, attribute: c_int, device: c_int,
    ) => properties::get_attribute;
    cudaDeviceSynchronize() => device::synchronize;
    cudaDeviceReset() => device::reset;
    cudaThreadSynchronize() => device::synchronize;
    cudaThreadExit() => device::reset;
    cudaDeviceGetLimit(value: *mut usize, limit: c_int) => device::limit;
    cudaDeviceSetLimit(limit: c_int, value: usize) => device::set_limit;
    cudaThreadGetLimit(value: *mut usize, limit: c_int) => device::limit;
    cudaThreadSetLimit(limit: c_int, value: usize) => device::set_limit;
    cudaDeviceGetCacheConfig(config: *mut c_int) => device::cache_config;
    cudaDeviceSetCacheConfig(config: c_int) => device::set_cache_config;
    cudaThreadGetCacheConfig(config: *mut c_int) => device::cache_config;
    cudaThreadSetCacheConfig(config: c_int) => device::set_cache_config;
    cudaDeviceGetSharedMemConfig(config: *mut c_int) => device::shared_config;
    cudaDeviceSetSharedMemConfig(config: c_int) => device::set_shared_config;
    cudaGetDeviceFlags(flags: *mut c_uint) => device::flags;
    cudaSetDeviceFlags(flags: c_uint) => device::set_flags;
    cudaDeviceGetStreamPriorityRange(
        least: *mut c_int, greatest: *mut c_int,
    ) => stream::priority_range;
    cudaDeviceCanAccessPeer(
        can: *mut c_int, device: c_int, peer: c_int,
    ) => device::can_access_peer;
    cudaDeviceEnablePeerAccess(peer: c_int, flags: c_uint) => device::enable_peer;
    cudaDeviceDisablePeerAccess(peer: c_int) => device::disable_peer;
    cudaDeviceGetP2PAttribute(
        value: *mut c_int, attribute: c_int, from: c_int, to: c_int,
    ) => device::p2p_attribute;
    cudaDeviceGetPCIBusId(text: *mut c_char, length: c_int, device: c_int) => device::pci_bus_id;
    cudaDeviceGetByPCIBusId(device: *mut c_int, text: *const c_char) => device::by_pci_bus_id;
    cudaDeviceGetTexture1DLinearMaxWidth(
        width: *mut usize, format: *const ChannelFormat, device: c_int,
    ) => device::linear_texture_width;
    cudaDeviceFlushGPUDirectRDMAWrites(target: c_int, scope: c_int);
    cudaCtxResetPersistingL2Cache() => device::reset_persisting_cache;
    cudaDriverGetVersion(version: *mut c_int) => device::driver_version;
    cudaRuntimeGetVersion(version: *mut c_int) => device::runtime_version;
    cudaProfilerStart() => device::profiler;
    cudaProfilerStop() => device::profiler;
}
