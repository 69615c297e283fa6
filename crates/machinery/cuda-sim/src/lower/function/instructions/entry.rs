//! What the table says of an instruction, and how an entry is written.

use crate::exec::ops::Select;
use crate::lower::draft::Arithmetic;
use crate::lower::error::LoadError;
use crate::lower::function::Lowering;
use crate::ptx::ast::Instruction;

/// One instruction. [`registers`], [`lowered`] and [`not_simulated`] make an entry; what is unusual
/// about the instruction is added by the methods below.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The mnemonic. Where it means several instructions, the modifiers that tell them apart follow
    /// it, as in `cp.async.bulk`: the longest name that an instruction begins with is its entry.
    pub name: &'static str,
    pub how: How,
    /// What the first of its forms to exist needs.
    needs: Needs,
    /// What a form needs beyond that, from its modifiers.
    also_needs: Option<fn(&[&str]) -> Needs>,
    /// Modules for an older GPU or of an older PTX version are refused, as an assembler refuses them.
    /// Most entries do not ask for that, so that modules keep loading that always have.
    pub refuses_older: bool,
    /// The one `.target` whose modules may have it; any that is new enough where none.
    pub only: Option<&'static str>,
    pub guarded: Guarded,
    /// Nothing comes after it in its basic block.
    pub ends_block: bool,
    /// Floating-point operations that a thread does, where the form is of floating-point numbers.
    pub operations: u32,
    /// It names two types, of the destination and of the sources or of two sources.
    pub two_types: bool,
    /// How many registers stand in each operand, in all ways there are, where it matters to the
    /// instruction.
    pub lengths: &'static [&'static [usize]],
    /// Its registers may be wider than the types it names.
    pub wider_registers: bool,
    /// Its source may be the address of a variable.
    pub takes_addresses: bool,
    /// How the alignment of its result follows from that of its sources, where they are whole numbers.
    pub alignment: Option<Arithmetic>,
}

/// How an instruction is done.
#[derive(Clone, Copy)]
pub enum How {
    /// It reads and writes registers alone: what finds the operation of a form.
    Registers(Select),
    /// What makes code of it.
    Lowered(Lower),
    NotSimulated,
}

/// Appends an instruction to the function that is being lowered.
pub type Lower = for<'m, 'a> fn(&mut Lowering<'m, 'a>, &Instruction<'a>) -> Result<(), LoadError>;

/// What becomes of an instruction's guard (`@p`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guarded {
    /// The instruction runs for the lanes where the guard holds.
    Lanes,
    /// A branch goes around the instruction: it may hold a warp up, or lead elsewhere.
    Around,
    /// The guard is the instruction's own condition.
    Itself,
}

/// The oldest PTX version and the least compute capability (times ten) that have an instruction: the
/// "PTX ISA Notes" and "Target ISA Notes" of its page in the PTX ISA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    pub version: (u32, u32),
    pub sm: u32,
}

/// What is on all GPUs since a PTX version.
pub const fn ptx(major: u32, minor: u32) -> Needs {
    Needs {
        version: (major, minor),
        sm: 10,
    }
}

impl Needs {
    /// The same on GPUs of a compute capability, times ten, and newer.
    pub const fn sm(self, sm: u32) -> Needs {
        Needs { sm, ..self }
    }

    /// What both need.
    pub fn and(self, other: Needs) -> Needs {
        Needs {
            version: self.version.max(other.version),
            sm: self.sm.max(other.sm),
        }
    }
}

/// An instruction that reads and writes registers alone.
pub const fn registers(name: &'static str, needs: Needs, select: Select) -> Entry {
    entry(name, needs, How::Registers(select))
}

/// Any other instruction.
pub const fn lowered(name: &'static str, needs: Needs, lower: Lower) -> Entry {
    entry(name, needs, How::Lowered(lower))
}

/// An instruction that a GPU has and the simulator does not.
pub const fn not_simulated(name: &'static str, needs: Needs) -> Entry {
    entry(name, needs, How::NotSimulated)
}

const fn entry(name: &'static str, needs: Needs, how: How) -> Entry {
    Entry {
        name,
        how,
        needs,
        also_needs: None,
        refuses_older: false,
        only: None,
        guarded: Guarded::Lanes,
        ends_block: false,
        operations: 0,
        two_types: false,
        lengths: &[&[]],
        wider_registers: false,
        takes_addresses: false,
        alignment: None,
    }
}

impl Entry {
    pub const fn also_needs(mut self, of: fn(&[&str]) -> Needs) -> Entry {
        self.also_needs = Some(of);
        self
    }

    pub const fn refuses_older(mut self) -> Entry {
        self.refuses_older = true;
        self
    }

    /// Modules for any other target are refused.
    pub const fn only_for(mut self, target: &'static str) -> Entry {
        self.only = Some(target);
        self.refuses_older()
    }

    pub const fn guarded(mut self, guarded: Guarded) -> Entry {
        self.guarded = guarded;
        self
    }

    pub const fn ends_block(mut self) -> Entry {
        self.ends_block = true;
        self
    }

    pub const fn operations(mut self, operations: u32) -> Entry {
        self.operations = operations;
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

    pub const fn aligned_by(mut self, alignment: Arithmetic) -> Entry {
        self.alignment = Some(alignment);
        self
    }

    /// What a form with these modifiers needs.
    pub fn needs_of(&self, modifiers: &[&str]) -> Needs {
        match self.also_needs {
            Some(of) => self.needs.and(of(modifiers)),
            None => self.needs,
        }
    }

    /// Whether an instruction with this mnemonic and these modifiers begins with the entry's name.
    pub fn begins(&self, mnemonic: &str, modifiers: &[&str]) -> bool {
        let mut parts = self.name.split('.');
        parts.next() == Some(mnemonic)
            && parts
                .enumerate()
                .all(|(n, part)| modifiers.get(n) == Some(&part))
    }
}
