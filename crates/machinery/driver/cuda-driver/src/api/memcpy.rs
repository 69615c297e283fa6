//! Copies (`cuMemcpy…`) in one, two and three dimensions, and fills (`cuMemset…`).
//!
//! The copies here are made of the arguments of C functions, which require that the host ranges are valid: for a
//! synchronous copy until the call returns, for an asynchronous one until it completes.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use cuda_sim::driver::MemcpyAddress::{self, Array, Device, Host, Unified};
use cuda_sim::driver::{ContextId, CudaError, Memcpy, MemcpyOperand, Memset, MemsetValue};

use super::SIMULATOR;
use super::stream;
use crate::arguments::{HostMemory, In, Out, context, number};
use crate::simulator::{PerThreadDefault, Stream, StreamOp, require_current};
use crate::status::CallResult;
use crate::types::{
    CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_UNIFIED,
    CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER, CUarray, CUdeviceptr, CUmemorytype, CUstream,
    MemcpyAttributes, MemcpyBatchOp, MemcpyBatchOperand,
};

/// Values of `CUmemcpy3DOperandType`.
const BATCH_POINTER: c_int = 1;
const BATCH_ARRAY: c_int = 2;

/// Generates the functions of each kind of copy, from the expression that creates the copy: the synchronous function,
/// and the asynchronous one if it has a name.
macro_rules! copies {
    () => {};
    ($c_name:literal $name:ident ($($argument:ident: $type:ty),*) $copy:expr; $($rest:tt)*) => {
        #[doc = concat!("`", $c_name, "`.")]
        pub fn $name($($argument: $type),*) -> CallResult {
            run(&$copy)
        }

        copies! { $($rest)* }
    };
    (
        $c_name:literal $name:ident $name_async:ident ($($argument:ident: $type:ty),*) $copy:expr;
        $($rest:tt)*
    ) => {
        #[doc = concat!("`", $c_name, "Async`.")]
        pub fn $name_async($($argument: $type,)* h_stream: Stream) -> CallResult {
            run_in(h_stream, &$copy)
        }

        copies! { $c_name $name ($($argument: $type),*) $copy; $($rest)* }
    };
}

copies! {
    "cuMemcpy" unified unified_async(to: CUdeviceptr, from: CUdeviceptr, bytes: usize)
        linear(Unified(to), Unified(from), bytes);
    "cuMemcpyHtoD" host_to_device host_to_device_async(to: CUdeviceptr, from: HostMemory, bytes: usize)
        linear(Device(to), host(from), bytes);
    "cuMemcpyDtoH" device_to_host device_to_host_async(to: HostMemory, from: CUdeviceptr, bytes: usize)
        linear(host(to), Device(from), bytes);
    "cuMemcpyDtoD" device_to_device device_to_device_async(to: CUdeviceptr, from: CUdeviceptr, bytes: usize)
        linear(Device(to), Device(from), bytes);
    "cuMemcpyHtoA" host_to_array host_to_array_async(to: CUarray, offset: usize, from: HostMemory, bytes: usize)
        row(texels(to, offset), MemcpyOperand::linear(host(from)), bytes);
    "cuMemcpyAtoH" array_to_host array_to_host_async(to: HostMemory, from: CUarray, offset: usize, bytes: usize)
        row(MemcpyOperand::linear(host(to)), texels(from, offset), bytes);
    "cuMemcpyDtoA" device_to_array(to: CUarray, offset: usize, from: CUdeviceptr, bytes: usize)
        row(texels(to, offset), MemcpyOperand::linear(Device(from)), bytes);
    "cuMemcpyAtoD" array_to_device(to: CUdeviceptr, from: CUarray, offset: usize, bytes: usize)
        row(MemcpyOperand::linear(Device(to)), texels(from, offset), bytes);
    "cuMemcpyAtoA" array_to_array(to: CUarray, to_offset: usize, from: CUarray, from_offset: usize, bytes: usize)
        row(texels(to, to_offset), texels(from, from_offset), bytes);
    "cuMemcpyPeer" peer peer_async(
        to: CUdeviceptr, to_context: Option<ContextId>, from: CUdeviceptr, from_context: Option<ContextId>, bytes: usize
    ) {
        check_contexts([to_context, from_context])?;
        linear(Device(to), Device(from), bytes)
    };
    "cuMemcpy3DPeer" three_d_peer three_d_peer_async(copy: In<CUDA_MEMCPY3D_PEER>) read_peer(copy)?;
    "cuMemcpy2D" two_d two_d_async(copy: In<CUDA_MEMCPY2D>) read_two_d(copy)?;
    "cuMemcpy3D" three_d three_d_async(copy: In<CUDA_MEMCPY3D>) read_three_d(copy)?;
}

/// Reads a peer copy. The structure is a [`CUDA_MEMCPY3D`] with two context handles in its reserved fields.
fn read_peer(copy: In<CUDA_MEMCPY3D_PEER>) -> Result<Memcpy, CudaError> {
    let peer = copy.read();
    check_contexts([peer.dstContext, peer.srcContext].map(context))?;
    // SAFETY: both structures have the same layout.
    read_three_d(unsafe { copy.cast() })
}

/// Returns [`CudaError::InvalidContext`] unless both handles are contexts or null. Addresses are unique across devices,
/// so the contexts of a copy are only validated.
fn check_contexts(contexts: [Option<ContextId>; 2]) -> Result<(), CudaError> {
    let driver = SIMULATOR.lock_driver_settled()?;
    let mut contexts = contexts.into_iter();
    contexts
        .all(|context| context.is_none_or(|context| driver.is_context(context)))
        .then_some(())
        .ok_or(CudaError::InvalidContext)
}

/// Returns a copy of `bytes` bytes from one address to another.
fn linear(dst: MemcpyAddress, src: MemcpyAddress, bytes: usize) -> Memcpy {
    Memcpy::linear(dst, src, bytes as u64)
}

/// Returns the first row of an array, starting at byte `offset`.
fn texels(array: CUarray, offset: usize) -> MemcpyOperand {
    MemcpyOperand {
        x: offset as u64,
        ..MemcpyOperand::linear(Array(number(array)))
    }
}

/// Returns a copy of `bytes` bytes within one row.
fn row(dst: MemcpyOperand, src: MemcpyOperand, bytes: usize) -> Memcpy {
    Memcpy {
        dst,
        src,
        width: bytes as u64,
        height: 1,
        depth: 1,
    }
}

/// Copies synchronously in the default stream of the current context.
fn run(copy: &Memcpy) -> CallResult {
    if PerThreadDefault::is_active() {
        run_in(Stream::PerThread, copy)?;
        return stream::synchronize(Stream::PerThread);
    }
    let context = require_current()?;
    // SAFETY: the C function requires that the copy's host ranges are valid until the call returns.
    Ok(unsafe { SIMULATOR.copy_now(context, copy) }?)
}

/// Enqueues a copy in the stream `h_stream`.
fn run_in(h_stream: Stream, copy: &Memcpy) -> CallResult {
    let (driver, context, stream) = SIMULATOR.lock_live_stream(h_stream)?;
    match SIMULATOR.captures.is_captured(stream) {
        true => SIMULATOR
            .graph_memory
            .check_memcpy(&driver, context, copy)?,
        false => driver.check_memcpy(context, copy)?,
    }
    Ok(SIMULATOR.submit(driver, context, stream, StreamOp::Memcpy(*copy))?)
}

/// `cuMemcpyBatchAsync`: the first copy with each attribute is `attribute_starts[i]`. The attributes are hints about
/// the order of accesses, which execution in the stream's order satisfies.
#[expect(clippy::too_many_arguments, reason = "they are C's")]
pub fn batch(
    destinations: In<CUdeviceptr>,
    sources: In<CUdeviceptr>,
    sizes: In<usize>,
    count: usize,
    attributes: In<MemcpyAttributes>,
    attribute_starts: In<usize>,
    attribute_count: usize,
    h_stream: CUstream,
) -> CallResult {
    if count == 0 || !(1..=count).contains(&attribute_count) {
        return Err(CudaError::InvalidValue.into());
    }
    // SAFETY: the lists have these numbers of elements, as `cuMemcpyBatchAsync` requires of its caller.
    let (destinations, sources, sizes, attributes, starts) = unsafe {
        (
            destinations.read_all(count),
            sources.read_all(count),
            sizes.read_all(count),
            attributes.read_all(attribute_count),
            attribute_starts.read_all(attribute_count),
        )
    };
    let is_ascending = starts.is_sorted_by(|first, second| first < second);
    let is_in_range = starts[0] == 0 && starts.iter().all(|start| *start < count);
    if !is_ascending || !is_in_range {
        return Err(CudaError::InvalidValue.into());
    }
    for attribute in attributes {
        check_batch_attributes(attribute.source_order, attribute.flags)?;
    }
    let copies = destinations.into_iter().zip(sources).zip(sizes);
    let copies = copies.map(
        |((to, from), bytes)| match to == 0 || from == 0 || bytes == 0 {
            true => Err(CudaError::InvalidValue),
            false => Ok(linear(Unified(to), Unified(from), bytes)),
        },
    );
    run_batch(h_stream, copies.collect::<Result<_, _>>()?)
}

/// `cuMemcpyBatchAsync` before CUDA 13, which reports the copy that failed.
#[expect(clippy::too_many_arguments, reason = "they are C's")]
pub fn batch_v1(
    destinations: In<CUdeviceptr>,
    sources: In<CUdeviceptr>,
    sizes: In<usize>,
    count: usize,
    attributes: In<MemcpyAttributes>,
    attribute_starts: In<usize>,
    attribute_count: usize,
    failed: Option<Out<usize>>,
    h_stream: CUstream,
) -> CallResult {
    let result = batch(
        destinations,
        sources,
        sizes,
        count,
        attributes,
        attribute_starts,
        attribute_count,
        h_stream,
    );
    set_failed(failed, &result);
    result
}

/// `cuMemcpy3DBatchAsync`.
pub fn batch_3d(
    count: usize,
    copies: In<MemcpyBatchOp>,
    flags: c_ulonglong,
    h_stream: CUstream,
) -> CallResult {
    if count == 0 || flags != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    // SAFETY: the list has `count` elements, as `cuMemcpy3DBatchAsync` requires of its caller.
    let copies = unsafe { copies.read_all(count) };
    let copies = copies.iter().map(read_batch_copy);
    run_batch(h_stream, copies.collect::<Result<_, _>>()?)
}

/// `cuMemcpy3DBatchAsync` before CUDA 13, which reports the copy that failed.
pub fn batch_3d_v1(
    count: usize,
    copies: In<MemcpyBatchOp>,
    failed: Option<Out<usize>>,
    flags: c_ulonglong,
    h_stream: CUstream,
) -> CallResult {
    let result = batch_3d(count, copies, flags, h_stream);
    set_failed(failed, &result);
    result
}

/// Reports that no single copy of a batch is known to have failed, as the driver does for invalid arguments.
fn set_failed(failed: Option<Out<usize>>, result: &CallResult) {
    if result.is_err() {
        Out::set_optional(failed, usize::MAX);
    }
}

/// Checks a `CUmemcpySrcAccessOrder` and `CUmemcpyFlags`.
fn check_batch_attributes(source_order: c_int, flags: c_uint) -> Result<(), CudaError> {
    /// `CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE`.
    const FLAGS: c_uint = 1;
    let is_valid = (1..=3).contains(&source_order) && flags & !FLAGS == 0;
    is_valid.then_some(()).ok_or(CudaError::InvalidValue)
}

/// Reads a copy of a batch. Its lengths are in elements: those of an array on either side, otherwise bytes.
fn read_batch_copy(copy: &MemcpyBatchOp) -> Result<Memcpy, CudaError> {
    check_batch_attributes(copy.source_order, copy.flags)?;
    let sides = [&copy.source, &copy.destination];
    let driver = SIMULATOR.lock_driver()?;
    let mut element = 1;
    for array in sides.iter().filter(|side| side.kind == BATCH_ARRAY) {
        let description = driver.array(array.base)?;
        element = u64::from(description.channel.bytes() * description.channels);
    }
    let [width, height, depth] = copy.extent.map(|length| length as u64);
    if [width, height, depth].contains(&0) {
        return Err(CudaError::InvalidValue);
    }
    let operand = |side: &MemcpyBatchOperand| {
        let [first, second] = side.shape.map(|length| length as u64);
        match side.kind {
            BATCH_POINTER => {
                let or_tight = |length, tight| if length == 0 { tight } else { length };
                let (row, rows) = (or_tight(first, width), or_tight(second, height));
                if side.base == 0 || row < width || rows < height {
                    return Err(CudaError::InvalidValue);
                }
                Ok(MemcpyOperand {
                    pitch: row * element,
                    height: rows,
                    ..MemcpyOperand::linear(Unified(side.base))
                })
            }
            BATCH_ARRAY => Ok(MemcpyOperand {
                x: first * element,
                y: second,
                z: side.rest as u64,
                ..MemcpyOperand::linear(Array(side.base))
            }),
            _ => Err(CudaError::InvalidValue),
        }
    };
    Ok(Memcpy {
        dst: operand(&copy.destination)?,
        src: operand(&copy.source)?,
        width: width * element,
        height,
        depth,
    })
}

/// Checks the copies of a batch, then enqueues them in a stream. The default stream has no batches.
fn run_batch(h_stream: CUstream, copies: Vec<Memcpy>) -> CallResult {
    if h_stream.is_null() {
        return Err(CudaError::InvalidValue.into());
    }
    let (driver, context, stream) = SIMULATOR.lock_live_stream(h_stream)?;
    if !SIMULATOR.captures.is_captured(stream) {
        for copy in &copies {
            driver.check_memcpy(context, copy)?;
        }
    }
    drop(driver);
    copies
        .iter()
        .try_for_each(|copy| run_in(h_stream.into(), copy))
}

/// Returns the operand for a host address.
fn host(memory: HostMemory) -> MemcpyAddress {
    Host(memory.as_ptr())
}

/// Returns the start address of one side of a copy: `memory_type` selects one of the structure's addresses. Returns
/// [`CudaError::InvalidValue`] for a value that the enum lacks.
fn array_start(
    memory_type: CUmemorytype,
    host_address: *const c_void,
    device_address: CUdeviceptr,
    array: CUarray,
) -> Result<MemcpyAddress, CudaError> {
    match memory_type {
        CU_MEMORYTYPE_HOST => Ok(Host(host_address.cast_mut().cast())),
        CU_MEMORYTYPE_DEVICE => Ok(Device(device_address)),
        CU_MEMORYTYPE_UNIFIED => Ok(Unified(device_address)),
        CU_MEMORYTYPE_ARRAY => Ok(Array(number(array))),
        _ => Err(CudaError::InvalidValue),
    }
}

/// Reads the source or destination of the copy `$copy` from the named fields. `$z` and `$height` are
/// expressions, because the two-dimensional structure has no such fields.
macro_rules! operand {
    (
        $copy:ident: $memory_type:ident, $host:ident, $device_address:ident, $array:ident,
        $x:ident, $y:ident, $pitch:ident, z $z:expr, height $height:expr
    ) => {
        MemcpyOperand {
            array: array_start(
                $copy.$memory_type,
                $copy.$host,
                $copy.$device_address,
                $copy.$array,
            )?,
            x: $copy.$x as u64,
            y: $copy.$y as u64,
            z: $z as u64,
            pitch: $copy.$pitch as u64,
            height: $height as u64,
        }
    };
}

/// Reads a two-dimensional copy.
fn read_two_d(copy: In<CUDA_MEMCPY2D>) -> Result<Memcpy, CudaError> {
    let copy = copy.read();
    Ok(Memcpy {
        dst: operand!(
            copy: dstMemoryType, dstHost, dstDevice, dstArray,
            dstXInBytes, dstY, dstPitch, z 0, height 0
        ),
        src: operand!(
            copy: srcMemoryType, srcHost, srcDevice, srcArray,
            srcXInBytes, srcY, srcPitch, z 0, height 0
        ),
        width: copy.WidthInBytes as u64,
        height: copy.Height as u64,
        depth: 1,
    })
}

/// Reads a three-dimensional copy.
pub fn read_three_d(copy: In<CUDA_MEMCPY3D>) -> Result<Memcpy, CudaError> {
    let copy = copy.read();
    let copied = Memcpy {
        dst: operand!(
            copy: dstMemoryType, dstHost, dstDevice, dstArray,
            dstXInBytes, dstY, dstPitch, z copy.dstZ, height copy.dstHeight
        ),
        src: operand!(
            copy: srcMemoryType, srcHost, srcDevice, srcArray,
            srcXInBytes, srcY, srcPitch, z copy.srcZ, height copy.srcHeight
        ),
        width: copy.WidthInBytes as u64,
        height: copy.Height as u64,
        depth: copy.Depth as u64,
    };
    // Arrays have no levels of detail; other memory ignores the level.
    let has_level =
        |operand: &MemcpyOperand, level| level != 0 && matches!(operand.array, Array(_));
    if has_level(&copied.src, copy.srcLOD) || has_level(&copied.dst, copy.dstLOD) {
        return Err(CudaError::InvalidValue);
    }
    Ok(copied)
}

/// Generates the four functions that fill memory with values of one type: one row or several rows, in the
/// default stream or in a given stream.
macro_rules! memsets {
    (
        $bits:literal $type:ty, $value:path,
        $row:ident, $row_async:ident, $rows:ident, $rows_async:ident
    ) => {
        #[doc = concat!("`cuMemsetD", $bits, "`.")]
        pub fn $row(address: CUdeviceptr, value: $type, count: usize) -> CallResult {
            fill_now(address, 0, $value(value), count, 1)
        }

        #[doc = concat!("`cuMemsetD", $bits, "Async`.")]
        pub fn $row_async(
            address: CUdeviceptr,
            value: $type,
            count: usize,
            h_stream: Stream,
        ) -> CallResult {
            fill(h_stream, address, 0, $value(value), count, 1)
        }

        #[doc = concat!("`cuMemsetD2D", $bits, "`.")]
        pub fn $rows(
            address: CUdeviceptr,
            pitch: usize,
            value: $type,
            width: usize,
            height: usize,
        ) -> CallResult {
            fill_now(address, pitch, $value(value), width, height)
        }

        #[doc = concat!("`cuMemsetD2D", $bits, "Async`.")]
        pub fn $rows_async(
            address: CUdeviceptr,
            pitch: usize,
            value: $type,
            width: usize,
            height: usize,
            h_stream: Stream,
        ) -> CallResult {
            fill(h_stream, address, pitch, $value(value), width, height)
        }
    };
}

memsets!("8" u8, MemsetValue::U8, d8, d8_async, rows_d8, rows_d8_async);
memsets!(
    "16" u16,
    MemsetValue::U16,
    d16,
    d16_async,
    rows_d16,
    rows_d16_async
);
memsets!(
    "32" u32,
    MemsetValue::U32,
    d32,
    d32_async,
    rows_d32,
    rows_d32_async
);

/// Fills memory in the default stream. The call returns before device memory is filled, but after memory that the host
/// can access is filled.
fn fill_now(
    address: CUdeviceptr,
    pitch: usize,
    value: MemsetValue,
    width: usize,
    height: usize,
) -> CallResult {
    let h_stream = Stream::default_of_call();
    fill(h_stream, address, pitch, value, width, height)?;
    let (driver, _, stream) = SIMULATOR.lock_live_stream(h_stream)?;
    let is_host_accessible =
        (driver.allocation(address)).is_ok_and(|allocation| allocation.kind.is_host_accessible());
    let is_captured = SIMULATOR.captures.is_captured(stream);
    drop(driver);
    match is_host_accessible && !is_captured {
        true => stream::synchronize(h_stream),
        false => Ok(()),
    }
}

/// Enqueues a fill in the stream `h_stream`. `pitch` is in bytes, `width` in values.
fn fill(
    h_stream: Stream,
    address: CUdeviceptr,
    pitch: usize,
    value: MemsetValue,
    width: usize,
    height: usize,
) -> CallResult {
    let (driver, context, stream) = SIMULATOR.lock_live_stream(h_stream)?;
    let memset = Memset {
        address,
        pitch: pitch as u64,
        value,
        width: width as u64,
        height: height as u64,
    };
    match SIMULATOR.captures.is_captured(stream) {
        true => SIMULATOR
            .graph_memory
            .check_memset(&driver, context, &memset)?,
        false => driver.check_memset(context, &memset)?,
    }
    Ok(SIMULATOR.submit(driver, context, stream, StreamOp::Memset(memset))?)
}
