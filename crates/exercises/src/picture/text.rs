//! Pictures as text for a terminal of 80 columns.

use std::collections::{BTreeMap, BTreeSet};

use chapter::lang::Lang;
use chapter::number::grouped;

use super::{Access, Picture, ROW, Space};
use crate::text::{pad_left, pad_right};

/// The maximum number of rows of 128 bytes drawn; further rows are counted.
const MAX_ROWS: usize = 4;

/// Columns per row: 32 words, and a space between groups of eight.
const ROW_WIDTH: usize = 35;

/// Columns before a row, for its offset.
const LABEL_WIDTH: usize = 8;

/// Draws a picture with a legend; `source` is the text of the student's file.
pub fn text(picture: &Picture, source: &str, lang: Lang) -> String {
    let mut lines = Vec::new();
    if let Some(actual) = &picture.actual {
        lines.extend(describe_access(actual, source, lang));
    } else {
        lines.push(localize!(
            lang,
            "Your kernel makes no such access. One warp of the intended access:",
            "你的核函数没有这样的访问。下面是期望的访问中的一个线程束："
        ));
    }
    let title = |side: &str, access: &Access| {
        localize!(
            lang,
            "{}: {}, {} times",
            "{}：{}，{} 次";
            side, cost(access, lang), grouped(access.times)
        )
    };
    let (actual, intended) = (lang.pick("yours", "你的"), lang.pick("meant", "期望"));
    let parts: Vec<(String, Side)> = [(actual, &picture.actual), (intended, &picture.intended)]
        .into_iter()
        .filter_map(|(side, access)| Some((side, access.as_ref()?)))
        .map(|(side, access)| (title(side, access), Side::new(access)))
        .collect();
    let row = |label: &str, cells: Vec<String>| {
        let cells = cells.iter().map(|cell| pad_right(cell, ROW_WIDTH));
        let cells = cells.collect::<Vec<_>>().join("  ");
        let line = format!("{} {cells}", pad_left(label, LABEL_WIDTH - 2));
        line.trim_end().to_owned()
    };
    let titles = parts.iter().map(|(title, _)| title.clone());
    lines.push(row("", titles.collect()));
    if parts.iter().any(|(_, part)| part.space == Space::Shared) {
        let banks = "0        8        16       24".to_owned();
        let label = lang.pick("bank", "存储体");
        lines.push(row(label, vec![banks; parts.len()]));
    }
    let max_rows = parts.iter().map(|(_, part)| part.rows.len()).max();
    for number in 0..max_rows.unwrap_or(0).min(MAX_ROWS) {
        let first = parts.first().and_then(|(_, part)| part.rows.get(number));
        let label = first.map_or(String::new(), |(at, _)| offset(*at));
        let cells = parts.iter().map(|(_, part)| {
            let row = part.rows.get(number);
            row.map_or(String::new(), |(_, cells)| cells.clone())
        });
        lines.push(row(&label, cells.collect()));
    }
    let remaining = |part: &Side| match part.rows.len().saturating_sub(MAX_ROWS) {
        0 => String::new(),
        1 => localize!(lang, "… and 1 more row", "…… 另有 1 行"),
        remaining => localize!(lang, "… and {} more rows", "…… 另有 {} 行"; remaining),
    };
    let remaining: Vec<String> = parts.iter().map(|(_, part)| remaining(part)).collect();
    if remaining.iter().any(|text| !text.is_empty()) {
        lines.push(row("", remaining));
    }
    if let Some((_, part)) = parts.first() {
        lines.push(legend(part.space, lang));
    }
    lines.join("\n")
}

/// Describes the access: its line, kernel, block and warp.
fn describe_access(access: &Access, source: &str, lang: Lang) -> Vec<String> {
    let Access {
        kernel,
        block: [x, y, z],
        warp,
        ..
    } = access;
    let code = source.lines().nth(access.line.wrapping_sub(1) as usize);
    let mut lines = vec![localize!(
        lang,
        "The costliest access of line {}: `{}`, block ({}, {}, {}), warp {}.",
        "第 {} 行代价最大的一次访问：`{}`，线程块 ({}, {}, {})，线程束 {}。";
        access.line, kernel, x, y, z, warp
    )];
    if let Some(code) = code {
        lines.push(format!("{:>6} | {}", access.line, code.trim_end()));
    }
    lines
}

/// Formats the cost of an access.
pub fn cost(access: &Access, lang: Lang) -> String {
    let number = access.cost;
    let (one, many, zh) = match access.space {
        Space::Global => ("sector", "sectors", "个扇区"),
        Space::Shared => ("wavefront", "wavefronts", "个波前"),
        Space::Constant => ("request", "requests", "次请求"),
    };
    let en = if number == 1 { one } else { many };
    format!("{number} {}", lang.pick(en, zh))
}

/// Explains the signs of the drawing.
fn legend(space: Space, lang: Lang) -> String {
    match space {
        Space::Global => localize!(
            lang,
            "A row is 128 bytes: 4 sectors of 8 words. 0–9, a–v: the lane (a–v: 10–31); * several lanes; . fetched, \
             not used; - not fetched.",
            "一行是 128 字节：4 个扇区，各 8 个字。0–9、a–v：通道（a–v 为 10–31）；* 多个通道；. 取来却没有用到；\
             - 没有取。"
        ),
        Space::Shared => localize!(
            lang,
            "A row has one word of each of the 32 banks; accesses to words in one column are \
             serialized. 0–9, a–v: the lane (a–v: 10–31); * several lanes; - not used.",
            "一行是 32 个存储体各一个字；对同一列中不同字的访问会串行化。0–9、a–v：通道（a–v 为 \
             10–31）；* 多个通道；- 没有用到。"
        ),
        Space::Constant => localize!(
            lang,
            "A row is 32 words of constant memory; each distinct address is a request. 0–9, a–v: the lane \
             (a–v: 10–31); * several lanes; - not used.",
            "一行是常量内存的 32 个字；每个不同的地址是一次请求。0–9、a–v：通道（a–v 为 10–31）；* 多个通道；\
             - 没有用到。"
        ),
    }
}

/// One side of a picture.
struct Side {
    space: Space,
    /// The offset and the cells of each row.
    rows: Vec<(u64, String)>,
}

impl Side {
    fn new(access: &Access) -> Side {
        let mut rows = BTreeMap::<u64, [char; 32]>::new();
        let words = access.words();
        let sectors: BTreeSet<u64> = words.iter().map(|(word, _)| word / 8).collect();
        for (word, lanes) in &words {
            let cells = rows.entry(word / 32).or_insert(['-'; 32]);
            cells[(word % 32) as usize] = match lanes[..] {
                [lane] => char::from_digit(lane as u32, 32).unwrap_or('?'),
                _ => '*',
            };
        }
        let row = |(row, mut cells): (u64, [char; 32])| {
            for (word, cell) in (0..).zip(&mut cells) {
                let is_fetched = sectors.contains(&(row * 4 + word / 8));
                if *cell == '-' && access.space == Space::Global && is_fetched {
                    *cell = '.';
                }
            }
            let groups = cells.chunks(8).map(String::from_iter);
            (row * ROW, groups.collect::<Vec<_>>().join(" "))
        };
        Side {
            space: access.space,
            rows: rows.into_iter().map(row).collect(),
        }
    }
}

/// Formats the offset of a row in at most six columns.
fn offset(bytes: u64) -> String {
    match bytes {
        0..100_000 => format!("+{bytes}"),
        100_000..10_000_000 => format!("+{}K", bytes >> 10),
        _ => format!("+{}M", bytes >> 20),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::strided;
    use super::*;
    use crate::text::columns;

    fn picture(space: Space, stride: u64, cost: u32) -> Picture {
        let actual = strided(space, 4, stride, cost);
        Picture {
            counter: String::new(),
            intended: actual.ideal(),
            actual: Some(actual),
        }
    }

    const SOURCE: &str = "\n\n\n\n\n\n    sum += in[i];\n";

    #[test]
    fn lanes_are_drawn_on_sectors_next_to_the_intended_access() {
        let drawing = text(&picture(Space::Global, 4096, 32), SOURCE, Lang::En);
        let expected = "\
The costliest access of line 7: `sum`, block (3, 0, 0), warp 1.
     7 |     sum += in[i];
       yours: 32 sectors, 4 096 times       meant: 4 sectors, 4 096 times
    +0 0....... -------- -------- --------  01234567 89abcdef ghijklmn opqrstuv
 +4096 1....... -------- -------- --------
 +8192 2....... -------- -------- --------
+12288 3....... -------- -------- --------
       … and 28 more rows
";
        assert!(drawing.starts_with(expected), "{drawing}");
    }

    #[test]
    fn banks_and_constant_addresses_have_their_own_labels() {
        let drawing = text(&picture(Space::Shared, 128, 32), SOURCE, Lang::En);
        for part in [
            "yours: 32 wavefronts",
            "meant: 1 wavefront,",
            "  bank 0        8        16       24",
            "  +128 1-------",
        ] {
            assert!(drawing.contains(part), "{drawing}");
        }
        let drawing = text(&picture(Space::Constant, 4, 32), SOURCE, Lang::Zh);
        for part in ["你的：32 次请求", "期望：1 次请求", "*------- --------"] {
            assert!(drawing.contains(part), "{drawing}");
        }
    }

    #[test]
    fn rows_fit_a_terminal_in_both_languages() {
        for lang in [Lang::En, Lang::Zh] {
            for space in [Space::Global, Space::Shared, Space::Constant] {
                let drawing = text(&picture(space, 1 << 20, 32), SOURCE, lang);
                let mut rows: Vec<&str> = drawing.lines().collect();
                // The legend is prose, which is wrapped later.
                rows.pop();
                assert!(rows.iter().all(|row| columns(row) <= 80), "{drawing}");
                assert!(rows.len() <= 10, "{drawing}");
            }
        }
    }

    #[test]
    fn missing_sides_are_omitted() {
        let mut only = picture(Space::Global, 4096, 32);
        only.intended = None;
        assert!(!text(&only, SOURCE, Lang::En).contains("meant"));
        let mut none = picture(Space::Global, 4096, 32);
        none.actual = None;
        let drawing = text(&none, SOURCE, Lang::En);
        let start = "Your kernel makes no such access.";
        assert!(drawing.starts_with(start), "{drawing}");
        assert!(!drawing.contains("yours"), "{drawing}");
    }
}
