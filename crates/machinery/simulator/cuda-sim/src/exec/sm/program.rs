//! Executable programs: the code of a loaded module, a flat array of decoded instructions, and the tables that the
//! interpreter needs to run it.

use super::{Sm, compilation};
use crate::exec::schedule::YieldPoint;
use crate::exec::warp::gang_state::GangScope;
use crate::exec::warp::window::{CallSite, Function};
use crate::isa::Listing;
use crate::isa::listing::Site;
use crate::memory::lock;
use crate::ptx::ast::ImageReference;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// A loaded module, ready to run.
#[derive(Default)]
pub struct Program {
    pub(crate) id: ProgramId,
    /// The program's static description, for everything except execution.
    pub listing: Listing,
    pub code: Code,
    pub functions: Vec<Function>,
    pub tables: Vec<Vec<u32>>,
    /// Frame offsets of the operands of instructions that have more than an [`Inst`] holds.
    pub operand_lists: Vec<Vec<u32>>,
    pub call_sites: Vec<CallSite>,
    /// True if its functions launch kernels, or copy or fill memory with the device runtime.
    pub launches_kernels: bool,
    /// Device address and size in bytes of constant memory.
    pub constants: Option<(u64, u64)>,
    /// Device address and size in bytes of each module variable in global or constant memory.
    pub(crate) variables: HashMap<String, (u64, u64)>,
    /// The kind and the handle of each texture and surface reference.
    pub(crate) references: HashMap<String, (ImageReference, u64)>,
    /// Device allocations owned by the module.
    pub(crate) allocations: Vec<u64>,
    /// The functions for the compiler, if one is installed.
    pub compilable: Vec<compilation::Function>,
    pub(crate) compilations: Compilations,
}

/// The copies of a program's code. All copies hold the same instructions at the same addresses, with different
/// handlers at instructions that are counted, checked or executed by gangs.
#[derive(Default)]
pub struct Code {
    /// Code for single warps, without instrumentation.
    pub plain: Vec<Inst>,
    /// Code for gangs, without instrumentation.
    pub gang: Vec<Inst>,
    /// Counting code for single warps.
    pub counting: Vec<Inst>,
    /// Counting code for gangs.
    pub counting_gang: Vec<Inst>,
    /// The sites that the counting copies count, and the handlers they run afterwards.
    pub sites: CountedSites,
    /// Sanitizing code; created on first use.
    pub sanitizing: OnceLock<Vec<Inst>>,
    /// Sanitizing code on top of counting code.
    pub sanitizing_counting: OnceLock<Vec<Inst>>,
    /// The instructions before which a warp may sleep under a random schedule.
    pub yield_points: Vec<YieldPoint>,
    /// Code with these yield points; created on first use.
    pub random_schedule: OnceLock<Vec<Inst>>,
    /// Code with these yield points, on top of sanitizing code.
    pub sanitizing_random_schedule: OnceLock<Vec<Inst>>,
}

/// A process-wide unique identifier of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProgramId(u64);

impl Default for ProgramId {
    /// Returns a new identifier on each call.
    fn default() -> Self {
        static PROGRAMS: AtomicU64 = AtomicU64::new(0);
        ProgramId(PROGRAMS.fetch_add(1, Ordering::Relaxed))
    }
}

impl Program {
    /// Returns the device address and size in bytes of a module variable in global or constant memory.
    pub fn variable(&self, name: &str) -> Option<(u64, u64)> {
        self.variables.get(name).copied()
    }

    /// Returns the handle of a texture or surface reference.
    pub fn reference(&self, kind: ImageReference, name: &str) -> Option<u64> {
        let entry = self.references.get(name);
        let entry = entry.filter(|(actual, _)| *actual == kind);
        entry.map(|&(_, handle)| handle)
    }

    /// Returns the names of all references of a kind.
    pub fn reference_names(&self, kind: ImageReference) -> impl Iterator<Item = &str> {
        let of_kind = self
            .references
            .iter()
            .filter(move |(_, (entry, _))| *entry == kind);
        of_kind.map(|(name, _)| name.as_ref())
    }

    /// Returns the handles of all texture and surface references.
    pub fn reference_handles(&self) -> impl Iterator<Item = u64> {
        self.references.values().map(|&(_, handle)| handle)
    }

    /// Returns the name of the texture or surface reference with a handle.
    pub fn reference_name(&self, handle: u64) -> Option<&str> {
        let mut entries = self.references.iter();
        let entry = entries.find(|(_, (_, entry))| *entry == handle);
        entry.map(|(name, _)| name.as_ref())
    }

    /// Returns the names of all variables.
    pub fn variable_names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(AsRef::as_ref)
    }

    /// Returns the device allocations to free when the module is unloaded.
    pub fn allocations(&self) -> &[u64] {
        &self.allocations
    }
}

impl Code {
    /// Appends an instruction; `gang` is its handler for gangs.
    pub fn push(&mut self, inst: Inst, gang: Handler) {
        self.plain.push(inst);
        self.gang.push(Inst { run: gang, ..inst });
    }
}

/// A function that executes one instruction for a warp or a gang and returns the next instruction.
///
/// # Safety
/// The instruction must have been lowered for the function whose frame the [`Sm`] is in: every operand is the
/// offset of a row or predicate of the width that the handler accesses.
pub type Handler = unsafe fn(&mut Sm, &Inst) -> Next;

/// The handlers of an instruction.
#[derive(Clone, Copy)]
pub struct Handlers {
    /// Handler for one warp.
    pub warp: Handler,
    /// Handler for all warps of a gang (see `exec/gang`); `None` if a gang runs the instruction warp by warp.
    pub gang: Option<Handler>,
    /// True if uniform operands give a uniform result: threads of a block with equal operands get equal
    /// results.
    pub preserves_uniformity: bool,
}

impl From<Handler> for Handlers {
    fn from(warp: Handler) -> Handlers {
        Handlers {
            warp,
            gang: None,
            preserves_uniformity: false,
        }
    }
}

/// The next instruction, or null to return the warp to the scheduler.
pub type Next = *const Inst;

/// A decoded instruction.
#[derive(Clone, Copy)]
pub struct Inst {
    pub run: Handler,
    /// Byte offsets of the operands in the frame: destinations first, then sources.
    pub operands: [u32; 6],
    /// Handler-specific argument, for example a block number, the size of a memory slot or a branch target.
    pub arg0: u32,
    pub arg1: u32,
    /// Immediate, for example an address offset, a truth table or a function number.
    pub imm: u64,
    /// Bit mask of the operands that are uniform over the warps of a gang.
    pub uniform: u8,
    /// The frames that the instruction writes when a gang runs it.
    pub gang_scope: GangScope,
    /// Distance in instructions to an earlier access at the same addresses except for `imm` (see
    /// `lower/analysis/uniformity.rs`); 0 if there is none.
    pub reuse_distance: u16,
}

impl Inst {
    /// Returns the following instruction.
    #[inline(always)]
    pub fn next(&self) -> Next {
        // Code never ends in an instruction that falls through, so the pointer stays inside the array.
        (self as *const Inst).wrapping_add(1)
    }
}

/// A counted instruction and its handlers.
#[derive(Clone, Copy)]
pub struct CountedSite {
    pub site: Site,
    pub run: Handler,
    /// Handler for a gang; `None` if a gang runs the instruction warp by warp.
    pub gang: Option<Handler>,
}

/// The counted instructions of a program, indexed by address.
#[derive(Default)]
pub struct CountedSites {
    list: Vec<CountedSite>,
    /// For each instruction of the code, its index in `list`, or [`NO_SITE`].
    at: Vec<u32>,
}

/// Marks an instruction that is not counted.
const NO_SITE: u32 = u32::MAX;

impl CountedSites {
    /// Appends an instruction that is not counted.
    pub fn push_none(&mut self) {
        self.at.push(NO_SITE);
    }

    /// Appends a counted instruction and its handlers.
    pub fn push(&mut self, site: Site, run: Handler, gang: Option<Handler>) {
        self.at.push(self.list.len() as u32);
        self.list.push(CountedSite { site, run, gang });
    }

    /// Iterates over the counted instructions in code order.
    pub fn iter(&self) -> impl Iterator<Item = &CountedSite> {
        self.list.iter()
    }

    /// Returns the counted instruction at an address. Panics if the instruction is not counted.
    #[inline(always)]
    pub fn at(&self, address: u32) -> &CountedSite {
        &self.list[self.at[address as usize] as usize]
    }
}

/// Number of warp instructions of a kernel after which it is compiled. The interpreter needs 2 to
/// 17 ms for them (docs/results/simulator.md: two to sixteen billion thread instructions per second).
const COMPILE_THRESHOLD: u64 = 1 << 20;

/// The compiled code of a kernel for one block size, and the steps towards it.
#[derive(Default)]
pub struct Compilation {
    /// Warp instructions of the blocks that have ended.
    cost: AtomicU64,
    requested: AtomicBool,
    code: OnceLock<Option<CompiledKernel>>,
}

/// The code of a kernel with calls of compiled regions.
struct CompiledKernel {
    /// The program's code; only the first instructions of compiled regions differ.
    code: Vec<Inst>,
    _owner: Box<dyn Send + Sync>,
}

/// The compilations of a program, by function and block dimensions.
#[derive(Default)]
pub struct Compilations(Mutex<HashMap<FunctionAndBlock, Arc<Compilation>>>);

/// The number of a function, and the dimensions of its blocks.
type FunctionAndBlock = (usize, [u32; 3]);

impl Program {
    /// Returns the compilation of a function for a block size; `None` if it has nothing to compile or no compiler is
    /// installed.
    pub fn compilation(&self, function: usize, block: [u32; 3]) -> Option<Arc<Compilation>> {
        compilation::compiler()?;
        let regions = self.compilable.get(function)?;
        if regions.regions.is_empty() {
            return None;
        }
        let mut all = lock(&self.compilations.0);
        Some(all.entry((function, block)).or_default().clone())
    }
}

impl Compilation {
    /// Returns the code for blocks that start now; `None` if it does not exist, or not yet.
    pub fn code(&self) -> Option<*const Inst> {
        let kernel = self.code.get()?.as_ref()?;
        Some(kernel.code.as_ptr())
    }

    /// Returns true if the kernel is compiled.
    pub fn is_compiled(&self) -> bool {
        self.code().is_some()
    }

    /// Adds the cost of a block that has ended. Returns true once the kernel should be compiled.
    pub fn add_cost(&self, instructions: u64) -> bool {
        let before = self.cost.fetch_add(instructions, Ordering::Relaxed);
        before + instructions >= COMPILE_THRESHOLD && !self.requested.swap(true, Ordering::Relaxed)
    }

    /// Sets the code, which `compile` returns, unless it has been set. `compile` is called with the compiler.
    pub fn set_code(
        &self,
        compile: impl FnOnce(
            &'static dyn compilation::Compiler,
        ) -> Option<(Vec<Inst>, Box<dyn Send + Sync>)>,
    ) {
        self.code.get_or_init(|| {
            let (code, _owner) = compile(compilation::compiler()?)?;
            Some(CompiledKernel { code, _owner })
        });
    }
}
