//! What was measured on an H200 alone and is taken to be the same for the other GPUs: nobody has
//! published it for them.

use super::CopyRate;

/// Copies within the host's memory depend on the host, not on the GPU. These are of the host that
/// the H200 was measured in (`vector-add`, `docs/results/h200.md`).
pub(super) const HOST_COPY: CopyRate = CopyRate {
    latency: 1.9e-6,
    bandwidth: 19.8e9,
};

/// Seconds before the first byte of a copy within the device. Most of it is the driver and the host:
/// read off copies of 4 KB (`vector-add`, `docs/results/h200.md`).
pub(super) const DEVICE_COPY_LATENCY: f64 = 2.8e-6;
/// The same for a copy between the device and page-locked memory of the host.
pub(super) const PAGE_LOCKED_COPY_LATENCY: f64 = 2.2e-6;
/// The same for a copy between the device and pageable memory of the host.
pub(super) const PAGEABLE_COPY_LATENCY: f64 = 6.6e-6;

/// A request that the constant cache holds. `scripts/rates.cu`, "constant memory", 1 address within
/// 1024 bytes.
pub(super) const CONSTANT_HIT_CYCLES: f64 = 2.0;
/// A request that the cache behind the constant cache holds. `scripts/rates.cu`, "constant memory",
/// 32 addresses within 16384 bytes: 686.7 cycles for 32 requests, of which the L1 cache holds an
/// eighth.
pub(super) const CONSTANT_MISS_CYCLES: f64 = 16.0;
/// A request that neither constant cache holds. One access to a pseudo-random address within 64 KB
/// takes 33 cycles (`add-constant`, `docs/results/h200.md`); the cache behind the first holds half of
/// them.
pub(super) const CONSTANT_FAR_CYCLES: f64 = 33.0;
/// The size of the cache behind the constant cache. 32 addresses take longer and longer as the range
/// that they lie in grows from 4 to 32 KB, and no longer than that in larger ranges.
pub(super) const CONSTANT_BEHIND_BYTES: u32 = 32 << 10;
/// Cycles of a block besides those of its instructions. `scripts/rates.cu`, "one float a thread
/// copied": a block of one warp, with few others on the multiprocessor, is there for 1120 cycles. Its
/// load takes 761 of them, and the instructions around the load some 90.
pub(super) const BLOCK_START_CYCLES: f64 = 270.0;
/// Cycles from one block to the next. `scripts/rates.cu`, "blocks of 256 threads".
pub(super) const BLOCK_CYCLES: f64 = 1.193;
/// Cycles to the result of a product on tensor cores. `scripts/rates.cu`, "latency", the largest mma
/// of tf32 and fp16.
pub(super) const TENSOR_LATENCY: f64 = 27.2;
/// Cycles to a value that the constant cache holds. `scripts/rates.cu`, "constant, hit".
pub(super) const CONSTANT_LATENCY: f64 = 34.1;
/// Cycles of a barrier for the block, and for each warp. `scripts/rates.cu`, "barrier": 14.5 cycles for one warp, 76.7 for 32, and a straight line
/// between.
pub(super) const BARRIER: [f64; 2] = [12.6, 2.0];
