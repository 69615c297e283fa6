//! What is known of a program besides the code that runs it: for who counts, checks or models it.

use super::checked::CheckedPlaces;
use super::sites::Sites;
use super::{Class, Kernel, SourceLine};
use crate::ptx::ast::SourceLocation;
use std::collections::HashMap;

/// A program's kernels, basic blocks, places that are counted or checked, and source lines.
///
/// An instruction's *address* is its index in the code; basic blocks are numbered through all
/// functions.
#[derive(Default)]
pub struct Listing {
    /// The version of the PTX, as `10 * major + minor`.
    pub ptx_version: u32,
    pub kernels: Vec<Kernel>,
    /// Basic blocks, numbered as their `enter` instructions say.
    pub blocks: Vec<BlockInfo>,
    /// What is counted by itself.
    pub sites: Sites,
    /// What checks look at.
    pub checked: CheckedPlaces,
    lines: Vec<LineInfo>,
    leaders: Vec<Leader>,
    /// Names of source files, by the numbers that the PTX gives them.
    files: HashMap<u32, String>,
}

/// Where an instruction comes from.
#[derive(Debug, Clone, Copy)]
pub struct LineInfo {
    pub ptx_line: u32,
    pub location: Option<SourceLocation>,
}

/// What a basic block does each time it runs.
#[derive(Debug, Clone, Default)]
pub struct BlockInfo {
    /// Instructions of each class, as [`Class`] numbers them.
    pub classes: [u32; Class::COUNT],
    /// PTX instructions. Some take more than one of the simulator's: a special register is read
    /// first, a guard is a step of its own.
    pub ptx_instructions: u32,
    /// Floating-point operations of a thread.
    pub operations: u32,
    /// Columns of products of warpgroups, eight by eight.
    pub eights: u32,
    /// What has to wait for what in it.
    pub steps: Vec<Step>,
    /// The block whose visits say how often this one is issued, where its instructions are
    /// predicated instead of branched around.
    pub issued_by: Option<usize>,
}

/// A PTX instruction's place in the code.
#[derive(Debug, Clone, Copy)]
pub struct Leader {
    /// The first of those that it became.
    pub address: u32,
    /// Its basic block.
    pub block: u32,
    pub class: Class,
}

/// An instruction of a basic block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub class: Class,
    /// The first slot of its counts, where it is an access that is counted by itself.
    pub slot: Option<u32>,
    /// A load: whoever uses its value waits for memory.
    pub loads: bool,
    pub barrier: bool,
    /// Eights of columns of a product of a warpgroup.
    pub eights: u32,
    /// It takes no register: a parameter or a special register is fetched.
    pub first: bool,
    /// Earlier steps of the block that it waits for.
    pub after: Vec<u32>,
}

impl Listing {
    /// Of a program without any code yet, whose source files are these.
    pub fn new(files: HashMap<u32, String>) -> Listing {
        Listing {
            files,
            ..Listing::default()
        }
    }

    /// The code's next instruction comes from here.
    pub fn push_line(&mut self, line: LineInfo) {
        self.lines.push(line);
    }

    /// The code's next instruction is the first that a PTX instruction became.
    pub fn push_leader(&mut self, block: u32, class: Class) {
        let address = self.lines.len() as u32;
        self.leaders.push(Leader {
            address,
            block,
            class,
        });
    }

    /// The basic block whose visits say how often `block` is issued: itself, or the one that its
    /// predicated instructions stand among.
    pub fn issuer(&self, block: usize) -> usize {
        self.blocks[block].issued_by.unwrap_or(block)
    }

    /// Every PTX instruction, in order.
    pub fn instructions(&self) -> impl Iterator<Item = Leader> {
        self.leaders.iter().copied()
    }

    /// A kernel's index by name.
    pub fn kernel(&self, name: &str) -> Option<usize> {
        self.kernels.iter().position(|kernel| kernel.name == name)
    }

    /// The source line of an instruction.
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
