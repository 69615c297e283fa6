//! What is in a buffer before the first launch.

use std::fs;
use std::path::Path;

use crate::Element;
use crate::expression::{Expression, Value, Values};
use crate::plan::{Fill, FillTable, Number, Random};

/// The bytes of so many elements; none where nothing is to be written. Another `draw` makes other numbers by
/// chance.
///
/// # Errors
///
/// What is wrong with the fill.
pub fn bytes(
    fill: Option<&Fill>,
    of: Element,
    count: usize,
    folder: &Path,
    values: &dyn Values,
    draw: u32,
) -> Result<Option<Vec<u8>>, String> {
    let all = |number: &dyn Fn(usize) -> Result<Value, String>| {
        let mut bytes = Vec::with_capacity(count * of.size());
        for index in 0..count {
            bytes.extend(of.bytes(number(index)?));
        }
        Ok(Some(bytes))
    };
    match fill {
        None => Ok(Some(vec![0; count * of.size()])),
        Some(Fill::Whole(value)) => all(&|_| Ok(Value::Whole((*value).into()))),
        Some(Fill::Fraction(value)) => all(&|_| Ok(Value::Float(*value))),
        Some(Fill::Word(word)) => match word.as_str() {
            "zeros" => Ok(Some(vec![0; count * of.size()])),
            "iota" => all(&|index| Ok(Value::Whole(index as i128))),
            "none" => Ok(None),
            expression => {
                let expression = Expression::read(expression)?.with(values);
                all(&|index| expression.value(&At { index, values }))
            }
        },
        Some(Fill::Table(FillTable::Random(random))) => {
            let (from, to) = range(random, of)?;
            let seed = random.seed ^ draw;
            all(&|index| {
                let drawn = drawn(seed, index, from, to, of);
                Ok(match random.whole {
                    true => Value::Whole(drawn.float().floor() as i128),
                    false => drawn,
                })
            })
        }
        Some(Fill::Table(FillTable::Values(list))) => {
            let list = numbers(list, values)?;
            all(&|index| Ok(list[index % list.len()]))
        }
        Some(Fill::Table(FillTable::File(name))) => {
            read(&folder.join(name), count * of.size()).map(Some)
        }
    }
}

/// The number `i` of an element besides all others.
pub struct At<'a> {
    pub index: usize,
    pub values: &'a dyn Values,
}

impl Values for At<'_> {
    fn number(&self, name: &str) -> Option<Value> {
        match name {
            "i" => Some(Value::Whole(self.index as i128)),
            other => self.values.number(other),
        }
    }

    fn element(&self, buffer: &str, index: i128) -> Option<Result<Value, String>> {
        self.values.element(buffer, index)
    }
}

/// A list of numbers, at least one.
pub fn numbers(list: &[Number], values: &dyn Values) -> Result<Vec<Value>, String> {
    if list.is_empty() {
        return Err("there is no value in the list".to_owned());
    }
    list.iter()
        .map(|number| self::number(number, values))
        .collect()
}

/// A number as it is written.
pub fn number(number: &Number, values: &dyn Values) -> Result<Value, String> {
    match number {
        Number::Whole(value) => Ok(Value::Whole((*value).into())),
        Number::Fraction(value) => Ok(Value::Float(*value)),
        Number::Expression(text) => Expression::read(text)?.value(values),
    }
}

/// The first so many bytes of a file.
pub fn read(file: &Path, length: usize) -> Result<Vec<u8>, String> {
    let bytes = fs::read(file);
    let mut bytes = bytes.map_err(|why| format!("cannot read {}: {why}", file.display()))?;
    if bytes.len() < length {
        let has = bytes.len();
        return Err(format!(
            "{} has {has} bytes, and the buffer {length}",
            file.display()
        ));
    }
    bytes.truncate(length);
    Ok(bytes)
}

/// From where to below where numbers are drawn: from 0 to below 1, or for whole ones 100.
fn range(random: &Random, of: Element) -> Result<(f64, f64), String> {
    let usual = if of.is_float() { 1.0 } else { 100.0 };
    let from = random.from.unwrap_or(0.0);
    let to = random.to.unwrap_or(usual);
    match from < to {
        true => Ok((from, to)),
        false => Err(format!("there is no number from {from} to below {to}")),
    }
}

/// A number that looks like one by chance, the same each time.
fn drawn(seed: u32, index: usize, from: f64, to: f64, of: Element) -> Value {
    let share = f64::from(bits(seed, index)) / (f64::from(u32::MAX) + 1.0);
    let number = from + share * (to - from);
    match of {
        // Rounded to fewer digits, it may be as large as `to`.
        Element::F32 if number as f32 >= to as f32 => Value::Float(from),
        of if of.is_float() => Value::Float(number),
        _ => Value::Whole(number.floor() as i128),
    }
}

/// An integer hash (MurmurHash3's finalizer) of the seed and the place.
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
    fn drawn_numbers_are_in_their_range_and_differ_by_seed() {
        let of =
            |seed| (0..1000).map(move |index| drawn(seed, index, -2.0, 3.0, Element::I32).whole());
        let counts = (-3..4).map(|n| of(1).filter(|&drawn| drawn == n).count());
        let counts: Vec<usize> = counts.collect();
        assert!(
            counts[1..6].iter().all(|&n| n > 100) && counts[0] + counts[6] == 0,
            "{counts:?}"
        );
        assert!(of(1).ne(of(2)));
        let floats = (0..1000).map(|index| drawn(0, index, 0.0, 1.0, Element::F32).float());
        assert!(
            floats.clone().all(|it| (0.0..1.0).contains(&it)) && floats.clone().any(|it| it > 0.99)
        );
    }
}
