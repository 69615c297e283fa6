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
                // SAFETY: `count` is writable.
                ok(unsafe { cu::cuDeviceGetCount(&mut count) });
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
        // SAFETY: `h_stream` is an opaque handle that the driver looks up, never dereferences.
        &|| ok(unsafe { cu::cuStreamSynchronize(h_stream) }),
        // SAFETY: `cuCtxSynchronize` takes no pointers.
        &|| ok(unsafe { cu::cuCtxSynchronize() }),
        // SAFETY: `recorded` is an opaque handle that the driver looks up, never dereferences.
        &|| ok(unsafe { cu::cuEventSynchronize(recorded) }),
        &|| {
            let (mut word, from) = (0_u64, simulator.number as u64);
            // SAFETY: `word` has the 8 bytes that are copied; `from` is page-locked memory of the driver.
            ok(unsafe { cu::cuMemcpyDtoH_v2((&raw mut word).cast(), from, 8) });
        },
        // SAFETY: `cuStreamDestroy_v2` takes no pointers.
        &|| ok(unsafe { cu::cuStreamDestroy_v2(stream(0)) }),
        &|| {
            recorder.last().expect("a launch");
        },
    ];
    for wait in waits {
        simulator.set(0);
        while_active(|| {
            simulator.append(1, h_stream);
            simulator.append(2, h_stream);
            // SAFETY: `recorded` and `h_stream` are handles or addresses that the driver looks up, never
            // dereferences.
            ok(unsafe { cu::cuEventRecord(recorded, h_stream) });
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
        // SAFETY: `h_stream` is an opaque handle that the driver looks up, never dereferences.
        ok(unsafe { cu::cuStreamQuery(h_stream) });
        for digit in 1..=9 {
            simulator.append(digit, h_stream);
        }
        // SAFETY: `recorded` and `h_stream` are handles or addresses that the driver looks up, never
        // dereferences.
        ok(unsafe { cu::cuEventRecord(recorded, h_stream) });
        let mut milliseconds = 0.0;
        // SAFETY: `milliseconds` is writable; `recorded` is an opaque handle that the driver looks up, never
        // dereferences.
        let elapsed = unsafe { cu::cuEventElapsedTime(&mut milliseconds, recorded, recorded) };
        assert_eq!(elapsed, 600);
        // SAFETY: `h_stream` is an opaque handle that the driver looks up, never dereferences.
        assert_eq!(unsafe { cu::cuStreamQuery(h_stream) }, 600);
        assert_eq!(simulator.now(), 1);
        // SAFETY: `recorded` is an opaque handle that the driver looks up, never dereferences.
        assert_eq!(unsafe { cu::cuEventQuery(recorded) }, 600);
        let mut queried = 2;
        // SAFETY: `recorded` is an opaque handle that the driver looks up, never dereferences.
        while unsafe { cu::cuEventQuery(recorded) } == 600 {
            queried += 1;
        }
        assert_eq!((simulator.now(), queried), (123_456_789, 9));
        // SAFETY: `h_stream` is an opaque handle that the driver looks up, never dereferences.
        ok(unsafe { cu::cuStreamQuery(h_stream) });
        // SAFETY: `milliseconds` is writable; `recorded` is an opaque handle that the driver looks up, never
        // dereferences.
        ok(unsafe { cu::cuEventElapsedTime(&mut milliseconds, recorded, recorded) });
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
    let (mut at, mut zero) = (simulator.number as u64, 0_u64);
    let mut arguments: [*mut c_void; 2] = [(&raw mut at).cast(), (&raw mut zero).cast()];
    while_active(|| {
        simulator.append(5, h_stream);
        while simulator.now() == 0 {
            ok(launch(simulator.append, &mut arguments, h_stream));
        }
    });
    // SAFETY: `h_stream` is an opaque handle that the driver looks up, never dereferences.
    ok(unsafe { cu::cuStreamSynchronize(h_stream) });
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
        // SAFETY: `cuCtxSynchronize` takes no pointers.
        assert_eq!(unsafe { cu::cuCtxSynchronize() }, 800);
        // Reading the simulator's records does not wait for the host function itself.
        let _ = cuda_driver::record_launches().last();
    }
    let simulator = Simulator::new();
    let h_stream = stream(1);
    while_active(|| {
        simulator.append(1, h_stream);
        // SAFETY: the number that the pointer refers to outlives the call.
        ok(unsafe { cu::cuLaunchHostFunc(h_stream, Some(append), simulator.number.cast()) });
        simulator.append(3, h_stream);
        assert_eq!(simulator.now(), 0);
        // SAFETY: `h_stream` is an opaque handle that the driver looks up, never dereferences.
        ok(unsafe { cu::cuStreamSynchronize(h_stream) });
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
    let (h_stream, other, mut context) = (stream(1), stream(1), null_mut());
    // SAFETY: `context` is writable.
    ok(unsafe { cu::cuCtxGetCurrent(&mut context) });
    let (context, other) = (context.addr(), other.addr());
    let (number, append) = (simulator.number.addr(), simulator.append.addr());
    let mut graph = null_mut();
    let mut graph_exec = null_mut();
    // SAFETY: `graph` and `graph_exec` are writable; the host function may be called with its argument; `h_stream`
    // and `wait` are handles or addresses that the driver looks up, never dereferences.
    unsafe {
        ok(cu::cuStreamBeginCapture_v2(h_stream, 2));
        ok(cu::cuLaunchHostFunc(h_stream, Some(wait), null_mut()));
        ok(cu::cuStreamEndCapture(h_stream, &mut graph));
        ok(cu::cuGraphInstantiateWithFlags(&mut graph_exec, graph, 0));
    }
    for in_graph in [false, true] {
        GO_ON.store(false, Ordering::Release);
        simulator.set(0);
        thread::scope(|scope| {
            // SAFETY: the host function may be called with its argument; `graph_exec`, `h_stream` and `wait` are
            // handles or addresses that the driver looks up, never dereferences.
            ok(unsafe {
                match in_graph {
                    true => cu::cuGraphLaunch(graph_exec, h_stream),
                    false => cu::cuLaunchHostFunc(h_stream, Some(wait), null_mut()),
                }
            });
            scope.spawn(move || {
                thread::sleep(Duration::from_millis(20));
                // SAFETY: the handles belong to the main thread, which waits for this one; the parameters
                // match the kernel's signature.
                unsafe {
                    ok(cu::cuCtxSetCurrent(std::ptr::without_provenance_mut(
                        context,
                    )));
                    let other = std::ptr::without_provenance_mut(other);
                    let (mut at, mut digit) = (number, 5_u64);
                    let mut arguments: [*mut c_void; 2] =
                        [(&raw mut at).cast(), (&raw mut digit).cast()];
                    let append = std::ptr::without_provenance_mut(append);
                    ok(launch(append, &mut arguments, other));
                    ok(cu::cuStreamSynchronize(other));
                }
                GO_ON.store(true, Ordering::Release);
            });
            // SAFETY: `h_stream` is an opaque handle that the driver looks up, never dereferences.
            ok(unsafe { cu::cuStreamSynchronize(h_stream) });
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
        // SAFETY: `recorded` and `h_stream` are handles or addresses that the driver looks up, never
        // dereferences.
        let queried = || unsafe {
            match handle_kind {
                0 => cu::cuEventQuery(recorded),
                _ => cu::cuStreamQuery(h_stream),
            }
        };
        GO_ON.store(false, Ordering::Release);
        simulator.set(0);
        // SAFETY: the number that the pointer refers to outlives the call.
        ok(unsafe { cu::cuLaunchHostFunc(h_stream, Some(wait), simulator.number.cast()) });
        // SAFETY: `recorded` and `h_stream` are handles or addresses that the driver looks up, never
        // dereferences.
        ok(unsafe { cu::cuEventRecord(recorded, h_stream) });
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
        // SAFETY: the parameters match the kernel's signature; `simulator.fault`, `h_stream` and `none` are
        // handles or addresses that the driver looks up, never dereferences.
        unsafe {
            let none = null_mut();
            let wrong =
                cu::cuLaunchKernel(simulator.fault, 0, 1, 1, 1, 1, 1, 0, h_stream, none, none);
            assert_eq!(wrong, 1);
            ok(launch(simulator.fault, &mut [], h_stream));
            simulator.append(1, h_stream);
            assert_eq!(cu::cuStreamSynchronize(h_stream), 700);
            assert_eq!(launch(simulator.fault, &mut [], h_stream), 700);
        }
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
        // SAFETY: the host memory is not accessed before the streams are synchronized.
        unsafe {
            ok(cu::cuMemAlloc_v2(&mut device, 16));
            words[0] = 9;
            ok(cu::cuMemcpyHtoDAsync_v2(
                device,
                words.as_ptr().cast(),
                16,
                h_stream,
            ));
            words[0] = 1;
            ok(cu::cuMemcpyDtoDAsync_v2(
                simulator.number as u64,
                device,
                8,
                h_stream,
            ));
            assert_eq!(simulator.now(), 0);
            ok(cu::cuMemcpyDtoHAsync_v2(
                words.as_mut_ptr().cast(),
                device,
                16,
                h_stream,
            ));
        }
        assert_eq!((words[0], simulator.now()), (9, 9));
    });
}

#[test]
fn async_frees_follow_stream_order() {
    let simulator = Simulator::new();
    let (h_stream, mut device) = (stream(1), 0);
    while_active(|| {
        // SAFETY: `device` is writable; `h_stream` and `simulator.number` are handles or addresses that the
        // driver looks up, never dereferences.
        unsafe {
            ok(cu::cuMemAllocAsync(&mut device, 8, h_stream));
            ok(cu::cuMemsetD8Async(device, 1, 8, h_stream));
            ok(cu::cuMemcpyDtoDAsync_v2(
                simulator.number as u64,
                device,
                8,
                h_stream,
            ));
            ok(cu::cuMemFreeAsync(device, h_stream));
            assert_eq!(cu::cuMemFreeAsync(device, h_stream), 1);
            ok(cu::cuStreamSynchronize(h_stream));
            assert_eq!(cu::cuMemFreeAsync(device, h_stream), 1);
        }
    });
    assert_eq!(simulator.now(), 0x0101_0101_0101_0101);
}

#[test]
fn many_threads_submit_and_wait() {
    let simulator = Simulator::new();
    let mut context = null_mut();
    // SAFETY: `context` is writable.
    ok(unsafe { cu::cuCtxGetCurrent(&mut context) });
    let (context, append) = (context.addr(), simulator.append.addr());
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(move || {
                // SAFETY: the context belongs to the main thread, which waits for this one; the parameters
                // match the kernel's signature.
                unsafe {
                    ok(cu::cuCtxSetCurrent(std::ptr::without_provenance_mut(
                        context,
                    )));
                    let (h_stream, mut number) = (stream(1), null_mut());
                    ok(cu::cuMemAllocHost_v2(&mut number, 8));
                    for round in 1..=20 {
                        *number.cast::<u64>() = 0;
                        for digit in 1..=5_u64 {
                            let (mut at, mut digit) = (number as u64, digit);
                            let mut arguments: [*mut c_void; 2] =
                                [(&raw mut at).cast(), (&raw mut digit).cast()];
                            let append = std::ptr::without_provenance_mut(append);
                            ok(launch(append, &mut arguments, h_stream));
                        }
                        match round % 2 {
                            0 => ok(cu::cuStreamSynchronize(h_stream)),
                            _ => while cu::cuStreamQuery(h_stream) == 600 {},
                        }
                        assert_eq!(number.cast::<u64>().read_volatile(), 12345);
                    }
                }
            });
        }
    });
}
