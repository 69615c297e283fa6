//! The static description of a program for the profiler, the sanitizer and the time model: its basic blocks,
//! throughput classes, profiler sites and source lines; and the properties of kernels that launches need: parameters, memory
//! sizes, registers, launch bounds, and the dimensions of a launch.

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::check_event::{CheckEvents, FenceScope, SharedArray};
use super::{Access, AccessClass, AccessKind, Memory};
use crate::memory::LOCAL_GRANULE;
use crate::ptx::ast::SourceLocation;

/// Several `extern __shared__` arrays of a kernel, all of which start at the same address.
#[derive(Debug, Clone)]
pub struct ExternArrays {
    /// The names in the source.
    pub names: Vec<String>,
    /// The PTX line and the source location of an instruction that uses the last of them.
    pub used_at: (u32, Option<SourceLocation>),
}

/// A kernel's properties, as the driver reports and uses them.
#[derive(Debug, Clone, Default)]
pub struct Kernel {
    pub name: String,
    /// The index of the kernel's code among the program's functions.
    pub function: usize,
    pub params: Vec<Param>,
    /// The total size of all parameters in bytes.
    pub param_bytes: u32,
    /// Bytes of static shared memory per block.
    pub shared_bytes: u32,
    /// Bytes of local memory per thread, including callees as far as they are known.
    pub local_bytes: u32,
    /// Bytes of the module's constants.
    pub const_bytes: u32,
    /// 32-bit registers per thread: the maximum number live at once, a lower bound of what an assembler needs.
    pub registers: u32,
    /// The maximum registers per thread under the kernel's launch bounds (`.maxntid`, `.reqntid`,
    /// `.minnctapersm`, `.maxnreg`); an assembler spills the excess to local memory. `None` if the kernel has
    /// no launch bounds.
    pub register_bound: Option<u32>,
    /// `.maxntid`
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid`
    pub required_threads: Option<[u32; 3]>,
    /// `.reqnctapercluster`
    pub required_cluster: Option<[u32; 3]>,
    /// True with `.explicitcluster`: a launch must specify the size of its clusters.
    pub explicit_cluster: bool,
    /// `.maxclusterrank`
    pub max_cluster_rank: Option<u32>,
    /// The static variables in shared memory that the kernel uses, directly or through functions.
    pub shared_variables: Vec<SharedArray>,
    /// The `extern __shared__` arrays of the kernel, if there are several.
    pub extern_arrays: Option<ExternArrays>,
    /// True if blocks must run in order for a reproducible result.
    pub ordered: bool,
    /// True if the kernel has volatile or ordered loads or stores of device memory, through which its blocks
    /// may wait for each other.
    pub volatile: bool,
    /// True if the kernel calls `malloc` or `free`.
    pub uses_heap: bool,
    /// True if the kernel has recursion or calls through pointers, so that its stack has no static bound.
    pub(crate) unbounded: bool,
}

impl Kernel {
    /// Returns `registers`, limited by the kernel's launch bounds.
    pub fn limit_by_launch_bounds(&self, registers: u32) -> u32 {
        self.register_bound
            .map_or(registers, |bound| registers.min(bound))
    }

    /// Estimates the registers per thread that an assembler allocates. It reorders instructions, so that far
    /// fewer values are live at once than in PTX order: about half, in the chapters' kernels.
    pub fn estimated_registers(&self) -> u32 {
        /// The estimate's minimum: reordering saves nothing below it.
        const MIN_ESTIMATE: u32 = 32;
        /// The hardware's limit per thread; an assembler spills the excess to local memory.
        const MAX_REGISTERS: u32 = 255;
        self.limit_by_launch_bounds((self.registers / 2).clamp(MIN_ESTIMATE, MAX_REGISTERS))
    }

    /// Returns the bytes of shared memory per block, given `dynamic` bytes of dynamic shared memory.
    pub fn shared_bytes_with(&self, dynamic: u32) -> u32 {
        match dynamic {
            // Without dynamic shared memory the size is not rounded up.
            0 => self.shared_bytes,
            // Dynamic shared memory is aligned to 16 bytes.
            dynamic => self.shared_bytes.next_multiple_of(16) + dynamic,
        }
    }

    /// Returns the bytes of local memory per thread; `limit` is the stack limit that applies to unbounded
    /// stacks.
    pub fn stack_bytes(&self, limit: u32) -> u32 {
        let bytes = if self.unbounded {
            self.local_bytes.max(limit)
        } else {
            self.local_bytes
        };
        bytes.next_multiple_of(LOCAL_GRANULE)
    }
}

/// The location of a kernel parameter in the parameter space, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Param {
    pub offset: u32,
    pub size: u32,
}

/// The dimensions of the grid in blocks and of a block in threads, each as x, y and z.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dims {
    pub grid: [u32; 3],
    pub block: [u32; 3],
}

impl Dims {
    /// Returns the number of blocks of the grid.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|&n| u64::from(n)).product()
    }

    /// Returns the number of threads per block.
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Returns `blockIdx` of the block with linear number `number` (x varies fastest).
    pub fn block_index(&self, number: u64) -> [u32; 3] {
        coordinates(number, self.grid)
    }

    /// Returns `threadIdx` of the thread with linear number `number` in its block (x varies fastest).
    pub fn thread_index(&self, number: u32) -> [u32; 3] {
        coordinates(number.into(), self.block)
    }
}

/// Returns the coordinates of linear number `number` in a box of the given size (x varies fastest).
pub fn coordinates(number: u64, size: [u32; 3]) -> [u32; 3] {
    let (x, y) = (u64::from(size[0]), u64::from(size[1]));
    [
        (number % x) as u32,
        (number / x % y) as u32,
        (number / x / y) as u32,
    ]
}

/// A program's kernels, basic blocks, profiler sites, sanitizer events and source lines.
///
/// An instruction's *address* is its index in the code. Basic blocks are numbered across all functions.
#[derive(Default)]
pub struct Listing {
    /// The architecture that the PTX targets: 80 for `sm_80`.
    pub ptx_target: u32,
    pub kernels: Vec<Kernel>,
    /// The basic blocks, by the numbers in their `enter` instructions.
    pub blocks: Vec<BlockInfo>,
    /// The instructions that have their own counters.
    pub sites: Sites,
    /// The events that the sanitizer observes.
    pub check_events: CheckEvents,
    /// The names of all arrays in shared memory.
    pub shared_names: Vec<String>,
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
    /// If this block issues a predicated one with loads: an earlier predicated block whose loads are still in flight.
    pub overlaps: Option<usize>,
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
    /// The event for which the warp waits at the instruction, in addition to its operands.
    pub stall: Option<Stall>,
    /// The N dimension of a `wgmma`, in multiples of 8 columns.
    pub n8_tiles: u32,
    /// True if the instruction has a result but no source registers: it fetches a parameter or a special
    /// register.
    pub has_no_sources: bool,
    /// Indices of the earlier steps in the block that this one depends on.
    pub dependences: Vec<u32>,
}

/// An event for which a warp waits at an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stall {
    /// The completion of earlier accesses, at a fence.
    Fence(FenceScope),
    /// The end of a call of the device runtime.
    Call(RuntimeCall),
    /// Asynchronous copies of earlier basic blocks, except for the given number of most recent groups.
    Copies(u32),
}

impl Stall {
    /// Returns true if the stall is much longer than an arithmetic instruction and earlier accesses end before it.
    pub fn is_long(self) -> bool {
        !matches!(self, Stall::Fence(FenceScope::Block) | Stall::Copies(_))
    }
}

/// A function of the device runtime, of which the device executes one call at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuntimeCall {
    /// `printf`.
    Print,
    /// `malloc` or `free`.
    Heap,
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
        let info = self.lines.get(address as usize);
        info.map_or_else(SourceLine::default, |info| {
            self.source_at(info.ptx_line, info.location)
        })
    }

    /// Returns the line at a PTX line and a source location.
    pub(crate) fn source_at(&self, ptx_line: u32, location: Option<SourceLocation>) -> SourceLine {
        let file = location.and_then(|location| self.files.get(&location.file).cloned());
        SourceLine {
            file,
            line: location.map_or(0, |location| location.line),
            ptx_line,
            is_nearest: false,
        }
    }

    /// Returns the source line of the instruction at `address`. If the compiler gave it line 0, which stands for
    /// code merged from several lines, this is the line of the nearest instruction of the function that has one,
    /// preferably before it.
    pub fn nearest_source_of(&self, address: u32) -> SourceLine {
        let source = self.source_of(address);
        let is_merged = |&address: &u32| {
            let info = self.lines.get(address as usize);
            info.and_then(|info| info.location)
                .is_some_and(|location| location.line == 0)
        };
        if !is_merged(&address) {
            return source;
        }
        let before = (0..address).rev().find(|address| !is_merged(address));
        let after = (address..).find(|address| !is_merged(address));
        let nearest = before.into_iter().chain(after);
        let mut nearest = nearest.map(|address| self.source_of(address));
        match nearest.find(|nearest| nearest.line > 0) {
            Some(nearest) => SourceLine {
                ptx_line: source.ptx_line,
                is_nearest: true,
                ..nearest
            },
            None => source,
        }
    }
}

/// The throughput class of an instruction: the GPU pipeline that executes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Moves, and accesses to constants and parameters at fixed addresses. In machine code most of them are
    /// operands of the instruction that uses the value.
    Move,
    /// Integer arithmetic, logic, comparison, selection.
    Integer,
    /// 32- and 16-bit floating point.
    Float,
    /// 64-bit floating point.
    Double,
    /// The special function unit: square roots, reciprocals, sines, conversions.
    Special,
    /// Matrix multiply-accumulate instructions of one warp (`mma`).
    Tensor,
    /// Matrix multiply-accumulate instructions of a warpgroup of four warps (`wgmma`).
    Warpgroup,
    /// Branches, barriers, calls.
    Control,
    /// Loads, stores and atomics of each space.
    Global,
    Shared,
    Constant,
    Local,
}

impl Class {
    /// The number of classes.
    pub const COUNT: usize = Class::Local as usize + 1;
}

/// The sites of a program, in code order.
#[derive(Default)]
pub struct Sites {
    list: Vec<Site>,
    slot_count: usize,
}

/// An instruction with its own counters.
#[derive(Clone, Copy)]
pub struct Site {
    pub kind: SiteKind,
    /// The address of the instruction.
    pub address: u32,
    /// The number of the basic block that contains it.
    pub block: u32,
    /// True if the access stands for a merged group and so transfers more bytes than the PTX instruction.
    pub is_merged: bool,
    /// True for a branch that remains a branch in machine code: its sides are not predicated and neither side
    /// only ends the thread.
    pub is_machine_branch: bool,
    /// The offset added to the address register.
    pub offset: u64,
    /// The first counter slot. A site has one slot, or one per memory that a generic access may reach.
    pub slot: u32,
}

/// The kind of a profiler site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteKind {
    Access(Access),
    Branch,
    Barrier,
}

impl SiteKind {
    /// Returns the number of counter slots of a site.
    pub fn slot_count(self) -> u32 {
        match self {
            SiteKind::Access(access) => access.memories().len() as u32,
            SiteKind::Branch | SiteKind::Barrier => 1,
        }
    }
}

impl Site {
    /// Returns the memory of each slot, in order.
    pub fn memories(&self) -> &'static [Memory] {
        match self.kind {
            SiteKind::Access(access) => access.memories(),
            SiteKind::Branch | SiteKind::Barrier => &[],
        }
    }

    /// Returns the access classes of the site, each with its counter slot.
    pub fn classes(self) -> impl Iterator<Item = (AccessClass, u32)> {
        let slots = self.memories().iter().zip(self.slot..);
        slots.filter_map(move |(&memory, slot)| {
            let SiteKind::Access(access) = self.kind else {
                return None;
            };
            let kind = self.kind_of_slot(access, slot);
            Some((AccessClass::of(kind, memory)?, slot))
        })
    }

    /// Returns the access kind that a slot counts: the second slot of some atomics counts their initial loads.
    fn kind_of_slot(self, access: Access, slot: u32) -> AccessKind {
        if access.starts_with_load() && slot > self.slot {
            AccessKind::Load
        } else {
            access.kind
        }
    }
}

impl Sites {
    /// Appends a site. `site.slot` must already be assigned.
    pub fn push(&mut self, site: Site) {
        self.slot_count += site.kind.slot_count() as usize;
        self.list.push(site);
    }

    /// Iterates over the sites, in code order.
    pub fn iter(&self) -> impl Iterator<Item = &Site> {
        self.list.iter()
    }

    /// Returns the total number of counter slots.
    pub fn slot_count(&self) -> usize {
        self.slot_count
    }

    /// Returns the site, the access and the memory that a counter slot belongs to; `None` if the slot does
    /// not count an access.
    pub fn access(&self, slot: usize) -> Option<(&Site, Access, Memory)> {
        let first_slot = |site: &Site| site.slot as usize;
        let after = self.list.partition_point(|site| first_slot(site) <= slot);
        let site = &self.list[after.checked_sub(1)?];
        let SiteKind::Access(access) = site.kind else {
            return None;
        };
        let memory = *site.memories().get(slot - first_slot(site))?;
        let kind = site.kind_of_slot(access, slot as u32);
        Some((site, Access { kind, ..access }, memory))
    }
}

/// A line of the kernel's source, if the PTX names one, and of the PTX.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SourceLine {
    pub file: Option<String>,
    pub line: u32,
    pub ptx_line: u32,
    /// True if the compiler gave the instruction no line, and `line` is that of the nearest instruction with one.
    pub is_nearest: bool,
}

impl SourceLine {
    /// Returns true if both are the same line of the kernel's source or, if it is unknown, of the PTX.
    pub fn is_same_line(&self, other: &SourceLine) -> bool {
        (&self.file, self.line) == (&other.file, other.line)
            && (self.line > 0 || self.ptx_line == other.ptx_line)
    }
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            // A line of the program, not of a kernel.
            Some(file) if self.line > 0 && self.ptx_line == 0 => write!(f, "{file}:{}", self.line),
            Some(file) if self.line > 0 => {
                let precision = if self.is_nearest {
                    ", nearest known line"
                } else {
                    ""
                };
                let Self { line, ptx_line, .. } = self;
                write!(f, "{file}:{line} (PTX line {ptx_line}{precision})")
            }
            _ => write!(f, "PTX line {}", self.ptx_line),
        }
    }
}
