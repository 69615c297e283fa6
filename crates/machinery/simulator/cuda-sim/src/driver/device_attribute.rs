//! Device attributes, by `CUdevice_attribute` number.
//!
//! Sizes, limits and clocks are those of the modelled GPU. Attributes about features describe the simulator.

use super::memory::MAX_PITCH;
use super::{CudaError, Driver};

/// One past the last attribute of the CUDA 13.0 API.
const END: i32 = 145;

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
            111 => device.shared_reserved_per_block,
            139 | 140 => device.pci_ids[number as usize - 139],
            // The ratio of single to double precision throughput.
            87 => (device.rates.fp32_lanes / device.rates.double_lanes) as u32,
            // Alignment of textures and surfaces, and of the rows of a texture, in bytes.
            14 | 30 => device.texture_alignment,
            51 => 32,
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
            _ if (1..END).contains(&number) => {
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

#[cfg(test)]
mod tests {
    use super::super::tests::driver;
    use super::*;
    use crate::device::DeviceSpec;

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
        // no clusters, and no function handles shared between devices.
        (90, 0),
        (96, 0),
        (120, 0),
        (129, 0),
        // Mapped memory is device memory of this process: no shareable handles, no compression, and no host
        // memory.
        (103, 0),
        (107, 0),
        (128, 0),
        (141, 0),
        // Stream-ordered allocation uses the one default pool: no pools that are shared between processes or
        // in host memory.
        (119, 0),
        (142, 0),
        (144, 0),
        // The modelled L2 cache has no persisting region.
        (108, 0),
        (109, 0),
        // No GPUDirect, and no buffers or events shared with other devices, processes or APIs.
        (110, 0),
        (114, 0),
        (116, 0),
        (117, 0),
        (118, 0),
        (124, 0),
        (125, 0),
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
            assert_eq!(
                driver.device_attribute(number),
                Ok(expected),
                "attribute {number}"
            );
        }
    }

    #[test]
    fn each_gpu_reports_its_own_limits() {
        // Maximum threads per block, in total and in x; maximum blocks of a grid in x and in z; shared memory
        // per block; ratio of single to double precision; L2 cache; compute capability, major and minor;
        // shared memory per SM; blocks per SM.
        const NUMBERS: [i32; 11] = [1, 2, 5, 7, 8, 87, 38, 75, 76, 81, 106];
        let max = i32::MAX;
        for (name, expected) in [
            (
                "h200",
                [
                    1024, 1024, max, 65535, 49152, 2, 62_914_560, 9, 0, 233_472, 32,
                ],
            ),
            (
                "rtx3090",
                [
                    1024, 1024, max, 65535, 49152, 64, 6_291_456, 8, 6, 102_400, 16,
                ],
            ),
            (
                "gtx970",
                [
                    1024, 1024, max, 65535, 49152, 32, 1_835_008, 5, 2, 98304, 32,
                ],
            ),
            (
                "p2000",
                [
                    1024, 1024, max, 65535, 49152, 32, 1_310_720, 6, 1, 98304, 32,
                ],
            ),
            ("gtx280", [512, 512, 65535, 1, 16384, 8, 0, 1, 3, 16384, 8]),
        ] {
            let driver = Driver::new(DeviceSpec::named(name).unwrap().clone(), None);
            let values = NUMBERS.map(|number| driver.device_attribute(number).unwrap());
            assert_eq!(values, expected, "{name}");
        }
    }

    #[test]
    fn unknown_attributes_are_rejected() {
        let (driver, _) = driver();
        for number in [0, -1, i32::MIN, END, i32::MAX] {
            assert_eq!(
                driver.device_attribute(number),
                Err(CudaError::InvalidValue)
            );
        }
    }
}
