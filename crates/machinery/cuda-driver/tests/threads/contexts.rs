//! Threads with contexts of their own, the primary context that they share, and contexts that go
//! while they are current.

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
use cust::sys::{self, CUresult};

use super::{
    Handle, PTX, Test, bare_module, code, expected, own_context, primary, scale, simulated, start,
    stream,
};

#[test]
fn threads_with_contexts_of_their_own_do_not_see_each_other() {
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
                    // The same name in every context, with a value of its own in each.
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
                        let found = scale(&kernel, &stream, &from, n);
                        end.record(&stream).unwrap();
                        end.synchronize().unwrap();
                        assert_eq!(
                            found,
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

/// cust's `Context` counts: the primary context is there while one of them is, in whatever thread.
#[test]
fn the_primary_context_is_shared_and_counted() -> Test {
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
                    // `again` still holds it.
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

/// Whoever has the primary context current still has when it goes and comes back: it is the same.
#[test]
fn the_primary_context_comes_back_as_itself() {
    let (_turn, context) = primary();
    let old = Handle(context.as_raw());
    let (go, gone) = (Barrier::new(2), Barrier::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            CurrentContext::set_current(&context).unwrap();
            CurrentContext::synchronize().unwrap();
            go.wait();
            gone.wait();
            let destroyed = CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED;
            let mut address = 0;
            // SAFETY: a number to write to; handles are looked up.
            unsafe {
                assert_eq!(sys::cuCtxSynchronize(), destroyed);
                assert_eq!(sys::cuMemAlloc_v2(&mut address, 4), destroyed);
                let mut current = ptr::null_mut();
                sys::cuCtxGetCurrent(&mut current);
                assert_eq!(current, old.get());
                // It may be made current all the same.
                assert_eq!(code(sys::cuCtxPushCurrent_v2(old.get())), 0);
                assert_eq!(sys::cuCtxSynchronize(), destroyed);
                assert_eq!(code(sys::cuCtxPopCurrent_v2(&mut current)), 0);
            }
            go.wait();
            gone.wait();
            CurrentContext::synchronize().unwrap();
            let buffer = DeviceBuffer::from_slice(&[5u32; 10]).unwrap();
            assert_eq!(buffer.as_host_vec().unwrap(), [5; 10]);
            go.wait();
        });
        go.wait();
        // SAFETY: the handle is retained once more below, for `context` to release.
        unsafe { assert_eq!(code(sys::cuDevicePrimaryCtxRelease_v2(0)), 0) };
        gone.wait();
        go.wait();
        let mut retained = ptr::null_mut();
        // SAFETY: a handle to write to.
        unsafe { assert_eq!(code(sys::cuDevicePrimaryCtxRetain(&mut retained, 0)), 0) };
        assert_eq!(retained, old.get());
        gone.wait();
        go.wait();
    });
}

#[test]
fn a_destroyed_context_stays_current_where_it_was() {
    let context = own_context();
    let module = Module::from_ptx(PTX, &[]).unwrap();
    let (stream, event) = (stream(), Event::new(EventFlags::DEFAULT).unwrap());
    let buffer = DeviceBuffer::from_slice(&[1u32; 4]).unwrap();
    let address = buffer.as_device_ptr().as_raw();
    let mut current = ptr::null_mut();
    // SAFETY: a handle to write to.
    unsafe { sys::cuCtxGetCurrent(&mut current) };
    let current = Handle(current);
    std::mem::forget((module, stream, event, buffer, context));
    let elsewhere = thread::spawn(move || {
        // SAFETY: nobody else destroys it.
        unsafe { code(sys::cuCtxDestroy_v2(current.get())) }
    });
    assert_eq!(elsewhere.join().unwrap(), 0);
    let destroyed = CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED;
    let mut word = 0u32;
    let host = (&raw mut word).cast::<c_void>();
    let (mut made, mut number) = (ptr::null_mut(), 0);
    // SAFETY: handles and numbers to write to, a word at `host`.
    unsafe {
        assert_eq!(sys::cuCtxSynchronize(), destroyed);
        assert_eq!(sys::cuMemAlloc_v2(&mut number, 4), destroyed);
        assert_eq!(sys::cuMemcpyDtoH_v2(host, address, 4), destroyed);
        assert_eq!(sys::cuMemFree_v2(address), destroyed);
        assert_eq!(sys::cuStreamSynchronize(ptr::null_mut()), destroyed);
        assert_eq!(sys::cuStreamCreate(&mut made, 0), destroyed);
        assert_eq!(code(sys::cuCtxPopCurrent_v2(ptr::null_mut())), 0);
    }
    assert_eq!(
        CurrentContext::synchronize(),
        Err(CudaError::InvalidContext)
    );
    // Nobody else is any the worse.
    let _next = own_context();
    assert_eq!(CurrentContext::synchronize(), Ok(()));
}

/// What a GPU's driver does with the handles of what is gone is undefined. Here they are unknown.
#[test]
fn handles_of_a_destroyed_context_are_unknown() {
    start();
    if !simulated() {
        return;
    }
    let context = own_context();
    let raw = context.get_unowned();
    let module = bare_module();
    let mut kernel = ptr::null_mut();
    // SAFETY: a handle to write to.
    let found = unsafe { sys::cuModuleGetFunction(&mut kernel, module.get(), c"count".as_ptr()) };
    assert_eq!(code(found), 0);
    let (stream, event) = (stream(), Event::new(EventFlags::DEFAULT).unwrap());
    let stream_raw = stream.as_inner();
    drop(context);
    let _other = own_context();
    let handle = CUresult::CUDA_ERROR_INVALID_HANDLE;
    assert_eq!(event.query().err(), Some(CudaError::InvalidHandle));
    let gone = legacy::CurrentContext::set_current(&raw);
    assert_eq!(gone, Err(CudaError::InvalidContext));
    assert_eq!(
        legacy::ContextStack::push(&raw),
        Err(CudaError::InvalidContext)
    );
    let nothing = ptr::null_mut();
    // SAFETY: handles are looked up, never followed.
    unsafe {
        assert_eq!(sys::cuStreamQuery(stream_raw), handle);
        assert_eq!(sys::cuStreamDestroy_v2(stream_raw), handle);
        assert_eq!(sys::cuModuleUnload(module.get()), handle);
        let launched = sys::cuLaunchKernel(
            kernel,
            1,
            1,
            1,
            1,
            1,
            1,
            0,
            ptr::null_mut(),
            nothing,
            ptr::null_mut(),
        );
        assert_eq!(launched, handle);
    }
    std::mem::forget(stream);
}

/// On a GPU a fault ends all work of the process. Here it ends that of its context.
#[test]
fn a_fault_is_its_contexts_own() {
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
                        // SAFETY: that the address is no good is what is tested.
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
