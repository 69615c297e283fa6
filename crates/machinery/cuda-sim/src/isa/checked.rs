//! What checks look at in a program.

use super::{Access, AccessKind, Memory};

/// What an instruction does that a check looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checked {
    Nothing,
    Access(Access),
    /// It comes to a barrier of the block.
    Barrier(Aligned),
    /// The lanes of a warp come together, those that its operand of this number names.
    Warp(Meeting),
    /// It orders what comes before it for those who see what comes after.
    Fence(FenceFor),
    /// It goes one way where its predicate holds, or, with `unless`, where it does not.
    Branch {
        unless: bool,
    },
    /// It is a branch, and one of its ways only ends the thread.
    Leave(Leaving),
    /// It waits for asynchronous copies.
    Wait(Waiting),
    /// It multiplies matrices in shared memory.
    Product,
    /// It waits for such products.
    ProductsAwaited,
    /// The thread ends.
    End,
}

/// Whether all lanes of a warp have to come to a barrier at once: to `bar.sync` they have, to
/// `barrier.sync` they come one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aligned(pub bool);

/// For whom a fence orders accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FenceFor {
    /// For the threads of the block.
    Block,
    /// For all threads of the device.
    Device,
}

/// Which lanes a branch sends to the end of the thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaving {
    /// Those where its predicate, operand 0, holds; else those where it does not.
    pub holds: bool,
}

/// How lanes of a warp come together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meeting {
    /// The operand with their mask.
    pub members: usize,
    /// At whatever instruction of this kind with this mask; else all at this one.
    pub anywhere: bool,
    /// Each lane gets the value of another.
    pub shuffle: Option<Shuffled>,
}

/// What a shuffle asks other lanes for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shuffled {
    /// Each lane names another by its number, or by its own with some bits turned round; else lanes shift
    /// their values, and those at an end have nobody to ask.
    pub by_number: bool,
    /// Every lane uses what it gets, whomever it asked.
    pub used: bool,
}

/// An array in shared memory, from its first byte to the one after its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Array {
    pub start: u32,
    pub end: u32,
}

impl Array {
    /// All of shared memory.
    const ANY: Array = Array {
        start: 0,
        end: u32::MAX,
    };

    /// Whether so many bytes at an address are all inside.
    #[inline(always)]
    pub fn holds(self, at: u64, bytes: u64) -> bool {
        at >= self.start.into() && at + bytes <= self.end.into()
    }
}

/// What an instruction does about asynchronous copies that have started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    No,
    /// Closes a group of them.
    Commit,
    /// Waits for all groups but the newest so many.
    Groups(u32),
    /// Waits for all.
    All,
}

/// What checks look at in a program, instruction by instruction.
#[derive(Default)]
pub struct CheckedPlaces {
    /// One entry an instruction.
    list: Vec<Checked>,
    /// For each instruction the array in shared memory that it means.
    arrays: Vec<Array>,
    /// For each instruction, how many accesses of device memory come before it.
    numbers: Vec<u32>,
    /// The addresses of these accesses, in order.
    device: Vec<u32>,
}

impl CheckedPlaces {
    /// Adds what the code's next instruction is.
    pub fn push(&mut self, checked: Checked) {
        self.numbers.push(self.device.len() as u32);
        if let Checked::Access(Access {
            memory: Memory::Global | Memory::Generic,
            ..
        }) = checked
        {
            self.device.push(self.list.len() as u32);
        }
        self.list.push(checked);
        self.arrays.push(Array::ANY);
    }

    /// The instruction that was added last means this array.
    pub fn means(&mut self, array: Array) {
        if let Some(last) = self.arrays.last_mut() {
            *last = array;
        }
    }

    /// The array that the instruction at an address means; all of shared memory where that is not known.
    #[inline(always)]
    pub fn array(&self, address: u32) -> Array {
        self.arrays[address as usize]
    }

    /// Whether a thread that stands there has nothing left to do: its basic block is its end.
    pub fn only_ends(&self, address: u32) -> bool {
        let at = |address: u32| self.list.get(address as usize).copied();
        at(address) == Some(Checked::End)
            || at(address) == Some(Checked::Nothing) && at(address + 1) == Some(Checked::End)
    }

    /// The number of an access of device memory among all there are.
    #[inline(always)]
    pub fn device_number(&self, address: u32) -> u32 {
        self.numbers[address as usize]
    }

    /// The address of the access of device memory with a number.
    pub fn device_site(&self, number: u32) -> u32 {
        self.device
            .get(number as usize)
            .copied()
            .unwrap_or(u32::MAX)
    }

    /// The first access of device memory among those whose numbers, modulo 32, are in a mask, and
    /// which writes, or does not.
    pub fn first_device_site(&self, (numbers, writes): (u32, bool)) -> u32 {
        let mut sites = (0u32..).zip(&self.device);
        let found = sites.find(|&(number, &address)| {
            let stores = matches!(
                self.at(address),
                Checked::Access(Access {
                    kind: AccessKind::Store,
                    ..
                })
            );
            numbers >> (number % 32) & 1 == 1 && stores == writes
        });
        found.map_or(u32::MAX, |(_, &address)| address)
    }

    /// What each instruction is, in the order of the code.
    pub fn iter(&self) -> impl Iterator<Item = Checked> {
        self.list.iter().copied()
    }

    /// What the instruction at an address is.
    #[inline(always)]
    pub fn at(&self, address: u32) -> Checked {
        self.list[address as usize]
    }

    /// Bytes that shared or device memory is looked at by: words, unless something smaller is
    /// accessed.
    pub fn granule(&self, of: Memory) -> u32 {
        let narrow = |checked: &Checked| match checked {
            Checked::Access(Access { memory, bytes, .. }) => {
                (*memory == of || *memory == Memory::Generic) && *bytes < 4
            }
            _ => false,
        };
        if self.list.iter().any(narrow) { 1 } else { 4 }
    }
}
