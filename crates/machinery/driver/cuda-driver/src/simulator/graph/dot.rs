//! Export of graphs in the DOT language of Graphviz.

use std::ffi::c_uint;
use std::fmt::Write as _;

use cuda_sim::driver::{CudaError, Driver};

use super::body::{Body, GraphId, Node, NodeId};
use super::store::graphs;
use super::topology::edges_of;
use crate::names;
use crate::simulator::lock_driver_drained;
use crate::simulator::stream_op::StreamOp;
use crate::status::CallResult;

/// All valid flags. Each selects one kind of detail; the first, verbose, selects all.
const FLAGS: c_uint = 0xffff;
const HANDLES: c_uint = 1 << 10 | 1;

/// `cuGraphDebugDotPrint`.
pub fn print(graph: GraphId, path: &str, flags: c_uint) -> CallResult {
    if flags & !FLAGS != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    let driver = lock_driver_drained()?;
    let mut output = String::from("digraph dot {\n");
    let graphs = graphs();
    describe(&driver, graphs.graph(graph)?, flags, &mut output);
    output.push_str("}\n");
    std::fs::write(path, output).map_err(|_| CudaError::OperatingSystem)?;
    Ok(())
}

/// Writes a graph, then the child graphs in its nodes.
fn describe(driver: &Driver, body: &Body, flags: c_uint, output: &mut String) {
    let node_name = |id: NodeId| format!("graph_{:x}_node_{:x}", body.id.0, id.0);
    // Writing to a string cannot fail.
    let _ = writeln!(output, "subgraph cluster_{:x} {{", body.id.0);
    for (&id, node) in &body.nodes {
        let mut label = label(driver, node);
        if flags & HANDLES != 0 {
            let _ = write!(label, "\\n{:#x}", id.0);
        }
        let _ = writeln!(
            output,
            "  \"{}\" [shape=record, label=\"{label}\"];",
            node_name(id)
        );
    }
    for (dependency, node) in edges_of(body) {
        let _ = writeln!(
            output,
            "  \"{}\" -> \"{}\";",
            node_name(dependency),
            node_name(node)
        );
    }
    output.push_str("}\n");
    for child in body.children() {
        describe(driver, child, flags, output);
    }
}

/// Returns the label of a node, escaped for DOT.
fn label(driver: &Driver, node: &Node) -> String {
    match &node.op {
        StreamOp::Empty => "EMPTY".into(),
        StreamOp::Kernel(kernel) => {
            let symbol = driver
                .function_name(kernel.launch.function())
                .unwrap_or("?");
            let name: String = names::short(symbol)
                .chars()
                .flat_map(|c| {
                    matches!(c, '<' | '>' | '{' | '}' | '|' | '"')
                        .then_some('\\')
                        .into_iter()
                        .chain([c])
                })
                .collect();
            let spec = kernel.launch.spec();
            let ([gx, gy, gz], [bx, by, bz]) = (spec.grid, spec.block);
            format!("KERNEL {name}\\ngrid {gx} {gy} {gz}, block {bx} {by} {bz}")
        }
        StreamOp::Memcpy(copy) => {
            format!(
                "MEMCPY\\n{} x {} x {} bytes",
                copy.width, copy.height, copy.depth
            )
        }
        StreamOp::Memset(memset) => format!("MEMSET\\n{} x {}", memset.width, memset.height),
        StreamOp::Host(_) => "HOST".into(),
        StreamOp::RecordEvent(_) => "EVENT_RECORD".into(),
        StreamOp::WaitEvent(_) => "EVENT_WAIT".into(),
        StreamOp::Allocate(reserved) => format!("MEM_ALLOC\\n{} bytes", reserved.bytes),
        StreamOp::Free(_) => "MEM_FREE".into(),
        StreamOp::Graph(body) => format!("GRAPH\\ncluster_{:x}", body.id.0),
    }
}
