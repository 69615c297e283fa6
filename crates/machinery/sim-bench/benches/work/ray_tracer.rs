//! Spheres, from `kernels/raytrace-const.cu`.

use clap::Parser;
use raytrace_const::flags::Flags;
use raytrace_const::scene::Sphere;
use raytrace_const::{reference, scene};

use super::{Argument, Buffer, Scale, Work};

/// Pixels of a block in either direction.
const BLOCK: u32 = 16;

/// Where a kernel has its spheres from, and so which kernel it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spheres {
    Global,
    Constant,
    Unrolled,
}

/// A square picture of 20 spheres.
pub struct RayTracer {
    place: Spheres,
    side: u32,
    spheres: Vec<Sphere>,
    /// The same as the kernel has them.
    floats: Vec<f32>,
}

impl RayTracer {
    /// The chapter's scene.
    pub fn boxed(place: Spheres, scale: Scale) -> Box<dyn Work> {
        let side = scale.pick([32, 1024, 2048, 4096]);
        let pixels = side.to_string();
        let flags = ["raytrace-const", "--width", &pixels, "--height", &pixels];
        let spheres = scene::random(&Flags::parse_from(flags));
        let floats = |s: &Sphere| [s.r, s.b, s.g, s.radius, s.x, s.y, s.z, 0.0];
        let length = if place == Spheres::Unrolled { 8 } else { 7 };
        let floats = spheres.iter().map(floats);
        let floats = floats.flat_map(|floats| floats.into_iter().take(length));
        Box::new(RayTracer {
            place,
            side,
            floats: floats.collect(),
            spheres,
        })
    }
}

impl Work for RayTracer {
    fn size(&self) -> String {
        format!("{0}×{0}, {1} spheres", self.side, self.spheres.len())
    }

    fn ptx(&self) -> &'static str {
        include_str!("../../../../../kernels/ptx/raytrace-const.ptx")
    }

    fn kernel(&self) -> &'static str {
        match self.place {
            Spheres::Global => "raytrace_global",
            Spheres::Constant => "raytrace_constant",
            Spheres::Unrolled => "raytrace_unrolled",
        }
    }

    fn shape(&self) -> [[u32; 3]; 2] {
        let blocks = self.side.div_ceil(BLOCK);
        [[blocks, blocks, 1], [BLOCK, BLOCK, 1]]
    }

    fn arguments(&self) -> Vec<Argument<'_>> {
        let input = Argument::Input(Buffer::Floats(&self.floats));
        let count = Argument::Word(self.spheres.len() as u32);
        let side = Argument::Word(self.side);
        match self.place {
            Spheres::Global => vec![input, count, Argument::Output, side, side],
            Spheres::Constant | Spheres::Unrolled => vec![count, Argument::Output, side, side],
        }
    }

    fn symbol(&self) -> Option<(&'static str, Buffer<'_>)> {
        let floats = Buffer::Floats(&self.floats);
        (self.place != Spheres::Global).then_some(("constant_spheres", floats))
    }

    fn element(&self) -> &'static str {
        "uint32"
    }

    fn expected(&self) -> Vec<u32> {
        let picture = reference::render(&self.spheres, self.side, self.side);
        picture.pixels.into_iter().map(u32::from_le_bytes).collect()
    }

    /// The chapter's reference is such a loop. What the copy adds is 1 or 2 % of it.
    fn plain(&self, output: &mut [u32]) {
        let picture = reference::render(&self.spheres, self.side, self.side);
        for (word, pixel) in output.iter_mut().zip(picture.pixels) {
            *word = u32::from_le_bytes(pixel);
        }
    }
}
