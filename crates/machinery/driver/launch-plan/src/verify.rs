//! Comparison of a buffer's contents with the expected values.

use crate::expression::Value;
use crate::plan::Tolerance;
use crate::resolved::Buffer;

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
    let usual = match buffer.element.is_float() {
        true => DEFAULT_FLOAT_TOLERANCE,
        false => Tolerance::default(),
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
