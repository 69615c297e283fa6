//! Attributes of devices and kernels, by `CUdevice_attribute` and `CUfunction_attribute` number.
//!
//! A device's sizes, limits and clocks are those of the modelled GPU. Attributes about features describe the
//! simulator.

use std::ops::RangeInclusive;

use super::memory::MAX_PITCH;
use super::{CudaError, Driver, FunctionId};
use crate::device::DeviceSpec;
use crate::isa::Kernel;
use crate::launch::limits::max_threads;
use crate::memory::shared::IS_SUPPORTED;

/// One past the last device attribute of the CUDA 13.0 API.
const DEVICE_END: i32 = 145;

impl Driver {
    /// `cuDeviceGetAttribute`: returns attribute `number` of the device; 0 for features that are not
    /// simulated. Fails with [`CudaError::InvalidValue`] if there is no such attribute.
    pub fn device_attribute(&self, number: i32) -> Result<i32, CudaError> {
        let device = &self.device;
        let value: u32 = match number {
            1 => device.threads_per_block,
            2..=4 => device.block_dimensions[number as usize - 2],
            5..=7 => device.grid_dimensions[number as usize - 5],
            8 => device.shared_per_block,
            9 => device.constant_bytes,
            10 => device.warp_size,
            11 => MAX_PITCH as u32,
            // Registers per block and per SM.
            12 | 82 => device.registers_per_multiprocessor,
            13 => device.clock_khz,
            16 => device.multiprocessors,
            36 => device.memory_clock_khz,
            37 => device.memory_bus_bits,
            38 => device.l2_bytes,
            39 => device.threads_per_multiprocessor,
            // Copy engines: one to the device, one from it, and one within it.
            40 => 3,
            75 => device.compute_capability.0,
            76 => device.compute_capability.1,
            81 => device.shared_per_multiprocessor,
            97 => device.shared_per_block_optin,
            106 => device.blocks_per_multiprocessor,
            // Compressible memory, which is accepted and not compressed.
            107 => (device.compute_capability >= (8, 0)).into(),
            // Persisting accesses, which the modelled L2 cache treats as any others.
            108 => device.persisting_l2_bytes,
            109 => device.access_window_bytes,
            111 => device.shared_reserved_per_block,
            139 | 140 => device.pci_ids[number as usize - 139],
            // The ratio of single to double precision throughput.
            87 => (device.rates.fp32_lanes / device.rates.double_lanes) as u32,
            // Alignment of textures and surfaces, and of the rows of a texture, in bytes.
            14 | 30 => device.texture_alignment,
            51 => 32,
            // Clusters of blocks.
            120 => (device.compute_capability >= (9, 0)).into(),
            // Memory with error correction (ECC).
            32 => device.error_correction.into(),
            // Supported features: copies that overlap with kernels, mapped host memory, concurrent kernels,
            // unified addressing, stream priorities, L1 caching of global and local memory, managed memory
            // and concurrent access to it, host pointers of registered memory, cooperative launches, host
            // memory registration, virtual memory management, stream-ordered allocation, and texture gather.
            15 | 19 | 31 | 41 | 44 | 78..=80 | 83 | 89 | 91 | 95 | 99 | 102 | 115 => 1,
            // The NUMA node of the device's memory: none.
            131 => return Ok(-1),
            // `CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT`: fences order all memory.
            126 => 1,
            // Memory, memory pools and events that processes share: by POSIX file descriptors, and by handles.
            103 | 119 | 125 => IS_SUPPORTED.into(),
            _ if (1..DEVICE_END).contains(&number) => {
                let mut limits = device.image_limits.iter();
                limits
                    .find(|limit| limit.0 == number)
                    .map_or(0, |limit| limit.1)
            }
            _ => return Err(CudaError::InvalidValue),
        };
        Ok(value as i32)
    }
}

/// The first compute capability with clusters.
pub(super) const CLUSTER_CAPABILITY: (u32, u32) = (9, 0);

/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`.
pub(super) const MAX_DYNAMIC_SHARED: i32 = 8;
/// `CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT`.
const CARVEOUT: i32 = 9;
/// `CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET`.
const CLUSTER_REQUIRED: i32 = 10;
/// `CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH`, `_HEIGHT` and `_DEPTH`.
const CLUSTER: RangeInclusive<i32> = 11..=13;
/// `CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED`.
const ANY_CLUSTER: i32 = 14;
/// `CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE`.
const CLUSTER_SCHEDULING: i32 = 15;

/// The attributes of a kernel that the program has set.
#[derive(Clone, Copy)]
pub(super) struct FunctionSettings {
    /// The maximum dynamic shared memory in bytes per launch, if set.
    pub(super) max_dynamic_shared: Option<u32>,
    /// Attributes 9 to 15. Those of clusters limit launches; the others have no effect here. The first is the preferred fraction of an SM's memory
    /// that is shared memory, in percent; -1 means no preference.
    hints: [i32; 7],
}

impl Default for FunctionSettings {
    fn default() -> Self {
        Self {
            max_dynamic_shared: None,
            hints: [-1, 0, 0, 0, 0, 0, 0],
        }
    }
}

impl FunctionSettings {
    /// Returns the size of a cluster that the program has set; `None` if it has set no dimension.
    pub(super) fn cluster(&self) -> Option<[u32; 3]> {
        let first = (CLUSTER.start() - CARVEOUT) as usize;
        let sizes = [0, 1, 2].map(|axis| self.hints[first + axis] as u32);
        sizes
            .iter()
            .any(|&size| size > 0)
            .then(|| sizes.map(|size| size.max(1)))
    }

    /// Returns true if clusters may have more blocks than every GPU with clusters supports.
    pub(super) fn allows_any_cluster(&self) -> bool {
        self.hints[(ANY_CLUSTER - CARVEOUT) as usize] != 0
    }

    /// Sets an attribute. [`validate_setting`] must have accepted it.
    pub(super) fn set(&mut self, number: i32, value: i32) {
        match number {
            MAX_DYNAMIC_SHARED => self.max_dynamic_shared = Some(value as u32),
            ANY_CLUSTER => self.hints[(number - CARVEOUT) as usize] = (value != 0).into(),
            _ => self.hints[(number - CARVEOUT) as usize] = value,
        }
    }
}

/// Returns attribute `number` of a kernel. Fails with [`CudaError::InvalidValue`] unless the number is
/// between 0 and 15.
pub(super) fn attribute_value(
    device: &DeviceSpec,
    kernel: &Kernel,
    ptx_target: u32,
    settings: &FunctionSettings,
    number: i32,
) -> Result<i32, CudaError> {
    let (major, minor) = device.compute_capability;
    let value: u32 = match number {
        0 => max_threads(device, kernel),
        1 => kernel.shared_bytes,
        2 => kernel.const_bytes,
        3 => kernel.local_bytes,
        4 => kernel.limit_by_launch_bounds(kernel.registers),
        // NVIDIA's manual describes the version of the PTX language, but a GPU returns the target architecture.
        5 => ptx_target,
        6 => major * 10 + minor,
        // `CU_FUNC_ATTRIBUTE_CACHE_MODE_CA`: true if all loads are cached in L1 regardless of their own cache
        // operators. They follow their operators.
        7 => 0,
        MAX_DYNAMIC_SHARED => {
            let unset = device.shared_per_block.saturating_sub(kernel.shared_bytes);
            settings.max_dynamic_shared.unwrap_or(unset)
        }
        CLUSTER_REQUIRED => kernel.explicit_cluster.into(),
        _ if CLUSTER.contains(&number)
            && let Some(required) = kernel.required_cluster =>
        {
            required[(number - CLUSTER.start()) as usize]
        }
        CARVEOUT..=CLUSTER_SCHEDULING => {
            return Ok(settings.hints[(number - CARVEOUT) as usize]);
        }
        _ => return Err(CudaError::InvalidValue),
    };
    Ok(value as i32)
}

/// Validates an attribute setting. Fails with [`CudaError::NotSupported`] for clusters of more than one
/// block on a device without clusters, and with [`CudaError::InvalidValue`] for an attribute that cannot be set or a value out of range.
pub(super) fn validate_setting(
    device: &DeviceSpec,
    kernel: &Kernel,
    number: i32,
    value: i32,
) -> Result<(), CudaError> {
    let max = device
        .shared_per_block_optin
        .saturating_sub(kernel.shared_bytes);
    let valid = match number {
        MAX_DYNAMIC_SHARED => (0..=max as i32).contains(&value),
        CARVEOUT => (-1..=100).contains(&value),
        _ if CLUSTER.contains(&number)
            && value > 1
            && device.compute_capability < CLUSTER_CAPABILITY =>
        {
            return Err(CudaError::NotSupported);
        }
        _ if CLUSTER.contains(&number) => value >= 0 && kernel.required_cluster.is_none(),
        ANY_CLUSTER => value >= 0,
        CLUSTER_SCHEDULING => (0..=2).contains(&value),
        _ => false,
    };
    valid.then_some(()).ok_or(CudaError::InvalidValue)
}

impl Driver {
    /// `cuFuncGetAttribute`: returns attribute `number` of `function`. Fails with [`CudaError::InvalidValue`]
    /// unless the number is between 0 and 15, and with [`CudaError::InvalidHandle`] for an unknown function.
    pub fn function_attribute(&self, function: FunctionId, number: i32) -> Result<i32, CudaError> {
        let (function, module) = self.loaded_function(function)?;
        let target = module.program.listing.ptx_target;
        let kernel = module.kernel(function);
        attribute_value(&self.device, kernel, target, &function.settings, number)
    }

    /// `cuFuncSetAttribute`: sets an attribute. Attribute 8 is the maximum dynamic shared memory in bytes, up
    /// to the device's opt-in limit per block. Attribute 9 is the preferred fraction of an SM's memory that
    /// is shared memory, in percent, or
    /// -1 for no preference; it has no effect here. Attributes 11 to 13 are the size of the clusters of launches that
    /// do not specify it, and 14 allows clusters of more than 8 blocks.
    ///
    /// Fails with [`CudaError::NotSupported`] for clusters of more than one block on a device without clusters, with
    /// [`CudaError::InvalidValue`] for another attribute or a value out of range, and with
    /// [`CudaError::InvalidHandle`] for an unknown function.
    pub fn set_function_attribute(
        &mut self,
        function: FunctionId,
        number: i32,
        value: i32,
    ) -> Result<(), CudaError> {
        let (state, module) = self.loaded_function(function)?;
        validate_setting(&self.device, module.kernel(state), number, value)?;
        let function = self
            .functions
            .get_mut(&function)
            .ok_or(CudaError::InvalidHandle)?;
        function.settings.set(number, value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{PTX, driver};
    use super::*;
    use crate::driver::CudaError::*;

    /// The attributes 1 to 144 of an NVIDIA H200, as reported by driver 580.159.04.
    #[rustfmt::skip]
    const H200: [i32; 144] = [
        1024, 1024, 1024, 64, 2147483647, 65535, 65535, 49152, 65536, 32, 2147483647, 65536,
        1980000, 512, 1, 132, 0, 0, 1, 0, 131072, 131072, 65536, 16384,
        16384, 16384, 32768, 32768, 2048, 512, 1, 1, 0, 6, 0, 3201000,
        6016, 62914560, 2048, 3, 1, 32768, 2048, 1, 32768, 32768, 8192, 8192,
        32768, 0, 32, 32768, 32768, 2046, 32768, 131072, 65536, 16384, 16384, 16384,
        32768, 2048, 32768, 32768, 2048, 32768, 32768, 2046, 268435456, 131072, 65000, 2097120,
        32768, 32768, 9, 0, 32768, 1, 1, 1, 233472, 65536, 1, 0,
        0, 0, 2, 0, 1, 1, 1, 0, 0, 0, 1, 1,
        232448, 0, 1, 0, 0, 1, 1, 0, 0, 32, 1, 39321600,
        134217728, 1, 1024, 1, 1, 1, 1, 1, 1, 100, 9, 1,
        1, 1, 1, 1, 1, 4, 1, 1, 1, 0, -1, 0,
        0, 0, 0, 0, 0, 0, 590680286, 415174878, 1, 1, 0, 1,
    ];

    /// The attributes for which the simulator deliberately reports another value than an H200, with that value.
    const EXCEPTIONS: &[(i32, i32)] = &[
        // The PCI slot of the measured H200.
        (34, 0),
        // No sparse or deferred arrays.
        (112, 0),
        (121, 0),
        // A kernel runs alone until it completes: no preemption, no cooperative launches on several devices,
        // and no function handles shared between devices.
        (90, 0),
        (96, 0),
        (129, 0),
        // Only on Linux is there memory that processes share.
        #[cfg(not(target_os = "linux"))]
        (103, 0),
        #[cfg(not(target_os = "linux"))]
        (125, 0),
        // Mapped memory is device memory: no host memory.
        (128, 0),
        (141, 0),
        // Pools are shared by file descriptors only, and none is in host memory.
        (119, IS_SUPPORTED as i32),
        (142, 0),
        (144, 0),
        // No GPUDirect, and no buffers or events shared with other devices or APIs.
        (110, 0),
        (114, 0),
        (116, 0),
        (117, 0),
        (118, 0),
        (124, 0),
        // Host memory can be registered for reading and writing only, not as read-only.
        (113, 0),
        // Streams cannot wait for a value in memory (`cuStreamWaitValue32`).
        (122, 0),
        (123, 0),
        // One memory synchronization domain, and no tensor maps.
        (126, 1),
        (127, 0),
    ];

    #[test]
    fn attributes_match_an_h200_except_for_unsupported_features() {
        let (driver, _) = driver();
        for (number, recorded) in (1..).zip(H200) {
            let exception = EXCEPTIONS.iter().find(|other| other.0 == number);
            let expected = match exception {
                Some(&(_, value)) => {
                    assert_ne!(value, recorded, "attribute {number} is no exception");
                    value
                }
                None => recorded,
            };
            let actual = driver.device_attribute(number);
            assert_eq!(actual, Ok(expected), "attribute {number}");
        }
    }

    #[test]
    fn each_gpu_reports_its_own_limits() {
        // Maximum threads per block, in total and in x; maximum blocks of a grid in x and in z; shared memory
        // per block; ratio of single to double precision; L2 cache; compute capability, major and minor;
        // shared memory per SM; blocks per SM.
        const NUMBERS: [i32; 11] = [1, 2, 5, 7, 8, 87, 38, 75, 76, 81, 106];
        let (max, side) = (i32::MAX, 65535);
        #[rustfmt::skip]
        let gpus = [
            ("h200", [1024, 1024, max, side, 49152, 2, 62_914_560, 9, 0, 233_472, 32]),
            ("rtx3090", [1024, 1024, max, side, 49152, 64, 6_291_456, 8, 6, 102_400, 16]),
            ("gtx970", [1024, 1024, max, side, 49152, 32, 1_835_008, 5, 2, 98304, 32]),
            ("p2000", [1024, 1024, max, side, 49152, 32, 1_310_720, 6, 1, 98304, 32]),
            ("gtx280", [512, 512, side, 1, 16384, 8, 0, 1, 3, 16384, 8]),
        ];
        for (name, expected) in gpus {
            let driver = Driver::new(DeviceSpec::named(name).unwrap().clone(), None);
            let values = NUMBERS.map(|number| driver.device_attribute(number).unwrap());
            assert_eq!(values, expected, "{name}");
        }
    }

    #[test]
    fn unknown_attributes_are_rejected() {
        let (driver, _) = driver();
        for number in [0, -1, i32::MIN, DEVICE_END, i32::MAX] {
            assert_eq!(driver.device_attribute(number), Err(InvalidValue));
        }
    }

    #[test]
    fn attributes_are_set_and_validated() {
        let (mut driver, context) = driver();
        let module = driver.load_module(context, PTX).unwrap();
        let store = driver.function(context, module, "store").unwrap();
        let bounded = driver.function(context, module, "bounded").unwrap();
        assert_eq!(driver.function_attribute(store, 0), Ok(1024));
        assert_eq!(driver.function_attribute(bounded, 0), Ok(64));
        assert_eq!(driver.function_attribute(bounded, 1), Ok(256));
        assert!(PTX.contains(".target sm_52\n"));
        assert_eq!(driver.function_attribute(store, 5), Ok(52));
        assert_eq!(driver.function_attribute(store, 6), Ok(90));
        assert_eq!(driver.function_attribute(bounded, 8), Ok((48 << 10) - 256));
        assert_eq!(driver.function_attribute(store, CARVEOUT), Ok(-1));
        driver.set_function_attribute(store, CARVEOUT, 50).unwrap();
        assert_eq!(driver.function_attribute(store, CARVEOUT), Ok(50));
        for number in 10..=15 {
            assert_eq!(driver.function_attribute(store, number), Ok(0), "{number}");
        }
        for (number, value) in [(11, 1), (12, 1), (13, 1), (14, 1), (15, 2)] {
            driver.set_function_attribute(store, number, value).unwrap();
            assert_eq!(driver.function_attribute(store, number), Ok(value));
        }
        driver.set_function_attribute(store, 14, 2).unwrap();
        assert_eq!(driver.function_attribute(store, 14), Ok(1));
        for (number, value) in [
            (10, 1),
            (11, -1),
            (14, -1),
            (15, 3),
            (8, -1),
            (8, 228 << 10),
            (9, 101),
            (9, -2),
            (0, 1),
            (99, 1),
        ] {
            let rejected = driver.set_function_attribute(store, number, value);
            assert_eq!(rejected, Err(InvalidValue), "attribute {number}");
        }
        assert_eq!(driver.function_attribute(store, 16), Err(InvalidValue));
        let no_function = driver.function_attribute(FunctionId(module.0), 0);
        assert_eq!(no_function, Err(InvalidHandle));
    }
}
