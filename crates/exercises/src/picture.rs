//! Drawings of one warp's access, the student's next to the intended one: lanes on sectors, banks or constant
//! addresses. Grading records the accesses, which are then drawn as text for a terminal of 80 columns or as SVG.

use std::collections::{BTreeMap, BTreeSet};

use chapter::lang::Lang;
use chapter::number::grouped;
use cuda_driver::{AccessKind, Memory, SourceLine, Traced, coordinates};
use patterns::draw::svg::{Class, Svg};
use patterns::draw::{Colours, Lines, colour, draw_banks, draw_lines, requests, warp};
use patterns::language::Language;
use serde::{Deserialize, Serialize};

use crate::text::{pad_left, pad_right};

/// Lanes per warp.
const LANES: usize = 32;

/// Bytes per row of a picture: a line of the L1 cache, or one word of each of the 32 banks.
pub const ROW: u64 = 128;

/// A student's access and the intended one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Picture {
    /// The counter that missed its target.
    pub counter: String,
    /// The student's access; `None` if the submission makes no such access.
    #[serde(rename = "yours")]
    pub actual: Option<Access>,
    /// The solution's access, or the best possible one for as many bytes; `None` if there should be no such
    /// access.
    #[serde(rename = "meant")]
    pub intended: Option<Access>,
}

/// One memory access of one warp.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Access {
    pub kernel: String,
    /// The line in the student's file; 0 if it is in another file.
    pub line: u32,
    /// The index of the block, x first.
    pub block: [u32; 3],
    /// The index of the warp in its block.
    pub warp: usize,
    /// The memory space.
    pub space: Space,
    /// Bytes per lane.
    pub bytes: u64,
    /// The active lanes and their addresses, relative to the block's shared memory, or in global and constant
    /// memory to the first accessed line of 128 bytes.
    pub lanes: Vec<(usize, u64)>,
    /// The cost in sectors, wavefronts or constant requests.
    pub cost: u32,
    /// The number of accesses that warps made in that line.
    pub times: u64,
}

/// The memory space of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Space {
    /// Global memory, accessed in sectors of 32 bytes.
    Global,
    /// Shared memory, accessed in 32 banks.
    Shared,
    /// Constant memory, accessed one address at a time.
    Constant,
}

impl Access {
    /// Converts a traced access of a launch with this grid; `times` is the number of accesses in its line.
    /// Returns `None` for memory spaces that are not drawn.
    pub fn new(traced: &Traced, grid: [u32; 3], is_submission: bool, times: u64) -> Option<Access> {
        let (space, cost) = match traced.memory {
            Memory::Global => (Space::Global, traced.units),
            Memory::Shared => (Space::Shared, traced.wavefronts),
            Memory::Constant => (Space::Constant, traced.units),
            _ => return None,
        };
        let mut lanes: Vec<(usize, u64)> = traced.lanes().collect();
        let first = lanes.iter().map(|(_, address)| address / ROW * ROW).min()?;
        if space != Space::Shared {
            lanes.iter_mut().for_each(|(_, address)| *address -= first);
        }
        Some(Access {
            kernel: String::new(),
            line: if is_submission { traced.source.line } else { 0 },
            block: coordinates(traced.block, grid),
            warp: traced.warp,
            space,
            bytes: traced.bytes,
            lanes,
            cost,
            times,
        })
    }

    /// Returns the best access with the same lanes and bytes: adjacent addresses, or in constant memory a
    /// single address. Returns `None` if this access is already as cheap.
    pub fn ideal(&self) -> Option<Access> {
        let address_of = |number: usize| match self.space {
            Space::Constant => 0,
            Space::Global | Space::Shared => number as u64 * self.bytes,
        };
        let lanes = self.lanes.iter().enumerate();
        let lanes = lanes.map(|(number, &(lane, _))| (lane, address_of(number)));
        let lanes: Vec<(usize, u64)> = lanes.collect();
        let bytes = lanes.len() as u64 * self.bytes;
        let cost = match self.space {
            Space::Global => bytes.div_ceil(32),
            Space::Shared => bytes.div_ceil(ROW),
            Space::Constant => 1,
        } as u32;
        let ideal = Access {
            lanes,
            cost,
            ..self.clone()
        };
        (cost < self.cost).then_some(ideal)
    }

    /// Returns the 32-bit words that the access touches with their lanes, in address order.
    fn words(&self) -> Vec<(u64, Vec<usize>)> {
        let mut words = std::collections::BTreeMap::<u64, Vec<usize>>::new();
        for &(lane, address) in &self.lanes {
            for word in address / 4..=(address + self.bytes.max(1) - 1) / 4 {
                words.entry(word).or_default().push(lane);
            }
        }
        words.into_iter().collect()
    }

    /// Converts the access back to the simulator's form.
    fn traced(&self) -> Traced {
        let mut addresses = [0; LANES];
        let mut mask = 0;
        for &(lane, address) in self.lanes.iter().filter(|(lane, _)| *lane < LANES) {
            addresses[lane] = address;
            mask |= 1 << lane;
        }
        Traced {
            block: 0,
            warp: self.warp,
            source: SourceLine::default(),
            kind: AccessKind::Load,
            memory: match self.space {
                Space::Global => Memory::Global,
                Space::Shared => Memory::Shared,
                Space::Constant => Memory::Constant,
            },
            bytes: self.bytes,
            mask,
            addresses,
            units: self.cost,
            wavefronts: self.cost,
            conflicts: 0,
            bytes_in_flight: 0,
            phase: 0,
            phase_bytes_in_flight: 0,
        }
    }
}

/// The maximum number of global memory lines drawn per access.
const MAX_LINES: usize = 8;

/// Draws a picture with a title.
pub fn svg(picture: &Picture, title: &str, lang: Lang) -> String {
    let language = lang.pick(Language::English, Language::Chinese);
    let mut svg = Svg::new("access", title);
    let mut y = svg.paragraph(0.0, Class::Ink, title) + 4.0;
    y = warp(&mut svg, y, language) + 8.0;
    let mut captions = Vec::new();
    for (access, is_actual) in [(&picture.actual, true), (&picture.intended, false)] {
        let Some(access) = access else {
            continue;
        };
        let caption = caption(access, is_actual, lang);
        y = svg.paragraph(y, Class::Bold, &caption);
        y = draw(&mut svg, y + 4.0, access, language) + 10.0;
        captions.push(caption);
    }
    let note = match picture.actual.as_ref().or(picture.intended.as_ref()) {
        Some(access) => note(access.space, lang),
        None => String::new(),
    };
    svg.paragraph(y, Class::Faint, &note);
    svg.finish(&captions.join(lang.pick("; ", "；")))
}

fn caption(access: &Access, is_actual: bool, lang: Lang) -> String {
    let [x, y, z] = access.block;
    let cost = cost(access, lang);
    match is_actual {
        true => localize!(
            lang,
            "Yours, line {}: {} (block ({}, {}, {}), warp {})",
            "你的，第 {} 行：{}（线程块 ({}, {}, {})，线程束 {}）";
            access.line, cost, x, y, z, access.warp
        ),
        false => localize!(lang, "Meant: {}", "期望：{}"; cost),
    }
}

/// Draws an access from `y` on. Returns the bottom of the drawing.
fn draw(svg: &mut Svg, y: f64, access: &Access, language: Language) -> f64 {
    let traced = access.traced();
    match access.space {
        Space::Global => {
            let reads: [(_, Colours); 1] = [(&traced, colour)];
            let drawn = Lines {
                reads: &reads,
                base: 0,
                max_lines: MAX_LINES,
            };
            draw_lines(svg, y, &drawn, language)
        }
        Space::Shared => draw_banks(svg, y, &traced, language),
        Space::Constant => requests(svg, y, &traced, 0, language),
    }
}

fn note(space: Space, lang: Lang) -> String {
    match space {
        Space::Global => localize!(
            lang,
            "A row is 128 bytes: 4 sectors. Grey parts were fetched but not used.",
            "一行是 128 字节：4 个扇区。灰色部分取来却没有用到。"
        ),
        Space::Shared => localize!(
            lang,
            "A row has one word of each of the 32 banks; accesses to words in one bank are \
             serialized.",
            "一行是 32 个存储体各一个字；对同一存储体中不同字的访问会串行化。"
        ),
        Space::Constant => localize!(
            lang,
            "A row is a request; its coloured cells are the lanes that it serves.",
            "每行是一次请求；彩色的格子是该请求服务的通道。"
        ),
    }
}

#[cfg(test)]
pub mod sample {
    use super::{Access, Space};

    /// Returns an access by all lanes with a stride in bytes.
    pub fn strided(space: Space, bytes: u64, stride: u64, cost: u32) -> Access {
        Access {
            kernel: "sum".to_owned(),
            line: 7,
            block: [3, 0, 0],
            warp: 1,
            space,
            bytes,
            lanes: (0..32).map(|lane| (lane, lane as u64 * stride)).collect(),
            cost,
            times: 4096,
        }
    }
}

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
    use super::sample::strided;
    use super::*;
    use crate::text::columns;

    #[test]
    fn the_ideal_access_depends_on_the_memory_space() {
        let ideal = |space, stride, cost| {
            let access = strided(space, 4, stride, cost);
            access.ideal().map(|ideal| (ideal.cost, ideal.lanes[31].1))
        };
        assert_eq!(ideal(Space::Global, 4096, 32), Some((4, 124)));
        assert_eq!(ideal(Space::Global, 4, 4), None);
        assert_eq!(ideal(Space::Shared, 128, 32), Some((1, 124)));
        assert_eq!(ideal(Space::Constant, 4, 32), Some((1, 0)));
    }

    #[test]
    fn words_have_their_lanes() {
        let bytes = strided(Space::Global, 1, 1, 1).words();
        assert_eq!(bytes.len(), 8);
        assert_eq!(bytes[1], (1, vec![4, 5, 6, 7]));
        let wide = strided(Space::Global, 16, 16, 16).words();
        assert_eq!((wide.len(), &wide[7]), (128, &(7, vec![1])));
    }

    #[test]
    fn each_memory_is_drawn_in_both_languages() {
        for (space, stride, cost) in [
            (Space::Global, 4096, 32),
            (Space::Shared, 128, 32),
            (Space::Constant, 4, 32),
        ] {
            let actual = strided(space, 4, stride, cost);
            let picture = Picture {
                counter: String::new(),
                intended: actual.ideal(),
                actual: Some(actual),
            };
            let drawn = svg(&picture, "a < b", Lang::En);
            assert!(drawn.starts_with("<svg ") && drawn.ends_with("</svg>\n"));
            assert!(drawn.contains("a &lt; b") && drawn.contains("Yours, line 7: 32 "));
            assert!(drawn.contains(">Meant: "), "{drawn}");
            assert!(svg(&picture, "标题", Lang::Zh).contains("你的，第 7 行：32 "));
        }
    }

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
