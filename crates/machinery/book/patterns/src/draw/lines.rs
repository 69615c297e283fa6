//! Drawing of warps' loads from global memory: a row per 128-byte cache line, with its four sectors.

use std::collections::BTreeMap;

use cuda_sim::exec::Traced;
use cuda_sim::profile::traffic::{LINE, SECTOR};

use super::svg::{Class, Svg};
use super::{Colours, GROUP, LEFT, offset};
use crate::language::Language;

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
pub fn draw(svg: &mut Svg, y: f64, lines: &Lines, language: Language) -> f64 {
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
