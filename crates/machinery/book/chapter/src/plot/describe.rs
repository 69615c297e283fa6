//! Text alternatives of a picture for readers who cannot see it.

use super::requests::requests;
use super::{Figure, Variant};
use crate::number;

/// Returns the title with the GPU and the origin of the times.
pub fn title(figure: &Figure) -> String {
    let gpu = &figure.gpu;
    format!("{}, {}, {}", figure.title, gpu.time, gpu.name)
}

/// Returns the extremes of each chart, one line each.
pub fn description(figure: &Figure) -> Vec<String> {
    let time = |variant: &Variant| Some(variant.milliseconds);
    let count = |variant: &Variant| Some(requests(variant.tally.as_ref()?) as f64);
    let times = extremes(figure, ["Time", "Shortest time", "Longest time"], time);
    let counts = extremes(
        figure,
        ["Requests", "Fewest requests", "Most requests"],
        count,
    );
    let times = times.map(|(label, ms)| format!("{label}, {} ms", number::milliseconds(ms)));
    let counts = counts.map(|(label, count)| format!("{label}, {}", number::count(count as u64)));
    times.chain(counts).collect()
}

/// Returns the variants with the smallest and the largest value, or the only variant that has a value, each
/// with its label from `single`, `min` and `max`.
fn extremes<'a>(
    figure: &'a Figure,
    [single, min, max]: [&'a str; 3],
    value: impl Fn(&Variant) -> Option<f64>,
) -> impl Iterator<Item = (String, f64)> {
    let mut values: Vec<_> = figure
        .shown()
        .iter()
        .filter_map(|variant| Some((value(variant)?, variant)))
        .collect();
    values.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let extremes = match values[..] {
        [] => vec![],
        [value] => vec![(single, value)],
        [first, .., last] => vec![(min, first), (max, last)],
    };
    extremes
        .into_iter()
        .map(|(label, (value, variant))| (format!("{label}: {}", name(variant)), value))
}

/// Returns a variant's name with its group.
fn name(variant: &Variant) -> String {
    match variant.group.as_str() {
        "" => variant.label.clone(),
        group => format!("{}, {group}", variant.label),
    }
}
