//! Graphs that are made by hand.

use super::*;
use cuda_driver::types::graph::{EdgeData, NodeParams};
use cust::sys::CUDA_KERNEL_NODE_PARAMS;

#[test]
fn nodes_are_done_in_the_order_of_their_edges_as_often_as_launched() {
    let simulator = Simulator::new();
    let (graph, mut calls, mut words) = (graph(), 0, [0_u32; WORDS]);
    let fill = simulator.fill_node(graph, &[], 7);
    let add = simulator.kernel_node(graph, &[fill], simulator.add, 5);
    let times = simulator.kernel_node(graph, &[add], simulator.times, 3);
    let (mut read, mut host, mut empty) = (null_mut(), null_mut(), null_mut());
    let copy = read_back(simulator.words, words.as_mut_ptr());
    let call = counting(&mut calls);
    // SAFETY: the lists are as long as is said, and host memory outlives the launches.
    unsafe {
        ok(cu::cuGraphAddMemcpyNode(
            &mut read,
            graph,
            &times,
            1,
            &copy,
            null_mut(),
        ));
        ok(cu::cuGraphAddHostNode(&mut host, graph, &read, 1, &call));
        ok(cu::cuGraphAddEmptyNode(
            &mut empty,
            graph,
            [host, fill].as_ptr(),
            2,
        ));
    }
    let made = executable(graph);
    for launches in 1..=20 {
        words = [0; WORDS];
        run(made);
        assert_eq!(words, [(7 + 5) * 3; WORDS]);
        // SAFETY: the graph's launch has ended.
        assert_eq!(unsafe { (&raw const calls).read_volatile() }, launches);
    }
    let all = [fill, add, times, read, host, empty];
    assert_eq!(nodes(graph), all);
    assert_eq!(all.map(node_type), [2, 0, 0, 1, 3, 5]);
    assert_eq!(dependencies(empty), [host, fill]);
    // SAFETY: any handles may be named.
    unsafe {
        ok(cu::cuGraphExecDestroy(made));
        ok(cu::cuGraphDestroy(graph));
        assert_eq!(cu::cuGraphLaunch(made, null_mut()), 1);
        assert_eq!(cu::cuGraphDestroy(graph), 1);
    }
}

#[test]
fn an_executable_graph_stays_when_its_graph_changes_or_goes() {
    let simulator = Simulator::new();
    let graph = graph();
    let fill = simulator.fill_node(graph, &[], 7);
    let made = executable(graph);
    simulator.kernel_node(graph, &[fill], simulator.add, 5);
    run(made);
    assert_eq!(simulator.value(), 7);
    run(executable(graph));
    assert_eq!(simulator.value(), 12);
    // SAFETY: any handle may be named.
    ok(unsafe { cu::cuGraphDestroy(graph) });
    run(made);
    assert_eq!(simulator.value(), 7);
}

#[test]
fn a_child_graph_is_a_copy_that_its_node_owns() {
    let simulator = Simulator::new();
    let (outer, inner) = (graph(), graph());
    let before = simulator.fill_node(outer, &[], 2);
    let inside = simulator.kernel_node(inner, &[], simulator.times, 10);
    let (mut child, mut owned) = (null_mut(), null_mut());
    // SAFETY: the lists are as long as is said.
    unsafe {
        ok(cu::cuGraphAddChildGraphNode(
            &mut child, outer, &before, 1, inner,
        ));
        ok(cu::cuGraphChildGraphNodeGetGraph(child, &mut owned));
    }
    simulator.kernel_node(outer, &[child], simulator.add, 1);
    // The graph that it was copied from may change and go.
    simulator.kernel_node(inner, &[inside], simulator.add, 100);
    // SAFETY: any handle may be named.
    ok(unsafe { cu::cuGraphDestroy(inner) });
    run(executable(outer));
    assert_eq!(simulator.value(), 21);
    // The copy may change too.
    let [last] = nodes(owned)[..] else { panic!() };
    simulator.kernel_node(owned, &[last], simulator.add, 100);
    run(executable(outer));
    assert_eq!(simulator.value(), 121);
    assert_eq!(node_type(child), 4);
    // SAFETY: any handles may be named.
    unsafe {
        assert_eq!(cu::cuGraphDestroy(owned), 1);
        ok(cu::cuGraphDestroyNode(child));
        let mut kind = 0;
        assert_eq!(cu::cuGraphNodeGetType(last, &mut kind), 1);
        assert_eq!(cu::cuGraphDestroy(owned), 1);
    }
    run(executable(outer));
    assert_eq!(nodes(outer).len(), 2);
}

#[test]
fn a_clone_is_a_graph_of_its_own() {
    let simulator = Simulator::new();
    let original = graph();
    let fill = simulator.fill_node(original, &[], 7);
    let add = simulator.kernel_node(original, &[fill], simulator.add, 5);
    let (mut copy, mut found) = (null_mut(), null_mut());
    // SAFETY: the handles can be written to.
    unsafe {
        ok(cu::cuGraphClone(&mut copy, original));
        ok(cu::cuGraphNodeFindInClone(&mut found, add, copy));
        assert_eq!(cu::cuGraphNodeFindInClone(&mut found, add, original), 1);
    }
    assert!(nodes(copy).contains(&found) && !nodes(original).contains(&found));
    assert_eq!(dependencies(found), [nodes(copy)[0]]);
    simulator.params(simulator.times, 5, |how| {
        // SAFETY: the parameters live.
        ok(unsafe { cu::cuGraphKernelNodeSetParams_v2(found, how) });
    });
    run(executable(original));
    assert_eq!(simulator.value(), 12);
    // SAFETY: any handles may be named, and results written to.
    ok(unsafe { cu::cuGraphDestroy(original) });
    run(executable(copy));
    assert_eq!(simulator.value(), 35);
}

#[test]
fn edges_are_listed_added_and_removed() {
    let simulator = Simulator::new();
    let graph = graph();
    let fill = simulator.fill_node(graph, &[], 1);
    let add = simulator.kernel_node(graph, &[], simulator.add, 1);
    let times = simulator.kernel_node(graph, &[add], simulator.times, 2);
    let (mut from, mut to) = ([null_mut(); 4], [null_mut(); 4]);
    let mut data = [EdgeData {
        kind: 9,
        ..EdgeData::default()
    }; 4];
    let mut count = 4;
    // SAFETY: the lists are as long as is said.
    unsafe {
        ok(cu::cuGraphAddDependencies(graph, &fill, &add, 1));
        ok(cu::cuGraphGetEdges(
            graph,
            null_mut(),
            null_mut(),
            &mut count,
        ));
        assert_eq!(count, 2);
        count = 4;
        let (befores, afters) = (from.as_mut_ptr(), to.as_mut_ptr());
        ok(cu::cuGraphGetEdges_v2(
            graph,
            befores,
            afters,
            data.as_mut_ptr(),
            &mut count,
        ));
        assert_eq!((count, &from[..3]), (2, &[fill, add, null_mut()][..]));
        assert_eq!((to[0], to[1], data[1]), (add, times, EdgeData::default()));
        let mut one = [null_mut(); 2];
        count = 2;
        ok(cu::cuGraphGetRootNodes(graph, one.as_mut_ptr(), &mut count));
        assert_eq!((count, one[0]), (1, fill));
        count = 2;
        ok(cu::cuGraphNodeGetDependentNodes(
            add,
            one.as_mut_ptr(),
            &mut count,
        ));
        assert_eq!((count, one[0]), (1, times));
        // An edge that is there, one of a node to itself, and one that is not there.
        assert_eq!(cu::cuGraphAddDependencies(graph, &fill, &add, 1), 1);
        assert_eq!(cu::cuGraphAddDependencies(graph, &fill, &fill, 1), 1);
        assert_eq!(cu::cuGraphRemoveDependencies(graph, &fill, &times, 1), 1);
        ok(cu::cuGraphRemoveDependencies_v2(
            graph,
            &add,
            &times,
            null(),
            1,
        ));
        assert_eq!(dependencies(times), []);
        let programmatic = EdgeData {
            kind: 1,
            ..EdgeData::default()
        };
        let refused = cu::cuGraphAddDependencies_v2(graph, &add, &times, &programmatic, 1);
        assert_eq!(refused, 801);
        ok(cu::cuGraphDestroyNode(add));
        ok(cu::cuGraphGetEdges(
            graph,
            null_mut(),
            null_mut(),
            &mut count,
        ));
        assert_eq!(count, 0);
    }
}

#[test]
fn what_nodes_do_can_be_asked_and_changed() {
    let simulator = Simulator::new();
    let graph = graph();
    let fill = simulator.fill_node(graph, &[], 3);
    let add = simulator.kernel_node(graph, &[fill], simulator.add, 4);
    // SAFETY: the structures can be written to; the node's arguments are there while it is.
    unsafe {
        let mut shown = std::mem::zeroed();
        ok(cu::cuGraphKernelNodeGetParams_v2(add, &mut shown));
        assert_eq!((shown.func, shown.block[0]), (simulator.add, WORDS as u32));
        assert_eq!(*(*shown.kernel_params).cast::<u64>(), simulator.words);
        assert_eq!(*(*shown.kernel_params.add(1)).cast::<u32>(), 4);
        assert!(!shown.ctx.is_null());
        // What was shown can be given back.
        shown.func = simulator.times;
        ok(cu::cuGraphKernelNodeSetParams_v2(add, &shown));
        let mut old: CUDA_KERNEL_NODE_PARAMS = std::mem::zeroed();
        ok(cu::cuGraphKernelNodeGetParams(add, &mut old));
        assert_eq!((old.func, old.gridDimX), (simulator.times, 1));
        old.func = simulator.add;
        ok(cu::cuGraphKernelNodeSetParams(add, &old));
        run(executable(graph));
        assert_eq!(simulator.value(), 7);

        let mut memset = std::mem::zeroed();
        ok(cu::cuGraphMemsetNodeGetParams(fill, &mut memset));
        assert_eq!(memset, simulator.fill(3));
        memset.value = 30;
        ok(cu::cuGraphMemsetNodeSetParams(fill, &memset));
        run(executable(graph));
        assert_eq!(simulator.value(), 34);
        assert_eq!(cu::cuGraphMemsetNodeGetParams(add, &mut memset), 1);
        assert_eq!(cu::cuGraphKernelNodeGetParams_v2(fill, &mut shown), 1);
    }
}

#[test]
fn copies_host_functions_and_events_can_be_asked_and_changed() {
    let simulator = Simulator::new();
    let graph = graph();
    let (mut first, mut second) = ([9_u32; WORDS], [9_u32; WORDS]);
    let (mut calls, mut others) = (0, 0);
    let (mut read, mut host, mut record, mut wait) =
        (null_mut(), null_mut(), null_mut(), null_mut());
    let (here, there) = (event(), event());
    // SAFETY: the lists are as long as is said, and host memory outlives the launches.
    unsafe {
        let copy = read_back(simulator.words, first.as_mut_ptr());
        ok(cu::cuGraphAddMemcpyNode(
            &mut read,
            graph,
            null(),
            0,
            &copy,
            null_mut(),
        ));
        let call = counting(&mut calls);
        ok(cu::cuGraphAddHostNode(&mut host, graph, &read, 1, &call));
        ok(cu::cuGraphAddEventRecordNode(
            &mut record,
            graph,
            &host,
            1,
            here,
        ));
        ok(cu::cuGraphAddEventWaitNode(
            &mut wait,
            graph,
            null(),
            0,
            here,
        ));
        let mut copy = read_back(0, null_mut());
        ok(cu::cuGraphMemcpyNodeGetParams(read, &mut copy));
        assert_eq!(
            (copy.srcDevice, copy.dstHost),
            (simulator.words, first.as_mut_ptr().cast())
        );
        copy.dstHost = second.as_mut_ptr().cast();
        ok(cu::cuGraphMemcpyNodeSetParams(read, &copy));
        let mut shown = counting(&mut others);
        ok(cu::cuGraphHostNodeSetParams(host, &shown));
        ok(cu::cuGraphHostNodeGetParams(host, &mut shown));
        assert_eq!(shown.userData, (&raw mut others).cast());
        let mut found = null_mut();
        ok(cu::cuGraphEventRecordNodeGetEvent(record, &mut found));
        assert_eq!(found, here);
        ok(cu::cuGraphEventRecordNodeSetEvent(record, there));
        ok(cu::cuGraphEventRecordNodeGetEvent(record, &mut found));
        assert_eq!(found, there);
        ok(cu::cuGraphEventWaitNodeSetEvent(wait, there));
        ok(cu::cuGraphEventWaitNodeGetEvent(wait, &mut found));
        assert_eq!(found, there);
        assert_eq!(cu::cuGraphEventWaitNodeGetEvent(record, &mut found), 1);
        assert_eq!([record, wait].map(node_type), [7, 6]);
        run(executable(graph));
        assert_eq!((first, second), ([9; WORDS], [0; WORDS]));
        assert_eq!((calls, (&raw const others).read_volatile()), (0, 1));
        // The event was recorded by the launch.
        let (mut milliseconds, after) = (-1.0, event());
        ok(cu::cuEventRecord(after, null_mut()));
        ok(cu::cuEventSynchronize(after));
        ok(cu::cuEventElapsedTime(&mut milliseconds, there, after));
        assert!(milliseconds >= 0.0);
        assert_eq!(cu::cuEventElapsedTime(&mut milliseconds, here, after), 400);
    }
}

#[test]
fn nodes_of_any_type_have_one_function() {
    let simulator = Simulator::new();
    let graph = graph();
    let (mut fill, mut add, mut empty) = (null_mut(), null_mut(), null_mut());
    // SAFETY: all zero is an empty node; each type's own parameters are written, and the lists are as long
    // as is said.
    unsafe {
        let mut how: NodeParams = std::mem::zeroed();
        how.kind = 2;
        let memset = simulator.fill(6);
        (how.of.memset.dst, how.of.memset.value) = (memset.dst, memset.value);
        (
            how.of.memset.element_size,
            how.of.memset.width,
            how.of.memset.height,
        ) = (4, WORDS, 1);
        ok(cu::cuGraphAddNode(&mut fill, graph, null(), 0, &mut how));
        how.kind = 0;
        simulator.params(simulator.times, 7, |kernel| {
            how.of.kernel = *kernel;
            ok(cu::cuGraphAddNode_v2(
                &mut add,
                graph,
                &fill,
                null(),
                1,
                &mut how,
            ));
            run(executable(graph));
            assert_eq!(simulator.value(), 42);
        });
        let made = executable(graph);
        simulator.params(simulator.add, 1, |kernel| {
            how.of.kernel = *kernel;
            ok(cu::cuGraphNodeSetParams(add, &mut how));
            run(made);
            assert_eq!(simulator.value(), 42);
            ok(cu::cuGraphExecNodeSetParams(made, add, &mut how));
            run(made);
            assert_eq!(simulator.value(), 7);
        });
        how.kind = 5;
        ok(cu::cuGraphAddNode(&mut empty, graph, null(), 0, &mut how));
        assert_eq!(cu::cuGraphNodeSetParams(add, &mut how), 1);
        // Conditional nodes, and a type that there is not.
        how.kind = 13;
        assert_eq!(
            cu::cuGraphAddNode(&mut empty, graph, null(), 0, &mut how),
            801
        );
        how.kind = 99;
        assert_eq!(
            cu::cuGraphAddNode(&mut empty, graph, null(), 0, &mut how),
            1
        );
    }
}

#[test]
fn kernels_have_attributes() {
    let simulator = Simulator::new();
    let graph = graph();
    let add = simulator.kernel_node(graph, &[], simulator.add, 1);
    let other = simulator.kernel_node(graph, &[add], simulator.add, 1);
    let (mut value, one) = ([0_i32; 16], [1_i32; 16]);
    // SAFETY: an attribute has 64 bytes.
    unsafe {
        let to = value.as_mut_ptr().cast();
        ok(cu::cuGraphKernelNodeGetAttribute(add, 2, to));
        assert_eq!(value[0], 0);
        ok(cu::cuGraphKernelNodeSetAttribute(
            add,
            2,
            one.as_ptr().cast(),
        ));
        ok(cu::cuGraphKernelNodeCopyAttributes(other, add));
        ok(cu::cuGraphKernelNodeGetAttribute(other, 2, to));
        assert_eq!(value[0], 1);
        assert_eq!(cu::cuGraphKernelNodeGetAttribute(other, 1, to), 801);
        run(executable(graph));
    }
    assert_eq!(simulator.value(), 2);
}

#[test]
fn a_graph_is_drawn() {
    let simulator = Simulator::new();
    let graph = graph();
    let fill = simulator.fill_node(graph, &[], 1);
    simulator.kernel_node(graph, &[fill], simulator.add, 1);
    let path = std::env::temp_dir().join(format!("graph-{}.dot", std::process::id()));
    let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: the text ends in a zero byte.
    ok(unsafe { cu::cuGraphDebugDotPrint(graph, name.as_ptr(), 1) });
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(text.starts_with("digraph dot {") && text.trim_end().ends_with('}'));
    assert!(
        text.contains("KERNEL add\\ngrid 1 1 1, block 32 1 1"),
        "{text}"
    );
    assert_eq!(text.matches(" -> ").count(), 1);
    // SAFETY: as above.
    let nowhere = unsafe { cu::cuGraphDebugDotPrint(graph, c"/nowhere/at/all".as_ptr(), 0) };
    assert_eq!(nowhere, 304);
}
