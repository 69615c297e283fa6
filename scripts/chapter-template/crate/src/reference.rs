//! The vector and the CPU reference.

/// Returns `count` numbers, each different from its neighbours.
pub fn vector(count: u32) -> Vec<f32> {
    (0..count).map(|i| (i % 1000) as f32 - 500.0).collect()
}

/// Multiplies each element by `factor`, rounded once like in the kernel.
pub fn scaled(vector: &[f32], factor: f32) -> Vec<f32> {
    vector.iter().map(|element| element * factor).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_multiplied() {
        assert_eq!(vector(2), [-500.0, -499.0]);
        assert_eq!(scaled(&[1.0, -3.0], 0.5), [0.5, -1.5]);
    }
}
