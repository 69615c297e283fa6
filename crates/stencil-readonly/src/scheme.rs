//! The finite-difference scheme: nine points, of which the middle one has weight 0.

/// Number of points on either side that a result depends on, as in the kernels.
pub const RADIUS: usize = 4;

/// The note's coefficients by distance from the middle: 4/5, −1/5, 4/105 and −1/280, the last two rounded to
/// five decimal places. [`crate::accuracy`] computes the resulting error.
pub const COEF: [f32; RADIUS + 1] = [0.0, 0.8, -0.2, 0.03809, -0.00357];

/// Returns the bytes of shared memory of a block: its points and its halo.
pub fn shared_bytes(threads: u32) -> u32 {
    (threads + 2 * RADIUS as u32) * size_of::<f32>() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_holds_a_block_and_its_halo() {
        assert_eq!(shared_bytes(32), 40 * 4);
    }
}
