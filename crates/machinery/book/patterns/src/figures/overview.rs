//! The figure of the README: one warp's load with two strides, and the ladder of matrix multiplication.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::sectors;
use crate::draw::WIDTH;
use crate::draw::svg::{Class, LINE_SPACING, Svg};
use crate::language::Language;
use crate::outcome::Sums;

/// The measurements, relative to the root of the repository.
const LADDER: &str = "docs/results/ladder-h200.jsonl";
const CHAPTER: &str = "matmul-tiled";
const SIZE: &str = "--m 4800 --n 6400 --p 3200";
const CUBLAS: &str = "cuBLAS, fp32";

/// Height of a bar, and the x coordinate at which bars start, right of their names.
const BAR_HEIGHT: f64 = 12.0;
const BARS_LEFT: f64 = 176.0;

/// Returns the rungs that the figure shows, with a name for readers who have not read the chapter.
fn rungs(language: Language) -> [(&'static str, &'static str); 9] {
    let names = language.pick(
        [
            "global memory only",
            "shared-memory tiles",
            "register tiling",
            "square register tiles",
            "vector loads",
            "warp tiles",
            "double buffering",
            "asynchronous copies",
            "Stream-K and split-K",
        ],
        [
            "只用全局内存",
            "共享内存分块",
            "寄存器分块",
            "方形寄存器块",
            "向量加载",
            "线程束分块",
            "双缓冲",
            "异步复制",
            "Stream-K 与 split-K",
        ],
    );
    let variants = [
        "pitched",
        "tiled 16",
        "columns",
        "squares",
        "vectors",
        "warp tiles",
        "double buffer",
        "async",
        "split k",
    ];
    std::array::from_fn(|index| (variants[index], names[index]))
}

/// Returns the measured milliseconds of each rung, and of cuBLAS.
fn measured(rungs: &[(&str, &str)]) -> Result<(Vec<f64>, f64)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../..");
    let text = fs::read_to_string(root.join(LADDER)).with_context(|| LADDER)?;
    let records = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let record = records
        .filter(|record: &Value| record["measured"]["chapter"] == CHAPTER)
        .find(|record| {
            let arguments = record["arguments"].as_str();
            arguments.is_some_and(|arguments| arguments.ends_with(SIZE))
        })
        .with_context(|| format!("{LADDER} has no {CHAPTER} {SIZE}"))?;
    let results = record["measured"]["results"].as_array();
    let results = results.context("a record without results")?;
    let result = |variant: &str| {
        let mut results = results.iter();
        results
            .find(|result| result["variant"] == variant)
            .with_context(|| format!("{LADDER} has no {variant}"))
    };
    let times = rungs.iter().map(|(variant, _)| {
        let median = &result(variant)?["median_ms"];
        median.as_f64().context("a time")
    });
    let limit = &result("split k")?["limit"];
    anyhow::ensure!(limit["name"] == CUBLAS, "{LADDER}: {limit} is not {CUBLAS}");
    let cublas = limit["median_ms"].as_f64().context("a time")?;
    Ok((times.collect::<Result<_>>()?, cublas))
}

pub fn overview(language: Language) -> Result<String> {
    let title = language.pick(
        "The sectors of a warp’s load, and times of matrix multiplication on an H200",
        "线程束的一次加载访问的扇区，以及矩阵乘法在 H200 上的时间",
    );
    let mut svg = Svg::new("overview", title);
    let mut y = 0.0;
    let mut results = Vec::new();
    for (code, pattern) in [("x = in[i];", "stride=1"), ("x = in[8 * i];", "stride=8")] {
        let (_, outcome) = sectors::run(pattern)?;
        let Sums {
            sectors: count,
            used,
            moved,
            ..
        } = outcome.sums;
        let result = language.pick(
            format!("{count} sectors: {used} of {moved} bytes used"),
            format!("{count} 个扇区：用到 {moved} 字节中的 {used} 字节"),
        );
        svg.text(0.0, y + 13.0, Class::Bold, code);
        svg.text(110.0, y + 13.0, Class::Ink, &result);
        y = sectors::load(&mut svg, y + LINE_SPACING + 2.0, &outcome, 8, language) + 8.0;
        results.push(result);
    }
    let rungs = rungs(language);
    let (times, cublas) = measured(&rungs)?;
    let heading = language.pick(
        "Matrix multiplication 4800×6400×3200, H200, ms",
        "矩阵乘法 4800×6400×3200，H200，毫秒",
    );
    y = svg.paragraph(y + 6.0, Class::Bold, heading) + 4.0;
    let bars = rungs
        .iter()
        .zip(&times)
        .map(|((_, name), time)| (*name, *time, Class::A));
    let longest = times.iter().copied().fold(cublas, f64::max);
    let unit = (WIDTH - BARS_LEFT - 44.0) / longest;
    for (name, time, class) in bars.chain([("cuBLAS", cublas, Class::B)]) {
        svg.text_right(BARS_LEFT - 8.0, y + 11.0, Class::Ink, name);
        svg.rect(BARS_LEFT, y, time * unit, BAR_HEIGHT, class);
        let label = format!("{time:.2}");
        svg.text(BARS_LEFT + time * unit + 5.0, y + 11.0, Class::Ink, &label);
        y += BAR_HEIGHT + 5.0;
        results.push(format!("{name}: {label}"));
    }
    Ok(svg.finish(&results.join(language.pick("; ", "；"))))
}
