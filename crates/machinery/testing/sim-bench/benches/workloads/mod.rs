//! The workloads that are timed: kernels of the chapters at the sizes of the CUDA notes, with their inputs,
//! their expected results, and the same computation as a plain Rust loop.

mod addition;
mod arithmetic;
mod machine;
mod matmul;
mod ray_tracer;
mod stencil;

use addition::Addition;
use arithmetic::Arithmetic;
pub use machine::{Counted, Machine};
use matmul::{Kernel, Matmul};
use ray_tracer::{RayTracer, Spheres};
use stencil::Stencil;

use add_constant::pattern::AccessPattern;

/// One launch of a kernel.
pub trait Workload {
    /// Returns a description of the problem size.
    fn size(&self) -> String;

    /// Returns the PTX of the chapter's kernels.
    fn ptx(&self) -> &'static str;

    /// Returns the kernel's name in that PTX.
    fn kernel(&self) -> &'static str;

    /// Returns the dimensions of the grid in blocks and of a block in threads.
    fn shape(&self) -> [[u32; 3]; 2];

    /// Returns the bytes of dynamic shared memory.
    fn dynamic_shared(&self) -> u32 {
        0
    }

    /// Returns the kernel's arguments, in order.
    fn arguments(&self) -> Vec<Argument<'_>>;

    /// Returns the type of the output's elements, as NumPy names it.
    fn element(&self) -> &'static str {
        "float32"
    }

    /// Returns the number of elements that precede the one that the pointer arguments point to.
    fn halo(&self) -> usize {
        0
    }

    /// Returns a symbol in constant memory and its value.
    fn symbol(&self) -> Option<(&'static str, Buffer<'_>)> {
        None
    }

    /// Returns the output of the chapter's reference, word by word, with [`POISON`] where the kernel writes
    /// nothing.
    fn expected(&self) -> Vec<u32>;

    /// Computes the result into `output` on one core, by a plain loop over the kernel's threads in order. Each
    /// iteration does the work of one thread.
    fn plain(&self, output: &mut [u32]);
}

/// The value that an output is filled with before a run. No result has it.
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
    /// Returns the array's bytes in memory, in little-endian order.
    pub fn bytes(self) -> Vec<u8> {
        match self {
            Buffer::Floats(floats) => floats.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Buffer::Ints(ints) => ints.iter().flat_map(|x| x.to_le_bytes()).collect(),
        }
    }
}

/// The scale of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// About a thousandth of the notes' size, for slow engines.
    Tiny,
    /// The notes' size.
    One,
    /// Four times the notes' size.
    Four,
    /// Sixteen times the notes' size.
    Sixteen,
}

impl Scale {
    /// All scales, by their names on the command line.
    pub const ALL: [(&str, Scale); 4] = [
        ("tiny", Scale::Tiny),
        ("1", Scale::One),
        ("4", Scale::Four),
        ("16", Scale::Sixteen),
    ];

    /// Selects this scale's entry of `sizes`.
    fn pick<T>(self, sizes: [T; 4]) -> T {
        let [tiny, one, four, sixteen] = sizes;
        match self {
            Scale::Tiny => tiny,
            Scale::One => one,
            Scale::Four => four,
            Scale::Sixteen => sixteen,
        }
    }
}

/// Builds a workload at a scale.
pub type Constructor = fn(Scale) -> Box<dyn Workload>;

/// All workloads, by name.
pub const ALL: [(&str, Constructor); 16] = {
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
            Matmul::boxed(Kernel::Pitched, scale)
        }),
        ("mat_mul_tiled_16", |scale| {
            Matmul::boxed(Kernel::Tiled, scale)
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
