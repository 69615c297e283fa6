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
use launch_plan::expression::Value;
use launch_plan::{Argument, Buffer, Element, Launch, ResolvedPlan};

/// One launch of a kernel.
pub trait Workload {
    /// Returns a description of the problem size.
    fn size(&self) -> String;

    /// Returns the PTX of the chapter's kernels.
    fn ptx(&self) -> &'static str;

    /// Returns the buffers and the launch. The buffer with the index [`OUTPUT`] is the output of `words` words.
    fn plan(&self, words: usize) -> ResolvedPlan;

    /// Returns the output of the chapter's reference, word by word, with [`POISON`] where the kernel writes
    /// nothing.
    fn expected(&self) -> Vec<u32>;

    /// Computes the result into `output` on one core, by a plain loop over the kernel's threads in order. Each
    /// iteration does the work of one thread.
    fn plain(&self, output: &mut [u32]);
}

/// The value that an output is filled with before a run. No result has it.
pub const POISON: u32 = u32::MAX;

/// The index of the output in a workload's buffers.
pub const OUTPUT: usize = 0;

/// Describes a plan with one launch.
fn plan(buffers: Vec<Buffer>, launch: Launch) -> ResolvedPlan {
    ResolvedPlan {
        buffers,
        launches: vec![launch],
        ..ResolvedPlan::default()
    }
}

/// Describes the output of `words` words, filled with [`POISON`].
fn output(element: Element, words: usize) -> Buffer {
    Buffer::new("output", element, POISON.to_le_bytes().repeat(words))
}

/// Describes an array of floats.
fn floats(name: &str, values: &[f32]) -> Buffer {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes());
    Buffer::new(name, Element::F32, bytes.collect())
}

/// Describes an array of integers.
fn ints(name: &str, values: &[i32]) -> Buffer {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes());
    Buffer::new(name, Element::I32, bytes.collect())
}

/// Makes a buffer the contents of the module's variable of its name.
fn symbol(buffer: Buffer) -> Buffer {
    Buffer {
        symbol: true,
        ..buffer
    }
}

/// Passes the address of a buffer, by its index.
fn pointer(index: usize) -> Argument {
    Argument::Buffer { index, offset: 0 }
}

/// Passes an integer.
fn number(value: impl Into<i128>) -> Argument {
    Argument::Number(Value::Integer(value.into()))
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
