//! Threads with their own contexts, the shared primary context, and contexts that are destroyed while they
//! are current.

use std::ffi::c_void;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{ptr, thread};

use cust::context::{Context, CurrentContext, legacy};
use cust::device::Device;
use cust::error::CudaError;
use cust::event::{Event, EventFlags};
use cust::launch;
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::module::Module;

use super::support::*;
use super::{
    PTX, Test, bare_module, expected, own_context, primary, scale, simulated, start, stream,
};

#[test]
fn threads_with_separate_contexts_are_isolated() {
    start();
    const THREADS: u32 = 6;
    let at_once = Barrier::new(THREADS as usize);
    thread::scope(|scope| {
        for number in 0..THREADS {
            let at_once = &at_once;
            scope.spawn(move || {
                at_once.wait();
                for round in 0..4 {
                    let context = own_context();
                    let module = Module::from_ptx(PTX, &[]).unwrap();
                    let factor = 3 + 10 * number + round;
                    // Every context has the same name with a different value.
                    let mut symbol = module.get_global::<u32>(c"factor").unwrap();
                    symbol.copy_from(&factor).unwrap();
                    let kernel = module.get_function("scale").unwrap();
                    let stream = stream();
                    let (begin, end) = (
                        Event::new(EventFlags::DEFAULT).unwrap(),
                        Event::new(EventFlags::DEFAULT).unwrap(),
                    );
                    for n in [1, 33, 1000] {
                        let input: Vec<u32> = (0..n).map(|i| i ^ number).collect();
                        let from = DeviceBuffer::from_slice(&input).unwrap();
                        begin.record(&stream).unwrap();
                        let actual = scale(&kernel, &stream, &from, n);
                        end.record(&stream).unwrap();
                        end.synchronize().unwrap();
                        assert_eq!(
                            actual,
                            expected(factor, &input),
                            "thread {number}, {n} words"
                        );
                        assert!(end.elapsed_time_f32(&begin).unwrap() > 0.0);
                    }
                    drop((begin, end, stream, module));
                    drop(context);
                    assert_eq!(
                        CurrentContext::synchronize(),
                        Err(CudaError::InvalidContext),
                        "a destroyed context is current no more"
                    );
                }
            });
        }
    });
}

/// cust's `Context` counts references: the primary context exists while one of them does, in any thread.
#[test]
fn primary_context_is_shared_and_reference_counted() -> Test {
    let (_turn, context) = primary();
    let rounds = AtomicUsize::new(0);
    thread::scope(|scope| {
        for number in 0..6u32 {
            let (again, rounds) = (context.clone(), &rounds);
            scope.spawn(move || {
                for _ in 0..20 {
                    let mine = Context::new(Device::get_device(0).unwrap()).unwrap();
                    assert_eq!(mine.as_raw(), again.as_raw());
                    let buffer = DeviceBuffer::from_slice(&[number; 50]).unwrap();
                    drop(mine);
                    // `again` still holds a reference.
                    assert_eq!(buffer.as_host_vec().unwrap(), [number; 50]);
                    rounds.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(rounds.into_inner(), 6 * 20);
    CurrentContext::synchronize()?;
    Ok(())
}

/// A thread that has the primary context current keeps it when it is released and retained again: the handle
/// is the same.
#[test]
fn retaining_again_returns_the_same_primary_context() {
    let (_turn, context) = primary();
    let old = Shared(context.as_raw().cast());
    let (go, released) = (Barrier::new(2), Barrier::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            CurrentContext::set_current(&context).unwrap();
            CurrentContext::synchronize().unwrap();
            go.wait();
            released.wait();
            let mut address = 0;
            calls! {
                cuCtxSynchronize() => CONTEXT_IS_DESTROYED;
                cuMemAlloc_v2(&mut address, 4) => CONTEXT_IS_DESTROYED;
            }
            let mut current = current_context();
            assert_eq!(current, old.get());
            // The released context may be made current nevertheless.
            calls! {
                cuCtxPushCurrent_v2(old.get());
                cuCtxSynchronize() => CONTEXT_IS_DESTROYED;
                cuCtxPopCurrent_v2(&mut current);
            }
            go.wait();
            released.wait();
            CurrentContext::synchronize().unwrap();
            let buffer = DeviceBuffer::from_slice(&[5u32; 10]).unwrap();
            assert_eq!(buffer.as_host_vec().unwrap(), [5; 10]);
            go.wait();
        });
        go.wait();
        // The primary context is retained once more below, for the reference that `context` releases.
        calls! { cuDevicePrimaryCtxRelease_v2(0); }
        released.wait();
        go.wait();
        let mut retained = ptr::null_mut();
        calls! { cuDevicePrimaryCtxRetain(&mut retained, 0); }
        assert_eq!(retained, old.get());
        released.wait();
        go.wait();
    });
}

#[test]
fn destroyed_contexts_stay_current_in_other_threads() {
    let context = own_context();
    let module = Module::from_ptx(PTX, &[]).unwrap();
    let (stream, event) = (stream(), Event::new(EventFlags::DEFAULT).unwrap());
    let buffer = DeviceBuffer::from_slice(&[1u32; 4]).unwrap();
    let address = buffer.as_device_ptr().as_raw();
    let current = Shared(current_context());
    std::mem::forget((module, stream, event, buffer, context));
    let elsewhere = thread::spawn(move || code!(cuCtxDestroy_v2(current.get())));
    assert_eq!(elsewhere.join().unwrap(), 0);
    let mut word = 0u32;
    let host = (&raw mut word).cast::<c_void>();
    let (mut made, mut number) = (ptr::null_mut(), 0);
    calls! {
        cuCtxSynchronize() => CONTEXT_IS_DESTROYED;
        cuMemAlloc_v2(&mut number, 4) => CONTEXT_IS_DESTROYED;
        cuMemcpyDtoH_v2(host, address, 4) => CONTEXT_IS_DESTROYED;
        cuMemFree_v2(address) => CONTEXT_IS_DESTROYED;
        cuStreamSynchronize(ptr::null_mut()) => CONTEXT_IS_DESTROYED;
        cuStreamCreate(&mut made, 0) => CONTEXT_IS_DESTROYED;
        cuCtxPopCurrent_v2(ptr::null_mut());
    }
    assert_eq!(
        CurrentContext::synchronize(),
        Err(CudaError::InvalidContext)
    );
    // Other threads are not affected.
    let _next = own_context();
    assert_eq!(CurrentContext::synchronize(), Ok(()));
}

/// With a GPU's driver, using stale handles is undefined. The simulator reports them as invalid.
#[test]
fn handles_of_a_destroyed_context_are_invalid() {
    start();
    if !simulated() {
        return;
    }
    let context = own_context();
    let raw = context.get_unowned();
    let module = bare_module();
    let kernel = function(module.get(), c"count");
    let (stream, event) = (stream(), Event::new(EventFlags::DEFAULT).unwrap());
    let stream_raw = stream.as_inner().cast();
    drop(context);
    let _other = own_context();
    assert_eq!(event.query().err(), Some(CudaError::InvalidHandle));
    // It can be made current; then calls fail.
    legacy::ContextStack::push(&raw).unwrap();
    let info = cust::memory::mem_get_info();
    assert_eq!(info.err(), Some(CudaError::ContextIsDestroyed));
    legacy::ContextStack::pop().unwrap();
    calls! {
        cuStreamQuery(stream_raw) => INVALID_HANDLE;
        cuStreamDestroy_v2(stream_raw) => INVALID_HANDLE;
        cuModuleUnload(module.get()) => INVALID_HANDLE;
    }
    assert_eq!(launch(kernel, [1, 1], ptr::null_mut(), &[]), INVALID_HANDLE);
    std::mem::forget(stream);
}

/// On a GPU, a fault ends all work of the process. In the simulator, it ends the work of its context.
#[test]
fn faults_affect_only_their_context() {
    start();
    if !simulated() {
        return;
    }
    const THREADS: u32 = 6;
    let at_once = Barrier::new(THREADS as usize);
    thread::scope(|scope| {
        for number in 0..THREADS {
            let at_once = &at_once;
            scope.spawn(move || {
                let _context = own_context();
                let module = Module::from_ptx(PTX, &[]).unwrap();
                module.get_global::<u32>(c"factor").unwrap().copy_from(&1).unwrap();
                let kernel = module.get_function("scale").unwrap();
                let stream = stream();
                let input = vec![number; 100];
                let from = DeviceBuffer::from_slice(&input).unwrap();
                at_once.wait();
                for round in 0..5 {
                    assert_eq!(scale(&kernel, &stream, &from, 100), expected(1, &input));
                    if number % 2 == 0 && round == 2 {
                        // SAFETY: the address is deliberately invalid: the simulator rejects it.
                        let launched = unsafe {
                            launch!(kernel<<<1, 32, 0, stream>>>(from.as_device_ptr(), 64u64, 32u32))
                        };
                        assert_eq!(launched, Ok(()));
                        let fault = Err(CudaError::IllegalAddress);
                        assert_eq!(stream.synchronize(), fault);
                        assert_eq!(CurrentContext::synchronize(), fault);
                        assert_eq!(from.as_host_vec().err(), fault.err());
                        return;
                    }
                }
            });
        }
    });
}
