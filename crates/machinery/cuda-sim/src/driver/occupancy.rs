//! Occupancy: how many blocks of a kernel an SM holds at once.

use super::launch::{max_threads, registers_per_warp};
use super::{CudaError, Driver, FunctionId};
use crate::device::DeviceSpec;

/// What bounds the residency of one kernel's blocks on one SM.
///
/// Registers are counted from the PTX, so that a kernel the driver's assembler would give more may
/// read higher here than on a GPU.
#[derive(Clone, Debug)]
pub struct Occupancy {
    device: DeviceSpec,
    max_threads: u32,
    registers_per_warp: u32,
    static_shared: u32,
    max_dynamic_shared: u32,
}

impl Driver {
    /// The occupancy of `function`.
    pub fn occupancy(&self, function: FunctionId) -> Result<Occupancy, CudaError> {
        let dynamic = self.function_attribute(function, 8)? as u32;
        let (function, module) = self.kernel(function)?;
        let kernel = &module.program.listing.kernels[function.kernel];
        Ok(Occupancy {
            device: self.device.clone(),
            max_threads: max_threads(&self.device, kernel),
            registers_per_warp: registers_per_warp(&self.device, kernel),
            static_shared: kernel.shared_bytes,
            max_dynamic_shared: dynamic,
        })
    }
}

impl Occupancy {
    /// Blocks of `threads` threads with `dynamic` bytes of dynamic shared memory that one SM holds.
    /// 0 if not even one fits.
    pub fn blocks(&self, threads: i32, dynamic: u64) -> Result<u32, CudaError> {
        let threads = self.checked(threads)?;
        if threads > self.max_threads || dynamic > self.max_dynamic_shared.into() {
            return Ok(0);
        }
        let by_shared = self.shared_per_multiprocessor() / self.shared(dynamic);
        Ok(self.blocks_without_shared(threads).min(by_shared as u32))
    }

    /// The block size that fills an SM best (the largest of the best), and the blocks that fill
    /// the device with it: `(blocks, threads)`. `dynamic` says how much dynamic shared memory a
    /// block of a size needs. Sizes above `limit` are not tried; 0 is no limit.
    pub fn best(&self, dynamic: impl Fn(i32) -> u64, limit: i32) -> Result<(u32, u32), CudaError> {
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
            let blocks = self.blocks(threads as i32, dynamic(threads as i32))?;
            if blocks * threads > best.0 * best.1 {
                best = (blocks, threads);
            }
        }
        Ok((best.0 * self.device.multiprocessors, best.1))
    }

    /// Bytes of dynamic shared memory a block can have with `blocks` blocks of `threads` threads
    /// still on one SM; 0 if they do not all fit whatever it has.
    pub fn dynamic_shared(&self, blocks: i32, threads: i32) -> Result<u64, CudaError> {
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

    fn checked(&self, threads: i32) -> Result<u32, CudaError> {
        let threads = u32::try_from(threads).ok();
        let threads =
            threads.filter(|threads| (1..=self.device.threads_per_block).contains(threads));
        threads.ok_or(CudaError::InvalidValue)
    }

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

    /// What a block takes of the SM's shared memory.
    fn shared(&self, dynamic: u64) -> u64 {
        let fixed = u64::from(self.device.shared_reserved_per_block + self.static_shared);
        // No block takes none: by shared memory alone any number would fit.
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

    /// A kernel with 32 registers and 4 KB of shared memory.
    fn kernel() -> Occupancy {
        Occupancy {
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
        assert_eq!(kernel.blocks(1024, 0), Ok(2));
        assert_eq!(kernel.blocks(256, 0), Ok(8));
        // No more than 32 blocks; a part of a warp counts as one.
        assert_eq!(kernel.blocks(1, 0), Ok(32));
        // 228 KB for blocks of 1 + 4 + 40 KB.
        assert_eq!(kernel.blocks(32, 40 << 10), Ok(5));
        let hungry = Occupancy {
            registers_per_warp: 4096,
            ..kernel.clone()
        };
        assert_eq!(hungry.blocks(256, 0), Ok(2));
        assert_eq!(kernel.blocks(32, 45 << 10), Ok(0));
        for threads in [0, -1, 1025] {
            assert_eq!(kernel.blocks(threads, 0), Err(CudaError::InvalidValue));
        }
    }

    #[test]
    fn the_best_block_is_the_largest_that_fills_the_sm() {
        let kernel = kernel();
        assert_eq!(kernel.best(|_| 0, 0), Ok((2 * 132, 1024)));
        // 16 blocks of 100 or 21 of 96 threads are fewer threads than 32 blocks of 64.
        assert_eq!(kernel.best(|_| 0, 100), Ok((32 * 132, 64)));
        // Blocks of more than 64 threads would want more shared memory than they may have.
        let dynamic = |threads| if threads > 64 { 45 << 10 } else { 0 };
        assert_eq!(kernel.best(dynamic, 0), Ok((32 * 132, 64)));
        assert_eq!(kernel.best(|_| 0, -1), Err(CudaError::InvalidValue));
    }

    #[test]
    fn the_shared_memory_left_keeps_the_blocks_resident() {
        let kernel = kernel();
        for blocks in [5, 6, 8] {
            let left = kernel.dynamic_shared(blocks, 256).unwrap();
            assert_eq!(kernel.blocks(256, left), Ok(blocks as u32));
            assert!(kernel.blocks(256, left + 128).unwrap() < blocks as u32);
        }
        assert_eq!(kernel.dynamic_shared(9, 256), Ok(0));
        assert_eq!(kernel.dynamic_shared(0, 256), Err(CudaError::InvalidValue));
    }

    /// On GPUs before compute capability 8 a block without shared memory takes none of it.
    #[test]
    fn a_block_that_takes_no_shared_memory_is_not_kept_out_by_it() {
        let kernel = Occupancy {
            device: DeviceSpec::gtx970(),
            static_shared: 0,
            ..kernel()
        };
        assert_eq!(kernel.blocks(64, 0), Ok(32));
        // 96 KB in units of 256 bytes.
        assert_eq!(kernel.blocks(64, (8 << 10) + 1), Ok(11));
    }

    #[test]
    fn a_gtx_280_holds_8_blocks_of_1024_threads_in_all() {
        let kernel = Occupancy {
            device: DeviceSpec::gtx280(),
            max_threads: 512,
            registers_per_warp: 320,
            static_shared: 1024,
            max_dynamic_shared: 15 << 10,
        };
        assert_eq!(kernel.blocks(64, 0), Ok(8));
        assert_eq!(kernel.blocks(256, 0), Ok(4));
        // 16 bytes of its own and 1 KB, in units of 512 bytes: 10 would fit; with 3 KB more, 3.
        assert_eq!(kernel.blocks(64, 3 << 10), Ok(3));
        assert_eq!(kernel.blocks(513, 0), Err(CudaError::InvalidValue));
    }
}
