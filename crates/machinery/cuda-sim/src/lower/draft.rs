//! Instructions before their registers have rows and their branches have addresses.

use super::register::Register;
use crate::exec::order::Pause;
use crate::exec::sm::Handlers;
use crate::isa::checked::{Checked, Waiting};
use crate::isa::sites::SiteKind;
use crate::isa::{Access, Class, Memory};
use crate::ptx::ast::SourceLocation;

/// A basic block of a function, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub usize);

/// An instruction before its registers have rows and its branch has an address.
pub struct Draft {
    /// The handler that runs it.
    pub run: Handlers,
    pub class: Class,
    /// The registers that the handler is given, in its order.
    pub operands: Vec<Register>,
    /// The registers that it writes.
    pub defs: Vec<Register>,
    /// The registers that it reads.
    pub uses: Vec<Register>,
    /// It is guarded: lanes whose guard fails keep what their registers hold.
    pub partial: bool,
    /// `y` becomes the number of instructions after it in its block.
    pub timed: bool,
    /// A number for the handler.
    pub x: u32,
    /// Another number for the handler.
    pub y: u32,
    /// A wide number for the handler: an immediate, or what is added to an address.
    pub imm: u64,
    /// Where control goes after it.
    pub flow: Flow,
    /// How it accesses memory; none where it does not.
    pub access: Option<Access>,
    /// It is a barrier of the block.
    pub barrier: bool,
    /// What checks have to know of it beside an access: that it is a barrier, a warp's meeting or a
    /// fence.
    pub orders: Checked,
    /// What it does about asynchronous copies that have started.
    pub waiting: Waiting,
    /// It has more operands than an instruction has room for: `imm` is the number of the program's
    /// list that has them.
    pub listed: bool,
    /// How many floating-point operations a thread does in it: a fused multiply-add is two.
    pub operations: u32,
    /// Eights of columns of a product of a warpgroup.
    pub eights: u32,
    /// How the alignment of its result follows from that of its sources; none where nothing is
    /// known of it.
    pub arithmetic: Option<Arithmetic>,
    /// It is the first, or the only one, of the instructions that one PTX instruction becomes.
    pub leads: bool,
    pub ptx_line: u32,
    pub location: Option<SourceLocation>,
}

impl Draft {
    /// The kind of site that it is, if it has counters of its own: a branch, a barrier, an access.
    pub fn site(&self) -> Option<SiteKind> {
        match &self.flow {
            Flow::Branch(_) | Flow::Table(_) => Some(SiteKind::Branch),
            _ if self.barrier => Some(SiteKind::Barrier),
            _ => self.access.map(SiteKind::Access),
        }
    }

    /// Where a warp may have to wait before it, if it stands at an address: where it accesses memory that
    /// others see, or lets what was copied be seen.
    pub fn pause(&self, address: u32) -> Option<Pause> {
        let (writes, device) = match (self.access, self.waiting) {
            (Some(access), _) => match access.memory {
                Memory::Global | Memory::Generic => (!access.kind.is_load(), true),
                Memory::Shared => (!access.kind.is_load(), false),
                Memory::Local | Memory::Constant => return None,
            },
            (None, _) if self.orders == Checked::Product => (false, false),
            (None, Waiting::Groups(_) | Waiting::All) => (true, false),
            (None, Waiting::No | Waiting::Commit) => return None,
        };
        Some(Pause {
            address: address - u32::from(self.partial),
            writes,
            device,
        })
    }

    /// What checks have to look at when it runs.
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
    /// To the next instruction.
    Next,
    /// To this block. `x` becomes the block's address.
    Jump(BlockId),
    /// To this block or to the next one. `x` becomes the block's address, `y` the address where
    /// lanes that go either way meet again.
    Branch(BlockId),
    /// To one of these blocks. `y` becomes the address where lanes that go different ways meet again.
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
    /// A sum, a difference, a copy, or a choice of one source: as aligned as the least aligned source.
    Sum,
    /// A sum of the sources and of the immediate: as aligned as the least aligned of them all.
    Offset,
    /// The product of the first two sources, to which a third may be added.
    Product,
    /// The first source shifted left by the second.
    Shift,
    /// The bits that are set in all sources: as aligned as the most aligned source.
    Mask,
}
