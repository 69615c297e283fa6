//! Tests of the presets: names, and consistency of the figures.

use super::*;

#[test]
fn presets_are_found_by_all_their_names() {
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
fn memory_bandwidth_is_within_the_bus_peak() {
    for (name, device) in &PRESETS {
        let bytes = f64::from(device.memory_bus_bits) / 8.0;
        let peak = 2e3 * f64::from(device.memory_clock_khz) * bytes;
        assert!(device.memory_bandwidth < 1.001 * peak, "{name}");
        let reached = device.rates.achieved_memory_bandwidth;
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
fn limits_are_consistent() {
    for (name, device) in &PRESETS {
        let max_dimension = device.block_dimensions.into_iter().max();
        assert_eq!(max_dimension, Some(device.threads_per_block), "{name}");
        assert!(
            device.threads_per_block <= device.threads_per_multiprocessor,
            "{name}"
        );
        assert!(
            device.shared_per_block <= device.shared_per_block_optin,
            "{name}"
        );
        let whole_block = device.shared_per_block_optin + device.shared_reserved_per_block;
        // On a GTX 280 kernel parameters are part of a block's shared memory.
        if *name != "gtx280" {
            assert!(whole_block <= device.shared_per_multiprocessor, "{name}");
        }
        assert_eq!(
            device.shared_per_multiprocessor % device.shared_allocation_unit,
            0,
            "{name}"
        );
        let (major, minor) = device.compute_capability;
        assert_eq!(device.max_target_sm, (10 * major + minor).max(52), "{name}");
    }
}

/// The time model divides by the rates, and assumes that latencies grow with the distance of the memory.
#[test]
fn rates_are_positive_and_latencies_grow_with_distance() {
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
            rates.block_interval_cycles,
        ] {
            assert!(rate.is_finite() && rate > 0.0, "{name}: {rate}");
        }
        assert!(
            rates.constant_hit_cycles < rates.constant_l15_cycles
                && rates.constant_l15_cycles < rates.constant_l2_cycles,
            "{name}"
        );
        assert!(!rates.l1_caches_global || rates.read_only_cache, "{name}");
        assert_eq!(rates.l1_bytes == 0, !rates.read_only_cache, "{name}");
        let Latencies { l1, l2, memory, .. } = rates.latency;
        assert!(l1 <= l2 && l2 <= memory, "{name}");
    }
}
