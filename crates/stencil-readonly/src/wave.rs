//! The array: a sine wave, whose derivative is known exactly.
//!
//! The step is a power of two. Therefore positions on the x axis need no rounding, and neither does the
//! conversion of a result to a derivative. As no wavelength is a whole number of steps, no two parts of the
//! array are equal, so a point read from a wrong index is detected.

use chapter::progress::{CHUNK, filled};

use crate::scheme::RADIUS;

/// The distance of two points in radians: about 50 points per wavelength.
pub const STEP: f64 = 0.125;

/// Returns sin x at `size` points from x = 0 on, and at [`RADIUS`] more on either side.
pub fn points(size: usize) -> Vec<f32> {
    filled("sine wave", size + 2 * RADIUS, CHUNK, |first, points| {
        for (point, index) in points.iter_mut().zip(first..) {
            *point = x(index as f64 - RADIUS as f64).sin() as f32;
        }
    })
}

/// Returns the derivative at the `size` points: cos x.
pub fn derivative(size: usize) -> Vec<f64> {
    filled(
        "derivative of the wave",
        size,
        CHUNK,
        |first, derivative| {
            for (slope, index) in derivative.iter_mut().zip(first..) {
                *slope = x(index as f64).cos();
            }
        },
    )
}

/// Returns the position of point `index` in radians.
fn x(index: f64) -> f64 {
    index * STEP
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_ulps_eq;

    #[test]
    fn the_wave_starts_at_zero_behind_its_halo() {
        let points = points(3);
        assert_eq!(points.len(), 3 + 2 * RADIUS);
        assert_eq!(points[RADIUS], 0.0);
        assert_ulps_eq!(points[0], -(0.5_f32.sin()), max_ulps = 1);
        assert_ulps_eq!(points[RADIUS + 6], 0.75_f32.sin(), max_ulps = 1);
    }

    #[test]
    fn the_derivative_is_that_of_the_points() {
        let derivative = derivative(9);
        assert_eq!((derivative.len(), derivative[0]), (9, 1.0));
        assert_ulps_eq!(derivative[8], 1.0_f64.cos(), max_ulps = 1);
    }
}
