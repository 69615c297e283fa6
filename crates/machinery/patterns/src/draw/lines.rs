//! Global memory as a warp's reads touch it: lines of 128 bytes, each four sectors.

use std::collections::BTreeMap;

use cuda_sim::exec::Traced;
use cuda_sim::profile::traffic::{LINE, SECTOR};

use super::svg::{Class, Svg};
use super::{Colours, GROUP, LEFT, offset};
use crate::language::Language;

/// A sector's width, less the gap to the next, and that of a byte.
const WIDE: f64 = GROUP - 2.0;
const BYTE: f64 = WIDE / SECTOR as f64;
/// A line's height, and that of the gap where lines are left out.
const HIGH: f64 = 16.0;
const STEP: f64 = 20.0;
const BREAK: f64 = 16.0;

/// What of memory is drawn, and how.
pub struct Lines<'a> {
    /// The reads, each with the colours of its lanes.
    pub reads: &'a [(&'a Traced, Colours)],
    /// Addresses are relative to this.
    pub base: u64,
    /// The most lines to draw: of more the last ones are left out.
    pub most: usize,
}

/// One element that a lane reads.
struct Element {
    address: u64,
    bytes: u64,
    lane: usize,
    class: Class,
}

/// Draws the lines that are touched, from `y` on. Returns where they end.
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
    let (mut y, mut before) = (y, None);
    for (&line, elements) in touched.iter().take(lines.most) {
        if before.is_some_and(|before| before + 1 != line) {
            svg.text_middle(LEFT + 2.0 * GROUP, y + 9.0, Class::Faint, "⋮");
            y += BREAK;
        }
        draw_line(svg, y, line, elements, lines.base, language);
        (y, before) = (y + STEP, Some(line));
    }
    let left_out = touched.len().saturating_sub(lines.most);
    if left_out > 0 {
        let text = language.of(
            format!("⋮ {left_out} more lines like these"),
            format!("⋮ 另有 {left_out} 行，与此相同"),
        );
        svg.text(LEFT, y + 11.0, Class::Faint, &text);
        y += STEP;
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
        LEFT + (within / SECTOR) as f64 * GROUP + (within % SECTOR) as f64 * BYTE
    };
    for sector in 0..LINE / SECTOR {
        let first = start + sector * SECTOR;
        let inside = |element: &&Element| element.address / SECTOR == first / SECTOR;
        let class = match elements.iter().find(inside) {
            Some(_) => Class::Waste,
            None => Class::Empty,
        };
        svg.rect(x(first), y, WIDE, HIGH, class);
    }
    // Of lanes that read the same the first is drawn, and the others are named.
    let mut places: BTreeMap<u64, Vec<&Element>> = BTreeMap::new();
    for element in elements {
        places.entry(element.address).or_default().push(element);
    }
    for (address, same) in places {
        let first = same[0];
        let lanes: Vec<usize> = same.iter().map(|element| element.lane).collect();
        let from = address - base;
        let last = from + first.bytes - 1;
        let which = ranges(&lanes);
        let what = language.of(
            format!("lane {which}: bytes {from} to {last}"),
            format!("通道 {which}：字节 {from} 到 {last}"),
        );
        let gap = if first.bytes < 4 { 0.3 } else { 1.0 };
        let wide = first.bytes as f64 * BYTE - gap;
        svg.rect_of([x(address), y, wide, HIGH], first.class, &what);
    }
}

/// `0–7, 9`.
pub fn ranges(numbers: &[usize]) -> String {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => parts.push((number, number)),
        }
    }
    let part = |&(first, last): &(usize, usize)| match first == last {
        true => first.to_string(),
        false => format!("{first}–{last}"),
    };
    parts.iter().map(part).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    #[test]
    fn neighbours_are_a_range() {
        assert_eq!(super::ranges(&[0, 1, 2, 5, 7, 8]), "0–2, 5, 7–8");
        assert_eq!(super::ranges(&[]), "");
    }
}
