//! A generated kernel: its PTX, what it is given, and what it leaves.

use crate::dice::Dice;
use crate::tree::{self, Node};
use crate::values::Kind;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What one of the 64-bit words is that each thread leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slot {
    /// A register or a word of memory, by name: equal on both sides.
    Exact(String),
    /// The answer of an approximate instruction; its operands are in the slots before.
    Approximate { form: String, operands: usize },
}

/// A device function.
pub struct Function {
    /// `.func (…) f0 (…)`
    pub head: String,
    pub begin: Vec<String>,
    pub body: Vec<Node>,
    pub end: Vec<String>,
}

/// A kernel and how to launch it.
pub struct Kernel {
    pub number: u64,
    /// The compute capability it is made for, times ten.
    pub target: u32,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: u32,
    /// What each thread leaves: a word a slot, those of all threads side by side.
    pub slots: Vec<Slot>,
    /// What the cells in global memory hold first.
    pub cells: Vec<u64>,
    pub(crate) head: String,
    pub(crate) functions: Vec<Function>,
    pub(crate) registers: String,
    pub(crate) begin: Vec<String>,
    pub(crate) body: Vec<Node>,
    pub(crate) end: Vec<String>,
}

/// Bytes of the inputs: 64 values of each kind, in words of 64 bits.
pub const INPUT_WORDS: usize = 64 * Kind::ALL.len();
/// Words of a thread's own part of global memory.
pub const SCRATCH_WORDS: usize = 16;
/// Bytes that all threads are given by value.
pub const VALUE_WORDS: usize = 4;

/// What a kernel is given.
pub struct Inputs {
    pub table: Vec<u64>,
    pub scratch: Vec<u64>,
    pub values: [u64; VALUE_WORDS],
}

impl Kernel {
    /// Threads of the whole grid.
    pub fn threads(&self) -> usize {
        (self.grid.iter().product::<u32>() * self.block.iter().product::<u32>()) as usize
    }

    /// The numbers of all statements, outer ones first.
    pub fn statements(&self) -> Vec<u32> {
        let of_functions = self.functions.iter().flat_map(|f| tree::numbers(&f.body));
        tree::numbers(&self.body)
            .into_iter()
            .chain(of_functions)
            .collect()
    }

    /// The module, without the statements that are removed.
    pub fn ptx(&self, removed: &BTreeSet<u32>) -> String {
        // Before 7.0 `.sync` instructions want lanes that run together, and some forms had not been
        // given a place in the language.
        let version = if self.target < 70 { "6.4" } else { "8.0" };
        let mut text = format!(
            ".version {version}\n.target sm_{}\n.address_size 64\n{}",
            self.target, self.head
        );
        for function in &self.functions {
            let _ = writeln!(text, "{};", function.head);
        }
        for function in &self.functions {
            let _ = writeln!(text, "{} {{\n{}", function.head, self.registers);
            text += "mov.u32 %lane, %laneid;\nmov.u32 %block, %ctaid.x;\n";
            text += "ld.volatile.global.u64 %zero64, [gzero];\n";
            text += "cvt.u32.u64 %zero32, %zero64;\ncvt.u16.u64 %zero16, %zero64;\n";
            write_all(&function.begin, &mut text);
            tree::write(&function.body, removed, &mut text);
            write_all(&function.end, &mut text);
            text += "}\n";
        }
        text += ".visible .entry k(.param .u64 out, .param .u64 inputs, .param .u64 scratch,\n";
        text +=
            "  .param .u64 global_cells, .param .u64 zero, .param .align 16 .b8 values[32])\n{\n";
        text += &self.registers;
        write_all(&self.begin, &mut text);
        tree::write(&self.body, removed, &mut text);
        write_all(&self.end, &mut text);
        text + "}\n"
    }

    /// What it is given, the same on both sides.
    pub fn inputs(&self, seed: u64) -> Inputs {
        let mut dice = Dice::new(seed, self.number, 1);
        let table = Kind::ALL
            .into_iter()
            .flat_map(|kind| [kind; INPUT_WORDS / Kind::ALL.len()])
            .map(|kind| kind.value(&mut dice))
            .collect();
        let scratch = (0..SCRATCH_WORDS * self.threads())
            .map(|word| Kind::ALL[word % Kind::ALL.len()].value(&mut dice))
            .collect();
        let values = std::array::from_fn(|_| dice.bits());
        Inputs {
            table,
            scratch,
            values,
        }
    }
}

fn write_all(lines: &[String], text: &mut String) {
    for line in lines {
        let _ = writeln!(text, "  {line}");
    }
}
