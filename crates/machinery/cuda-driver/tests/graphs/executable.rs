//! Executable graphs: what is refused, and what can be changed.

use super::*;
use cuda_driver::types::graph::{InstantiateParams, UpdateResult};
use std::ffi::CStr;

/// A graph that fills the words, and adds to them.
fn filled_and_added(simulator: &Simulator, value: u32, by: u32) -> (CUgraph, [CUgraphNode; 2]) {
    let graph = graph();
    let fill = simulator.fill_node(graph, &[], value);
    let add = simulator.kernel_node(graph, &[fill], simulator.add, by);
    (graph, [fill, add])
}

#[test]
fn nodes_that_wait_for_each_other_are_named() {
    let simulator = Simulator::new();
    let (graph, [fill, add]) = filled_and_added(&simulator, 1, 1);
    // SAFETY: the lists are as long as is said, and all results can be written to.
    unsafe {
        ok(cu::cuGraphAddDependencies(graph, &add, &fill, 1));
        let (mut made, mut node, mut log) = (null_mut(), null_mut(), [1; 16]);
        let to = log.as_mut_ptr();
        assert_eq!(
            cu::cuGraphInstantiate_v2(&mut made, graph, &mut node, to, 16),
            1
        );
        assert_eq!(node, fill);
        assert_eq!(CStr::from_ptr(to), c"nodes of the gr");
        let mut how = InstantiateParams {
            flags: 0,
            upload_stream: null_mut(),
            error_node: null_mut(),
            result: -1,
        };
        assert_eq!(
            cu::cuGraphInstantiateWithParams(&mut made, graph, &mut how),
            1
        );
        assert_eq!((how.result, how.error_node), (2, fill));
        ok(cu::cuGraphRemoveDependencies(graph, &add, &fill, 1));
        ok(cu::cuGraphInstantiateWithParams(&mut made, graph, &mut how));
        assert_eq!((how.result, how.error_node), (0, null_mut()));
        ok(cu::cuGraphInstantiate(&mut made, graph, &mut node, to, 16));
        assert_eq!((node, log[0]), (null_mut(), 0));
        run(made);
    }
    assert_eq!(simulator.value(), 2);
}

#[test]
fn flags_are_kept_and_what_the_simulator_lacks_is_refused() {
    let simulator = Simulator::new();
    let (graph, _) = filled_and_added(&simulator, 1, 1);
    let (mut made, mut flags) = (null_mut(), 0);
    // SAFETY: the results can be written to.
    unsafe {
        ok(cu::cuGraphInstantiateWithFlags(&mut made, graph, 1 | 8));
        ok(cu::cuGraphExecGetFlags(made, &mut flags));
        assert_eq!(flags, 9);
        ok(cu::cuGraphUpload(made, null_mut()));
        // A launch by kernels, what excludes it, and a flag that there is not.
        for (flags, answer) in [(4, 801), (1 | 4, 1), (16, 1)] {
            assert_eq!(
                cu::cuGraphInstantiateWithFlags(&mut made, graph, flags),
                answer
            );
        }
    }
}

#[test]
fn nodes_of_an_executable_graph_change_alone() {
    let simulator = Simulator::new();
    let (graph, [fill, add]) = filled_and_added(&simulator, 1, 1);
    let made = executable(graph);
    let (mut calls, mut others, mut words) = (0, 0, [0_u32; WORDS]);
    let (mut host, mut read) = (null_mut(), null_mut());
    let copy = read_back(simulator.words, words.as_mut_ptr());
    // SAFETY: the lists are as long as is said, and host memory outlives the launches.
    unsafe {
        simulator.params(simulator.times, 9, |how| {
            ok(cu::cuGraphExecKernelNodeSetParams_v2(made, add, how));
        });
        let memset = simulator.fill(2);
        ok(cu::cuGraphExecMemsetNodeSetParams(
            made,
            fill,
            &memset,
            null_mut(),
        ));
        run(made);
        assert_eq!(simulator.value(), 18);
        run(executable(graph));
        assert_eq!(simulator.value(), 2);
        // Fills of several rows cannot be put in.
        let mut rows = memset;
        (rows.width, rows.height, rows.pitch) = (4, 2, 64);
        assert_eq!(
            cu::cuGraphExecMemsetNodeSetParams(made, fill, &rows, null_mut()),
            1
        );
        // A node of another type, and one that is not of this graph.
        assert_eq!(
            cu::cuGraphExecMemsetNodeSetParams(made, add, &memset, null_mut()),
            1
        );
        let call = counting(&mut calls);
        ok(cu::cuGraphAddHostNode(&mut host, graph, &add, 1, &call));
        assert_eq!(cu::cuGraphExecHostNodeSetParams(made, host, &call), 1);
        ok(cu::cuGraphAddMemcpyNode(
            &mut read,
            graph,
            &add,
            1,
            &copy,
            null_mut(),
        ));
        let made = executable(graph);
        ok(cu::cuGraphExecHostNodeSetParams(
            made,
            host,
            &counting(&mut others),
        ));
        let mut to = words;
        let copy = read_back(simulator.words, to.as_mut_ptr());
        ok(cu::cuGraphExecMemcpyNodeSetParams(
            made,
            read,
            &copy,
            null_mut(),
        ));
        run(made);
        assert_eq!((calls, (&raw const others).read_volatile()), (0, 1));
        assert_eq!((words, to), ([0; WORDS], [2; WORDS]));
    }
}

#[test]
fn a_disabled_node_is_not_done_and_keeps_its_place() {
    let simulator = Simulator::new();
    let (graph, [_, add]) = filled_and_added(&simulator, 1, 1);
    let times = simulator.kernel_node(graph, &[add], simulator.times, 5);
    let mut empty = null_mut();
    // SAFETY: the lists are as long as is said, and the results can be written to.
    unsafe {
        ok(cu::cuGraphAddEmptyNode(&mut empty, graph, null(), 0));
        let (made, mut enabled) = (executable(graph), 7);
        ok(cu::cuGraphNodeSetEnabled(made, add, 0));
        ok(cu::cuGraphNodeGetEnabled(made, add, &mut enabled));
        assert_eq!(enabled, 0);
        run(made);
        assert_eq!(simulator.value(), 5);
        ok(cu::cuGraphNodeSetEnabled(made, add, 1));
        ok(cu::cuGraphNodeGetEnabled(made, times, &mut enabled));
        assert_eq!(enabled, 1);
        run(made);
        assert_eq!(simulator.value(), 10);
        assert_eq!(cu::cuGraphNodeSetEnabled(made, empty, 0), 1);
        assert_eq!(cu::cuGraphNodeGetEnabled(made, empty, &mut enabled), 1);
    }
}

#[test]
fn an_executable_graph_becomes_one_of_the_same_shape() {
    let simulator = Simulator::new();
    let (first, [_, add]) = filled_and_added(&simulator, 1, 1);
    let (second, _) = filled_and_added(&simulator, 10, 20);
    let made = executable(first);
    let mut info = UpdateResult {
        result: -1,
        error_node: null_mut(),
        error_from_node: null_mut(),
    };
    // SAFETY: the results can be written to.
    unsafe {
        ok(cu::cuGraphExecUpdate_v2(made, second, &mut info));
        assert_eq!(info.result, 0);
        run(made);
        assert_eq!(simulator.value(), 30);
        // Its nodes are known by the first graph's still.
        simulator.params(simulator.add, 3, |how| {
            ok(cu::cuGraphExecKernelNodeSetParams_v2(made, add, how));
        });
        run(made);
        assert_eq!(simulator.value(), 13);
    }
}

/// The update's result and the node it names, for a graph into which no executable graph of `first` can be
/// made.
fn refused(first: CUgraph, second: CUgraph) -> (c_int, CUgraphNode) {
    let (mut node, mut result) = (null_mut(), -1);
    // SAFETY: the results can be written to.
    unsafe {
        let made = executable(first);
        assert_eq!(
            cu::cuGraphExecUpdate(made, second, &mut node, &mut result),
            910
        );
        ok(cu::cuGraphExecDestroy(made));
    }
    (result, node)
}

#[test]
fn a_graph_of_another_shape_is_refused_and_says_why() {
    let simulator = Simulator::new();
    let (first, _) = filled_and_added(&simulator, 1, 1);
    // A node more.
    let (second, [fill, add]) = filled_and_added(&simulator, 1, 1);
    let more = simulator.kernel_node(second, &[], simulator.add, 1);
    assert_eq!(refused(first, second), (2, null_mut()));
    // SAFETY: the lists are as long as is said.
    unsafe {
        ok(cu::cuGraphDestroyNode(more));
        // An edge less.
        ok(cu::cuGraphRemoveDependencies(second, &fill, &add, 1));
        assert_eq!(refused(first, second), (2, add));
        // Another type.
        let third = graph();
        let fill = simulator.fill_node(third, &[], 1);
        let fill = simulator.fill_node(third, &[fill], 1);
        assert_eq!(refused(first, third), (3, fill));
        // Another attribute.
        let (fourth, [_, add]) = filled_and_added(&simulator, 1, 1);
        let one = [1_i32; 16];
        ok(cu::cuGraphKernelNodeSetAttribute(
            add,
            2,
            one.as_ptr().cast(),
        ));
        assert_eq!(refused(first, fourth), (8, add));
        // A fill that becomes one of several rows.
        let fifth = graph();
        let mut rows = simulator.fill(1);
        (rows.width, rows.height, rows.pitch) = (4, 2, 64);
        let mut fill = null_mut();
        ok(cu::cuGraphAddMemsetNode(
            &mut fill,
            fifth,
            null(),
            0,
            &rows,
            null_mut(),
        ));
        simulator.kernel_node(fifth, &[fill], simulator.add, 1);
        assert_eq!(refused(first, fifth), (5, fill));
        // What is refused changes nothing, and no graph is no graph.
        let (made, mut node, mut result) = (executable(first), null_mut(), -1);
        assert_eq!(
            cu::cuGraphExecUpdate(made, null_mut(), &mut node, &mut result),
            1
        );
        assert_eq!(result, 1);
        run(made);
    }
    assert_eq!(simulator.value(), 2);
}

#[test]
fn child_graphs_of_executable_graphs_change_too() {
    let simulator = Simulator::new();
    let outer = graph();
    let (inner, _) = filled_and_added(&simulator, 1, 1);
    let (other, _) = filled_and_added(&simulator, 5, 5);
    let (larger, [_, add]) = filled_and_added(&simulator, 5, 5);
    simulator.kernel_node(larger, &[add], simulator.add, 1);
    let (mut child, mut owned) = (null_mut(), null_mut());
    // SAFETY: the lists are as long as is said.
    unsafe {
        ok(cu::cuGraphAddChildGraphNode(
            &mut child,
            outer,
            null(),
            0,
            inner,
        ));
        ok(cu::cuGraphChildGraphNodeGetGraph(child, &mut owned));
        let made = executable(outer);
        ok(cu::cuGraphExecChildGraphNodeSetParams(made, child, other));
        run(made);
        assert_eq!(simulator.value(), 10);
        assert_eq!(
            cu::cuGraphExecChildGraphNodeSetParams(made, child, larger),
            1
        );
        // A node below is known by its number in the graph.
        simulator.params(simulator.times, 7, |how| {
            let add = nodes(owned)[1];
            ok(cu::cuGraphExecKernelNodeSetParams_v2(made, add, how));
        });
        run(made);
        assert_eq!(simulator.value(), 35);
        run(executable(outer));
        assert_eq!(simulator.value(), 2);
    }
}
