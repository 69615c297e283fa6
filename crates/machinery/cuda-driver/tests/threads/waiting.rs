//! Calls from a thread that ends and from a callback, and messages while somebody holds stderr.

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
use cust::sys::{self, CUresult};

use super::{own_context, simulated, stream};

/// A thread's own variables may hold what belongs to the driver: it ends with its context current,
/// and they with it.
#[test]
fn a_threads_last_calls_find_its_context() {
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
        static KEPT: RefCell<Option<AtEnd>> = const { RefCell::new(None) };
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
            // Which of the two variables the thread sees first decides which one ends first.
            if first {
                let kept = begin();
                KEPT.set(Some(kept));
            } else {
                KEPT.with(|kept| *kept.borrow_mut() = Some(begin()));
            }
        })
        .join()
        .unwrap();
        let (address, read) = receiver.recv().unwrap();
        assert_eq!(read, Ok(vec![9; 3]));
        // Nor is the buffer left behind; a GPU's driver may have given its address to somebody else.
        if simulated() {
            let mut word = 0u32;
            // SAFETY: a word to write to.
            let read = unsafe { sys::cuMemcpyDtoH_v2((&raw mut word).cast(), address, 4) };
            assert_eq!(read, CUresult::CUDA_ERROR_INVALID_VALUE);
        }
    }
    CurrentContext::synchronize().unwrap();
}

/// A callback runs on a thread of the driver's, where nothing is current and no call is permitted.
#[test]
fn callbacks_may_not_call_the_driver() {
    let _context = own_context();
    let stream = stream();
    let (sender, receiver) = mpsc::channel();
    let here = thread::current().id();
    let ask = move || {
        let (mut address, mut count) = (0, 0);
        // SAFETY: numbers to write to.
        let answers = unsafe {
            [
                sys::cuCtxSynchronize(),
                sys::cuMemAlloc_v2(&mut address, 4),
                sys::cuDeviceGetCount(&mut count),
                sys::cuCtxSetCurrent(ptr::null_mut()),
                sys::cuStreamQuery(ptr::null_mut()),
            ]
        };
        sender
            .send((thread::current().id() != here, answers))
            .unwrap();
    };
    stream.add_callback(Box::new(ask)).unwrap();
    stream.synchronize().unwrap();
    let not_permitted = CUresult::CUDA_ERROR_NOT_PERMITTED;
    assert_eq!(receiver.recv().unwrap(), (true, [not_permitted; 5]));
    // The thread that added it may go on.
    assert_eq!(CurrentContext::synchronize(), Ok(()));
}

/// A thread that has something to say waits for whoever holds stderr, but nobody who calls the
/// driver waits for that thread.
#[test]
fn what_is_said_on_stderr_keeps_nobody_waiting() {
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
            // The other one says something now, or is about to.
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
            // SAFETY: there is room for any attribute's value.
            unsafe {
                let to = (&raw mut value).cast();
                let ids = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_BUFFER_ID;
                sys::cuPointerGetAttribute(to, ids, address);
            }
        });
        if receiver.recv_timeout(Duration::from_secs(120)).is_err() {
            // The threads wait for each other, and for ever: there is no joining them.
            let _ = writeln!(std::io::stdout(), "threads wait for each other");
            std::process::abort();
        }
    });
}
