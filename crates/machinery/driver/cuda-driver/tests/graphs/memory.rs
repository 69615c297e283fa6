//! Memory that graph nodes allocate and free.

use super::*;
use cuda_driver::types::{
    CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_DEVICE, CUDA_MEM_ALLOC_NODE_PARAMS,
};

/// Adds a node that allocates `bytes` bytes on the device. Returns it with their address.
fn alloc_node(graph: CUgraph, bytes: usize) -> (CUgraphNode, u64) {
    let mut node = null_mut();
    let mut params: CUDA_MEM_ALLOC_NODE_PARAMS = zeroed();
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location.kind = CU_MEM_LOCATION_TYPE_DEVICE;
    params.bytesize = bytes;
    calls! { cuGraphAddMemAllocNode(&mut node, graph, null(), 0, &mut params); }
    let mut actual: CUDA_MEM_ALLOC_NODE_PARAMS = zeroed();
    calls! { cuGraphMemAllocNodeGetParams(node, &mut actual); }
    assert_eq!((actual.bytesize, actual.dptr), (bytes, params.dptr));
    (node, params.dptr)
}

/// Returns an attribute of the graphs' memory.
fn attribute(number: c_int) -> u64 {
    let mut value = 77_u64;
    calls! { cuDeviceGetGraphMemAttribute(0, number, (&raw mut value).cast()); }
    value
}

#[test]
fn memory_exists_between_allocation_and_free_nodes() {
    let simulator = Simulator::new();
    let graph = graph();
    let (alloc, at) = alloc_node(graph, 4 * WORDS);
    let (mut fill, mut add, mut read, mut free) = (null_mut(), null_mut(), null_mut(), null_mut());
    let mut words = [0_u32; WORDS];
    let mut params = simulator.fill(4);
    params.dst = at;
    calls! { cuGraphAddMemsetNode(&mut fill, graph, &alloc, 1, &params, null_mut()); }
    let (mut to, mut by) = (at, 5_u32);
    let mut arguments: [*mut c_void; 2] = [(&raw mut to).cast(), (&raw mut by).cast()];
    simulator.params(simulator.add, 0, |params| {
        params.kernel_params = arguments.as_mut_ptr();
        calls! { cuGraphAddKernelNode_v2(&mut add, graph, &fill, 1, params); }
    });
    let copy = read_back(at, words.as_mut_ptr());
    calls! {
        cuGraphAddMemcpyNode(&mut read, graph, &add, 1, &copy, null_mut());
        cuGraphAddMemFreeNode(&mut free, graph, &read, 1, at);
    }
    let mut freed = 0;
    calls! { cuGraphMemFreeNodeGetParams(free, &mut freed); }
    assert_eq!(freed, at);
    // Before a launch, no allocation exists at the address.
    calls! { cuMemsetD8_v2(at, 0, 1) => 1; }
    let exec = executable(graph);
    for _ in 0..3 {
        run(exec);
        assert_eq!(reread(&words), [9; WORDS]);
    }
    calls! { cuMemsetD8_v2(at, 0, 1) => 1; }
    // A graph with memory has one executable graph, cannot be cloned, and its nodes cannot be removed.
    let (mut second, mut copy) = (null_mut(), null_mut());
    calls! {
        cuGraphInstantiateWithFlags(&mut second, graph, 0) => 801;
        cuGraphClone(&mut copy, graph) => 801;
        cuGraphDestroyNode(fill) => 801;
        cuGraphRemoveDependencies(graph, &alloc, &fill, 1) => 801;
    }
    let outer = super::graph();
    let mut child = null_mut();
    calls! {
        cuGraphAddChildGraphNode(&mut child, outer, null(), 0, graph) => 801;
        cuGraphExecDestroy(exec);
        cuGraphInstantiateWithFlags(&mut second, graph, 0);
        cuGraphExecDestroy(second);
    }
}

#[test]
fn auto_free_frees_memory_before_the_next_launch() {
    let _simulator = Simulator::new();
    let graph = graph();
    let (_, at) = alloc_node(graph, 1000);
    let exec = executable(graph);
    run(exec);
    calls! { cuMemsetD8_v2(at, 1, 1000); }
    assert_eq!(attribute(0), attribute(2));
    let used = attribute(0);
    assert!(used >= 1000 && attribute(1) >= used);
    // The memory still exists.
    calls! {
        cuGraphLaunch(exec, null_mut()) => 1;
        cuMemFree_v2(at);
    }
    run(exec);
    calls! { cuMemFreeAsync(at, null_mut()); }
    run(exec);
    calls! { cuGraphExecDestroy(exec); }
    let mut freeing = null_mut();
    calls! { cuGraphInstantiateWithFlags(&mut freeing, graph, 1); }
    for _ in 0..3 {
        run(freeing);
    }
    calls! { cuMemFree_v2(at); }
    // The executable graph may use the memory again.
    assert_eq!(attribute(0), used);
    let (mut zero, mut one) = (0_u64, 1_u64);
    calls! { cuDeviceSetGraphMemAttribute(0, 1, (&raw mut zero).cast()); }
    assert_eq!(attribute(1), attribute(0));
    calls! {
        cuDeviceSetGraphMemAttribute(0, 1, (&raw mut one).cast()) => 1;
        cuDeviceSetGraphMemAttribute(0, 0, (&raw mut zero).cast()) => 1;
        cuDeviceGetGraphMemAttribute(0, 4, (&raw mut zero).cast()) => 1;
        cuDeviceGraphMemTrim(0);
        cuDeviceGraphMemTrim(1) => 101;
        cuGraphExecDestroy(freeing);
    }
}

/// The blocks of 32 MiB are those of an H200 (driver 580.159.04), and their life follows NVIDIA's sample
/// `graphMemoryFootprint`.
#[test]
fn footprint_grows_in_blocks_and_shrinks_when_trimmed() {
    const BLOCK: u64 = 32 << 20;
    let _simulator = Simulator::new();
    let attributes = || [0, 1, 2, 3].map(attribute);
    let mut zero = 0_u64;
    let mut trim_and_reset = |peaks: &[c_int]| {
        calls! { cuDeviceGraphMemTrim(0); }
        for &peak in peaks {
            calls! { cuDeviceSetGraphMemAttribute(0, peak, (&raw mut zero).cast()); }
        }
    };
    // Graphs of other tests, which no longer exist, have left blocks and peaks.
    trim_and_reset(&[1, 3]);
    let build = |bytes| {
        let graph = graph();
        let (_, at) = alloc_node(graph, bytes);
        (executable(graph), at)
    };
    let ((small, small_at), (large, large_at)) = (build(1000), build(40 << 20));
    assert_eq!(attributes(), [0; 4]);
    run(small);
    assert_eq!(attributes(), [BLOCK; 4]);
    calls! { cuMemFree_v2(small_at); }
    // A freed block is used again.
    run(large);
    assert_eq!(attributes(), [2 * BLOCK; 4]);
    calls! { cuDeviceGraphMemTrim(0); }
    assert_eq!(attribute(2), 2 * BLOCK, "the memory is still allocated");
    calls! {
        cuMemFree_v2(large_at);
        cuGraphExecDestroy(small);
        cuGraphExecDestroy(large);
    }
    assert_eq!(attributes(), [0, 2 * BLOCK, 2 * BLOCK, 2 * BLOCK]);
    trim_and_reset(&[3]);
    assert_eq!(attributes(), [0, 2 * BLOCK, 0, 0]);
}

#[test]
fn captured_allocations_become_nodes() {
    let simulator = Simulator::new();
    let (h_stream, mut at, mut graph) = (stream(1), 0, null_mut());
    let mut words = [0_u32; WORDS];
    calls! {
        cuStreamBeginCapture_v2(h_stream, 0);
        cuMemAllocAsync(&mut at, 4 * WORDS, h_stream);
        cuMemsetD32Async(at, 11, WORDS, h_stream);
        cuMemcpyDtoHAsync_v2(words.as_mut_ptr().cast(), at, 4 * WORDS, h_stream);
        cuMemFreeAsync(at, h_stream);
        cuStreamEndCapture(h_stream, &mut graph);
    }
    let types: Vec<_> = nodes(graph).into_iter().map(node_type).collect();
    assert_eq!(types, [10, 2, 1, 11]);
    let exec = executable(graph);
    for _ in 0..3 {
        words = [0; WORDS];
        run(exec);
        assert_eq!(reread(&words), [11; WORDS]);
    }
    calls! { cuGraphExecDestroy(exec); }
    let _ = simulator;
}
