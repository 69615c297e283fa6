//! The functions of floats, against those of doubles: what these are off is far below a float's last digit, and the
//! table of correctly rounded doubles says how much it is.

use anyhow::Result;

use crate::functions::{Bound, Function, Range};
use crate::machine::Machine;
use crate::points;
use crate::ulps::{Measured, between_floats};

/// Measures one function at about so many points.
pub fn measure(
    floats: &mut Machine,
    doubles: &mut Machine,
    function: &Function,
    count: usize,
) -> Result<Measured> {
    let is_order = matches!(function.name, "jn" | "yn");
    let arguments = match is_order {
        true => points::of_orders(count / 8),
        false => points::of_floats(count, function.arity),
    };
    let wide: Vec<f64> = arguments.iter().map(|&x| x.into()).collect();
    let results = floats.evaluate(&function.single_name(), &arguments, function.arity)?;
    let expected = doubles.evaluate(function.name, &wide, function.arity)?;
    let mut measured = Measured::default();
    for ((arguments, result), exact) in wide.chunks(function.arity).zip(results).zip(expected) {
        if is_documented(function, arguments) {
            let rounded = exact as f32;
            let distance = between_floats(result, rounded);
            measured.compare(
                arguments,
                result.into(),
                rounded.into(),
                distance,
                function.single,
            );
        }
    }
    Ok(measured)
}

/// Whether a bound holds there. Where errors are absolute, a NaN has none.
fn is_documented(function: &Function, arguments: &[f64]) -> bool {
    let near = match function.single {
        Bound::Absolute(_) => arguments.iter().all(|x| x.is_finite()),
        Bound::Ulps(_) | Bound::Unknown => true,
    };
    // Far from 0 a float's last digit is more than a wave; that of the double function is not.
    let waves = function.range != Range::Far || arguments[0].abs() < 1e6;
    near && waves && function.range.contains(arguments)
}
