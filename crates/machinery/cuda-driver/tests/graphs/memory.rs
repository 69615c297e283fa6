//! Memory that nodes of graphs allocate and free.

use super::*;
use cust::sys::CUDA_MEM_ALLOC_NODE_PARAMS;

/// A node that allocates so many bytes on the device, and their address.
fn allocating(graph: CUgraph, bytes: usize) -> (CUgraphNode, u64) {
    let mut node = null_mut();
    // SAFETY: zero is a number that the structure's enums have; page-locked memory on a device is 1.
    unsafe {
        let mut how: CUDA_MEM_ALLOC_NODE_PARAMS = std::mem::zeroed();
        (&raw mut how.poolProps.allocType).cast::<c_int>().write(1);
        (&raw mut how.poolProps.location.type_)
            .cast::<c_int>()
            .write(1);
        how.bytesize = bytes;
        ok(cu::cuGraphAddMemAllocNode(
            &mut node,
            graph,
            null(),
            0,
            &mut how,
        ));
        let mut shown: CUDA_MEM_ALLOC_NODE_PARAMS = std::mem::zeroed();
        ok(cu::cuGraphMemAllocNodeGetParams(node, &mut shown));
        assert_eq!((shown.bytesize, shown.dptr), (bytes, how.dptr));
        (node, how.dptr)
    }
}

/// An attribute of the memory of graphs.
fn attribute(number: c_int) -> u64 {
    let mut value = 77_u64;
    // SAFETY: the attribute is a number of 64 bits.
    ok(unsafe { cu::cuDeviceGetGraphMemAttribute(0, number, (&raw mut value).cast()) });
    value
}

#[test]
fn memory_is_there_from_the_node_that_allocates_to_the_one_that_frees() {
    let simulator = Simulator::new();
    let graph = graph();
    let (alloc, at) = allocating(graph, 4 * WORDS);
    let (mut fill, mut add, mut read, mut free) = (null_mut(), null_mut(), null_mut(), null_mut());
    let mut words = [0_u32; WORDS];
    // SAFETY: the lists are as long as is said, and host memory outlives the launches.
    unsafe {
        let mut how = simulator.fill(4);
        how.dst = at;
        ok(cu::cuGraphAddMemsetNode(
            &mut fill,
            graph,
            &alloc,
            1,
            &how,
            null_mut(),
        ));
        let (mut to, mut by) = (at, 5_u32);
        let mut arguments: [*mut c_void; 2] = [(&raw mut to).cast(), (&raw mut by).cast()];
        simulator.params(simulator.add, 0, |how| {
            how.kernel_params = arguments.as_mut_ptr();
            ok(cu::cuGraphAddKernelNode_v2(&mut add, graph, &fill, 1, how));
        });
        let copy = read_back(at, words.as_mut_ptr());
        ok(cu::cuGraphAddMemcpyNode(
            &mut read,
            graph,
            &add,
            1,
            &copy,
            null_mut(),
        ));
        ok(cu::cuGraphAddMemFreeNode(&mut free, graph, &read, 1, at));
        let mut freed = 0;
        ok(cu::cuGraphMemFreeNodeGetParams(free, &mut freed));
        assert_eq!(freed, at);
        // Before a launch it is nobody's.
        assert_eq!(cu::cuMemsetD8_v2(at, 0, 1), 1);
        let made = executable(graph);
        for _ in 0..3 {
            run(made);
            assert_eq!((&raw const words).read_volatile(), [9; WORDS]);
        }
        assert_eq!(cu::cuMemsetD8_v2(at, 0, 1), 1);
        // A graph with memory has one executable graph, no copies, and keeps its nodes.
        let (mut second, mut copy) = (null_mut(), null_mut());
        assert_eq!(cu::cuGraphInstantiateWithFlags(&mut second, graph, 0), 801);
        assert_eq!(cu::cuGraphClone(&mut copy, graph), 801);
        assert_eq!(cu::cuGraphDestroyNode(fill), 801);
        assert_eq!(cu::cuGraphRemoveDependencies(graph, &alloc, &fill, 1), 801);
        let outer = super::graph();
        let mut child = null_mut();
        assert_eq!(
            cu::cuGraphAddChildGraphNode(&mut child, outer, null(), 0, graph),
            801
        );
        ok(cu::cuGraphExecDestroy(made));
        ok(cu::cuGraphInstantiateWithFlags(&mut second, graph, 0));
    }
}

#[test]
fn memory_that_a_graph_leaves_behind_is_freed_before_the_next_launch() {
    let _simulator = Simulator::new();
    let graph = graph();
    let (_, at) = allocating(graph, 1000);
    // SAFETY: any handles may be named.
    unsafe {
        let made = executable(graph);
        run(made);
        ok(cu::cuMemsetD8_v2(at, 1, 1000));
        assert_eq!(attribute(0), attribute(2));
        let used = attribute(0);
        assert!(used >= 1000 && attribute(1) >= used);
        // It is still there.
        assert_eq!(cu::cuGraphLaunch(made, null_mut()), 1);
        ok(cu::cuMemFree_v2(at));
        run(made);
        ok(cu::cuMemFreeAsync(at, null_mut()));
        run(made);
        ok(cu::cuGraphExecDestroy(made));
        let mut freeing = null_mut();
        ok(cu::cuGraphInstantiateWithFlags(&mut freeing, graph, 1));
        for _ in 0..3 {
            run(freeing);
        }
        ok(cu::cuMemFree_v2(at));
        assert_eq!(attribute(0), used - 1000);
        let (mut zero, mut one) = (0_u64, 1_u64);
        ok(cu::cuDeviceSetGraphMemAttribute(
            0,
            1,
            (&raw mut zero).cast(),
        ));
        assert_eq!(attribute(1), attribute(0));
        assert_eq!(
            cu::cuDeviceSetGraphMemAttribute(0, 1, (&raw mut one).cast()),
            1
        );
        assert_eq!(
            cu::cuDeviceSetGraphMemAttribute(0, 0, (&raw mut zero).cast()),
            1
        );
        assert_eq!(
            cu::cuDeviceGetGraphMemAttribute(0, 4, (&raw mut zero).cast()),
            1
        );
        ok(cu::cuDeviceGraphMemTrim(0));
        assert_eq!(cu::cuDeviceGraphMemTrim(1), 101);
    }
}

#[test]
fn captured_allocations_are_nodes() {
    let simulator = Simulator::new();
    let (on, mut at, mut graph) = (stream(1), 0, null_mut());
    let mut words = [0_u32; WORDS];
    // SAFETY: host memory outlives the launches.
    unsafe {
        ok(cu::cuStreamBeginCapture_v2(on, 0));
        ok(cu::cuMemAllocAsync(&mut at, 4 * WORDS, on));
        ok(cu::cuMemsetD32Async(at, 11, WORDS, on));
        ok(cu::cuMemcpyDtoHAsync_v2(
            words.as_mut_ptr().cast(),
            at,
            4 * WORDS,
            on,
        ));
        ok(cu::cuMemFreeAsync(at, on));
        ok(cu::cuStreamEndCapture(on, &mut graph));
        let types: Vec<_> = nodes(graph).into_iter().map(node_type).collect();
        assert_eq!(types, [10, 2, 1, 11]);
        let made = executable(graph);
        for _ in 0..3 {
            words = [0; WORDS];
            run(made);
            assert_eq!((&raw const words).read_volatile(), [11; WORDS]);
        }
    }
    let _ = simulator;
}
