//! Drawing of a warp's load from constant memory: a row per request, that is, per distinct address, with
//! the lanes that the request serves.

use cuda_sim::exec::Traced;

use super::svg::{Class, Svg};
use super::{CELL, GROUP, LEFT, cell, colour, offset};
use crate::language::Language;

/// Draws a row for each request of `read`, starting at `y`, with a cell for each lane that it serves.
/// Addresses are relative to `base`. Returns the y coordinate below the rows.
pub fn draw(svg: &mut Svg, y: f64, read: &Traced, base: u64, language: Language) -> f64 {
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
