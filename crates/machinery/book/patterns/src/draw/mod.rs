//! Drawings of warps' memory accesses.

pub mod banks;
pub mod lines;
pub mod requests;
pub mod svg;

use crate::language::Language;
use svg::{Class, Svg};

/// Width of every drawing. With this width, text of size [`svg::FONT_SIZE`] is legible on a phone whose page
/// is 360 pixels wide.
pub const WIDTH: f64 = 408.0;
/// x coordinate at which memory is drawn; the addresses are left of it.
pub const LEFT: f64 = 60.0;
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
