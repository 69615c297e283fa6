//! What the book's interactive page shows of a pattern: a drawing, and the counters beside it.

use serde::Serialize;

use crate::answer::{self, Answer, Counter, Sums};
use crate::draw::lines::{self, Lines};
use crate::draw::svg::Svg;
use crate::draw::{Colours, banks, colour, requests, warp};
use crate::language::Language;
use crate::machine::Failure;
use crate::pattern::{Pattern, Problem, Space};
use crate::words;

/// What a question asks for besides a pattern: which warp of the block to draw, and the reader's
/// language.
#[derive(Default)]
struct Wishes {
    warp: usize,
    language: Language,
}

/// What the page shows.
#[derive(Serialize)]
#[serde(untagged)]
enum Shown {
    Answer {
        /// The drawing.
        svg: String,
        /// What it shows, in a sentence.
        pattern: String,
        /// What it came to, in a sentence.
        result: String,
        /// The warp that is drawn, and how many there are.
        warp: usize,
        warps: usize,
        sums: Sums,
        counters: Vec<Row>,
    },
    Problem {
        problem: String,
    },
}

/// A counter as the page's table has it.
#[derive(Serialize)]
struct Row {
    name: &'static str,
    plain: &'static str,
    value: u64,
}

/// Answers `lang=zh&warp=1&space=shared&stride=2` in JSON.
pub fn json(question: &str) -> String {
    let (wishes, pattern) = split(question);
    let shown = found(&wishes, &pattern).unwrap_or_else(|problem| Shown::Problem { problem });
    // Strings and numbers can always be written.
    serde_json::to_string(&shown).unwrap_or_default()
}

/// The same in a few lines of text, without the drawing.
///
/// # Errors
/// What is wrong with the pattern, in the reader's language.
pub fn text(question: &str) -> Result<String, String> {
    let (wishes, pattern) = split(question);
    match found(&wishes, &pattern)? {
        Shown::Problem { problem } => Err(problem),
        Shown::Answer {
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

/// What is not the pattern's, and the rest.
fn split(text: &str) -> (Wishes, String) {
    let (mut wishes, mut rest) = (Wishes::default(), Vec::new());
    for part in text.split(['&', ' ']) {
        match part.split_once('=') {
            Some(("lang", "zh")) => wishes.language = Language::Chinese,
            Some(("lang", _)) => wishes.language = Language::English,
            Some(("warp", number)) => wishes.warp = number.parse().unwrap_or(0),
            _ => rest.push(part),
        }
    }
    (wishes, rest.join("&"))
}

fn found(wishes: &Wishes, pattern: &str) -> Result<Shown, String> {
    let Wishes { language, warp } = *wishes;
    let wrong = |problem: Problem| problem.say(language);
    let pattern: Pattern = pattern.parse().map_err(wrong)?;
    let answer = answer::answer(&pattern).map_err(|failure| failed(&failure, language))?;
    let warps = answer.reads.len();
    let warp = warp.min(warps.saturating_sub(1));
    let result = words::result(pattern.space, &answer.sums, language);
    Ok(Shown::Answer {
        svg: draw("explorer", &pattern, &answer, warp, language),
        pattern: words::pattern(&pattern, language),
        result,
        warp,
        warps,
        sums: answer.sums,
        counters: answer
            .counters
            .iter()
            .map(|counter| row(counter, language))
            .collect(),
    })
}

/// The simulator's own report of what went wrong, which is in English.
fn failed(failure: &Failure, language: Language) -> String {
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
        plain: language.of(counter.plain, chinese),
        value: counter.value,
    }
}

/// Draws what one warp of a pattern reads.
fn draw(
    name: &str,
    pattern: &Pattern,
    answer: &Answer,
    number: usize,
    language: Language,
) -> String {
    let what = words::pattern(pattern, language);
    let result = words::result(pattern.space, &answer.sums, language);
    let mut svg = Svg::new(name, &what);
    let y = warp(&mut svg, 0.0, language) + 6.0;
    if let Some(read) = answer.reads.get(number) {
        match pattern.space {
            Space::Global | Space::ReadOnly => {
                let reads: [(_, Colours); 1] = [(read, colour)];
                let drawn = Lines {
                    reads: &reads,
                    base: answer.base,
                    most: usize::MAX,
                };
                lines::draw(&mut svg, y, &drawn, language);
            }
            Space::Shared => {
                banks::draw(&mut svg, y, read, language);
            }
            Space::Constant => {
                requests::draw(&mut svg, y, read, answer.base, language);
            }
        }
    }
    svg.finish(&result)
}
