//! Shared memory as a warp's read finds it: 32 banks side by side, a word of each in a row.

use std::collections::BTreeMap;

use cuda_sim::exec::Traced;
use cuda_sim::profile::traffic::{BANKS, LINE, WORD, bank};

use super::lines::ranges;
use super::svg::{Class, Svg};
use super::{CELL, LEFT, ROW, cell, colour, offset};
use crate::language::Language;

/// A row's height.
const HIGH: f64 = 8.0;

/// Draws the rows that `read` touches, from `y` on. Returns where they end.
pub fn draw(svg: &mut Svg, y: f64, read: &Traced, language: Language) -> f64 {
    svg.text_right(
        LEFT - 6.0,
        y + 12.0,
        Class::Faint,
        language.of("bank", "存储体"),
    );
    for number in [0, 8, 16, 24, BANKS - 1] {
        svg.text_middle(
            cell(number) + 5.0,
            y + 12.0,
            Class::Faint,
            &number.to_string(),
        );
    }
    let mut rows: BTreeMap<u64, BTreeMap<u64, Vec<usize>>> = BTreeMap::new();
    for (lane, address) in read.lanes() {
        for word in 0..read.bytes.div_ceil(WORD) {
            let at = (address / WORD + word) * WORD;
            rows.entry(at / LINE)
                .or_default()
                .entry(at)
                .or_default()
                .push(lane);
        }
    }
    let (mut y, mut before) = (y + 18.0, None);
    for (drawn, (&row, words)) in rows.iter().enumerate() {
        if before.is_some_and(|before| before + 1 != row) {
            y += HIGH / 2.0;
        }
        if drawn % 4 == 0 {
            svg.text_right(LEFT - 6.0, y + 10.0, Class::Faint, &offset(row * LINE, 0));
        }
        svg.rect(LEFT, y, ROW - 2.0, HIGH, Class::Empty);
        for (&at, who) in words {
            let (bank, which) = (bank(at), ranges(who));
            let what = language.of(
                format!("lane {which}: bank {bank}, byte {at}"),
                format!("通道 {which}：存储体 {bank}，字节 {at}"),
            );
            svg.rect_of([cell(bank), y, CELL - 1.0, HIGH], colour(who[0]), &what);
        }
        (y, before) = (y + HIGH + 1.0, Some(row));
    }
    y + 4.0
}
