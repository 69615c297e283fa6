//! Wrong handles, null pointers and parameters that cannot be: an error code each.

use super::*;

#[test]
fn null_pointers_and_stale_handles_are_refused() {
    let simulator = Simulator::new();
    let stale = {
        let graph = graph();
        // SAFETY: any handle may be named, here and below.
        ok(unsafe { cu::cuGraphDestroy(graph) });
        graph
    };
    let live = graph();
    let node = simulator.fill_node(live, &[], 1);
    let made = executable(live);
    let none = null_mut();
    let (mut count, mut out, mut graph, mut exec) = (0, null_mut(), null_mut(), null_mut());
    // SAFETY: any handles may be named, and results written to.
    unsafe {
        for wrong in [
            stale,
            null_mut(),
            made.cast(),
            node.cast(),
            std::ptr::dangling_mut(),
        ] {
            for code in [
                cu::cuGraphDestroy(wrong),
                cu::cuGraphClone(&mut graph, wrong),
                cu::cuGraphGetNodes(wrong, null_mut(), &mut count),
                cu::cuGraphGetEdges(wrong, null_mut(), null_mut(), &mut count),
                cu::cuGraphAddEmptyNode(&mut out, wrong, null(), 0),
                cu::cuGraphInstantiateWithFlags(&mut exec, wrong, 0),
                cu::cuGraphDebugDotPrint(wrong, c"/tmp".as_ptr(), 0),
                cu::cuGraphAddChildGraphNode(&mut out, live, null(), 0, wrong),
                cu::cuGraphRetainUserObject(wrong, null_mut(), 1, 0),
            ] {
                assert_eq!(code, 1);
            }
        }
        for wrong in [null_mut(), live.cast(), made.cast()] {
            assert_eq!(cu::cuGraphDestroyNode(wrong), 1);
            assert_eq!(
                cu::cuGraphNodeGetDependencies(wrong, null_mut(), &mut count),
                1
            );
            assert_eq!(cu::cuGraphNodeSetEnabled(made, wrong, 1), 1);
            assert_eq!(cu::cuGraphAddEmptyNode(&mut out, live, &wrong, 1), 1);
        }
        for wrong in [null_mut(), live.cast(), node.cast()] {
            assert_eq!(cu::cuGraphLaunch(wrong, null_mut()), 1);
            assert_eq!(cu::cuGraphExecDestroy(wrong), 1);
            assert_eq!(cu::cuGraphUpload(wrong, null_mut()), 1);
        }
        // A stream that there is not.
        assert_eq!(cu::cuGraphLaunch(made, live.cast()), 400);
        for code in [
            cu::cuGraphCreate(null_mut(), 0),
            cu::cuGraphCreate(&mut graph, 1),
            cu::cuGraphAddEmptyNode(null_mut(), live, null(), 0),
            cu::cuGraphAddEmptyNode(&mut out, live, null(), 1),
            cu::cuGraphAddEmptyNode(&mut out, live, [node, node].as_ptr(), 2),
            cu::cuGraphAddKernelNode_v2(&mut out, live, null(), 0, null()),
            cu::cuGraphAddKernelNode(&mut out, live, null(), 0, null()),
            cu::cuGraphAddMemcpyNode(&mut out, live, null(), 0, null(), null_mut()),
            cu::cuGraphAddMemsetNode(&mut out, live, null(), 0, null(), null_mut()),
            cu::cuGraphAddHostNode(&mut out, live, null(), 0, null()),
            cu::cuGraphAddMemAllocNode(&mut out, live, null(), 0, null_mut()),
            cu::cuGraphAddMemFreeNode(&mut out, live, null(), 0, 77),
            cu::cuGraphAddNode(&mut out, live, null(), 0, null_mut()),
            cu::cuGraphNodeSetParams(node, null_mut()),
            cu::cuGraphNodeGetType(node, null_mut()),
            cu::cuGraphGetNodes(live, null_mut(), null_mut()),
            cu::cuGraphGetEdges(live, &mut out, null_mut(), &mut count),
            cu::cuGraphInstantiateWithFlags(null_mut(), live, 0),
            cu::cuGraphInstantiateWithParams(&mut exec, live, null_mut()),
            cu::cuGraphExecUpdate_v2(made, live, null_mut()),
            cu::cuGraphMemsetNodeGetParams(node, null_mut()),
            cu::cuStreamGetCaptureInfo(none, null_mut(), null_mut()),
            cu::cuThreadExchangeStreamCaptureMode(null_mut()),
            cu::cuStreamEndCapture(none, null_mut()),
        ] {
            assert_eq!(code, 1);
        }
        assert_eq!(
            cu::cuGraphAddEventRecordNode(&mut out, live, null(), 0, null_mut()),
            400
        );
    }
    run(made);
    assert_eq!(simulator.value(), 1);
    assert_eq!(nodes(live), [node]);
}

#[test]
fn what_could_not_be_launched_is_refused_when_it_is_added() {
    let simulator = Simulator::new();
    let (graph, mut node) = (graph(), null_mut());
    // SAFETY: the structures are whole, and lists as long as is said.
    unsafe {
        simulator.params(simulator.add, 1, |how| {
            how.block[0] = 0;
            assert_eq!(
                cu::cuGraphAddKernelNode_v2(&mut node, graph, null(), 0, how),
                1
            );
            how.block[0] = 4096;
            assert_eq!(
                cu::cuGraphAddKernelNode_v2(&mut node, graph, null(), 0, how),
                1
            );
            how.block[0] = 1;
            how.func = graph.cast();
            assert_eq!(
                cu::cuGraphAddKernelNode_v2(&mut node, graph, null(), 0, how),
                400
            );
        });
        let mut memset = simulator.fill(1);
        memset.width = 2 * WORDS;
        assert_eq!(
            cu::cuGraphAddMemsetNode(&mut node, graph, null(), 0, &memset, null_mut()),
            1
        );
        memset.elementSize = 3;
        assert_eq!(
            cu::cuGraphAddMemsetNode(&mut node, graph, null(), 0, &memset, null_mut()),
            1
        );
        let nowhere = read_back(simulator.words, null_mut());
        assert_eq!(
            cu::cuGraphAddMemcpyNode(&mut node, graph, null(), 0, &nowhere, null_mut()),
            1
        );
        let host = CUDA_HOST_NODE_PARAMS {
            fn_: None,
            userData: null_mut(),
        };
        assert_eq!(
            cu::cuGraphAddHostNode(&mut node, graph, null(), 0, &host),
            1
        );
    }
    assert_eq!(nodes(graph), []);
}

#[test]
fn memory_that_went_after_its_node_was_made_is_the_contexts_error() {
    let simulator = Simulator::new();
    let graph = graph();
    simulator.fill_node(graph, &[], 1);
    let made = executable(graph);
    // SAFETY: any handles may be named.
    unsafe {
        ok(cu::cuMemFree_v2(simulator.words));
        ok(cu::cuGraphLaunch(made, null_mut()));
        assert_eq!(cu::cuCtxSynchronize(), 700);
    }
}

#[test]
fn a_kernel_that_faults_in_a_graph_says_so_afterwards() {
    let simulator = Simulator::new();
    let graph = graph();
    let add = simulator.kernel_node(graph, &[], simulator.add, 1);
    simulator.fill_node(graph, &[add], 1);
    let (made, gone) = (executable(graph), simulator.words);
    // SAFETY: any handles may be named.
    unsafe {
        let mut other = 0;
        ok(cu::cuMemAlloc_v2(&mut other, 4 * WORDS));
        let mut fill = simulator.fill(1);
        fill.dst = other;
        ok(cu::cuGraphExecMemsetNodeSetParams(
            made,
            nodes(graph)[1],
            &fill,
            null_mut(),
        ));
        ok(cu::cuMemFree_v2(gone));
        ok(cu::cuGraphLaunch(made, null_mut()));
        assert_eq!(cu::cuCtxSynchronize(), 700);
        assert_eq!(cu::cuGraphLaunch(made, null_mut()), 700);
    }
}
