//! Device properties (`cudaDeviceProp`) and attributes.

use std::ffi::{c_char, c_int, c_uint};
use std::mem::MaybeUninit;

use cuda_driver::functions as cu;

use crate::context::device;
use crate::errors::{Result, check};

functions! {
    cudaGetDeviceProperties(properties: *mut DeviceProperties, device: c_int)
        -> properties = device_properties(device);
    cudaGetDeviceProperties_v2(properties: *mut DeviceProperties, device: c_int)
        -> properties = device_properties(device);
    cudaDeviceGetAttribute(value: *mut c_int, number: c_int, device: c_int)
        -> value = attribute(number, device);
}

/// Conversion of attributes to the type of a property's field.
trait FromAttributes<const N: usize> {
    fn from(numbers: [c_int; N]) -> Self;
}

impl FromAttributes<1> for c_int {
    fn from([number]: [c_int; 1]) -> Self {
        number
    }
}

impl FromAttributes<1> for c_uint {
    fn from([number]: [c_int; 1]) -> Self {
        number as Self
    }
}

impl FromAttributes<1> for usize {
    fn from([number]: [c_int; 1]) -> Self {
        number.max(0) as Self
    }
}

impl<const N: usize> FromAttributes<N> for [c_int; N] {
    fn from(numbers: [c_int; N]) -> Self {
        numbers
    }
}

/// Defines the structure and the function that fills it. The numbers are those of `CUdevice_attribute`, which
/// `cudaDeviceAttr` shares.
macro_rules! properties {
    ($($field:ident: $type:ty = $attributes:expr;)*) => {
        /// `cudaDeviceProp`.
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        #[expect(non_snake_case, reason = "the names are those of C")]
        pub struct DeviceProperties {
            pub name: [c_char; 256],
            pub uuid: [u8; 16],
            pub luid: [c_char; 8],
            pub luidDeviceNodeMask: c_uint,
            pub totalGlobalMem: usize,
            $(pub $field: $type,)*
            pub reserved: [c_int; 63],
        }

        impl DeviceProperties {
            /// Sets all fields that correspond to attributes.
            fn set_attributes(&mut self, ordinal: c_int) -> Result {
                $(self.$field = FromAttributes::from(attributes_or_zero($attributes, ordinal)?);)*
                Ok(())
            }
        }
    };
}

properties! {
    sharedMemPerBlock: usize = [8];
    regsPerBlock: c_int = [12];
    warpSize: c_int = [10];
    memPitch: usize = [11];
    maxThreadsPerBlock: c_int = [1];
    maxThreadsDim: [c_int; 3] = [2, 3, 4];
    maxGridSize: [c_int; 3] = [5, 6, 7];
    clockRate: c_int = [13];
    totalConstMem: usize = [9];
    major: c_int = [75];
    minor: c_int = [76];
    textureAlignment: usize = [14];
    texturePitchAlignment: usize = [51];
    deviceOverlap: c_int = [15];
    multiProcessorCount: c_int = [16];
    kernelExecTimeoutEnabled: c_int = [17];
    integrated: c_int = [18];
    canMapHostMemory: c_int = [19];
    computeMode: c_int = [20];
    maxTexture1D: c_int = [21];
    maxTexture1DMipmap: c_int = [77];
    maxTexture1DLinear: c_int = [69];
    maxTexture2D: [c_int; 2] = [22, 23];
    maxTexture2DMipmap: [c_int; 2] = [73, 74];
    maxTexture2DLinear: [c_int; 3] = [70, 71, 72];
    maxTexture2DGather: [c_int; 2] = [45, 46];
    maxTexture3D: [c_int; 3] = [24, 25, 26];
    maxTexture3DAlt: [c_int; 3] = [47, 48, 49];
    maxTextureCubemap: c_int = [52];
    maxTexture1DLayered: [c_int; 2] = [42, 43];
    maxTexture2DLayered: [c_int; 3] = [27, 28, 29];
    maxTextureCubemapLayered: [c_int; 2] = [53, 54];
    maxSurface1D: c_int = [55];
    maxSurface2D: [c_int; 2] = [56, 57];
    maxSurface3D: [c_int; 3] = [58, 59, 60];
    maxSurface1DLayered: [c_int; 2] = [61, 62];
    maxSurface2DLayered: [c_int; 3] = [63, 64, 65];
    maxSurfaceCubemap: c_int = [66];
    maxSurfaceCubemapLayered: [c_int; 2] = [67, 68];
    surfaceAlignment: usize = [30];
    concurrentKernels: c_int = [31];
    ECCEnabled: c_int = [32];
    pciBusID: c_int = [33];
    pciDeviceID: c_int = [34];
    pciDomainID: c_int = [50];
    tccDriver: c_int = [35];
    asyncEngineCount: c_int = [40];
    unifiedAddressing: c_int = [41];
    memoryClockRate: c_int = [36];
    memoryBusWidth: c_int = [37];
    l2CacheSize: c_int = [38];
    persistingL2CacheMaxSize: c_int = [108];
    maxThreadsPerMultiProcessor: c_int = [39];
    streamPrioritiesSupported: c_int = [78];
    globalL1CacheSupported: c_int = [79];
    localL1CacheSupported: c_int = [80];
    sharedMemPerMultiprocessor: usize = [81];
    regsPerMultiprocessor: c_int = [82];
    managedMemory: c_int = [83];
    isMultiGpuBoard: c_int = [84];
    multiGpuBoardGroupID: c_int = [85];
    hostNativeAtomicSupported: c_int = [86];
    singleToDoublePrecisionPerfRatio: c_int = [87];
    pageableMemoryAccess: c_int = [88];
    concurrentManagedAccess: c_int = [89];
    computePreemptionSupported: c_int = [90];
    canUseHostPointerForRegisteredMem: c_int = [91];
    cooperativeLaunch: c_int = [95];
    cooperativeMultiDeviceLaunch: c_int = [96];
    sharedMemPerBlockOptin: usize = [97];
    pageableMemoryAccessUsesHostPageTables: c_int = [100];
    directManagedMemAccessFromHost: c_int = [101];
    maxBlocksPerMultiProcessor: c_int = [106];
    accessPolicyMaxWindowSize: c_int = [109];
    reservedSharedMemPerBlock: usize = [111];
    hostRegisterSupported: c_int = [99];
    sparseCudaArraySupported: c_int = [112];
    hostRegisterReadOnlySupported: c_int = [113];
    timelineSemaphoreInteropSupported: c_int = [114];
    memoryPoolsSupported: c_int = [115];
    gpuDirectRDMASupported: c_int = [116];
    gpuDirectRDMAFlushWritesOptions: c_uint = [117];
    gpuDirectRDMAWritesOrdering: c_int = [118];
    memoryPoolSupportedHandleTypes: c_uint = [119];
    deferredMappingCudaArraySupported: c_int = [121];
    ipcEventSupported: c_int = [125];
    clusterLaunch: c_int = [120];
    unifiedFunctionPointers: c_int = [129];
}

/// Returns attributes of a device; 0 for attributes that an older driver does not know.
fn attributes_or_zero<const N: usize>(numbers: [c_int; N], ordinal: c_int) -> Result<[c_int; N]> {
    device(ordinal)?;
    Ok(numbers.map(|number| attribute(number, ordinal).unwrap_or(0)))
}

/// Returns an attribute of a device.
pub(crate) fn attribute(number: c_int, ordinal: c_int) -> Result<c_int> {
    let device = device(ordinal)?;
    let mut value = 0;
    // SAFETY: `value` is writable, and `device.handle` comes from `cuDeviceGet`.
    check(unsafe { cu::cuDeviceGetAttribute(&mut value, number, device.handle) })?;
    Ok(value)
}

/// Returns all properties of a device.
pub(crate) fn device_properties(ordinal: c_int) -> Result<DeviceProperties> {
    let handle = device(ordinal)?.handle;
    // SAFETY: the structure consists of integers and arrays of integers, for which zero is valid.
    let mut properties: DeviceProperties = unsafe { MaybeUninit::zeroed().assume_init() };
    let name_capacity = properties.name.len() as c_int;
    // SAFETY: the buffers have the sizes that the driver writes: `name_capacity` bytes, 16 bytes of UUID, and
    // one `usize`.
    unsafe {
        check(cu::cuDeviceGetName(
            properties.name.as_mut_ptr(),
            name_capacity,
            handle,
        ))?;
        check(cu::cuDeviceGetUuid(
            (&raw mut properties.uuid).cast(),
            handle,
        ))?;
        check(cu::cuDeviceTotalMem_v2(
            &mut properties.totalGlobalMem,
            handle,
        ))?;
    }
    properties.set_attributes(ordinal)?;
    Ok(properties)
}
