//! Error codes for invalid handles, null pointers and invalid parameters.

use super::*;

#[test]
fn null_pointers_and_stale_handles_are_rejected() {
    let simulator = Simulator::new();
    let stale = {
        let graph = graph();
        calls! { cuGraphDestroy(graph); }
        graph
    };
    let live = graph();
    let node = simulator.fill_node(live, &[], 1);
    let instantiated = executable(live);
    let none = null_mut();
    let (mut count, mut out, mut graph, mut exec) = (0, null_mut(), null_mut(), null_mut());
    for wrong in [
        stale,
        null_mut(),
        instantiated.cast(),
        node.cast(),
        std::ptr::dangling_mut(),
    ] {
        calls! {
            cuGraphDestroy(wrong) => 1;
            cuGraphClone(&mut graph, wrong) => 1;
            cuGraphGetNodes(wrong, null_mut(), &mut count) => 1;
            cuGraphGetEdges(wrong, null_mut(), null_mut(), &mut count) => 1;
            cuGraphAddEmptyNode(&mut out, wrong, null(), 0) => 1;
            cuGraphInstantiateWithFlags(&mut exec, wrong, 0) => 1;
            cuGraphDebugDotPrint(wrong, c"/tmp".as_ptr(), 0) => 1;
            cuGraphAddChildGraphNode(&mut out, live, null(), 0, wrong) => 1;
            cuGraphRetainUserObject(wrong, null_mut(), 1, 0) => 1;
        }
    }
    for wrong in [null_mut(), live.cast(), instantiated.cast()] {
        calls! {
            cuGraphDestroyNode(wrong) => 1;
            cuGraphNodeGetDependencies(wrong, null_mut(), &mut count) => 1;
            cuGraphNodeSetEnabled(instantiated, wrong, 1) => 1;
            cuGraphAddEmptyNode(&mut out, live, &wrong, 1) => 1;
        }
    }
    for wrong in [null_mut(), live.cast(), node.cast()] {
        calls! {
            cuGraphLaunch(wrong, null_mut()) => 1;
            cuGraphExecDestroy(wrong) => 1;
            cuGraphUpload(wrong, null_mut()) => 1;
        }
    }
    // A stream that does not exist.
    calls! { cuGraphLaunch(instantiated, live.cast()) => 400; }
    calls! {
        cuGraphCreate(null_mut(), 0) => 1;
        cuGraphCreate(&mut graph, 1) => 1;
        cuGraphAddEmptyNode(null_mut(), live, null(), 0) => 1;
        cuGraphAddEmptyNode(&mut out, live, null(), 1) => 1;
        cuGraphAddEmptyNode(&mut out, live, [node, node].as_ptr(), 2) => 1;
        cuGraphAddKernelNode_v2(&mut out, live, null(), 0, null()) => 1;
        cuGraphAddKernelNode(&mut out, live, null(), 0, null()) => 1;
        cuGraphAddMemcpyNode(&mut out, live, null(), 0, null(), null_mut()) => 1;
        cuGraphAddMemsetNode(&mut out, live, null(), 0, null(), null_mut()) => 1;
        cuGraphAddHostNode(&mut out, live, null(), 0, null()) => 1;
        cuGraphAddMemAllocNode(&mut out, live, null(), 0, null_mut()) => 1;
        cuGraphAddMemFreeNode(&mut out, live, null(), 0, 77) => 1;
        cuGraphAddNode(&mut out, live, null(), 0, null_mut()) => 1;
        cuGraphNodeSetParams(node, null_mut()) => 1;
        cuGraphNodeGetType(node, null_mut()) => 1;
        cuGraphGetNodes(live, null_mut(), null_mut()) => 1;
        cuGraphGetEdges(live, &mut out, null_mut(), &mut count) => 1;
        cuGraphInstantiateWithFlags(null_mut(), live, 0) => 1;
        cuGraphInstantiateWithParams(&mut exec, live, null_mut()) => 1;
        cuGraphMemsetNodeGetParams(node, null_mut()) => 1;
        cuStreamGetCaptureInfo(none, null_mut(), null_mut()) => 1;
        cuThreadExchangeStreamCaptureMode(null_mut()) => 1;
        // A capture into a graph of the program needs no output; here there is no capture.
        cuStreamEndCapture(none, null_mut()) => 401;
    }
    calls! { cuGraphAddEventRecordNode(&mut out, live, null(), 0, null_mut()) => 1; }
    run(instantiated);
    assert_eq!(simulator.value(), 1);
    assert_eq!(nodes(live), [node]);
}

#[test]
fn invalid_operations_are_rejected_when_added() {
    let simulator = Simulator::new();
    let (graph, mut node) = (graph(), null_mut());
    simulator.params(simulator.add, 1, |params| {
        params.block[0] = 0;
        calls! { cuGraphAddKernelNode_v2(&mut node, graph, null(), 0, params) => 1; }
        params.block[0] = 4096;
        calls! { cuGraphAddKernelNode_v2(&mut node, graph, null(), 0, params) => 1; }
        params.block[0] = 1;
        params.func = graph.cast();
        calls! { cuGraphAddKernelNode_v2(&mut node, graph, null(), 0, params) => 400; }
    });
    let mut memset = simulator.fill(1);
    memset.width = 2 * WORDS;
    calls! { cuGraphAddMemsetNode(&mut node, graph, null(), 0, &memset, null_mut()) => 1; }
    memset.elementSize = 3;
    calls! { cuGraphAddMemsetNode(&mut node, graph, null(), 0, &memset, null_mut()) => 1; }
    let nowhere = read_back(simulator.words, null_mut());
    calls! { cuGraphAddMemcpyNode(&mut node, graph, null(), 0, &nowhere, null_mut()) => 1; }
    let host = CUDA_HOST_NODE_PARAMS {
        fn_: None,
        userData: null_mut(),
    };
    calls! { cuGraphAddHostNode(&mut node, graph, null(), 0, &host) => 1; }
    assert_eq!(nodes(graph), []);
}

#[test]
fn memory_freed_after_node_creation_faults_the_context() {
    let simulator = Simulator::new();
    let graph = graph();
    simulator.fill_node(graph, &[], 1);
    let exec = executable(graph);
    calls! {
        cuMemFree_v2(simulator.words);
        cuGraphLaunch(exec, null_mut());
        cuCtxSynchronize() => 700;
    }
}

#[test]
fn kernel_faults_in_graphs_are_reported_later() {
    let simulator = Simulator::new();
    let graph = graph();
    let add = simulator.kernel_node(graph, &[], simulator.add, 1);
    simulator.fill_node(graph, &[add], 1);
    let (exec, stale) = (executable(graph), simulator.words);
    let mut other = 0;
    calls! { cuMemAlloc_v2(&mut other, 4 * WORDS); }
    let mut fill = simulator.fill(1);
    fill.dst = other;
    calls! {
        cuGraphExecMemsetNodeSetParams(exec, nodes(graph)[1], &fill, null_mut());
        cuMemFree_v2(stale);
        cuGraphLaunch(exec, null_mut());
        cuCtxSynchronize() => 700;
        cuGraphLaunch(exec, null_mut()) => 700;
    }
}
