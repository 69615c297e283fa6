//! The stencil with coefficients in constant memory, from `kernels/stencil-readonly.cu`.

use launch_plan::{Argument, Element, Launch, ResolvedPlan};
use multiversion::multiversion;
use stencil_readonly::scheme::{COEF, RADIUS};
use stencil_readonly::{reference, wave};

use super::{OUTPUT, POISON, Scale, Workload, floats, number, output, plan, symbol};

/// A sine wave with a halo of [`RADIUS`] points on either side.
pub struct Stencil {
    block: u32,
    size: usize,
    points: Vec<f32>,
}

impl Stencil {
    /// Builds the workload from the chapter's wave, with `block` threads per block.
    pub fn boxed(block: u32, scale: Scale) -> Box<dyn Workload> {
        let size = scale.pick([1 << 10, 1 << 20, 1 << 22, 1 << 24]);
        Box::new(Stencil {
            block,
            size,
            points: wave::points(size),
        })
    }
}

impl Workload for Stencil {
    fn size(&self) -> String {
        format!("{} points", self.size)
    }

    fn ptx(&self) -> &'static str {
        include_str!("../../../../../../kernels/ptx/stencil-readonly.ptx")
    }

    fn plan(&self, words: usize) -> ResolvedPlan {
        let blocks = (self.size as u32).div_ceil(self.block);
        let shape = [[blocks, 1, 1], [self.block, 1, 1]];
        // The pointers are to the first point behind the halo.
        let [output_points, points] = [OUTPUT, 1].map(|index| Argument::Buffer {
            index,
            offset: (RADIUS * size_of::<f32>()) as u64,
        });
        let arguments = vec![points, output_points, number(self.size as u32)];
        let buffers = vec![
            output(Element::F32, words),
            floats("points", &self.points),
            symbol(floats("coef", &COEF)),
        ];
        let launch = Launch {
            shared: (self.block + 2 * RADIUS as u32) * size_of::<f32>() as u32,
            ..Launch::new("stencil_constant", shape, arguments)
        };
        plan(buffers, launch)
    }

    fn expected(&self) -> Vec<u32> {
        let halo = [POISON; RADIUS];
        let results = reference::stencil(&self.points);
        let bits = results.into_iter().map(f32::to_bits);
        halo.into_iter().chain(bits).chain(halo).collect()
    }

    fn plain(&self, output: &mut [u32]) {
        derivative(&self.points, &mut output[RADIUS..][..self.size]);
    }
}

/// Computes one point per thread.
#[multiversion(targets("x86_64+avx2+fma"))]
fn derivative(points: &[f32], output: &mut [u32]) {
    for (around, result) in points.windows(2 * RADIUS + 1).zip(output) {
        let difference = |i| around[RADIUS + i] - around[RADIUS - i];
        let add = |sum: f32, i: usize| COEF[i].mul_add(difference(i), sum);
        *result = (1..=RADIUS).fold(0.0, add).to_bits();
    }
}
