//! The errors of the float functions, relative to the double functions, whose own errors are far below a
//! float's precision and are measured against the table of correctly rounded values.

use anyhow::Result;

use crate::device::Device;
use crate::functions::{Bound, Function, Range};
use crate::points;
use crate::ulps::{ErrorStatistics, between_floats};

/// Measures the error of one function at about `count` points.
pub fn measure(
    floats: &mut Device,
    doubles: &mut Device,
    function: &Function,
    count: usize,
) -> Result<ErrorStatistics> {
    let takes_order = matches!(function.name, "jn" | "yn");
    let arguments = match takes_order {
        true => points::order_arguments(count / 8),
        false => points::float_arguments(count, function.arity),
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
