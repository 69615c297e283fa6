//! Listings of a kernel's source with counters next to each line.

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

use cuda_driver::counters::{LaunchProfile, LineProfile, Tally};
use cuda_driver::model::Resource;
use cuda_driver::{AccessClass, AccessSet, Direction, Memory};
use unicode_width::UnicodeWidthChar as _;

use super::table::resource_name;
use super::{ProfiledLaunch, cost};
use crate::file;
use crate::lang::Lang;
use crate::number::{count, mean};
use crate::text::{columns, pad_left};

/// Maximum number of lines shown between two executed lines; a longer gap becomes `…`.
const GAP: u32 = 4;

/// Minimum share of the binding resource's work for a line to be marked.
const COSTLY: f64 = 0.1;

/// Width in characters of a column of counters, of the shares and of the line numbers, including the space
/// before each.
const CELL: usize = 7;
const SHARE: usize = 6;
const NUMBER: usize = 6;

/// Maximum indentation of a line's text.
const INDENT: usize = 8;

/// A counter shown next to each line.
struct Column {
    heads: [&'static str; 2],
    heads_zh: [&'static str; 2],
    /// Returns the count; the cell is empty if it is 0.
    count: fn(&Tally) -> u64,
    /// Formats the cell; `None` to show the count.
    cell: Option<fn(&Tally) -> String>,
}

/// Lists columns as `[header], [Chinese header], count, cell;`. Without a cell, the count is shown.
macro_rules! columns {
    ($($heads:expr, $heads_zh:expr, $count:expr $(, $cell:expr)?;)*) => {
        &[$(Column {
            heads: $heads,
            heads_zh: $heads_zh,
            count: $count,
            cell: columns!(@ $($cell)?),
        }),*]
    };
    (@) => { None };
    (@ $cell:expr) => { Some($cell) };
}

const COLUMNS: &[Column] = columns! {
    ["warp", "instr."], ["指令", ""], |tally| tally.instructions;
    // Lines with all 32 lanes active get an empty cell.
    ["active", "lanes"], ["活跃", "线程"],
        |tally| (32 * tally.instructions).saturating_sub(tally.thread_instructions),
        |tally| mean(tally.thread_instructions, tally.instructions);
    ["div.", "branch"], ["发散", ""], |tally| tally.divergent_branches;
    ["global", "sect."], ["全局", "扇区"], |tally| sectors(tally, Memory::Global);
    ["local", "sect."], ["局部", "扇区"], |tally| sectors(tally, Memory::Local);
    ["shared", "wavef."], ["共享", "波前"], cost::shared_wavefronts;
    ["const.", "reqs"], ["常量", "请求"], |tally| tally[AccessClass::ConstantLoad].addresses;
    ["atomic", "reqs"], ["原子", "请求"], atomics;
};

fn sectors(tally: &Tally, memory: Memory) -> u64 {
    tally.sum(AccessSet::in_memory(memory)).sectors
}

fn atomics(tally: &Tally) -> u64 {
    let updates = AccessSet::with_direction(Direction::Updates);
    tally.sum(updates).requests
}

/// Lists the lines that a launch executed.
pub fn annotated(launched: &ProfiledLaunch, lang: Lang) -> String {
    let time = &launched.launch.time;
    let name = match launched.launch.kernel.as_str() {
        kernel if kernel == launched.variant => kernel.to_owned(),
        kernel => format!("{}, {kernel}", launched.variant),
    };
    let Some(profile) = &launched.launch.profile else {
        return localize!(lang, "{}: no lines were counted.", "{}：没有按行计数。"; name);
    };
    let cost = cost::for_resource(time.binding, &profile.total);
    let reader = Reader {
        width: WIDTH,
        lang,
        text: &|file| source_lines(file, lang),
    };
    localize!(
        lang,
        "{}: bound by {}; shares of the {}.\n{}",
        "{}：瓶颈是{}；占比按{}计算。\n{}";
        name, resource_name(time.binding, lang), lang.pick(cost.unit, cost.unit_zh),
        listing(profile, time.binding, &reader)
    )
}

/// Width in characters of a line printed by a chapter.
const WIDTH: usize = 100;

/// Lists the lines that a launch executed with their counters, and marks those that take a large share of the
/// resource that bounds it.
pub fn listing(profile: &LaunchProfile, binding: Resource, reader: &Reader) -> String {
    let cost = cost::for_resource(binding, &profile.total);
    let (columns, lines) = (COLUMNS.iter(), profile.lines.iter());
    let listing = Listing {
        reader,
        columns: columns
            .filter(|column| (column.count)(&profile.total) > 0)
            .collect(),
        all: lines.map(|line| (cost.amount)(&line.tally)).sum(),
        cost: cost.amount,
    };
    let mut files: BTreeMap<&str, BTreeMap<u32, &Tally>> = BTreeMap::new();
    for LineProfile { file, line, tally } in &profile.lines {
        files.entry(file).or_default().insert(*line, tally);
    }
    let parts = files.iter().map(|(file, lines)| listing.file(file, lines));
    parts.collect::<Vec<_>>().join("\n")
}

struct Listing<'a> {
    reader: &'a Reader<'a>,
    columns: Vec<&'static Column>,
    cost: fn(&Tally) -> u64,
    all: u64,
}

impl Listing<'_> {
    fn file(&self, file: &str, lines: &BTreeMap<u32, &Tally>) -> String {
        let lang = self.reader.lang;
        let (text, missing) = match file {
            "" => (
                Vec::new(),
                Some(
                    lang.pick(
                        "The PTX has no source information: these are its own lines.",
                        "PTX 不含源文件信息：以下是 PTX 自身的行。",
                    )
                    .to_owned(),
                ),
            ),
            file => match (self.reader.text)(file) {
                Ok(text) => (text, None),
                Err(missing) => (Vec::new(), Some(missing)),
            },
        };
        let mut listed: Vec<String> = missing.into_iter().collect();
        listed.extend(self.headers(file));
        let no_line = lang.pick("(no line information)", "（无行号信息）");
        let mut last = None;
        for number in shown(lines, &text) {
            if last.is_some_and(|last| number > last + 1) {
                listed.push(format!("{:>width$}", "…", width = self.gutter()));
            }
            last = Some(number);
            let text = match number.checked_sub(1) {
                Some(index) => text.get(index as usize).map_or("", String::as_str),
                None => no_line,
            };
            listed.push(self.line(number, lines.get(&number).copied(), text));
        }
        listed.join("\n")
    }

    /// Returns two header lines; the second has the file's name above the text.
    fn headers(&self, file: &str) -> [String; 2] {
        let row = |index: usize, share: &str, text: &str| {
            let cells = self
                .columns
                .iter()
                .map(|column| self.reader.lang.pick(column.heads, column.heads_zh)[index]);
            let cells: String = cells.map(|cell| pad_left(cell, CELL)).collect();
            let share = pad_left(share, SHARE);
            self.reader
                .cut(&format!("{share}{cells}{:>NUMBER$}  {text}", ""))
        };
        [
            row(0, self.reader.lang.pick("share", "占比"), ""),
            row(1, "", file),
        ]
    }

    /// Formats a line with its counters, or without them if it was not executed.
    fn line(&self, number: u32, tally: Option<&Tally>, text: &str) -> String {
        let counters = match tally {
            None => " ".repeat(SHARE + CELL * self.columns.len()),
            Some(tally) => {
                let share = (self.cost)(tally) as f64 / self.all.max(1) as f64;
                let mark = if share >= COSTLY { '>' } else { ' ' };
                let percent = (100.0 * share).round();
                let share = if percent > 0.0 {
                    format!("{percent} %")
                } else {
                    String::new()
                };
                let cell = |column: &&Column| match ((column.count)(tally), column.cell) {
                    (0, _) => String::new(),
                    (_, Some(cell)) => cell(tally),
                    (sum, None) => count(sum),
                };
                let cells = self.columns.iter().map(cell);
                let cells: String = cells.map(|cell| format!("{cell:>CELL$}")).collect();
                format!("{mark}{share:>width$}{cells}", width = SHARE - 1)
            }
        };
        let number = match number {
            0 => "–".to_owned(),
            number => number.to_string(),
        };
        let code = text.trim_start();
        let indent = (text.len() - code.len()).min(INDENT);
        self.reader.cut(&format!(
            "{counters}{number:>NUMBER$}  {:indent$}{code}",
            ""
        ))
    }

    /// Returns the width up to and including the line number.
    fn gutter(&self) -> usize {
        SHARE + CELL * self.columns.len() + NUMBER
    }
}

/// Returns the numbers of the lines to show: the lines with counters, the first lines of their statements,
/// and short gaps without comments between them.
fn shown(lines: &BTreeMap<u32, &Tally>, text: &[String]) -> Vec<u32> {
    let mut shown: Vec<u32> = Vec::new();
    for &line in lines.keys() {
        let first = statement_start(line, text);
        let from = match shown.last() {
            Some(&last) if first > last && is_short_gap(last + 1, first, text) => last + 1,
            Some(&last) => first.max(last + 1),
            None => first,
        };
        shown.extend(from..=line);
    }
    shown
}

/// Returns true if the lines from `first` up to but excluding `end` may be shown between two others.
fn is_short_gap(first: u32, end: u32, text: &[String]) -> bool {
    let lines = text.get(first.saturating_sub(1) as usize..end.saturating_sub(1) as usize);
    end - first <= GAP
        && lines.is_some_and(|lines| !lines.iter().any(|line| line.trim().starts_with("//")))
}

/// Returns the first line of the statement, or of the function's signature, that contains `line`.
fn statement_start(line: u32, text: &[String]) -> u32 {
    let continues = |number: &u32| {
        let before = number
            .checked_sub(2)
            .and_then(|index| text.get(index as usize));
        before.is_some_and(|before| {
            let before = before.trim();
            let ends = before.ends_with([';', '{', '}', ':', '>']) || before.is_empty();
            !ends && !before.starts_with("//") && !before.starts_with('#')
        })
    };
    let mut first = line;
    while continues(&first) {
        first -= 1;
    }
    first
}

/// The presentation of a listing.
pub struct Reader<'a> {
    /// Maximum width of a line in columns; longer lines are truncated.
    pub width: usize,
    /// The language of the headers.
    pub lang: Lang,
    /// Returns the lines of a file by its name in the PTX, or a sentence on why they are missing.
    pub text: &'a dyn Fn(&str) -> Result<Vec<String>, String>,
}

impl Reader<'_> {
    /// Truncates a line to the width; a truncated line ends with `…`.
    fn cut(&self, line: &str) -> String {
        let line = line.trim_end();
        if columns(line) <= self.width {
            return line.to_owned();
        }
        let mut remaining = self.width - 1;
        let fits = |character: &char| match remaining.checked_sub(character.width().unwrap_or(0)) {
            Some(rest) => {
                remaining = rest;
                true
            }
            None => false,
        };
        let mut truncated: String = line.chars().take_while(fits).collect();
        truncated.push('…');
        truncated
    }
}

/// Returns the lines of `file`, whose name in the PTX is relative to the repository. The file is searched in
/// the current folder and its parents, then in the installation or the checkout that this
/// program belongs to.
///
/// # Errors
///
/// Returns a sentence that lists the places where the file was searched.
fn source_lines(file: &str, lang: Lang) -> Result<Vec<String>, String> {
    let current = env::current_dir().unwrap_or_default();
    let mut folders: Vec<&Path> = current.ancestors().collect();
    let built_in = file::root();
    folders.push(&built_in);
    read(file, &folders).ok_or_else(|| {
        localize!(
            lang,
            "Cannot find {} in this folder, its parents or {}: run the program where the file is \
             to see the source lines.",
            "在当前文件夹、其上级文件夹和 {1} 中都找不到 {0}：请在该文件所在的位置运行程序，才能看到源代码行。";
            file, built_in.display()
        )
    })
}

/// Reads the first file named `file` in `folders`.
fn read(file: &str, folders: &[&Path]) -> Option<Vec<String>> {
    let mut paths = folders.iter().map(|folder| folder.join(file));
    let bytes = paths.find_map(|path| fs::read(path).ok())?;
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().map(|line| line.replace('\t', "    "));
    Some(lines.collect())
}

#[cfg(test)]
mod tests {
    use cuda_driver::LaunchRecord;
    use cuda_driver::counters::AccessCounts;
    use cuda_driver::model::Resource;

    use super::*;
    use crate::profile::sample;

    fn tally(instructions: u64) -> Tally {
        Tally {
            instructions,
            thread_instructions: 32 * instructions,
            ..Tally::default()
        }
    }

    fn listing(launch: &LaunchRecord) -> String {
        annotated(
            &ProfiledLaunch {
                case: String::new(),
                variant: "add",
                launch,
            },
            Lang::En,
        )
    }

    fn text(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|&line| line.to_owned()).collect()
    }

    fn shown_of(lines: &[u32], text: &[String]) -> Vec<u32> {
        let tally = Tally::default();
        shown(&lines.iter().map(|&line| (line, &tally)).collect(), text)
    }

    #[test]
    fn counters_are_next_to_the_source() {
        let source = source_lines("kernels/vector-add.cu", Lang::En).unwrap();
        let line = source.iter().position(|line| line.contains("c[")).unwrap() as u32 + 1;
        let loads = AccessCounts {
            requests: 2000,
            sectors: 123_456,
            ..AccessCounts::default()
        };
        let costly = Tally {
            instructions: 90_000,
            thread_instructions: 32 * 90_000,
            ..Tally::of([(AccessClass::GlobalLoad, loads)])
        };
        let lines = [(line - 1, tally(10_000)), (line, costly)];
        let launch = sample::by_lines(&lines, &[(Resource::Issue, 1.0)]);
        let listed = listing(&launch);
        let row = listed.lines().last().unwrap();
        let text = source[line as usize - 1].trim_end();
        let expected = format!("> 90 %   90 k  123 k{line:>6}  {text}");
        assert_eq!(row, expected, "{listed}");
        let expected = "add: bound by instruction issue; shares of the warp instructions.\n";
        assert!(listed.starts_with(expected), "{listed}");
        assert!(listed.contains("kernels/vector-add.cu\n"), "{listed}");
        assert!(listed.lines().all(|line| line.chars().count() <= WIDTH));
        // Nothing used shared memory, and no lane was inactive.
        for absent in ["shared", "lanes"] {
            assert!(!listed.contains(absent), "{listed}");
        }
    }

    #[test]
    fn a_missing_source_leaves_the_counters() {
        let mut launch = sample::by_lines(&[(7, tally(10))], &[(Resource::Issue, 1.0)]);
        let lines = &mut launch.profile.as_mut().unwrap().lines;
        lines[0].file = "kernels/gone.cu".to_owned();
        let listed = listing(&launch);
        let missing = "\nCannot find kernels/gone.cu in";
        assert!(listed.contains(missing), "{listed}");
        assert!(listed.ends_with(">100 %     10     7"), "{listed}");
    }

    #[test]
    fn ptx_without_source_information_lists_its_own_lines() {
        let mut launch = sample::by_lines(&[(7, tally(10))], &[(Resource::Issue, 1.0)]);
        launch.profile.as_mut().unwrap().lines[0].file = String::new();
        let listed = listing(&launch);
        let missing = "\nThe PTX has no source information";
        assert!(listed.contains(missing), "{listed}");
    }

    #[test]
    fn code_added_by_the_compiler_has_no_line_number() {
        let lines = [(0, tally(1)), (u32::MAX, tally(1))];
        let listed = listing(&sample::by_lines(&lines, &[(Resource::Issue, 1.0)]));
        let rows: Vec<&str> = listed.lines().skip(3).collect();
        assert_eq!(rows.len(), 3, "{listed}");
        assert!(rows[0].ends_with("  –  (no line information)"), "{listed}");
        assert!(rows[1].ends_with('…'), "{listed}");
        assert!(rows[2].ends_with("4294967295"), "{listed}");
    }

    #[test]
    fn empty_columns_are_omitted() {
        let one = AccessCounts {
            requests: 1,
            sectors: 1,
            wavefronts: 1,
            addresses: 1,
            ..AccessCounts::default()
        };
        let all = Tally {
            thread_instructions: 31,
            divergent_branches: 1,
            instructions: 1,
            ..Tally::of([
                (AccessClass::GlobalAtomic, one),
                (AccessClass::LocalLoad, one),
                (AccessClass::SharedStore, one),
                (AccessClass::ConstantLoad, one),
            ])
        };
        let listed = listing(&sample::by_lines(&[(1, all)], &[(Resource::Issue, 1.0)]));
        let headers: Vec<&str> = listed.lines().nth(1).unwrap().split_whitespace().collect();
        let expected = "share warp active div. global local shared const. atomic";
        assert_eq!(headers.join(" "), expected);
    }

    #[test]
    fn a_launch_without_counters_is_reported() {
        let mut launch = sample::by_lines(&[], &[(Resource::Issue, 1.0)]);
        launch.profile = None;
        assert_eq!(listing(&launch), "add: no lines were counted.");
    }

    #[test]
    fn short_gaps_are_filled_and_long_ones_are_not() {
        let code = text(&["a;"; 20]);
        assert_eq!(shown_of(&[2, 4], &code), [2, 3, 4]);
        assert_eq!(shown_of(&[2, 7], &code), [2, 3, 4, 5, 6, 7]);
        assert_eq!(shown_of(&[2, 8], &code), [2, 8]);
        let comment = text(&["a;", "b;", "// c", "c;"]);
        assert_eq!(shown_of(&[2, 4], &comment), [2, 4]);
        // Without the source text the gap has nothing to show.
        assert_eq!(shown_of(&[2, 4], &[]), [2, 4]);
    }

    #[test]
    fn a_statement_is_shown_from_its_first_line() {
        let code = text(&[
            "// What it does,",
            "// in words",
            "void f(int a,",
            "       int b) {",
            "    x = a +",
            "        b;",
            "",
            "    y = x;",
        ]);
        assert_eq!(shown_of(&[4], &code), [3, 4]);
        assert_eq!(shown_of(&[6], &code), [5, 6]);
        assert_eq!(shown_of(&[5, 6], &code), [5, 6]);
        assert_eq!(shown_of(&[8], &code), [8]);
        assert_eq!(shown_of(&[1], &code), [1]);
    }

    #[test]
    fn long_lines_are_cut() {
        let reader = Reader {
            width: 10,
            lang: Lang::Zh,
            text: &|_| Err(String::new()),
        };
        assert_eq!(reader.cut(&"é".repeat(10)), "é".repeat(10));
        assert_eq!(reader.cut(&"é".repeat(11)), format!("{}…", "é".repeat(9)));
        assert_eq!(reader.cut("线程束的线程"), "线程束的…");
        assert_eq!(pad_left("线程", 6), "  线程");
    }

    #[test]
    fn a_kernel_of_this_workspace_is_found() {
        let lines = source_lines("kernels/vector-add.cu", Lang::En).unwrap();
        assert!(lines.iter().any(|line| line.contains("__global__")));
    }

    #[test]
    fn a_missing_file_is_reported_with_the_searched_folders() {
        let message = source_lines("kernels/no-such-kernel.cu", Lang::En).unwrap_err();
        assert!(message.contains("Cannot find kernels/no-such-kernel.cu in this folder"));
        assert!(
            message.contains(&file::root().display().to_string()),
            "{message}"
        );
    }

    #[test]
    fn the_first_folder_that_has_it_wins() {
        let [first, second] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let folders = [first.path(), second.path()];
        assert_eq!(read("k.cu", &folders), None);
        fs::write(second.path().join("k.cu"), "second\n").unwrap();
        assert_eq!(read("k.cu", &folders).unwrap(), ["second"]);
        fs::write(first.path().join("k.cu"), "\tfirst\r\n\u{e9}\n").unwrap();
        assert_eq!(read("k.cu", &folders).unwrap(), ["    first", "\u{e9}"]);
    }

    #[test]
    fn invalid_utf8_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("k.cu"), b"\xff\n").unwrap();
        assert_eq!(read("k.cu", &[folder.path()]).unwrap(), ["\u{fffd}"]);
        // A folder of that name has no text.
        fs::create_dir(folder.path().join("d.cu")).unwrap();
        assert_eq!(read("d.cu", &[folder.path()]), None);
    }
}
