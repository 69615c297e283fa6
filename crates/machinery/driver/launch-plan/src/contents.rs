//! The contents of buffers: element types and their representation in memory, initial contents, and the comparison
//! of results with expected values.

use std::fs;
use std::num::NonZero;
use std::path::Path;

use crate::expression::{Binding, Expression, Value, Values, hash};
use crate::plan::{Fill, FillTable, Number, Random, Tolerance};
use crate::resolve::Buffer;

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F32,
    F64,
}

/// Names of the types: Rust's first, then C's.
const NAMES: [(Element, &[&str]); 10] = [
    (Element::U8, &["u8", "unsigned char", "uint8_t", "bool"]),
    (Element::I8, &["i8", "char", "signed char", "int8_t"]),
    (Element::U16, &["u16", "unsigned short", "uint16_t"]),
    (Element::I16, &["i16", "short", "int16_t"]),
    (
        Element::U32,
        &["u32", "unsigned", "unsigned int", "uint", "uint32_t"],
    ),
    (Element::I32, &["i32", "int", "int32_t"]),
    (
        Element::U64,
        &[
            "u64",
            "unsigned long",
            "unsigned long long",
            "uint64_t",
            "size_t",
        ],
    ),
    (Element::I64, &["i64", "long", "long long", "int64_t"]),
    (Element::F32, &["f32", "float"]),
    (Element::F64, &["f64", "double"]),
];

impl Element {
    /// Returns the type with this name.
    ///
    /// # Errors
    ///
    /// Fails if the name is unknown, with the known names.
    pub fn named(name: &str) -> Result<Element, String> {
        let mut types = NAMES.iter();
        let entry = types.find(|(_, names)| names.contains(&name));
        entry.map(|(element, _)| *element).ok_or_else(|| {
            let names: Vec<&str> = NAMES.iter().map(|(_, names)| names[0]).collect();
            format!(
                "unknown type {name}; known types: {}, and their C names",
                names.join(", ")
            )
        })
    }

    /// Returns the size in bytes.
    pub fn size(self) -> usize {
        match self {
            Element::U8 | Element::I8 => 1,
            Element::U16 | Element::I16 => 2,
            Element::U32 | Element::I32 | Element::F32 => 4,
            Element::U64 | Element::I64 | Element::F64 => 8,
        }
    }

    /// Returns true for floating-point types.
    pub fn is_float(self) -> bool {
        matches!(self, Element::F32 | Element::F64)
    }

    /// Converts a number to bytes. As in C, integers are truncated to the size, and fractions are dropped.
    pub fn bytes(self, value: Value) -> Vec<u8> {
        match self {
            Element::F32 => (value.to_float() as f32).to_le_bytes().into(),
            Element::F64 => value.to_float().to_le_bytes().into(),
            _ => value.to_integer().to_le_bytes()[..self.size()].into(),
        }
    }

    /// Converts bytes, as many as [`Self::size`], to a number.
    pub fn value(self, bytes: &[u8]) -> Value {
        let mut padded = [0; 8];
        padded[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(padded);
        match self {
            Element::F32 => Value::Float(f64::from(f32::from_bits(bits as u32))),
            Element::F64 => Value::Float(f64::from_bits(bits)),
            Element::I8 => Value::Integer((bits as i8).into()),
            Element::I16 => Value::Integer((bits as i16).into()),
            Element::I32 => Value::Integer((bits as i32).into()),
            Element::I64 => Value::Integer((bits as i64).into()),
            _ => Value::Integer(bits.into()),
        }
    }

    /// Formats a number with the fewest digits that round-trip.
    pub fn text(self, value: Value) -> String {
        match (self, value) {
            (Element::F32, value) => (value.to_float() as f32).to_string(),
            (_, Value::Float(value)) => value.to_string(),
            (_, Value::Integer(value)) => value.to_string(),
        }
    }
}

/// The surroundings of a plan that the initial contents of its buffers depend on.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The base of the paths of files; `None` if no file may be read.
    pub directory: Option<&'a Path>,
    /// Selects the sequence of random numbers.
    pub sequence: u32,
}

/// Returns the bytes of `count` elements, or `None` if the memory is to stay uninitialized.
///
/// # Errors
///
/// Fails if the fill is not valid.
pub fn initial_bytes(
    fill: Option<&Fill>,
    (element, count): (Element, usize),
    surroundings: Surroundings,
    values: &dyn Values,
) -> Result<Option<Vec<u8>>, String> {
    let fill_with = |number: &dyn Fn(usize) -> Result<Value, String>| {
        let mut bytes = Vec::with_capacity(count * element.size());
        for index in 0..count {
            bytes.extend(element.bytes(number(index)?));
        }
        Ok(Some(bytes))
    };
    match fill {
        None => Ok(Some(vec![0; count * element.size()])),
        Some(Fill::Integer(value)) => fill_with(&|_| Ok(Value::Integer((*value).into()))),
        Some(Fill::Float(value)) => fill_with(&|_| Ok(Value::Float(*value))),
        Some(Fill::Text(text)) => match text.as_str() {
            "zeros" => Ok(Some(vec![0; count * element.size()])),
            "iota" => fill_with(&|index| Ok(Value::Integer(index as i128))),
            "none" => Ok(None),
            expression => {
                let expression = Expression::parse(expression)?.substitute(values);
                values.spend((count as u128).saturating_mul(expression.operation_count()))?;
                fill_with(&|index| expression.value(&Binding::of_index(index, values)))
            }
        },
        Some(Fill::Table(FillTable::Random(random))) => {
            let (from, to) = value_range(random, element)?;
            let seed = random.seed ^ surroundings.sequence;
            let scale = power_of_two(random, surroundings.sequence)?;
            if random.huge.is_some() && !element.is_float() {
                return Err("huge numbers need floating-point elements".to_owned());
            }
            let sign = [1.0, -1.0][(surroundings.sequence % 2) as usize];
            // The extremes are as likely as the numbers between them.
            let exponent = match hash(!surroundings.sequence, 0) % 72 {
                drawn @ 0..36 => 80 + drawn as i32,
                36..54 => 80,
                _ => 116,
            };
            let huge = sign * 2_f64.powi(exponent);
            let is_huge =
                |index, every: NonZero<u32>| hash(!seed, index as u32).is_multiple_of(every.get());
            fill_with(&|index| {
                if random.huge.is_some_and(|every| is_huge(index, every)) {
                    return Ok(Value::Float(huge));
                }
                let value = random_value(seed, index, from, to, element);
                let value = match random.step {
                    Some(step) => Value::Float((value.to_float() / step).floor() * step),
                    None => value,
                };
                Ok(match scale {
                    Some(scale) => Value::Float(value.to_float() * scale),
                    None => value,
                })
            })
        }
        Some(Fill::Table(FillTable::Values(list))) => {
            let list = evaluate_list(list, values)?;
            fill_with(&|index| Ok(list[index % list.len()]))
        }
        Some(Fill::Table(FillTable::File(name))) => {
            read_file(surroundings, name, count * element.size()).map(Some)
        }
    }
}

/// Evaluates a non-empty list of numbers.
pub fn evaluate_list(list: &[Number], values: &dyn Values) -> Result<Vec<Value>, String> {
    if list.is_empty() {
        return Err("the list of values is empty".to_owned());
    }
    list.iter().map(|number| evaluate(number, values)).collect()
}

/// Evaluates a number.
pub fn evaluate(number: &Number, values: &dyn Values) -> Result<Value, String> {
    match number {
        Number::Integer(value) => Ok(Value::Integer((*value).into())),
        Number::Float(value) => Ok(Value::Float(*value)),
        Number::Expression(text) => Expression::parse(text)?.value(values),
    }
}

/// Reads the first `length` bytes of a file.
pub fn read_file(surroundings: Surroundings, name: &str, length: usize) -> Result<Vec<u8>, String> {
    let directory = surroundings.directory.ok_or_else(|| {
        format!("the file {name} is not read here: list `values`, or give an expression")
    })?;
    let file = directory.join(name);
    let bytes = fs::read(&file);
    let mut bytes = bytes.map_err(|reason| format!("cannot read {}: {reason}", file.display()))?;
    if bytes.len() < length {
        let actual = bytes.len();
        return Err(format!(
            "{} has {actual} bytes, but the buffer needs {length}",
            file.display()
        ));
    }
    bytes.truncate(length);
    Ok(bytes)
}

/// Returns the range of random numbers: by default from 0 to 1, or to 100 for integers, excluding the end.
fn value_range(random: &Random, element: Element) -> Result<(f64, f64), String> {
    let default_end = if element.is_float() { 1.0 } else { 100.0 };
    let from = random.from.unwrap_or(0.0);
    let to = random.to.unwrap_or(default_end);
    if from >= to || from.is_nan() || to.is_nan() {
        return Err(format!("the range from {from} to {to} is empty"));
    }
    match random.step {
        Some(step) if step <= 0.0 || !step.is_finite() => {
            Err(format!("step must be above 0, not {step}"))
        }
        Some(step) if from % step != 0.0 => Err(format!("from must be a multiple of step, {step}")),
        _ => Ok((from, to)),
    }
}

/// Returns the power of two that multiplies random numbers, if there is one.
fn power_of_two(random: &Random, sequence: u32) -> Result<Option<f64>, String> {
    let Some([from, to]) = random.exponents else {
        return Ok(None);
    };
    if from > to {
        return Err(format!(
            "the range of exponents from {from} to {to} is empty"
        ));
    }
    let (from, to) = (i32::from(from), i32::from(to));
    let drawn = hash(sequence, u32::MAX) % (to - from + 1).unsigned_abs();
    Ok(Some(2_f64.powi(from + drawn.cast_signed())))
}

/// Returns the pseudo-random number for an element's index.
fn random_value(seed: u32, index: usize, from: f64, to: f64, element: Element) -> Value {
    let fraction = f64::from(hash(seed, index as u32)) / (f64::from(u32::MAX) + 1.0);
    let number = from + fraction * (to - from);
    match element {
        // Rounding to single precision may yield `to`, which is excluded.
        Element::F32 if number as f32 >= to as f32 => Value::Float(from),
        element if element.is_float() => Value::Float(number),
        _ => Value::Integer(number.floor() as i128),
    }
}

/// The maximum number of differing elements to report.
const MAX_DIFFERENCES: usize = 3;

/// The tolerance of floating-point results for which the plan gives none.
const DEFAULT_FLOAT_TOLERANCE: Tolerance = Tolerance {
    absolute: 1e-6,
    relative: 1e-5,
};

/// The report on a buffer after the last launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// The first elements, if the plan prints them.
    pub printed: Option<String>,
    /// The confirmation that the buffer is correct, or a description of the differences. `None` if the plan has
    /// no expected values.
    pub comparison: Option<Result<String, String>>,
}

/// Compares a buffer's contents with its expected values.
pub fn verify(buffer: &Buffer, bytes: &[u8]) -> Verification {
    let element = buffer.element;
    let actual: Vec<Value> = bytes
        .chunks_exact(element.size())
        .map(|bytes| element.value(bytes))
        .collect();
    let printed = (buffer.print > 0).then(|| {
        let first: Vec<String> = actual
            .iter()
            .take(buffer.print)
            .map(|&value| element.text(value))
            .collect();
        let more = if buffer.print < actual.len() {
            " …"
        } else {
            ""
        };
        format!("{}: {}{more}", buffer.name, first.join(" "))
    });
    let comparison = buffer.expected.as_ref().map(|expected| {
        let pairs = actual.iter().zip(&expected.values).enumerate();
        let differs = |(_, (actual, expected)): &(usize, (&Value, &Value))| !is_within_tolerance(buffer, **actual, **expected);
        let mut differences = pairs.filter(differs);
        let first: Vec<String> = differences
            .by_ref()
            .take(MAX_DIFFERENCES)
            .map(|(index, (actual, expected))| {
                let [actual, expected] = [actual, expected].map(|value| element.text(*value));
                format!("[{index}] is {actual}, expected {expected}")
            })
            .collect();
        let count = first.len() + differences.count();
        match count {
            0 => Ok(format!("{} is equal to {}", buffer.name, expected.text)),
            _ => {
                let elements = buffer.count;
                let name = &buffer.name;
                let more = if count > MAX_DIFFERENCES { ", …" } else { "" };
                Err(format!(
                    "{name} is not equal to {}: {count} of {elements} elements differ: {name}{}{more}",
                    expected.text,
                    first.join(&format!(", {name}"))
                ))
            }
        }
    });
    Verification {
        printed,
        comparison,
    }
}

/// Returns true if a result is within the tolerance. Without one, integers must be equal.
fn is_within_tolerance(buffer: &Buffer, actual: Value, expected: Value) -> bool {
    let usual = if buffer.element.is_float() {
        DEFAULT_FLOAT_TOLERANCE
    } else {
        Tolerance::default()
    };
    let tolerance = buffer.tolerance.unwrap_or(usual);
    if let (Value::Integer(actual), Value::Integer(expected)) = (actual, expected)
        && tolerance == Tolerance::default()
    {
        return actual == expected;
    }
    let (actual, expected) = (actual.to_float(), expected.to_float());
    let difference = (actual - expected).abs();
    let both_nan = actual.is_nan() && expected.is_nan();
    actual == expected
        || both_nan
        || difference <= tolerance.absolute
        || difference <= tolerance.relative * expected.abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_trip_through_bytes() {
        for (name, value) in [
            ("u8", Value::Integer(255)),
            ("char", Value::Integer(-1)),
            ("short", Value::Integer(-300)),
            ("unsigned int", Value::Integer(4_000_000_000)),
            ("int", Value::Integer(-5)),
            ("u64", Value::Integer(u64::MAX.into())),
            ("i64", Value::Integer(i64::MIN.into())),
            ("float", Value::Float(0.25)),
            ("double", Value::Float(0.1)),
        ] {
            let element = Element::named(name).unwrap();
            let bytes = element.bytes(value);
            assert_eq!(bytes.len(), element.size(), "{name}");
            assert_eq!(element.value(&bytes), value, "{name}");
        }
        assert_eq!(Element::U8.bytes(Value::Float(3.9)), [3]);
        assert_eq!(Element::F32.text(Value::Float(f64::from(0.1_f32))), "0.1");
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let reason = Element::named("flaot").unwrap_err();
        assert!(
            reason.contains("unknown type flaot") && reason.contains("f32"),
            "{reason}"
        );
    }

    #[test]
    fn random_numbers_may_be_multiples_of_a_step() {
        let numbers = |random: &str| {
            let fill = toml::from_str::<Fill>(random).unwrap();
            let surroundings = Surroundings {
                directory: None,
                sequence: 7,
            };
            initial_bytes(
                Some(&fill),
                (Element::F32, 1000),
                surroundings,
                &crate::ResolvedPlan::default(),
            )
        };
        let bytes = numbers("random = { from = -2, to = 2, step = 0.25 }")
            .unwrap()
            .unwrap();
        let floats = bytes
            .chunks_exact(4)
            .map(|bytes| Element::F32.value(bytes).to_float());
        let floats: Vec<f64> = floats.collect();
        assert!(
            floats
                .iter()
                .all(|number| (4.0 * number).fract() == 0.0 && (-2.0..2.0).contains(number))
        );
        assert!(floats.contains(&-2.0) && floats.contains(&-0.25) && floats.contains(&1.75));
        let scaled = "random = { from = -2, to = 2, step = 0.25, exponents = [5, 5] }";
        let scaled = numbers(scaled).unwrap().unwrap();
        let scaled = scaled
            .chunks_exact(4)
            .map(|bytes| Element::F32.value(bytes).to_float());
        assert!(scaled.eq(floats.iter().map(|number| 32.0 * number)));
        let partly = numbers("random = { huge = 50 }").unwrap().unwrap();
        let partly = partly
            .chunks_exact(4)
            .map(|bytes| Element::F32.value(bytes).to_float());
        let huge: Vec<f64> = partly.filter(|number| number.abs() > 100.0).collect();
        assert!((5..50).contains(&huge.len()), "{huge:?}");
        let is_valid = (80..=116).any(|exponent| huge[0] == -(2_f64.powi(exponent)));
        assert!(
            is_valid && huge.iter().all(|&number| number == huge[0]),
            "{huge:?}"
        );
        for (random, reason) in [
            ("random = { step = 0 }", "step must be above 0, not 0"),
            (
                "random = { from = 0.1, step = 0.25 }",
                "from must be a multiple of step, 0.25",
            ),
            ("random = { from = nan }", "empty"),
            (
                "random = { exponents = [3, 2] }",
                "exponents from 3 to 2 is empty",
            ),
        ] {
            let message = numbers(random).unwrap_err();
            assert!(message.contains(reason), "{message}");
        }
    }

    #[test]
    fn random_numbers_are_in_range_and_depend_on_the_seed() {
        let sample = |seed| {
            (0..1000)
                .map(move |index| random_value(seed, index, -2.0, 3.0, Element::I32).to_integer())
        };
        let counts = (-3..4).map(|n| sample(1).filter(|&value| value == n).count());
        let counts: Vec<usize> = counts.collect();
        assert!(
            counts[1..6].iter().all(|&n| n > 100) && counts[0] + counts[6] == 0,
            "{counts:?}"
        );
        assert!(sample(1).ne(sample(2)));
        let floats =
            (0..1000).map(|index| random_value(0, index, 0.0, 1.0, Element::F32).to_float());
        assert!(
            floats.clone().all(|value| (0.0..1.0).contains(&value))
                && floats.clone().any(|value| value > 0.99)
        );
    }
}
