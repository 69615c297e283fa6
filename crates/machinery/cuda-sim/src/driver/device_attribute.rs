//! Device attributes, by their `CUdevice_attribute` numbers.
//!
//! Sizes, limits and clocks are those of the GPU that is modelled. An attribute that says whether
//! something can be done is about the simulator.

use super::memory::MAX_PITCH;
use super::{CudaError, Driver};

/// One past the last attribute of the CUDA 13.0 API.
const END: i32 = 145;

impl Driver {
    /// `cuDeviceGetAttribute`: attribute `number` of the device; 0 for what the simulator does not do.
    /// [`CudaError::InvalidValue`] for a number that no attribute has.
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
            // Registers of a block and of an SM.
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
            // How many times as fast single precision is as double precision.
            87 => (device.rates.fp32_lanes / device.rates.double_lanes) as u32,
            // Alignment of textures and surfaces, and of the rows of a texture, in bytes.
            14 | 30 => device.texture_alignment,
            51 => 32,
            // Memory with error correction.
            32 => device.error_correction.into(),
            // Present: copies beside kernels, mapped host memory, concurrent kernels, unified
            // addresses, stream priorities, L1 for global and local memory, managed memory and
            // its concurrent use, host pointers of registered memory, cooperative launches,
            // registering, memory that is mapped, allocation in stream order; four texels at once.
            15 | 19 | 31 | 41 | 44 | 78..=80 | 83 | 89 | 91 | 95 | 99 | 102 | 115 => 1,
            // The NUMA node of the device's memory: none.
            131 => return Ok(-1),
            // `CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT`: fences order all memory alike.
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

    /// What driver 580.159.04 answers for an NVIDIA H200: attributes 1 to 144.
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

    /// Attributes that the simulator answers otherwise than an H200, and its answer.
    const OTHERWISE: &[(i32, i32)] = &[
        // The PCI slot of the H200 that was asked.
        (34, 0),
        // No sparse or deferred arrays.
        (112, 0),
        (121, 0),
        // A kernel runs to its end, alone: no preemption, no cooperative launch on several devices, no
        // clusters, no function handles shared between devices.
        (90, 0),
        (96, 0),
        (120, 0),
        (129, 0),
        // Memory that is mapped is the device's, for this process: no handles to share, no compression, and no
        // host memory managed in that way.
        (103, 0),
        (107, 0),
        (128, 0),
        (141, 0),
        // Memory can be allocated in stream order, from the one default pool: no pools to share
        // between processes or in host memory.
        (119, 0),
        (142, 0),
        (144, 0),
        // The model's level-2 cache cannot be reserved.
        (108, 0),
        (109, 0),
        // No GPUDirect, no buffers or events shared with other devices, processes or APIs.
        (110, 0),
        (114, 0),
        (116, 0),
        (117, 0),
        (118, 0),
        (124, 0),
        (125, 0),
        // Host memory registers for reading and writing alone.
        (113, 0),
        // Streams cannot wait for a value in memory (`cuStreamWaitValue32`).
        (122, 0),
        (123, 0),
        // One domain of memory order, and no tensor maps.
        (126, 1),
        (127, 0),
    ];

    #[test]
    fn attributes_are_those_of_an_h200_but_for_what_is_not_simulated() {
        let (driver, _) = driver();
        for (number, recorded) in (1..).zip(H200) {
            let otherwise = OTHERWISE.iter().find(|other| other.0 == number);
            let expected = match otherwise {
                Some(&(_, answer)) => {
                    assert_ne!(answer, recorded, "attribute {number} is no exception");
                    answer
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
    fn every_gpu_answers_with_its_own_limits() {
        // The most threads of a block, in all and in x; the most blocks of a grid in x and in z;
        // shared memory of a block; single to double precision; L2 cache; compute capability,
        // major and minor; shared memory of an SM; blocks of an SM.
        const NUMBERS: [i32; 11] = [1, 2, 5, 7, 8, 87, 38, 75, 76, 81, 106];
        let most = i32::MAX;
        for (name, expected) in [
            (
                "h200",
                [
                    1024, 1024, most, 65535, 49152, 2, 62_914_560, 9, 0, 233_472, 32,
                ],
            ),
            (
                "rtx3090",
                [
                    1024, 1024, most, 65535, 49152, 64, 6_291_456, 8, 6, 102_400, 16,
                ],
            ),
            (
                "gtx970",
                [
                    1024, 1024, most, 65535, 49152, 32, 1_835_008, 5, 2, 98304, 32,
                ],
            ),
            (
                "p2000",
                [
                    1024, 1024, most, 65535, 49152, 32, 1_310_720, 6, 1, 98304, 32,
                ],
            ),
            ("gtx280", [512, 512, 65535, 1, 16384, 8, 0, 1, 3, 16384, 8]),
        ] {
            let driver = Driver::new(DeviceSpec::named(name).unwrap().clone(), None);
            let answers = NUMBERS.map(|number| driver.device_attribute(number).unwrap());
            assert_eq!(answers, expected, "{name}");
        }
    }

    #[test]
    fn other_numbers_are_refused() {
        let (driver, _) = driver();
        for number in [0, -1, i32::MIN, END, i32::MAX] {
            assert_eq!(
                driver.device_attribute(number),
                Err(CudaError::InvalidValue)
            );
        }
    }
}
