//! A program that is ready to run.

use super::{Handler, Inst, ObservedSites};
use crate::exec::function::{CallSite, Function};
use crate::exec::random_schedule::Pause;
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
    pub together: Vec<Inst>,
    /// Counted as a warp runs it.
    pub observed: Vec<Inst>,
    /// Counted as a gang runs it.
    pub observed_together: Vec<Inst>,
    /// What the observed copies count, and what runs it.
    pub sites: ObservedSites,
    /// Checked as it runs, made when a launch first asks for it.
    pub checked: OnceLock<Vec<Inst>>,
    /// Checked and counted.
    pub checked_observed: OnceLock<Vec<Inst>>,
    /// Where warps may have to wait in an order that nobody can foretell.
    pub pauses: Vec<Pause>,
    /// The plain copy, in which they may; made when a launch first asks for it.
    pub pausing: OnceLock<Vec<Inst>>,
    /// Checked as it runs, and in that order.
    pub checked_pausing: OnceLock<Vec<Inst>>,
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
    /// Adds the code's next instruction, `together` being what runs it for a gang.
    pub fn push(&mut self, inst: Inst, together: Handler) {
        self.plain.push(inst);
        self.together.push(Inst {
            run: together,
            ..inst
        });
    }
}
