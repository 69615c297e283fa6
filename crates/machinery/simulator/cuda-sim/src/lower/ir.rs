//! The linear IR: instructions with virtual registers and block numbers instead of frame rows and code
//! addresses. PTX declares an unbounded number of registers; `register_allocation` assigns them to frame rows.

use crate::exec::schedule::YieldPoint;
use crate::exec::sm::Handlers;
pub use crate::isa::RegisterClass;
use crate::isa::check_event::{CheckEvent, CopyGroupOp};
use crate::isa::listing::SiteKind;
use crate::isa::operation::Operation;
use crate::isa::{Access, Class, Memory};
use crate::ptx::ast::SourceLocation;

/// The number of a basic block within its function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub usize);

/// An instruction of the linear IR.
pub struct IrInst {
    /// The handlers that execute the instruction, one per copy of the code.
    pub handlers: Handlers,
    /// The operation that it computes, for the compiler; `None` if the instruction stays interpreted.
    pub operation: Option<Operation>,
    pub class: Class,
    /// The registers passed to the handler, in the handler's order.
    pub operands: Vec<Register>,
    /// The registers that the instruction writes.
    pub defs: Vec<Register>,
    /// The registers that the instruction reads.
    pub uses: Vec<Register>,
    /// True if the instruction is guarded: lanes whose guard is false keep their old register values, so a
    /// guarded definition does not kill the previous one.
    pub predicated: bool,
    /// True if emission replaces `arg1` by the number of instructions that follow in the block.
    pub arg1_is_remaining_count: bool,
    /// The handler's first 32-bit argument.
    pub arg0: u32,
    /// The handler's second 32-bit argument.
    pub arg1: u32,
    /// The handler's 64-bit argument: an immediate, or the offset added to an address.
    pub imm: u64,
    /// The control flow after the instruction.
    pub flow: Flow,
    /// The memory access, or `None` if the instruction does not access memory.
    pub access: Option<Access>,
    /// True if the instruction is a barrier of the block.
    pub barrier: bool,
    /// The synchronization that the sanitizer has to observe: a barrier, a warp-level synchronization or a
    /// fence.
    pub sync_event: CheckEvent,
    /// The effect on the groups of asynchronous copies in flight.
    pub copy_group_op: CopyGroupOp,
    /// True if the operands do not fit into an `Inst`: `imm` is then an index into the program's operand lists.
    pub has_operand_list: bool,
    /// Floating-point operations per thread; a fused multiply-add counts as two.
    pub flops: u32,
    /// The N dimension of a `wgmma`, in multiples of 8 columns.
    pub n8_tiles: u32,
    /// The rule by which the alignment of the result follows from the sources, or `None` if nothing is known.
    pub arithmetic: Option<Arithmetic>,
    /// The origin of the result's bytes if the instruction only moves bytes, or `None` if it computes with their values.
    pub byte_flow: Option<ByteFlow>,
    /// True for the first IR instruction that a PTX instruction is lowered to.
    pub starts_ptx_inst: bool,
    pub ptx_line: u32,
    pub location: Option<SourceLocation>,
}

impl IrInst {
    /// Returns the kind of profiler site (a branch, a barrier or an access) if the instruction has its own
    /// counters.
    pub fn site(&self) -> Option<SiteKind> {
        match &self.flow {
            Flow::Branch(_) | Flow::Table(_) => Some(SiteKind::Branch),
            _ if self.barrier => Some(SiteKind::Barrier),
            _ => self.access.map(SiteKind::Access),
        }
    }

    /// Returns the point before this instruction at which the random schedule may preempt a warp. Only
    /// accesses that other threads can observe, and waits that make asynchronous copies visible, are such
    /// points. `address` is the instruction's address in the code.
    pub fn yield_point(&self, address: u32) -> Option<YieldPoint> {
        let (writes, device) = match (self.access, self.copy_group_op) {
            (Some(access), _) => match access.memory {
                Memory::Global | Memory::Generic => (!access.kind.is_load(), true),
                Memory::Shared => (!access.kind.is_load(), false),
                Memory::Local | Memory::Constant => return None,
            },
            (None, _) if self.sync_event == CheckEvent::Wgmma => (false, false),
            (None, CopyGroupOp::WaitGroups(_) | CopyGroupOp::WaitAll) => (true, false),
            (None, CopyGroupOp::None | CopyGroupOp::Commit) => return None,
        };
        Some(YieldPoint {
            address: address - u32::from(self.predicated),
            writes,
            device,
        })
    }

    /// Returns the event that the sanitizing copy of the code reports for this instruction.
    pub fn check_event(&self) -> CheckEvent {
        if self.flow == Flow::Exit {
            return CheckEvent::Exit;
        }
        match (self.access, self.sync_event, self.copy_group_op) {
            (Some(access), _, _) => CheckEvent::Access(access),
            (None, CheckEvent::None, CopyGroupOp::None | CopyGroupOp::Commit) => CheckEvent::None,
            (None, CheckEvent::None, copy_group_op) => CheckEvent::CopyWait(copy_group_op),
            (None, sync_event, _) => sync_event,
        }
    }
}

/// The control flow after an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flow {
    /// Falls through to the next instruction.
    Next,
    /// Jumps to the block. Emission sets `arg0` to the block's address.
    Jump(BlockId),
    /// Branches to the block or falls through. Emission sets `arg0` to the block's address and `arg1` to the
    /// reconvergence address.
    Branch(BlockId),
    /// Jumps to one of the blocks (`brx.idx`). Emission sets `arg1` to the reconvergence address.
    Table(Vec<BlockId>),
    /// Returns to the caller, through the function's end block.
    Return,
    /// Ends the thread.
    Exit,
    /// Stops the launch.
    Stop,
}

/// A rule by which the alignment of a result follows from the alignment of its sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    /// A sum, a difference, a copy or a selection: as aligned as the least aligned source.
    Sum,
    /// A sum of the sources and the immediate: as aligned as the least aligned of them.
    Offset,
    /// The product of the first two sources, optionally plus a third.
    Product,
    /// The first source shifted left by the second.
    Shift,
    /// The bitwise AND of all sources: as aligned as the most aligned source.
    Mask,
}

/// The way in which bytes of the sources become bytes of the result, without being used as a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteFlow {
    /// The bytes of all sources, one source after the other, are those of all results: a move, also of a vector.
    Moved,
    /// The number of low bytes that a conversion between integers keeps.
    Converted(u32),
    /// Each byte comes from the sources' bytes at the same place: a selection, or a bitwise operation.
    InPlace,
    /// A bitwise AND, of which a source may be a literal.
    Masked,
    ShiftedLeft,
    ShiftedRight,
    /// The bytes become an argument or a result of a call. The first source is an address.
    Passed,
}

/// A virtual register of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Register(pub u32);

/// The properties of a virtual register.
#[derive(Debug, Clone, Copy)]
pub struct RegisterInfo {
    /// The kind of row that holds the register.
    pub row: RegisterClass,
    /// The size in bytes of the declared type; 0 for a predicate.
    pub bytes: u32,
    /// The value of a constant register; `None` if the register is written at run time.
    pub literal: Option<u64>,
    /// True if the PTX declares the register, false if lowering created it.
    pub declared: bool,
}
