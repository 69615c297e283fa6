//! Executable programs: the code of a loaded module, and the tables that the interpreter needs to run it.

use super::{CountedSites, Handler, Inst};
use crate::exec::schedule::random_schedule::YieldPoint;
use crate::exec::warp::function::{CallSite, Function};
use crate::isa::Listing;
use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

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
    /// True if its functions call `malloc` or `free`.
    pub uses_heap: bool,
    /// Device address and size in bytes of constant memory.
    pub constants: Option<(u64, u64)>,
    /// Device address and size in bytes of each module variable in global or constant memory.
    pub(crate) variables: HashMap<String, (u64, u64)>,
    /// Device allocations owned by the module.
    pub(crate) allocations: Vec<u64>,
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
