//! Measurement of the errors of the functions, in units in the last place (ulp), and the table of the results.
//!
//! Results of doubles are compared with a table of correctly rounded values. Results of floats are compared with
//! those of doubles, at random arguments of all magnitudes and at special ones.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail, ensure};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

use crate::exact;
use crate::functions::{Bound, Device, FUNCTIONS, Function, Range};

/// A function and its measured errors.
pub struct Row {
    pub function: Function,
    pub single: ErrorStatistics,
    pub double: Option<ErrorStatistics>,
}

/// Measures all functions, floats at about `count` points.
pub fn measure_all(table: &BTreeMap<String, ReferenceValues>, count: usize) -> Result<Vec<Row>> {
    let (mut floats, mut doubles) = (Device::single()?, Device::double()?);
    FUNCTIONS
        .iter()
        .map(|function| {
            Ok(Row {
                function: *function,
                single: measure_float(&mut floats, &mut doubles, function, count)?,
                double: measure_double(&mut doubles, table, function)?,
            })
        })
        .collect()
}

impl Row {
    /// Describes results that violate the documented bounds.
    pub fn violations(&self) -> Vec<String> {
        let name = self.function.single_name();
        let mut list = violations(&name, &self.single, self.function.single);
        if let Some(error) = &self.double {
            list.extend(violations(self.function.name, error, self.function.double));
        }
        list
    }
}

fn violations(name: &str, error: &ErrorStatistics, bound: Bound) -> Vec<String> {
    if error.is_within(bound) {
        return Vec::new();
    }
    let describe = |reason: &str, (arguments, result, expected): &(Vec<f64>, f64, f64)| {
        format!("{name}{arguments:?} is {result:e}, expected {expected:e}: {reason}")
    };
    let mut list: Vec<String> = error
        .wrong
        .iter()
        .take(5)
        .map(|case| describe("wrong kind of number", case))
        .collect();
    if let Some(worst) = &error.worst {
        let reason = format!("{} ulps, {:.2e}; {bound:?}", error.ulps, error.absolute);
        list.push(describe(&reason, worst));
    }
    if error.count == 0 {
        list.push(format!("{name}: no result was compared"));
    }
    list
}

/// Formats the table.
pub fn markdown(rows: &[Row]) -> String {
    let mut text = String::from(
        "| Function | Range | float: documented | float: measured | double: documented | double: measured |\n\
         | :--- | :--- | ---: | ---: | ---: | ---: |\n",
    );
    for row in rows {
        let Function { single, double, .. } = row.function;
        let format_error = |error: &ErrorStatistics, bound| match bound {
            Bound::Absolute(_) => format!("{:.1e} absolute", error.absolute),
            Bound::Ulps(_) | Bound::Unknown => error.ulps.to_string(),
        };
        let double_error = row.double.as_ref();
        let double_error_text =
            double_error.map_or("-".into(), |error| format_error(error, double));
        let float_error_text = format_error(&row.single, single);
        let name = row.function.name.replacen("_first", ", sine", 1);
        let name = name.replacen("_second", ", cosine", 1);
        let (range, single, double) = (
            range(row.function.range),
            documented(single),
            documented(double),
        );
        let _ = writeln!(
            text,
            "| {name} | {range} | {single} | {float_error_text} | {double} | {double_error_text} |"
        );
    }
    text
}

/// Formats the note on the exact functions, of which `compared` results were checked.
pub fn exact_note(compared: usize) -> String {
    let names = exact::names().join("`, `");
    format!(
        "These functions are exact, as are their float versions; no error was found in {compared} results: \
         `{names}`."
    )
}

fn documented(bound: Bound) -> String {
    match bound {
        Bound::Ulps(max) => max.to_string(),
        Bound::Absolute(max) => format!("{max:.1e} absolute"),
        Bound::Unknown => "-".into(),
    }
}

fn range(range: Range) -> &'static str {
    match range {
        Range::All => "all",
        Range::Near => "below 8",
        Range::Far => "8 and above",
        Range::WithoutZeros => "except -23.0001 to -2.2637",
        Range::Order => "above 1.5 n",
    }
}

/// Measures the error of a float function at about `count` points, relative to the double function, whose own
/// error is far below a float's precision.
fn measure_float(
    floats: &mut Device,
    doubles: &mut Device,
    function: &Function,
    count: usize,
) -> Result<ErrorStatistics> {
    let takes_order = matches!(function.name, "jn" | "yn");
    let arguments = if takes_order {
        order_arguments(count / 8)
    } else {
        float_arguments(count, function.arity)
    };
    let wide_arguments: Vec<f64> = arguments.iter().map(|&x| x.into()).collect();
    let results = floats.evaluate(&function.single_name(), &arguments, function.arity)?;
    let expected = doubles.evaluate(function.name, &wide_arguments, function.arity)?;
    let mut error = ErrorStatistics::default();
    for ((arguments, result), exact) in wide_arguments
        .chunks(function.arity)
        .zip(results)
        .zip(expected)
    {
        if is_documented(function, arguments) {
            let rounded = exact as f32;
            let distance = between_floats(result, rounded);
            error.compare(
                arguments,
                result.into(),
                rounded.into(),
                distance,
                function.single,
            );
        }
    }
    Ok(error)
}

/// Returns true if a bound is documented for these arguments. An absolute error requires finite arguments.
fn is_documented(function: &Function, arguments: &[f64]) -> bool {
    let is_bounded = match function.single {
        Bound::Absolute(_) => arguments.iter().all(|x| x.is_finite()),
        Bound::Ulps(_) | Bound::Unknown => true,
    };
    // Far from 0, adjacent floats are more than a period apart, whereas the double function still resolves it.
    let is_resolvable = function.range != Range::Far || arguments[0].abs() < 1e6;
    is_bounded && is_resolvable && function.range.contains(arguments)
}

/// The default table, generated by `scripts/mathematics-values`.
pub const VALUES: &str = include_str!("../values/double.txt");

/// The arguments of a function, `arity` per value, and its correctly rounded values.
#[derive(Debug, Default)]
pub struct ReferenceValues {
    pub arity: usize,
    pub arguments: Vec<f64>,
    pub values: Vec<f64>,
}

/// Parses a table into the reference values of each function.
pub fn parse_table(table: &str) -> Result<BTreeMap<String, ReferenceValues>> {
    let mut functions = BTreeMap::new();
    let mut current: Option<&mut ReferenceValues> = None;
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    for line in lines {
        let fields: Vec<&str> = line.split(' ').collect();
        if let [name, arity] = fields[..]
            && arity.len() == 1
        {
            let entry: &mut ReferenceValues = functions.entry(name.to_owned()).or_default();
            entry.arity = arity.parse()?;
            current = Some(entry);
            continue;
        }
        let Some(entry) = current.as_deref_mut() else {
            bail!("a value before the name of a function: {line}");
        };
        ensure!(
            fields.len() == entry.arity + 1,
            "wrong number of values: {line}"
        );
        for (index, word) in fields.iter().enumerate() {
            let bits = u64::from_str_radix(word, 16).with_context(|| line.to_owned())?;
            if index < entry.arity {
                entry.arguments.push(f64::from_bits(bits));
            } else {
                entry.values.push(f64::from_bits(bits));
            }
        }
    }
    Ok(functions)
}

/// Returns the function's name in the table, which lists each result of a function with two results separately.
fn table_name(function: &Function) -> String {
    match function.name {
        "sincos_first" => "sin".into(),
        "sincos_second" => "cos".into(),
        "sincospi_first" => "sinpi".into(),
        "sincospi_second" => "cospi".into(),
        "norm" => "norm4d".into(),
        "rnorm" => "rnorm4d".into(),
        _ => function.label(),
    }
}

/// Measures the error of a double function, relative to a table of correctly rounded values. Returns `None` if the
/// table does not contain the function.
pub fn measure_double(
    machine: &mut Device,
    table: &BTreeMap<String, ReferenceValues>,
    function: &Function,
) -> Result<Option<ErrorStatistics>> {
    let Some(entry) = table.get(&table_name(function)) else {
        return Ok(None);
    };
    ensure!(entry.arity == function.arity, "{}", function.name);
    let results = machine.evaluate(function.name, &entry.arguments, entry.arity)?;
    let mut error = ErrorStatistics::default();
    let pairs = entry.arguments.chunks(entry.arity).zip(&entry.values);
    for ((arguments, &expected), result) in pairs.zip(results) {
        if function.range.contains(arguments) {
            let distance = between_doubles(result, expected);
            error.compare(arguments, result, expected, distance, function.double);
        }
    }
    Ok(Some(error))
}

/// The measured errors of a function.
#[derive(Clone, Debug, Default)]
pub struct ErrorStatistics {
    /// Number of results compared.
    pub count: usize,
    /// The largest distance from a correctly rounded result, in ulp.
    pub ulps: u64,
    /// The largest absolute difference.
    pub absolute: f64,
    /// The arguments, the result and the expected result of the worst case.
    pub worst: Option<(Vec<f64>, f64, f64)>,
    /// Results of the wrong kind: NaN or a number instead of the other, or a zero with the wrong sign.
    pub wrong: Vec<(Vec<f64>, f64, f64)>,
}

impl ErrorStatistics {
    /// Records a result. `distance` is the number of representable steps to the expected result.
    pub fn compare(
        &mut self,
        arguments: &[f64],
        result: f64,
        expected: f64,
        distance: u64,
        bound: Bound,
    ) {
        self.count += 1;
        if result.is_nan() && expected.is_nan() {
            return;
        }
        let differs_in_zero_sign = result == 0.0
            && expected == 0.0
            && result.is_sign_negative() != expected.is_sign_negative();
        if result.is_nan() != expected.is_nan() || differs_in_zero_sign {
            self.wrong.push((arguments.to_vec(), result, expected));
            return;
        }
        let difference = (result - expected).abs();
        let is_worst = match bound {
            Bound::Absolute(_) => difference > self.absolute,
            Bound::Ulps(_) | Bound::Unknown => distance > self.ulps,
        };
        self.ulps = self.ulps.max(distance);
        if difference.is_finite() {
            self.absolute = self.absolute.max(difference);
        }
        if is_worst {
            self.worst = Some((arguments.to_vec(), result, expected));
        }
    }

    /// Returns true if the errors are within the documented bound.
    pub fn is_within(&self, bound: Bound) -> bool {
        let is_within_bound = match bound {
            Bound::Ulps(max) => self.ulps <= max,
            Bound::Absolute(max) => self.absolute <= max,
            Bound::Unknown => true,
        };
        is_within_bound && self.wrong.is_empty() && self.count > 0
    }
}

/// Returns the number of representable steps between two doubles.
pub fn between_doubles(a: f64, b: f64) -> u64 {
    let ordinal = |x: f64| {
        let bits = x.to_bits() as i64;
        if bits < 0 { i64::MIN - bits } else { bits }
    };
    ordinal(a).abs_diff(ordinal(b))
}

/// Returns the number of representable steps between two floats.
pub fn between_floats(a: f32, b: f32) -> u64 {
    let ordinal = |x: f32| {
        let bits = x.to_bits() as i32;
        if bits < 0 { i32::MIN - bits } else { bits }
    };
    ordinal(a).abs_diff(ordinal(b)).into()
}

/// Zero, infinity, NaN, the limits of the range, and neighbours of integers.
const SPECIAL: [f32; 20] = [
    0.0,
    f32::INFINITY,
    f32::NAN,
    f32::MAX,
    f32::MIN_POSITIVE,
    1e-45,
    1.1e-40,
    1.0,
    0.999_999_94,
    1.000_000_1,
    0.5,
    0.499_999_97,
    1.5,
    2.0,
    2.5,
    3.0,
    8_388_607.5,
    16_777_216.0,
    1e22,
    105_615.0,
];

/// Returns about `count` tuples of `arity` arguments, concatenated.
pub fn float_arguments(count: usize, arity: usize) -> Vec<f32> {
    let mut random = RandomNumbers(Pcg64Mcg::new(0x5eed));
    let signed: Vec<f32> = SPECIAL.iter().flat_map(|&x| [x, -x]).collect();
    let mut points = Vec::new();
    match arity {
        1 => points.extend(&signed),
        2 => {
            let pairs = signed
                .iter()
                .flat_map(|&x| signed.iter().map(move |&y| [x, y]));
            points.extend(pairs.flatten());
        }
        // With three or more arguments, a random subset is special.
        _ => points.extend((0..60 * arity).map(|k| match k % 3 {
            0 => signed[random.bits() as usize % signed.len()],
            _ => random.symmetric(4.0),
        })),
    }
    for point in 0..count {
        let mut next = || match point % 5 {
            // Every bit pattern is a float; the exponents are uniformly distributed.
            0 | 1 => f32::from_bits(random.bits()),
            2 => random.symmetric(1.0),
            3 => random.symmetric(12.0),
            _ => random.symmetric(110.0),
        };
        points.extend((0..arity).map(|_| next()));
    }
    points
}

/// Returns pairs of an order from 2 to 128 and a number, for functions that take both.
pub fn order_arguments(count: usize) -> Vec<f32> {
    let mut random = RandomNumbers(Pcg64Mcg::new(0x5eed));
    let mut pair = |point| {
        let order = if point % 3 == 0 {
            128
        } else {
            2 + random.bits() % 60
        };
        [order as f32, random.symmetric(300.0)]
    };
    (0..count).flat_map(&mut pair).collect()
}

/// Pseudo-random numbers, the same in every run.
struct RandomNumbers(Pcg64Mcg);

impl RandomNumbers {
    fn bits(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// Returns a number between -`max` and `max`.
    fn symmetric(&mut self, max: f32) -> f32 {
        let unit = f64::from(self.bits()) / f64::from(u32::MAX);
        ((2.0 * unit - 1.0) * f64::from(max)) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_counted_across_zero() {
        assert_eq!(between_doubles(1.0, 1.0 + f64::EPSILON), 1);
        assert_eq!(between_doubles(-f64::from_bits(1), f64::from_bits(2)), 3);
        assert_eq!(between_doubles(0.0, -0.0), 0);
        assert_eq!(between_floats(f32::MAX, f32::INFINITY), 1);
        assert_eq!(between_floats(-1.0, -1.0 - f32::EPSILON), 1);
    }

    #[test]
    fn a_wrong_kind_of_number_is_recorded_as_wrong() {
        let mut measured = ErrorStatistics::default();
        let bound = Bound::Ulps(1);
        assert!(!measured.is_within(bound), "nothing was compared");
        measured.compare(&[1.0], 1.0, 1.0, 0, bound);
        assert!(measured.is_within(bound));
        measured.compare(&[2.0], f64::NAN, 1.0, 0, bound);
        measured.compare(&[3.0], -0.0, 0.0, 0, bound);
        assert!(!measured.is_within(bound));
        assert_eq!(measured.wrong.len(), 2);
    }

    #[test]
    fn the_worst_result_is_recorded() {
        let mut measured = ErrorStatistics::default();
        measured.compare(&[1.0], 1.0, 1.5, 2, Bound::Ulps(1));
        assert!(!measured.is_within(Bound::Ulps(1)));
        assert!(measured.is_within(Bound::Ulps(2)));
        assert!(measured.is_within(Bound::Absolute(0.5)));
        assert!(!measured.is_within(Bound::Absolute(0.4)));
        assert_eq!(measured.worst, Some((vec![1.0], 1.0, 1.5)));
    }
}
