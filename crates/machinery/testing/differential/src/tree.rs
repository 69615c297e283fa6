//! A kernel's body as a tree, from which statements can be removed to shrink the kernel.

use std::collections::BTreeSet;
use std::fmt::Write as _;

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
