//! NVIDIA Quadro P2000 (5 GB of GDDR5): the GPU of the note on the read-only cache. Compute capability 6.1,
//! chip GP106.
//!
//! Sources, by the names used below:
//!
//! - *data sheet*: "NVIDIA Quadro P2000", 2017;
//! - *deviceQuery*: the output of NVIDIA's sample of that name for this GPU (driver 430);
//! - *guide*: the CUDA C Programming Guide, "Compute Capabilities", 6.x;
//! - *tuning guide*: NVIDIA's "Tuning CUDA Applications for Pascal";
//! - *P4*: Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking"
//!   (arXiv:1804.06826), table 3.1, for a Tesla P4, whose chip has the same SMs;
//! - *P6000*: the sample results of github.com/caps-tum/mt4g for a Quadro P6000, the largest GPU of
//!   this compute capability (30 SMs, 3 MB of L2 cache);
//! - *GTX 1080*: NVIDIA's bandwidthTest on a GTX 1080 (PCIe 3.0 x16): 12.0 GB/s to the device,
//!   12.8 GB/s from it, and 231 GB/s, 72 % of the peak, within it;
//! - *the note*: its nvprof listing, used for copies only;
//! - *as on the H200*: no published figures; see [`h200`].

use super::{DeviceSpec, IMAGE_LIMITS_SINCE_6_0, Latencies, Rates, gtx970, h200};

impl DeviceSpec {
    /// Returns the specification of the NVIDIA Quadro P2000.
    pub const fn p2000() -> Self {
        Self {
            name: "NVIDIA Quadro P2000 (simulated)",
            models: "NVIDIA Quadro P2000",
            compute_capability: (6, 1),
            max_target_sm: 61,
            // deviceQuery.
            multiprocessors: 8,
            clock_khz: 1_480_500,
            memory_clock_khz: 3_504_000,
            memory_bus_bits: 160,
            memory_bytes: 5_295_898_624,
            // Data sheet.
            memory_bandwidth: 140e9,
            // GTX 1080; half of the bandwidth, because each byte is read and written.
            device_copy: h200::device_copy(0.72 * 140e9 / 2.0),
            // GTX 1080.
            page_locked_copy: h200::page_locked_copy(12.0e9),
            // The note: 67,108,896 bytes to the device in 7.165 ms.
            pageable_copy: h200::pageable_copy(9.4e9),
            // deviceQuery.
            l2_bytes: 1280 << 10,
            persisting_l2_bytes: 0,
            access_window_bytes: 0,
            // The PCI ID Repository: GP106GL, without a subsystem ID.
            pci_ids: [0x1c30_10de, 0],
            image_limits: IMAGE_LIMITS_SINCE_6_0,
            rates: RATES,
            // The guide lists the same limits for 5.2 and 6.1, as NVIDIA's occupancy calculator does.
            ..Self::gtx970()
        }
    }
}

const RATES: Rates = Rates {
    // Guide, 6.1: 48 KB. P6000: two caches of 24 KB.
    l1_bytes: 48 << 10,
    // Tuning guide, "Unified L1/Texture Cache": GP100 caches global loads in L1. GP104, and therefore the
    // smaller chips, cache them in L2 only, unless they load read-only data or the program is compiled with
    // `-dlcm=ca`.
    l1_caches_global: false,
    // The H200's penalty, scaled by the ratio of the P6000's miss penalty to an H100's: 46.1 to 55.3 cycles.
    constant_l15_cycles: h200::CONSTANT_L15_CYCLES * 46.1 / 55.3,
    constant_l2_cycles: h200::CONSTANT_L2_CYCLES * 46.1 / 55.3,
    // P6000: 790 GiB/s at 1.645 GHz, which is 515 bytes per cycle, from 24 slices of 128 KB. This GPU has 10
    // slices.
    l2_bytes_per_cycle: 515.0 / 24.0 * 10.0,
    // P6000: 365 GiB/s read, of a peak of 433 GB/s: 91 %.
    achieved_memory_bandwidth: 0.91 * 140e9,
    latency: Latencies {
        // P4.
        l2: 216.0,
        // P6000.
        memory: 415.0,
        ..gtx970::RATES.latency
    },
    // The SM is that of a GTX 970: tuning guide; guide, "Throughput of Native Arithmetic Instructions", 6.1, and
    // "Shared Memory". P4 and P6000: constant caches of 2 KB and 32 KB.
    ..gtx970::RATES
};
