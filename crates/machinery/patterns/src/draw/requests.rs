//! Constant memory as a warp's read finds it: a request for each distinct address, which serves the
//! lanes that have it.

use cuda_sim::exec::Traced;

use super::svg::{Class, Svg};
use super::{CELL, GROUP, LEFT, cell, colour, offset};
use crate::language::Language;

/// Draws a row for each request of `read`, from `y` on: a cell for each lane it serves. Addresses are
/// relative to `base`. Returns where they end.
pub fn draw(svg: &mut Svg, y: f64, read: &Traced, base: u64, language: Language) -> f64 {
    let mut requests: Vec<(u64, Vec<usize>)> = Vec::new();
    for (lane, address) in read.lanes() {
        match requests.iter_mut().find(|(known, _)| *known == address) {
            Some((_, served)) => served.push(lane),
            None => requests.push((address, vec![lane])),
        }
    }
    // A few are drawn high enough for their addresses, many close together.
    let (high, labelled) = match requests.len() {
        0..=8 => (14.0, 1),
        _ => (4.0, 8),
    };
    let mut y = y;
    for (number, (address, served)) in requests.iter().enumerate() {
        if number % labelled == 0 {
            let middle = y + (high / 2.0 + 5.0_f64).max(10.0);
            svg.text_right(LEFT - 6.0, middle, Class::Faint, &offset(*address, base));
        }
        for group in 0..4 {
            svg.rect(cell(8 * group), y, GROUP - 3.0, high, Class::Empty);
        }
        for &lane in served {
            let from = address.wrapping_sub(base);
            let what = language.of(
                format!("request {}: byte {from}, lane {lane}", number + 1),
                format!("第 {} 次请求：字节 {from}，通道 {lane}", number + 1),
            );
            svg.rect_of([cell(lane), y, CELL - 1.0, high], colour(lane), &what);
        }
        y += high + 1.0;
    }
    y + 4.0
}
