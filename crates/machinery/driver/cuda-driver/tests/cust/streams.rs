//! Streams and events, and invalid handles of all kinds.

use std::ffi::c_void;
use std::ptr;

use cust::context::legacy;
use cust::device::Device;
use cust::error::CudaError;
use cust::event::{Event, EventFlags, EventStatus};
use cust::memory::{AsyncCopyDestination, DeviceBuffer, LockedBuffer};
use cust::stream::{Stream, StreamFlags, StreamWaitEventFlags};

use super::support::{INVALID_CONTEXT, INVALID_HANDLE, launch};
use super::{Test, simulator};

#[test]
fn streams_and_events_preserve_order_and_time() -> Test {
    let _primary = simulator();
    // A separate context: other tests' operations would delay the default stream, and so this one.
    let device = Device::get_device(0)?;
    let _own = legacy::Context::create_and_push(legacy::ContextFlags::SCHED_AUTO, device)?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, Some(-1))?;
    let other = Stream::new(StreamFlags::DEFAULT, None)?;
    assert_eq!(stream.get_priority()?, -1);
    // cust creates no non-blocking streams, whatever the flags.
    assert_eq!(stream.get_flags()?, StreamFlags::DEFAULT);
    let (start, end) = (
        Event::new(EventFlags::DEFAULT)?,
        Event::new(EventFlags::DEFAULT)?,
    );
    assert_eq!(end.elapsed_time_f32(&start), Err(CudaError::InvalidHandle));
    let locked = LockedBuffer::new(&1u8, 1 << 20)?;
    let mut device = DeviceBuffer::<u8>::zeroed(1 << 20)?;
    start.record(&stream)?;
    // SAFETY: neither buffer is accessed before the stream is synchronized.
    unsafe { device.async_copy_from(&locked, &stream) }?;
    end.record(&stream)?;
    assert_eq!(end.elapsed_time_f32(&start), Err(CudaError::NotReady));
    // No call has waited for it; but polling terminates with success.
    while end.query()? == EventStatus::NotReady {}
    end.synchronize()?;
    // 1 MiB at 55.5 GB/s, plus 2.2 µs.
    let took = end.elapsed_time_f32(&start)?;
    assert!((0.0210..0.0212).contains(&took), "{took} ms");
    other.wait_event(end, StreamWaitEventFlags::DEFAULT)?;

    let (sender, receiver) = std::sync::mpsc::channel();
    stream.add_callback(Box::new(move || sender.send(42).unwrap()))?;
    stream.synchronize()?;
    assert_eq!(receiver.recv()?, 42);
    Ok(())
}

#[test]
fn invalid_handles_are_rejected() {
    let _context = simulator();
    let made_up = ptr::without_provenance_mut::<c_void>(0xdead_beef);
    let stream = Stream::new(StreamFlags::DEFAULT, None).unwrap();
    let wrong_kind = stream.as_inner().cast::<c_void>();
    for handle in [made_up, wrong_kind, ptr::null_mut()] {
        calls! {
            cuEventRecord(handle.cast(), ptr::null_mut()) => INVALID_HANDLE;
            cuEventDestroy_v2(handle.cast()) => INVALID_HANDLE;
            cuModuleUnload(handle.cast()) => INVALID_HANDLE;
        }
        let launched = launch(handle.cast(), [1, 1], ptr::null_mut(), &[]);
        assert_eq!(launched, INVALID_HANDLE);
    }
    calls! {
        cuStreamSynchronize(made_up.cast()) => INVALID_HANDLE;
        cuCtxSetCurrent(made_up.cast()) => INVALID_CONTEXT;
    }
    // The per-thread default stream always exists and cannot be destroyed.
    let per_thread = ptr::without_provenance_mut(2);
    calls! {
        cuStreamSynchronize(per_thread);
        cuStreamDestroy_v2(per_thread) => INVALID_HANDLE;
        cuStreamQuery(per_thread);
    }
}
