//! Instructions before their registers have rows and their branches have addresses.

use super::register::Register;
use crate::exec::code::Run;
use crate::isa::checked::{Checked, Waiting};
use crate::isa::sites::SiteKind;
use crate::isa::{Access, Class};
use crate::ptx::ast::SourceLocation;

/// A basic block of a function, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub usize);

/// An instruction before its registers have rows and its branch has an address.
pub struct Draft {
    pub run: Run,
    pub class: Class,
    /// Registers in operand order.
    pub operands: Vec<Register>,
    pub defs: Vec<Register>,
    pub uses: Vec<Register>,
    /// Guarded: lanes whose guard fails keep their value.
    pub partial: bool,
    /// `y` becomes the number of instructions after it in its block.
    pub timed: bool,
    pub x: u32,
    pub y: u32,
    pub imm: u64,
    pub flow: Flow,
    /// What it does to memory, where it loads, stores or is an atomic.
    pub access: Option<Access>,
    /// It is a barrier of the block.
    pub barrier: bool,
    /// What it orders or brings together: nothing, a barrier, a warp's meeting, a fence.
    pub orders: Checked,
    /// What it does about asynchronous copies that have started.
    pub waiting: Waiting,
    /// Its operands are a list of the program's, whose number is `imm`: they are more than an
    /// instruction holds.
    pub listed: bool,
    /// Floating-point operations of a thread: a fused multiply-add is two.
    pub operations: u32,
    /// What its result's alignment follows from.
    pub arithmetic: Option<Arithmetic>,
    /// The first of those that one PTX instruction becomes.
    pub leads: bool,
    pub ptx_line: u32,
    pub location: Option<SourceLocation>,
}

impl Draft {
    /// As what it is counted by itself, if it is.
    pub fn site(&self) -> Option<SiteKind> {
        match &self.flow {
            Flow::Branch(_) | Flow::Table(_) => Some(SiteKind::Branch),
            _ if self.barrier => Some(SiteKind::Barrier),
            _ => self.access.map(SiteKind::Access),
        }
    }

    /// As what checks look at.
    pub fn checked(&self) -> Checked {
        if self.flow == Flow::Exit {
            return Checked::End;
        }
        match (self.access, self.orders, self.waiting) {
            (Some(access), _, _) => Checked::Access(access),
            (None, Checked::Nothing, Waiting::No | Waiting::Commit) => Checked::Nothing,
            (None, Checked::Nothing, waiting) => Checked::Wait(waiting),
            (None, orders, _) => orders,
        }
    }
}

/// Where control goes after an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flow {
    /// To the next one.
    Next,
    /// There; its address becomes `x`.
    Jump(BlockId),
    /// There or to the next block; its address becomes `x`, the meeting place `y`.
    Branch(BlockId),
    /// To one of these; the meeting place becomes `y`.
    Table(Vec<BlockId>),
    /// Back to the caller, through the function's end.
    Return,
    /// Nowhere: the thread ends.
    Exit,
    /// Nowhere: the launch is stopped.
    Stop,
}

/// How the alignment of an instruction's result follows from that of its sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    /// A sum, a difference, a move, one of several: as the least aligned source.
    Sum,
    /// The same of the sources and of the immediate.
    Offset,
    /// The first two sources multiplied; a third is added.
    Product,
    /// The first source shifted left by the second.
    Shift,
    /// The bits that all sources have: as the most aligned.
    Mask,
}
