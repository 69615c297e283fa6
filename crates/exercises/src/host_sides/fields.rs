//! 06-fields: an array of structures or a structure of arrays.

use anyhow::Result;
use cust::prelude::*;

use crate::host::{Bench, Case, Host, Output};

/// The kinetic energy of particles, whose fields are stored at the positions that the student's function
/// `bucket` returns.
pub struct Fields;

const FIELDS: usize = 8;
const BLOCK: usize = 256;

impl Host for Fields {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let count = case.n();
        let particles = case.floats(0, count * FIELDS);
        let energy = |particle: &[f32]| match *particle {
            [_, _, _, vx, vy, vz, mass, _] => 0.5 * mass * (vx * vx + vy * vy + vz * vz),
            _ => f32::NAN,
        };
        let expected = particles.chunks(FIELDS).map(energy).collect();

        let records = bench.input("records", &particles)?;
        let capacity = count.next_multiple_of(32) * FIELDS;
        let memory = bench.output::<f32>(capacity)?;
        let energies = bench.output(count)?;
        let (fill, sum) = (bench.kernel("fill")?, bench.kernel("energies")?);
        let blocks = |threads: usize| threads.div_ceil(BLOCK) as u32;
        let stream = &bench.gpu.stream;
        // SAFETY: the arguments match the kernels' signatures, and the arrays have the lengths documented in
        // the `.cu` file.
        unsafe {
            launch!(fill<<<blocks(count * FIELDS), BLOCK as u32, 0, stream>>>(
                records.as_device_ptr(), memory.as_device_ptr(), count as i32
            ))
        }?;
        stream.synchronize()?;
        let fields = fields_in_memory(&memory.as_host_vec()?, &particles);
        // Fill another buffer with other particles, so that data kept outside `memory` no longer matches the
        // first ones.
        bench.uncounted(|| {
            let others = bench.input("records", &case.floats(1, count * FIELDS))?;
            let other_memory = bench.output::<f32>(capacity)?;
            // SAFETY: the arguments match the signature of `fill`, and both arrays are as long as those of
            // the first launch.
            unsafe {
                launch!(fill<<<blocks(count * FIELDS), BLOCK as u32, 0, stream>>>(
                    others.as_device_ptr(), other_memory.as_device_ptr(), count as i32
                ))
            }?;
            Ok(stream.synchronize()?)
        })?;
        // SAFETY: the arguments match the signature of `energies`; `memory` has `buckets` elements and
        // `energies` has `count`.
        bench.launch(|| unsafe {
            launch!(sum<<<blocks(count), BLOCK as u32, 0, stream>>>(
                memory.as_device_ptr(), energies.as_device_ptr(), count as i32
            ))
        })?;
        stream.synchronize()?;
        Ok(vec![
            Output::from_values(
                "fields in memory",
                &[count],
                fields,
                vec![FIELDS as u32; count],
            )?
            .with_explanation(
                "For each particle: the number of its 8 fields that are in `memory` after `fill`, \
                 unchanged and each at its own location.",
                "对每个粒子：`fill` 之后，它的 8 个字段有几个原样保存在 `memory` 中，并且各占一个位置。",
            ),
            Output::new("energy", &[count], &energies, expected)?,
        ])
    }
}

/// Log2 of the number of table entries, which exceeds the number of floats in `memory`.
const TABLE_BITS: u32 = 18;

/// Counts, for each particle, the fields that are in `memory`, each at a position of its own. Fields are
/// looked up by a hash of their bits, so a collision may hide a few missing ones.
fn fields_in_memory(memory: &[f32], particles: &[f32]) -> Vec<u32> {
    let bucket = |value: &f32| {
        let mixed = value.to_bits().wrapping_mul(0x9E37_79B1);
        (mixed >> (u32::BITS - TABLE_BITS)) as usize
    };
    let mut buckets = vec![0_u32; 1 << TABLE_BITS];
    for value in memory {
        buckets[bucket(value)] += 1;
    }
    let mut take = |field: &f32| {
        let remaining = &mut buckets[bucket(field)];
        let taken = (*remaining).min(1);
        *remaining -= taken;
        taken
    };
    let particles = particles.chunks(FIELDS);
    particles
        .map(|fields| fields.iter().map(&mut take).sum())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_holds_one_field() {
        let particle = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 1.0];
        let mut memory = particle.to_vec();
        memory.reverse();
        assert_eq!(fields_in_memory(&memory, &particle), [8]);
        memory[0] = 9.0;
        assert_eq!(fields_in_memory(&memory, &particle), [7]);
        assert_eq!(
            fields_in_memory(&memory, &[particle, particle].concat()),
            [7, 0]
        );
    }
}
