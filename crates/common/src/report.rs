//! The table and the JSON record: the same figures for a reader and for a program.

use std::fmt::Debug;

use anyhow::Result;
use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{CellAlignment, Table};
use serde::Serialize;

use crate::gpu::GpuInfo;
use crate::timing::Timing;
use crate::verify::Comparison;

/// One run of a chapter. As JSON:
///
/// ```json
/// {
///   "chapter": "raytrace-const",
///   "gpu": {
///     "name": "NVIDIA H200",         // measured on, or modelled
///     "compute_capability": "9.0",
///     "driver": "13.0",              // newest CUDA version the driver supports
///     "time": "measured"             // or "modelled": never a measurement
///   },
///   "inputs": { … },                 // the chapter's own flags
///   "baseline": "global",            // what "speedup" is relative to
///   "results": [
///     {
///       "variant": "constant",
///       "median_ms": 0.0241, "min_ms": 0.0240, "max_ms": 0.0243,   // of one launch
///       "samples": 20, "launches_per_sample": 250,
///       "speedup": 0.84,             // null where the baseline was not run
///       "verified": true,            // equals the CPU reference
///       "differing": 0               // elements that do not
///     }
///   ]
/// }
/// ```
#[derive(Debug, Serialize)]
pub struct Report<I> {
    chapter: &'static str,
    gpu: GpuInfo,
    inputs: I,
    baseline: &'static str,
    results: Vec<Outcome>,
}

/// One variant's time and check.
#[derive(Debug, Serialize)]
struct Outcome {
    variant: String,
    #[serde(flatten)]
    timing: Timing,
    speedup: Option<f64>,
    verified: bool,
    differing: usize,
}

impl<I: Serialize> Report<I> {
    /// A report without results. Speeds will be relative to the variant named `baseline`.
    pub fn new(chapter: &'static str, gpu: GpuInfo, inputs: I, baseline: &'static str) -> Self {
        Report {
            chapter,
            gpu,
            inputs,
            baseline,
            results: Vec::new(),
        }
    }

    /// Adds a variant. The baseline has to come before what is compared with it.
    pub fn add<T: Debug>(&mut self, variant: &str, timing: Timing, check: &Comparison<T>) {
        let baseline_ms = if variant == self.baseline {
            Some(timing.median_ms)
        } else {
            self.results
                .iter()
                .find(|outcome| outcome.variant == self.baseline)
                .map(|outcome| outcome.timing.median_ms)
        };
        self.results.push(Outcome {
            variant: variant.to_owned(),
            timing,
            speedup: baseline_ms
                .map(|baseline_ms| baseline_ms / timing.median_ms)
                .filter(|speedup| speedup.is_finite()),
            verified: check.is_match(),
            differing: check.differing,
        });
    }

    /// The table, which is Markdown too.
    pub fn table(&self) -> String {
        let mut table = Table::new();
        table.load_style(ASCII_MARKDOWN).set_header([
            "variant",
            "ms, median",
            "fastest–slowest",
            &format!("speed, {} = 1", self.baseline),
            "time",
            "check",
        ]);
        for column in 1..=3 {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        for outcome in &self.results {
            let timing = &outcome.timing;
            table.add_row([
                outcome.variant.clone(),
                format!("{:.4}", timing.median_ms),
                format!("{:.4}–{:.4}", timing.min_ms, timing.max_ms),
                outcome
                    .speedup
                    .map_or_else(|| "–".to_owned(), |speedup| format!("{speedup:.2}")),
                format!("{}, {}", self.gpu.time, self.gpu.name),
                if outcome.verified { "right" } else { "WRONG" }.to_owned(),
            ]);
        }
        table.trim_fmt()
    }

    /// The JSON record, documented at [`Report`].
    ///
    /// # Errors
    ///
    /// Where the chapter's inputs cannot be written as JSON.
    pub fn json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Clock;
    use crate::verify::compare;

    fn timing(ms: f64) -> Timing {
        Timing {
            median_ms: ms,
            min_ms: ms,
            max_ms: ms,
            samples: 20,
            launches_per_sample: 250,
        }
    }

    fn report(time: Clock) -> Report<()> {
        let gpu = GpuInfo {
            name: "NVIDIA H200".to_owned(),
            compute_capability: "9.0".to_owned(),
            driver: "13.0".to_owned(),
            time,
        };
        Report::new("chapter", gpu, (), "global")
    }

    #[test]
    fn speeds_are_relative_to_the_baseline() {
        let right = compare(&[1], &[1], |a, b| a == b);
        let mut report = report(Clock::Measured);
        report.add("global", timing(3.0), &right);
        report.add("constant", timing(2.0), &right);
        let table = report.table();
        assert!(table.contains(" 1.00 "), "{table}");
        assert!(table.contains(" 1.50 "), "{table}");
        assert!(table.contains("measured, NVIDIA H200"), "{table}");
    }

    #[test]
    fn without_a_baseline_there_is_no_relative_speed() {
        let right = compare(&[1], &[1], |a, b| a == b);
        let mut report = report(Clock::Modelled);
        report.add("constant", timing(2.0), &right);
        assert!(report.table().contains("| – |") || report.table().contains(" – "));
        let json: serde_json::Value = serde_json::from_str(&report.json().unwrap()).unwrap();
        assert!(json["results"][0]["speedup"].is_null());
        assert_eq!(json["gpu"]["time"], "modelled");
    }

    #[test]
    fn a_time_of_zero_gives_no_relative_speed() {
        let right = compare(&[1], &[1], |a, b| a == b);
        let mut report = report(Clock::Modelled);
        report.add("global", timing(0.0), &right);
        let json: serde_json::Value = serde_json::from_str(&report.json().unwrap()).unwrap();
        assert!(json["results"][0]["speedup"].is_null());
    }

    #[test]
    fn a_failed_check_shows_in_table_and_record() {
        let wrong = compare(&[1, 2], &[1, 1], |a, b| a == b);
        let mut report = report(Clock::Measured);
        report.add("global", timing(1.0), &wrong);
        assert!(report.table().contains("WRONG"));
        let json: serde_json::Value = serde_json::from_str(&report.json().unwrap()).unwrap();
        assert_eq!(json["results"][0]["verified"], false);
        assert_eq!(json["results"][0]["differing"], 1);
        assert_eq!(json["results"][0]["launches_per_sample"], 250);
    }
}
