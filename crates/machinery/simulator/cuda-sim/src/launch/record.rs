//! The record of a completed launch.

use serde::{Deserialize, Serialize};

use crate::model::Modelled;
use crate::profile::{Counters, LaunchProfile};

/// The record that the simulator emits for a completed launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LaunchRecord {
    /// The kernel's name.
    pub kernel: String,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads per block in x, y and z.
    pub block: [u32; 3],
    /// The counters that are always on.
    pub counters: Counters,
    /// The estimated time on the modelled GPU, and its bottleneck.
    pub time: Modelled,
    /// The profiler's counters; `None` if profiling was off.
    pub profile: Option<LaunchProfile>,
}

impl LaunchRecord {
    /// Adds another launch of the same kernel: counters and times are summed. Properties of a single launch,
    /// such as the grid, remain those of the first.
    pub fn add(&mut self, other: &LaunchRecord) {
        self.counters.add(&other.counters);
        self.time.add(&other.time);
        match (&mut self.profile, &other.profile) {
            (Some(sum), Some(part)) => sum.add(part),
            (sum, _) => *sum = None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Occupancy, OccupancyLimit, Resource, ResourceTime, Roofline};
    use crate::profile::{LineProfile, Tally};

    fn launch(issue: f64, memory: f64, lines: &[u32]) -> LaunchRecord {
        let part = |resource, milliseconds| ResourceTime {
            resource,
            milliseconds,
        };
        let mut resources = vec![part(Resource::Issue, issue), part(Resource::Memory, memory)];
        resources.sort_by(|first, other| other.milliseconds.total_cmp(&first.milliseconds));
        let tally = Tally {
            instructions: 5,
            ..Tally::default()
        };
        let line = |&line: &u32| LineProfile {
            file: "a.cu".to_owned(),
            line,
            tally,
        };
        LaunchRecord {
            kernel: "add".to_owned(),
            grid: [1; 3],
            block: [32, 1, 1],
            counters: Counters {
                barriers: 2,
                ..Counters::default()
            },
            time: Modelled {
                gpu: "NVIDIA H200",
                milliseconds: issue.max(memory),
                binding: resources[0].resource,
                resources,
                occupancy: Occupancy {
                    blocks: 1,
                    warps: 1,
                    max_warps: 64,
                    limit: OccupancyLimit::Grid,
                },
                roofline: Roofline {
                    operations: 10.0,
                    bytes: 20.0,
                    peak_operations: 1.0,
                    peak_bandwidth: 1.0,
                },
            },
            profile: Some(LaunchProfile {
                total: tally,
                lines: lines.iter().map(line).collect(),
                ..LaunchProfile::default()
            }),
        }
    }

    #[test]
    fn counters_and_times_of_launches_add_up() {
        let mut sum = launch(3.0, 1.0, &[7, 9]);
        sum.add(&launch(1.0, 5.0, &[8, 9]));
        assert_eq!(sum.time.milliseconds, 8.0);
        assert_eq!(sum.time.binding, Resource::Memory);
        let resources = sum.time.resources.iter().map(|part| part.milliseconds);
        assert_eq!(resources.collect::<Vec<_>>(), [6.0, 4.0]);
        assert_eq!(sum.time.roofline.operations, 20.0);
        assert_eq!(sum.time.roofline.peak_operations, 1.0);
        assert_eq!(sum.counters.barriers, 4);
        let profile = sum.profile.as_ref().unwrap();
        assert_eq!(profile.total.instructions, 10);
        let lines = profile
            .lines
            .iter()
            .map(|line| (line.line, line.tally.instructions));
        assert_eq!(lines.collect::<Vec<_>>(), [(7, 5), (8, 5), (9, 10)]);
    }

    #[test]
    fn adding_an_uncounted_launch_drops_the_profile() {
        let mut sum = launch(3.0, 1.0, &[7]);
        let uncounted = LaunchRecord {
            profile: None,
            ..launch(1.0, 1.0, &[])
        };
        sum.add(&uncounted);
        assert_eq!(sum.profile, None);
        assert_eq!(sum.time.milliseconds, 4.0);
    }

    #[test]
    fn a_record_round_trips_through_json() {
        let launch = launch(3.0, 1.0, &[7, 9]);
        let text = serde_json::to_string(&launch).unwrap();
        assert_eq!(serde_json::from_str::<LaunchRecord>(&text).unwrap(), launch);
        let other = text.replace("NVIDIA H200", "NVIDIA Nothing");
        let error = serde_json::from_str::<LaunchRecord>(&other).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("NVIDIA Nothing cannot be modelled"),
            "{error}"
        );
    }
}
