//! What a GPU is made of: the numbers that limits, attributes and the time model are read from.
//! One file a GPU, each figure with its source.

mod gtx280;
mod gtx970;
mod h200;
mod images;
mod p2000;
pub mod rates;
mod rtx3090;

pub use rates::{Latencies, Rates};

/// The GPUs that can be modelled: those of the notes, after the default. The first word is the name
/// they are chosen by.
pub static PRESETS: [(&str, DeviceSpec); 5] = [
    ("h200", DeviceSpec::h200()),
    ("rtx3090", DeviceSpec::rtx3090()),
    ("gtx970", DeviceSpec::gtx970()),
    ("p2000", DeviceSpec::p2000()),
    ("gtx280", DeviceSpec::gtx280()),
];

/// One GPU model. Sizes are in bytes, clocks in kHz, bandwidths in bytes a second.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceSpec {
    /// What `cuDeviceGetName` answers.
    pub name: &'static str,
    /// The GPU that is modelled, for the label of a modelled time.
    pub models: &'static str,
    /// Compute capability, major and minor.
    pub compute_capability: (u32, u32),
    /// The newest PTX target it takes, as in `sm_90`.
    pub accepts: u32,
    /// Streaming multiprocessors (SMs).
    pub multiprocessors: u32,
    /// Boost clock of the SMs.
    pub clock_khz: u32,
    /// Clock of the memory as drivers report it; data moves twice a cycle.
    pub memory_clock_khz: u32,
    /// Width of the memory bus in bits.
    pub memory_bus_bits: u32,
    /// Device memory. The simulator hands out less when the host has less: see
    /// [`crate::driver::Driver::new`].
    pub memory_bytes: u64,
    /// Peak bandwidth of device memory.
    pub memory_bandwidth: f64,
    /// Whether memory corrects errors.
    pub error_correction: bool,
    /// Copies within the device's memory, where every byte is read and written.
    pub device_copy: CopyRate,
    /// Copies over the link to the host, from or to page-locked memory; each way.
    pub page_locked_copy: CopyRate,
    /// The same with pageable memory, which goes through a page-locked buffer of the driver's.
    pub pageable_copy: CopyRate,
    /// Copies within the host's memory.
    pub host_copy: CopyRate,
    /// Level-2 cache; 0 where there is none.
    pub l2_bytes: u32,
    /// The constant bank of one module.
    pub constant_bytes: u32,
    /// The most bytes of kernel parameters.
    pub max_parameter_bytes: u32,
    /// Shared memory a block may have without asking.
    pub shared_per_block: u32,
    /// Shared memory a block may have after
    /// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES` was raised.
    pub shared_per_block_optin: u32,
    /// Shared memory of one SM, over all its blocks.
    pub shared_per_multiprocessor: u32,
    /// Shared memory the system keeps for itself in each resident block.
    pub shared_reserved_per_block: u32,
    /// Shared memory is dealt out to blocks in these units.
    pub shared_unit: u32,
    /// 32-bit registers of one SM, and the most one block may have.
    pub registers_per_multiprocessor: u32,
    /// Threads in a warp.
    pub warp_size: u32,
    /// The most threads in a block.
    pub threads_per_block: u32,
    /// The largest block in x, y and z.
    pub block_dimensions: [u32; 3],
    /// The largest grid in x, y and z.
    pub grid_dimensions: [u32; 3],
    /// The most threads resident on one SM.
    pub threads_per_multiprocessor: u32,
    /// The most blocks resident on one SM.
    pub blocks_per_multiprocessor: u32,
    /// PCI device and subsystem: the numbers of the model, not of a slot. 0 where makers of boards
    /// have a subsystem each.
    pub pci_ids: [u32; 2],
    /// Alignment of textures and surfaces.
    pub texture_alignment: u32,
    /// The largest textures and surfaces, each by the number of its device attribute. Limits
    /// that programs list; the simulator has neither textures nor surfaces. Those of GPUs before
    /// compute capability 6 are left out.
    pub image_limits: &'static [(i32, u32)],
    /// How fast it is.
    pub rates: Rates,
}

/// What a kind of copy takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CopyRate {
    /// Seconds before its first byte.
    pub latency: f64,
    /// Bytes a second from then on.
    pub bandwidth: f64,
}

impl CopyRate {
    /// Seconds for `bytes` bytes.
    pub fn seconds(self, bytes: u64) -> f64 {
        self.latency + bytes as f64 / self.bandwidth
    }
}

/// Copies within the host's memory are the host's matter: those of the host that the H200 was
/// measured in (`vector-add`, `docs/results/h200.md`).
const HOST_COPY: CopyRate = CopyRate {
    latency: 1.9e-6,
    bandwidth: 19.8e9,
};

/// Seconds before the first byte of a copy.
struct CopyLatencies {
    device: f64,
    page_locked: f64,
    pageable: f64,
}

/// Those of the H200, for the GPUs that nobody has published them for: most of it is the driver and
/// the host.
const COPY_LATENCIES: CopyLatencies = {
    let measured = DeviceSpec::h200();
    CopyLatencies {
        device: measured.device_copy.latency,
        page_locked: measured.page_locked_copy.latency,
        pageable: measured.pageable_copy.latency,
    }
};

impl DeviceSpec {
    /// The preset that `name` names: by its short name or in full, in any case, with or without
    /// spaces, dashes and the words NVIDIA, GeForce and Quadro.
    pub fn named(name: &str) -> Option<&'static DeviceSpec> {
        let wanted = plain(name);
        let mut presets = PRESETS.iter();
        let found = presets.find(|(short, _)| *short == wanted);
        found.map(|(_, device)| device)
    }

    /// The most warps resident on one SM.
    pub const fn warps_per_multiprocessor(&self) -> u32 {
        self.threads_per_multiprocessor / self.warp_size
    }
}

/// A GPU's name, short: `NVIDIA GeForce RTX 3090` is `rtx3090`.
fn plain(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split([' ', '-', '_']);
    words
        .filter(|word| !["nvidia", "geforce", "quadro"].contains(word))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_has_its_names() {
        for (short, device) in &PRESETS {
            let dashed = device.models.replace(' ', "-");
            let upper = short.to_uppercase();
            for name in [
                short,
                device.models,
                device.name.trim_end_matches(" (simulated)"),
                &dashed,
                &upper,
            ] {
                assert_eq!(DeviceSpec::named(name), Some(device), "{name}");
            }
            assert_eq!(device.name, format!("{} (simulated)", device.models));
        }
        for (name, models) in [
            ("RTX 3090", "NVIDIA GeForce RTX 3090"),
            ("geforce_gtx-970", "NVIDIA GeForce GTX 970"),
            ("quadro p2000", "NVIDIA Quadro P2000"),
            ("nvidia H200", "NVIDIA H200"),
        ] {
            assert_eq!(
                DeviceSpec::named(name).map(|device| device.models),
                Some(models)
            );
        }
        for none in ["", "nvidia", "gtx 290", "h200 nvl", "rtx3090ti", "h2.00"] {
            assert_eq!(DeviceSpec::named(none), None, "{none}");
        }
    }

    #[test]
    fn no_memory_is_faster_than_its_clock_and_bus() {
        for (name, device) in &PRESETS {
            let bytes = f64::from(device.memory_bus_bits) / 8.0;
            let peak = 2e3 * f64::from(device.memory_clock_khz) * bytes;
            assert!(device.memory_bandwidth < 1.001 * peak, "{name}");
            let reached = device.rates.memory_bandwidth_reached;
            assert!(
                (0.5..1.0).contains(&(reached / device.memory_bandwidth)),
                "{name}"
            );
            // A copy reads and writes.
            assert!(2.0 * device.device_copy.bandwidth < 1.1 * reached, "{name}");
            assert!(
                device.pageable_copy.bandwidth < device.page_locked_copy.bandwidth,
                "{name}"
            );
        }
    }

    #[test]
    fn limits_agree_with_each_other() {
        for (name, device) in &PRESETS {
            let most = device.block_dimensions.into_iter().max();
            assert_eq!(most, Some(device.threads_per_block), "{name}");
            assert!(
                device.threads_per_block <= device.threads_per_multiprocessor,
                "{name}"
            );
            assert!(
                device.shared_per_block <= device.shared_per_block_optin,
                "{name}"
            );
            let whole_block = device.shared_per_block_optin + device.shared_reserved_per_block;
            // On a GTX 280 parameters are a part of a block's shared memory.
            if *name != "gtx280" {
                assert!(whole_block <= device.shared_per_multiprocessor, "{name}");
            }
            assert_eq!(
                device.shared_per_multiprocessor % device.shared_unit,
                0,
                "{name}"
            );
            let (major, minor) = device.compute_capability;
            assert_eq!(device.accepts, (10 * major + minor).max(52), "{name}");
        }
    }

    /// The model divides by them, and takes the larger of what they give.
    #[test]
    fn rates_are_above_zero_and_latencies_grow_with_the_way() {
        for (name, DeviceSpec { rates, .. }) in &PRESETS {
            for rate in [
                rates.issued_per_cycle,
                rates.fp32_lanes,
                rates.integer_lanes,
                rates.special_lanes,
                rates.double_lanes,
                rates.load_store_wavefronts,
                rates.constant_hit_cycles,
                rates.l2_bytes_per_cycle,
                rates.launch_seconds,
                rates.block_cycles,
            ] {
                assert!(rate.is_finite() && rate > 0.0, "{name}: {rate}");
            }
            assert!(
                rates.constant_hit_cycles < rates.constant_miss_cycles
                    && rates.constant_miss_cycles < rates.constant_far_cycles,
                "{name}"
            );
            assert!(!rates.l1_caches_global || rates.read_only_cache, "{name}");
            assert_eq!(rates.l1_bytes == 0, !rates.read_only_cache, "{name}");
            let Latencies { l1, l2, memory, .. } = rates.latency;
            assert!(l1 <= l2 && l2 <= memory, "{name}");
        }
    }
}
