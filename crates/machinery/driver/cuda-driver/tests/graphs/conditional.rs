//! Conditional nodes: handles, bodies, their selection, and what they do not allow.

use super::*;
use cuda_driver::types::graph::{ConditionalNodeParams, NodeParams};

/// A kernel that decrements a word and sets a handle to it.
const PTX: &CStr = c"
.version 6.4
.target sm_52
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry count_down(.param .u64 at, .param .u64 handle)
{
    .reg .u64 %rd<3>; .reg .u32 %r<2>;
    ld.param.u64 %rd1, [at];
    ld.param.u64 %rd2, [handle];
    ld.global.u32 %r1, [%rd1];
    sub.u32 %r1, %r1, 1;
    st.global.u32 [%rd1], %r1;
    { .param .b64 h; .param .b32 v; st.param.b64 [h], %rd2; st.param.b32 [v], %r1;
      call.uni cudaGraphSetConditional, (h, v); }
    ret;
}";

const IF: c_int = 0;
const WHILE: c_int = 1;
const SWITCH: c_int = 2;

/// Creates a handle with a default value.
fn handle(graph: CUgraph, value: u32) -> u64 {
    let (mut handle, mut context) = (0, null_mut());
    calls! {
        cuCtxGetCurrent(&mut context);
        cuGraphConditionalHandleCreate(&mut handle, graph, context, value, 1);
        cuGraphConditionalHandleCreate(&mut 0, graph, null_mut(), value, 1) => 201;
    }
    handle
}

/// Adds a conditional node. Returns the result of the call, the node and its graphs.
fn add(
    graph: CUgraph,
    after: &[CUgraphNode],
    (handle, kind, size): (u64, c_int, u32),
) -> (c_int, CUgraphNode, Vec<CUgraph>) {
    // SAFETY: zero is a valid value of every field.
    let mut params: NodeParams = unsafe { std::mem::zeroed() };
    params.kind = 13;
    params.payload.conditional = ConditionalNodeParams {
        handle,
        kind,
        size,
        graphs: null_mut(),
        ctx: null_mut(),
    };
    let mut node = null_mut();
    let code = code!(cuGraphAddNode(
        &mut node,
        graph,
        after.as_ptr(),
        after.len(),
        &mut params
    ));
    let graphs = match code {
        // SAFETY: a successful call stores the list of `size` graphs.
        0 => unsafe {
            let list = params.payload.conditional.graphs;
            std::slice::from_raw_parts(list, size as usize).to_vec()
        },
        _ => Vec::new(),
    };
    (code, node, graphs)
}

#[test]
fn a_loop_runs_until_a_kernel_ends_it() {
    let simulator = Simulator::new();
    let graph = graph();
    let again = handle(graph, 1);
    let (_, node, bodies) = add(graph, &[], (again, WHILE, 1));
    assert_eq!(node_type(node), 13);
    let counter = allocate(4);
    let count_down = function(module(PTX), c"count_down");
    let (mut at, mut of) = (counter, again);
    let mut arguments: [*mut c_void; 2] = [(&raw mut at).cast(), (&raw mut of).cast()];
    let mut counting = null_mut();
    simulator.params(count_down, 0, |params| {
        params.kernel_params = arguments.as_mut_ptr();
        params.block = [1; 3];
        calls! { cuGraphAddKernelNode_v2(&mut counting, bodies[0], null(), 0, params); }
    });
    simulator.kernel_node(bodies[0], &[counting], simulator.add, 2);
    simulator.kernel_node(graph, &[node], simulator.times, 10);
    let exec = executable(graph);
    for (start, expected) in [(3, 60), (1, 620)] {
        calls! { cuMemsetD32_v2(counter, start, 1); }
        run(exec);
        assert_eq!(simulator.value(), expected);
    }
}

#[test]
fn values_select_graphs() {
    let simulator = Simulator::new();
    for (value, (kind, size), expected) in [
        (0, (IF, 1), 0),
        (5, (IF, 1), 1),
        (0, (IF, 2), 2),
        (0, (SWITCH, 3), 1),
        (2, (SWITCH, 3), 3),
        (3, (SWITCH, 3), 0),
        (0, (WHILE, 1), 0),
    ] {
        let graph = graph();
        let fill = simulator.fill_node(graph, &[], 0);
        let (_, _, bodies) = add(graph, &[fill], (handle(graph, value), kind, size));
        for (number, body) in (1..).zip(bodies) {
            simulator.kernel_node(body, &[], simulator.add, number);
        }
        run(executable(graph));
        assert_eq!(simulator.value(), expected, "{value} {kind} {size}");
    }
}

#[test]
fn invalid_conditional_nodes_are_rejected() {
    let simulator = Simulator::new();
    let (graph, other) = (graph(), graph());
    let own = handle(graph, 1);
    for params in [
        (own, IF, 0),
        (own, IF, 3),
        (own, WHILE, 2),
        (own, SWITCH, 0),
        (own, 3, 1),
        (own + 1, IF, 1),
    ] {
        assert_eq!(add(graph, &[], params).0, 1, "{params:?}");
    }
    assert_eq!(add(other, &[], (own, IF, 1)).0, 1);
    let (_, _, bodies) = add(graph, &[], (own, IF, 1));
    assert_eq!(add(graph, &[], (own, IF, 1)).0, 1);
    let (mut node, mut clone, mut exec, mut calls) = (null_mut(), null_mut(), null_mut(), 0);
    let host = counting_node(&mut calls);
    calls! {
        cuGraphAddHostNode(&mut node, bodies[0], null(), 0, &host);
        cuGraphInstantiateWithFlags(&mut exec, graph, 0) => 1;
        cuGraphDestroyNode(node);
        cuGraphAddChildGraphNode(&mut node, other, null(), 0, graph) => 801;
        cuGraphClone(&mut clone, graph) => 801;
        cuGraphConditionalHandleCreate(&mut 0, graph, null_mut(), 0, 2) => 1;
    }
    // A node in the body may use a handle of the graph around it.
    let nested = add(bodies[0], &[], (handle(graph, 1), IF, 1)).2;
    simulator.kernel_node(nested[0], &[], simulator.add, 9);
    run(executable(graph));
    assert_eq!(simulator.value(), 9);
}
