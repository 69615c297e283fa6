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
const NOBODY: Sphere = [0.0, 0.0, 1000.0, 1000.0, -1.0];

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
            .map(|(x, y)| seen(&spheres, x as f32, y as f32))
            .collect();

        if bench.has_variable("constant_spheres")? {
            let mut all = [NOBODY; MAX_SPHERES];
            all[..spheres.len()].copy_from_slice(&spheres);
            bench.input_variable("constant_spheres", &all)?;
        }
        let device_spheres = bench.input("spheres", spheres.as_flattened())?;
        let image = bench.output::<f32>(width * height)?;
        let kernel = bench.kernel("draw")?;
        let stream = &bench.gpu.stream;
        let [across, down, many] = [case.size[0], case.size[1], case.size[2]];
        let grid = (across.div_ceil(BLOCK.0), down.div_ceil(BLOCK.1));
        // SAFETY: the arguments match the kernel's signature; `spheres` and `image` have the lengths given by
        // `many`, `across` and `down`.
        bench.launch(|| unsafe {
            launch!(kernel<<<grid, BLOCK, 0, stream>>>(
                device_spheres.as_device_ptr(), many, image.as_device_ptr(), across, down
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
fn seen(spheres: &[Sphere], x: f32, y: f32) -> f32 {
    let (mut nearest, mut seen) = (f32::NEG_INFINITY, 0.0);
    for &[centre_x, centre_y, centre_z, radius, brightness] in spheres {
        let (dx, dy) = (x - centre_x, y - centre_y);
        let rest = radius * radius - (dx * dx + dy * dy);
        if rest > 0.0 && centre_z + rest.sqrt() > nearest {
            nearest = centre_z + rest.sqrt();
            seen = brightness;
        }
    }
    seen
}
