//! 24-spheres: spheres in global memory, and in constant memory if the submission declares a variable for them.

use anyhow::Result;
use cust::launch;

use crate::host::{Bench, Case, Host, Output};

/// Threads per block along x and y.
const BLOCK: (u32, u32) = (32, 4);
/// The capacity of the submission's variable for spheres.
const MAX_SPHERES: usize = 64;
/// A sphere: x, y, z, radius, brightness. All are integers, so squares are exact, and the result for a ray
/// that only touches a sphere does not depend on rounding.
type Sphere = [f32; 5];

/// The filler behind the last sphere. It lies in front of all others, so that reading past the count shows.
const FILLER: Sphere = [0.0, 0.0, 1000.0, 1000.0, -1.0];

/// The host side. A size is width, height and the number of spheres.
pub struct Spheres;

impl Host for Spheres {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let (width, height) = (case.width(), case.height());
        let count = case.depth();
        let numbers = |stream, below| case.integers(stream, count, below);
        let (x, y, z) = (
            numbers(0, case.size[0]),
            numbers(1, case.size[1]),
            numbers(2, 100),
        );
        let (radius, brightness) = (numbers(3, 20), numbers(4, 1000));
        let spheres: Vec<Sphere> = (0..count)
            .map(|i| {
                [x[i], y[i], z[i], 1 + radius[i], 1 + brightness[i]].map(|number| number as f32)
            })
            .collect();
        let pixels = (0..width * height).map(|pixel| (pixel % width, pixel / width));
        let expected = pixels
            .map(|(x, y)| brightness_at(&spheres, x as f32, y as f32))
            .collect();

        if bench.has_variable("constant_spheres")? {
            let mut all = [FILLER; MAX_SPHERES];
            all[..spheres.len()].copy_from_slice(&spheres);
            bench.input_variable("constant_spheres", &all)?;
        }
        let device_spheres = bench.input("spheres", spheres.as_flattened())?;
        let image = bench.output::<f32>(width * height)?;
        let kernel = bench.kernel("draw")?;
        let stream = &bench.gpu.stream;
        let [width_argument, height_argument, count_argument] =
            [case.size[0], case.size[1], case.size[2]];
        let grid = (
            width_argument.div_ceil(BLOCK.0),
            height_argument.div_ceil(BLOCK.1),
        );
        // SAFETY: the arguments match the kernel's signature; `spheres` and `image` have the lengths given by
        // `count_argument`, `width_argument` and `height_argument`.
        bench.launch(|| unsafe {
            launch!(kernel<<<grid, BLOCK, 0, stream>>>(
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
