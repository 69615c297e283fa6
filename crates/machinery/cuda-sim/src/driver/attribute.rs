//! Device attributes, by their `CUdevice_attribute` numbers.

use super::memory::MAX_PITCH;
use super::{CudaError, Driver};

/// One past the last attribute of the CUDA 11.5 API this simulates.
const END: i32 = 120;

impl Driver {
    /// Attribute `number` of the device. Features that are not simulated, textures and surfaces
    /// among them, read as absent: 0.
    pub fn attribute(&self, number: i32) -> Result<i32, CudaError> {
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
            // Copy engines: one a direction, and one within the device.
            40 => 3,
            75 => device.compute_capability.0,
            76 => device.compute_capability.1,
            81 => device.shared_per_multiprocessor,
            97 => device.shared_per_block_optin,
            106 => device.blocks_per_multiprocessor,
            111 => device.shared_reserved_per_block,
            // Single to double precision throughput.
            87 => 2,
            // Alignment of textures, of surfaces and of the rows of a texture: bytes, whether or
            // not there are any.
            14 | 30 => 512,
            51 => 32,
            // Present: copies beside kernels, mapped host memory, concurrent kernels, unified
            // addresses, stream priorities, L1 for global and local memory, managed memory and
            // its concurrent use, host pointers of registered memory, registering, allocation in
            // stream order.
            15 | 19 | 31 | 41 | 78..=80 | 83 | 89 | 91 | 99 | 115 => 1,
            _ if (1..END).contains(&number) => 0,
            _ => return Err(CudaError::InvalidValue),
        };
        Ok(value as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::driver;
    use super::*;

    #[test]
    fn attributes_are_those_of_an_h200() {
        let (driver, _) = driver();
        let known = [
            (1, 1024),
            (4, 64),
            (5, i32::MAX),
            (8, 49152),
            (9, 65536),
            (10, 32),
            (16, 132),
            (75, 9),
            (76, 0),
            (81, 233_472),
            (97, 232_448),
            (21, 0),
        ];
        for (number, value) in known {
            assert_eq!(driver.attribute(number), Ok(value), "attribute {number}");
        }
        for number in [0, -1, END, i32::MAX] {
            assert_eq!(driver.attribute(number), Err(CudaError::InvalidValue));
        }
    }
}
