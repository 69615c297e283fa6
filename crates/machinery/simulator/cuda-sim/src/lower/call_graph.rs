//! The call graph: resources that kernels and functions need, including everything that they call.

use super::error::LoadError;
use super::layout::{self, Layout};
use crate::device::DeviceSpec;
use crate::exec::sm::Program;
use crate::isa::Kernel;
use crate::ptx::ast;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

/// The minimum register limit of a thread. The assembler ignores launch bounds that would allow fewer.
const MIN_REGISTERS: u32 = 16;

/// Creates the driver's description of a kernel. `number` is the kernel's function in the program, and
/// `resources` the resources of that function with all its callees.
pub fn kernel(
    layout: &Layout,
    function: &ast::Function,
    number: usize,
    resources: &Resources,
    device: &DeviceSpec,
) -> Result<Kernel, LoadError> {
    let params = layout::parameters(function, device)?;
    Ok(Kernel {
        name: function.name.to_owned(),
        function: number,
        param_bytes: params.last().map_or(0, |last| last.offset + last.size),
        params,
        shared_bytes: layout.shared_bytes.get(function.name).copied().unwrap_or(0) as u32,
        local_bytes: resources.local_bytes,
        const_bytes: layout.constants.map_or(0, |(_, bytes)| bytes as u32),
        registers: resources.registers,
        register_bound: register_bound(function, device),
        max_threads: function.max_threads,
        required_threads: function.required_threads,
        required_cluster: function.required_cluster,
        explicit_cluster: function.explicit_cluster,
        max_cluster_rank: function.max_cluster_rank,
        shared_variables: (layout.shared_variables.get(function.name).cloned()).unwrap_or_default(),
        extern_arrays: layout.extern_arrays.get(function.name).cloned(),
        ordered: resources.ordered,
        volatile: resources.volatile,
        uses_heap: resources.uses_heap,
        unbounded: resources.unbounded,
    })
}

/// The register allocation granularity of a warp.
const REGISTER_UNIT: u32 = 256;

/// Returns the maximum registers per thread for which the blocks promised by a kernel's launch bounds fit
/// into a streaming multiprocessor; `None` if the kernel has no launch bounds.
fn register_bound(function: &ast::Function, device: &DeviceSpec) -> Option<u32> {
    let threads = function.max_threads.or(function.required_threads);
    let occupancy_bound = threads.map(|threads| {
        let threads = threads.into_iter().fold(1, u32::saturating_mul);
        let warps_per_block = threads.div_ceil(device.warp_size).max(1);
        let blocks = function.min_blocks_per_sm.unwrap_or(1).max(1);
        let warps = warps_per_block.saturating_mul(blocks);
        let registers_per_warp = device.registers_per_multiprocessor / warps;
        registers_per_warp / REGISTER_UNIT * REGISTER_UNIT / device.warp_size
    });
    let bounds = occupancy_bound.into_iter().chain(function.max_registers);
    // The assembler ignores bounds that leave a thread next to no registers.
    bounds.min().map(|bound| bound.max(MIN_REGISTERS))
}

/// The combined resources of a function and all functions that it calls.
#[derive(Debug, Clone, Default)]
pub struct Resources {
    /// Bytes of stack per thread for the function and the deepest call chain from it. Functions of a
    /// recursive cycle count once each.
    local_bytes: u32,
    /// The maximum registers of any of these functions.
    registers: u32,
    /// True if the result is only reproducible when blocks run in order.
    ordered: bool,
    /// True if any of them has volatile or ordered loads or stores of device memory.
    volatile: bool,
    /// True if any of them calls `malloc` or `free`.
    uses_heap: bool,
    /// True if the call depth is unknown, because of recursion or calls through pointers.
    unbounded: bool,
}

impl Resources {
    /// Merges a callee's resources, except for its stack.
    fn add(&mut self, other: &Resources) {
        self.registers = self.registers.max(other.registers);
        self.ordered |= other.ordered;
        self.volatile |= other.volatile;
        self.uses_heap |= other.uses_heap;
        self.unbounded |= other.unbounded;
    }
}

/// Computes the resources of each function of the program. Iterates over strongly connected components
/// instead of recursing, because call chains may be as long as there are functions.
pub fn resources(program: &Program) -> Vec<Resources> {
    let functions = &program.functions;
    let mut calls = DiGraph::<(), ()>::with_capacity(functions.len(), functions.len());
    let nodes: Vec<NodeIndex> = functions.iter().map(|_| calls.add_node(())).collect();
    for (number, function) in functions.iter().enumerate() {
        for &callee in &function.calls {
            calls.add_edge(nodes[number], nodes[callee], ());
        }
    }
    let mut all = vec![Resources::default(); functions.len()];
    let mut component_of = vec![usize::MAX; functions.len()];
    // Kosaraju's algorithm yields callees before their callers.
    for (id, component) in kosaraju_scc(&calls).into_iter().enumerate() {
        for node in &component {
            component_of[node.index()] = id;
        }
        let mut resources = Resources::default();
        let mut deepest = 0;
        for function in component.iter().map(|node| &functions[node.index()]) {
            resources.local_bytes = resources
                .local_bytes
                .saturating_add(function.local_bytes.next_multiple_of(16));
            resources.add(&Resources {
                local_bytes: 0,
                registers: function.registers,
                ordered: function.ordered,
                volatile: function.volatile,
                uses_heap: function.uses_heap,
                unbounded: function.calls_pointers,
            });
            for &callee in &function.calls {
                // Callees in the same component still have the default of 0.
                deepest = deepest.max(all[callee].local_bytes);
                resources.add(&all[callee]);
                resources.unbounded |= component_of[callee] == id;
            }
        }
        resources.local_bytes = resources.local_bytes.saturating_add(deepest);
        for node in component {
            all[node.index()] = resources.clone();
        }
    }
    // A function pointer may refer to any function.
    let mut any_function = Resources::default();
    for function in functions.iter().filter(|function| !function.is_kernel) {
        any_function.ordered |= function.ordered;
        any_function.volatile |= function.volatile;
        any_function.uses_heap |= function.uses_heap;
        any_function.registers = any_function.registers.max(function.registers);
    }
    for resources in all.iter_mut().filter(|resources| resources.unbounded) {
        resources.add(&any_function);
    }
    all
}
