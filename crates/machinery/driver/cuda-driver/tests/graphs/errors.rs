//! Error codes for invalid handles, null pointers and invalid parameters.

use super::*;

#[test]
fn null_pointers_and_stale_handles_are_rejected() {
    let simulator = Simulator::new();
    let stale = {
        let graph = graph();
        // SAFETY: `graph` is an opaque handle that the driver looks up, never dereferences.
        ok(unsafe { cu::cuGraphDestroy(graph) });
        graph
    };
    let live = graph();
    let node = simulator.fill_node(live, &[], 1);
    let instantiated = executable(live);
    let none = null_mut();
    let (mut count, mut out, mut graph, mut exec) = (0, null_mut(), null_mut(), null_mut());
    // SAFETY: all outputs are writable locals; the strings are NUL-terminated; handles and addresses are
    // looked up by the driver, never dereferenced.
    unsafe {
        for wrong in [
            stale,
            null_mut(),
            instantiated.cast(),
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
        for wrong in [null_mut(), live.cast(), instantiated.cast()] {
            assert_eq!(cu::cuGraphDestroyNode(wrong), 1);
            assert_eq!(
                cu::cuGraphNodeGetDependencies(wrong, null_mut(), &mut count),
                1
            );
            assert_eq!(cu::cuGraphNodeSetEnabled(instantiated, wrong, 1), 1);
            assert_eq!(cu::cuGraphAddEmptyNode(&mut out, live, &wrong, 1), 1);
        }
        for wrong in [null_mut(), live.cast(), node.cast()] {
            assert_eq!(cu::cuGraphLaunch(wrong, null_mut()), 1);
            assert_eq!(cu::cuGraphExecDestroy(wrong), 1);
            assert_eq!(cu::cuGraphUpload(wrong, null_mut()), 1);
        }
        // A stream that does not exist.
        assert_eq!(cu::cuGraphLaunch(instantiated, live.cast()), 400);
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
            cu::cuGraphExecUpdate_v2(instantiated, live, null_mut()),
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
    run(instantiated);
    assert_eq!(simulator.value(), 1);
    assert_eq!(nodes(live), [node]);
}

#[test]
fn invalid_operations_are_rejected_when_added() {
    let simulator = Simulator::new();
    let (graph, mut node) = (graph(), null_mut());
    // SAFETY: `node` is writable; `graph` and `params` are handles or addresses that the driver looks up, never
    // dereferences.
    unsafe {
        simulator.params(simulator.add, 1, |params| {
            params.block[0] = 0;
            assert_eq!(
                cu::cuGraphAddKernelNode_v2(&mut node, graph, null(), 0, params),
                1
            );
            params.block[0] = 4096;
            assert_eq!(
                cu::cuGraphAddKernelNode_v2(&mut node, graph, null(), 0, params),
                1
            );
            params.block[0] = 1;
            params.func = graph.cast();
            assert_eq!(
                cu::cuGraphAddKernelNode_v2(&mut node, graph, null(), 0, params),
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
fn memory_freed_after_node_creation_faults_the_context() {
    let simulator = Simulator::new();
    let graph = graph();
    simulator.fill_node(graph, &[], 1);
    let exec = executable(graph);
    // SAFETY: `simulator.words` and `exec` are handles or addresses that the driver looks up, never
    // dereferences.
    unsafe {
        ok(cu::cuMemFree_v2(simulator.words));
        ok(cu::cuGraphLaunch(exec, null_mut()));
        assert_eq!(cu::cuCtxSynchronize(), 700);
    }
}

#[test]
fn kernel_faults_in_graphs_are_reported_later() {
    let simulator = Simulator::new();
    let graph = graph();
    let add = simulator.kernel_node(graph, &[], simulator.add, 1);
    simulator.fill_node(graph, &[add], 1);
    let (exec, stale) = (executable(graph), simulator.words);
    // SAFETY: `other` is writable; `exec`, `graph` and `stale` are handles or addresses that the driver looks
    // up, never dereferences.
    unsafe {
        let mut other = 0;
        ok(cu::cuMemAlloc_v2(&mut other, 4 * WORDS));
        let mut fill = simulator.fill(1);
        fill.dst = other;
        ok(cu::cuGraphExecMemsetNodeSetParams(
            exec,
            nodes(graph)[1],
            &fill,
            null_mut(),
        ));
        ok(cu::cuMemFree_v2(stale));
        ok(cu::cuGraphLaunch(exec, null_mut()));
        assert_eq!(cu::cuCtxSynchronize(), 700);
        assert_eq!(cu::cuGraphLaunch(exec, null_mut()), 700);
    }
}
