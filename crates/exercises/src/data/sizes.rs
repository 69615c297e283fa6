//! The sizes at which submissions run.

use std::iter;

use anyhow::{Result, ensure};
use serde::Deserialize;

use crate::text::format_size;

/// Sizes of one to three numbers, x first.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    /// The fixed sizes.
    pub tests: Vec<Vec<u32>>,
    /// The sizes drawn for each grading.
    pub random: Random,
    /// The size at which counters and the modelled time are measured.
    pub graded: Option<Vec<u32>>,
    /// The range of one more size, larger than the graded one; by default with 1.6 to 2 times as many elements. It
    /// catches kernels that work, or are fast, only at the known sizes.
    pub beyond: Option<SizeRange>,
    /// The names of a size's numbers, such as M, N, P.
    #[serde(default)]
    pub names: Vec<String>,
    /// The number of elements per unit of a size's numbers, for example the side of a tile; 1 by default.
    pub unit: Option<u32>,
    /// The maximum of each number, if the exercise limits them, except for the size that is timed on a GPU.
    #[serde(default)]
    pub at_most: Vec<u32>,
}

/// A range from which several sizes are drawn, both ends included.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Random {
    /// The minimum of each number.
    pub from: Vec<u32>,
    /// The maximum of each number.
    pub to: Vec<u32>,
    /// The number of sizes drawn.
    pub count: u32,
}

/// A range from which one size is drawn, both ends included.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeRange {
    /// The minimum of each number.
    pub from: Vec<u32>,
    /// The maximum of each number.
    pub to: Vec<u32>,
}

/// The maximum number of sizes drawn.
const MAX_DRAWN: u32 = 1000;

impl Sizes {
    /// Checks that all sizes, including the one timed on a GPU, have the same number of dimensions.
    pub(super) fn validate(&self, timed: Option<&Vec<u32>>) -> Result<()> {
        ensure!(!self.tests.is_empty(), "[sizes] has no tests");
        let dimensions = self.random.from.len();
        ensure!(
            (1..=3).contains(&dimensions),
            "[sizes] random: `from` has one to three numbers"
        );
        ensure!(
            self.names.is_empty() || self.names.len() == dimensions,
            "[sizes] names: there must be one for each of the {dimensions} numbers, or none"
        );
        check_range("random", &self.random.from, &self.random.to)?;
        ensure!(
            self.at_most.is_empty() || self.at_most.len() == dimensions,
            "[sizes] at_most: there must be one for each of the {dimensions} numbers, or none"
        );
        ensure!(
            self.random.count <= MAX_DRAWN,
            "[sizes] random: `count` is at most {MAX_DRAWN}"
        );
        let all = self.tests.iter().chain([&self.random.to]);
        let all = all.chain(&self.graded).chain(timed);
        let all = all.chain(self.beyond.iter().map(|beyond| &beyond.to));
        for size in all {
            ensure!(
                size.len() == dimensions && !size.contains(&0),
                "[sizes] {size:?}: every size must have {dimensions} numbers above 0, like `random`"
            );
            ensure!(
                timed == Some(size)
                    || size
                        .iter()
                        .zip(&self.at_most)
                        .all(|(number, limit)| number <= limit),
                "[sizes] {size:?} is above `at_most`"
            );
        }
        let Some(beyond) = &self.beyond else {
            return Ok(());
        };
        check_range("beyond", &beyond.from, &beyond.to)?;
        ensure!(
            self.graded
                .as_ref()
                .is_some_and(|graded| is_greater(&beyond.from, graded)),
            "[sizes] beyond: `from` must be greater than `graded` in at least one number, and less \
             in none"
        );
        Ok(())
    }

    /// Returns a size's numbers in elements with their names in the description. Without explicit names these
    /// are `n` for one number and `width`, `height` and `depth` for more.
    pub fn named<'a>(&'a self, size: &[u32]) -> Vec<(&'a str, u32)> {
        let usual: &[&str] = match size.len() {
            1 => &["n"],
            _ => &["width", "height", "depth"],
        };
        let names = self.names.iter().map(String::as_str);
        let names = names.chain(usual.iter().skip(self.names.len()).copied());
        let unit = self.unit.unwrap_or(1);
        names
            .zip(size.iter().map(|&number| number.saturating_mul(unit)))
            .collect()
    }

    /// Formats a size: `M = 16, N = 48, P = 32` if its numbers have names, otherwise `16 × 48 × 32`.
    pub fn format(&self, size: &[u32]) -> String {
        if self.names.is_empty() || self.names.len() != size.len() {
            return format_size(size);
        }
        let unit = self.unit.unwrap_or(1);
        let dimensions = self.names.iter().zip(size);
        let dimensions =
            dimensions.map(|(name, number)| format!("{name} = {}", number.saturating_mul(unit)));
        dimensions.collect::<Vec<_>>().join(", ")
    }

    /// Returns true if a size has more elements than all sizes of the tests.
    pub fn is_beyond_tests(&self, size: &[u32]) -> bool {
        let tests = self.tests.iter().chain([&self.random.to]);
        tests.map(|test| element_count(test)).max() < Some(element_count(size))
    }

    /// Draws a size from all between those of the tests and that beyond the graded one, with another longest side, whose
    /// numbers are multiples of powers of two. `random` returns numbers from 0 to 1. All magnitudes of the number of elements are
    /// equally likely.
    pub fn draw_any(&self, beyond: &[u32], mut random: impl FnMut() -> f64) -> Vec<u32> {
        let elements =
            |size: &[u32]| -> f64 { size.iter().map(|&number| f64::from(number).ln()).sum() };
        let [from, to] = [&self.random.to, beyond].map(elements);
        let total = from.min(to) + random() * (to - from).abs();
        // In most draws, one number is much larger than the others.
        let mut shares: Vec<f64> = beyond.iter().map(|_| 1e-3 + random().powi(3)).collect();
        // The longest side is another one than at the graded size: a kernel may be fast for wide matrices only.
        let (longest, largest) = (longest(beyond), longest(&shares));
        if longest == largest {
            shares.swap(largest, (largest + 1) % beyond.len());
        }
        let sum: f64 = shares.iter().sum();
        let numbers = shares.iter().zip(&self.random.from).zip(self.limits());
        let numbers = numbers.map(|((share, &from), limit)| {
            let number = (total * share / sum).exp().round() as u32;
            let number = number.max(from).min(limit);
            multiple_below(number).max(from)
        });
        numbers.collect()
    }

    /// Returns the limit of each number of a drawn size.
    fn limits(&self) -> impl Iterator<Item = u32> {
        let default = match self.random.from.len() {
            1 => u32::MAX,
            _ => MAX_NUMBER,
        };
        self.at_most.iter().copied().chain(iter::repeat(default))
    }

    /// Draws a size with 0.3 to 0.9 of the elements of the graded one and similar proportions. `random` returns numbers from
    /// 0 to 1.
    pub fn draw_below(&self, graded: &[u32], mut random: impl FnMut() -> f64) -> Vec<u32> {
        let dimensions = graded.len() as i32;
        let factor = (0.3 + 0.6 * random()).powf(1.0 / f64::from(dimensions));
        // One number becomes up to 1.6 times as large in proportion, or as small.
        let aspect = 1.6_f64.powf(2.0 * random() - 1.0);
        let numbers = graded.iter().zip(&self.random.from).enumerate();
        let numbers = numbers.map(|(index, (&number, &from))| {
            let aspect = match (dimensions, index) {
                (1, _) => 1.0,
                (_, 0) => aspect,
                _ => aspect.powf(-1.0 / f64::from(dimensions - 1)),
            };
            ((f64::from(number) * factor * aspect).round() as u32).max(from)
        });
        numbers.collect()
    }

    /// Draws sizes of several numbers, one of which is as large as it may be or too large for 16 bits, while the others
    /// are small. If sizes have one number, it is a large multiple of a power of two. `random` returns numbers from 0 to 1.
    pub fn draw_elongated(&self, beyond: &[u32], mut random: impl FnMut() -> f64) -> Vec<Vec<u32>> {
        let from = &self.random.from;
        let shortest = MIN_BEYOND / f64::from(self.unit.unwrap_or(1));
        let mut draw = |long: usize| {
            let numbers = from.iter().zip(self.limits()).enumerate();
            let numbers = numbers.map(|(index, (&from, limit))| {
                let number = match index == long {
                    true => (shortest * (1.0 + 0.25 * random())).ceil() as u32,
                    false => from + random().round() as u32,
                };
                number.min(limit)
            });
            numbers.collect()
        };
        match from.len() {
            1 => vec![vec![multiple_below(beyond[0])]],
            dimensions => (0..dimensions).map(&mut draw).collect(),
        }
    }

    /// Returns the range of the size beyond the graded one.
    pub fn beyond(&self, graded: &[u32]) -> SizeRange {
        self.beyond.clone().unwrap_or_else(|| {
            let in_units = self.unit.is_some() || !self.names.is_empty();
            let mut range = default_beyond(graded, in_units);
            for numbers in [&mut range.from, &mut range.to] {
                for (number, limit) in numbers.iter_mut().zip(&self.at_most) {
                    *number = (*number).min(*limit);
                }
            }
            range
        })
    }
}

/// Returns the index of the largest number.
fn longest<T: PartialOrd>(numbers: &[T]) -> usize {
    (0..numbers.len()).fold(0, |longest, index| {
        match numbers[index] > numbers[longest] {
            true => index,
            false => longest,
        }
    })
}

/// Rounds down to a multiple of 4096, or of the largest power of two up to half of a smaller number.
fn multiple_below(number: u32) -> u32 {
    let multiple = (1 << (number.max(2).ilog2() - 1)).min(4096_u32);
    number / multiple * multiple
}

/// Returns the product of a size's numbers.
pub fn element_count(size: &[u32]) -> u128 {
    size.iter().map(|&number| u128::from(number)).product()
}

/// Checks that both bounds have the same number of dimensions and that `from` does not exceed `to` in any of
/// them.
fn check_range(name: &str, from: &[u32], to: &[u32]) -> Result<()> {
    ensure!(
        from.len() == to.len(),
        "[sizes] {name}: `from` and `to` must have the same number of numbers"
    );
    ensure!(
        from.iter().zip(to).all(|(from, to)| from <= to),
        "[sizes] {name}: `to` is less than `from`"
    );
    Ok(())
}

fn is_greater(first: &[u32], other: &[u32]) -> bool {
    first != other && first.iter().zip(other).all(|(first, other)| first >= other)
}

/// The maximum of each number of a size of several, so that grids do not exceed 65,535 blocks.
const MAX_NUMBER: u32 = 200_000;

/// The number of elements that the size beyond the graded one has at least: too many for 16-bit indices.
const MIN_BEYOND: f64 = 66_000.0;

/// Returns the default range beyond a size: about 1.6 to 2 times as many elements in all. `in_units` is true if the size's
/// numbers count more than single elements.
fn default_beyond(graded: &[u32], in_units: bool) -> SizeRange {
    let elements: f64 = graded.iter().map(|&number| f64::from(number)).product();
    let growth = match in_units {
        true => 1.6,
        false => f64::max(1.6, MIN_BEYOND / elements),
    };
    let scaled = |growth: f64| {
        let factor = growth.powf(1.0 / graded.len() as f64);
        let numbers = graded.iter();
        numbers.map(move |&number| (f64::from(number) * factor).ceil() as u32)
    };
    SizeRange {
        from: scaled(growth).collect(),
        to: scaled(1.25 * growth).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_compared_by_their_elements() {
        let sizes: Sizes = toml::from_str(
            "tests = [[1, 1], [30, 40]]\nrandom = { from = [1, 1], to = [50, 60], count = 1 }",
        )
        .unwrap();
        assert!(!sizes.is_beyond_tests(&[3000, 1]));
        assert!(!sizes.is_beyond_tests(&[50, 60]));
        assert!(sizes.is_beyond_tests(&[64, 64]));
    }

    #[test]
    fn drawn_sizes_have_all_proportions_and_magnitudes() {
        let sizes: Sizes = toml::from_str(
            "tests = [[1, 1]]\nrandom = { from = [2, 1], to = [50, 60], count = 1 }\nat_most = [9000, 2000]",
        )
        .unwrap();
        let mut random = rand_pcg::Pcg32::new(1, 1);
        let mut uniform = || {
            use rand_pcg::rand_core::Rng as _;
            f64::from(random.next_u32()) / f64::from(u32::MAX)
        };
        let drawn: Vec<Vec<u32>> = (0..300)
            .map(|_| sizes.draw_any(&[400, 300], &mut uniform))
            .collect();
        let elements = |size: &Vec<u32>| size[0] * size[1];
        assert!(
            drawn
                .iter()
                .all(|size| size[0] >= 2 && size[0] <= 9000 && size[1] <= 2000)
        );
        assert!(drawn.iter().all(|size| elements(size) <= 130_000));
        assert!(drawn.iter().any(|size| elements(size) > 60_000));
        assert!(drawn.iter().any(|size| size[0] < 20 && size[1] > 1000));
        assert!(drawn.iter().any(|size| size[0] > 150 && size[1] > 150));
        // The graded size is wide, and these are high.
        assert!(drawn.iter().all(|size| size[0] < 2 * size[1]));
        assert_eq!(
            [1, 2, 3, 7, 100, 8191, 8192, 20_000].map(multiple_below),
            [1, 2, 3, 6, 96, 6144, 8192, 16_384]
        );
    }

    #[test]
    fn elongated_sizes_have_one_large_number() {
        let sizes: Sizes = toml::from_str(
            "tests = [[1, 1, 1]]\nrandom = { from = [2, 1, 1], to = [50, 60, 9], count = 1 }\nat_most = [200000, 200000, 64]",
        )
        .unwrap();
        let drawn = sizes.draw_elongated(&[1, 1, 1], || 0.5);
        assert_eq!(drawn, [[74_250, 2, 2], [3, 74_250, 2], [3, 2, 64]]);
        assert_eq!(sizes.draw_below(&[64, 48, 20], || 0.5), [54, 40, 17]);
        assert_eq!(sizes.draw_below(&[64, 48, 20], || 1.0), [99, 37, 15]);
        assert_eq!(sizes.draw_below(&[2, 1, 1], || 0.0), [2, 1, 1]);
    }

    #[test]
    fn the_default_range_is_larger() {
        let between = |graded: &[u32], in_units| {
            let SizeRange { from, to } = default_beyond(graded, in_units);
            assert!(is_greater(&from, graded));
            assert!(check_range("", &from, &to).is_ok());
            (from, to)
        };
        assert_eq!(between(&[100_000], false), (vec![160_000], vec![200_000]));
        assert_eq!(between(&[8192], false), (vec![66_000], vec![82_500]));
        assert_eq!(between(&[6, 8, 4], true), (vec![8, 10, 5], vec![8, 11, 6]));
        assert_eq!(
            between(&[320, 192], false),
            (vec![405, 243], vec![453, 272])
        );
    }
}
