//! The occupancy API (`cuOccupancy…`): the number of blocks of a kernel that an SM holds at once.

use super::attribute::MAX_DYNAMIC_SHARED;
use super::{CudaError, Driver, FunctionId};
use crate::device::DeviceSpec;
use crate::launch::limits::{max_threads, registers_per_warp};

/// Computes the number of blocks of one kernel that an SM holds at once, for any block size.
///
/// A kernel's register count is estimated from its PTX. NVIDIA's assembler may use more registers, so that a
/// GPU holds fewer blocks than computed here.
#[derive(Clone, Debug)]
pub struct OccupancyCalculator {
    device: DeviceSpec,
    /// The maximum threads per block, to which only suggested block sizes are limited.
    max_threads: u32,
    registers_per_warp: u32,
    /// Bytes of static shared memory.
    static_shared: u32,
    /// The maximum bytes of dynamic shared memory per launch.
    max_dynamic_shared: u32,
}

impl Driver {
    /// Creates the calculator of `function` on this device, for the `cuOccupancy…` functions. Fails with
    /// [`CudaError::InvalidHandle`] for an unknown function.
    pub fn occupancy_calculator(
        &self,
        function: FunctionId,
    ) -> Result<OccupancyCalculator, CudaError> {
        let dynamic = self.function_attribute(function, MAX_DYNAMIC_SHARED)? as u32;
        let (function, module) = self.loaded_function(function)?;
        let kernel = module.kernel(function);
        Ok(OccupancyCalculator {
            device: self.device.clone(),
            max_threads: max_threads(&self.device, kernel),
            registers_per_warp: registers_per_warp(&self.device, kernel),
            static_shared: kernel.shared_bytes,
            max_dynamic_shared: dynamic,
        })
    }
}

impl OccupancyCalculator {
    /// `cuOccupancyMaxActiveBlocksPerMultiprocessor`: returns the number of blocks of `threads` threads with
    /// `dynamic` bytes of dynamic shared memory that one SM holds at once; 0 if not even one fits. The maximum
    /// block size of the kernel's own directives does not count. Fails with [`CudaError::InvalidValue`] if
    /// `threads` is not positive.
    pub fn max_active_blocks(&self, threads: i32, dynamic: u64) -> Result<u32, CudaError> {
        let threads = positive(threads)?;
        if threads > self.device.threads_per_block || dynamic > self.max_dynamic_shared.into() {
            return Ok(0);
        }
        let by_shared = self.shared_per_multiprocessor() / self.shared(dynamic);
        Ok(self.blocks_without_shared(threads).min(by_shared as u32))
    }

    /// `cuOccupancyMaxPotentialBlockSize`: returns `(blocks, threads)`: the largest block size that maximizes
    /// the number of resident threads per SM, and the number of such blocks that fill the device. `dynamic`
    /// returns the bytes of dynamic shared memory for a block of the given number of threads. Block sizes
    /// above `limit` are not considered; 0 means no limit. Fails with [`CudaError::InvalidValue`] for a
    /// negative limit.
    pub fn max_potential_block_size(
        &self,
        dynamic: impl Fn(i32) -> u64,
        limit: i32,
    ) -> Result<(u32, u32), CudaError> {
        let limit = match u32::try_from(limit).map_err(|_| CudaError::InvalidValue)? {
            0 => self.max_threads,
            limit => limit.min(self.max_threads),
        };
        let warp = self.device.warp_size;
        let mut best = (0, 0);
        let sizes = (1..=limit.div_ceil(warp))
            .rev()
            .map(|warps| (warps * warp).min(limit));
        for threads in sizes {
            let blocks = self.max_active_blocks(threads as i32, dynamic(threads as i32))?;
            if blocks * threads > best.0 * best.1 {
                best = (blocks, threads);
            }
        }
        Ok((best.0 * self.device.multiprocessors, best.1))
    }

    /// `cuOccupancyAvailableDynamicSMemPerBlock`: returns the maximum bytes of dynamic shared memory per
    /// block with which one SM holds `blocks` blocks of `threads` threads. As the driver's result, it leaves no
    /// room for the shared memory that the system reserves per block, so that an SM may hold fewer blocks. Fails
    /// with [`CudaError::InvalidValue`] if an SM does not hold that many blocks even without shared memory.
    pub fn available_dynamic_shared(&self, blocks: i32, threads: i32) -> Result<u64, CudaError> {
        let (blocks, threads) = (positive(blocks)?, positive(threads)?);
        if threads > self.device.threads_per_block || blocks > self.blocks_without_shared(threads) {
            return Err(CudaError::InvalidValue);
        }
        let unit = self.shared_allocation_unit();
        let share = self.shared_per_multiprocessor() / u64::from(blocks) / unit * unit;
        let left = share.saturating_sub(self.static_shared.into());
        Ok(left.min(self.max_dynamic_shared.into()))
    }

    /// Returns the number of blocks of `threads` threads that one SM holds, ignoring shared memory.
    fn blocks_without_shared(&self, threads: u32) -> u32 {
        let warps = threads.div_ceil(self.device.warp_size);
        let by_warps = self.device.warps_per_multiprocessor() / warps;
        let resident = self.device.registers_per_multiprocessor / self.registers_per_warp;
        let by_registers = resident / warps;
        self.device
            .blocks_per_multiprocessor
            .min(by_warps)
            .min(by_registers)
    }

    fn shared_per_multiprocessor(&self) -> u64 {
        self.device.shared_per_multiprocessor.into()
    }

    /// Returns the shared memory that a block with `dynamic` bytes of dynamic shared memory occupies. At
    /// least 1, because callers divide by it.
    fn shared(&self, dynamic: u64) -> u64 {
        let fixed = u64::from(self.device.shared_reserved_per_block + self.static_shared);
        (fixed + dynamic)
            .next_multiple_of(self.shared_allocation_unit())
            .max(1)
    }

    fn shared_allocation_unit(&self) -> u64 {
        self.device.shared_allocation_unit.into()
    }
}

/// Returns `number` if it is positive. Fails with [`CudaError::InvalidValue`] otherwise.
fn positive(number: i32) -> Result<u32, CudaError> {
    let number = u32::try_from(number).ok().filter(|&number| number > 0);
    number.ok_or(CudaError::InvalidValue)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::CudaError::*;

    /// Returns the calculator of a kernel with 32 registers and 4 KB of shared memory on an H200.
    fn kernel() -> OccupancyCalculator {
        OccupancyCalculator {
            device: DeviceSpec::h200(),
            max_threads: 1024,
            registers_per_warp: 1024,
            static_shared: 4096,
            max_dynamic_shared: 44 << 10,
        }
    }

    #[test]
    fn occupancy_is_limited_by_the_scarcest_resource() {
        let kernel = kernel();
        assert_eq!(kernel.max_active_blocks(1024, 0), Ok(2));
        assert_eq!(kernel.max_active_blocks(256, 0), Ok(8));
        // At most 32 blocks; a partial warp counts as a whole one.
        assert_eq!(kernel.max_active_blocks(1, 0), Ok(32));
        // 228 KB for blocks of 1 + 4 + 40 KB.
        assert_eq!(kernel.max_active_blocks(32, 40 << 10), Ok(5));
        let register_heavy = OccupancyCalculator {
            registers_per_warp: 4096,
            ..kernel.clone()
        };
        assert_eq!(register_heavy.max_active_blocks(256, 0), Ok(2));
        assert_eq!(kernel.max_active_blocks(32, 45 << 10), Ok(0));
        assert_eq!(kernel.max_active_blocks(1025, 0), Ok(0));
        for threads in [0, -1] {
            assert_eq!(kernel.max_active_blocks(threads, 0), Err(InvalidValue));
        }
        let bounded = OccupancyCalculator {
            max_threads: 64,
            ..kernel
        };
        assert_eq!(bounded.max_active_blocks(128, 0), Ok(16));
    }

    #[test]
    fn max_potential_block_size_is_the_largest_optimum() {
        let kernel = kernel();
        assert_eq!(
            kernel.max_potential_block_size(|_| 0, 0),
            Ok((2 * 132, 1024))
        );
        // 16 blocks of 100 threads or 21 of 96 are fewer threads than 32 blocks of 64.
        assert_eq!(
            kernel.max_potential_block_size(|_| 0, 100),
            Ok((32 * 132, 64))
        );
        // Blocks of more than 64 threads would exceed the maximum dynamic shared memory.
        let dynamic = |threads| if threads > 64 { 45 << 10 } else { 0 };
        assert_eq!(
            kernel.max_potential_block_size(dynamic, 0),
            Ok((32 * 132, 64))
        );
        assert_eq!(
            kernel.max_potential_block_size(|_| 0, -1),
            Err(InvalidValue)
        );
    }

    #[test]
    fn available_shared_memory_is_an_equal_share() {
        let kernel = kernel();
        for (blocks, bytes) in [(4, 44 << 10), (5, 42496), (6, 34816), (8, 25088)] {
            assert_eq!(kernel.available_dynamic_shared(blocks, 256), Ok(bytes));
        }
        for (blocks, threads) in [(9, 256), (33, 32), (0, 256), (1, 1025), (1, 0)] {
            let bytes = kernel.available_dynamic_shared(blocks, threads);
            assert_eq!(bytes, Err(InvalidValue));
        }
    }

    /// Before compute capability 8, a block without shared memory occupies none.
    #[test]
    fn blocks_without_shared_memory_are_not_limited_by_it() {
        let kernel = OccupancyCalculator {
            device: DeviceSpec::gtx970(),
            static_shared: 0,
            ..kernel()
        };
        assert_eq!(kernel.max_active_blocks(64, 0), Ok(32));
        // 96 KB in units of 256 bytes.
        assert_eq!(kernel.max_active_blocks(64, (8 << 10) + 1), Ok(11));
    }

    #[test]
    fn a_gtx_280_holds_8_blocks_or_1024_threads() {
        let kernel = OccupancyCalculator {
            device: DeviceSpec::gtx280(),
            max_threads: 512,
            registers_per_warp: 320,
            static_shared: 1024,
            max_dynamic_shared: 15 << 10,
        };
        assert_eq!(kernel.max_active_blocks(64, 0), Ok(8));
        assert_eq!(kernel.max_active_blocks(256, 0), Ok(4));
        // 16 reserved bytes and 1 KB, in units of 512 bytes, allow 10 blocks; with 3 KB more, 3.
        assert_eq!(kernel.max_active_blocks(64, 3 << 10), Ok(3));
        assert_eq!(kernel.max_active_blocks(513, 0), Ok(0));
    }
}
