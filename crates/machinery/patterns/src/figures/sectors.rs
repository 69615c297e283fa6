//! Global memory: which sectors a warp's load touches.

use anyhow::{Result, anyhow};

use crate::answer::{Answer, answer};
use crate::draw::lines::{self, Lines};
use crate::draw::svg::{Class, LEADING, Svg};
use crate::draw::{Colours, LEFT, colour, warp};
use crate::language::Language;
use crate::pattern::{Pattern, Problem};
use crate::words;

/// A pattern as text, and what it came to.
pub(super) fn run(text: &str) -> Result<(Pattern, Answer)> {
    let wrong = |problem: Problem| anyhow!("{}", problem.say(Language::English));
    let pattern: Pattern = text.parse().map_err(wrong)?;
    let answer = answer(&pattern)?;
    Ok((pattern, answer))
}

/// A load of one warp: what it reads, where that lies, what it comes to. Returns where it ends, and
/// the result in words.
fn panel(
    svg: &mut Svg,
    y: f64,
    pattern: &str,
    most: usize,
    language: Language,
) -> Result<(f64, String)> {
    let (pattern, answer) = run(pattern)?;
    let y = svg.paragraph(y, Class::Ink, &words::pattern(&pattern, language));
    let reads: Vec<(_, Colours)> = answer
        .reads
        .iter()
        .map(|read| (read, colour as _))
        .collect();
    let drawn = Lines {
        reads: &reads,
        base: answer.base,
        most,
    };
    let y = lines::draw(svg, y + 4.0, &drawn, language);
    let result = words::result(pattern.space, &answer.sums, language);
    let y = svg.paragraph(y, Class::Bold, &result);
    Ok((y + 12.0, result))
}

/// What the colours mean besides lanes.
fn legend(svg: &mut Svg, y: f64, language: Language) {
    svg.rect(LEFT, y, 21.0, 14.0, Class::Waste);
    let fetched = language.of("fetched, not used", "取来却没有用到");
    svg.text(LEFT + 27.0, y + 12.0, Class::Faint, fetched);
    svg.rect(LEFT + 160.0, y, 21.0, 14.0, Class::Empty);
    let left = language.of("a sector, not fetched", "没有取的扇区");
    svg.text(LEFT + 187.0, y + 12.0, Class::Faint, left);
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
    for &(pattern, most) in patterns {
        let (end, result) = panel(&mut svg, y, pattern, most, language)?;
        y = end;
        results.push(result);
    }
    legend(&mut svg, y, language);
    Ok(svg.finish(&results.join(language.of("; ", "；"))))
}

pub fn coalesced(language: Language) -> Result<String> {
    let title = language.of(
        "The sectors of a coalesced load",
        "一次合并访问所触及的扇区",
    );
    panels("sectors-coalesced", title, &[("stride=1", 8)], language)
}

pub fn offset(language: Language) -> Result<String> {
    let title = language.of(
        "The sectors of loads that begin one element, and eight elements, further on",
        "起点后移一个元素和八个元素时所触及的扇区",
    );
    let patterns = [("offset=1", 8), ("offset=8", 8)];
    panels("sectors-offset", title, &patterns, language)
}

pub fn stride(language: Language) -> Result<String> {
    let title = language.of(
        "The sectors of loads with strides of 2, 8 and 32 elements",
        "跨度为 2、8、32 个元素时所触及的扇区",
    );
    let patterns = [("stride=2", 8), ("stride=8", 8), ("stride=32", 4)];
    panels("sectors-stride", title, &patterns, language)
}

/// Rows of 36 floats, one right after the other and padded to the pitch that an H200 gives them.
pub fn pitch(language: Language) -> Result<String> {
    let title = language.of(
        "The sectors of four warps, each in a row of its own, without and with padding",
        "四个线程束各读一行时所触及的扇区：行末没有补齐与有补齐",
    );
    let mut svg = Svg::new("pitch", title);
    let mut y = 0.0;
    let mut results = Vec::new();
    for (index, name) in (0..).zip(language.of(
        ["warp 0", "warp 1", "warp 2", "warp 3"],
        ["线程束 0", "线程束 1", "线程束 2", "线程束 3"],
    )) {
        let x = f64::from(index) * 102.0;
        svg.rect(x, y + 1.0, 14.0, 14.0, Class::COLOURS[index as usize]);
        svg.text(x + 20.0, y + 13.0, Class::Faint, name);
    }
    y += LEADING + 8.0;
    for pattern in ["block=32x4 pitch=144", "block=32x4 pitch=512"] {
        let (pattern, answer) = run(pattern)?;
        y = svg.paragraph(y, Class::Ink, &words::pattern(&pattern, language));
        const WARPS: [Colours; 4] = [|_| Class::A, |_| Class::B, |_| Class::C, |_| Class::D];
        let reads: Vec<_> = answer.reads.iter().zip(WARPS).collect();
        let drawn = Lines {
            reads: &reads,
            base: answer.base,
            most: usize::MAX,
        };
        y = lines::draw(&mut svg, y + 4.0, &drawn, language);
        let result = words::result(pattern.space, &answer.sums, language);
        y = svg.paragraph(y, Class::Bold, &result) + 12.0;
        results.push(result);
    }
    legend(&mut svg, y, language);
    Ok(svg.finish(&results.join(language.of("; ", "；"))))
}
