//! Events that the sanitizer observes, per instruction of a program.

use super::{Access, AccessKind, Memory};
use std::collections::HashMap;

/// The event that an instruction causes for the sanitizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckEvent {
    None,
    Access(Access),
    /// Arrival at a barrier of the block.
    Barrier(Aligned),
    /// Synchronization of the lanes of a warp.
    WarpSync(WarpSync),
    /// A memory fence.
    Fence(FenceScope),
    /// A branch, taken where its predicate is true or, with `unless`, where it is false.
    Branch {
        unless: bool,
    },
    /// A branch one of whose sides only ends the thread.
    ExitBranch(ExitBranch),
    /// A wait for asynchronous copies.
    CopyWait(CopyGroupOp),
    /// A `wgmma`, which multiplies matrices in shared memory asynchronously.
    Wgmma,
    /// A wait for `wgmma` operations.
    WgmmaWait,
    /// The end of the thread.
    Exit,
}

/// The alignment requirement of a barrier: `bar.sync` requires all lanes of a warp to arrive together, while
/// `barrier.sync` lets them arrive separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aligned(pub bool);

/// The scope of a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FenceScope {
    /// The threads of the block.
    Block,
    /// All threads of the device.
    Device,
    /// All threads of the device, and the host.
    System,
}

/// The lanes that a branch sends to the end of the thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitBranch {
    /// True if lanes whose predicate (operand 0) is true exit; false if the others do.
    pub when_true: bool,
}

/// A warp-level synchronization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WarpSync {
    /// The index of the operand that holds the member mask.
    pub members: usize,
    /// True if the lanes may wait at different instructions of this kind with the same mask; false if all
    /// must be at this one.
    pub any_instruction: bool,
    /// The data exchange, if the instruction is a shuffle.
    pub shuffle: Option<ShuffleExchange>,
}

/// The data exchange of a shuffle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShuffleExchange {
    /// True if each lane computes its source lane as an index or an XOR (`idx`, `bfly`); false if values
    /// shift (`up`, `down`), so that lanes at one end have no source lane.
    pub indexed: bool,
    /// True if every lane uses the value it receives.
    pub result_used: bool,
}

/// The byte range of an array in shared memory, half open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedArray {
    pub start: u32,
    pub end: u32,
    /// The index of its name in [`Listing::shared_names`](super::Listing::shared_names).
    pub name: u32,
}

impl SharedArray {
    /// The whole of shared memory.
    const ANY: SharedArray = SharedArray {
        start: 0,
        end: u32::MAX,
        name: u32::MAX,
    };

    /// Returns true if the array contains all of the `bytes` bytes at `at`.
    #[inline(always)]
    pub fn contains(self, at: u64, bytes: u64) -> bool {
        at >= self.start.into() && at + bytes <= self.end.into()
    }
}

/// The effect of an instruction on groups of asynchronous copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyGroupOp {
    None,
    /// Closes the current group.
    Commit,
    /// Waits for all groups except for the given number of most recent ones.
    WaitGroups(u32),
    /// Waits for all asynchronous copies.
    WaitAll,
}

/// The registers that a load writes or a store reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MovedRegisters {
    registers: [u32; MovedRegisters::MAX],
    count: usize,
    /// The number of bytes that each register holds.
    pub bytes_each: u32,
}

impl MovedRegisters {
    const MAX: usize = 4;
    /// The number of a register that is not tracked.
    pub const UNTRACKED: u32 = u32::MAX;

    /// Creates the list of at most 4 registers.
    pub fn new(bytes_each: u32, registers: impl Iterator<Item = u32>) -> MovedRegisters {
        let mut moved = MovedRegisters {
            bytes_each,
            ..MovedRegisters::default()
        };
        for register in registers.take(Self::MAX) {
            moved.registers[moved.count] = register;
            moved.count += 1;
        }
        moved
    }

    /// Iterates over the registers.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.registers.iter().copied().take(self.count)
    }
}

/// The bytes that a load moves, of which the program uses only some as values: the others it stores elsewhere, passes on
/// or ignores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadedBytes {
    /// A mask of the bytes whose values are used.
    pub used: u16,
    /// The numbers of bytes before and after these that other loads read from the same address register: the rest of a
    /// structure.
    pub before: u32,
    pub after: u32,
    pub registers: MovedRegisters,
}

impl LoadedBytes {
    /// An asynchronous copy of at most 16 bytes, whose halves count as registers.
    pub fn of_copy() -> LoadedBytes {
        LoadedBytes {
            used: 0,
            before: 0,
            after: 0,
            registers: MovedRegisters::new(8, [u32::MAX - 1, u32::MAX - 2].into_iter()),
        }
    }
}

/// The sanitizer's view of a program, indexed by instruction address.
#[derive(Default)]
pub struct CheckEvents {
    /// The event of each instruction.
    list: Vec<CheckEvent>,
    /// The shared-memory array that each instruction accesses.
    arrays: Vec<SharedArray>,
    /// The number of device-memory accesses that precede each instruction.
    numbers: Vec<u32>,
    /// The addresses of the device-memory accesses, in order.
    device: Vec<u32>,
    /// The loads that move bytes without using their values.
    loads: HashMap<u32, LoadedBytes>,
    /// The registers of stores that come from such loads.
    stores: HashMap<u32, MovedRegisters>,
}

impl CheckEvents {
    /// Appends the event of the next instruction.
    pub fn push(&mut self, event: CheckEvent) {
        self.numbers.push(self.device.len() as u32);
        if let CheckEvent::Access(Access {
            memory: Memory::Global | Memory::Generic,
            ..
        }) = event
        {
            self.device.push(self.list.len() as u32);
        }
        self.list.push(event);
        self.arrays.push(SharedArray::ANY);
    }

    /// Sets the array that the last appended instruction accesses.
    pub fn set_array(&mut self, array: SharedArray) {
        if let Some(last) = self.arrays.last_mut() {
            *last = array;
        }
    }

    /// Adds the bytes that the last appended instruction loads.
    pub fn set_loaded(&mut self, loaded: LoadedBytes) {
        self.loads.insert(self.list.len() as u32 - 1, loaded);
    }

    /// Adds the loaded registers that the last appended instruction stores.
    pub fn set_stored(&mut self, stored: MovedRegisters) {
        self.stores.insert(self.list.len() as u32 - 1, stored);
    }

    /// Returns the bytes that the load at `address` moves; `None` if the program uses the values of all bytes.
    pub fn loaded(&self, address: u32) -> Option<LoadedBytes> {
        self.loads.get(&address).copied()
    }

    /// Returns the registers of the store at `address` that come from loads.
    pub fn stored(&self, address: u32) -> Option<MovedRegisters> {
        self.stores.get(&address).copied()
    }

    /// Returns the array that the instruction at `address` accesses; all of shared memory if its provenance
    /// is unknown.
    #[inline(always)]
    pub fn array(&self, address: u32) -> SharedArray {
        self.arrays[address as usize]
    }

    /// Returns true if a thread at `address` has nothing left to execute but its exit.
    pub fn only_exits(&self, address: u32) -> bool {
        let at = |address: u32| self.list.get(address as usize).copied();
        at(address) == Some(CheckEvent::Exit)
            || at(address) == Some(CheckEvent::None) && at(address + 1) == Some(CheckEvent::Exit)
    }

    /// Returns the ordinal of a device-memory access among all of the program's.
    #[inline(always)]
    pub fn device_access_ordinal(&self, address: u32) -> u32 {
        self.numbers[address as usize]
    }

    /// Returns the addresses of the device-memory accesses whose ordinals modulo 32 are in the mask `numbers` and which
    /// are stores (or, if `writes` is false, are not). Atomics of block scope are in both lists.
    pub fn device_accesses(&self, numbers: u32, writes: bool) -> impl Iterator<Item = u32> {
        let is_listed = move |address| match self.at(address) {
            CheckEvent::Access(access) if access.kind == AccessKind::Store => writes,
            CheckEvent::Access(access) if access.kind.is_atomic() && writes => {
                access.ordered.is_some_and(|ordered| ordered.is_block)
            }
            _ => !writes,
        };
        let sites = (0u32..).zip(&self.device);
        sites
            .filter(move |&(number, _)| numbers >> (number % 32) & 1 == 1)
            .map(|(_, &address)| address)
            .filter(move |&address| is_listed(address))
    }

    /// Iterates over the events of all instructions, in code order.
    pub fn iter(&self) -> impl Iterator<Item = CheckEvent> {
        self.list.iter().copied()
    }

    /// Returns the event of the instruction at `address`.
    #[inline(always)]
    pub fn at(&self, address: u32) -> CheckEvent {
        self.list[address as usize]
    }

    /// Returns true if the instruction at `address` is an atomic or an ordered access of block scope; false without such
    /// an instruction.
    pub fn has_block_scope(&self, address: u32) -> bool {
        let event = self.list.get(address as usize);
        matches!(event, Some(CheckEvent::Access(Access { ordered: Some(ordered), .. })) if ordered.is_block)
    }

    /// Returns the shadow granularity in bytes for shared or device memory: 4, or 1 if the program has
    /// narrower accesses.
    pub fn shadow_granularity(&self, of: Memory) -> u32 {
        let narrow = |event: &CheckEvent| match event {
            // A tensor map may describe an array of bytes.
            CheckEvent::Access(access) if access.kind.is_bulk_copy() => of == Memory::Global,
            CheckEvent::Access(Access { memory, bytes, .. }) => {
                (*memory == of || *memory == Memory::Generic) && *bytes < 4
            }
            _ => false,
        };
        if self.list.iter().any(narrow) { 1 } else { 4 }
    }
}
