//! Drawing of a warp's load from shared memory: a row per 128 bytes, with a cell per bank.

use std::collections::BTreeMap;

use cuda_sim::exec::Traced;
use cuda_sim::profile::traffic::{BANKS, LINE, WORD, bank};

use super::lines::ranges;
use super::svg::{Class, Svg};
use super::{CELL, LEFT, ROW, cell, colour, offset};
use crate::language::Language;

/// Height of a row.
const ROW_HEIGHT: f64 = 7.0;

/// Draws the rows that `read` touches, starting at `y`. Returns the y coordinate below them.
pub fn draw(svg: &mut Svg, y: f64, read: &Traced, language: Language) -> f64 {
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
            y += ROW_HEIGHT / 2.0;
        }
        if index % 4 == 0 {
            svg.text_right(LEFT - 6.0, y + 10.0, Class::Faint, &offset(row * LINE, 0));
        }
        svg.rect(LEFT, y, ROW - 2.0, ROW_HEIGHT, Class::Empty);
        for (&word_address, lanes) in words {
            let (bank, lane_ranges) = (bank(word_address), ranges(lanes));
            let tooltip = language.pick(
                format!("lane {lane_ranges}: bank {bank}, byte {word_address}"),
                format!("通道 {lane_ranges}：存储体 {bank}，字节 {word_address}"),
            );
            svg.rect_with_tooltip(
                [cell(bank), y, CELL - 1.0, ROW_HEIGHT],
                colour(lanes[0]),
                &tooltip,
            );
        }
        (y, previous) = (y + ROW_HEIGHT + 1.0, Some(row));
    }
    y + 4.0
}
