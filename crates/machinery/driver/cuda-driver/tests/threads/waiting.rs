//! Driver calls from an ending thread and from a callback, and messages while another thread holds stderr.

use std::cell::RefCell;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use std::{ptr, thread};

use cust::context::{CurrentContext, legacy};
use cust::error::CudaError;
use cust::memory::DeviceBuffer;
use cust::module::Module;

use super::support::INVALID_VALUE;
use super::{own_context, simulated, stream};

/// Thread-local variables may hold driver objects: the thread ends with its context current, and their
/// destructors run then.
#[test]
fn destructors_of_ending_threads_have_a_current_context() {
    struct AtEnd(
        DeviceBuffer<u32>,
        mpsc::Sender<(u64, Result<Vec<u32>, CudaError>)>,
    );
    impl Drop for AtEnd {
        fn drop(&mut self) {
            let address = self.0.as_device_ptr().as_raw();
            let _ = self.1.send((address, self.0.as_host_vec()));
        }
    }
    thread_local! {
        static VALUE: RefCell<Option<AtEnd>> = const { RefCell::new(None) };
    }
    let context = own_context();
    let (sender, receiver) = mpsc::channel();
    for first in [true, false] {
        let (unowned, sender) = (context.get_unowned(), sender.clone());
        thread::spawn(move || {
            let begin = || {
                legacy::CurrentContext::set_current(&unowned).unwrap();
                AtEnd(DeviceBuffer::from_slice(&[9u32; 3]).unwrap(), sender)
            };
            // The order of initialization determines the order of destruction.
            if first {
                let value = begin();
                VALUE.set(Some(value));
            } else {
                VALUE.with(|value| *value.borrow_mut() = Some(begin()));
            }
        })
        .join()
        .unwrap();
        let (address, read) = receiver.recv().unwrap();
        assert_eq!(read, Ok(vec![9; 3]));
        // The buffer is not leaked either; a GPU's driver may have reused its address.
        if simulated() {
            let mut word = 0u32;
            calls! { cuMemcpyDtoH_v2((&raw mut word).cast(), address, 4) => INVALID_VALUE; }
        }
    }
    CurrentContext::synchronize().unwrap();
}

/// A callback runs on a thread of the driver, where no context is current and no driver call is permitted.
#[test]
fn callbacks_may_not_call_the_driver() {
    let _context = own_context();
    let stream = stream();
    let (sender, receiver) = mpsc::channel();
    let here = thread::current().id();
    let callback = move || {
        let (mut address, mut count) = (0, 0);
        let codes = [
            code!(cuCtxSynchronize()),
            code!(cuMemAlloc_v2(&mut address, 4)),
            code!(cuDeviceGetCount(&mut count)),
            code!(cuCtxSetCurrent(ptr::null_mut())),
            code!(cuStreamQuery(ptr::null_mut())),
        ];
        sender
            .send((thread::current().id() != here, codes))
            .unwrap();
    };
    stream.add_callback(Box::new(callback)).unwrap();
    stream.synchronize().unwrap();
    /// `CUDA_ERROR_NOT_PERMITTED`
    const NOT_PERMITTED: i32 = 800;
    assert_eq!(receiver.recv().unwrap(), (true, [NOT_PERMITTED; 5]));
    // The thread that added it may continue.
    assert_eq!(CurrentContext::synchronize(), Ok(()));
}

/// A thread with a message waits for the holder of stderr, but other threads that call the driver do not wait
/// for it.
#[test]
fn messages_on_stderr_do_not_block_driver_calls() {
    let context = own_context();
    let (unowned, again) = (context.get_unowned(), context.get_unowned());
    let buffer = DeviceBuffer::from_slice(&[0u32]).unwrap();
    let address = buffer.as_device_ptr().as_raw();
    let (sender, receiver) = mpsc::channel();
    let saying = AtomicBool::new(false);
    thread::scope(|scope| {
        let saying = &saying;
        scope.spawn(move || {
            legacy::CurrentContext::set_current(&unowned).unwrap();
            let stderr = std::io::stderr().lock();
            while !saying.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            // The other thread is printing a message, or is about to.
            for _ in 0..50 {
                CurrentContext::synchronize().unwrap();
                thread::sleep(Duration::from_millis(1));
            }
            drop(stderr);
            sender.send(()).unwrap();
        });
        scope.spawn(move || {
            legacy::CurrentContext::set_current(&again).unwrap();
            saying.store(true, Ordering::Relaxed);
            assert!(Module::from_ptx(".version 6.4 nonsense", &[]).is_err());
            assert!(Module::from_cubin(b"\x7fELF\x02\x01\x01\0", &[]).is_err());
            let mut value = 0u64;
            let to = (&raw mut value).cast();
            // `CU_POINTER_ATTRIBUTE_BUFFER_ID`
            code!(cuPointerGetAttribute(to, 7, address));
        });
        if receiver.recv_timeout(Duration::from_secs(120)).is_err() {
            // The threads are deadlocked, so joining them would hang.
            let _ = writeln!(std::io::stdout(), "threads wait for each other");
            std::process::abort();
        }
    });
}
