//! Figures that are known only for the H200, by measurement, and are assumed to hold for the other GPUs too,
//! because nothing is published about those.

use super::CopyRate;

/// Copies within host memory, which depend on the host and not on the GPU: those of the host with the
/// measured H200 (`vector-add`, `docs/results/h200.md`).
pub(super) const HOST_COPY: CopyRate = CopyRate {
    latency: 1.9e-6,
    bandwidth: 19.8e9,
};

/// Latency in seconds of a copy within the device, mostly due to the driver and the host. Derived from copies
/// of 4 KB (`vector-add`, `docs/results/h200.md`).
pub(super) const DEVICE_COPY_LATENCY: f64 = 2.8e-6;
/// Latency in seconds of a copy between the device and page-locked host memory, measured the same way.
pub(super) const PAGE_LOCKED_COPY_LATENCY: f64 = 2.2e-6;
/// Latency in seconds of a copy between the device and pageable host memory, measured the same way.
pub(super) const PAGEABLE_COPY_LATENCY: f64 = 6.6e-6;

/// Cycles per request that hits the constant cache. `scripts/rates.cu`, "constant memory", 1 address within
/// 1024 bytes.
pub(super) const CONSTANT_HIT_CYCLES: f64 = 2.0;
/// Cycles per request that hits the second-level constant cache. `scripts/rates.cu`, "constant memory", 32
/// addresses within 16384 bytes: 686.7 cycles for 32 requests, of which one eighth hits the first-level
/// cache.
pub(super) const CONSTANT_L15_CYCLES: f64 = 16.0;
/// Cycles per request that misses both constant caches. One access to a pseudo-random address within 64 KB
/// takes 33 cycles (`add-constant`, `docs/results/h200.md`); half of these accesses hit the second-level
/// cache.
pub(super) const CONSTANT_L2_CYCLES: f64 = 33.0;
/// Size of the second-level constant cache in bytes. Loads of 32 addresses take longer as their range grows
/// from 4 to 32 KB, and no longer than that in larger ranges.
pub(super) const CONSTANT_L15_BYTES: u32 = 32 << 10;
/// Cycles of a block in addition to those of its instructions. `scripts/rates.cu`, "one float a thread
/// copied": a block of one warp, with few others on the SM, takes 1120 cycles, of which its load takes 761
/// and the instructions around it about 90.
pub(super) const BLOCK_OVERHEAD_CYCLES: f64 = 270.0;
/// Cycles between the starts of two blocks. `scripts/rates.cu`, "blocks of 256 threads".
pub(super) const BLOCK_INTERVAL_CYCLES: f64 = 1.193;
/// Latency in cycles of a tensor-core instruction. `scripts/rates.cu`, "latency", the largest `mma` of tf32
/// and fp16.
pub(super) const TENSOR_LATENCY: f64 = 27.2;
/// Latency in cycles of a hit in the constant cache. `scripts/rates.cu`, "constant, hit".
pub(super) const CONSTANT_LATENCY: f64 = 34.1;
/// Cycles of a barrier per block and per warp. `scripts/rates.cu`, "barrier": 14.5 cycles for one warp and
/// 76.7 for 32, interpolated linearly.
pub(super) const BARRIER: [f64; 2] = [12.6, 2.0];
