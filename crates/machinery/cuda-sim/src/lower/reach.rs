//! What kernels and functions need, everything included that they call.

use super::error::LoadError;
use super::layout::{self, Layout};
use crate::device::DeviceSpec;
use crate::exec::sm::Program;
use crate::isa::Kernel;
use crate::ptx::ast;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

/// However tight a kernel's bounds are, a thread has so many registers.
const LEAST_REGISTERS: u32 = 16;

/// What the driver needs to know of a kernel. Its code is the program's function `number`, and
/// `reached` is what that function needs with all that it calls.
pub fn kernel(
    layout: &Layout,
    function: &ast::Function,
    number: usize,
    reached: &Reached,
    device: &DeviceSpec,
) -> Result<Kernel, LoadError> {
    let params = layout::parameters(function, device)?;
    Ok(Kernel {
        name: function.name.to_owned(),
        function: number,
        param_bytes: params.last().map_or(0, |last| last.offset + last.size),
        params,
        shared_bytes: layout.shared_bytes.get(function.name).copied().unwrap_or(0) as u32,
        local_bytes: reached.local_bytes,
        const_bytes: layout.constants.map_or(0, |(_, bytes)| bytes as u32),
        registers: reached.registers,
        register_bound: register_bound(function, device),
        max_threads: function.max_threads,
        required_threads: function.required_threads,
        ordered: reached.ordered,
        volatile: reached.volatile,
        unbounded: reached.unbounded,
    })
}

/// A warp is given registers in multiples of this number.
const REGISTER_UNIT: u32 = 256;

/// The most registers of a thread with which the blocks that a kernel's launch bounds promise fit
/// into a multiprocessor; none where there are no bounds.
fn register_bound(function: &ast::Function, device: &DeviceSpec) -> Option<u32> {
    let threads = function.max_threads.or(function.required_threads);
    let fitting = threads.map(|threads| {
        let threads = threads.into_iter().fold(1, u32::saturating_mul);
        let warps = threads.div_ceil(device.warp_size).max(1);
        let warps = warps.saturating_mul(function.least_blocks.unwrap_or(1).max(1));
        let of_warp = device.registers_per_multiprocessor / warps;
        of_warp / REGISTER_UNIT * REGISTER_UNIT / device.warp_size
    });
    let bounds = fitting.into_iter().chain(function.most_registers);
    // An assembler takes no notice of bounds that leave a thread next to nothing.
    bounds.min().map(|bound| bound.max(LEAST_REGISTERS))
}

/// What a function and all that it calls add up to.
#[derive(Debug, Clone, Default)]
pub struct Reached {
    /// Bytes of stack that a thread needs for the function and the deepest chain of calls from it.
    /// Functions that call each other in a circle count once each.
    local_bytes: u32,
    /// The most registers that any of them needs.
    registers: u32,
    /// One of them needs blocks to run in order for the result to be the same each time.
    ordered: bool,
    /// One of them has volatile or ordered loads or stores of device memory.
    volatile: bool,
    /// How deep calls may go is not known: they go in a circle, or through a pointer.
    unbounded: bool,
}

impl Reached {
    /// Adds what a called function needs, all but its stack.
    fn add(&mut self, other: &Reached) {
        self.registers = self.registers.max(other.registers);
        self.ordered |= other.ordered;
        self.volatile |= other.volatile;
        self.unbounded |= other.unbounded;
    }
}

/// What each of the program's functions reaches. Calls may be nested as deep as there are functions,
/// so nothing here calls itself.
pub fn reached(program: &Program) -> Vec<Reached> {
    let functions = &program.functions;
    let mut calls = DiGraph::<(), ()>::with_capacity(functions.len(), functions.len());
    let nodes: Vec<NodeIndex> = functions.iter().map(|_| calls.add_node(())).collect();
    for (number, function) in functions.iter().enumerate() {
        for &callee in &function.calls {
            calls.add_edge(nodes[number], nodes[callee], ());
        }
    }
    let mut all = vec![Reached::default(); functions.len()];
    let mut circle_of = vec![usize::MAX; functions.len()];
    // Whom a circle of functions calls comes before it.
    for (id, circle) in kosaraju_scc(&calls).into_iter().enumerate() {
        for node in &circle {
            circle_of[node.index()] = id;
        }
        let mut reached = Reached::default();
        let mut deepest = 0;
        for function in circle.iter().map(|node| &functions[node.index()]) {
            reached.local_bytes = reached
                .local_bytes
                .saturating_add(function.local_bytes.next_multiple_of(16));
            reached.add(&Reached {
                local_bytes: 0,
                registers: function.registers,
                ordered: function.ordered,
                volatile: function.volatile,
                unbounded: function.calls_pointers,
            });
            for &callee in &function.calls {
                // Nothing yet where the callee is of the circle.
                deepest = deepest.max(all[callee].local_bytes);
                reached.add(&all[callee]);
                reached.unbounded |= circle_of[callee] == id;
            }
        }
        reached.local_bytes = reached.local_bytes.saturating_add(deepest);
        for node in circle {
            all[node.index()] = reached.clone();
        }
    }
    // A pointer may name any function.
    let mut any = Reached::default();
    for function in functions.iter().filter(|function| !function.is_kernel) {
        any.ordered |= function.ordered;
        any.volatile |= function.volatile;
        any.registers = any.registers.max(function.registers);
    }
    for reached in all.iter_mut().filter(|reached| reached.unbounded) {
        reached.add(&any);
    }
    all
}
