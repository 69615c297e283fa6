//! Graphs assembled by hand.

use super::*;
use cuda_driver::types::graph::{EdgeData, MemsetNodeParams, NodeParams};
use cuda_driver::types::{
    AccessWindow, CUDA_KERNEL_NODE_PARAMS, CUlaunchAttribute, CUlaunchAttributeValue,
    CUlaunchConfig,
};

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
    calls! {
        cuGraphAddMemcpyNode(&mut read, graph, &times, 1, &copy, null_mut());
        cuGraphAddHostNode(&mut host, graph, &read, 1, &call);
        cuGraphAddEmptyNode(&mut empty, graph, [host, fill].as_ptr(), 2);
    }
    let exec = executable(graph);
    for launches in 1..=20 {
        words = [0; WORDS];
        run(exec);
        assert_eq!(words, [(7 + 5) * 3; WORDS]);
        assert_eq!(reread(&calls), launches);
    }
    let all = [fill, add, times, read, host, empty];
    assert_eq!(nodes(graph), all);
    assert_eq!(all.map(node_type), [2, 0, 0, 1, 3, 5]);
    assert_eq!(dependencies(empty), [host, fill]);
    calls! {
        cuGraphExecDestroy(exec);
        cuGraphDestroy(graph);
        cuGraphLaunch(exec, null_mut()) => 1;
        cuGraphDestroy(graph) => 1;
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
    calls! { cuGraphDestroy(graph); }
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
    calls! {
        cuGraphAddChildGraphNode(&mut child, outer, &before, 1, inner);
        cuGraphChildGraphNodeGetGraph(child, &mut owned);
    }
    simulator.kernel_node(outer, &[child], simulator.add, 1);
    // The original graph may change and be destroyed.
    simulator.kernel_node(inner, &[inside], simulator.add, 100);
    calls! { cuGraphDestroy(inner); }
    run(executable(outer));
    assert_eq!(simulator.value(), 21);
    // The copy may change too.
    let [last] = nodes(owned)[..] else { panic!() };
    simulator.kernel_node(owned, &[last], simulator.add, 100);
    run(executable(outer));
    assert_eq!(simulator.value(), 121);
    assert_eq!(node_type(child), 4);
    calls! {
        cuGraphDestroy(owned) => 1;
        cuGraphDestroyNode(child);
    }
    let mut kind = 0;
    calls! {
        cuGraphNodeGetType(last, &mut kind) => 1;
        cuGraphDestroy(owned) => 1;
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
    calls! {
        cuGraphClone(&mut copy, original);
        cuGraphNodeFindInClone(&mut actual, add, copy);
        cuGraphNodeFindInClone(&mut actual, add, original) => 1;
    }
    assert!(nodes(copy).contains(&actual) && !nodes(original).contains(&actual));
    assert_eq!(dependencies(actual), [nodes(copy)[0]]);
    simulator.params(simulator.times, 5, |params| {
        calls! { cuGraphKernelNodeSetParams_v2(actual, params); }
    });
    run(executable(original));
    assert_eq!(simulator.value(), 12);
    calls! { cuGraphDestroy(original); }
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
    calls! {
        cuGraphAddDependencies(graph, &fill, &add, 1);
        cuGraphGetEdges(graph, null_mut(), null_mut(), &mut count);
    }
    assert_eq!(count, 2);
    count = 4;
    let (befores, afters) = (from.as_mut_ptr(), to.as_mut_ptr());
    calls! { cuGraphGetEdges_v2(graph, befores, afters, data.as_mut_ptr(), &mut count); }
    assert_eq!((count, &from[..3]), (2, &[fill, add, null_mut()][..]));
    assert_eq!((to[0], to[1], data[1]), (add, times, EdgeData::default()));
    let mut one = [null_mut(); 2];
    count = 2;
    calls! { cuGraphGetRootNodes(graph, one.as_mut_ptr(), &mut count); }
    assert_eq!((count, one[0]), (1, fill));
    count = 2;
    calls! { cuGraphNodeGetDependentNodes(add, one.as_mut_ptr(), &mut count); }
    assert_eq!((count, one[0]), (1, times));
    // An existing edge, an edge from a node to itself, and one that does not exist.
    calls! {
        cuGraphAddDependencies(graph, &fill, &add, 1) => 1;
        cuGraphAddDependencies(graph, &fill, &fill, 1) => 1;
        cuGraphRemoveDependencies(graph, &fill, &times, 1) => 1;
        cuGraphRemoveDependencies_v2(graph, &add, &times, null(), 1);
    }
    assert_eq!(dependencies(times), []);
    let programmatic = EdgeData {
        kind: 1,
        ..EdgeData::default()
    };
    calls! {
        cuGraphAddDependencies_v2(graph, &add, &times, &programmatic, 1) => 801;
        cuGraphDestroyNode(add);
        cuGraphGetEdges(graph, null_mut(), null_mut(), &mut count);
    }
    assert_eq!(count, 0);
}

#[test]
fn kernel_and_memset_params_can_be_read_and_changed() {
    let simulator = Simulator::new();
    let graph = graph();
    let fill = simulator.fill_node(graph, &[], 3);
    let add = simulator.kernel_node(graph, &[fill], simulator.add, 4);
    let mut params = zeroed::<KernelNodeParams>();
    calls! { cuGraphKernelNodeGetParams_v2(add, &mut params); }
    assert_eq!(
        (params.func, params.block[0]),
        (simulator.add, WORDS as u32)
    );
    // SAFETY: the node's parameters have the types of the kernel's.
    unsafe {
        assert_eq!(*(*params.kernel_params).cast::<u64>(), simulator.words);
        assert_eq!(*(*params.kernel_params.add(1)).cast::<u32>(), 4);
    }
    assert!(!params.ctx.is_null());
    // The returned parameters can be passed back.
    params.func = simulator.times;
    calls! { cuGraphKernelNodeSetParams_v2(add, &params); }
    let mut old: CUDA_KERNEL_NODE_PARAMS = zeroed();
    calls! { cuGraphKernelNodeGetParams(add, &mut old); }
    assert_eq!((old.func, old.gridDimX), (simulator.times, 1));
    old.func = simulator.add;
    calls! { cuGraphKernelNodeSetParams(add, &old); }
    run(executable(graph));
    assert_eq!(simulator.value(), 7);

    let mut memset = zeroed();
    calls! { cuGraphMemsetNodeGetParams(fill, &mut memset); }
    assert_eq!(memset, simulator.fill(3));
    memset.value = 30;
    calls! { cuGraphMemsetNodeSetParams(fill, &memset); }
    run(executable(graph));
    assert_eq!(simulator.value(), 34);
    calls! {
        cuGraphMemsetNodeGetParams(add, &mut memset) => 1;
        cuGraphKernelNodeGetParams_v2(fill, &mut params) => 1;
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
    let copy = read_back(simulator.words, first.as_mut_ptr());
    calls! { cuGraphAddMemcpyNode(&mut read, graph, null(), 0, &copy, null_mut()); }
    let call = counting_node(&mut calls);
    calls! {
        cuGraphAddHostNode(&mut host, graph, &read, 1, &call);
        cuGraphAddEventRecordNode(&mut record, graph, &host, 1, here);
        cuGraphAddEventWaitNode(&mut wait, graph, null(), 0, here);
    }
    let mut copy = read_back(0, null_mut());
    calls! { cuGraphMemcpyNodeGetParams(read, &mut copy); }
    assert_eq!(
        (copy.srcDevice, copy.dstHost),
        (simulator.words, first.as_mut_ptr().cast())
    );
    copy.dstHost = second.as_mut_ptr().cast();
    calls! { cuGraphMemcpyNodeSetParams(read, &copy); }
    let mut params = counting_node(&mut others);
    calls! {
        cuGraphHostNodeSetParams(host, &params);
        cuGraphHostNodeGetParams(host, &mut params);
    }
    assert_eq!(params.userData, (&raw mut others).cast());
    let mut actual = null_mut();
    calls! { cuGraphEventRecordNodeGetEvent(record, &mut actual); }
    assert_eq!(actual, here);
    calls! {
        cuGraphEventRecordNodeSetEvent(record, there);
        cuGraphEventRecordNodeGetEvent(record, &mut actual);
    }
    assert_eq!(actual, there);
    calls! {
        cuGraphEventWaitNodeSetEvent(wait, there);
        cuGraphEventWaitNodeGetEvent(wait, &mut actual);
    }
    assert_eq!(actual, there);
    calls! { cuGraphEventWaitNodeGetEvent(record, &mut actual) => 1; }
    assert_eq!([record, wait].map(node_type), [7, 6]);
    run(executable(graph));
    assert_eq!((first, second), ([9; WORDS], [0; WORDS]));
    assert_eq!((calls, reread(&others)), (0, 1));
    // The launch recorded the event.
    let (mut milliseconds, after) = (-1.0, event());
    calls! {
        cuEventRecord(after, null_mut());
        cuEventSynchronize(after);
        cuEventElapsedTime(&mut milliseconds, there, after);
    }
    assert!(milliseconds >= 0.0);
    calls! { cuEventElapsedTime(&mut milliseconds, here, after) => 400; }
}

#[test]
fn generic_node_functions_support_every_type() {
    let simulator = Simulator::new();
    let graph = graph();
    let (mut fill, mut add, mut empty) = (null_mut(), null_mut(), null_mut());
    let mut params: NodeParams = zeroed();
    params.kind = 2;
    let memset = simulator.fill(6);
    params.payload.memset = MemsetNodeParams {
        dst: memset.dst,
        value: memset.value,
        element_size: memset.elementSize,
        width: memset.width,
        height: memset.height,
        ..zeroed()
    };
    calls! { cuGraphAddNode(&mut fill, graph, null(), 0, &mut params); }
    params.kind = 0;
    simulator.params(simulator.times, 7, |kernel| {
        params.payload.kernel = *kernel;
        calls! { cuGraphAddNode_v2(&mut add, graph, &fill, null(), 1, &mut params); }
        run(executable(graph));
        assert_eq!(simulator.value(), 42);
    });
    let exec = executable(graph);
    simulator.params(simulator.add, 1, |kernel| {
        params.payload.kernel = *kernel;
        calls! { cuGraphNodeSetParams(add, &mut params); }
        run(exec);
        assert_eq!(simulator.value(), 42);
        calls! { cuGraphExecNodeSetParams(exec, add, &mut params); }
        run(exec);
        assert_eq!(simulator.value(), 7);
    });
    params.kind = 5;
    calls! {
        cuGraphAddNode(&mut empty, graph, null(), 0, &mut params);
        cuGraphNodeSetParams(add, &mut params) => 1;
    }
    // A reserved field that is set, and an unknown type.
    params.reserved0[0] = 1;
    calls! { cuGraphAddNode(&mut empty, graph, null(), 0, &mut params) => 1; }
    params.reserved0[0] = 0;
    params.kind = 99;
    calls! { cuGraphAddNode(&mut empty, graph, null(), 0, &mut params) => 1; }
}

#[test]
fn access_policy_windows_of_kernel_nodes_are_stored() {
    let simulator = Simulator::new();
    let graph = graph();
    let add = simulator.kernel_node(graph, &[], simulator.add, 1);
    let other = simulator.kernel_node(graph, &[add], simulator.add, 1);
    let window = AccessWindow {
        address: 4096,
        bytes: 4096,
        hit_ratio: 0.5,
        hit: 2,
        miss: 1,
    };
    let mut stored = AccessWindow::default();
    calls! {
        cuGraphKernelNodeSetAttribute(add, 1, (&raw const window).cast());
        cuGraphKernelNodeCopyAttributes(other, add);
        cuGraphKernelNodeGetAttribute(other, 1, (&raw mut stored).cast());
    }
    assert_eq!(stored, window);
    let too_large = AccessWindow {
        bytes: (128 << 20) + 1,
        ..window
    };
    calls! { cuGraphKernelNodeSetAttribute(add, 1, (&raw const too_large).cast()) => 1; }
    run(executable(graph));
    assert_eq!(simulator.value(), 2);
}

#[test]
fn kernel_nodes_have_attributes() {
    let simulator = Simulator::new();
    let graph = graph();
    let add = simulator.kernel_node(graph, &[], simulator.add, 1);
    let other = simulator.kernel_node(graph, &[add], simulator.add, 1);
    let (mut value, one) = ([0_i32; 16], [1_i32; 16]);
    let to = value.as_mut_ptr().cast();
    calls! { cuGraphKernelNodeGetAttribute(add, 2, to); }
    assert_eq!(value[0], 0);
    calls! {
        cuGraphKernelNodeSetAttribute(add, 2, one.as_ptr().cast());
        cuGraphKernelNodeCopyAttributes(other, add);
        cuGraphKernelNodeGetAttribute(other, 2, to);
    }
    assert_eq!(value[0], 1);
    calls! {
        cuGraphKernelNodeGetAttribute(other, 3, to) => 1;
        cuGraphKernelNodeGetAttribute(other, 9, to);
    }
    assert_eq!(value[0], 0x100);
    calls! {
        cuGraphKernelNodeSetAttribute(add, 10, one.as_ptr().cast());
        cuGraphKernelNodeCopyAttributes(other, add);
        cuGraphKernelNodeGetAttribute(other, 10, to);
    }
    assert_eq!(value[0], 1);
    run(executable(graph));
    assert_eq!(simulator.value(), 2);
}

/// A kernel that stores the number of blocks in its cluster.
const CLUSTER_SIZE: &CStr = c".version 8.0
.target sm_90
.address_size 64
.visible .entry size(.param .u64 p) {
    .reg .b32 %r<2>; .reg .b64 %d<2>;
    ld.param.u64 %d1, [p];
    mov.u32 %r1, %cluster_nctarank;
    st.global.u32 [%d1], %r1; ret; }";

#[test]
fn cluster_size_of_kernel_nodes_is_set_and_captured() {
    const CLUSTER: i32 = 4;
    let simulator = Simulator::new();
    let module = support::module(CLUSTER_SIZE);
    let size = support::function(module, c"size");
    let to = allocate(4);
    let (graph, mut value) = (graph(), [0_i32; 16]);
    let mut argument = to;
    let mut arguments: [*mut c_void; 1] = [(&raw mut argument).cast()];
    let mut node = null_mut();
    simulator.params(size, 0, |params| {
        params.grid = [8, 1, 1];
        params.kernel_params = arguments.as_mut_ptr();
        calls! { cuGraphAddKernelNode_v2(&mut node, graph, null(), 0, params); }
    });
    let set = |sizes: [i32; 3]| {
        let mut value = [0_i32; 16];
        value[..3].copy_from_slice(&sizes);
        code!(cuGraphKernelNodeSetAttribute(
            node,
            CLUSTER,
            value.as_ptr().cast()
        ))
    };
    let mut get = |node| {
        calls! { cuGraphKernelNodeGetAttribute(node, CLUSTER, value.as_mut_ptr().cast()); }
        [0, 1, 2].map(|axis| reread(&value)[axis])
    };
    assert_eq!(get(node), [0; 3]);
    assert_eq!(set([2, 0, 1]), support::INVALID_CLUSTER_SIZE);
    assert_eq!(set([3, 1, 1]), support::INVALID_CLUSTER_SIZE);
    assert_eq!(set([4, 1, 1]), 0);
    assert_eq!(get(node), [4, 1, 1]);
    // Other parameters keep the attribute.
    simulator.params(size, 0, |params| {
        params.grid = [4, 1, 1];
        params.kernel_params = arguments.as_mut_ptr();
        calls! { cuGraphKernelNodeSetParams_v2(node, params); }
    });
    run(executable(graph));
    assert_eq!(read::<u32>(to), 4);
    assert_eq!(set([0; 3]), 0);
    assert_eq!(get(node), [0; 3]);
    run(executable(graph));
    assert_eq!(read::<u32>(to), 1);

    let (captured, mut of_capture) = (stream(1), null_mut());
    let attribute = CUlaunchAttribute {
        id: CLUSTER,
        value: CUlaunchAttributeValue([2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    };
    let config = CUlaunchConfig {
        grid: [4, 1, 1],
        block: [1; 3],
        dynamic_shared: 0,
        stream: captured,
        attributes: &attribute,
        attribute_count: 1,
    };
    calls! {
        cuStreamBeginCapture_v2(captured, 0);
        cuLaunchKernelEx(&config, size, arguments.as_mut_ptr(), null_mut());
        cuStreamEndCapture(captured, &mut of_capture);
    }
    assert_eq!(get(nodes(of_capture)[0]), [2, 1, 1]);
    run(executable(of_capture));
    assert_eq!(read::<u32>(to), 2);
}

/// An NVIDIA H100 (driver 580.159.04) rejects the change in the same call, and keeps the old parameters.
#[test]
fn cooperative_nodes_must_fit_on_the_device() {
    /// `CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE`
    const TOO_LARGE: c_int = 720;
    let simulator = Simulator::new();
    let (graph, one) = (graph(), [1_i32; 16]);
    let add = simulator.kernel_node(graph, &[], simulator.add, 1);
    let cooperative = |node| code!(cuGraphKernelNodeSetAttribute(node, 2, one.as_ptr().cast()));
    ok(cooperative(add));
    let exec = executable(graph);
    simulator.params(simulator.add, 5, |params| {
        params.grid = [1_000_000, 1, 1];
        calls! {
            cuGraphKernelNodeSetParams_v2(add, params) => TOO_LARGE;
            cuGraphExecKernelNodeSetParams_v2(exec, add, params) => TOO_LARGE;
        }
        let (plain, mut large) = (super::graph(), null_mut());
        calls! { cuGraphAddKernelNode_v2(&mut large, plain, null(), 0, params); }
        assert_eq!(cooperative(large), TOO_LARGE);
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
    calls! { cuGraphDebugDotPrint(graph, name.as_ptr(), 1); }
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(text.starts_with("digraph dot {") && text.trim_end().ends_with('}'));
    assert!(
        text.contains("KERNEL add\\ngrid 1 1 1, block 32 1 1"),
        "{text}"
    );
    assert_eq!(text.matches(" -> ").count(), 1);
    calls! { cuGraphDebugDotPrint(graph, c"/nowhere/at/all".as_ptr(), 0) => 304; }
}
