//! The table of PTX instructions: the requirements, the implementation and the peculiarities of each. The
//! table alone decides how an instruction is lowered, guarded or refused.

mod table;

use super::FunctionLowering;
use crate::exec::ops::Select;
use crate::lower::error::LoadError;
use crate::lower::ir::{Arithmetic, ByteFlow};
use crate::ptx::ast::{Instruction, Target};

const PARTS: [&[Entry]; 7] = [
    table::REGISTERS,
    table::VECTOR_MOVES,
    table::MEMORY,
    table::CONTROL,
    table::WARPS,
    table::VIDEO,
    table::NOT_SIMULATED,
];

/// All instructions, sorted by name.
pub static TABLE: [Entry; COUNT] = sorted();

const COUNT: usize = {
    let (mut count, mut part) = (0, 0);
    while part < PARTS.len() {
        count += PARTS[part].len();
        part += 1;
    }
    count
};

/// Merges the parts by insertion sort at compile time. Duplicate names are a compile-time error.
const fn sorted() -> [Entry; COUNT] {
    let mut table = [PARTS[0][0]; COUNT];
    let (mut filled, mut part) = (0, 0);
    while part < PARTS.len() {
        let mut n = 0;
        while n < PARTS[part].len() {
            let entry = PARTS[part][n];
            let mut index = filled;
            while index > 0 && is_less(entry.name, table[index - 1].name) {
                table[index] = table[index - 1];
                index -= 1;
            }
            assert!(
                index == 0 || is_less(table[index - 1].name, entry.name),
                "two entries have the same name"
            );
            table[index] = entry;
            filled += 1;
            n += 1;
        }
        part += 1;
    }
    table
}

/// Returns `a < b`, because string comparison is not yet `const`.
const fn is_less(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut n = 0;
    while n < a.len() && n < b.len() {
        if a[n] != b[n] {
            return a[n] < b[n];
        }
        n += 1;
    }
    a.len() < b.len()
}

/// Returns the entry of an instruction; `None` if the instruction does not exist.
pub fn find(mnemonic: &str, modifiers: &[&str]) -> Option<&'static Entry> {
    // A dot sorts before all characters of mnemonics, so names with modifiers directly follow the bare
    // mnemonic, and the longest match comes last.
    let first = TABLE.partition_point(|entry| entry.name < mnemonic);
    TABLE[first..]
        .iter()
        .take_while(|entry| entry.name.starts_with(mnemonic))
        .filter(|entry| entry.matches(mnemonic, modifiers))
        .last()
}

/// Returns true if an instruction has this mnemonic, in any form.
pub fn is_mnemonic(mnemonic: &str) -> bool {
    let first = TABLE.partition_point(|entry| entry.name < mnemonic);
    let rest = TABLE
        .get(first)
        .and_then(|entry| entry.name.strip_prefix(mnemonic));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Returns the compute capability (times 10) that an unsupported instruction requires; `None` if the
/// instruction does not exist, or if other forms of it are simulated for any GPU.
pub fn required_capability(mnemonic: &str, modifiers: &[&str]) -> Option<u32> {
    find(mnemonic, modifiers)
        .filter(|entry| entry.refuses_older || matches!(entry.lowering, Lowering::NotSimulated))
        .map(|entry| entry.requirements_of(modifiers).sm)
}

/// An entry of the instruction table, created by [`registers`], [`lowered`] or [`not_simulated`] and refined
/// by the methods below.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The mnemonic, followed by modifiers where one mnemonic stands for several instructions, as in
    /// `cp.async.bulk`. The longest name that matches an instruction is its entry.
    pub name: &'static str,
    pub lowering: Lowering,
    /// The requirements of the oldest form.
    requirements: Requirements,
    /// A function that returns the additional requirements of a form from its modifiers.
    also_requires: Option<fn(&[&str]) -> Requirements>,
    /// True if modules for an older GPU or PTX version are refused, as an assembler does. Most entries do not
    /// request this, for compatibility with modules that have always been accepted.
    pub refuses_older: bool,
    /// The only `.target` that has the instruction; `None` if all newer targets have it too.
    pub only_target: Option<&'static str>,
    pub guarded: GuardKind,
    /// True if the instruction ends its basic block.
    pub ends_block: bool,
    /// Floating-point operations per thread, if the form is a floating-point form.
    pub flops: u32,
    /// True if the instruction names two types, of destination and source or of two sources.
    pub two_types: bool,
    /// All valid lists of the number of registers per operand, for instructions that accept vectors.
    pub lengths: &'static [&'static [usize]],
    /// True if the registers may be wider than the named types.
    pub wider_registers: bool,
    /// True if the source may be the address of a variable.
    pub takes_addresses: bool,
    /// The rule by which the alignment of an integer result follows from the sources.
    pub alignment: Option<Arithmetic>,
    /// The origin of the result's bytes, for an instruction that only moves bytes.
    pub byte_flow: Option<ByteFlow>,
}

/// The implementation of an instruction.
#[derive(Clone, Copy)]
pub enum Lowering {
    /// The instruction only reads and writes registers. The function selects the operation of a form.
    Registers(Select),
    /// The function appends the instruction's IR.
    Lowered(LowerFn),
    NotSimulated,
}

/// A function that lowers an instruction to IR.
type LowerFn =
    for<'m, 'a> fn(&mut FunctionLowering<'m, 'a>, &Instruction<'a>) -> Result<(), LoadError>;

/// The treatment of an instruction's guard (`@p`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardKind {
    /// Predication: the instruction is executed for the lanes whose guard is true.
    Predicate,
    /// A branch around the instruction, because it may block a warp or transfer control.
    BranchAround,
    /// The guard is the instruction's own condition.
    Condition,
}

/// The minimum PTX version and compute capability (times 10) of an instruction, from the "PTX ISA Notes" and
/// "Target ISA Notes" of its page in the PTX ISA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requirements {
    pub version: (u32, u32),
    pub sm: u32,
}

/// Creates the requirement of a PTX version, on any GPU.
pub const fn ptx(major: u32, minor: u32) -> Requirements {
    Requirements {
        version: (major, minor),
        sm: 10,
    }
}

impl Requirements {
    /// Adds a minimum compute capability, times 10.
    pub const fn sm(self, sm: u32) -> Requirements {
        Requirements { sm, ..self }
    }

    /// Combines two requirements.
    pub fn and(self, other: Requirements) -> Requirements {
        Requirements {
            version: self.version.max(other.version),
            sm: self.sm.max(other.sm),
        }
    }
}

/// Creates the entry of an instruction that only reads and writes registers.
pub const fn registers(name: &'static str, requirements: Requirements, select: Select) -> Entry {
    entry(name, requirements, Lowering::Registers(select))
}

/// Creates the entry of an instruction with its own lowering function.
pub const fn lowered(name: &'static str, requirements: Requirements, lower: LowerFn) -> Entry {
    entry(name, requirements, Lowering::Lowered(lower))
}

/// Creates the entry of an instruction that exists on GPUs but is not simulated.
pub const fn not_simulated(name: &'static str, requirements: Requirements) -> Entry {
    entry(name, requirements, Lowering::NotSimulated)
}

const fn entry(name: &'static str, requirements: Requirements, lowering: Lowering) -> Entry {
    Entry {
        name,
        lowering,
        requirements,
        also_requires: None,
        refuses_older: false,
        only_target: None,
        guarded: GuardKind::Predicate,
        ends_block: false,
        flops: 0,
        two_types: false,
        lengths: &[&[]],
        wider_registers: false,
        takes_addresses: false,
        alignment: None,
        byte_flow: None,
    }
}

impl Entry {
    const fn also_requires(mut self, of: fn(&[&str]) -> Requirements) -> Entry {
        self.also_requires = Some(of);
        self
    }

    pub const fn refuses_older(mut self) -> Entry {
        self.refuses_older = true;
        self
    }

    /// Restricts the instruction to modules for exactly this target.
    const fn only_for(mut self, target: &'static str) -> Entry {
        self.only_target = Some(target);
        self.refuses_older()
    }

    pub const fn guarded(mut self, guarded: GuardKind) -> Entry {
        self.guarded = guarded;
        self
    }

    pub const fn ends_block(mut self) -> Entry {
        self.ends_block = true;
        self
    }

    pub const fn flops(mut self, flops: u32) -> Entry {
        self.flops = flops;
        self
    }

    pub const fn two_types(mut self) -> Entry {
        self.two_types = true;
        self
    }

    pub const fn lengths(mut self, lengths: &'static [&'static [usize]]) -> Entry {
        self.lengths = lengths;
        self
    }

    pub const fn wider_registers(mut self) -> Entry {
        self.wider_registers = true;
        self
    }

    pub const fn takes_addresses(mut self) -> Entry {
        self.takes_addresses = true;
        self
    }

    const fn aligned_by(mut self, alignment: Arithmetic) -> Entry {
        self.alignment = Some(alignment);
        self
    }

    const fn moves(mut self, byte_flow: ByteFlow) -> Entry {
        self.byte_flow = Some(byte_flow);
        self
    }

    /// Returns the requirements of the form with these modifiers.
    pub fn requirements_of(&self, modifiers: &[&str]) -> Requirements {
        match self.also_requires {
            Some(of) => self.requirements.and(of(modifiers)),
            None => self.requirements,
        }
    }

    /// Returns the name of the target that the form with these modifiers needs, and true if newer ones have it too;
    /// `None` if a module's target has the form, or if the entry does not check it.
    pub fn missing_target(&self, modifiers: &[&str], target: Target) -> Option<(String, bool)> {
        let required = self.requirements_of(modifiers).sm;
        match self.only_target {
            _ if !self.refuses_older => None,
            Some(only) if target.name != only => Some((only.to_owned(), false)),
            _ if target.sm < required => Some((format!("sm_{required}"), true)),
            _ => None,
        }
    }

    /// Returns true if the entry's name is a prefix of this mnemonic with its modifiers.
    pub fn matches(&self, mnemonic: &str, modifiers: &[&str]) -> bool {
        let mut parts = self.name.split('.');
        parts.next() == Some(mnemonic)
            && parts
                .enumerate()
                .all(|(n, part)| modifiers.get(n) == Some(&part))
    }
}

#[cfg(test)]
mod tests;
