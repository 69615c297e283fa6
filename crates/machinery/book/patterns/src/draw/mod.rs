//! Drawings of warps' memory accesses. A load from global memory is a row per 128-byte cache line, with its four sectors; a
//! load from constant memory is a row per request, with a cell per lane; a load from shared memory is a row per 128 bytes,
//! with a cell per bank.

pub mod svg;

use std::collections::BTreeMap;

use cuda_sim::exec::Traced;
use cuda_sim::profile::traffic::{BANKS, LINE, SECTOR, WORD, bank};
use svg::{Class, Svg};

use crate::language::Language;

/// Width of every drawing without its margins. With this width, text of size [`svg::FONT_SIZE`] is legible on a
/// phone whose page is 360 pixels wide.
pub const WIDTH: f64 = 400.0;
/// x coordinate at which memory is drawn; the addresses are left of it.
pub const LEFT: f64 = WIDTH - ROW;
/// Width of 128 bytes of memory, or of 32 lanes.
pub const ROW: f64 = 344.0;
/// Width of a cell: a lane, a bank, or a word of 4 bytes.
pub const CELL: f64 = 10.5;
/// Width of a group of eight cells, including the gap to the next group.
pub const GROUP: f64 = ROW / 4.0;

/// Returns the x coordinate of cell `number` of 32.
pub fn cell(number: usize) -> f64 {
    LEFT + (number / 8) as f64 * GROUP + (number % 8) as f64 * CELL
}

/// A function from a lane to its colour.
pub type Colours = fn(usize) -> Class;

/// Returns the colour of a lane; eight consecutive lanes share one.
pub fn colour(lane: usize) -> Class {
    Class::COLOURS[lane / 8 % 4]
}

/// Draws the 32 lanes of a warp with their numbers and colours. Returns the y coordinate below them.
pub fn warp(svg: &mut Svg, y: f64, language: Language) -> f64 {
    svg.text_right(
        LEFT - 6.0,
        y + 12.0,
        Class::Faint,
        language.pick("lane", "通道"),
    );
    for group in 0..4 {
        let (first, last) = (8 * group, 8 * group + 7);
        let middle = cell(first) + 4.0 * CELL;
        svg.text_centered(middle, y + 12.0, Class::Faint, &format!("{first}–{last}"));
        for lane in first..=last {
            svg.rect(cell(lane), y + 17.0, CELL - 1.0, 10.0, colour(lane));
        }
    }
    y + 36.0
}

/// Formats the offset of an address in bytes as a label.
fn offset(address: u64, base: u64) -> String {
    format!("+{}", address.wrapping_sub(base))
}

/// Width of a sector, without the gap to the next.
const SECTOR_WIDTH: f64 = GROUP - 2.0;
const BYTE_WIDTH: f64 = SECTOR_WIDTH / SECTOR as f64;
/// Height of a line.
const LINE_HEIGHT: f64 = 16.0;
const LINE_STEP: f64 = 20.0;
const GAP_HEIGHT: f64 = 16.0;

/// The loads to draw.
pub struct Lines<'a> {
    /// The loads, each with the colours of its lanes.
    pub reads: &'a [(&'a Traced, Colours)],
    /// The address that labels are relative to.
    pub base: u64,
    /// Maximum number of lines to draw; further lines are omitted.
    pub max_lines: usize,
}

/// An element that a lane reads.
struct Element {
    address: u64,
    bytes: u64,
    lane: usize,
    class: Class,
}

/// Draws the lines that the loads touch, starting at `y`. Returns the y coordinate below them.
pub fn draw_lines(svg: &mut Svg, y: f64, lines: &Lines, language: Language) -> f64 {
    let mut touched: BTreeMap<u64, Vec<Element>> = BTreeMap::new();
    for (read, class) in lines.reads {
        for (lane, address) in read.lanes() {
            let element = Element {
                address,
                bytes: read.bytes,
                lane,
                class: class(lane),
            };
            touched.entry(address / LINE).or_default().push(element);
        }
    }
    let (mut y, mut previous) = (y, None);
    for (&line, elements) in touched.iter().take(lines.max_lines) {
        if previous.is_some_and(|previous| previous + 1 != line) {
            svg.text_centered(LEFT + 2.0 * GROUP, y + 9.0, Class::Faint, "⋮");
            y += GAP_HEIGHT;
        }
        draw_line(svg, y, line, elements, lines.base, language);
        (y, previous) = (y + LINE_STEP, Some(line));
    }
    let omitted = touched.len().saturating_sub(lines.max_lines);
    if omitted > 0 {
        let text = language.pick(
            format!("⋮ {omitted} more lines like these"),
            format!("⋮ 另有 {omitted} 行，与此相同"),
        );
        svg.text(LEFT, y + 11.0, Class::Faint, &text);
        y += LINE_STEP;
    }
    y
}

fn draw_line(
    svg: &mut Svg,
    y: f64,
    line: u64,
    elements: &[Element],
    base: u64,
    language: Language,
) {
    let start = line * LINE;
    svg.text_right(LEFT - 6.0, y + 12.5, Class::Faint, &offset(start, base));
    let x = |address: u64| {
        let within = address - start;
        LEFT + (within / SECTOR) as f64 * GROUP + (within % SECTOR) as f64 * BYTE_WIDTH
    };
    for sector in 0..LINE / SECTOR {
        let first = start + sector * SECTOR;
        let inside = |element: &&Element| element.address / SECTOR == first / SECTOR;
        let class = match elements.iter().find(inside) {
            Some(_) => Class::Waste,
            None => Class::Empty,
        };
        svg.rect(x(first), y, SECTOR_WIDTH, LINE_HEIGHT, class);
    }
    // An element that several lanes read is drawn once, in the colour of the first; its tooltip lists all.
    let mut by_address: BTreeMap<u64, Vec<&Element>> = BTreeMap::new();
    for element in elements {
        by_address.entry(element.address).or_default().push(element);
    }
    for (address, readers) in by_address {
        let first = readers[0];
        let lanes: Vec<usize> = readers.iter().map(|element| element.lane).collect();
        let first_byte = address - base;
        let last_byte = first_byte + first.bytes - 1;
        let lane_ranges = ranges(&lanes);
        let tooltip = language.pick(
            format!("lane {lane_ranges}: bytes {first_byte} to {last_byte}"),
            format!("通道 {lane_ranges}：字节 {first_byte} 到 {last_byte}"),
        );
        let gap = if first.bytes < 4 { 0.3 } else { 1.0 };
        let width = first.bytes as f64 * BYTE_WIDTH - gap;
        svg.rect_with_tooltip([x(address), y, width, LINE_HEIGHT], first.class, &tooltip);
    }
}

/// Draws a warp's load from constant memory: a row for each request, that is, for each distinct address, starting at
/// `y`, with a cell for each lane that the request serves. Addresses are relative to `base`. Returns the y coordinate below the rows.
pub fn requests(svg: &mut Svg, y: f64, read: &Traced, base: u64, language: Language) -> f64 {
    let mut requests: Vec<(u64, Vec<usize>)> = Vec::new();
    for (lane, address) in read.lanes() {
        match requests.iter_mut().find(|(other, _)| *other == address) {
            Some((_, served)) => served.push(lane),
            None => requests.push((address, vec![lane])),
        }
    }
    // Up to 8 rows are high enough for a label each; more are low, with a label on every 8th.
    let (height, label_interval) = match requests.len() {
        0..=8 => (14.0, 1),
        _ => (4.0, 8),
    };
    let mut y = y;
    for (index, (address, served)) in requests.iter().enumerate() {
        if index % label_interval == 0 {
            let label_y = y + (height / 2.0 + 5.0_f64).max(10.0);
            svg.text_right(LEFT - 6.0, label_y, Class::Faint, &offset(*address, base));
        }
        for group in 0..4 {
            svg.rect(cell(8 * group), y, GROUP - 3.0, height, Class::Empty);
        }
        for &lane in served {
            let offset_bytes = address.wrapping_sub(base);
            let tooltip = language.pick(
                format!("request {}: byte {offset_bytes}, lane {lane}", index + 1),
                format!("第 {} 次请求：字节 {offset_bytes}，通道 {lane}", index + 1),
            );
            svg.rect_with_tooltip([cell(lane), y, CELL - 1.0, height], colour(lane), &tooltip);
        }
        y += height + 1.0;
    }
    y + 4.0
}

/// Height of a row.
const BANKS_ROW_HEIGHT: f64 = 7.0;

/// Draws the rows that `read` touches, starting at `y`. Returns the y coordinate below them.
pub fn draw_banks(svg: &mut Svg, y: f64, read: &Traced, language: Language) -> f64 {
    svg.text_right(
        LEFT - 6.0,
        y + 12.0,
        Class::Faint,
        language.pick("bank", "存储体"),
    );
    for number in [0, 8, 16, 24, BANKS - 1] {
        svg.text_centered(
            cell(number) + 5.0,
            y + 12.0,
            Class::Faint,
            &number.to_string(),
        );
    }
    let mut rows: BTreeMap<u64, BTreeMap<u64, Vec<usize>>> = BTreeMap::new();
    for (lane, address) in read.lanes() {
        for word in 0..read.bytes.div_ceil(WORD) {
            let word_address = (address / WORD + word) * WORD;
            rows.entry(word_address / LINE)
                .or_default()
                .entry(word_address)
                .or_default()
                .push(lane);
        }
    }
    let (mut y, mut previous) = (y + 18.0, None);
    for (index, (&row, words)) in rows.iter().enumerate() {
        if previous.is_some_and(|previous| previous + 1 != row) {
            y += BANKS_ROW_HEIGHT / 2.0;
        }
        if index % 4 == 0 {
            svg.text_right(LEFT - 6.0, y + 10.0, Class::Faint, &offset(row * LINE, 0));
        }
        svg.rect(LEFT, y, ROW - 2.0, BANKS_ROW_HEIGHT, Class::Empty);
        for (&word_address, lanes) in words {
            let (bank, lane_ranges) = (bank(word_address), ranges(lanes));
            let tooltip = language.pick(
                format!("lane {lane_ranges}: bank {bank}, byte {word_address}"),
                format!("通道 {lane_ranges}：存储体 {bank}，字节 {word_address}"),
            );
            svg.rect_with_tooltip(
                [cell(bank), y, CELL - 1.0, BANKS_ROW_HEIGHT],
                colour(lanes[0]),
                &tooltip,
            );
        }
        (y, previous) = (y + BANKS_ROW_HEIGHT + 1.0, Some(row));
    }
    y + 4.0
}

/// Formats sorted numbers as ranges: `0–7, 9`.
pub fn ranges(numbers: &[usize]) -> String {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => parts.push((number, number)),
        }
    }
    let part = |&(first, last): &(usize, usize)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first}–{last}")
        }
    };
    parts.iter().map(part).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    #[test]
    fn consecutive_numbers_are_a_range() {
        assert_eq!(super::ranges(&[0, 1, 2, 5, 7, 8]), "0–2, 5, 7–8");
        assert_eq!(super::ranges(&[]), "");
    }
}
