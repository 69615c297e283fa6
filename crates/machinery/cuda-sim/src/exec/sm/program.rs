//! A program that is ready to run.

use super::{CountedSites, Handler, Inst};
use crate::exec::function::{CallSite, Function};
use crate::exec::random_schedule::YieldPoint;
use crate::isa::Listing;
use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// A loaded module.
#[derive(Default)]
pub struct Program {
    pub(crate) id: ProgramId,
    /// The same for whoever does not run it.
    pub listing: Listing,
    pub code: Code,
    pub functions: Vec<Function>,
    pub tables: Vec<Vec<u32>>,
    /// Places in the frame of operands that are more than an instruction holds.
    pub operand_lists: Vec<Vec<u32>>,
    pub call_sites: Vec<CallSite>,
    /// Its functions call `malloc` or `free`.
    pub uses_heap: bool,
    /// Address and bytes of the constant bank in device memory.
    pub constants: Option<(u64, u64)>,
    /// Device address and bytes of each module variable in global or constant memory.
    pub(crate) variables: HashMap<String, (u64, u64)>,
    /// Device memory that goes with the module.
    pub(crate) allocations: Vec<u64>,
}

/// A program's code: the same instructions in each copy, at the same addresses, with other handlers
/// in the places that are counted, checked, or run for many warps at once.
#[derive(Default)]
pub struct Code {
    /// As a warp runs it.
    pub plain: Vec<Inst>,
    /// As a gang of warps runs it.
    pub gang: Vec<Inst>,
    /// Counted as a warp runs it.
    pub counting: Vec<Inst>,
    /// Counted as a gang runs it.
    pub counting_gang: Vec<Inst>,
    /// What the observed copies count, and what runs it.
    pub sites: CountedSites,
    /// Checked as it runs, made when a launch first asks for it.
    pub sanitizing: OnceLock<Vec<Inst>>,
    /// Checked and counted.
    pub sanitizing_counting: OnceLock<Vec<Inst>>,
    /// Where warps may have to wait in an order that nobody can foretell.
    pub yield_points: Vec<YieldPoint>,
    /// The plain copy, in which they may; made when a launch first asks for it.
    pub random_schedule: OnceLock<Vec<Inst>>,
    /// Checked as it runs, and in that order.
    pub sanitizing_random_schedule: OnceLock<Vec<Inst>>,
}

/// Tells programs apart: no two of a process have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProgramId(u64);

impl Default for ProgramId {
    /// Another one each time.
    fn default() -> Self {
        static PROGRAMS: AtomicU64 = AtomicU64::new(0);
        ProgramId(PROGRAMS.fetch_add(1, Ordering::Relaxed))
    }
}

impl Program {
    /// Device address and bytes of a module variable in global or constant memory.
    pub fn variable(&self, name: &str) -> Option<(u64, u64)> {
        self.variables.get(name).copied()
    }

    /// What to free when the module goes.
    pub fn allocations(&self) -> &[u64] {
        &self.allocations
    }
}

impl Code {
    /// Adds the code's next instruction, `gang` being what runs it for a gang.
    pub fn push(&mut self, inst: Inst, gang: Handler) {
        self.plain.push(inst);
        self.gang.push(Inst { run: gang, ..inst });
    }
}
