//! Hand-made launch records for tests.

use cuda_driver::LaunchRecord;
use cuda_driver::counters::{Counters, LaunchProfile, LineProfile, Tally};
use cuda_driver::model::{Modelled, Occupancy, OccupancyLimit, Resource, ResourceTime, Roofline};

/// Returns the record of a launch of 1000 blocks of 256 threads with these counters and busy times. Its
/// modelled time is one millisecond, bound by the first of `parts`.
pub fn launch(total: Tally, parts: &[(Resource, f64)]) -> LaunchRecord {
    LaunchRecord {
        kernel: "add".to_owned(),
        grid: [1000, 1, 1],
        block: [256, 1, 1],
        counters: Counters::default(),
        time: Modelled {
            gpu: "NVIDIA H200",
            milliseconds: 1.0,
            binding: parts[0].0,
            resources: parts
                .iter()
                .map(|&(resource, milliseconds)| ResourceTime {
                    resource,
                    milliseconds,
                })
                .collect(),
            occupancy: Occupancy {
                blocks: 8,
                warps: 64,
                max_warps: 64,
                limit: OccupancyLimit::Threads,
            },
            roofline: Roofline {
                operations: 2e6,
                bytes: 3e6,
                peak_operations: 6e13,
                peak_bandwidth: 4e12,
            },
        },
        profile: Some(Box::new(LaunchProfile {
            total,
            ..LaunchProfile::default()
        })),
        launched_by: None,
    }
}

/// Returns the record of such a launch with counters per line of `kernels/vector-add.cu`.
pub fn by_lines(lines: &[(u32, Tally)], parts: &[(Resource, f64)]) -> LaunchRecord {
    let mut total = Tally::default();
    lines.iter().for_each(|(_, tally)| total.add(tally));
    let mut launch = launch(total, parts);
    if let Some(profile) = &mut launch.profile {
        profile.lines = lines
            .iter()
            .map(|&(line, tally)| LineProfile {
                file: "kernels/vector-add.cu".to_owned(),
                line,
                tally,
            })
            .collect();
    }
    launch
}
