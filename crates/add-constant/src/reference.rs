//! The CPU reference of the sums.

use chapter::progress::filled;

use crate::pattern::{AccessPattern, NUM_VALUES};

/// Thread blocks whose sums a processor computes at a time.
const BLOCKS: usize = 64;

/// Adds one of `values` to each of `inputs`, as blocks of `block` threads do.
pub fn add_constant(
    inputs: &[i32],
    values: &[i32; NUM_VALUES],
    block: u32,
    access_pattern: AccessPattern,
) -> Vec<i32> {
    let block = block as usize;
    filled(
        "CPU reference",
        inputs.len(),
        BLOCKS * block,
        |first, sums| {
            let blocks = sums.chunks_mut(block).zip(inputs[first..].chunks(block));
            for (block_id, (sums, inputs)) in (first / block..).zip(blocks) {
                for (thread_id, (sum, input)) in sums.iter_mut().zip(inputs).enumerate() {
                    let index = access_pattern.index(block_id as u32, thread_id as u32);
                    *sum = input + values[index];
                }
            }
        },
    )
}

/// Adds the same value to all `inputs`.
pub fn add_vector(inputs: &[i32], value: i32) -> Vec<i32> {
    inputs.iter().map(|input| input + value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pattern_adds_its_values() {
        let values = std::array::from_fn(|index| index as i32);
        let sums = |pattern| add_constant(&[1000; 100], &values, 40, pattern);
        for (pattern, at_39, at_80, at_99) in [
            (AccessPattern::OneAccessPerBlock, 1000, 1002, 1002),
            (AccessPattern::OneAccessPerWarp, 1001, 1000, 1000),
            (AccessPattern::OneAccessPerThread, 1039, 1000, 1019),
            (
                AccessPattern::PseudoRandom,
                1000 + 39 * 1357 % 16384,
                1000,
                1000 + 19 * 1357 % 16384,
            ),
        ] {
            let sums = sums(pattern);
            let actual = [sums.len() as i32, sums[39], sums[80], sums[99]];
            assert_eq!(actual, [100, at_39, at_80, at_99], "{pattern:?}");
        }
    }

    #[test]
    fn a_vector_adds_one_value_to_all() {
        assert_eq!(add_vector(&[1, 2, 3], 10), [11, 12, 13]);
    }
}
