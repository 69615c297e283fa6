//! Graphs assembled by hand.

use super::*;
use cuda_driver::types::graph::{EdgeData, NodeParams};
use cust::sys::CUDA_KERNEL_NODE_PARAMS;

#[test]
fn nodes_run_in_dependency_order_at_every_launch() {
    let simulator = Simulator::new();
    let (graph, mut calls, mut words) = (graph(), 0, [0_u32; WORDS]);
    let fill = simulator.fill_node(graph, &[], 7);
    let add = simulator.kernel_node(graph, &[fill], simulator.add, 5);
    let times = simulator.kernel_node(graph, &[add], simulator.times, 3);
    let (mut read, mut host, mut empty) = (null_mut(), null_mut(), null_mut());
    let copy = read_back(simulator.words, words.as_mut_ptr());
    let call = counting_node(&mut calls);
    // SAFETY: the arrays have the lengths passed, and the host memory outlives the launches.
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
    let exec = executable(graph);
    for launches in 1..=20 {
        words = [0; WORDS];
        run(exec);
        assert_eq!(words, [(7 + 5) * 3; WORDS]);
        // SAFETY: the graph's launch has completed, so the number is not accessed concurrently.
        assert_eq!(unsafe { (&raw const calls).read_volatile() }, launches);
    }
    let all = [fill, add, times, read, host, empty];
    assert_eq!(nodes(graph), all);
    assert_eq!(all.map(node_type), [2, 0, 0, 1, 3, 5]);
    assert_eq!(dependencies(empty), [host, fill]);
    // SAFETY: `exec` and `graph` are handles or addresses that the driver looks up, never dereferences.
    unsafe {
        ok(cu::cuGraphExecDestroy(exec));
        ok(cu::cuGraphDestroy(graph));
        assert_eq!(cu::cuGraphLaunch(exec, null_mut()), 1);
        assert_eq!(cu::cuGraphDestroy(graph), 1);
    }
}

#[test]
fn executable_graphs_are_independent_of_their_graph() {
    let simulator = Simulator::new();
    let graph = graph();
    let fill = simulator.fill_node(graph, &[], 7);
    let exec = executable(graph);
    simulator.kernel_node(graph, &[fill], simulator.add, 5);
    run(exec);
    assert_eq!(simulator.value(), 7);
    run(executable(graph));
    assert_eq!(simulator.value(), 12);
    // SAFETY: `graph` is an opaque handle that the driver looks up, never dereferences.
    ok(unsafe { cu::cuGraphDestroy(graph) });
    run(exec);
    assert_eq!(simulator.value(), 7);
}

#[test]
fn child_graphs_are_copies_owned_by_their_node() {
    let simulator = Simulator::new();
    let (outer, inner) = (graph(), graph());
    let before = simulator.fill_node(outer, &[], 2);
    let inside = simulator.kernel_node(inner, &[], simulator.times, 10);
    let (mut child, mut owned) = (null_mut(), null_mut());
    // SAFETY: `child` and `owned` are writable; `outer` and `inner` are handles or addresses that the driver
    // looks up, never dereferences.
    unsafe {
        ok(cu::cuGraphAddChildGraphNode(
            &mut child, outer, &before, 1, inner,
        ));
        ok(cu::cuGraphChildGraphNodeGetGraph(child, &mut owned));
    }
    simulator.kernel_node(outer, &[child], simulator.add, 1);
    // The original graph may change and be destroyed.
    simulator.kernel_node(inner, &[inside], simulator.add, 100);
    // SAFETY: `inner` is an opaque handle that the driver looks up, never dereferences.
    ok(unsafe { cu::cuGraphDestroy(inner) });
    run(executable(outer));
    assert_eq!(simulator.value(), 21);
    // The copy may change too.
    let [last] = nodes(owned)[..] else { panic!() };
    simulator.kernel_node(owned, &[last], simulator.add, 100);
    run(executable(outer));
    assert_eq!(simulator.value(), 121);
    assert_eq!(node_type(child), 4);
    // SAFETY: `kind` is writable; `owned`, `child` and `last` are handles or addresses that the driver looks
    // up, never dereferences.
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
fn clones_are_independent_graphs() {
    let simulator = Simulator::new();
    let original = graph();
    let fill = simulator.fill_node(original, &[], 7);
    let add = simulator.kernel_node(original, &[fill], simulator.add, 5);
    let (mut copy, mut actual) = (null_mut(), null_mut());
    // SAFETY: `copy` and `actual` are writable; `original` and `add` are handles that the driver looks up,
    // never dereferences.
    unsafe {
        ok(cu::cuGraphClone(&mut copy, original));
        ok(cu::cuGraphNodeFindInClone(&mut actual, add, copy));
        assert_eq!(cu::cuGraphNodeFindInClone(&mut actual, add, original), 1);
    }
    assert!(nodes(copy).contains(&actual) && !nodes(original).contains(&actual));
    assert_eq!(dependencies(actual), [nodes(copy)[0]]);
    simulator.params(simulator.times, 5, |params| {
        // SAFETY: `params` is a valid structure with the kernel's parameters; `actual` is an opaque handle that
        // the driver looks up, never dereferences.
        ok(unsafe { cu::cuGraphKernelNodeSetParams_v2(actual, params) });
    });
    run(executable(original));
    assert_eq!(simulator.value(), 12);
    // SAFETY: `original` is an opaque handle that the driver looks up, never dereferences.
    ok(unsafe { cu::cuGraphDestroy(original) });
    run(executable(copy));
    assert_eq!(simulator.value(), 35);
}

#[test]
fn edges_can_be_listed_added_and_removed() {
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
    // SAFETY: all outputs are writable locals; handles and addresses are looked up by the driver, never
    // dereferenced.
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
        // An existing edge, an edge from a node to itself, and one that does not exist.
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
fn kernel_and_memset_params_can_be_read_and_changed() {
    let simulator = Simulator::new();
    let graph = graph();
    let fill = simulator.fill_node(graph, &[], 3);
    let add = simulator.kernel_node(graph, &[fill], simulator.add, 4);
    // SAFETY: `params`, `old` and `memset` are writable; all-zero bytes are valid for the structures; `add`
    // and `fill` are handles or addresses that the driver looks up, never dereferences.
    unsafe {
        let mut params = std::mem::zeroed();
        ok(cu::cuGraphKernelNodeGetParams_v2(add, &mut params));
        assert_eq!(
            (params.func, params.block[0]),
            (simulator.add, WORDS as u32)
        );
        assert_eq!(*(*params.kernel_params).cast::<u64>(), simulator.words);
        assert_eq!(*(*params.kernel_params.add(1)).cast::<u32>(), 4);
        assert!(!params.ctx.is_null());
        // The returned parameters can be passed back.
        params.func = simulator.times;
        ok(cu::cuGraphKernelNodeSetParams_v2(add, &params));
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
        assert_eq!(cu::cuGraphKernelNodeGetParams_v2(fill, &mut params), 1);
    }
}

#[test]
fn memcpy_host_and_event_params_can_be_read_and_changed() {
    let simulator = Simulator::new();
    let graph = graph();
    let (mut first, mut second) = ([9_u32; WORDS], [9_u32; WORDS]);
    let (mut calls, mut others) = (0, 0);
    let (mut read, mut host, mut record, mut wait) =
        (null_mut(), null_mut(), null_mut(), null_mut());
    let (here, there) = (event(), event());
    // SAFETY: the arrays have the lengths passed, and the host memory outlives the launches.
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
        let call = counting_node(&mut calls);
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
        let mut params = counting_node(&mut others);
        ok(cu::cuGraphHostNodeSetParams(host, &params));
        ok(cu::cuGraphHostNodeGetParams(host, &mut params));
        assert_eq!(params.userData, (&raw mut others).cast());
        let mut actual = null_mut();
        ok(cu::cuGraphEventRecordNodeGetEvent(record, &mut actual));
        assert_eq!(actual, here);
        ok(cu::cuGraphEventRecordNodeSetEvent(record, there));
        ok(cu::cuGraphEventRecordNodeGetEvent(record, &mut actual));
        assert_eq!(actual, there);
        ok(cu::cuGraphEventWaitNodeSetEvent(wait, there));
        ok(cu::cuGraphEventWaitNodeGetEvent(wait, &mut actual));
        assert_eq!(actual, there);
        assert_eq!(cu::cuGraphEventWaitNodeGetEvent(record, &mut actual), 1);
        assert_eq!([record, wait].map(node_type), [7, 6]);
        run(executable(graph));
        assert_eq!((first, second), ([9; WORDS], [0; WORDS]));
        assert_eq!((calls, (&raw const others).read_volatile()), (0, 1));
        // The launch recorded the event.
        let (mut milliseconds, after) = (-1.0, event());
        ok(cu::cuEventRecord(after, null_mut()));
        ok(cu::cuEventSynchronize(after));
        ok(cu::cuEventElapsedTime(&mut milliseconds, there, after));
        assert!(milliseconds >= 0.0);
        assert_eq!(cu::cuEventElapsedTime(&mut milliseconds, here, after), 400);
    }
}

#[test]
fn generic_node_functions_support_every_type() {
    let simulator = Simulator::new();
    let graph = graph();
    let (mut fill, mut add, mut empty) = (null_mut(), null_mut(), null_mut());
    // SAFETY: all-zero bytes are a valid empty node; the parameters of each type are set, and the arrays have
    // the lengths passed.
    unsafe {
        let mut params: NodeParams = std::mem::zeroed();
        params.kind = 2;
        let memset = simulator.fill(6);
        (params.payload.memset.dst, params.payload.memset.value) = (memset.dst, memset.value);
        (
            params.payload.memset.element_size,
            params.payload.memset.width,
            params.payload.memset.height,
        ) = (4, WORDS, 1);
        ok(cu::cuGraphAddNode(&mut fill, graph, null(), 0, &mut params));
        params.kind = 0;
        simulator.params(simulator.times, 7, |kernel| {
            params.payload.kernel = *kernel;
            ok(cu::cuGraphAddNode_v2(
                &mut add,
                graph,
                &fill,
                null(),
                1,
                &mut params,
            ));
            run(executable(graph));
            assert_eq!(simulator.value(), 42);
        });
        let exec = executable(graph);
        simulator.params(simulator.add, 1, |kernel| {
            params.payload.kernel = *kernel;
            ok(cu::cuGraphNodeSetParams(add, &mut params));
            run(exec);
            assert_eq!(simulator.value(), 42);
            ok(cu::cuGraphExecNodeSetParams(exec, add, &mut params));
            run(exec);
            assert_eq!(simulator.value(), 7);
        });
        params.kind = 5;
        ok(cu::cuGraphAddNode(
            &mut empty,
            graph,
            null(),
            0,
            &mut params,
        ));
        assert_eq!(cu::cuGraphNodeSetParams(add, &mut params), 1);
        // Conditional nodes, and an unknown type.
        params.kind = 13;
        assert_eq!(
            cu::cuGraphAddNode(&mut empty, graph, null(), 0, &mut params),
            801
        );
        params.kind = 99;
        assert_eq!(
            cu::cuGraphAddNode(&mut empty, graph, null(), 0, &mut params),
            1
        );
    }
}

#[test]
fn kernel_nodes_have_attributes() {
    let simulator = Simulator::new();
    let graph = graph();
    let add = simulator.kernel_node(graph, &[], simulator.add, 1);
    let other = simulator.kernel_node(graph, &[add], simulator.add, 1);
    let (mut value, one) = ([0_i32; 16], [1_i32; 16]);
    // SAFETY: an attribute's value has 64 bytes, as the arrays do.
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

/// An NVIDIA H100 (driver 580.159.04) rejects the change in the same call, and keeps the old parameters.
#[test]
fn cooperative_nodes_must_fit_on_the_device() {
    /// `CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE`
    const TOO_LARGE: c_int = 720;
    let simulator = Simulator::new();
    let (graph, one) = (graph(), [1_i32; 16]);
    let add = simulator.kernel_node(graph, &[], simulator.add, 1);
    let cooperative = |node| {
        // SAFETY: an attribute's value has 64 bytes, as the array does.
        unsafe { cu::cuGraphKernelNodeSetAttribute(node, 2, one.as_ptr().cast()) }
    };
    ok(cooperative(add));
    let exec = executable(graph);
    simulator.params(simulator.add, 5, |params| {
        params.grid = [1_000_000, 1, 1];
        // SAFETY: `params` is valid, and handles are looked up by the driver, never dereferenced.
        unsafe {
            assert_eq!(cu::cuGraphKernelNodeSetParams_v2(add, params), TOO_LARGE);
            let code = cu::cuGraphExecKernelNodeSetParams_v2(exec, add, params);
            assert_eq!(code, TOO_LARGE);
            let (plain, mut large) = (super::graph(), null_mut());
            ok(cu::cuGraphAddKernelNode_v2(
                &mut large,
                plain,
                null(),
                0,
                params,
            ));
            assert_eq!(cooperative(large), TOO_LARGE);
        }
    });
    run(exec);
    assert_eq!(simulator.value(), 1);
}

#[test]
fn graphs_are_printed_as_dot() {
    let simulator = Simulator::new();
    let graph = graph();
    let fill = simulator.fill_node(graph, &[], 1);
    simulator.kernel_node(graph, &[fill], simulator.add, 1);
    let path = std::env::temp_dir().join(format!("graph-{}.dot", std::process::id()));
    let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: `name` is NUL-terminated; `graph` is an opaque handle that the driver looks up, never
    // dereferences.
    ok(unsafe { cu::cuGraphDebugDotPrint(graph, name.as_ptr(), 1) });
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(text.starts_with("digraph dot {") && text.trim_end().ends_with('}'));
    assert!(
        text.contains("KERNEL add\\ngrid 1 1 1, block 32 1 1"),
        "{text}"
    );
    assert_eq!(text.matches(" -> ").count(), 1);
    // SAFETY: the strings are NUL-terminated; handles and addresses are looked up by the driver, never
    // dereferenced.
    let nowhere = unsafe { cu::cuGraphDebugDotPrint(graph, c"/nowhere/at/all".as_ptr(), 0) };
    assert_eq!(nowhere, 304);
}
