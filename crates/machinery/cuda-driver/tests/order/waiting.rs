//! When work is done: what waits for it, what asks about it, and what happens when nobody does.

use super::*;
use std::thread;
use std::time::{Duration, Instant};

/// Keeps the program from being quiet while `body` runs: then work is done for who waits alone.
fn busy<T>(body: impl FnOnce() -> T) -> T {
    use std::sync::atomic::{AtomicBool, Ordering};
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let mut count = 0;
                // SAFETY: the number can be written to.
                ok(unsafe { cu::cuDeviceGetCount(&mut count) });
            }
        });
        let result = body();
        over.store(true, Ordering::Relaxed);
        result
    })
}

#[test]
fn work_waits_until_somebody_waits_for_it() {
    let simulator = Simulator::new();
    let (on, recorded) = (stream(1), event());
    let waits: [&dyn Fn(); 6] = [
        // SAFETY: any handles may be named, and results written to.
        &|| ok(unsafe { cu::cuStreamSynchronize(on) }),
        // SAFETY: any handles may be named, and results written to.
        &|| ok(unsafe { cu::cuCtxSynchronize() }),
        // SAFETY: any handles may be named, and results written to.
        &|| ok(unsafe { cu::cuEventSynchronize(recorded) }),
        &|| {
            let (mut word, from) = (0_u64, simulator.number as u64);
            // SAFETY: any handles may be named, and results written to.
            ok(unsafe { cu::cuMemcpyDtoH_v2((&raw mut word).cast(), from, 8) });
        },
        // SAFETY: any handles may be named, and results written to.
        &|| ok(unsafe { cu::cuStreamDestroy_v2(stream(0)) }),
        &|| {
            cuda_driver::last_launch().expect("a launch");
        },
    ];
    for wait in waits {
        simulator.set(0);
        busy(|| {
            simulator.append(1, on);
            simulator.append(2, on);
            // SAFETY: any handles may be named.
            ok(unsafe { cu::cuEventRecord(recorded, on) });
            assert_eq!(simulator.now(), 0);
            wait();
            assert_eq!(simulator.now(), 12);
        });
    }
}

#[test]
fn what_is_not_done_is_not_ready_and_asking_ends() {
    let simulator = Simulator::new();
    let (on, recorded) = (stream(1), event());
    busy(|| {
        // SAFETY: any handles may be named, here and below.
        ok(unsafe { cu::cuStreamQuery(on) });
        for digit in 1..=9 {
            simulator.append(digit, on);
        }
        // SAFETY: any handles may be named, and results written to.
        ok(unsafe { cu::cuEventRecord(recorded, on) });
        let mut milliseconds = 0.0;
        // SAFETY: any handles may be named, and results written to.
        let elapsed = unsafe { cu::cuEventElapsedTime(&mut milliseconds, recorded, recorded) };
        assert_eq!(elapsed, 600);
        // SAFETY: any handles may be named, and results written to.
        assert_eq!(unsafe { cu::cuStreamQuery(on) }, 600);
        assert_eq!(simulator.now(), 1);
        // SAFETY: any handles may be named, and results written to.
        assert_eq!(unsafe { cu::cuEventQuery(recorded) }, 600);
        let mut asked = 2;
        // SAFETY: any handles may be named, and results written to.
        while unsafe { cu::cuEventQuery(recorded) } == 600 {
            asked += 1;
        }
        assert_eq!((simulator.now(), asked), (123_456_789, 9));
        // SAFETY: any handles may be named, and results written to.
        ok(unsafe { cu::cuStreamQuery(on) });
        // SAFETY: any handles may be named, and results written to.
        ok(unsafe { cu::cuEventElapsedTime(&mut milliseconds, recorded, recorded) });
    });
}

#[test]
fn a_program_that_looks_at_mapped_memory_gets_on() {
    let simulator = Simulator::new();
    simulator.append(7, stream(1));
    let since = Instant::now();
    while simulator.now() != 7 {
        assert!(since.elapsed() < Duration::from_secs(10));
        std::hint::spin_loop();
    }
}

#[test]
fn a_full_queue_is_worked_off_from_its_beginning() {
    let simulator = Simulator::new();
    let on = stream(1);
    let (mut at, mut zero) = (simulator.number as u64, 0_u64);
    let mut arguments: [*mut c_void; 2] = [(&raw mut at).cast(), (&raw mut zero).cast()];
    busy(|| {
        simulator.append(5, on);
        while simulator.now() == 0 {
            ok(launch(simulator.append, &mut arguments, on));
        }
    });
    // SAFETY: any handle may be named.
    ok(unsafe { cu::cuStreamSynchronize(on) });
}

#[test]
fn host_functions_are_called_in_order_without_the_machine() {
    unsafe extern "C" fn append(number: *mut c_void) {
        // SAFETY: the number is the context's, which lives.
        unsafe {
            let number = number.cast::<u64>();
            number.write_volatile(number.read_volatile() * 10 + 2);
        }
        // A function in a stream may not call the driver.
        // SAFETY: nothing is named.
        assert_eq!(unsafe { cu::cuCtxSynchronize() }, 800);
        // Nor does asking for what the simulator knows wait for the function itself.
        let _ = cuda_driver::last_launch();
    }
    let simulator = Simulator::new();
    let on = stream(1);
    busy(|| {
        simulator.append(1, on);
        // SAFETY: the number outlives the call.
        ok(unsafe { cu::cuLaunchHostFunc(on, Some(append), simulator.number.cast()) });
        simulator.append(3, on);
        assert_eq!(simulator.now(), 0);
        // SAFETY: any handle may be named.
        ok(unsafe { cu::cuStreamSynchronize(on) });
    });
    assert_eq!(simulator.now(), 123);
}

/// A function in a stream may wait for what another thread does, which waits for a stream of its own.
#[test]
fn a_host_function_keeps_no_other_stream_waiting() {
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
    let (on, other, mut context) = (stream(1), stream(1), null_mut());
    // SAFETY: the handle can be written to.
    ok(unsafe { cu::cuCtxGetCurrent(&mut context) });
    let (context, other) = (context.addr(), other.addr());
    let (number, append) = (simulator.number.addr(), simulator.append.addr());
    let mut graph = null_mut();
    let mut made = null_mut();
    // SAFETY: any handles may be named, and results written to.
    unsafe {
        ok(cu::cuStreamBeginCapture_v2(on, 2));
        ok(cu::cuLaunchHostFunc(on, Some(wait), null_mut()));
        ok(cu::cuStreamEndCapture(on, &mut graph));
        ok(cu::cuGraphInstantiateWithFlags(&mut made, graph, 0));
    }
    for in_graph in [false, true] {
        GO_ON.store(false, Ordering::Release);
        simulator.set(0);
        thread::scope(|scope| {
            // SAFETY: any handles may be named.
            ok(unsafe {
                match in_graph {
                    true => cu::cuGraphLaunch(made, on),
                    false => cu::cuLaunchHostFunc(on, Some(wait), null_mut()),
                }
            });
            scope.spawn(move || {
                thread::sleep(Duration::from_millis(20));
                // SAFETY: the handles are those of the thread that waits; the arguments are the kernel's.
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
            // SAFETY: any handle may be named.
            ok(unsafe { cu::cuStreamSynchronize(on) });
        });
        assert_eq!(simulator.now(), 5);
    }
}

/// Asking whether something is done does not wait for a function that waits for who asks.
#[test]
fn a_program_may_ask_before_it_lets_a_host_function_go_on() {
    use std::sync::atomic::{AtomicBool, Ordering};
    static GO_ON: AtomicBool = AtomicBool::new(false);
    unsafe extern "C" fn wait(waited: *mut c_void) {
        let since = Instant::now();
        while !GO_ON.load(Ordering::Acquire) && since.elapsed() < Duration::from_secs(20) {
            thread::yield_now();
        }
        // SAFETY: the number is the context's, which lives.
        unsafe { waited.cast::<u64>().write_volatile(7) };
    }
    let simulator = Simulator::new();
    let (on, recorded) = (stream(1), event());
    for ask in [0, 1] {
        // SAFETY: any handles may be named.
        let asked = || unsafe {
            match ask {
                0 => cu::cuEventQuery(recorded),
                _ => cu::cuStreamQuery(on),
            }
        };
        GO_ON.store(false, Ordering::Release);
        simulator.set(0);
        // SAFETY: the number outlives the call.
        ok(unsafe { cu::cuLaunchHostFunc(on, Some(wait), simulator.number.cast()) });
        // SAFETY: any handles may be named.
        ok(unsafe { cu::cuEventRecord(recorded, on) });
        assert_eq!([asked(), asked()], [600, 600]);
        assert_eq!(simulator.now(), 0);
        GO_ON.store(true, Ordering::Release);
        while asked() == 600 {}
        assert_eq!((asked(), simulator.now()), (0, 7));
    }
}

#[test]
fn a_wrong_launch_is_refused_at_once_and_a_fault_told_when_waiting() {
    let simulator = Simulator::new();
    let on = stream(1);
    busy(|| {
        // SAFETY: the kernel has no parameters, and any handles may be named.
        unsafe {
            let none = null_mut();
            let wrong = cu::cuLaunchKernel(simulator.fault, 0, 1, 1, 1, 1, 1, 0, on, none, none);
            assert_eq!(wrong, 1);
            ok(launch(simulator.fault, &mut [], on));
            simulator.append(1, on);
            assert_eq!(cu::cuStreamSynchronize(on), 700);
            assert_eq!(launch(simulator.fault, &mut [], on), 700);
        }
        assert_eq!(simulator.now(), 0);
        cuda_driver::take_fault().expect("the fault");
    });
}

#[test]
fn a_copy_of_memory_that_is_not_page_locked_is_done_at_once() {
    let simulator = Simulator::new();
    let (on, mut words) = (stream(1), [0_u64; 2]);
    let mut device = 0;
    busy(|| {
        // SAFETY: host memory is not touched before the streams are waited for.
        unsafe {
            ok(cu::cuMemAlloc_v2(&mut device, 16));
            words[0] = 9;
            ok(cu::cuMemcpyHtoDAsync_v2(
                device,
                words.as_ptr().cast(),
                16,
                on,
            ));
            words[0] = 1;
            ok(cu::cuMemcpyDtoDAsync_v2(
                simulator.number as u64,
                device,
                8,
                on,
            ));
            assert_eq!(simulator.now(), 0);
            ok(cu::cuMemcpyDtoHAsync_v2(
                words.as_mut_ptr().cast(),
                device,
                16,
                on,
            ));
        }
        assert_eq!((words[0], simulator.now()), (9, 9));
    });
}

#[test]
fn memory_is_freed_in_the_order_of_the_stream() {
    let simulator = Simulator::new();
    let (on, mut device) = (stream(1), 0);
    busy(|| {
        // SAFETY: any handles may be named.
        unsafe {
            ok(cu::cuMemAllocAsync(&mut device, 8, on));
            ok(cu::cuMemsetD8Async(device, 1, 8, on));
            ok(cu::cuMemcpyDtoDAsync_v2(
                simulator.number as u64,
                device,
                8,
                on,
            ));
            ok(cu::cuMemFreeAsync(device, on));
            assert_eq!(cu::cuMemFreeAsync(device, on), 1);
            ok(cu::cuStreamSynchronize(on));
            assert_eq!(cu::cuMemFreeAsync(device, on), 1);
        }
    });
    assert_eq!(simulator.now(), 0x0101_0101_0101_0101);
}

#[test]
fn many_threads_put_in_and_wait() {
    let simulator = Simulator::new();
    let mut context = null_mut();
    // SAFETY: the handle can be written to.
    ok(unsafe { cu::cuCtxGetCurrent(&mut context) });
    let (context, append) = (context.addr(), simulator.append.addr());
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(move || {
                // SAFETY: the context is the main thread's, which waits; the arguments are the kernel's.
                unsafe {
                    ok(cu::cuCtxSetCurrent(std::ptr::without_provenance_mut(
                        context,
                    )));
                    let (on, mut number) = (stream(1), null_mut());
                    ok(cu::cuMemAllocHost_v2(&mut number, 8));
                    for round in 1..=20 {
                        *number.cast::<u64>() = 0;
                        for digit in 1..=5_u64 {
                            let (mut at, mut digit) = (number as u64, digit);
                            let mut arguments: [*mut c_void; 2] =
                                [(&raw mut at).cast(), (&raw mut digit).cast()];
                            let append = std::ptr::without_provenance_mut(append);
                            ok(launch(append, &mut arguments, on));
                        }
                        match round % 2 {
                            0 => ok(cu::cuStreamSynchronize(on)),
                            _ => while cu::cuStreamQuery(on) == 600 {},
                        }
                        assert_eq!(number.cast::<u64>().read_volatile(), 12345);
                    }
                }
            });
        }
    });
}
