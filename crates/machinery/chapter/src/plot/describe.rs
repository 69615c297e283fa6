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
    let times = ends(figure, ["Time", "Shortest time", "Longest time"], time);
    let counts = ends(
        figure,
        ["Requests", "Fewest requests", "Most requests"],
        count,
    );
    let times = times.map(|(what, ms)| format!("{what}, {} ms", number::milliseconds(ms)));
    let counts = counts.map(|(what, count)| format!("{what}, {}", number::count(count as u64)));
    times.chain(counts).collect()
}

/// Returns the variants with the least and the most of something, or the only variant that has a value. The
/// names describe the only one, the least and the most.
fn ends<'a>(
    figure: &'a Figure,
    [only, least, most]: [&'a str; 3],
    value: impl Fn(&Variant) -> Option<f64>,
) -> impl Iterator<Item = (String, f64)> {
    let mut known: Vec<_> = figure
        .shown()
        .iter()
        .filter_map(|variant| Some((value(variant)?, variant)))
        .collect();
    known.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let ends = match known[..] {
        [] => vec![],
        [one] => vec![(only, one)],
        [first, .., last] => vec![(least, first), (most, last)],
    };
    ends.into_iter()
        .map(|(what, (value, variant))| (format!("{what}: {}", name(variant)), value))
}

/// Returns a variant's name with its group.
fn name(variant: &Variant) -> String {
    match variant.group.as_str() {
        "" => variant.label.clone(),
        group => format!("{}, {group}", variant.label),
    }
}
