//! The initial contents of buffers.

use std::fs;
use std::path::Path;

use crate::Element;
use crate::expression::{Expression, Value, Values};
use crate::plan::{Fill, FillTable, Number, Random};

/// Returns the bytes of `count` elements, or `None` if the memory is to stay uninitialized. Random numbers
/// depend on `sequence`.
///
/// # Errors
///
/// Fails if the fill is not valid.
pub fn initial_bytes(
    fill: Option<&Fill>,
    element: Element,
    count: usize,
    directory: &Path,
    values: &dyn Values,
    sequence: u32,
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
                fill_with(&|index| expression.value(&ElementScope { index, values }))
            }
        },
        Some(Fill::Table(FillTable::Random(random))) => {
            let (from, to) = value_range(random, element)?;
            let seed = random.seed ^ sequence;
            fill_with(&|index| {
                let value = random_value(seed, index, from, to, element);
                Ok(match random.whole {
                    true => Value::Integer(value.to_float().floor() as i128),
                    false => value,
                })
            })
        }
        Some(Fill::Table(FillTable::Values(list))) => {
            let list = evaluate_list(list, values)?;
            fill_with(&|index| Ok(list[index % list.len()]))
        }
        Some(Fill::Table(FillTable::File(name))) => {
            read_file(&directory.join(name), count * element.size()).map(Some)
        }
    }
}

/// The scope of an element's expression: `i`, its index, in addition to all other values.
pub struct ElementScope<'a> {
    pub index: usize,
    pub values: &'a dyn Values,
}

impl Values for ElementScope<'_> {
    fn number(&self, name: &str) -> Option<Value> {
        match name {
            "i" => Some(Value::Integer(self.index as i128)),
            other => self.values.number(other),
        }
    }

    fn element(&self, buffer: &str, index: i128) -> Option<Result<Value, String>> {
        self.values.element(buffer, index)
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
pub fn read_file(file: &Path, length: usize) -> Result<Vec<u8>, String> {
    let bytes = fs::read(file);
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
    match from < to {
        true => Ok((from, to)),
        false => Err(format!("the range from {from} to {to} is empty")),
    }
}

/// Returns the pseudo-random number for an element's index.
fn random_value(seed: u32, index: usize, from: f64, to: f64, element: Element) -> Value {
    let fraction = f64::from(bits(seed, index)) / (f64::from(u32::MAX) + 1.0);
    let number = from + fraction * (to - from);
    match element {
        // Rounding to single precision may yield `to`, which is excluded.
        Element::F32 if number as f32 >= to as f32 => Value::Float(from),
        element if element.is_float() => Value::Float(number),
        _ => Value::Integer(number.floor() as i128),
    }
}

/// Hashes the seed and the index (MurmurHash3's finalizer).
pub fn bits(seed: u32, index: usize) -> u32 {
    let mut bits = (index as u32).wrapping_mul(0x9e37_79b9) ^ seed.wrapping_mul(0x85eb_ca6b);
    bits = (bits ^ bits >> 16).wrapping_mul(0x85eb_ca6b);
    bits = (bits ^ bits >> 13).wrapping_mul(0xc2b2_ae35);
    bits ^ bits >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

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
