//! The static description of a program for the profiler, the sanitizer and the time model.

use super::check_event::CheckEvents;
use super::sites::Sites;
use super::{Class, Kernel, SourceLine};
use crate::ptx::ast::SourceLocation;
use std::collections::HashMap;

/// A program's kernels, basic blocks, profiler sites, sanitizer events and source lines.
///
/// An instruction's *address* is its index in the code. Basic blocks are numbered across all functions.
#[derive(Default)]
pub struct Listing {
    /// The version of the PTX, as `10 * major + minor`.
    pub ptx_version: u32,
    pub kernels: Vec<Kernel>,
    /// The basic blocks, by the numbers in their `enter` instructions.
    pub blocks: Vec<BlockInfo>,
    /// The instructions that have their own counters.
    pub sites: Sites,
    /// The events that the sanitizer observes.
    pub check_events: CheckEvents,
    lines: Vec<LineInfo>,
    ptx_insts: Vec<PtxInst>,
    /// Names of source files, by their PTX numbers.
    files: HashMap<u32, String>,
}

/// The origin of an instruction.
#[derive(Debug, Clone, Copy)]
pub struct LineInfo {
    pub ptx_line: u32,
    pub location: Option<SourceLocation>,
}

/// The work that one execution of a basic block does.
#[derive(Debug, Clone, Default)]
pub struct BlockInfo {
    /// Number of instructions per class, indexed by [`Class`].
    pub classes: [u32; Class::COUNT],
    /// Number of PTX instructions. Some of them become several instructions of the simulator, for example to
    /// read a special register or to evaluate a guard.
    pub ptx_instructions: u32,
    /// Floating-point operations per thread.
    pub flops: u32,
    /// The sum of the N dimensions of the block's `wgmma` instructions, in multiples of 8 columns.
    pub n8_tiles: u32,
    /// The instructions and their dependences.
    pub steps: Vec<Step>,
    /// If this block is predicated instead of branched around: the block whose executions count how often
    /// this one is issued.
    pub issued_by: Option<usize>,
}

/// The location of a PTX instruction in the code.
#[derive(Debug, Clone, Copy)]
pub struct PtxInst {
    /// The address of the first instruction that it was lowered to.
    pub address: u32,
    /// The number of its basic block.
    pub block: u32,
    pub class: Class,
}

/// An instruction of a basic block with its dependences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub class: Class,
    /// The first counter slot, if the instruction is an access with its own counters.
    pub slot: Option<u32>,
    /// True for a load or another access whose result arrives with memory latency.
    pub has_memory_latency: bool,
    pub barrier: bool,
    /// The N dimension of a `wgmma`, in multiples of 8 columns.
    pub n8_tiles: u32,
    /// True if the instruction has a result but no source registers: it fetches a parameter or a special
    /// register.
    pub has_no_sources: bool,
    /// Indices of the earlier steps in the block that this one depends on.
    pub dependences: Vec<u32>,
}

impl Listing {
    /// Creates the listing of a program that has no code yet.
    pub fn new(files: HashMap<u32, String>) -> Listing {
        Listing {
            files,
            ..Listing::default()
        }
    }

    /// Records the origin of the next instruction.
    pub fn push_line(&mut self, line: LineInfo) {
        self.lines.push(line);
    }

    /// Marks the next instruction as the first that a PTX instruction was lowered to.
    pub fn push_ptx_inst(&mut self, block: u32, class: Class) {
        let address = self.lines.len() as u32;
        self.ptx_insts.push(PtxInst {
            address,
            block,
            class,
        });
    }

    /// Returns the basic block whose executions count how often `block` is issued: the block itself, or the
    /// one that issues it under a predicate.
    pub fn issuer(&self, block: usize) -> usize {
        self.blocks[block].issued_by.unwrap_or(block)
    }

    /// Iterates over all PTX instructions, in order.
    pub fn instructions(&self) -> impl Iterator<Item = PtxInst> {
        self.ptx_insts.iter().copied()
    }

    /// Returns the index of the kernel with a name.
    pub fn kernel(&self, name: &str) -> Option<usize> {
        self.kernels.iter().position(|kernel| kernel.name == name)
    }

    /// Returns the source line of the instruction at `address`.
    pub fn source_of(&self, address: u32) -> SourceLine {
        let Some(info) = self.lines.get(address as usize) else {
            return SourceLine::default();
        };
        let file = info
            .location
            .and_then(|location| self.files.get(&location.file).cloned());
        SourceLine {
            file,
            line: info.location.map_or(0, |location| location.line),
            ptx_line: info.ptx_line,
        }
    }
}
