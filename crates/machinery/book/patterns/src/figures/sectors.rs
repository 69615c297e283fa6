//! Figures of access patterns: the sectors of global memory that a warp's load touches, and the banks of shared
//! memory. The README's figure shows two of them above the ladder of matrix multiplication.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use serde_json::Value;

use crate::draw::svg::{Class, LINE_SPACING, Svg};
use crate::draw::{Colours, Lines, WIDTH, colour, draw_banks, draw_lines, warp};
use crate::language::Language;
use crate::outcome::{self, Outcome, Sums};
use crate::pattern::{Pattern, Problem};

/// Parses and runs a pattern. Fails if it is invalid or the kernel faults.
pub fn run(text: &str) -> Result<(Pattern, Outcome)> {
    let to_error = |problem: Problem| anyhow!("{}", problem.message(Language::English));
    let pattern: Pattern = text.parse().map_err(to_error)?;
    let outcome = outcome::run(&pattern)?;
    Ok((pattern, outcome))
}

/// Draws the sectors that a load by one warp touches. Returns the y coordinate below them.
pub fn load(svg: &mut Svg, y: f64, outcome: &Outcome, max_lines: usize, language: Language) -> f64 {
    let reads = outcome.reads.iter().map(|read| (read, colour as _));
    let reads: Vec<(_, Colours)> = reads.collect();
    let drawn = Lines {
        reads: &reads,
        base: outcome.base,
        max_lines,
    };
    draw_lines(svg, y, &drawn, language)
}

/// Draws a load by one warp: the description, the sectors, and the result. Returns the y coordinate below
/// them, and the text of the result.
fn panel(
    svg: &mut Svg,
    y: f64,
    pattern: &str,
    max_lines: usize,
    language: Language,
) -> Result<(f64, String)> {
    let (pattern, outcome) = run(pattern)?;
    let y = svg.paragraph(
        y,
        Class::Ink,
        &outcome::describe_pattern(&pattern, language),
    );
    let y = load(svg, y + 4.0, &outcome, max_lines, language);
    let result = outcome::describe_result(pattern.space, &outcome.sums, language);
    let y = svg.paragraph(y, Class::Bold, &result);
    Ok((y + 12.0, result))
}

/// Draws the legend of the colours that do not stand for lanes.
fn legend(svg: &mut Svg, y: f64, language: Language) {
    let [unused, not_loaded] = language.pick(
        ["loaded, not used", "a sector, not loaded"],
        ["已加载但未使用", "未加载的扇区"],
    );
    svg.legend(y, &[(Class::Waste, unused), (Class::Empty, not_loaded)]);
}

fn panels(
    name: &str,
    title: &str,
    patterns: &[(&str, usize)],
    language: Language,
) -> Result<String> {
    let mut svg = Svg::new(name, title);
    let mut y = warp(&mut svg, 0.0, language) + 8.0;
    let mut results = Vec::new();
    for &(pattern, max_lines) in patterns {
        let (end, result) = panel(&mut svg, y, pattern, max_lines, language)?;
        y = end;
        results.push(result);
    }
    legend(&mut svg, y, language);
    Ok(svg.finish(&results.join(language.pick("; ", "；"))))
}

pub fn coalesced(language: Language) -> Result<String> {
    let title = language.pick(
        "The sectors that a coalesced load touches",
        "一次合并加载访问的扇区",
    );
    panels("sectors-coalesced", title, &[("stride=1", 8)], language)
}

pub fn offset(language: Language) -> Result<String> {
    let title = language.pick(
        "The sectors that loads with an offset of one and of eight elements touch",
        "偏移一个元素和八个元素时访问的扇区",
    );
    let patterns = [("offset=1", 8), ("offset=8", 8)];
    panels("sectors-offset", title, &patterns, language)
}

pub fn stride(language: Language) -> Result<String> {
    let title = language.pick(
        "The sectors that loads with strides of 2, 8 and 32 elements touch",
        "步长为 2、8、32 个元素时访问的扇区",
    );
    let patterns = [("stride=2", 8), ("stride=8", 8), ("stride=32", 4)];
    panels("sectors-stride", title, &patterns, language)
}

/// Draws the loads of rows of 36 floats, without padding and with the pitch that an H200 uses.
pub fn pitch(language: Language) -> Result<String> {
    let title = language.pick(
        "The sectors that four warps touch, each reading its own row, without and with padding",
        "四个线程束各读一行时访问的扇区：行末无填充与有填充",
    );
    let mut svg = Svg::new("pitch", title);
    let names = language.pick(
        ["warp 0", "warp 1", "warp 2", "warp 3"],
        ["线程束 0", "线程束 1", "线程束 2", "线程束 3"],
    );
    let entries: [_; 4] = std::array::from_fn(|warp| (Class::COLOURS[warp], names[warp]));
    let mut y = svg.legend(0.0, &entries) + 8.0;
    let mut results = Vec::new();
    for pattern in ["block=32x4 pitch=144", "block=32x4 pitch=512"] {
        let (pattern, outcome) = run(pattern)?;
        y = svg.paragraph(
            y,
            Class::Ink,
            &outcome::describe_pattern(&pattern, language),
        );
        const WARPS: [Colours; 4] = [|_| Class::A, |_| Class::B, |_| Class::C, |_| Class::D];
        let reads: Vec<_> = outcome.reads.iter().zip(WARPS).collect();
        let drawn = Lines {
            reads: &reads,
            base: outcome.base,
            max_lines: usize::MAX,
        };
        y = draw_lines(&mut svg, y + 4.0, &drawn, language);
        let result = outcome::describe_result(pattern.space, &outcome.sums, language);
        y = svg.paragraph(y, Class::Bold, &result) + 12.0;
        results.push(result);
    }
    legend(&mut svg, y, language);
    Ok(svg.finish(&results.join(language.pick("; ", "；"))))
}

/// Draws bank conflicts: the load of a column of a tile, without and with a column of padding.
pub fn banks(language: Language) -> Result<String> {
    let title = language.pick(
        "The banks that a warp’s load of a column accesses: rows of 32 and of 33 words",
        "线程束按列加载时访问的存储体：每行 32 个字与 33 个字",
    );
    let mut svg = Svg::new("banks", title);
    let mut y = warp(&mut svg, 0.0, language) + 8.0;
    let mut results = Vec::new();
    for (pattern, description) in [
        (
            "space=shared order=columns pitch=128",
            language.pick(
                "A column of float tile[32][32]: lane x reads tile[x][0]",
                "float tile[32][32] 的一列：通道 x 读 tile[x][0]",
            ),
        ),
        (
            "space=shared order=columns pitch=132",
            language.pick(
                "A column of float tile[32][33], which has a column of padding",
                "float tile[32][33] 的一列：每行多一个填充元素",
            ),
        ),
    ] {
        let (pattern, outcome) = run(pattern)?;
        let read = outcome.reads.first().context("a warp reads")?;
        y = svg.paragraph(y, Class::Ink, description);
        y = draw_banks(&mut svg, y + 2.0, read, language);
        let result = outcome::describe_result(pattern.space, &outcome.sums, language);
        y = svg.paragraph(y, Class::Bold, &result) + 12.0;
        results.push(result);
    }
    Ok(svg.finish(&results.join(language.pick("; ", "；"))))
}

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
        let (_, outcome) = run(pattern)?;
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
        y = load(&mut svg, y + LINE_SPACING + 2.0, &outcome, 8, language) + 8.0;
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
