//! A generated kernel: its PTX, its inputs, and the layout of its output. Its body is a tree, from which
//! statements can be removed to shrink the kernel.

use crate::values::{Dice, Kind};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The contents of one of the 64-bit words that each thread outputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slot {
    /// A register or a word of memory, by name. Both backends must give the same value.
    Exact(String),
    /// The result of an approximate instruction. Its operands are in the preceding slots.
    Approximate { form: String, operands: usize },
}

/// A device function.
pub struct Function {
    /// The header, `.func (…) f0 (…)`.
    pub head: String,
    pub prologue: Vec<String>,
    pub body: Vec<Node>,
    pub epilogue: Vec<String>,
}

/// A kernel and its launch configuration.
pub struct Kernel {
    pub number: u64,
    /// The target, as ten times the compute capability.
    pub target: u32,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: u32,
    /// The output's slots, each with one word per thread. The words of a slot are contiguous.
    pub slots: Vec<Slot>,
    /// Initial values of the cells in global memory.
    pub cells: Vec<u64>,
    pub(crate) head: String,
    pub(crate) functions: Vec<Function>,
    pub(crate) registers: String,
    pub(crate) prologue: Vec<String>,
    pub(crate) body: Vec<Node>,
    pub(crate) epilogue: Vec<String>,
}

/// Number of input words: 64 values of each kind, one per 64-bit word.
pub const INPUT_WORDS: usize = 64 * Kind::ALL.len();
/// Words per thread of the private part of global memory.
pub const SCRATCH_WORDS: usize = 16;
/// Words of the parameter that is passed by value to all threads.
pub const VALUE_WORDS: usize = 4;

/// A kernel's inputs.
pub struct Inputs {
    pub table: Vec<u64>,
    pub scratch: Vec<u64>,
    pub values: [u64; VALUE_WORDS],
}

impl Kernel {
    /// Returns the number of threads of the grid.
    pub fn threads(&self) -> usize {
        (self.grid.iter().product::<u32>() * self.block.iter().product::<u32>()) as usize
    }

    /// Returns the numbers of all statements, outer ones first.
    pub fn statements(&self) -> Vec<u32> {
        let of_functions = self.functions.iter().flat_map(|f| numbers(&f.body));
        numbers(&self.body)
            .into_iter()
            .chain(of_functions)
            .collect()
    }

    /// Returns the module's PTX without the removed statements.
    pub fn ptx(&self, removed: &BTreeSet<u32>) -> String {
        // Targets before sm_70 get an old version of PTX, in which `.sync` instructions require converged lanes
        // and newer forms do not exist.
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
            write_lines(&function.prologue, &mut text);
            write(&function.body, removed, &mut text);
            write_lines(&function.epilogue, &mut text);
            text += "}\n";
        }
        text += ".visible .entry k(.param .u64 out, .param .u64 inputs, .param .u64 scratch,\n";
        text +=
            "  .param .u64 global_cells, .param .u64 zero, .param .align 16 .b8 values[32])\n{\n";
        text += &self.registers;
        write_lines(&self.prologue, &mut text);
        write(&self.body, removed, &mut text);
        write_lines(&self.epilogue, &mut text);
        text + "}\n"
    }

    /// Returns the inputs, which are the same for both backends.
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

/// A statement. Its number is unique in the kernel, and identifies it for removal.
#[derive(Debug, Clone)]
pub enum Node {
    /// Instructions that can only be removed together. The names of their labels contain the number.
    Code { number: u32, lines: Vec<String> },
    /// Runs `then` if the predicate is true, otherwise `otherwise`.
    If {
        number: u32,
        before: Vec<String>,
        predicate: String,
        then: Vec<Node>,
        otherwise: Vec<Node>,
    },
    /// A loop: runs `before` once, then repeats `head`, an exit if `leave` is true, `body` and `step`.
    Loop {
        number: u32,
        before: Vec<String>,
        head: Vec<String>,
        leave: String,
        body: Vec<Node>,
        step: Vec<String>,
    },
    /// A `brx.idx` to the arms. The index is below their number.
    Switch {
        number: u32,
        before: Vec<String>,
        index: String,
        arms: Vec<Vec<Node>>,
    },
}

impl Node {
    fn number(&self) -> u32 {
        match self {
            Node::Code { number, .. }
            | Node::If { number, .. }
            | Node::Loop { number, .. }
            | Node::Switch { number, .. } => *number,
        }
    }

    fn children(&self) -> Vec<&Node> {
        match self {
            Node::Code { .. } => Vec::new(),
            Node::If {
                then, otherwise, ..
            } => then.iter().chain(otherwise).collect(),
            Node::Loop { body, .. } => body.iter().collect(),
            Node::Switch { arms, .. } => arms.iter().flatten().collect(),
        }
    }
}

/// Returns the numbers of the statements and of all nested ones, outer ones first.
pub fn numbers(nodes: &[Node]) -> Vec<u32> {
    let inside = |node: &Node| {
        let children: Vec<Node> = node.children().into_iter().cloned().collect();
        [vec![node.number()], numbers(&children)].concat()
    };
    nodes.iter().flat_map(inside).collect()
}

/// Writes the statements as text, without the removed ones.
pub fn write(nodes: &[Node], removed: &BTreeSet<u32>, text: &mut String) {
    for node in nodes
        .iter()
        .filter(|node| !removed.contains(&node.number()))
    {
        match node {
            Node::Code { lines, .. } => write_lines(lines, text),
            Node::If {
                number,
                before,
                predicate,
                then,
                otherwise,
            } => {
                write_lines(before, text);
                let _ = writeln!(text, "  @!{predicate} bra ELSE_{number};");
                write(then, removed, text);
                let _ = writeln!(text, "  bra.uni END_{number};\nELSE_{number}:");
                write(otherwise, removed, text);
                let _ = writeln!(text, "END_{number}:");
            }
            Node::Loop {
                number,
                before,
                head,
                leave,
                body,
                step,
            } => {
                write_lines(before, text);
                let _ = writeln!(text, "AGAIN_{number}:");
                write_lines(head, text);
                let _ = writeln!(text, "  @{leave} bra END_{number};");
                write(body, removed, text);
                write_lines(step, text);
                let _ = writeln!(text, "  bra AGAIN_{number};\nEND_{number}:");
            }
            Node::Switch {
                number,
                before,
                index,
                arms,
            } => {
                write_lines(before, text);
                let labels: Vec<String> = (0..arms.len())
                    .map(|arm| format!("ARM_{number}_{arm}"))
                    .collect();
                let _ = writeln!(
                    text,
                    "TABLE_{number}: .branchtargets {};\n  brx.idx {index}, TABLE_{number};",
                    labels.join(", ")
                );
                for (label, arm) in labels.iter().zip(arms) {
                    let _ = writeln!(text, "{label}:");
                    write(arm, removed, text);
                    let _ = writeln!(text, "  bra END_{number};");
                }
                let _ = writeln!(text, "END_{number}:");
            }
        }
    }
}

fn write_lines(lines: &[String], text: &mut String) {
    for line in lines {
        let _ = writeln!(text, "  {line}");
    }
}
