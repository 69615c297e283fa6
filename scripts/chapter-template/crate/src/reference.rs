//! The vector, and the CPU's answer.

/// `count` numbers that differ from their neighbours.
pub fn vector(count: u32) -> Vec<f32> {
    (0..count).map(|i| (i % 1000) as f32 - 500.0).collect()
}

/// Each element times `factor`, rounded once, as the kernel does.
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
