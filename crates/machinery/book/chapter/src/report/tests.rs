//! Tests with hand-made results.

use super::*;
use anyhow::anyhow;
use clap::Parser;
use common::gpu::Capability;
use common::timing::Measured;
use common::verify::Verdict;
use serde_json::{Value, json};

#[derive(Parser)]
struct Program {
    #[command(flatten)]
    common: CommonFlags,
}

const CORRECT: Verdict = Verdict {
    differing: 0,
    wrong: None,
};

fn wrong() -> Verdict {
    Verdict {
        differing: 1,
        wrong: Some("element 1 is 2 and should be 1".to_owned()),
    }
}

fn timing(ms: f64) -> Timing {
    Timing {
        median_ms: ms,
        min_ms: ms,
        max_ms: ms,
        samples: 20,
        launches_per_sample: 250,
    }
}

fn measured(ms: f64) -> Measured {
    Measured {
        timing: timing(ms),
        launch: None,
    }
}

fn entry(variant: &str, ms: f64) -> Entry {
    Entry::new(variant, measured(ms), CORRECT)
}

fn limit(name: &'static str, ms: f64) -> Limit {
    Limit::new(name, Ok(timing(ms)))
}

fn report(time: Clock) -> Report {
    let gpu = GpuInfo {
        name: "NVIDIA H200".to_owned(),
        compute_capability: Capability(9, 0),
        driver: "13.0".to_owned(),
        time,
    };
    let flags = Program::parse_from(["program", "--lang=en"]).common;
    Report::new("chapter", &gpu, &flags, (), "global")
}

fn record(report: &Report) -> Value {
    serde_json::to_value(report).unwrap()
}

#[derive(Serialize)]
struct Rate {
    gb_per_s: f64,
}

impl Details for Rate {
    fn columns(&self, _: Lang) -> &'static [&'static str] {
        &["GB/s"]
    }

    fn cells(&self) -> Vec<String> {
        vec![format!("{:.1}", self.gb_per_s)]
    }
}

#[test]
fn speeds_are_relative_to_the_baseline() {
    let mut report = report(Clock::Measured);
    report.add(entry("global", 3.0));
    report.add(entry("constant", 2.0));
    let table = report.table();
    assert!(table.contains(" 1.00 "), "{table}");
    assert!(table.contains(" 1.50 "), "{table}");
    let legend = "Times: measured, NVIDIA H200. Speedup: relative to `global`.";
    assert_eq!(report.legend(), legend);
    assert!(report.verdict().is_ok());
}

#[test]
fn only_measured_times_have_a_spread() {
    let heads = |time| {
        let mut report = report(time);
        report.add(entry("global", 3.0));
        report.table().lines().next().unwrap().to_owned()
    };
    let measured = "| variant | ms, median | fastest–slowest | speedup | check   |";
    assert_eq!(heads(Clock::Measured), measured);
    let modelled = "| variant |     ms | speedup | check   |";
    assert_eq!(heads(Clock::Modelled), modelled);
}

#[test]
fn each_group_has_its_own_baseline() {
    let mut report = report(Clock::Measured);
    for (variant, ms) in [
        ("global", 3.0),
        ("constant", 2.0),
        ("global", 8.0),
        ("constant", 2.0),
    ] {
        report.add(entry(variant, ms));
    }
    let record = record(&report);
    let speedups: Vec<_> = (0..4)
        .map(|i| record["results"][i]["speedup"].clone())
        .collect();
    assert_eq!(speedups, [json!(1.0), json!(1.5), json!(1.0), json!(4.0)]);
}

#[test]
fn details_are_columns_and_fields() {
    let mut report = report(Clock::Measured);
    report.add(entry("global", 3.0).with(|_| Rate { gb_per_s: 12.25 }));
    assert!(report.table().contains("| GB/s |"), "{}", report.table());
    assert!(report.table().contains(" 12.2 "), "{}", report.table());
    assert_eq!(record(&report)["results"][0]["gb_per_s"], 12.25);
    assert_eq!(record(&report)["schema"], 1);
}

#[test]
fn speedups_need_a_baseline() {
    let mut report = report(Clock::Modelled);
    report.add(entry("constant", 2.0));
    assert!(report.table().contains(" – "), "{}", report.table());
    assert!(record(&report)["results"][0]["speedup"].is_null());
    assert_eq!(record(&report)["gpu"]["time"], "modelled");
}

#[test]
fn separate_results_have_no_speedup() {
    let mut report = report(Clock::Measured);
    report.add(entry("global", 3.0));
    report.add(entry("copy", 2.0).separate());
    report.add(entry("constant", 2.0));
    assert!(record(&report)["results"][1]["speedup"].is_null());
    assert_eq!(record(&report)["results"][2]["speedup"], 1.5);
}

#[test]
fn results_after_a_limit_are_related_to_it() {
    let mut report = report(Clock::Measured);
    report.add(entry("global", 3.0));
    assert!(!report.table().contains("of limit"));
    report.limit(limit("copy", 1.5));
    report.add(entry("constant", 2.0));
    report.limit(limit("larger copy", 4.0));
    report.add(entry("constant", 4.0));
    report.add(entry("constant", 0.0));
    let table = report.table();
    let rows: Vec<_> = table.lines().skip(2).collect();
    let starts = ["global", "copy", "constant", "larger copy", "constant"];
    for (row, start) in rows.iter().zip(starts) {
        assert!(row.starts_with(&format!("| {start}")), "{table}");
    }
    for (row, share) in rows
        .iter()
        .zip(["–", "100 %", "75 %", "100 %", "100 %", "–"])
    {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        assert_eq!(cells[5], share, "{table}");
    }
    let record = record(&report);
    assert!(record["results"][0].get("limit").is_none());
    let limit = json!({ "name": "copy", "median_ms": 1.5, "share": 0.75 });
    assert_eq!(record["results"][1]["limit"], limit);
    assert_eq!(record["results"][2]["limit"]["name"], "larger copy");
    let limits = record["limits"].as_array().unwrap();
    let brief = limits.iter().map(|limit| {
        let [name, before, ms] = ["name", "results_before", "median_ms"].map(|key| &limit[key]);
        json!([name, before, ms])
    });
    let expected = [json!(["copy", 1, 1.5]), json!(["larger copy", 2, 4.0])];
    assert!(brief.eq(expected), "{limits:?}");
}

#[test]
fn limits_are_optional_in_the_record() {
    let mut report = report(Clock::Measured);
    report.add(entry("global", 3.0));
    assert!(record(&report).get("limits").is_none());
}

#[test]
fn the_last_of_consecutive_limits_applies() {
    let mut report = report(Clock::Measured);
    report.limit(limit("arithmetic", 1.0));
    report.limit(limit("library", 2.0));
    report.add(entry("global", 4.0));
    let table = report.table();
    let starts = table
        .lines()
        .skip(2)
        .map(|row| row.split('|').nth(1).map(str::trim));
    let expected = ["arithmetic", "library", "global"];
    assert!(starts.eq(expected.map(Some)), "{table}");
    let record = record(&report);
    assert_eq!(record["results"][0]["limit"]["share"], 0.5);
    assert_eq!(record["limits"][1]["results_before"], 0);
}

#[test]
fn an_unknown_limit_has_a_row_and_no_share() {
    let mut report = report(Clock::Measured);
    report.limit(Limit::new("copy", Err(anyhow!("the times differ"))));
    report.add(entry("global", 4.0));
    let table = report.table();
    let cells: Vec<Vec<_>> = table
        .lines()
        .skip(2)
        .map(|row| row.split('|').map(str::trim).collect())
        .collect();
    assert_eq!(
        cells[0][1..7],
        ["copy", "unknown", "unknown", "–", "–", "limit"]
    );
    assert_eq!(cells[1][5], "–");
    let record = record(&report);
    assert_eq!(
        record["limits"][0],
        json!({ "name": "copy", "results_before": 0 })
    );
    assert!(record["results"][0].get("limit").is_none());
}

#[test]
fn the_fastest_variant_of_a_limit_has_a_column() {
    let mut report = report(Clock::Measured);
    let library = Limit {
        variant: Some("packed, pedantic".to_owned()),
        ..limit("library", 1.0)
    };
    report.add(entry("global", 4.0).limit(Some(library.clone())));
    report.add(entry("tiled", 2.0).limit(Some(library)));
    let table = report.table();
    let column = table
        .lines()
        .map(|row| row.split('|').rev().nth(2).unwrap().trim());
    let expected = ["limit measured with", "packed, pedantic", "–", "–"];
    assert!(
        column.filter(|cell| !cell.starts_with("--")).eq(expected),
        "{table}"
    );
    assert_eq!(record(&report)["limits"][0]["variant"], "packed, pedantic");
}

#[test]
fn an_explicit_limit_applies_to_one_result() {
    let mut report = report(Clock::Measured);
    report.limit(limit("multiply-adds", 1.5));
    report.add(entry("tensor", 1.0).limit(Some(limit("cuBLAS", 0.5))));
    report.add(entry("tensor", 1.0).limit(None));
    report.add(entry("global", 3.0));
    let record = record(&report);
    let bound = |result: usize| record["results"][result].get("limit");
    assert_eq!(bound(0).unwrap()["name"], "cuBLAS");
    assert_eq!(bound(0).unwrap()["share"], 0.5);
    assert!(bound(1).is_none());
    assert_eq!(bound(2).unwrap()["name"], "multiply-adds");
    let table = report.table();
    let row = table.lines().nth(3).unwrap();
    assert!(row.starts_with("| cuBLAS "), "{table}");
}

#[test]
fn a_time_of_zero_has_no_speedup() {
    let mut report = report(Clock::Modelled);
    report.add(entry("global", 0.0));
    assert!(record(&report)["results"][0]["speedup"].is_null());
}

#[test]
fn a_wrong_result_is_shown_in_table_record_and_verdict() {
    let mut report = report(Clock::Measured);
    report.add(entry("global", 1.0));
    assert!(!report.is_wrong());
    report.add(Entry::new("constant", measured(1.0), wrong()));
    assert!(report.is_wrong());
    assert!(report.table().contains("WRONG"));
    let result = &record(&report)["results"][1];
    assert_eq!(result["verified"], false);
    assert_eq!(result["differing"], 1);
    assert!(result["speedup"].is_null(), "a wrong result is not fast");
    assert_eq!(result["launches_per_sample"], 250);
    assert_eq!(
        report.verdict().unwrap_err().to_string(),
        "constant: wrong result: element 1 is 2 and should be 1"
    );
}

#[test]
fn a_wrong_baseline_gives_no_speedups() {
    let mut report = report(Clock::Measured);
    report.add(Entry::new("global", measured(1.0), wrong()));
    report.add(entry("constant", 1.0));
    assert!(record(&report)["results"][1]["speedup"].is_null());
}

#[test]
fn columns_of_numbers_are_aligned_to_the_right() {
    let rows = [["a", "5"], ["long", "–"], ["b", "12.5"]];
    let rows = rows.map(|row| row.map(str::to_owned).to_vec());
    let lines = crate::text::table(&["name", "value"], rows);
    let expected = [
        "| name | value |",
        "|------|-------|",
        "| a    |     5 |",
        "| long |     – |",
        "| b    |  12.5 |",
    ];
    assert_eq!(lines.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn repeated_limits_are_merged() {
    let mut report = report(Clock::Measured);
    for name in ["copy", "copy", "arithmetic", "copy"] {
        report.limit(limit(name, 1.0));
        report.add(entry("global", 2.0));
    }
    let names = report
        .limits
        .iter()
        .map(|row| (row.name, row.results_before));
    assert!(names.eq([("copy", 0), ("arithmetic", 2), ("copy", 3)]));
}

#[derive(Serialize)]
struct Pitches {
    pitches: [u32; 2],
}

impl Extra for Pitches {
    fn tables(&self, _: Lang) -> Vec<String> {
        vec![format!("{:?}", self.pitches)]
    }
}

#[test]
fn extra_fields_come_last_in_the_record() {
    let gpu = report(Clock::Measured).gpu;
    let flags = Program::parse_from(["program", "--lang=en"]).common;
    let mut report = Report::new("chapter", &gpu, &flags, (), "global");
    report.extra(Pitches {
        pitches: [512, 1024],
    });
    let text = serde_json::to_string(&report).unwrap();
    assert!(
        text.ends_with(r#""results":[],"pitches":[512,1024]}"#),
        "{text}"
    );
}
