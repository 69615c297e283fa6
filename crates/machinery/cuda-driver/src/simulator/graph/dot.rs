//! Export of graphs in the DOT language of Graphviz.

use std::ffi::{c_char, c_uint};
use std::fmt::Write as _;

use cuda_sim::driver::{CudaError, Driver};
use cust_raw::CUgraph;

use super::body::{Body, Node, NodeId};
use super::nodes::graph_id;
use super::shape::edges_of;
use super::store::graphs;
use crate::names;
use crate::simulator::work::Work;
use crate::simulator::{driver, raw};
use crate::status::Answer;

/// All valid flags. Each selects one kind of detail; the first, verbose, selects all.
const FLAGS: c_uint = 0xffff;
const HANDLES: c_uint = 1 << 10 | 1;

/// `cuGraphDebugDotPrint`.
pub unsafe fn print(graph: CUgraph, path: *const c_char, flags: c_uint) -> Answer {
    // SAFETY: `path` is null or a NUL-terminated string, as `cuGraphDebugDotPrint` requires of its caller.
    let path = unsafe { raw::text(path) }?;
    if flags & !FLAGS != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    let driver = driver()?;
    let mut text = String::from("digraph dot {\n");
    let graphs = graphs();
    describe(&driver, graphs.graph(graph_id(graph))?, flags, &mut text);
    text.push_str("}\n");
    std::fs::write(path, text).map_err(|_| CudaError::OperatingSystem)?;
    Ok(())
}

/// Writes a graph, then the child graphs in its nodes.
fn describe(driver: &Driver, body: &Body, flags: c_uint, text: &mut String) {
    let name = |id: NodeId| format!("graph_{:x}_node_{:x}", body.id.0, id.0);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "subgraph cluster_{:x} {{", body.id.0);
    for (&id, node) in &body.nodes {
        let mut label = words(driver, node);
        if flags & HANDLES != 0 {
            let _ = write!(label, "\\n{:#x}", id.0);
        }
        let _ = writeln!(
            text,
            "  \"{}\" [shape=record, label=\"{label}\"];",
            name(id)
        );
    }
    for (before, node) in edges_of(body) {
        let _ = writeln!(text, "  \"{}\" -> \"{}\";", name(before), name(node));
    }
    text.push_str("}\n");
    for child in body.children() {
        describe(driver, child, flags, text);
    }
}

/// Returns the label of a node, escaped for DOT.
fn words(driver: &Driver, node: &Node) -> String {
    match &node.work {
        Work::Empty => "EMPTY".into(),
        Work::Kernel(kernel) => {
            let name = driver.function_name(kernel.function).unwrap_or("?");
            let name: String = names::plain(name)
                .chars()
                .flat_map(|c| {
                    matches!(c, '<' | '>' | '{' | '}' | '|' | '"')
                        .then_some('\\')
                        .into_iter()
                        .chain([c])
                })
                .collect();
            let ([gx, gy, gz], [bx, by, bz]) = (kernel.grid, kernel.block);
            format!("KERNEL {name}\\ngrid {gx} {gy} {gz}, block {bx} {by} {bz}")
        }
        Work::Memcpy(copy) => {
            format!(
                "MEMCPY\\n{} x {} x {} bytes",
                copy.width, copy.height, copy.depth
            )
        }
        Work::Memset(memset) => format!("MEMSET\\n{} x {}", memset.width, memset.height),
        Work::Host(_) => "HOST".into(),
        Work::RecordEvent(_) => "EVENT_RECORD".into(),
        Work::WaitEvent(_) => "EVENT_WAIT".into(),
        Work::Allocate(reserved) => format!("MEM_ALLOC\\n{} bytes", reserved.bytes),
        Work::Free(_) => "MEM_FREE".into(),
        Work::Graph(body) => format!("GRAPH\\ncluster_{:x}", body.id.0),
    }
}
