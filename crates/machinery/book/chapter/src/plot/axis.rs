//! A chart's axis: positions of values, and ticks.

use std::ops::Range;

/// Steps between ticks within a power of ten.
const STEPS: [f64; 3] = [1.0, 2.0, 5.0];

/// A linear or logarithmic axis.
pub struct Axis {
    range: Range<f64>,
    logarithmic: bool,
    /// Values with a tick mark and a label.
    ticks: Vec<f64>,
    format: fn(f64) -> String,
}

impl Axis {
    /// Creates an axis from zero to slightly above the highest of `values`; to 1 if there are none.
    pub fn linear(values: impl IntoIterator<Item = f64>, format: fn(f64) -> String) -> Axis {
        let highest = values
            .into_iter()
            .filter(|v| v.is_finite())
            .fold(0.0, f64::max);
        let end = if highest > 0.0 { 1.02 * highest } else { 1.0 };
        let power = 10_f64.powf((end / 5.0).log10().floor());
        let step = STEPS
            .map(|step| step * power)
            .into_iter()
            .find(|step| end / step <= 6.0);
        let step = step.unwrap_or(10.0 * power);
        Axis {
            range: 0.0..end,
            logarithmic: false,
            ticks: (0..=(end / step) as u32)
                .map(|tick| f64::from(tick) * step)
                .collect(),
            format,
        }
    }

    /// Creates a logarithmic axis from a power of ten below the lowest of the positive `values` to slightly
    /// above the highest; from 1 to 10 if there are none.
    pub fn logarithmic(values: impl IntoIterator<Item = f64>, format: fn(f64) -> String) -> Axis {
        let values = values.into_iter().filter(|v| v.is_finite() && *v > 0.0);
        let range = values.fold(f64::INFINITY..0.0, |range, value| {
            range.start.min(value)..range.end.max(value)
        });
        if range.end == 0.0 {
            return Axis::between(1.0..10.0, format);
        }
        // Leaves room for a bar at the lowest value.
        let start = 10_f64.powf((0.7 * range.start).log10().floor());
        Axis::between(start..1.15 * range.end, format)
    }

    /// Creates a logarithmic axis with exactly these ends, both positive.
    pub fn between(range: Range<f64>, format: fn(f64) -> String) -> Axis {
        let first = range.start.log10().floor() as i32;
        let last = range.end.log10().ceil() as i32;
        // Few powers of ten leave room for ticks between them; of many powers, some get no tick.
        let steps = if last - first <= 2 {
            &STEPS[..]
        } else {
            &STEPS[..1]
        };
        let every = ((last - first) / 8 + 1) as usize;
        let powers = (first..=last).step_by(every);
        let ticks =
            powers.flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)));
        // Tolerates rounding errors of a tick at the very start.
        let within = range.start * (1.0 - 1e-9)..=range.end;
        Axis {
            ticks: ticks.filter(|tick| within.contains(tick)).collect(),
            range,
            logarithmic: true,
            format,
        }
    }

    /// Returns the suffix of the axis name that marks a logarithmic axis, or an empty string.
    pub fn scale(&self) -> &'static str {
        if self.logarithmic { ", log scale" } else { "" }
    }

    /// Returns the values with ticks and their labels.
    pub fn ticks(&self) -> impl Iterator<Item = (f64, String)> {
        self.ticks.iter().map(|&tick| (tick, (self.format)(tick)))
    }

    /// Returns the pixel of a value on an axis from pixel `start` to pixel `end`.
    pub fn pixel(&self, value: f64, (start, end): (i32, i32)) -> i32 {
        start + (self.fraction(value) * f64::from(end - start)).round() as i32
    }

    /// Returns the position of a value along the axis, 0 to 1; values outside are clamped.
    fn fraction(&self, value: f64) -> f64 {
        let Range { start, end } = self.range;
        let value = value.clamp(start, end);
        if self.logarithmic {
            (value / start).ln() / (end / start).ln()
        } else {
            (value - start) / (end - start)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number;

    fn ticks(axis: &Axis) -> Vec<String> {
        axis.ticks().map(|(_, label)| label).collect()
    }

    #[test]
    fn linear_axes_begin_at_zero() {
        let axis = Axis::linear([0.31, 0.05], number::significant);
        assert_eq!(ticks(&axis), ["0", "0.1", "0.2", "0.3"]);
        let axis = Axis::linear([24.16, 39.26], number::significant);
        assert_eq!(ticks(&axis), ["0", "10", "20", "30", "40"]);
        assert_eq!(axis.pixel(0.0, (100, 500)), 100);
        assert!((480..500).contains(&axis.pixel(39.26, (100, 500))));
    }

    #[test]
    fn logarithmic_axes_begin_below_the_lowest_value() {
        let axis = Axis::logarithmic([0.02, 1.5], number::significant);
        assert_eq!(ticks(&axis), ["0.01", "0.1", "1"]);
        assert_eq!(
            axis.pixel(0.1, (0, 1000)) - axis.pixel(0.01, (0, 1000)),
            axis.pixel(0.1, (0, 1000))
        );
        let axis = Axis::logarithmic([100.0, 400.0], number::significant);
        assert!(axis.pixel(100.0, (0, 1000)) > 100, "the lowest has a bar");
        assert_eq!(ticks(&axis), ["10", "20", "50", "100", "200"]);
        let axis = Axis::logarithmic([1.0, 1e18], number::scaled);
        assert!(ticks(&axis).len() <= 10, "{:?}", ticks(&axis));
    }

    #[test]
    fn invalid_values_are_clamped() {
        for axis in [
            Axis::linear([], number::significant),
            Axis::linear([0.0, f64::NAN, f64::INFINITY], number::significant),
            Axis::logarithmic([], number::significant),
            Axis::logarithmic([0.0, -1.0, f64::NAN, f64::INFINITY], number::significant),
        ] {
            assert!(!axis.ticks.is_empty());
            assert_eq!(axis.pixel(f64::INFINITY, (10, 20)), 20);
            assert_eq!(axis.pixel(-1.0, (10, 20)), 10);
            assert!((10..=20).contains(&axis.pixel(f64::NAN, (10, 20))));
        }
    }
}
