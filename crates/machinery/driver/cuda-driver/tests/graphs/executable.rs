//! Executable graphs: rejected instantiations and updates.

use super::*;
use cuda_driver::types::graph::{InstantiateParams, UpdateResult};

/// Creates a graph that fills the words with `value` and then adds `by` to them.
fn fill_add_graph(simulator: &Simulator, value: u32, by: u32) -> (CUgraph, [CUgraphNode; 2]) {
    let graph = graph();
    let fill = simulator.fill_node(graph, &[], value);
    let add = simulator.kernel_node(graph, &[fill], simulator.add, by);
    (graph, [fill, add])
}

#[test]
fn dependency_cycles_are_reported_with_a_node() {
    let simulator = Simulator::new();
    let (graph, [fill, add]) = fill_add_graph(&simulator, 1, 1);
    calls! { cuGraphAddDependencies(graph, &add, &fill, 1); }
    let (mut exec, mut node, mut log) = (null_mut(), null_mut(), [1_u8; 16]);
    let to = log.as_mut_ptr().cast();
    calls! { cuGraphInstantiate_v2(&mut exec, graph, &mut node, to, 16) => 1; }
    assert_eq!(node, fill);
    assert_eq!(log, *b"the graph has a\0");
    let mut params = InstantiateParams {
        flags: 0,
        upload_stream: null_mut(),
        error_node: null_mut(),
        result: -1,
    };
    calls! { cuGraphInstantiateWithParams(&mut exec, graph, &mut params) => 1; }
    assert_eq!((params.result, params.error_node), (2, fill));
    calls! {
        cuGraphRemoveDependencies(graph, &add, &fill, 1);
        cuGraphInstantiateWithParams(&mut exec, graph, &mut params);
    }
    assert_eq!((params.result, params.error_node), (0, null_mut()));
    calls! { cuGraphInstantiate(&mut exec, graph, &mut node, to, 16); }
    assert_eq!((node, log[0]), (null_mut(), 0));
    run(exec);
    assert_eq!(simulator.value(), 2);
}

#[test]
fn flags_are_stored_and_unsupported_ones_rejected() {
    let simulator = Simulator::new();
    let (graph, _) = fill_add_graph(&simulator, 1, 1);
    let (mut exec, mut flags) = (null_mut(), 0);
    calls! {
        cuGraphInstantiateWithFlags(&mut exec, graph, 1 | 8);
        cuGraphExecGetFlags(exec, &mut flags);
    }
    assert_eq!(flags, 9);
    calls! { cuGraphUpload(exec, null_mut()); }
    // Device launch, the flag that excludes it, and an unknown flag.
    for (flags, expected) in [(4, 801), (1 | 4, 1), (16, 1)] {
        calls! { cuGraphInstantiateWithFlags(&mut exec, graph, flags) => expected; }
    }
}

#[test]
fn executable_graph_nodes_change_independently() {
    let simulator = Simulator::new();
    let (graph, [fill, add]) = fill_add_graph(&simulator, 1, 1);
    let exec = executable(graph);
    let (mut calls, mut others, mut words) = (0, 0, [0_u32; WORDS]);
    let (mut host, mut read) = (null_mut(), null_mut());
    let copy = read_back(simulator.words, words.as_mut_ptr());
    simulator.params(simulator.times, 9, |params| {
        calls! { cuGraphExecKernelNodeSetParams_v2(exec, add, params); }
    });
    let memset = simulator.fill(2);
    calls! { cuGraphExecMemsetNodeSetParams(exec, fill, &memset, null_mut()); }
    run(exec);
    assert_eq!(simulator.value(), 18);
    run(executable(graph));
    assert_eq!(simulator.value(), 2);
    // Fills of several rows are rejected.
    let mut rows = memset;
    (rows.width, rows.height, rows.pitch) = (4, 2, 64);
    calls! {
        cuGraphExecMemsetNodeSetParams(exec, fill, &rows, null_mut()) => 1;
        // A node of another type, and one of another graph.
        cuGraphExecMemsetNodeSetParams(exec, add, &memset, null_mut()) => 1;
    }
    let call = counting_node(&mut calls);
    calls! {
        cuGraphAddHostNode(&mut host, graph, &add, 1, &call);
        cuGraphExecHostNodeSetParams(exec, host, &call) => 1;
        cuGraphAddMemcpyNode(&mut read, graph, &add, 1, &copy, null_mut());
    }
    let exec = executable(graph);
    calls! { cuGraphExecHostNodeSetParams(exec, host, &counting_node(&mut others)); }
    let mut to = words;
    let copy = read_back(simulator.words, to.as_mut_ptr());
    calls! { cuGraphExecMemcpyNodeSetParams(exec, read, &copy, null_mut()); }
    run(exec);
    assert_eq!((calls, reread(&others)), (0, 1));
    assert_eq!((words, to), ([0; WORDS], [2; WORDS]));
}

#[test]
fn disabled_nodes_are_skipped_and_keep_the_order() {
    let simulator = Simulator::new();
    let (graph, [_, add]) = fill_add_graph(&simulator, 1, 1);
    let times = simulator.kernel_node(graph, &[add], simulator.times, 5);
    let mut empty = null_mut();
    calls! { cuGraphAddEmptyNode(&mut empty, graph, null(), 0); }
    let (exec, mut enabled) = (executable(graph), 7);
    calls! {
        cuGraphNodeSetEnabled(exec, add, 0);
        cuGraphNodeGetEnabled(exec, add, &mut enabled);
    }
    assert_eq!(enabled, 0);
    run(exec);
    assert_eq!(simulator.value(), 5);
    calls! {
        cuGraphNodeSetEnabled(exec, add, 1);
        cuGraphNodeGetEnabled(exec, times, &mut enabled);
    }
    assert_eq!(enabled, 1);
    run(exec);
    assert_eq!(simulator.value(), 10);
    calls! {
        cuGraphNodeSetEnabled(exec, empty, 0) => 1;
        cuGraphNodeGetEnabled(exec, empty, &mut enabled) => 1;
    }
}

#[test]
fn executable_graphs_update_to_the_same_topology() {
    let simulator = Simulator::new();
    let (first, [_, add]) = fill_add_graph(&simulator, 1, 1);
    let (second, _) = fill_add_graph(&simulator, 10, 20);
    let exec = executable(first);
    let mut info = UpdateResult {
        result: -1,
        error_node: null_mut(),
        error_from_node: null_mut(),
    };
    calls! { cuGraphExecUpdate_v2(exec, second, &mut info); }
    assert_eq!(info.result, 0);
    run(exec);
    assert_eq!(simulator.value(), 30);
    // The handles of the first graph's nodes stay valid.
    simulator.params(simulator.add, 3, |params| {
        calls! { cuGraphExecKernelNodeSetParams_v2(exec, add, params); }
    });
    run(exec);
    assert_eq!(simulator.value(), 13);
}

/// Returns the result of a failing update of an executable graph of `first` to `second`, and the node it names.
fn failed_update(first: CUgraph, second: CUgraph) -> (c_int, CUgraphNode) {
    let (mut node, mut result) = (null_mut(), -1);
    let exec = executable(first);
    calls! {
        cuGraphExecUpdate(exec, second, &mut node, &mut result) => 910;
        cuGraphExecDestroy(exec);
    }
    (result, node)
}

#[test]
fn updates_to_another_topology_are_rejected_with_a_reason() {
    let simulator = Simulator::new();
    let (first, _) = fill_add_graph(&simulator, 1, 1);
    // An additional node.
    let (second, [fill, add]) = fill_add_graph(&simulator, 1, 1);
    let more = simulator.kernel_node(second, &[], simulator.add, 1);
    assert_eq!(failed_update(first, second), (2, null_mut()));
    calls! {
        cuGraphDestroyNode(more);
        // A missing edge.
        cuGraphRemoveDependencies(second, &fill, &add, 1);
    }
    assert_eq!(failed_update(first, second), (2, add));
    // Another node type.
    let third = graph();
    let fill = simulator.fill_node(third, &[], 1);
    let fill = simulator.fill_node(third, &[fill], 1);
    assert_eq!(failed_update(first, third), (3, fill));
    // Another attribute.
    let (fourth, [_, add]) = fill_add_graph(&simulator, 1, 1);
    let one = [1_i32; 16];
    calls! { cuGraphKernelNodeSetAttribute(add, 2, one.as_ptr().cast()); }
    assert_eq!(failed_update(first, fourth), (8, add));
    // A fill of one row becomes one of several rows.
    let fifth = graph();
    let mut rows = simulator.fill(1);
    (rows.width, rows.height, rows.pitch) = (4, 2, 64);
    let mut fill = null_mut();
    calls! { cuGraphAddMemsetNode(&mut fill, fifth, null(), 0, &rows, null_mut()); }
    simulator.kernel_node(fifth, &[fill], simulator.add, 1);
    assert_eq!(failed_update(first, fifth), (5, fill));
    // A rejected update changes nothing, and an invalid graph is an error.
    let (exec, mut node, mut result) = (executable(first), null_mut(), -1);
    calls! { cuGraphExecUpdate(exec, null_mut(), &mut node, &mut result) => 1; }
    assert_eq!(result, 1);
    run(exec);
    assert_eq!(simulator.value(), 2);
}

#[test]
fn child_graphs_of_executable_graphs_can_be_updated() {
    let simulator = Simulator::new();
    let outer = graph();
    let (inner, _) = fill_add_graph(&simulator, 1, 1);
    let (other, _) = fill_add_graph(&simulator, 5, 5);
    let (larger, [_, add]) = fill_add_graph(&simulator, 5, 5);
    simulator.kernel_node(larger, &[add], simulator.add, 1);
    let (mut child, mut owned) = (null_mut(), null_mut());
    calls! {
        cuGraphAddChildGraphNode(&mut child, outer, null(), 0, inner);
        cuGraphChildGraphNodeGetGraph(child, &mut owned);
    }
    let exec = executable(outer);
    calls! { cuGraphExecChildGraphNodeSetParams(exec, child, other); }
    run(exec);
    assert_eq!(simulator.value(), 10);
    calls! { cuGraphExecChildGraphNodeSetParams(exec, child, larger) => 910; }
    // A child graph's node has the handle that it has in the original graph.
    simulator.params(simulator.times, 7, |params| {
        let add = nodes(owned)[1];
        calls! { cuGraphExecKernelNodeSetParams_v2(exec, add, params); }
    });
    run(exec);
    assert_eq!(simulator.value(), 35);
    run(executable(outer));
    assert_eq!(simulator.value(), 2);
}
