//! Stream capture: operations of a capturing stream become a graph.

use super::*;
use std::thread;

/// Ends the capture of a stream, which must succeed.
fn end(stream: CUstream) -> CUgraph {
    let mut graph = null_mut();
    // SAFETY: `graph` is writable; `stream` is an opaque handle that the driver looks up, never dereferences.
    ok(unsafe { cu::cuStreamEndCapture(stream, &mut graph) });
    assert!(!graph.is_null());
    graph
}

/// Returns a stream's capture status.
fn status(stream: CUstream) -> c_int {
    let mut status = -1;
    // SAFETY: `status` is writable; `stream` is an opaque handle that the driver looks up, never dereferences.
    ok(unsafe { cu::cuStreamIsCapturing(stream, &mut status) });
    status
}

#[test]
fn all_stream_operations_become_nodes() {
    let simulator = Simulator::new();
    let (h_stream, mut calls, mut words) = (stream(1), 0_u32, [0_u32; WORDS]);
    let (bytes, to) = (4 * WORDS, words.as_mut_ptr());
    let graph = {
        // SAFETY: the host memory outlives the launches.
        unsafe {
            ok(cu::cuStreamBeginCapture_v2(h_stream, 0));
            assert_eq!(status(h_stream), 1);
            ok(cu::cuMemsetD32Async(simulator.words, 4, WORDS, h_stream));
            ok(simulator.launch(simulator.add, 6, h_stream));
            ok(simulator.launch(simulator.times, 2, h_stream));
            ok(cu::cuMemcpyDtoHAsync_v2(
                to.cast(),
                simulator.words,
                bytes,
                h_stream,
            ));
            ok(cu::cuLaunchHostFunc(
                h_stream,
                Some(count),
                (&raw mut calls).cast(),
            ));
        }
        end(h_stream)
    };
    assert_eq!(status(h_stream), 0);
    // Nothing was executed.
    assert_eq!((simulator.value(), calls, words), (0, 0, [0; WORDS]));
    let captured = nodes(graph);
    let types: Vec<_> = captured.iter().map(|node| node_type(*node)).collect();
    assert_eq!(types, [2, 0, 0, 1, 3]);
    for pair in captured.windows(2) {
        assert_eq!(dependencies(pair[1]), [pair[0]]);
    }
    let exec = executable(graph);
    for launches in 1..=10 {
        // SAFETY: `exec` and `h_stream` are handles or addresses that the driver looks up, never dereferences.
        unsafe {
            ok(cu::cuGraphLaunch(exec, h_stream));
            ok(cu::cuStreamSynchronize(h_stream));
            assert_eq!(to.cast::<[u32; WORDS]>().read_volatile(), [20; WORDS]);
            assert_eq!((&raw const calls).read_volatile(), launches);
        }
    }
    // The stream executes operations again.
    ok(simulator.launch(simulator.add, 1, h_stream));
    // SAFETY: `h_stream` is an opaque handle that the driver looks up, never dereferences.
    ok(unsafe { cu::cuStreamSynchronize(h_stream) });
    assert_eq!(simulator.value(), 21);
}

#[test]
fn events_fork_and_join_captures() {
    let simulator = Simulator::new();
    let (first, second) = (stream(1), stream(0));
    let (fork, join) = (event(), event());
    // SAFETY: handles and addresses are looked up by the driver, never dereferenced.
    let graph = unsafe {
        ok(cu::cuStreamBeginCapture_v2(first, 1));
        ok(cu::cuMemsetD32Async(simulator.words, 1, WORDS, first));
        ok(cu::cuEventRecord(fork, first));
        ok(cu::cuStreamWaitEvent(second, fork, 0));
        assert_eq!(status(second), 1);
        ok(simulator.launch(simulator.add, 2, second));
        ok(cu::cuEventRecord(join, second));
        ok(cu::cuStreamWaitEvent(first, join, 0));
        ok(simulator.launch(simulator.times, 10, first));
        end(first)
    };
    assert_eq!(status(second), 0);
    let [fill, add, times] = nodes(graph)[..] else {
        panic!()
    };
    assert_eq!(dependencies(add), [fill]);
    assert_eq!(dependencies(times), [fill, add]);
    run(executable(graph));
    assert_eq!(simulator.value(), 30);
}

#[test]
fn graph_branches_overlap_in_modelled_time() {
    let simulator = Simulator::new();
    let (from, to) = (event(), event());
    let time = |exec: CUgraphExec| {
        let mut milliseconds = 0.0;
        // SAFETY: `milliseconds` is writable; all handles are only looked up, never dereferenced.
        unsafe {
            ok(cu::cuEventRecord(from, null_mut()));
            ok(cu::cuGraphLaunch(exec, null_mut()));
            ok(cu::cuEventRecord(to, null_mut()));
            ok(cu::cuEventSynchronize(to));
            ok(cu::cuEventElapsedTime(&mut milliseconds, from, to));
        }
        milliseconds
    };
    let mut words = vec![0_u32; 1 << 20];
    let bytes = 4 * words.len();
    let mut large = 0;
    // SAFETY: `large` is writable.
    ok(unsafe { cu::cuMemAlloc_v2(&mut large, 2 * bytes) });
    let graph_of = |parallel: bool| {
        let graph = graph();
        let (mut out, mut back) = (null_mut(), null_mut());
        let mut copy = read_back(large, words.as_ptr().cast_mut());
        copy.WidthInBytes = bytes;
        // SAFETY: the arrays have the lengths passed, and the host memory outlives the launches.
        unsafe {
            ok(cu::cuGraphAddMemcpyNode(
                &mut out,
                graph,
                null(),
                0,
                &copy,
                null_mut(),
            ));
            (copy.srcMemoryType, copy.dstMemoryType) = (copy.dstMemoryType, copy.srcMemoryType);
            (copy.srcHost, copy.dstDevice) = (copy.dstHost, large + bytes as u64);
            let count = usize::from(!parallel);
            ok(cu::cuGraphAddMemcpyNode(
                &mut back,
                graph,
                &out,
                count,
                &copy,
                null_mut(),
            ));
        }
        executable(graph)
    };
    let (parallel, sequential) = (time(graph_of(true)), time(graph_of(false)));
    assert!(
        sequential > 1.9 * parallel && parallel > 0.0,
        "{parallel} {sequential}"
    );
    words.clear();
    let _ = simulator;
}

#[test]
fn capture_info_and_dependencies_can_be_read_and_updated() {
    let simulator = Simulator::new();
    let h_stream = stream(1);
    let (mut id, mut graph, mut tail, mut count) = (0, null_mut(), null(), 9);
    let (mut status, mut edges) = (-1, (&raw const id).cast());
    // SAFETY: all outputs are writable locals; `h_stream` and `simulator.words` are handles or addresses that
    // the driver looks up, never dereferences.
    unsafe {
        ok(cu::cuStreamGetCaptureInfo(h_stream, &mut status, &mut id));
        assert_eq!((status, id), (0, 0));
        ok(cu::cuStreamBeginCapture_v2(h_stream, 2));
        ok(cu::cuMemsetD32Async(simulator.words, 3, WORDS, h_stream));
        ok(cu::cuStreamGetCaptureInfo_v3(
            h_stream,
            &mut status,
            &mut id,
            &mut graph,
            &mut tail,
            &mut edges,
            &mut count,
        ));
        assert!(status == 1 && id > 0 && count == 1 && edges.is_null());
        let fill = *tail;
        assert_eq!(nodes(graph), [fill]);
        // A node that the program adds itself and that the stream depends on afterwards.
        let mut added_node = simulator.kernel_node(graph, &[fill], simulator.add, 4);
        ok(cu::cuStreamUpdateCaptureDependencies(
            h_stream,
            &mut added_node,
            1,
            1,
        ));
        ok(simulator.launch(simulator.times, 2, h_stream));
        // Adds dependencies without replacing the existing ones.
        ok(cu::cuStreamUpdateCaptureDependencies_v2(
            h_stream,
            &mut added_node,
            null(),
            1,
            0,
        ));
        ok(cu::cuStreamGetCaptureInfo_v2(
            h_stream,
            &mut status,
            null_mut(),
            null_mut(),
            &mut tail,
            &mut count,
        ));
        assert_eq!((count, *tail.add(1)), (2, added_node));
        let mut no_node = null_mut();
        assert_eq!(
            cu::cuStreamUpdateCaptureDependencies(h_stream, &mut no_node, 1, 0),
            1
        );
    }
    assert_eq!(end(h_stream), graph);
    run(executable(graph));
    assert_eq!(simulator.value(), 14);
    let mut none = null_mut();
    // SAFETY: `none` is writable; `h_stream` is an opaque handle that the driver looks up, never dereferences.
    let after = unsafe { cu::cuStreamUpdateCaptureDependencies(h_stream, &mut none, 0, 0) };
    assert_eq!(after, 401);
}

#[test]
fn captures_can_extend_an_existing_graph() {
    let simulator = Simulator::new();
    let (h_stream, graph) = (stream(1), graph());
    let fill = simulator.fill_node(graph, &[], 3);
    // SAFETY: `h_stream` and `graph` are handles or addresses that the driver looks up, never dereferences.
    unsafe {
        ok(cu::cuStreamBeginCaptureToGraph(
            h_stream,
            graph,
            &fill,
            null(),
            1,
            0,
        ));
        ok(simulator.launch(simulator.add, 4, h_stream));
    }
    assert_eq!(end(h_stream), graph);
    assert_eq!(dependencies(nodes(graph)[1]), [fill]);
    run(executable(graph));
    assert_eq!(simulator.value(), 7);
    // SAFETY: `h_stream`, `other` and `graph` are handles or addresses that the driver looks up, never
    // dereferences.
    unsafe {
        let other = fill.cast();
        assert_eq!(
            cu::cuStreamBeginCaptureToGraph(h_stream, other, null(), null(), 0, 0),
            1
        );
        let none = null_mut();
        assert_eq!(
            cu::cuStreamBeginCaptureToGraph(h_stream, graph, &none, null(), 1, 0),
            1
        );
    }
    assert_eq!(status(h_stream), 0);
}

/// Repeats a sequence from NVIDIA's sample graphMemoryNodes.
#[test]
fn joined_streams_may_be_destroyed_before_the_capture_ends() {
    let simulator = Simulator::new();
    let (first, second) = (stream(1), stream(1));
    let (fork, join) = (event(), event());
    // SAFETY: handles and addresses are looked up by the driver, never dereferenced.
    let graph = unsafe {
        ok(cu::cuStreamBeginCapture_v2(first, 0));
        ok(cu::cuMemsetD32Async(simulator.words, 1, WORDS, first));
        ok(cu::cuEventRecord(fork, first));
        ok(cu::cuStreamWaitEvent(second, fork, 0));
        ok(simulator.launch(simulator.add, 2, second));
        ok(cu::cuEventRecord(join, second));
        ok(cu::cuStreamWaitEvent(first, join, 0));
        ok(cu::cuStreamDestroy_v2(second));
        ok(cu::cuEventDestroy_v2(join));
        end(first)
    };
    run(executable(graph));
    assert_eq!(simulator.value(), 3);
}

#[test]
fn external_events_become_nodes() {
    let _simulator = Simulator::new();
    let (h_stream, external_event) = (stream(1), event());
    // SAFETY: `milliseconds` is writable; `h_stream` and `external_event` are handles or addresses that the
    // driver looks up, never dereferences.
    unsafe {
        ok(cu::cuStreamBeginCapture_v2(h_stream, 0));
        ok(cu::cuStreamWaitEvent(h_stream, external_event, 1));
        ok(cu::cuEventRecordWithFlags(external_event, h_stream, 1));
        let graph = end(h_stream);
        let types: Vec<_> = nodes(graph).into_iter().map(node_type).collect();
        assert_eq!(types, [6, 7]);
        // The event is an ordinary one, not a captured one.
        ok(cu::cuEventQuery(external_event));
        run(executable(graph));
        ok(cu::cuEventSynchronize(external_event));
        let mut milliseconds = -1.0;
        ok(cu::cuEventElapsedTime(
            &mut milliseconds,
            external_event,
            external_event,
        ));
        assert_eq!(milliseconds, 0.0);
    }
}

#[test]
fn graph_launches_in_a_capture_become_child_graphs() {
    let simulator = Simulator::new();
    let (h_stream, inner) = (stream(1), graph());
    simulator.fill_node(inner, &[], 5);
    let inner = executable(inner);
    // SAFETY: `h_stream` and `inner` are handles or addresses that the driver looks up, never dereferences.
    let outer = unsafe {
        ok(cu::cuStreamBeginCapture_v2(h_stream, 0));
        ok(cu::cuGraphLaunch(inner, h_stream));
        ok(simulator.launch(simulator.add, 1, h_stream));
        end(h_stream)
    };
    assert_eq!(simulator.value(), 0);
    assert_eq!(node_type(nodes(outer)[0]), 4);
    run(executable(outer));
    assert_eq!(simulator.value(), 6);
}

#[test]
fn threads_capture_independent_streams() {
    let simulator = Simulator::new();
    let mut context = null_mut();
    // SAFETY: `context` is writable.
    ok(unsafe { cu::cuCtxGetCurrent(&mut context) });
    let number = context.addr();
    let captured: Vec<usize> = thread::scope(|scope| {
        let capture = |by: u32| {
            let simulator = (simulator.words, simulator.add.addr());
            move || {
                // SAFETY: the context belongs to the main thread, which waits for this one.
                unsafe {
                    let context = std::ptr::without_provenance_mut(number);
                    ok(cu::cuCtxSetCurrent(context));
                    // `CU_STREAM_PER_THREAD`
                    let h_stream = std::ptr::without_provenance_mut(2);
                    ok(cu::cuStreamBeginCapture_v2(h_stream, 1));
                    let (mut at, mut by) = (simulator.0, by);
                    let mut arguments: [*mut c_void; 2] =
                        [(&raw mut at).cast(), (&raw mut by).cast()];
                    let add = std::ptr::without_provenance_mut(simulator.1);
                    let parameters = arguments.as_mut_ptr();
                    for _ in 0..50 {
                        ok(cu::cuLaunchKernel(
                            add,
                            1,
                            1,
                            1,
                            WORDS as u32,
                            1,
                            1,
                            0,
                            h_stream,
                            parameters,
                            null_mut(),
                        ));
                    }
                    end(h_stream).addr()
                }
            }
        };
        let threads: Vec<_> = (1..=4).map(|by| scope.spawn(capture(by))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    for graph in captured {
        let graph = std::ptr::without_provenance_mut(graph);
        assert_eq!(nodes(graph).len(), 50);
        run(executable(graph));
    }
    assert_eq!(simulator.value(), 50 * (1 + 2 + 3 + 4));
}
