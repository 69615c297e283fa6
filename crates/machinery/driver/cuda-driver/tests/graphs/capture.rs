//! Stream capture: operations of a capturing stream become a graph.

use super::*;
use std::thread;

/// Ends the capture of a stream, which must succeed.
fn end(stream: CUstream) -> CUgraph {
    let mut graph = null_mut();
    calls! { cuStreamEndCapture(stream, &mut graph); }
    assert!(!graph.is_null());
    graph
}

#[test]
fn all_stream_operations_become_nodes() {
    let simulator = Simulator::new();
    let (h_stream, mut calls, mut words) = (stream(1), 0_u32, [0_u32; WORDS]);
    let (bytes, to) = (4 * WORDS, words.as_mut_ptr());
    let graph = {
        calls! { cuStreamBeginCapture_v2(h_stream, 0); }
        assert_eq!(status(h_stream), 1);
        calls! { cuMemsetD32Async(simulator.words, 4, WORDS, h_stream); }
        ok(simulator.launch(simulator.add, 6, h_stream));
        ok(simulator.launch(simulator.times, 2, h_stream));
        calls! {
            cuMemcpyDtoHAsync_v2(to.cast(), simulator.words, bytes, h_stream);
            cuLaunchHostFunc(h_stream, Some(count), (&raw mut calls).cast());
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
        calls! {
            cuGraphLaunch(exec, h_stream);
            cuStreamSynchronize(h_stream);
        }
        assert_eq!(reread(&words), [20; WORDS]);
        assert_eq!(reread(&calls), launches);
    }
    // The stream executes operations again.
    ok(simulator.launch(simulator.add, 1, h_stream));
    calls! { cuStreamSynchronize(h_stream); }
    assert_eq!(simulator.value(), 21);
}

#[test]
fn events_fork_and_join_captures() {
    let simulator = Simulator::new();
    let (first, second) = (stream(1), stream(0));
    let (fork, join) = (event(), event());
    let graph = {
        calls! {
            cuStreamBeginCapture_v2(first, 1);
            cuMemsetD32Async(simulator.words, 1, WORDS, first);
            cuEventRecord(fork, first);
            cuStreamWaitEvent(second, fork, 0);
        }
        assert_eq!(status(second), 1);
        ok(simulator.launch(simulator.add, 2, second));
        calls! {
            cuEventRecord(join, second);
            cuStreamWaitEvent(first, join, 0);
        }
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
        calls! {
            cuEventRecord(from, null_mut());
            cuGraphLaunch(exec, null_mut());
            cuEventRecord(to, null_mut());
            cuEventSynchronize(to);
            cuEventElapsedTime(&mut milliseconds, from, to);
        }
        milliseconds
    };
    let mut words = vec![0_u32; 1 << 20];
    let bytes = 4 * words.len();
    let mut large = 0;
    calls! { cuMemAlloc_v2(&mut large, 2 * bytes); }
    let graph_of = |parallel: bool| {
        let graph = graph();
        let (mut out, mut back) = (null_mut(), null_mut());
        let mut copy = read_back(large, words.as_ptr().cast_mut());
        copy.WidthInBytes = bytes;
        calls! { cuGraphAddMemcpyNode(&mut out, graph, null(), 0, &copy, null_mut()); }
        (copy.srcMemoryType, copy.dstMemoryType) = (copy.dstMemoryType, copy.srcMemoryType);
        (copy.srcHost, copy.dstDevice) = (copy.dstHost, large + bytes as u64);
        let count = usize::from(!parallel);
        calls! { cuGraphAddMemcpyNode(&mut back, graph, &out, count, &copy, null_mut()); }
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
    calls! { cuStreamGetCaptureInfo(h_stream, &mut status, &mut id); }
    assert_eq!((status, id), (0, 0));
    calls! {
        cuStreamBeginCapture_v2(h_stream, 2);
        cuMemsetD32Async(simulator.words, 3, WORDS, h_stream);
        cuStreamGetCaptureInfo_v3(
            h_stream, &mut status, &mut id, &mut graph, &mut tail, &mut edges, &mut count
        );
    }
    assert!(status == 1 && id > 0 && count == 1 && edges.is_null());
    // SAFETY: the tail has the number of nodes that the call stored in `count`.
    let fill = unsafe { *tail };
    assert_eq!(nodes(graph), [fill]);
    // A node that the program adds itself and that the stream depends on afterwards.
    let mut added_node = simulator.kernel_node(graph, &[fill], simulator.add, 4);
    calls! { cuStreamUpdateCaptureDependencies(h_stream, &mut added_node, 1, 1); }
    ok(simulator.launch(simulator.times, 2, h_stream));
    // Adds dependencies without replacing the existing ones.
    calls! {
        cuStreamUpdateCaptureDependencies_v2(h_stream, &mut added_node, null(), 1, 0);
        cuStreamGetCaptureInfo_v2(
            h_stream, &mut status, null_mut(), null_mut(), &mut tail, &mut count
        );
    }
    // SAFETY: the driver returned an array of `count` nodes.
    assert_eq!((count, unsafe { *tail.add(1) }), (2, added_node));
    let mut no_node = null_mut();
    calls! { cuStreamUpdateCaptureDependencies(h_stream, &mut no_node, 1, 0) => 1; }
    assert_eq!(end(h_stream), graph);
    run(executable(graph));
    assert_eq!(simulator.value(), 14);
    let mut none = null_mut();
    calls! { cuStreamUpdateCaptureDependencies(h_stream, &mut none, 0, 0) => 401; }
}

#[test]
fn captures_can_extend_an_existing_graph() {
    let simulator = Simulator::new();
    let (h_stream, graph) = (stream(1), graph());
    let fill = simulator.fill_node(graph, &[], 3);
    calls! { cuStreamBeginCaptureToGraph(h_stream, graph, &fill, null(), 1, 0); }
    ok(simulator.launch(simulator.add, 4, h_stream));
    assert_eq!(end(h_stream), graph);
    assert_eq!(dependencies(nodes(graph)[1]), [fill]);
    run(executable(graph));
    assert_eq!(simulator.value(), 7);
    let other = fill.cast();
    calls! { cuStreamBeginCaptureToGraph(h_stream, other, null(), null(), 0, 0) => 1; }
    let none = null_mut();
    calls! { cuStreamBeginCaptureToGraph(h_stream, graph, &none, null(), 1, 0) => 1; }
    assert_eq!(status(h_stream), 0);
}

/// Repeats a sequence from NVIDIA's sample graphMemoryNodes.
#[test]
fn joined_streams_may_be_destroyed_before_the_capture_ends() {
    let simulator = Simulator::new();
    let (first, second) = (stream(1), stream(1));
    let (fork, join) = (event(), event());
    let graph = {
        calls! {
            cuStreamBeginCapture_v2(first, 0);
            cuMemsetD32Async(simulator.words, 1, WORDS, first);
            cuEventRecord(fork, first);
            cuStreamWaitEvent(second, fork, 0);
        }
        ok(simulator.launch(simulator.add, 2, second));
        calls! {
            cuEventRecord(join, second);
            cuStreamWaitEvent(first, join, 0);
            cuStreamDestroy_v2(second);
            cuEventDestroy_v2(join);
        }
        end(first)
    };
    run(executable(graph));
    assert_eq!(simulator.value(), 3);
}

#[test]
fn external_events_become_nodes() {
    let _simulator = Simulator::new();
    let (h_stream, external_event) = (stream(1), event());
    calls! {
        cuStreamBeginCapture_v2(h_stream, 0);
        cuStreamWaitEvent(h_stream, external_event, 1);
        cuEventRecordWithFlags(external_event, h_stream, 1);
    }
    let graph = end(h_stream);
    let types: Vec<_> = nodes(graph).into_iter().map(node_type).collect();
    assert_eq!(types, [6, 7]);
    // The event is an ordinary one, not a captured one.
    calls! { cuEventQuery(external_event); }
    run(executable(graph));
    calls! { cuEventSynchronize(external_event); }
    let mut milliseconds = -1.0;
    calls! { cuEventElapsedTime(&mut milliseconds, external_event, external_event); }
    assert_eq!(milliseconds, 0.0);
}

#[test]
fn graph_launches_in_a_capture_become_child_graphs() {
    let simulator = Simulator::new();
    let (h_stream, inner) = (stream(1), graph());
    simulator.fill_node(inner, &[], 5);
    let inner = executable(inner);
    let outer = {
        calls! {
            cuStreamBeginCapture_v2(h_stream, 0);
            cuGraphLaunch(inner, h_stream);
        }
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
    let shared = Shared((current_context(), &simulator));
    let captured: Vec<_> = thread::scope(|scope| {
        let capture = |by: u32| {
            move || {
                let (context, simulator) = shared.get();
                // `CU_STREAM_PER_THREAD`
                let h_stream = std::ptr::without_provenance_mut(2);
                calls! {
                    cuCtxSetCurrent(context);
                    cuStreamBeginCapture_v2(h_stream, 1);
                }
                for _ in 0..50 {
                    ok(simulator.launch(simulator.add, by, h_stream));
                }
                Shared(end(h_stream))
            }
        };
        let threads: Vec<_> = (1..=4).map(|by| scope.spawn(capture(by))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap().get())
            .collect()
    });
    for graph in captured {
        assert_eq!(nodes(graph).len(), 50);
        run(executable(graph));
    }
    assert_eq!(simulator.value(), 50 * (1 + 2 + 3 + 4));
}
