//! Exercises in which the student chooses the layout or the memory space of records: the fields of particles, and
//! spheres.

use anyhow::Result;
use cust::prelude::*;

use crate::host::{Bench, Case, Host, Output};

/// The kinetic energy of particles, whose fields are stored at the positions that the student's function
/// `bucket` returns.
pub struct Fields;

/// Fields per particle.
const FIELDS: usize = 8;
/// Threads per block.
const BLOCK: usize = 256;

impl Host for Fields {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let count = case.n();
        let filled = case.floats(0, count * FIELDS);
        // After `fill`, all values are replaced, so that results computed by `fill` are wrong.
        let particles: Vec<f32> = filled.iter().map(|&value| replaced(value)).collect();
        let energy = |particle: &[f32]| match *particle {
            [_, _, _, vx, vy, vz, mass, _] => 0.5 * mass * (vx * vx + vy * vy + vz * vz),
            _ => f32::NAN,
        };
        let expected = particles.chunks(FIELDS).map(energy).collect();

        let capacity = count.next_multiple_of(32) * FIELDS;
        let (fill, sum) = (
            bench.submission.kernel("fill")?,
            bench.submission.kernel("energies")?,
        );
        let blocks = |threads: usize| threads.div_ceil(BLOCK) as u32;
        let stream = &bench.gpu.stream;
        let fill_with = |particles: &[f32]| {
            let records = bench.input("records", particles)?;
            let memory = bench.output::<f32>(capacity)?;
            // SAFETY: the arguments match the kernel's signature, and the arrays have the lengths documented in
            // the `.cu` file.
            unsafe {
                launch!(fill<<<blocks(count * FIELDS), BLOCK as u32, 0, stream>>>(
                    records.as_device_ptr(), memory.as_device_ptr(), count as i32
                ))
            }?;
            stream.synchronize()?;
            anyhow::Ok(memory)
        };
        // Fill other buffers with other particles, a random number of times before and after, so that data kept outside
        // `memory` does not belong to these particles, and move `memory`.
        let others = case.integers(2, 2, 2);
        let fill_others = |stream: u64, times: u32| {
            bench.uncounted(|| {
                (0..times).try_for_each(|round| {
                    let others = case.floats(stream + u64::from(round), count * FIELDS);
                    fill_with(&others).map(|_| ())
                })
            })
        };
        fill_others(3, others[0])?;
        let memory = fill_with(&filled)?.as_host_vec()?;
        let energies = bench.output(count)?;
        let fields = fields_in_memory(&memory, &filled);
        fill_others(6, 1 + others[1])?;
        let memory: Vec<f32> = memory.iter().map(|&value| replaced(value)).collect();
        let memory = DeviceBuffer::from_slice(&memory)?;
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

/// Returns the value that replaces a particle's: another of those that can be drawn, and itself for any other value.
fn replaced(value: f32) -> f32 {
    /// The bits of a value's number that are changed, high and low ones.
    const CHANGED_BITS: usize = 0x5A_3C96;
    match Case::number_of_float(value) {
        Some(number) => Case::numbered_float(number ^ CHANGED_BITS),
        None => value,
    }
}

/// Counts, for each particle, the fields that are in `memory`, each at a position of its own.
fn fields_in_memory(memory: &[f32], particles: &[f32]) -> Vec<u32> {
    let mut counts = vec![0_u8; Case::FLOATS];
    for &value in memory {
        if let Some(number) = Case::number_of_float(value) {
            counts[number] = counts[number].saturating_add(1);
        }
    }
    let mut take = |&field: &f32| {
        let count = &mut counts[Case::number_of_float(field).unwrap_or(0)];
        let found = *count > 0;
        *count -= u8::from(found);
        u32::from(found)
    };
    let particles = particles.chunks(FIELDS);
    particles
        .map(|fields| fields.iter().map(&mut take).sum())
        .collect()
}

/// Threads per block along x and y.
const PIXELS_PER_BLOCK: (u32, u32) = (32, 4);
/// The capacity of the submission's variable for spheres.
const MAX_SPHERES: usize = 64;
/// A sphere: x, y, z, radius, brightness. All are integers, so squares are exact, and the result for a ray
/// that only touches a sphere does not depend on rounding.
type Sphere = [f32; 5];

/// The host side. A size is width, height and the number of spheres.
pub struct Spheres;

impl Host for Spheres {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let (width, height) = (case.width(), case.height());
        let count = case.depth();
        let numbers = |stream, below| case.integers(stream, count, below);
        let (x, y, z) = (
            numbers(0, case.size[0] + 16),
            numbers(1, case.size[1] + 16),
            numbers(2, 100),
        );
        let (radius, brightness) = (numbers(3, 20), numbers(4, 1000));
        let spheres: Vec<Sphere> = (0..count)
            .map(|i| {
                // Some spheres reach out of the picture, and some are behind z = 0.
                let [x, y, z] = [(x[i], 8), (y[i], 8), (z[i], 50)]
                    .map(|(number, less)| number.cast_signed() - less);
                let [radius, brightness] =
                    [radius[i], brightness[i]].map(|number| 1 + number.cast_signed());
                [x, y, z, radius, brightness].map(|number| number as f32)
            })
            .collect();
        let pixels = (0..width * height).map(|pixel| (pixel % width, pixel / width));
        let expected = pixels
            .map(|(x, y)| brightness_at(&spheres, x as f32, y as f32))
            .collect();

        if bench.submission.has_variable("constant_spheres")? {
            // The filler lies in front of all spheres, so that reading past the count shows.
            let [z, radius, brightness] = [(4, 500), (5, 1000), (6, 1000)]
                .map(|(stream, below)| case.integers(stream, 1, below)[0] as f32);
            let filler = [0.0, 0.0, 500.0 + z, 500.0 + radius, 1.0 + brightness];
            let mut all = [filler; MAX_SPHERES];
            all[..spheres.len()].copy_from_slice(&spheres);
            bench.input_variable("constant_spheres", &all)?;
        }
        let device_spheres = bench.input("spheres", spheres.as_flattened())?;
        let image = bench.output::<f32>(width * height)?;
        let kernel = bench.submission.kernel("draw")?;
        let stream = &bench.gpu.stream;
        let [width_argument, height_argument, count_argument] =
            [case.size[0], case.size[1], case.size[2]];
        let grid = (
            width_argument.div_ceil(PIXELS_PER_BLOCK.0),
            height_argument.div_ceil(PIXELS_PER_BLOCK.1),
        );
        // SAFETY: the arguments match the kernel's signature; `spheres` and `image` have the lengths given by
        // `count_argument`, `width_argument` and `height_argument`.
        bench.launch(|| unsafe {
            launch!(kernel<<<grid, PIXELS_PER_BLOCK, 0, stream>>>(
                device_spheres.as_device_ptr(), count_argument, image.as_device_ptr(), width_argument, height_argument
            ))
        })?;
        stream.synchronize()?;
        Ok(vec![Output::new(
            "image",
            &[height, width],
            &image,
            expected,
        )?])
    }
}

/// Returns the brightness of the first sphere that the ray through (x, y) meets.
fn brightness_at(spheres: &[Sphere], x: f32, y: f32) -> f32 {
    let (mut nearest, mut result) = (f32::NEG_INFINITY, 0.0);
    for &[centre_x, centre_y, centre_z, radius, brightness] in spheres {
        let (dx, dy) = (x - centre_x, y - centre_y);
        let discriminant = radius * radius - (dx * dx + dy * dy);
        if discriminant > 0.0 && centre_z + discriminant.sqrt() > nearest {
            nearest = centre_z + discriminant.sqrt();
            result = brightness;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_values_that_can_be_drawn_are_replaced() {
        for value in [-1.0, -0.25, 0.0, 0.75] {
            assert_ne!(replaced(value), value);
            assert_eq!(replaced(replaced(value)), value);
        }
        for value in [1.0, 1e-10, f32::INFINITY] {
            assert_eq!(replaced(value), value);
        }
        assert!(replaced(f32::NAN).is_nan());
    }

    #[test]
    fn a_location_holds_one_field() {
        let particle = [0.125, 0.25, 0.5, -1.0, 0.0, -0.25, 0.75, 0.125];
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
