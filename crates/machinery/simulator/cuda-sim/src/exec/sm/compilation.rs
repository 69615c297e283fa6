//! The interface between the simulator and the compiler of kernels (see [`crate::exec::compiled`]).

use super::Sm;
use crate::isa::RegisterClass;
use crate::isa::operation::Operation;
use crate::profile::Visit;
use std::ops::Range;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

/// An instruction of a function. Registers are numbered within the function.
#[derive(Debug, Clone)]
pub struct Instruction {
    /// The operation that it computes; `None` if the instruction stays interpreted.
    pub operation: Option<Operation>,
    pub defs: Vec<u32>,
    pub uses: Vec<u32>,
    /// The immediate: an address offset, for example.
    pub imm: u64,
    /// True if the preceding instruction, a guard, restricts its lanes.
    pub predicated: bool,
}

/// A basic block of a function.
#[derive(Debug, Clone)]
pub struct Block {
    /// The range of its instructions, `first..end`, in [`Function::instructions`].
    pub first: usize,
    pub end: usize,
    /// Program-wide number, the index of its visits.
    pub number: u32,
    /// Address of its `enter` instruction.
    pub address: u32,
    /// The blocks that can follow; for a branch, first the one that follows if it is not taken.
    pub successors: Vec<usize>,
    /// True if execution may be divergent in it.
    pub divergent: bool,
    /// True if it may be executed repeatedly.
    pub in_loop: bool,
}

/// A register of a function.
#[derive(Debug, Clone, Copy)]
pub struct RegisterRow {
    pub class: RegisterClass,
    /// Byte offset of its row in the frame.
    pub offset: u32,
    /// The value of a constant register.
    pub literal: Option<u64>,
    /// True if all lanes of a warp that reach a use have the same value.
    pub uniform: bool,
    /// Number of instructions that define it.
    pub definitions: u32,
}

/// A function, as the compiler sees it.
#[derive(Debug, Clone, Default)]
pub struct Function {
    pub instructions: Vec<Instruction>,
    pub blocks: Vec<Block>,
    pub registers: Vec<RegisterRow>,
    pub regions: Vec<Region>,
}

/// A part of a function to compile.
#[derive(Debug, Clone)]
pub struct Region {
    /// The first instruction, in the first of `blocks`.
    pub first: usize,
    /// The end of a region inside one block; `None` if the region extends to the end of each of its blocks.
    pub end: Option<usize>,
    /// The blocks in reverse postorder: the entry first, and each block after its predecessors except for back edges.
    pub blocks: Vec<usize>,
    /// Address of the first instruction.
    pub address: u32,
    /// Address of the instruction at which the interpreter continues.
    pub exit: u32,
    /// The registers whose values at the start matter.
    pub live_in: Vec<u32>,
    /// The registers that the region defines and that are read later.
    pub live_out: Vec<u32>,
}

impl Region {
    /// Returns each block of the region with the range of its instructions that belong to the region.
    pub fn ranges<'f>(
        &'f self,
        function: &'f Function,
    ) -> impl Iterator<Item = (&'f Block, Range<usize>)> {
        self.blocks.iter().enumerate().map(|(n, &block)| {
            let block = &function.blocks[block];
            let start = if n == 0 { self.first } else { block.first };
            (block, start..self.end.unwrap_or(block.end))
        })
    }

    /// Returns the instructions of the region.
    pub fn instructions<'f>(
        &'f self,
        function: &'f Function,
    ) -> impl Iterator<Item = &'f Instruction> {
        let ranges = self.ranges(function);
        ranges.flat_map(|(_, range)| &function.instructions[range])
    }
}

/// The machine code of a kernel's regions. Dropping it frees the code.
pub struct CompiledRegions {
    /// For each region of the function, its code; `None` for regions that stay interpreted.
    pub functions: Vec<Option<RegionFunction>>,
    /// The owner of the memory that holds the code.
    pub owner: Box<dyn Send + Sync>,
}

/// A compiler of regions.
pub trait Compiler: Send + Sync {
    /// Compiles the regions of a function for blocks of these dimensions. Returns `None` if compilation fails, or if
    /// `mode` is [`CompileMode::Auto`] and compiled code would hardly be faster.
    fn compile(
        &self,
        function: &Function,
        block: [u32; 3],
        mode: CompileMode,
    ) -> Option<CompiledRegions>;
}

/// The process's compiler, which does not change once installed.
static COMPILER: OnceLock<&'static dyn Compiler> = OnceLock::new();

/// Installs the compiler, before the first module is loaded. Further calls have no effect.
pub fn install(compiler: &'static dyn Compiler) {
    let _ = COMPILER.set(compiler);
}

/// Returns true if a compiler is installed.
pub fn is_installed() -> bool {
    compiler().is_some()
}

/// Returns the compiler, if one is installed.
pub fn compiler() -> Option<&'static dyn Compiler> {
    COMPILER.get().copied()
}

/// The kernels to compile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompileMode {
    /// No kernel.
    Never,
    /// Every kernel, before its first block runs.
    Always,
    /// Kernels that have executed many instructions, while they run.
    #[default]
    Auto,
}

/// The state that a region's function reads and writes, apart from memory.
#[repr(C)]
pub struct Context {
    /// The registers of the running warp.
    pub frame: *mut u8,
    pub sm: *mut Sm,
    /// `threadIdx` of the running warp's lanes: x, y, z.
    pub thread: [*const u32; 3],
    /// The kernel's parameters.
    pub parameters: *const u8,
    /// The module's constant memory.
    pub constants: *const u8,
    pub constants_base: u64,
    pub constants_bytes: u64,
    /// The block's shared memory.
    pub shared: *mut u8,
    pub shared_bytes: u64,
    /// The visits of each basic block.
    pub visits: *mut Visit,
    /// The clock, the loads and stores of device memory per thread, and the reads per warp.
    pub clock: *mut u64,
    pub loads: *mut u64,
    pub stores: *mut u64,
    pub reads: *mut u64,
    /// Mask of the active lanes.
    pub mask: u32,
    /// Loads from and stores to device memory by guarded instructions in the completed chunks of a region that is not
    /// complete, per thread.
    pub guarded: [u64; 2],
    /// The part of the launch to which the block belongs.
    pub epoch: u32,
    /// `blockIdx`, `blockDim` and `gridDim`.
    pub block: [u32; 9],
}

impl Context {
    /// The context of an SM without a block.
    pub const EMPTY: Context = Context {
        frame: null_mut(),
        sm: null_mut(),
        thread: [null(); 3],
        parameters: null(),
        constants: null(),
        constants_base: 0,
        constants_bytes: 0,
        shared: null_mut(),
        shared_bytes: 0,
        visits: null_mut(),
        clock: null_mut(),
        loads: null_mut(),
        stores: null_mut(),
        reads: null_mut(),
        mask: 0,
        guarded: [0; 2],
        epoch: 0,
        block: [0; 9],
    };
}

/// A compiled region. Returns 0 if it is complete; otherwise one more than the first lane of the chunk that is not; or
/// [`ABANDONED`].
pub type RegionFunction = unsafe extern "C" fn(*mut Context) -> u32;

/// The result of a region whose launch is to end early.
pub const ABANDONED: u32 = u32::MAX;
