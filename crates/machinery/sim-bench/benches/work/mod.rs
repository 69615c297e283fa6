//! What is timed: kernels of the chapters at the sizes of the notes, with their inputs, their right
//! results, and the same computation as a plain Rust loop.

mod addition;
mod arithmetic;
mod machine;
mod product;
mod ray_tracer;
mod stencil;

use addition::Addition;
use arithmetic::Arithmetic;
pub use machine::Machine;
use product::{Kernel, Product};
use ray_tracer::{RayTracer, Spheres};
use stencil::Stencil;

use add_constant::pattern::AccessPattern;

/// One launch of a kernel.
pub trait Work {
    /// How much it has to do, in words.
    fn size(&self) -> String;

    /// The chapter's kernels.
    fn ptx(&self) -> &'static str;

    /// The kernel's name in them.
    fn kernel(&self) -> &'static str;

    /// Blocks of the grid, and threads of a block.
    fn shape(&self) -> [[u32; 3]; 2];

    /// Bytes of shared memory beside what the kernel declares.
    fn dynamic_shared(&self) -> u32 {
        0
    }

    /// What the kernel is called with, in order.
    fn arguments(&self) -> Vec<Argument<'_>>;

    /// What the output's elements are, as NumPy names them.
    fn element(&self) -> &'static str {
        "float32"
    }

    /// How many elements lie before the one that pointers point to.
    fn halo(&self) -> usize {
        0
    }

    /// A symbol in constant memory, and what it is set to.
    fn symbol(&self) -> Option<(&'static str, Buffer<'_>)> {
        None
    }

    /// The output, word by word, as the chapter's reference has it. Where the kernel writes
    /// nothing, there is [`POISON`].
    fn expected(&self) -> Vec<u32>;

    /// Computes the same into `output` on one core, by a plain loop over the kernel's threads in
    /// their order, each doing what a thread does.
    fn plain(&self, output: &mut [u32]);
}

/// What an output is filled with before anything is computed: a number that no result has.
pub const POISON: u32 = u32::MAX;

/// An argument of a kernel.
#[derive(Clone, Copy)]
pub enum Argument<'a> {
    /// 32 bits
    Word(u32),
    /// 64 bits
    Long(u64),
    /// A pointer to memory that is only read
    Input(Buffer<'a>),
    /// A pointer to the output
    Output,
}

/// An array in memory.
#[derive(Clone, Copy)]
pub enum Buffer<'a> {
    Floats(&'a [f32]),
    Ints(&'a [i32]),
}

impl Buffer<'_> {
    /// As it lies in memory.
    pub fn bytes(self) -> Vec<u8> {
        match self {
            Buffer::Floats(floats) => floats.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Buffer::Ints(ints) => ints.iter().flat_map(|x| x.to_le_bytes()).collect(),
        }
    }
}

/// How much work there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// About a thousandth of the notes', for those who are slow.
    Tiny,
    /// The notes'.
    One,
    /// Four times as much.
    Four,
    /// Sixteen times as much.
    Sixteen,
}

impl Scale {
    /// All of them, by the names that the command line has for them.
    pub const ALL: [(&str, Scale); 4] = [
        ("tiny", Scale::Tiny),
        ("1", Scale::One),
        ("4", Scale::Four),
        ("16", Scale::Sixteen),
    ];

    /// The one of four sizes that is this one's.
    fn pick<T>(self, of: [T; 4]) -> T {
        let [tiny, one, four, sixteen] = of;
        match self {
            Scale::Tiny => tiny,
            Scale::One => one,
            Scale::Four => four,
            Scale::Sixteen => sixteen,
        }
    }
}

/// Makes a work of some scale.
pub type Make = fn(Scale) -> Box<dyn Work>;

/// All works, by name.
pub const ALL: [(&str, Make); 16] = {
    use AccessPattern::{OneAccessPerBlock, OneAccessPerThread, OneAccessPerWarp, PseudoRandom};
    use addition::Values;
    [
        ("arithmetic loop", Arithmetic::boxed),
        ("raytrace_global", |scale| {
            RayTracer::boxed(Spheres::Global, scale)
        }),
        ("raytrace_constant", |scale| {
            RayTracer::boxed(Spheres::Constant, scale)
        }),
        ("raytrace_unrolled", |scale| {
            RayTracer::boxed(Spheres::Unrolled, scale)
        }),
        ("mat_mul_pitched", |scale| {
            Product::boxed(Kernel::Pitched, scale)
        }),
        ("mat_mul_tiled_16", |scale| {
            Product::boxed(Kernel::Tiled, scale)
        }),
        ("stencil_constant, blocks of 32", |scale| {
            Stencil::boxed(32, scale)
        }),
        ("stencil_constant, blocks of 256", |scale| {
            Stencil::boxed(256, scale)
        }),
        ("add per block, global", |scale| {
            Addition::boxed(OneAccessPerBlock, Values::Global, scale)
        }),
        ("add per block, constant", |scale| {
            Addition::boxed(OneAccessPerBlock, Values::Constant, scale)
        }),
        ("add per warp, global", |scale| {
            Addition::boxed(OneAccessPerWarp, Values::Global, scale)
        }),
        ("add per warp, constant", |scale| {
            Addition::boxed(OneAccessPerWarp, Values::Constant, scale)
        }),
        ("add per thread, global", |scale| {
            Addition::boxed(OneAccessPerThread, Values::Global, scale)
        }),
        ("add per thread, constant", |scale| {
            Addition::boxed(OneAccessPerThread, Values::Constant, scale)
        }),
        ("add pseudo-random, global", |scale| {
            Addition::boxed(PseudoRandom, Values::Global, scale)
        }),
        ("add pseudo-random, constant", |scale| {
            Addition::boxed(PseudoRandom, Values::Constant, scale)
        }),
    ]
};
