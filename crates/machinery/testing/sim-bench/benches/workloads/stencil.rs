//! The stencil with coefficients in constant memory, from `kernels/stencil-readonly.cu`.

use multiversion::multiversion;
use stencil_readonly::scheme::{COEF, RADIUS};
use stencil_readonly::{reference, wave};

use super::{Argument, Buffer, POISON, Scale, Workload};

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

    fn kernel(&self) -> &'static str {
        "stencil_constant"
    }

    fn shape(&self) -> [[u32; 3]; 2] {
        let blocks = (self.size as u32).div_ceil(self.block);
        [[blocks, 1, 1], [self.block, 1, 1]]
    }

    fn dynamic_shared(&self) -> u32 {
        (self.block + 2 * RADIUS as u32) * size_of::<f32>() as u32
    }

    fn arguments(&self) -> Vec<Argument<'_>> {
        let points = Argument::Input(Buffer::Floats(&self.points));
        vec![points, Argument::Output, Argument::Word(self.size as u32)]
    }

    fn halo(&self) -> usize {
        RADIUS
    }

    fn symbol(&self) -> Option<(&'static str, Buffer<'_>)> {
        Some(("coef", Buffer::Floats(&COEF)))
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
