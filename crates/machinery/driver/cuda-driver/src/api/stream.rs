//! Streams: creation, waiting, host functions, properties and attributes; and their memory operations, which write values to
//! device memory or wait for values there, singly or in batches.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::sync::Arc;

use cuda_sim::driver::{CudaError, EventId, StreamId};
use cuda_sim::memory::global::AllocationKind;

use super::SIMULATOR;
use crate::arguments::{In, Out, handle, read_list};
use crate::simulator::{
    Destroyed, HostFunction, Stream, StreamOp, WaitTarget, call_host_functions, is_blocking, lock,
};
use crate::status::CallResult;
use crate::types::{
    AccessWindow, CUcontext, CUdevice, CUdeviceptr, CUhostFn, CUlaunchAttributeValue, CUstream,
    CUstreamCallback, MemoryOperation,
};

/// `cuStreamCreate`.
pub fn create(stream: Out<CUstream>, flags: c_uint) -> CallResult {
    create_with_priority(stream, flags, 0)
}

/// `cuStreamCreateWithPriority`.
pub fn create_with_priority(stream: Out<CUstream>, flags: c_uint, priority: c_int) -> CallResult {
    let (mut driver, context) = SIMULATOR.lock_current_context()?;
    let created = driver.create_stream(context, flags, priority)?;
    SIMULATOR.stream_order.add_stream(created);
    stream.set(handle(created.0));
    Ok(())
}

/// `cuStreamDestroy`.
pub fn destroy(stream: Stream) -> CallResult {
    if stream == Stream::PerThread {
        return Err(CudaError::InvalidHandle.into());
    }
    let (driver, context, stream) = SIMULATOR.lock_stream(stream)?;
    drop(driver);
    SIMULATOR
        .lock_driver_settled()?
        .invalidate_stream(context, stream)?;
    SIMULATOR.destroy_when_unused(Destroyed::Stream(context, stream));
    let destructors = SIMULATOR.captures.forget_stream(&SIMULATOR.graphs, stream);
    // The stream is destroyed even if the destructors' thread cannot be created.
    let _ = call_host_functions(destructors);
    Ok(())
}

/// `cuStreamGetFlags`.
pub fn flags(stream: Stream, flags: Out<c_uint>) -> CallResult {
    let (driver, context, stream) = SIMULATOR.lock_stream(stream)?;
    flags.set(driver.stream_flags(context, stream)?);
    Ok(())
}

/// `cuStreamGetPriority`.
pub fn priority(stream: Stream, priority: Out<c_int>) -> CallResult {
    let (driver, context, stream) = SIMULATOR.lock_stream(stream)?;
    priority.set(driver.stream_priority(context, stream)?);
    Ok(())
}

/// `cuStreamQuery`. Fails if a capture forbids queries of streams.
pub fn query(stream: Stream) -> CallResult {
    let (driver, context, stream) = SIMULATOR.lock_live_stream(stream)?;
    SIMULATOR.captures.check_stream_wait(context, stream)?;
    SIMULATOR.check_safe()?;
    drop(driver);
    if !SIMULATOR.is_done(WaitTarget::Stream(context, stream)) {
        return Err(CudaError::NotReady.into());
    }
    SIMULATOR.lock_driver()?.query_stream(context, stream)?;
    SIMULATOR.host_waited(WaitTarget::Stream(context, stream));
    Ok(())
}

/// `cuStreamSynchronize`.
pub fn synchronize(stream: Stream) -> CallResult {
    let (driver, context, stream) = SIMULATOR.lock_live_stream(stream)?;
    SIMULATOR.captures.check_stream_wait(context, stream)?;
    drop(driver);
    let target = WaitTarget::Stream(context, stream);
    SIMULATOR.wait(target);
    SIMULATOR.host_waited(target);
    Ok(SIMULATOR
        .lock_driver()?
        .synchronize_stream(context, stream)?)
}

/// `cuStreamWaitEvent`.
pub fn wait_event(stream: Stream, event: EventId, flags: c_uint) -> CallResult {
    let (driver, context, stream) = SIMULATOR.lock_stream(stream)?;
    // `CU_EVENT_WAIT_DEFAULT` or `CU_EVENT_WAIT_EXTERNAL`, which only captures accept.
    if flags > 1 {
        return Err(CudaError::InvalidValue.into());
    }
    driver.event_context(event)?;
    let blocking = is_blocking(&driver, context, stream)?;
    if SIMULATOR.captures.wait_event(
        &SIMULATOR.graphs,
        context,
        stream,
        blocking,
        event,
        flags == 1,
    )? {
        return Ok(());
    }
    if flags == 1 {
        return Err(CudaError::IllegalState.into());
    }
    Ok(SIMULATOR.submit(driver, context, stream, StreamOp::WaitEvent(event))?)
}

/// `cuLaunchHostFunc`: calls the function when all earlier operations of the stream have completed. Only
/// functions that take milliseconds count in modelled time.
pub fn launch_host_func(stream: Stream, function: CUhostFn, data: *mut c_void) -> CallResult {
    if function.is_none() {
        return Err(CudaError::InvalidValue.into());
    }
    let (driver, context, stream) = SIMULATOR.lock_live_stream(stream)?;
    let work = StreamOp::Host(HostFunction::Plain { function, data });
    Ok(SIMULATOR.submit(driver, context, stream, work)?)
}

/// `cuStreamAddCallback`: the older form of [`launch_host_func`], which cannot be captured.
pub fn callback(
    stream: CUstream,
    function: CUstreamCallback,
    data: *mut c_void,
    flags: c_uint,
) -> CallResult {
    if function.is_none() || flags != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    let (driver, context, number) = SIMULATOR.lock_live_stream(stream)?;
    SIMULATOR.captures.check_stream_wait(context, number)?;
    let work = StreamOp::Host(HostFunction::Callback {
        function,
        stream,
        data,
    });
    Ok(SIMULATOR.submit(driver, context, number, work)?)
}

/// The values of `CUstreamAttrID`: access policy window of the L2 cache, synchronization policy, priority,
/// and two for memory synchronization domains. All are hints without effect.
const ATTRIBUTES: [c_int; 5] = [1, 3, 8, 9, 10];
const ACCESS_WINDOW: c_int = 1;
const SYNCHRONIZATION_POLICY: c_int = 3;
const PRIORITY: c_int = 8;
const MEMORY_DOMAIN_MAP: c_int = 9;

/// The values of `CUsynchronizationPolicy`.
const SYNCHRONIZATION_POLICIES: std::ops::RangeInclusive<c_uint> = 1..=4;

/// `cuStreamGetCtx`.
pub fn context(stream: Stream, context: Out<CUcontext>) -> CallResult {
    context.set(handle(live_stream(stream)?.0));
    Ok(())
}

/// `cuStreamGetCtx_v2` of CUDA 12.5: the context, or the green context if the stream has one.
pub fn contexts(
    stream: Stream,
    context: Out<CUcontext>,
    green: Option<Out<*mut c_void>>,
) -> CallResult {
    let (owner, stream) = live_stream(stream)?;
    let of_stream = lock(&SIMULATOR.tables.green_contexts).of_stream(stream);
    context.set(handle(if of_stream == 0 { owner } else { 0 }));
    Out::set_optional(green, handle(of_stream));
    Ok(())
}

/// `cuStreamGetDevice`.
pub fn device(stream: Stream, device: Out<CUdevice>) -> CallResult {
    live_stream(stream)?;
    device.set(0);
    Ok(())
}

/// `cuStreamGetId`: a unique number. The handle's number serves as the ID; a default stream has its context's
/// number.
pub fn id(stream: Stream, id: Out<c_ulonglong>) -> CallResult {
    let (context, stream) = live_stream(stream)?;
    id.set(match stream {
        StreamId::LEGACY => context,
        StreamId(number) => number,
    });
    Ok(())
}

/// Returns the context's number and the number of a stream, after a check that the stream exists.
fn live_stream(stream: Stream) -> Result<(u64, StreamId), CudaError> {
    let (driver, context, stream) = SIMULATOR.lock_stream(stream)?;
    driver.stream_flags(context, stream)?;
    Ok((context.0, stream))
}

/// `cuStreamGetAttribute`: defaults for attributes that are not set.
pub fn attribute(
    stream: Stream,
    attribute: c_int,
    value: Out<CUlaunchAttributeValue>,
) -> CallResult {
    let (driver, context, stream) = SIMULATOR.lock_stream(stream)?;
    let priority = driver.stream_priority(context, stream)?;
    drop(driver);
    check_attribute(attribute)?;
    let mut default_value = CUlaunchAttributeValue([0; 16]);
    default_value.0[0] = match attribute {
        PRIORITY => priority as c_uint,
        // No policy: that of the context.
        SYNCHRONIZATION_POLICY => c_uint::MAX,
        // Two bytes: the default domain 0, the remote domain 1.
        MEMORY_DOMAIN_MAP => 0x100,
        _ => 0,
    };
    let stored = lock(&SIMULATOR.tables.stream_attributes)
        .get(&(stream, attribute))
        .copied();
    value.set(stored.unwrap_or(default_value));
    Ok(())
}

/// `cuStreamSetAttribute`.
pub fn set_attribute(
    stream: Stream,
    attribute: c_int,
    value: In<CUlaunchAttributeValue>,
) -> CallResult {
    let (driver, _, stream) = SIMULATOR.lock_live_stream(stream)?;
    check_attribute(attribute)?;
    let max_window = driver.device().access_window_bytes;
    drop(driver);
    let value = value.read();
    if attribute == ACCESS_WINDOW {
        AccessWindow::from(value).check(max_window)?;
    }
    if attribute == SYNCHRONIZATION_POLICY && !SYNCHRONIZATION_POLICIES.contains(&value.0[0]) {
        return Err(CudaError::InvalidValue.into());
    }
    lock(&SIMULATOR.tables.stream_attributes).insert((stream, attribute), value);
    Ok(())
}

fn check_attribute(attribute: c_int) -> Result<(), CudaError> {
    let valid = ATTRIBUTES.contains(&attribute);
    valid.then_some(()).ok_or(CudaError::InvalidValue)
}

/// `cuStreamCopyAttributes`.
pub fn copy_attributes(to: Stream, from: Stream) -> CallResult {
    let ((_, to), (_, from)) = (live_stream(to)?, live_stream(from)?);
    let mut stored = lock(&SIMULATOR.tables.stream_attributes);
    for attribute in ATTRIBUTES {
        if let Some(&value) = stored.get(&(from, attribute)) {
            stored.insert((to, attribute), value);
        }
    }
    Ok(())
}

/// `cuStreamAttachMemAsync`: validated, but without effect, because managed memory is always accessible from
/// everywhere. A length of 0 means the entire allocation.
pub fn attach(stream: Stream, address: CUdeviceptr, bytes: usize, flags: c_uint) -> CallResult {
    /// `CU_MEM_ATTACH_SINGLE`, which needs a stream that the program has created.
    const SINGLE: c_uint = 4;
    /// `CU_MEM_ATTACH_GLOBAL`, `CU_MEM_ATTACH_HOST` and `CU_MEM_ATTACH_SINGLE`.
    const FLAGS: [c_uint; 3] = [1, 2, SINGLE];
    let (driver, context, stream) = SIMULATOR.lock_stream(stream)?;
    driver.stream_flags(context, stream)?;
    let default_value = driver.allocation(address)?;
    let is_entire =
        bytes == 0 || (default_value.base == address && bytes as u64 == default_value.size);
    let is_host_accessible = matches!(
        default_value.kind,
        AllocationKind::Managed | AllocationKind::Registered
    );
    let is_default = stream == StreamId::LEGACY;
    if !FLAGS.contains(&flags) || !is_entire || !is_host_accessible || flags == SINGLE && is_default
    {
        return Err(CudaError::InvalidValue.into());
    }
    Ok(())
}

/// The maximum number of operations of a batch. Source: CUDA Driver API, `cuStreamBatchMemOp`.
const MAX_OPERATIONS: c_uint = 256;

/// `CU_STREAM_WAIT_VALUE_FLUSH`: the wait also flushes remote writes, which an H200 does not support.
const FLUSH: c_uint = 1 << 30;

/// The largest `CUstreamWaitValue_flags` that is a condition, `CU_STREAM_WAIT_VALUE_NOR`.
const LAST_CONDITION: c_uint = 3;

/// Generates the functions with one operation.
macro_rules! operations {
    ($($c_name:literal $name:ident $value:ty, $kind:ident;)*) => {$(
        #[doc = concat!("`", $c_name, "`.")]
        pub fn $name(stream: Stream, address: CUdeviceptr, value: $value, flags: c_uint) -> CallResult {
            let operation = MemoryOperation {
                kind: MemoryOperation::$kind,
                barrier_flags: 0,
                address,
                value: value.into(),
                flags,
                alias: 0,
                padding: 0,
            };
            submit(stream, checked([operation].into())?)
        }
    )*};
}

operations! {
    "cuStreamWaitValue32" wait_32 c_uint, WAIT_32;
    "cuStreamWaitValue64" wait_64 c_ulonglong, WAIT_64;
    "cuStreamWriteValue32" write_32 c_uint, WRITE_32;
    "cuStreamWriteValue64" write_64 c_ulonglong, WRITE_64;
}

/// `cuStreamBatchMemOp`.
pub fn batch(
    stream: Stream,
    count: c_uint,
    operations: Option<In<MemoryOperation>>,
    flags: c_uint,
) -> CallResult {
    // SAFETY: the C function requires that `operations` has `count` elements.
    let op = unsafe { read_batch(count, operations, flags) }?;
    submit(stream, op)
}

/// Reads and checks the operations of a batch.
///
/// # Safety
/// `operations` must have `count` elements.
pub unsafe fn read_batch(
    count: c_uint,
    operations: Option<In<MemoryOperation>>,
    flags: c_uint,
) -> Result<StreamOp, CudaError> {
    if flags != 0 || count > MAX_OPERATIONS {
        return Err(CudaError::InvalidValue);
    }
    // SAFETY: `operations` has `count` elements, by this function's contract.
    checked(unsafe { read_list(operations, count as usize) }?.into())
}

/// Returns an operation of a stream with these memory operations, after a check of each.
fn checked(operations: Arc<[MemoryOperation]>) -> Result<StreamOp, CudaError> {
    let driver = SIMULATOR.lock_driver()?;
    for operation in &*operations {
        match operation.kind {
            MemoryOperation::FLUSH => return Err(CudaError::NotSupported),
            MemoryOperation::BARRIER => continue,
            _ if operation.is_wait() && operation.flags & FLUSH != 0 => {
                return Err(CudaError::NotSupported);
            }
            _ if operation.is_wait() && operation.flags <= LAST_CONDITION => {}
            // An H200 always executes a write with its memory barrier.
            _ if operation.is_write() && operation.flags == 0 => {}
            _ => return Err(CudaError::InvalidValue),
        }
        let (address, bytes) = (operation.address, operation.bytes());
        if !address.is_multiple_of(bytes) {
            return Err(CudaError::InvalidValue);
        }
        driver.read_value(address, bytes)?;
    }
    Ok(StreamOp::Memory(operations))
}

/// Enqueues operations in a stream.
fn submit(stream: Stream, op: StreamOp) -> CallResult {
    let (driver, context, stream) = SIMULATOR.lock_live_stream(stream)?;
    Ok(SIMULATOR.submit(driver, context, stream, op)?)
}
