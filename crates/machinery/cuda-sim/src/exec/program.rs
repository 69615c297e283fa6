//! A program that is ready to run.

use super::checked;
use super::code::{Handler, Inst};
use super::cpu::Cpu;
use super::function::{CallSite, Function};
use super::observe::{self, ObservedSites};
use crate::isa::Listing;
use std::collections::HashMap;
use std::sync::OnceLock;

/// A loaded module.
#[derive(Default)]
pub struct Program {
    /// The same for whoever does not run it.
    pub listing: Listing,
    pub code: Code,
    pub functions: Vec<Function>,
    pub tables: Vec<Vec<u32>>,
    /// Places in the frame of operands that are more than an instruction holds.
    pub operand_lists: Vec<Vec<u32>>,
    pub call_sites: Vec<CallSite>,
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
    checked: OnceLock<Vec<Inst>>,
    checked_observed: OnceLock<Vec<Inst>>,
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

    /// The code with every instruction that a check looks at led to it first; `observed`: the copy
    /// that is counted as well.
    pub fn checked_code(&self, observed: bool) -> &[Inst] {
        let code = &self.code;
        let (copy, under) = match observed {
            false => (&code.checked, &code.plain),
            true => (&code.checked_observed, &code.observed),
        };
        copy.get_or_init(|| checked::code(under, &self.listing.checked))
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

    /// Makes the copies that are counted: the code is complete.
    pub fn observe(&mut self, cpu: Cpu) {
        self.observed = self.plain.clone();
        self.observed_together = self.together.clone();
        for observed in self.sites.iter() {
            let address = observed.site.address as usize;
            self.observed[address].run = observe::handler(observed.site.kind, cpu);
            if observed.together.is_some()
                && let Some(handler) = observe::gangs_handler(observed.site.kind, cpu)
            {
                self.observed_together[address].run = handler;
            }
        }
    }
}
