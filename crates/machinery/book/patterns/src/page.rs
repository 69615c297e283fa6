//! The reply to a query of the book's interactive page: a drawing of the pattern and its counters.

use serde::Serialize;

use crate::draw::svg::Svg;
use crate::draw::{Colours, Lines, colour, draw_banks, draw_lines, requests, warp};
use crate::language::Language;
use crate::outcome::{self, Counter, Outcome, Sums, run};
use crate::pattern::{Pattern, Problem, Space};
use crate::trace::Failure;

/// The part of a query that is not the pattern: the warp to draw and the reader's language.
#[derive(Default)]
struct Options {
    warp: usize,
    language: Language,
}

/// The reply to a query.
#[derive(Serialize)]
#[serde(untagged)]
enum Reply {
    Outcome {
        svg: String,
        /// A sentence that describes the pattern.
        pattern: String,
        /// A sentence that summarizes the counters.
        result: String,
        /// The index of the drawn warp.
        warp: usize,
        /// The number of warps in the block.
        warps: usize,
        sums: Sums,
        counters: Vec<Row>,
    },
    Problem {
        problem: String,
    },
}

/// A row of the page's table of counters.
#[derive(Serialize)]
struct Row {
    name: &'static str,
    plain: &'static str,
    value: u64,
}

/// Replies to a query like `lang=zh&warp=1&space=shared&stride=2` in JSON.
pub fn json(query: &str) -> String {
    let (options, pattern) = parse_query(query);
    let response = reply(&options, &pattern).unwrap_or_else(|problem| Reply::Problem { problem });
    // Serializing strings and numbers cannot fail.
    serde_json::to_string(&response).unwrap_or_default()
}

/// Replies to a query in a few lines of text, without the drawing.
///
/// # Errors
/// The description of an invalid pattern, in the reader's language.
pub fn text(query: &str) -> Result<String, String> {
    let (options, pattern) = parse_query(query);
    match reply(&options, &pattern)? {
        Reply::Problem { problem } => Err(problem),
        Reply::Outcome {
            pattern,
            result,
            counters,
            ..
        } => {
            let mut lines = vec![pattern, result];
            let counter = |row: &Row| format!("{:>6}  {} ({})", row.value, row.plain, row.name);
            lines.extend(counters.iter().map(counter));
            Ok(lines.join("\n"))
        }
    }
}

/// Splits a query into the options and the pattern.
fn parse_query(text: &str) -> (Options, String) {
    let (mut options, mut rest) = (Options::default(), Vec::new());
    for part in text.split(['&', ' ']) {
        match part.split_once('=') {
            Some(("lang", "zh")) => options.language = Language::Chinese,
            Some(("lang", _)) => options.language = Language::English,
            Some(("warp", warp_index)) => options.warp = warp_index.parse().unwrap_or(0),
            _ => rest.push(part),
        }
    }
    (options, rest.join("&"))
}

fn reply(options: &Options, pattern: &str) -> Result<Reply, String> {
    let Options { language, warp } = *options;
    let to_message = |problem: Problem| problem.message(language);
    let pattern: Pattern = pattern.parse().map_err(to_message)?;
    let outcome = run(&pattern).map_err(|failure| failure_message(&failure, language))?;
    let warps = outcome.reads.len();
    let warp = warp.min(warps.saturating_sub(1));
    let result = outcome::describe_result(pattern.space, &outcome.sums, language);
    Ok(Reply::Outcome {
        svg: draw("explorer", &pattern, &outcome, warp, language),
        pattern: outcome::describe_pattern(&pattern, language),
        result,
        warp,
        warps,
        sums: outcome.sums,
        counters: outcome
            .counters
            .iter()
            .map(|counter| row(counter, language))
            .collect(),
    })
}

/// Returns the simulator's error message, which is in English, with an introduction in the reader's language.
fn failure_message(failure: &Failure, language: Language) -> String {
    match language {
        Language::English => failure.to_string(),
        Language::Chinese => format!("核函数出错，模拟器的报告如下：\n{failure}"),
    }
}

fn row(counter: &Counter, language: Language) -> Row {
    let chinese = match counter.plain {
        "global load requests" => "全局内存读取请求",
        "global load sectors" => "全局内存读取扇区",
        "shared load instructions" => "共享内存读取指令",
        "shared load wavefronts" => "共享内存读取波前",
        "shared load bank conflicts" => "共享内存读取的存储体冲突",
        "constant requests" => "常量请求",
        other => other,
    };
    Row {
        name: counter.name,
        plain: language.pick(counter.plain, chinese),
        value: counter.value,
    }
}

/// Draws the addresses that one warp of a pattern reads.
fn draw(
    name: &str,
    pattern: &Pattern,
    outcome: &Outcome,
    warp_index: usize,
    language: Language,
) -> String {
    let title = outcome::describe_pattern(pattern, language);
    let result = outcome::describe_result(pattern.space, &outcome.sums, language);
    let mut svg = Svg::new(name, &title);
    let y = warp(&mut svg, 0.0, language) + 6.0;
    if let Some(read) = outcome.reads.get(warp_index) {
        match pattern.space {
            Space::Global | Space::ReadOnly => {
                let reads: [(_, Colours); 1] = [(read, colour)];
                let drawn = Lines {
                    reads: &reads,
                    base: outcome.base,
                    max_lines: usize::MAX,
                };
                draw_lines(&mut svg, y, &drawn, language);
            }
            Space::Shared => {
                draw_banks(&mut svg, y, read, language);
            }
            Space::Constant => {
                requests(&mut svg, y, read, outcome.base, language);
            }
        }
    }
    svg.finish_untitled(&result)
}
