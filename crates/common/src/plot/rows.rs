//! Rows of a chart, one a variant, with the names of groups above theirs.

use super::{Variant, font, pen};

/// Height of a group's name.
const NAME: i32 = 24;
/// Between one group and the next.
const GAP: i32 = 8;

/// One variant's place in a chart.
pub struct Row<'a> {
    /// The variant.
    pub variant: &'a Variant,
    /// Its upper edge, from the chart's.
    pub top: i32,
    /// Its group's name, where this is the first row of it, and the middle of the line to write
    /// it on.
    pub name: Option<(&'a str, i32)>,
}

/// Rows of `height` pixels each, and the height of all of them.
pub fn rows<'a>(
    variants: impl IntoIterator<Item = &'a Variant>,
    height: i32,
) -> (Vec<Row<'a>>, i32) {
    let mut rows: Vec<Row> = Vec::new();
    let mut top = 0;
    for variant in variants {
        let last = rows.last().map_or("", |row| &row.variant.group);
        let mut name = None;
        if variant.group != last {
            top += if rows.is_empty() { 0 } else { GAP };
            if !variant.group.is_empty() {
                name = Some((variant.group.as_str(), top + NAME / 2));
                top += NAME;
            }
        }
        rows.push(Row { variant, top, name });
        top += height;
    }
    (rows, top)
}

/// How wide a column for the variants' names has to be, at most `most` pixels.
pub fn column<'a>(names: impl IntoIterator<Item = &'a str>, most: i32) -> i32 {
    let widths = names.into_iter().map(|name| font::width(name, pen::BODY));
    (widths.fold(0.0, f64::max).ceil() as i32 + 1).min(most)
}
