//! What came out beside what is expected.

use crate::expression::Value;
use crate::plan::Tolerance;
use crate::ready::Buffer;

/// How many that differ are told.
const KEPT: usize = 3;

/// Of results with a fraction, where a description says nothing of it.
const USUAL: Tolerance = Tolerance {
    absolute: 1e-6,
    relative: 1e-5,
};

/// What to say of a buffer at the end: what is in it, and whether that is as it is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Its first elements, where they are asked for.
    pub shown: Option<String>,
    /// That it is as it is to be; where it is not, how it differs. None where nothing is expected.
    pub compared: Option<Result<String, String>>,
}

/// Compares what `bytes` hold with what is expected.
pub fn judge(buffer: &Buffer, bytes: &[u8]) -> Verdict {
    let of = buffer.of;
    let got: Vec<Value> = bytes
        .chunks_exact(of.size())
        .map(|bytes| of.value(bytes))
        .collect();
    let shown = (buffer.print > 0).then(|| {
        let first: Vec<String> = got
            .iter()
            .take(buffer.print)
            .map(|&value| of.text(value))
            .collect();
        let more = if buffer.print < got.len() { " …" } else { "" };
        format!("{}: {}{more}", buffer.name, first.join(" "))
    });
    let compared = buffer.expected.as_ref().map(|expected| {
        let both = got.iter().zip(&expected.values).enumerate();
        let differs = |(_, (got, wanted)): &(usize, (&Value, &Value))| !is_near(buffer, **got, **wanted);
        let mut differing = both.filter(differs);
        let first: Vec<String> = differing
            .by_ref()
            .take(KEPT)
            .map(|(index, (got, wanted))| {
                let [got, wanted] = [got, wanted].map(|value| of.text(*value));
                format!("[{index}] is {got}, not {wanted}")
            })
            .collect();
        let count = first.len() + differing.count();
        match count {
            0 => Ok(format!("{} is equal to {}", buffer.name, expected.text)),
            _ => {
                let elements = buffer.count;
                let name = &buffer.name;
                let more = if count > KEPT { ", …" } else { "" };
                Err(format!(
                    "{name} is not equal to {}: {count} of {elements} elements differ: {name}{}{more}",
                    expected.text,
                    first.join(&format!(", {name}"))
                ))
            }
        }
    });
    Verdict { shown, compared }
}

/// Whether a result is near enough; whole numbers have to be the same where nothing is said.
fn is_near(buffer: &Buffer, got: Value, wanted: Value) -> bool {
    let usual = match buffer.of.is_float() {
        true => USUAL,
        false => Tolerance::default(),
    };
    let tolerance = buffer.tolerance.unwrap_or(usual);
    if let (Value::Whole(got), Value::Whole(wanted)) = (got, wanted)
        && tolerance == Tolerance::default()
    {
        return got == wanted;
    }
    let (got, wanted) = (got.float(), wanted.float());
    let apart = (got - wanted).abs();
    let both_nan = got.is_nan() && wanted.is_nan();
    got == wanted
        || both_nan
        || apart <= tolerance.absolute
        || apart <= tolerance.relative * wanted.abs()
}
