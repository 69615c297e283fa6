//! Objects shared by several threads and contexts: modules, streams, events and memory.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::{ptr, thread};

use cust::context::legacy;
use cust::error::CudaError;
use cust::event::{Event, EventFlags};
use cust::launch;
use cust::memory::{CopyDestination, DeviceBuffer, LockedBuffer, UnifiedBuffer};
use cust::module::Module;
use cust::stream::{Stream, StreamWaitEventFlags};

use super::support::{self, INVALID_CONTEXT, INVALID_VALUE, Shared};
use super::{PTX, bare_module, expected, own_context, scale, start, stream};

#[test]
fn threads_share_a_context_module_and_streams() {
    start();
    let context = own_context();
    let module = Module::from_ptx(PTX, &[]).unwrap();
    let mut symbol = module.get_global::<u32>(c"factor").unwrap();
    symbol.copy_from(&7).unwrap();
    let shared = stream();
    let counter = DeviceBuffer::from_slice(&[0u32]).unwrap();
    let word = counter.as_device_ptr().as_raw();
    let unowned = context.get_unowned();
    const THREADS: u32 = 6;
    const LAUNCHES: u32 = 10;
    thread::scope(|scope| {
        for number in 0..THREADS {
            let (module, shared, unowned) = (&module, &shared, unowned.clone());
            scope.spawn(move || {
                legacy::CurrentContext::set_current(&unowned).unwrap();
                let (kernel, count) = (
                    module.get_function("scale").unwrap(),
                    module.get_function("count").unwrap(),
                );
                let private_stream = stream();
                for launch in 0..LAUNCHES {
                    let input: Vec<u32> = (0..200).map(|i| i * number + launch).collect();
                    let from = DeviceBuffer::from_slice(&input).unwrap();
                    // Alternates between the thread's own stream and the shared one.
                    let stream = if launch % 2 == 0 {
                        &private_stream
                    } else {
                        shared
                    };
                    assert_eq!(scale(&kernel, stream, &from, 200), expected(7, &input));
                    // SAFETY: the parameter list matches the kernel's signature.
                    unsafe { launch!(count<<<3, 50, 0, shared>>>(word)) }.unwrap();
                }
            });
        }
    });
    shared.synchronize().unwrap();
    let total = THREADS * LAUNCHES * 3 * 50;
    assert_eq!(counter.as_host_vec().unwrap(), [total]);
}

/// A stream, event, module or buffer belongs to a context: operations on it run there, whatever context is
/// current, if any.
#[test]
fn objects_are_used_in_their_own_context() {
    let a = own_context();
    let module = Module::from_ptx(PTX, &[]).unwrap();
    module
        .get_global::<u32>(c"factor")
        .unwrap()
        .copy_from(&2)
        .unwrap();
    let (in_a, event_a) = (stream(), Event::new(EventFlags::DEFAULT).unwrap());
    let buffer = DeviceBuffer::from_slice(&[20u32; 64]).unwrap();
    let address = buffer.as_device_ptr().as_raw();
    let bare = bare_module();
    let b = own_context();
    let (in_b, event_b) = (stream(), Event::new(EventFlags::DEFAULT).unwrap());

    // `b` is current.
    let kernel = module.get_function("scale").unwrap();
    let launch = |stream: &Stream| {
        // SAFETY: the parameters match the kernel's signature, and both buffers hold 64 words.
        unsafe { launch!(kernel<<<1, 64, 0, stream>>>(address, address, 64u32)) }
    };
    assert_eq!(launch(&in_b), Err(CudaError::InvalidHandle));
    assert_eq!(launch(&in_a), Ok(()));
    assert_eq!(in_a.synchronize(), Ok(()));
    assert_eq!(in_a.get_priority(), Ok(0));
    assert_eq!(event_a.record(&in_a), Ok(()));
    assert_eq!(event_a.record(&in_b), Err(CudaError::InvalidHandle));
    assert_eq!(event_b.record(&in_a), Err(CudaError::InvalidHandle));
    assert_eq!(event_b.record(&in_b), Ok(()));
    let refused = event_b.elapsed_time_f32(&event_a);
    assert_eq!(refused, Err(CudaError::InvalidHandle));
    let mut words = [0u32; 64];
    let host = words.as_mut_ptr().cast::<c_void>();
    let (stream, other) = (in_a.as_inner().cast(), in_b.as_inner().cast());
    for (copied, value) in [(stream, 40), (other, 41)] {
        calls! {
            cuMemcpyDtoHAsync_v2(host, address, 256, copied);
            cuStreamSynchronize(copied);
        }
        assert_eq!(words[63], value + 63);
        calls! {
            cuMemsetD32Async(address, value + 64, 64, copied);
            cuStreamSynchronize(copied);
        }
        // For the next round.
        for (word, i) in words.iter_mut().zip(0..) {
            *word = 41 + i;
        }
        calls! { cuMemcpyHtoD_v2(address, host, 256); }
    }
    assert_eq!(
        in_b.wait_event(event_a, StreamWaitEventFlags::DEFAULT),
        Ok(())
    );
    assert_eq!(
        in_a.wait_event(event_b, StreamWaitEventFlags::DEFAULT),
        Ok(())
    );

    // No context is current.
    let raw = Shared(in_a.as_inner().cast());
    let address_only = thread::spawn(move || {
        let mut event = ptr::null_mut();
        let mut word = 0u32;
        let host = (&raw mut word).cast::<c_void>();
        let (mut symbol, mut bytes) = (0, 0);
        calls! {
            cuStreamQuery(raw.get());
            cuStreamSynchronize(raw.get());
            cuMemcpyDtoHAsync_v2(host, address, 4, raw.get());
            cuStreamSynchronize(raw.get());
        }
        assert_eq!(word, 41);
        let name = c"factor".as_ptr();
        calls! { cuModuleGetGlobal_v2(&mut symbol, &mut bytes, bare.get(), name); }
        assert_eq!(bytes, 4);
        support::function(bare.get(), c"count");
        calls! {
            cuStreamSynchronize(ptr::null_mut()) => INVALID_CONTEXT;
            cuMemcpyDtoH_v2(host, address, 4) => INVALID_CONTEXT;
            cuEventCreate(&mut event, 0) => INVALID_CONTEXT;
            cuModuleUnload(bare.get());
            cuMemFree_v2(0);
            cuMemFree_v2(64) => INVALID_VALUE;
            cuMemFree_v2(address);
            cuStreamDestroy_v2(raw.get());
        }
    });
    address_only.join().unwrap();
    // They are destroyed already.
    std::mem::forget((buffer, in_a));
    drop((in_b, b));
    drop((module, a));
}

/// Memory of one context is accessible to kernels of another, as on a GPU.
#[test]
fn kernels_access_memory_of_other_contexts() {
    let _a = own_context();
    let device = DeviceBuffer::from_slice(&[0u32]).unwrap();
    let mut locked = LockedBuffer::new(&0u32, 1).unwrap();
    let managed = UnifiedBuffer::new(&0u32, 1).unwrap();
    let _b = own_context();
    let module = Module::from_ptx(PTX, &[]).unwrap();
    let count = module.get_function("count").unwrap();
    let stream = stream();
    let addresses = [
        device.as_device_ptr().as_raw(),
        locked.as_mut_ptr() as u64,
        managed.as_ptr() as u64,
    ];
    for address in addresses {
        // SAFETY: the parameter matches the kernel's signature: the address of a word.
        unsafe { launch!(count<<<2, 32, 0, stream>>>(address)) }.unwrap();
    }
    stream.synchronize().unwrap();
    assert_eq!(device.as_host_vec().unwrap(), [64]);
    assert_eq!((locked[0], managed[0]), (64, 64));
}

/// Memory is freed while another thread's kernels run, and kernels are launched while modules are unloaded.
#[test]
fn memory_and_modules_change_during_other_launches() {
    let context = own_context();
    let unowned = context.get_unowned();
    let counter = DeviceBuffer::from_slice(&[0u32]).unwrap();
    let word = counter.as_device_ptr().as_raw();
    let running = AtomicBool::new(true);
    let launches = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            let (unowned, running, launches) = (unowned.clone(), &running, &launches);
            scope.spawn(move || {
                legacy::CurrentContext::set_current(&unowned).unwrap();
                while running.load(Ordering::Relaxed) {
                    let module = Module::from_ptx(PTX, &[]).unwrap();
                    let count = module.get_function("count").unwrap();
                    let stream = stream();
                    // SAFETY: the parameter list matches the kernel's signature.
                    unsafe { launch!(count<<<4, 32, 0, stream>>>(word)) }.unwrap();
                    launches.fetch_add(1, Ordering::Relaxed);
                    stream.synchronize().unwrap();
                }
            });
        }
        legacy::CurrentContext::set_current(&unowned).unwrap();
        for size in 1..60usize {
            let buffer = DeviceBuffer::from_slice(&vec![size as u32; size * 97]).unwrap();
            assert_eq!(buffer.as_host_vec().unwrap(), vec![size as u32; size * 97]);
        }
        while launches.load(Ordering::Relaxed) < 4 {
            thread::yield_now();
        }
        running.store(false, Ordering::Relaxed);
    });
    let total = launches.into_inner() as u32 * 4 * 32;
    assert_eq!(counter.as_host_vec().unwrap(), [total]);
}

/// Fences and volatile accesses order memory operations: each block sees the sum of all earlier blocks.
#[test]
fn fences_order_writes_between_blocks() {
    const BLOCKS: u32 = 200;
    let _context = own_context();
    let module = Module::from_ptx(PTX, &[]).unwrap();
    let relay = module.get_function("relay").unwrap();
    let stream = stream();
    for blocks in [1, 2, BLOCKS] {
        let words = DeviceBuffer::from_slice(&[0u32; 2]).unwrap();
        // SAFETY: the parameter matches the kernel's signature: the address of two words.
        unsafe { launch!(relay<<<blocks, 1, 0, stream>>>(words.as_device_ptr())) }.unwrap();
        stream.synchronize().unwrap();
        let sum = blocks * (blocks - 1) / 2;
        assert_eq!(words.as_host_vec().unwrap(), [blocks, sum]);
    }
}
