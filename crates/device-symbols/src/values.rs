//! Values of the variables, and the expected output of the kernels.

/// Number of elements of `const_data`, and of the allocation that `dev_pointer` points to, as in the `.cu`
/// file.
pub const LENGTH: usize = 256;

/// The value that the host copies to `dev_data`: the note's value.
#[expect(
    clippy::approx_constant,
    reason = "the value is the note's, not an approximation of pi"
)]
pub const VALUE: f32 = 3.14;

/// The value that the kernel `store` writes to `dev_data`.
pub const STORED: f32 = 0.75;

/// Returns the values that the host copies to `const_data`.
pub fn constants() -> [f32; LENGTH] {
    std::array::from_fn(|i| i as f32 / 16.0)
}

/// Returns the values that the host copies to the allocation that `dev_pointer` points to.
pub fn pointed() -> [f32; LENGTH] {
    std::array::from_fn(|i| 1000.0 - i as f32)
}

/// Returns the expected output of `combine`. `mul_add` corresponds to the kernel's `fmaf`, so that both round
/// alike.
pub fn combined(count: u64) -> Vec<f32> {
    let (constants, pointed) = (constants(), pointed());
    let sums: [f32; LENGTH] = std::array::from_fn(|i| constants[i].mul_add(VALUE, pointed[i]));
    (0..count).map(|i| sums[i as usize % LENGTH]).collect()
}

/// Returns the values that `store` should write through `dev_pointer`.
pub fn stored() -> [f32; LENGTH] {
    constants().map(|constant| constant * STORED)
}

/// Describes an element of the output of `combine`.
pub fn element_name(index: usize) -> String {
    format!("element {index}")
}

/// Describes an element that `store` writes through the pointer.
pub fn pointed_name(index: usize) -> String {
    format!("element {index} of dev_pointer's target")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combined_values_repeat_after_the_array() {
        let combined = combined(600);
        assert_eq!(combined.len(), 600);
        assert_eq!(combined[..256], combined[256..512]);
        assert_eq!(combined[0], 1000.0);
        assert_eq!(combined[16], 984.0 + VALUE);
    }

    /// A kernel that mistook one value for the other would otherwise pass.
    #[test]
    fn stored_values_differ_from_the_previous_ones() {
        assert_ne!(VALUE, STORED);
        assert!(stored().iter().zip(pointed()).all(|(a, b)| *a != b));
        assert_eq!(stored()[32], 1.5);
    }
}
