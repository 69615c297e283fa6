//! Streams that are captured: of what they are given becomes a graph.

use super::*;
use std::thread;

/// Ends the capture of a stream, which must succeed.
fn end(stream: CUstream) -> CUgraph {
    let mut graph = null_mut();
    // SAFETY: the handle can be written to.
    ok(unsafe { cu::cuStreamEndCapture(stream, &mut graph) });
    assert!(!graph.is_null());
    graph
}

/// A stream's capture status.
fn status(stream: CUstream) -> c_int {
    let mut status = -1;
    // SAFETY: the number can be written to.
    ok(unsafe { cu::cuStreamIsCapturing(stream, &mut status) });
    status
}

#[test]
fn everything_that_a_stream_takes_becomes_a_node() {
    let simulator = Simulator::new();
    let (on, mut calls, mut words) = (stream(1), 0_u32, [0_u32; WORDS]);
    let (bytes, to) = (4 * WORDS, words.as_mut_ptr());
    let graph = {
        // SAFETY: host memory outlives the launches.
        unsafe {
            ok(cu::cuStreamBeginCapture_v2(on, 0));
            assert_eq!(status(on), 1);
            ok(cu::cuMemsetD32Async(simulator.words, 4, WORDS, on));
            ok(simulator.launch(simulator.add, 6, on));
            ok(simulator.launch(simulator.times, 2, on));
            ok(cu::cuMemcpyDtoHAsync_v2(
                to.cast(),
                simulator.words,
                bytes,
                on,
            ));
            ok(cu::cuLaunchHostFunc(
                on,
                Some(count),
                (&raw mut calls).cast(),
            ));
        }
        end(on)
    };
    assert_eq!(status(on), 0);
    // Nothing was done.
    assert_eq!((simulator.value(), calls, words), (0, 0, [0; WORDS]));
    let captured = nodes(graph);
    let types: Vec<_> = captured.iter().map(|node| node_type(*node)).collect();
    assert_eq!(types, [2, 0, 0, 1, 3]);
    for pair in captured.windows(2) {
        assert_eq!(dependencies(pair[1]), [pair[0]]);
    }
    let made = executable(graph);
    for launches in 1..=10 {
        // SAFETY: any handles may be named.
        unsafe {
            ok(cu::cuGraphLaunch(made, on));
            ok(cu::cuStreamSynchronize(on));
            assert_eq!(to.cast::<[u32; WORDS]>().read_volatile(), [20; WORDS]);
            assert_eq!((&raw const calls).read_volatile(), launches);
        }
    }
    // The stream does work again.
    ok(simulator.launch(simulator.add, 1, on));
    // SAFETY: any handle may be named.
    ok(unsafe { cu::cuStreamSynchronize(on) });
    assert_eq!(simulator.value(), 21);
}

#[test]
fn events_spread_a_capture_to_other_streams_and_back() {
    let simulator = Simulator::new();
    let (first, second) = (stream(1), stream(0));
    let (fork, join) = (event(), event());
    // SAFETY: any handles may be named.
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
fn branches_of_a_graph_are_beside_each_other_in_modelled_time() {
    let simulator = Simulator::new();
    let (from, to) = (event(), event());
    let time = |made: CUgraphExec| {
        let mut milliseconds = 0.0;
        // SAFETY: any handles may be named.
        unsafe {
            ok(cu::cuEventRecord(from, null_mut()));
            ok(cu::cuGraphLaunch(made, null_mut()));
            ok(cu::cuEventRecord(to, null_mut()));
            ok(cu::cuEventSynchronize(to));
            ok(cu::cuEventElapsedTime(&mut milliseconds, from, to));
        }
        milliseconds
    };
    let mut words = vec![0_u32; 1 << 20];
    let bytes = 4 * words.len();
    let mut large = 0;
    // SAFETY: the address can be written to.
    ok(unsafe { cu::cuMemAlloc_v2(&mut large, 2 * bytes) });
    let graph_of = |beside: bool| {
        let graph = graph();
        let (mut out, mut back) = (null_mut(), null_mut());
        let mut copy = read_back(large, words.as_ptr().cast_mut());
        copy.WidthInBytes = bytes;
        // SAFETY: the lists are as long as is said, and host memory outlives the launches.
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
            let count = usize::from(!beside);
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
    let (beside, behind) = (time(graph_of(true)), time(graph_of(false)));
    assert!(behind > 1.9 * beside && beside > 0.0, "{beside} {behind}");
    words.clear();
    let _ = simulator;
}

#[test]
fn a_capture_tells_of_itself_and_takes_other_nodes_in() {
    let simulator = Simulator::new();
    let on = stream(1);
    let (mut id, mut graph, mut tail, mut count) = (0, null_mut(), null(), 9);
    let (mut status, mut edges) = (-1, (&raw const id).cast());
    // SAFETY: the results can be written to, and the list is as long as is said.
    unsafe {
        ok(cu::cuStreamGetCaptureInfo(on, &mut status, &mut id));
        assert_eq!((status, id), (0, 0));
        ok(cu::cuStreamBeginCapture_v2(on, 2));
        ok(cu::cuMemsetD32Async(simulator.words, 3, WORDS, on));
        ok(cu::cuStreamGetCaptureInfo_v3(
            on,
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
        // A node that the program adds itself, which the stream waits for from now on.
        let mut own = simulator.kernel_node(graph, &[fill], simulator.add, 4);
        ok(cu::cuStreamUpdateCaptureDependencies(on, &mut own, 1, 1));
        ok(simulator.launch(simulator.times, 2, on));
        // Adding, without what was there going.
        ok(cu::cuStreamUpdateCaptureDependencies_v2(
            on,
            &mut own,
            null(),
            1,
            0,
        ));
        ok(cu::cuStreamGetCaptureInfo_v2(
            on,
            &mut status,
            null_mut(),
            null_mut(),
            &mut tail,
            &mut count,
        ));
        assert_eq!((count, *tail.add(1)), (2, own));
        let mut no_node = null_mut();
        assert_eq!(
            cu::cuStreamUpdateCaptureDependencies(on, &mut no_node, 1, 0),
            1
        );
    }
    assert_eq!(end(on), graph);
    run(executable(graph));
    assert_eq!(simulator.value(), 14);
    let mut none = null_mut();
    // SAFETY: any handles may be named.
    let after = unsafe { cu::cuStreamUpdateCaptureDependencies(on, &mut none, 0, 0) };
    assert_eq!(after, 401);
}

#[test]
fn a_capture_goes_on_in_a_graph_that_is_there() {
    let simulator = Simulator::new();
    let (on, graph) = (stream(1), graph());
    let fill = simulator.fill_node(graph, &[], 3);
    // SAFETY: the lists are as long as is said.
    unsafe {
        ok(cu::cuStreamBeginCaptureToGraph(
            on,
            graph,
            &fill,
            null(),
            1,
            0,
        ));
        ok(simulator.launch(simulator.add, 4, on));
    }
    assert_eq!(end(on), graph);
    assert_eq!(dependencies(nodes(graph)[1]), [fill]);
    run(executable(graph));
    assert_eq!(simulator.value(), 7);
    // SAFETY: as above.
    unsafe {
        let other = fill.cast();
        assert_eq!(
            cu::cuStreamBeginCaptureToGraph(on, other, null(), null(), 0, 0),
            1
        );
        let none = null_mut();
        assert_eq!(
            cu::cuStreamBeginCaptureToGraph(on, graph, &none, null(), 1, 0),
            1
        );
    }
    assert_eq!(status(on), 0);
}

/// NVIDIA's sample graphMemoryNodes does so.
#[test]
fn a_stream_that_was_joined_may_go_before_the_end() {
    let simulator = Simulator::new();
    let (first, second) = (stream(1), stream(1));
    let (fork, join) = (event(), event());
    // SAFETY: any handles may be named.
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
fn events_that_others_know_become_nodes() {
    let _simulator = Simulator::new();
    let (on, known) = (stream(1), event());
    // SAFETY: any handles may be named.
    unsafe {
        ok(cu::cuStreamBeginCapture_v2(on, 0));
        ok(cu::cuStreamWaitEvent(on, known, 1));
        ok(cu::cuEventRecordWithFlags(known, on, 1));
        let graph = end(on);
        let types: Vec<_> = nodes(graph).into_iter().map(node_type).collect();
        assert_eq!(types, [6, 7]);
        // It is an event that happens.
        ok(cu::cuEventQuery(known));
        run(executable(graph));
        ok(cu::cuEventSynchronize(known));
        let mut milliseconds = -1.0;
        ok(cu::cuEventElapsedTime(&mut milliseconds, known, known));
        assert_eq!(milliseconds, 0.0);
    }
}

#[test]
fn a_graph_launched_in_a_captured_stream_becomes_a_child() {
    let simulator = Simulator::new();
    let (on, inner) = (stream(1), graph());
    simulator.fill_node(inner, &[], 5);
    let inner = executable(inner);
    // SAFETY: any handles may be named.
    let outer = unsafe {
        ok(cu::cuStreamBeginCapture_v2(on, 0));
        ok(cu::cuGraphLaunch(inner, on));
        ok(simulator.launch(simulator.add, 1, on));
        end(on)
    };
    assert_eq!(simulator.value(), 0);
    assert_eq!(node_type(nodes(outer)[0]), 4);
    run(executable(outer));
    assert_eq!(simulator.value(), 6);
}

#[test]
fn each_thread_captures_its_own_stream() {
    let simulator = Simulator::new();
    let mut context = null_mut();
    // SAFETY: the handle can be written to.
    ok(unsafe { cu::cuCtxGetCurrent(&mut context) });
    let number = context.addr();
    let captured: Vec<usize> = thread::scope(|scope| {
        let capture = |by: u32| {
            let simulator = (simulator.words, simulator.add.addr());
            move || {
                // SAFETY: the context is the main thread's, which waits.
                unsafe {
                    let context = std::ptr::without_provenance_mut(number);
                    ok(cu::cuCtxSetCurrent(context));
                    // CU_STREAM_PER_THREAD
                    let on = std::ptr::without_provenance_mut(2);
                    ok(cu::cuStreamBeginCapture_v2(on, 1));
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
                            on,
                            parameters,
                            null_mut(),
                        ));
                    }
                    end(on).addr()
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
