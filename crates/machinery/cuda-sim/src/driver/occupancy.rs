//! Occupancy: how many blocks of a kernel an SM holds at once.

use super::function_attribute::MAX_DYNAMIC_SHARED;
use super::launch::{max_threads, registers_per_warp};
use super::{CudaError, Driver, FunctionId};
use crate::device::DeviceSpec;

/// How many blocks of one kernel an SM holds at once, for any block size.
///
/// The registers of a kernel are counted from its PTX. NVIDIA's assembler may give it more, so that
/// a GPU holds fewer blocks than is said here.
#[derive(Clone, Debug)]
pub struct OccupancyCalculator {
    device: DeviceSpec,
    /// The most threads of a block.
    max_threads: u32,
    registers_per_warp: u32,
    /// Bytes of shared memory that the kernel declares.
    static_shared: u32,
    /// The most bytes of shared memory that a launch may add to these.
    max_dynamic_shared: u32,
}

impl Driver {
    /// The limits of `function` on this device, for the `cuOccupancy…` functions.
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
    /// `cuOccupancyMaxActiveBlocksPerMultiprocessor`: how many blocks of `threads` threads with
    /// `dynamic` bytes of dynamic shared memory one SM holds at once; 0 if not even one fits.
    /// [`CudaError::InvalidValue`] for a number of threads that no block can have.
    pub fn max_active_blocks(&self, threads: i32, dynamic: u64) -> Result<u32, CudaError> {
        let threads = self.checked(threads)?;
        if threads > self.max_threads || dynamic > self.max_dynamic_shared.into() {
            return Ok(0);
        }
        let by_shared = self.shared_per_multiprocessor() / self.shared(dynamic);
        Ok(self.blocks_without_shared(threads).min(by_shared as u32))
    }

    /// `cuOccupancyMaxPotentialBlockSize`: the block size with which most threads are on an SM at
    /// once (the largest such size), and the blocks that fill the device with it:
    /// `(blocks, threads)`. `dynamic` says how many bytes of dynamic shared memory a block of so many
    /// threads needs. Sizes above `limit` are not tried; 0 is no limit. [`CudaError::InvalidValue`]
    /// for a negative limit.
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

    /// `cuOccupancyAvailableDynamicSMemPerBlock`: how many bytes of dynamic shared memory a block can
    /// have at most so that one SM still holds `blocks` blocks of `threads` threads; 0 if it does not
    /// hold so many even without. [`CudaError::InvalidValue`] for no blocks, or a number of threads
    /// that no block can have.
    pub fn available_dynamic_shared(&self, blocks: i32, threads: i32) -> Result<u64, CudaError> {
        let threads = self.checked(threads)?;
        let blocks = u32::try_from(blocks).ok().filter(|&blocks| blocks > 0);
        let blocks = blocks.ok_or(CudaError::InvalidValue)?;
        if threads > self.max_threads || blocks > self.blocks_without_shared(threads) {
            return Ok(0);
        }
        let share = self.shared_per_multiprocessor() / u64::from(blocks);
        let share = share / self.shared_unit() * self.shared_unit();
        let taken = self.device.shared_reserved_per_block + self.static_shared;
        let left = share.saturating_sub(taken.into());
        Ok(left.min(self.max_dynamic_shared.into()))
    }

    /// `threads`, if a block can have so many on this device.
    fn checked(&self, threads: i32) -> Result<u32, CudaError> {
        let threads = u32::try_from(threads).ok();
        let threads =
            threads.filter(|threads| (1..=self.device.threads_per_block).contains(threads));
        threads.ok_or(CudaError::InvalidValue)
    }

    /// The blocks of `threads` threads that one SM holds, if they had no shared memory.
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

    /// The bytes of an SM's shared memory that a block with `dynamic` bytes of dynamic shared memory
    /// takes, and at least 1, for the SM's bytes are divided by them.
    fn shared(&self, dynamic: u64) -> u64 {
        let fixed = u64::from(self.device.shared_reserved_per_block + self.static_shared);
        (fixed + dynamic)
            .next_multiple_of(self.shared_unit())
            .max(1)
    }

    fn shared_unit(&self) -> u64 {
        self.device.shared_unit.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On an H200, a kernel with 32 registers and 4 KB of shared memory.
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
    fn the_scarcest_resource_decides() {
        let kernel = kernel();
        assert_eq!(kernel.max_active_blocks(1024, 0), Ok(2));
        assert_eq!(kernel.max_active_blocks(256, 0), Ok(8));
        // No more than 32 blocks; a part of a warp counts as one.
        assert_eq!(kernel.max_active_blocks(1, 0), Ok(32));
        // 228 KB for blocks of 1 + 4 + 40 KB.
        assert_eq!(kernel.max_active_blocks(32, 40 << 10), Ok(5));
        let hungry = OccupancyCalculator {
            registers_per_warp: 4096,
            ..kernel.clone()
        };
        assert_eq!(hungry.max_active_blocks(256, 0), Ok(2));
        assert_eq!(kernel.max_active_blocks(32, 45 << 10), Ok(0));
        for threads in [0, -1, 1025] {
            assert_eq!(
                kernel.max_active_blocks(threads, 0),
                Err(CudaError::InvalidValue)
            );
        }
    }

    #[test]
    fn the_best_block_is_the_largest_that_fills_the_sm() {
        let kernel = kernel();
        assert_eq!(
            kernel.max_potential_block_size(|_| 0, 0),
            Ok((2 * 132, 1024))
        );
        // 16 blocks of 100 or 21 of 96 threads are fewer threads than 32 blocks of 64.
        assert_eq!(
            kernel.max_potential_block_size(|_| 0, 100),
            Ok((32 * 132, 64))
        );
        // Blocks of more than 64 threads would want more shared memory than they may have.
        let dynamic = |threads| if threads > 64 { 45 << 10 } else { 0 };
        assert_eq!(
            kernel.max_potential_block_size(dynamic, 0),
            Ok((32 * 132, 64))
        );
        assert_eq!(
            kernel.max_potential_block_size(|_| 0, -1),
            Err(CudaError::InvalidValue)
        );
    }

    #[test]
    fn the_shared_memory_left_keeps_the_blocks_resident() {
        let kernel = kernel();
        for blocks in [5, 6, 8] {
            let left = kernel.available_dynamic_shared(blocks, 256).unwrap();
            assert_eq!(kernel.max_active_blocks(256, left), Ok(blocks as u32));
            assert!(kernel.max_active_blocks(256, left + 128).unwrap() < blocks as u32);
        }
        assert_eq!(kernel.available_dynamic_shared(9, 256), Ok(0));
        assert_eq!(
            kernel.available_dynamic_shared(0, 256),
            Err(CudaError::InvalidValue)
        );
    }

    /// On GPUs before compute capability 8 a block without shared memory takes none of it.
    #[test]
    fn a_block_that_takes_no_shared_memory_is_not_kept_out_by_it() {
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
    fn a_gtx_280_holds_8_blocks_of_1024_threads_in_all() {
        let kernel = OccupancyCalculator {
            device: DeviceSpec::gtx280(),
            max_threads: 512,
            registers_per_warp: 320,
            static_shared: 1024,
            max_dynamic_shared: 15 << 10,
        };
        assert_eq!(kernel.max_active_blocks(64, 0), Ok(8));
        assert_eq!(kernel.max_active_blocks(256, 0), Ok(4));
        // 16 bytes of its own and 1 KB, in units of 512 bytes: 10 would fit; with 3 KB more, 3.
        assert_eq!(kernel.max_active_blocks(64, 3 << 10), Ok(3));
        assert_eq!(
            kernel.max_active_blocks(513, 0),
            Err(CudaError::InvalidValue)
        );
    }
}
