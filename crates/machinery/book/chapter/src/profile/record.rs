//! JSON form of a launch's counters and modelled time.

use cuda_driver::LaunchRecord;
use cuda_driver::counters::{LaunchProfile, LineProfile, METRICS, Tally};
use cuda_driver::model::Modelled;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::flags::Detail;

/// The fields of a launch in the record. Counters and model are null on a GPU, and for results that are not
/// of a kernel.
#[derive(Debug, Serialize)]
pub struct Record<'a> {
    launch: Option<Launch<'a>>,
    counters: Option<Counters<'a>>,
    model: Option<&'a Modelled>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<Vec<Line<'a>>>,
}

/// The kernel that was launched, and the dimensions of its grid and blocks.
#[derive(Debug, Serialize)]
struct Launch<'a> {
    kernel: &'a str,
    grid: [u32; 3],
    block: [u32; 3],
}

/// The counters of a source line.
#[derive(Debug, Serialize)]
struct Line<'a> {
    file: &'a str,
    line: u32,
    counters: Counters<'a>,
}

/// All counters by their names in Nsight Compute.
#[derive(Debug)]
struct Counters<'a> {
    tally: &'a Tally,
    /// The launch, if these are the counters of a launch and not of a line.
    launch: Option<&'a LaunchProfile>,
}

impl<'a> Record<'a> {
    /// Creates the record of `launch`, including its lines if `detail` asks for them.
    pub fn new(launch: Option<&'a LaunchRecord>, detail: Option<Detail>) -> Self {
        let profile = launch.and_then(|launch| launch.profile.as_ref());
        Record {
            launch: launch.map(|launch| Launch {
                kernel: &launch.kernel,
                grid: launch.grid,
                block: launch.block,
            }),
            counters: profile.map(|profile| Counters {
                tally: &profile.total,
                launch: Some(profile),
            }),
            model: launch.map(|launch| &launch.time),
            lines: profile
                .filter(|_| detail == Some(Detail::Lines))
                .map(|profile| profile.lines.iter().map(Line::from).collect()),
        }
    }
}

impl<'a> From<&'a LineProfile> for Line<'a> {
    fn from(line: &'a LineProfile) -> Self {
        Line {
            file: &line.file,
            line: line.line,
            counters: Counters {
                tally: &line.tally,
                launch: None,
            },
        }
    }
}

impl Serialize for Counters<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for metric in METRICS.iter().filter(|metric| metric.counts_lines()) {
            map.serialize_entry(metric.name, &metric.value(self.tally))?;
        }
        if let Some(launch) = self.launch {
            for metric in METRICS.iter().filter(|metric| !metric.counts_lines()) {
                map.serialize_entry(metric.name, &metric.launch_value(launch))?;
            }
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::sample;
    use cuda_driver::AccessClass;
    use cuda_driver::counters::AccessCounts;
    use cuda_driver::model::{OccupancyLimit, Resource};
    use serde_json::{Value, json};

    fn launch() -> LaunchRecord {
        let loads = AccessCounts {
            sectors: 12,
            ..AccessCounts::default()
        };
        let constants = AccessCounts {
            requests: 1,
            addresses: 32,
            hits: 30,
            ..AccessCounts::default()
        };
        let tally = Tally {
            instructions: 5,
            ..Tally::of([
                (AccessClass::GlobalLoad, loads),
                (AccessClass::ConstantLoad, constants),
            ])
        };
        let parts = [(Resource::L1Shared, 0.9), (Resource::Issue, 0.5)];
        let mut launch = sample::by_lines(&[(7, tally)], &parts);
        launch.profile.as_mut().unwrap().l2_read_misses = 3;
        launch
    }

    fn record(launch: Option<&LaunchRecord>, detail: Option<Detail>) -> Value {
        serde_json::to_value(Record::new(launch, detail)).unwrap()
    }

    #[test]
    fn counters_go_by_nsight_computes_names() {
        let record = record(Some(&launch()), None);
        let counters = record["counters"].as_object().unwrap();
        assert_eq!(counters.len(), METRICS.len());
        assert_eq!(counters["idc__requests.sum"], 32);
        assert_eq!(counters["lts__t_sectors_srcunit_tex_lookup_miss.sum"], 3);
        assert_eq!(record.get("lines"), None);
    }

    #[test]
    fn the_model_lists_the_components_of_its_time() {
        let record = record(Some(&launch()), None);
        let expected = json!({
            "gpu": "NVIDIA H200",
            "milliseconds": 1.0,
            "binding": "l1_shared",
            "parts": [
                { "resource": "l1_shared", "milliseconds": 0.9 },
                { "resource": "issue", "milliseconds": 0.5 },
            ],
            "occupancy": { "blocks": 8, "warps": 64, "most_warps": 64, "limit": "threads" },
            "roofline": {
                "operations": 2e6, "bytes": 3e6, "peak_operations": 6e13, "peak_bandwidth": 4e12
            },
        });
        assert_eq!(record["model"], expected);
    }

    #[test]
    fn lines_are_recorded_on_request() {
        let launch = launch();
        assert_eq!(
            record(Some(&launch), Some(Detail::Summary)).get("lines"),
            None
        );
        let record = record(Some(&launch), Some(Detail::Lines));
        let lines = record["lines"].as_array().unwrap();
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0]["file"], "kernels/vector-add.cu");
        assert_eq!(lines[0]["line"], 7);
        let counters = lines[0]["counters"].as_object().unwrap();
        let of_lines = METRICS.iter().filter(|metric| metric.counts_lines());
        assert_eq!(counters.len(), of_lines.count());
        assert_eq!(counters.len(), METRICS.len() - 1);
        assert_eq!(counters["smsp__inst_executed.sum"], 5);
    }

    #[test]
    fn a_result_without_a_launch_is_null() {
        let expected = json!({ "launch": null, "counters": null, "model": null });
        assert_eq!(record(None, Some(Detail::Lines)), expected);
    }

    #[test]
    fn names_are_distinct() {
        for (resource, name) in [
            (Resource::Arithmetic, "arithmetic"),
            (Resource::Issue, "issue"),
            (Resource::L1Shared, "l1_shared"),
            (Resource::ConstantCache, "constant_cache"),
            (Resource::L2, "l2"),
            (Resource::Memory, "memory"),
            (Resource::Latency, "latency"),
            (Resource::Launch, "launch"),
        ] {
            assert_eq!(json!(resource), json!(name));
        }
        for (limit, name) in [
            (OccupancyLimit::Threads, "threads"),
            (OccupancyLimit::Blocks, "blocks"),
            (OccupancyLimit::SharedMemory, "shared_memory"),
            (OccupancyLimit::Registers, "registers"),
            (OccupancyLimit::Grid, "grid"),
        ] {
            assert_eq!(json!(limit), json!(name));
        }
    }
}
