//! The CPU reference of the stencil.
//!
//! Every operation rounds like the kernels': `mul_add` corresponds to `fmaf` in
//! `kernels/stencil-readonly.cu`, so that the results are equal bit by bit.

use chapter::progress::{CHUNK, filled};
use multiversion::multiversion;

use crate::scheme::{COEF, RADIUS};

/// Returns the step times the derivative at all `points` except the halo, the first and last [`RADIUS`].
pub fn stencil(points: &[f32]) -> Vec<f32> {
    let size = points.len() - 2 * RADIUS;
    filled("CPU reference", size, CHUNK, |first, results| {
        stencil_chunk(&points[first..first + results.len() + 2 * RADIUS], results);
    })
}

#[multiversion(targets("x86_64+avx2+fma"))]
fn stencil_chunk(points: &[f32], results: &mut [f32]) {
    for (around, result) in points.windows(2 * RADIUS + 1).zip(results) {
        let mut tmp = 0.0;
        for i in 1..=RADIUS {
            tmp = COEF[i].mul_add(around[RADIUS + i] - around[RADIUS - i], tmp);
        }
        *result = tmp;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_line_rises_by_the_sum_of_the_coefficients() {
        let line: Vec<f32> = (0..20_u8).map(f32::from).collect();
        let rise = 2.0 * (0.8 - 2.0 * 0.2 + 3.0 * 0.03809 - 4.0 * 0.00357);
        let results = stencil(&line);
        assert_eq!(results.len(), 12);
        for result in results {
            approx::assert_ulps_eq!(result, rise, max_ulps = 2);
        }
    }

    #[test]
    fn a_single_peak_gives_the_coefficients() {
        let mut points = [0.0; 17];
        points[8] = 1.0;
        let [_, a1, a2, a3, a4] = COEF;
        let expected = [a4, a3, a2, a1, 0.0, -a1, -a2, -a3, -a4];
        assert_eq!(stencil(&points), expected);
    }

    #[test]
    fn an_array_without_points_gives_no_results() {
        assert!(stencil(&[1.0; 2 * RADIUS]).is_empty());
    }
}
