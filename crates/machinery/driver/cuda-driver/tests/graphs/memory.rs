//! Memory that graph nodes allocate and free.

use super::*;
use cust::sys::CUDA_MEM_ALLOC_NODE_PARAMS;

/// Adds a node that allocates `bytes` bytes on the device. Returns it with their address.
fn alloc_node(graph: CUgraph, bytes: usize) -> (CUgraphNode, u64) {
    let mut node = null_mut();
    // SAFETY: zero is a valid value of the structure's enums; pinned device memory is 1.
    unsafe {
        let mut params: CUDA_MEM_ALLOC_NODE_PARAMS = std::mem::zeroed();
        (&raw mut params.poolProps.allocType)
            .cast::<c_int>()
            .write(1);
        (&raw mut params.poolProps.location.type_)
            .cast::<c_int>()
            .write(1);
        params.bytesize = bytes;
        ok(cu::cuGraphAddMemAllocNode(
            &mut node,
            graph,
            null(),
            0,
            &mut params,
        ));
        let mut actual: CUDA_MEM_ALLOC_NODE_PARAMS = std::mem::zeroed();
        ok(cu::cuGraphMemAllocNodeGetParams(node, &mut actual));
        assert_eq!((actual.bytesize, actual.dptr), (bytes, params.dptr));
        (node, params.dptr)
    }
}

/// Returns an attribute of the graphs' memory.
fn attribute(number: c_int) -> u64 {
    let mut value = 77_u64;
    // SAFETY: the attribute's value is 64 bits wide, and `value` is writable.
    ok(unsafe { cu::cuDeviceGetGraphMemAttribute(0, number, (&raw mut value).cast()) });
    value
}

#[test]
fn memory_exists_between_allocation_and_free_nodes() {
    let simulator = Simulator::new();
    let graph = graph();
    let (alloc, at) = alloc_node(graph, 4 * WORDS);
    let (mut fill, mut add, mut read, mut free) = (null_mut(), null_mut(), null_mut(), null_mut());
    let mut words = [0_u32; WORDS];
    // SAFETY: the arrays have the lengths passed, and the host memory outlives the launches.
    unsafe {
        let mut params = simulator.fill(4);
        params.dst = at;
        ok(cu::cuGraphAddMemsetNode(
            &mut fill,
            graph,
            &alloc,
            1,
            &params,
            null_mut(),
        ));
        let (mut to, mut by) = (at, 5_u32);
        let mut arguments: [*mut c_void; 2] = [(&raw mut to).cast(), (&raw mut by).cast()];
        simulator.params(simulator.add, 0, |params| {
            params.kernel_params = arguments.as_mut_ptr();
            ok(cu::cuGraphAddKernelNode_v2(
                &mut add, graph, &fill, 1, params,
            ));
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
        // Before a launch, no allocation exists at the address.
        assert_eq!(cu::cuMemsetD8_v2(at, 0, 1), 1);
        let exec = executable(graph);
        for _ in 0..3 {
            run(exec);
            assert_eq!((&raw const words).read_volatile(), [9; WORDS]);
        }
        assert_eq!(cu::cuMemsetD8_v2(at, 0, 1), 1);
        // A graph with memory has one executable graph, cannot be cloned, and its nodes cannot be removed.
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
        ok(cu::cuGraphExecDestroy(exec));
        ok(cu::cuGraphInstantiateWithFlags(&mut second, graph, 0));
    }
}

#[test]
fn auto_free_frees_memory_before_the_next_launch() {
    let _simulator = Simulator::new();
    let graph = graph();
    let (_, at) = alloc_node(graph, 1000);
    // SAFETY: `freeing`, `zero` and `one` are writable; `at`, `exec` and `graph` are handles or addresses
    // that the driver looks up, never dereferences.
    unsafe {
        let exec = executable(graph);
        run(exec);
        ok(cu::cuMemsetD8_v2(at, 1, 1000));
        assert_eq!(attribute(0), attribute(2));
        let used = attribute(0);
        assert!(used >= 1000 && attribute(1) >= used);
        // The memory still exists.
        assert_eq!(cu::cuGraphLaunch(exec, null_mut()), 1);
        ok(cu::cuMemFree_v2(at));
        run(exec);
        ok(cu::cuMemFreeAsync(at, null_mut()));
        run(exec);
        ok(cu::cuGraphExecDestroy(exec));
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
fn captured_allocations_become_nodes() {
    let simulator = Simulator::new();
    let (h_stream, mut at, mut graph) = (stream(1), 0, null_mut());
    let mut words = [0_u32; WORDS];
    // SAFETY: the host memory outlives the launches.
    unsafe {
        ok(cu::cuStreamBeginCapture_v2(h_stream, 0));
        ok(cu::cuMemAllocAsync(&mut at, 4 * WORDS, h_stream));
        ok(cu::cuMemsetD32Async(at, 11, WORDS, h_stream));
        ok(cu::cuMemcpyDtoHAsync_v2(
            words.as_mut_ptr().cast(),
            at,
            4 * WORDS,
            h_stream,
        ));
        ok(cu::cuMemFreeAsync(at, h_stream));
        ok(cu::cuStreamEndCapture(h_stream, &mut graph));
        let types: Vec<_> = nodes(graph).into_iter().map(node_type).collect();
        assert_eq!(types, [10, 2, 1, 11]);
        let exec = executable(graph);
        for _ in 0..3 {
            words = [0; WORDS];
            run(exec);
            assert_eq!((&raw const words).read_volatile(), [11; WORDS]);
        }
    }
    let _ = simulator;
}
