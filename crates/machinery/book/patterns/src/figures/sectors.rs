//! Figures of access patterns: the sectors of global memory that a warp's load touches, and the banks of shared
//! memory.

use anyhow::{Context as _, Result, anyhow};

use crate::draw::banks::draw as draw_banks;
use crate::draw::lines::{self, Lines};
use crate::draw::svg::{Class, Svg};
use crate::draw::{Colours, colour, warp};
use crate::language::Language;
use crate::outcome::{self, Outcome};
use crate::pattern::{Pattern, Problem};
use crate::sentences;

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
    lines::draw(svg, y, &drawn, language)
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
    let y = svg.paragraph(y, Class::Ink, &sentences::pattern(&pattern, language));
    let y = load(svg, y + 4.0, &outcome, max_lines, language);
    let result = sentences::result(pattern.space, &outcome.sums, language);
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
        y = svg.paragraph(y, Class::Ink, &sentences::pattern(&pattern, language));
        const WARPS: [Colours; 4] = [|_| Class::A, |_| Class::B, |_| Class::C, |_| Class::D];
        let reads: Vec<_> = outcome.reads.iter().zip(WARPS).collect();
        let drawn = Lines {
            reads: &reads,
            base: outcome.base,
            max_lines: usize::MAX,
        };
        y = lines::draw(&mut svg, y + 4.0, &drawn, language);
        let result = sentences::result(pattern.space, &outcome.sums, language);
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
        let result = sentences::result(pattern.space, &outcome.sums, language);
        y = svg.paragraph(y, Class::Bold, &result) + 12.0;
        results.push(result);
    }
    Ok(svg.finish(&results.join(language.pick("; ", "；"))))
}
