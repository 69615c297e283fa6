//! What there is to see in a picture, in words, for who does not see it.

use super::requests::requests;
use super::{Figure, Variant};
use crate::number;

/// What was run, and where its times are from.
pub fn title(figure: &Figure) -> String {
    let gpu = &figure.gpu;
    format!("{}, {}, {}", figure.title, gpu.time, gpu.name)
}

/// The ends of what the charts show, a line each.
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

/// Which variants have the least and the most of something, or the only one that has it; `names`
/// are for the only one, the least and the most.
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

/// A variant's name where its group's does not stand above it.
fn name(variant: &Variant) -> String {
    match variant.group.as_str() {
        "" => variant.label.clone(),
        group => format!("{}, {group}", variant.label),
    }
}
