//! Drawings of warps' memory accesses.

pub mod banks;
pub mod lines;
pub mod svg;

use cuda_sim::exec::Traced;

use crate::language::Language;
use svg::{Class, Svg};

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
