//! The record of a kernel's run: hashes of exact results, and the values of approximate ones with their error bounds.
//!
//! The bounds are those of PTX ISA, sections 9.7.3 and 9.7.4, which give a precision for each instruction. The simulator
//! returns the exact value rounded to nearest, and a GPU a value within the bound of the exact one. The two may therefore
//! differ by the bound plus half a unit in the last place.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::kernel::{Kernel, Slot};
use crate::worker::KernelOutput;

/// The unit in which a difference is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// Units in the last place (ulps) of the result.
    Ulps,
    /// A fraction of the result.
    Relative,
    Absolute,
    /// NaN or infinity on one side, and another value on the other.
    Special,
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Measure::Ulps => "ulp",
            Measure::Relative => "relative",
            Measure::Absolute => "absolute",
            Measure::Special => "special values",
        })
    }
}

/// The difference between two results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distance {
    pub measure: Measure,
    pub value: f64,
    /// The largest difference that the ISA allows between the two sides; `None` if it states no bound.
    pub bound: Option<f64>,
}

impl Distance {
    /// Returns true if the ISA allows the difference.
    pub fn is_within_bound(&self) -> bool {
        self.bound.is_none_or(|bound| self.value <= bound)
    }
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |value: f64| match self.measure {
            Measure::Ulps | Measure::Special => format!("{value}"),
            _ if value == 0.0 => "0".to_owned(),
            _ => format!("2^{:.2}", value.log2()),
        };
        write!(f, "{}", number(self.value))?;
        match self.bound {
            Some(bound) => write!(f, " (allowed: {})", number(bound)),
            None => write!(f, " (no bound is stated)"),
        }
    }
}

/// A result's format: the bits of its fraction, the smallest exponent of a normal number, and its value.
struct Format {
    fraction: i32,
    min_exponent: i32,
    value: fn(u64) -> f64,
}

const SINGLE: Format = Format {
    fraction: 23,
    min_exponent: -126,
    value: |bits| f64::from(f32::from_bits(bits as u32)),
};
const DOUBLE: Format = Format {
    fraction: 52,
    min_exponent: -1022,
    value: f64::from_bits,
};
const HALF: Format = Format {
    fraction: 10,
    min_exponent: -14,
    value: half,
};
const BFLOAT: Format = Format {
    fraction: 7,
    min_exponent: -126,
    value: |bits| f64::from(f32::from_bits((bits as u32) << 16)),
};

fn half(bits: u64) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = ((bits >> 10 & 31) as i32, (bits & 0x3ff) as f64);
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    }
}

impl Format {
    /// Returns the unit in the last place at `near`.
    fn ulp(&self, near: f64) -> f64 {
        let exponent = if near == 0.0 || !near.is_finite() {
            self.min_exponent
        } else {
            (near.abs().log2().floor() as i32).max(self.min_exponent)
        };
        // Multiplies two powers, because one alone could underflow.
        2f64.powi(exponent.max(-1000)) * 2f64.powi(exponent.min(-1000) + 1000 - self.fraction)
    }
}

/// Returns the number of operands of a form.
pub fn operands(form: &str) -> usize {
    if form.starts_with("div") { 2 } else { 1 }
}

/// Returns the differences between two results for the same operands: one, or two for a pair of halves.
pub fn compare(form: &str, operands: &[u64], simulator: u64, gpu: u64) -> Vec<Distance> {
    let parts: Vec<&str> = form.split('.').collect();
    let ty = parts[parts.len() - 1];
    if let Some(single) = ty.strip_suffix("x2") {
        let form = format!("{}.{single}", parts[..parts.len() - 1].join("."));
        let part = |shift: u32| {
            let cut = |word: u64| word >> shift & 0xffff;
            let operands: Vec<u64> = operands.iter().copied().map(cut).collect();
            compare_scalar(&form, &operands, cut(simulator), cut(gpu))
        };
        return vec![part(0), part(16)];
    }
    vec![compare_scalar(form, operands, simulator, gpu)]
}

fn compare_scalar(form: &str, operands: &[u64], simulator: u64, gpu: u64) -> Distance {
    let parts: Vec<&str> = form.split('.').collect();
    let (name, ty) = (parts[0], parts[parts.len() - 1]);
    let format = match ty {
        "f16" => HALF,
        "bf16" => BFLOAT,
        "f32" => SINGLE,
        _ => DOUBLE,
    };
    let (x, y) = ((format.value)(simulator), (format.value)(gpu));
    let operand_values: Vec<f64> = operands.iter().map(|&bits| (format.value)(bits)).collect();
    let (measure, isa_bound) = isa_bound(name, &parts, ty, &operand_values, x);
    let ulp = format.ulp(x);
    if x.is_nan() || y.is_nan() || x.is_infinite() || y.is_infinite() {
        let same = simulator == gpu || (x.is_nan() && y.is_nan());
        // Near infinity, one unit decides between the largest finite number and infinity.
        let largest = 2f64.powi(1 - format.min_exponent);
        let near = |a: f64, b: f64| a.is_infinite() && b.abs() >= largest * 0.999;
        let allowed = same || near(x, y) || near(y, x) || isa_bound.is_none();
        return Distance {
            measure: Measure::Special,
            value: if allowed { 0.0 } else { 1.0 },
            bound: Some(0.0),
        };
    }
    let difference = (x - y).abs();
    let half = ulp / 2.0;
    match measure {
        Measure::Ulps => Distance {
            measure,
            value: difference / ulp,
            // The difference is a whole number of ulps, so the half ulp is rounded up.
            bound: isa_bound.map(|isa_bound| isa_bound + 1.0),
        },
        Measure::Relative => {
            let size = x.abs().max(2f64.powi(format.min_exponent));
            Distance {
                measure,
                value: difference / size,
                bound: isa_bound.map(|isa_bound| isa_bound + 2.0 * half / size),
            }
        }
        _ => Distance {
            measure,
            value: difference,
            bound: isa_bound.map(|isa_bound| isa_bound + 2.0 * half),
        },
    }
}

/// Returns the measure and the bound that the ISA states.
fn isa_bound(
    name: &str,
    parts: &[&str],
    ty: &str,
    operand_values: &[f64],
    exact: f64,
) -> (Measure, Option<f64>) {
    let power = |exponent: f64| Some(2f64.powf(exponent));
    let full_circle = 2.0 * std::f64::consts::PI;
    match (name, ty) {
        ("sin" | "cos", _) => {
            let isa_bound = match operand_values[0].abs() {
                angle if angle <= full_circle => power(-20.5),
                angle if angle <= 50.0 * full_circle => power(-14.7),
                // For larger angles, infinity and NaN, only the class of the result is compared.
                _ => None,
            };
            (Measure::Absolute, isa_bound)
        }
        ("lg2", _) if operand_values[0] > 0.5 && operand_values[0] < 2.0 => {
            (Measure::Absolute, power(-22.0))
        }
        ("lg2", _) => (Measure::Relative, power(-22.0)),
        ("ex2", "f32") => (Measure::Ulps, Some(2.0)),
        ("ex2", "f16") => (Measure::Relative, power(-9.9)),
        ("ex2", _) => (Measure::Relative, power(-7.0)),
        ("tanh", "f32") => (Measure::Relative, power(-11.0)),
        ("tanh", "f16") => (Measure::Absolute, power(-10.987)),
        ("tanh", _) => (Measure::Relative, power(-8.0)),
        ("rcp", "f32") => (Measure::Ulps, Some(1.0)),
        ("sqrt", "f32") => (Measure::Relative, power(-23.0)),
        ("rsqrt", "f32") => (Measure::Relative, power(-22.9)),
        ("div", _) if parts.contains(&"full") => (Measure::Ulps, Some(2.0)),
        ("div", _) => {
            let b = operand_values[1].abs();
            let covered = (2f64.powi(-126)..=2f64.powi(126)).contains(&b);
            (Measure::Ulps, covered.then_some(2.0))
        }
        // Only the upper 32 bits are computed, and their fraction has 20 bits.
        ("rcp" | "rsqrt", _) if parts.contains(&"ftz") => {
            let isa_bound =
                (exact.abs() >= f64::MIN_POSITIVE || exact == 0.0).then_some(2f64.powi(-20));
            (Measure::Relative, isa_bound)
        }
        _ => (Measure::Relative, power(-22.9)),
    }
}

/// Default number of threads whose approximate results are saved. Runs must be compared with the same number.
pub const SAVED_THREADS: usize = 2;

/// One line of a saved run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub kernel: u64,
    /// A hash of every exact slot, then one of the cells, with eight hexadecimal digits each.
    pub hashes: String,
    /// Approximate results, in the order of their slots.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approximate: Vec<Approximate>,
}

/// The operands and results of an approximate instruction in some threads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approximate {
    pub form: String,
    /// Operands and result of each thread in turn, as hexadecimal words separated by spaces.
    pub words: String,
}

impl Record {
    /// Creates the record of a kernel's output, with the approximate results of up to `max_threads` threads.
    pub fn new(kernel: &Kernel, output: &KernelOutput, max_threads: usize) -> Record {
        let threads = kernel.threads();
        let slot = |n: usize| &output.words[n * threads..(n + 1) * threads];
        let mut hashes = String::new();
        let mut approximate = Vec::new();
        for (n, slot_kind) in kernel.slots.iter().enumerate() {
            match slot_kind {
                Slot::Exact(_) => hashes += &format!("{:08x}", hash(slot(n))),
                Slot::Approximate { form, operands } => {
                    // Sample threads from the whole grid.
                    let step = threads.div_ceil(max_threads.max(1)).max(1);
                    let words: Vec<String> = (0..threads)
                        .step_by(step)
                        .flat_map(|thread| {
                            (0..=*operands).map(move |thread_operand| (thread, thread_operand))
                        })
                        .map(|(thread, operand)| {
                            format!("{:x}", slot(n - operands + operand)[thread])
                        })
                        .collect();
                    approximate.push(Approximate {
                        form: form.clone(),
                        words: words.join(" "),
                    });
                }
            }
        }
        hashes += &format!("{:08x}", hash(&output.cells));
        Record {
            kernel: kernel.number,
            hashes,
            approximate,
        }
    }

    /// Reduces the approximate results to those of at most `threads` threads.
    pub fn truncate(&mut self, threads: usize) {
        for approximate in &mut self.approximate {
            let stride = operands(&approximate.form) + 1;
            let words: Vec<&str> = approximate.words.split(' ').collect();
            let step = (words.len() / stride).div_ceil(threads.max(1)).max(1);
            let sampled: Vec<&str> = words
                .chunks(stride)
                .step_by(step)
                .flatten()
                .copied()
                .collect();
            approximate.words = sampled.join(" ");
        }
    }

    /// Returns the names of the exact slots that differ.
    pub fn differing_slots(&self, other: &Record, kernel: &Kernel) -> Vec<String> {
        let exact = kernel.slots.iter().filter_map(|slot| match slot {
            Slot::Exact(name) => Some(name.as_str()),
            Slot::Approximate { .. } => None,
        });
        let names = exact.chain(["global cells"]);
        let chunk = |text: &str, n: usize| text.get(8 * n..8 * n + 8).map(str::to_owned);
        names
            .enumerate()
            .filter(|(n, _)| chunk(&self.hashes, *n) != chunk(&other.hashes, *n))
            .map(|(_, name)| name.to_owned())
            .collect()
    }
}

/// The largest difference of approximate results for each form, and the differences that exceed their bounds.
#[derive(Debug, Default, Clone)]
pub struct Distances {
    pub largest: BTreeMap<String, Distance>,
    pub violations: Vec<String>,
    pub compared: u64,
}

impl Distances {
    /// Adds a pair of records of one kernel.
    pub fn add(&mut self, simulator: &Record, gpu: &Record) {
        for (a, b) in simulator.approximate.iter().zip(&gpu.approximate) {
            let words = |text: &str| -> Vec<u64> {
                text.split(' ')
                    .filter_map(|word| u64::from_str_radix(word, 16).ok())
                    .collect()
            };
            let (simulator, gpu) = (words(&a.words), words(&b.words));
            let operands = operands(&a.form);
            let pairs = simulator.chunks(operands + 1).zip(gpu.chunks(operands + 1));
            for (x, y) in pairs {
                if x.len() != operands + 1 || x[..operands] != y[..operands] {
                    // Different operands are reported through their own slots.
                    continue;
                }
                self.compared += 1;
                for distance in compare(&a.form, &x[..operands], x[operands], y[operands]) {
                    if !distance.is_within_bound() && self.violations.len() < 1000 {
                        self.violations.push(format!(
                            "{} of {:x?}: simulator {:x}, GPU {:x}: {distance}",
                            a.form,
                            &x[..operands],
                            x[operands],
                            y[operands]
                        ));
                    }
                    let key = format!("{} ({})", a.form, distance.measure);
                    match self.largest.get_mut(&key) {
                        Some(old) if old.value >= distance.value => {}
                        _ => {
                            self.largest.insert(key, distance);
                        }
                    }
                }
            }
        }
    }

    /// Merges the differences of `other` into this set.
    pub fn merge(&mut self, other: Distances) {
        for (key, distance) in other.largest {
            match self.largest.get(&key) {
                Some(old) if old.value >= distance.value => {}
                _ => {
                    self.largest.insert(key, distance);
                }
            }
        }
        self.violations.extend(other.violations);
        self.compared += other.compared;
    }
}

/// Returns the FNV-1a hash of the words' bytes, folded to 32 bits.
pub fn hash(words: &[u64]) -> u32 {
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    for byte in words.iter().flat_map(|word| word.to_le_bytes()) {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (state ^ state >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(value: f32) -> u64 {
        u64::from(value.to_bits())
    }

    #[test]
    fn one_ulp_is_measured_as_one() {
        let near = compare("rcp.approx.f32", &[bits(1.0)], bits(1.0), bits(1.0) + 1);
        assert_eq!((near[0].value, near[0].is_within_bound()), (1.0, true));
        let far = compare("rcp.approx.f32", &[bits(1.0)], bits(1.0), bits(1.0) + 3);
        assert!(!far[0].is_within_bound());
    }

    #[test]
    fn number_on_one_side_only_exceeds_every_bound() {
        let number = compare("lg2.approx.f32", &[bits(3.0)], bits(1.585), bits(f32::NAN));
        assert!(!number[0].is_within_bound());
        let both = compare("lg2.approx.f32", &[bits(-3.0)], bits(f32::NAN), 0x7fff_ffff);
        assert!(both[0].is_within_bound());
        let infinite = compare(
            "ex2.approx.f32",
            &[bits(3.0)],
            bits(8.0),
            bits(f32::INFINITY),
        );
        assert!(!infinite[0].is_within_bound());
    }

    #[test]
    fn halves_of_a_pair_are_compared_separately() {
        // 1 and 2 in f16: the low halves are equal, the high ones far apart.
        let pair = compare("tanh.approx.f16x2", &[0], 0x3c00_3c00, 0x4000_3c00);
        assert_eq!(pair.len(), 2);
        assert!(pair[0].is_within_bound() && !pair[1].is_within_bound());
    }

    #[test]
    fn sine_of_a_large_angle_has_no_bound() {
        let far = compare("sin.approx.f32", &[bits(1e6)], bits(0.5), bits(0.6));
        assert_eq!((far[0].bound, far[0].is_within_bound()), (None, true));
        let near = compare("sin.approx.f32", &[bits(1.0)], bits(0.84147), bits(0.84150));
        assert!(!near[0].is_within_bound());
    }
}
