//! The time of execution: calls that wait for operations, calls that query them, and idle time.

use super::*;
use std::thread;
use std::time::{Duration, Instant};

/// Makes driver calls while `body` runs, so that no background work starts and only waits execute operations.
fn while_active<T>(body: impl FnOnce() -> T) -> T {
    use std::sync::atomic::{AtomicBool, Ordering};
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let mut count = 0;
                calls! { cuDeviceGetCount(&mut count); }
            }
        });
        let result = body();
        over.store(true, Ordering::Relaxed);
        result
    })
}

#[test]
fn operations_run_when_a_call_waits_for_them() {
    let simulator = Simulator::new();
    let (h_stream, recorded) = (stream(1), event());
    let recorder = cuda_driver::record_launches();
    let waits: [&dyn Fn(); 6] = [
        &|| ok(code!(cuStreamSynchronize(h_stream))),
        &|| ok(code!(cuCtxSynchronize())),
        &|| ok(code!(cuEventSynchronize(recorded))),
        &|| {
            let (mut word, from) = (0_u64, simulator.number as u64);
            calls! { cuMemcpyDtoH_v2((&raw mut word).cast(), from, 8); }
        },
        &|| ok(code!(cuStreamDestroy_v2(stream(0)))),
        &|| {
            recorder.last().expect("a launch");
        },
    ];
    for wait in waits {
        simulator.set(0);
        while_active(|| {
            simulator.append(1, h_stream);
            simulator.append(2, h_stream);
            calls! { cuEventRecord(recorded, h_stream); }
            assert_eq!(simulator.now(), 0);
            wait();
            assert_eq!(simulator.now(), 12);
        });
    }
}

#[test]
fn pending_operations_are_not_ready_and_polling_terminates() {
    let simulator = Simulator::new();
    let (h_stream, recorded) = (stream(1), event());
    while_active(|| {
        calls! { cuStreamQuery(h_stream); }
        for digit in 1..=9 {
            simulator.append(digit, h_stream);
        }
        calls! { cuEventRecord(recorded, h_stream); }
        let mut milliseconds = 0.0;
        calls! {
            cuEventElapsedTime(&mut milliseconds, recorded, recorded) => 600;
            cuStreamQuery(h_stream) => 600;
        }
        assert_eq!(simulator.now(), 1);
        calls! { cuEventQuery(recorded) => 600; }
        let mut queried = 2;
        while code!(cuEventQuery(recorded)) == 600 {
            queried += 1;
        }
        assert_eq!((simulator.now(), queried), (123_456_789, 9));
        calls! {
            cuStreamQuery(h_stream);
            cuEventElapsedTime(&mut milliseconds, recorded, recorded);
        }
    });
}

#[test]
fn polling_mapped_memory_makes_progress() {
    let simulator = Simulator::new();
    simulator.append(7, stream(1));
    let since = Instant::now();
    while simulator.now() != 7 {
        assert!(since.elapsed() < Duration::from_secs(10));
        std::hint::spin_loop();
    }
}

#[test]
fn full_queues_execute_their_oldest_operations() {
    let simulator = Simulator::new();
    let h_stream = stream(1);
    while_active(|| {
        simulator.append(5, h_stream);
        while simulator.now() == 0 {
            simulator.append(0, h_stream);
        }
    });
    calls! { cuStreamSynchronize(h_stream); }
}

#[test]
fn host_functions_run_in_order_with_the_driver_unlocked() {
    unsafe extern "C" fn append(number: *mut c_void) {
        // SAFETY: the memory belongs to the context, which is still alive.
        unsafe {
            let number = number.cast::<u64>();
            number.write_volatile(number.read_volatile() * 10 + 2);
        }
        // A host function may not call the driver.
        calls! { cuCtxSynchronize() => 800; }
        // Reading the simulator's records does not wait for the host function itself.
        let _ = cuda_driver::record_launches().last();
    }
    let simulator = Simulator::new();
    let h_stream = stream(1);
    while_active(|| {
        simulator.append(1, h_stream);
        calls! { cuLaunchHostFunc(h_stream, Some(append), simulator.number.cast()); }
        simulator.append(3, h_stream);
        assert_eq!(simulator.now(), 0);
        calls! { cuStreamSynchronize(h_stream); }
    });
    assert_eq!(simulator.now(), 123);
}

/// A host function may wait for another thread, which waits for its own stream.
#[test]
fn host_functions_do_not_block_other_streams() {
    use std::sync::atomic::{AtomicBool, Ordering};
    static GO_ON: AtomicBool = AtomicBool::new(false);
    unsafe extern "C" fn wait(_: *mut c_void) {
        let since = Instant::now();
        while !GO_ON.load(Ordering::Acquire) {
            assert!(since.elapsed() < Duration::from_secs(20));
            thread::yield_now();
        }
    }
    let simulator = Simulator::new();
    let (h_stream, other) = (stream(1), stream(1));
    let shared = Shared((current_context(), &simulator, other));
    let (mut graph, mut graph_exec) = (null_mut(), null_mut());
    calls! {
        cuStreamBeginCapture_v2(h_stream, 2);
        cuLaunchHostFunc(h_stream, Some(wait), null_mut());
        cuStreamEndCapture(h_stream, &mut graph);
        cuGraphInstantiateWithFlags(&mut graph_exec, graph, 0);
    }
    for in_graph in [false, true] {
        GO_ON.store(false, Ordering::Release);
        simulator.set(0);
        thread::scope(|scope| {
            ok({
                match in_graph {
                    true => code!(cuGraphLaunch(graph_exec, h_stream)),
                    false => code!(cuLaunchHostFunc(h_stream, Some(wait), null_mut())),
                }
            });
            scope.spawn(move || {
                thread::sleep(Duration::from_millis(20));
                let (context, simulator, other) = shared.get();
                calls! { cuCtxSetCurrent(context); }
                simulator.append(5, other);
                calls! { cuStreamSynchronize(other); }
                GO_ON.store(true, Ordering::Release);
            });
            calls! { cuStreamSynchronize(h_stream); }
        });
        assert_eq!(simulator.now(), 5);
    }
}

/// A query does not wait for a host function that waits for the querying thread.
#[test]
fn queries_do_not_wait_for_host_functions() {
    use std::sync::atomic::{AtomicBool, Ordering};
    static GO_ON: AtomicBool = AtomicBool::new(false);
    unsafe extern "C" fn wait(waited: *mut c_void) {
        let since = Instant::now();
        while !GO_ON.load(Ordering::Acquire) && since.elapsed() < Duration::from_secs(20) {
            thread::yield_now();
        }
        // SAFETY: the memory belongs to the context, which is still alive.
        unsafe { waited.cast::<u64>().write_volatile(7) };
    }
    let simulator = Simulator::new();
    let (h_stream, recorded) = (stream(1), event());
    for handle_kind in [0, 1] {
        let queried = || match handle_kind {
            0 => code!(cuEventQuery(recorded)),
            _ => code!(cuStreamQuery(h_stream)),
        };
        GO_ON.store(false, Ordering::Release);
        simulator.set(0);
        calls! {
            cuLaunchHostFunc(h_stream, Some(wait), simulator.number.cast());
            cuEventRecord(recorded, h_stream);
        }
        assert_eq!([queried(), queried()], [600, 600]);
        assert_eq!(simulator.now(), 0);
        GO_ON.store(true, Ordering::Release);
        while queried() == 600 {}
        assert_eq!((queried(), simulator.now()), (0, 7));
    }
}

#[test]
fn invalid_launches_fail_at_once_and_faults_at_the_wait() {
    let simulator = Simulator::new();
    let recorder = cuda_driver::record_launches();
    let h_stream = stream(1);
    while_active(|| {
        let none = null_mut();
        let wrong = code!(cuLaunchKernel(
            simulator.fault,
            0,
            1,
            1,
            1,
            1,
            1,
            0,
            h_stream,
            none,
            none
        ));
        assert_eq!(wrong, 1);
        ok(simulator.launch(simulator.fault, &[], h_stream));
        simulator.append(1, h_stream);
        calls! { cuStreamSynchronize(h_stream) => 700; }
        assert_eq!(simulator.launch(simulator.fault, &[], h_stream), 700);
        assert_eq!(simulator.now(), 0);
        let report = recorder.take().pop().expect("a launch");
        report.result.expect_err("the fault");
    });
}

#[test]
fn copies_of_pageable_memory_are_synchronous() {
    let simulator = Simulator::new();
    let (h_stream, mut words) = (stream(1), [0_u64; 2]);
    let mut device = 0;
    while_active(|| {
        calls! { cuMemAlloc_v2(&mut device, 16); }
        words[0] = 9;
        calls! { cuMemcpyHtoDAsync_v2(device, words.as_ptr().cast(), 16, h_stream); }
        words[0] = 1;
        calls! { cuMemcpyDtoDAsync_v2(simulator.number as u64, device, 8, h_stream); }
        assert_eq!(simulator.now(), 0);
        calls! { cuMemcpyDtoHAsync_v2(words.as_mut_ptr().cast(), device, 16, h_stream); }
        assert_eq!((words[0], simulator.now()), (9, 9));
    });
}

#[test]
fn async_frees_follow_stream_order() {
    let simulator = Simulator::new();
    let (h_stream, mut device) = (stream(1), 0);
    while_active(|| {
        calls! {
            cuMemAllocAsync(&mut device, 8, h_stream);
            cuMemsetD8Async(device, 1, 8, h_stream);
            cuMemcpyDtoDAsync_v2(simulator.number as u64, device, 8, h_stream);
            cuMemFreeAsync(device, h_stream);
            cuMemFreeAsync(device, h_stream) => 1;
            cuStreamSynchronize(h_stream);
            cuMemFreeAsync(device, h_stream) => 1;
        }
    });
    assert_eq!(simulator.now(), 0x0101_0101_0101_0101);
}

#[test]
fn many_threads_submit_and_wait() {
    let simulator = Simulator::new();
    let shared = Shared((current_context(), &simulator));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(move || {
                let (context, simulator) = shared.get();
                calls! { cuCtxSetCurrent(context); }
                let (h_stream, number) = (stream(1), allocate_host::<u64>(8));
                for round in 1..=20 {
                    // SAFETY: the stream is idle, and no other one uses the number.
                    unsafe { number.write_volatile(0) };
                    for digit in 1..=5 {
                        let arguments = [number as u64, digit];
                        ok(simulator.launch(simulator.append, &arguments, h_stream));
                    }
                    match round % 2 {
                        0 => ok(code!(cuStreamSynchronize(h_stream))),
                        _ => while code!(cuStreamQuery(h_stream)) == 600 {},
                    }
                    // SAFETY: the stream is idle again.
                    assert_eq!(unsafe { number.read_volatile() }, 12345);
                }
            });
        }
    });
}

#[test]
fn fills_of_host_memory_are_synchronous() {
    let simulator = Simulator::new();
    let address = simulator.number as u64;
    while_active(|| {
        calls! { cuMemsetD8_v2(address, 1, 8); }
        assert_eq!(simulator.now(), 0x0101_0101_0101_0101);
        calls! { cuMemsetD2D32_v2(address, 8, 7, 1, 1); }
        assert_eq!(simulator.now(), 0x0101_0101_0000_0007);
    });
}
