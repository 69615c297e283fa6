//! Ray tracing of spheres, from `kernels/raytrace-const.cu`.

use clap::Parser;
use launch_plan::{Element, Launch, ResolvedPlan};
use raytrace_const::flags::Flags;
use raytrace_const::scene::Sphere;
use raytrace_const::{reference, scene};

use super::{OUTPUT, Scale, Workload, floats, number, output, plan, pointer, symbol};

/// Pixels per block in each dimension.
const BLOCK: u32 = 16;

/// The source of the kernel's spheres, which selects the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spheres {
    Global,
    Constant,
    Unrolled,
}

/// A square image of 20 spheres.
pub struct RayTracer {
    source: Spheres,
    side: u32,
    spheres: Vec<Sphere>,
    /// The spheres in the kernel's memory layout.
    floats: Vec<f32>,
}

impl RayTracer {
    /// The chapter's scene.
    pub fn boxed(source: Spheres, scale: Scale) -> Box<dyn Workload> {
        let side = scale.pick([32, 1024, 2048, 4096]);
        let pixels = side.to_string();
        let flags = ["raytrace-const", "--width", &pixels, "--height", &pixels];
        let spheres = scene::random(&Flags::parse_from(flags));
        let floats = |s: &Sphere| [s.r, s.b, s.g, s.radius, s.x, s.y, s.z, 0.0];
        let length = if source == Spheres::Unrolled { 8 } else { 7 };
        let floats = spheres.iter().map(floats);
        let floats = floats.flat_map(|floats| floats.into_iter().take(length));
        Box::new(RayTracer {
            source,
            side,
            floats: floats.collect(),
            spheres,
        })
    }
}

impl Workload for RayTracer {
    fn size(&self) -> String {
        format!("{0}×{0}, {1} spheres", self.side, self.spheres.len())
    }

    fn ptx(&self) -> &'static str {
        include_str!("../../../../../../kernels/ptx/raytrace-const.ptx")
    }

    fn plan(&self, words: usize) -> ResolvedPlan {
        let blocks = self.side.div_ceil(BLOCK);
        let shape = [[blocks, blocks, 1], [BLOCK, BLOCK, 1]];
        let count = number(self.spheres.len() as u32);
        let image = [pointer(OUTPUT), number(self.side), number(self.side)];
        let (kernel, spheres, arguments) = match self.source {
            Spheres::Global => {
                let spheres = floats("spheres", &self.floats);
                let arguments = [&[pointer(1), count][..], &image].concat();
                ("raytrace_global", spheres, arguments)
            }
            Spheres::Constant | Spheres::Unrolled => {
                let spheres = symbol(floats("constant_spheres", &self.floats));
                let arguments = [&[count][..], &image].concat();
                let kernel = if self.source == Spheres::Constant {
                    "raytrace_constant"
                } else {
                    "raytrace_unrolled"
                };
                (kernel, spheres, arguments)
            }
        };
        plan(
            vec![output(Element::U32, words), spheres],
            Launch::new(kernel, shape, arguments),
        )
    }

    fn expected(&self) -> Vec<u32> {
        let picture = reference::render(&self.spheres, self.side, self.side);
        picture.pixels.into_iter().map(u32::from_le_bytes).collect()
    }

    /// Renders with the chapter's reference, which is such a loop. Copying the pixels adds 1 or 2 % to its
    /// time.
    fn plain(&self, output: &mut [u32]) {
        let picture = reference::render(&self.spheres, self.side, self.side);
        for (word, pixel) in output.iter_mut().zip(picture.pixels) {
            *word = u32::from_le_bytes(pixel);
        }
    }
}
