//! Drawings of what warps ask a memory for.

pub mod banks;
pub mod lines;
pub mod requests;
pub mod svg;

use crate::language::Language;
use svg::{Class, Svg};

/// Width of every drawing. Text of [`svg::TEXT`] is legible on a phone whose page is as wide as 360
/// pixels.
pub const WIDTH: f64 = 408.0;
/// Where memory begins, right of its addresses, and how wide 128 bytes of it or 32 lanes are.
pub const LEFT: f64 = 60.0;
pub const ROW: f64 = 344.0;
/// A 32nd of that: a lane, a bank, a word of 4 bytes. Between groups of eight there is a gap.
pub const CELL: f64 = 10.5;
pub const GROUP: f64 = ROW / 4.0;

/// Where cell `number` of 32 begins.
pub fn cell(number: usize) -> f64 {
    LEFT + (number / 8) as f64 * GROUP + (number % 8) as f64 * CELL
}

/// The colours of a warp's lanes.
pub type Colours = fn(usize) -> Class;

/// The colour of a lane: one for every eight.
pub fn colour(lane: usize) -> Class {
    Class::COLOURS[lane / 8 % 4]
}

/// The 32 lanes of a warp in their colours, with their numbers. Returns where it ends.
pub fn warp(svg: &mut Svg, y: f64, language: Language) -> f64 {
    svg.text_right(
        LEFT - 6.0,
        y + 12.0,
        Class::Faint,
        language.of("lane", "通道"),
    );
    for group in 0..4 {
        let (first, last) = (8 * group, 8 * group + 7);
        let middle = cell(first) + 4.0 * CELL;
        svg.text_middle(middle, y + 12.0, Class::Faint, &format!("{first}–{last}"));
        for lane in first..=last {
            svg.rect(cell(lane), y + 17.0, CELL - 1.0, 10.0, colour(lane));
        }
    }
    y + 36.0
}

/// Offsets in bytes as labels have them.
fn offset(address: u64, base: u64) -> String {
    format!("+{}", address.wrapping_sub(base))
}
