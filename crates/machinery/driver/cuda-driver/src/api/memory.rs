//! Allocation of device, managed and page-locked host memory, and the attributes of pointers to it
//! (`cuPointerGetAttribute` and related functions).

use std::ffi::{c_int, c_uint, c_void};
use std::sync::MutexGuard;

use cuda_sim::check::Reason;
use cuda_sim::driver::{ContextId, CudaError, Driver, StreamId};
use cuda_sim::memory::global::{Allocation, AllocationKind};

use super::SIMULATOR;
use crate::arguments::{Argument, HostMemory, In, Out, number, required};
use crate::simulator::{Pool, Stream, StreamOp, WaitTarget, lock, with_contexts};
use crate::status::CallResult;
use crate::types::{CUdeviceptr, CUmemoryPool};

/// The flags that `cuMemAllocManaged` accepts: `CU_MEM_ATTACH_GLOBAL` or `CU_MEM_ATTACH_HOST`.
const ATTACH: std::ops::RangeInclusive<c_uint> = 1..=2;

/// The flags that `cuMemHostAlloc` accepts: portable, device-mapped, write-combined. In the simulator all
/// host memory is portable and mapped, and write-combining has no effect.
const HOST_ALLOC_FLAGS: c_uint = 0x7;

/// `CU_MEMHOSTREGISTER_PORTABLE`.
const PORTABLE: c_uint = 0x1;
/// The flags that `cuMemHostRegister` accepts: portable, device-mapped, read-only. Memory of other devices
/// (`CU_MEMHOSTREGISTER_IOMEMORY`) cannot be registered.
const REGISTER_FLAGS: c_uint = 0xb;

/// `cuMemGetInfo`.
pub fn info(free: Option<Out<usize>>, total: Option<Out<usize>>) -> CallResult {
    let (driver, context) = SIMULATOR.lock_current_context_settled()?;
    let info = driver.memory_info(context)?;
    Out::set_optional(free, info.0 as usize);
    Out::set_optional(total, info.1 as usize);
    Ok(())
}

/// `cuMemAlloc`.
pub fn allocate(address: Option<Out<CUdeviceptr>>, bytes: usize) -> CallResult {
    SIMULATOR.check_safe()?;
    let address = required(address)?;
    let (mut driver, context) = SIMULATOR.lock_current_context_settled()?;
    address.set(driver.allocate(context, bytes as u64)?);
    Ok(())
}

/// `cuMemAllocPitch`.
pub fn allocate_pitched(
    address: Option<Out<CUdeviceptr>>,
    pitch: Option<Out<usize>>,
    width: usize,
    height: usize,
    element: c_uint,
) -> CallResult {
    SIMULATOR.check_safe()?;
    let address = required(address)?;
    let pitch = required(pitch)?;
    let (mut driver, context) = SIMULATOR.lock_current_context_settled()?;
    let (base, row_pitch) =
        driver.allocate_pitched(context, width as u64, height as u64, element)?;
    address.set(base);
    pitch.set(row_pitch as usize);
    Ok(())
}

/// `cuMemAllocManaged`.
pub fn allocate_managed(
    address: Option<Out<CUdeviceptr>>,
    bytes: usize,
    flags: c_uint,
) -> CallResult {
    SIMULATOR.check_safe()?;
    let address = required(address)?;
    let (mut driver, context) = SIMULATOR.lock_current_context_settled()?;
    if !ATTACH.contains(&flags) {
        return Err(CudaError::InvalidValue.into());
    }
    address.set(driver.allocate_managed(context, bytes as u64)?);
    Ok(())
}

/// `cuMemAllocAsync`.
pub fn allocate_async(address: Out<CUdeviceptr>, bytes: usize, h_stream: Stream) -> CallResult {
    address.set(allocate_in_stream(bytes as u64, None, h_stream)?);
    Ok(())
}

/// `cuMemAllocFromPoolAsync`.
pub fn allocate_from_pool(
    address: Out<CUdeviceptr>,
    bytes: usize,
    pool: CUmemoryPool,
    h_stream: Stream,
) -> CallResult {
    let pool = number(pool);
    SIMULATOR.pools.lock().pool(pool)?;
    if SIMULATOR.shared_pools.is_imported(pool) {
        return Err(CudaError::InvalidValue.into());
    }
    address.set(allocate_in_stream(bytes as u64, Some(pool), h_stream)?);
    Ok(())
}

/// Allocates memory from a pool, by default the pool of the stream's device. The memory is usable
/// immediately. If the stream is capturing, reserves an address for an allocation node of the graph instead.
/// For zero bytes, returns a null address, which `cuMemFreeAsync` accepts.
fn allocate_in_stream(bytes: u64, pool: Option<u64>, h_stream: Stream) -> Result<u64, CudaError> {
    let (mut driver, context, stream) = SIMULATOR.lock_live_stream(h_stream)?;
    if bytes == 0 {
        return Ok(0);
    }
    if SIMULATOR.captures.is_captured(stream) {
        let memory = &SIMULATOR.graph_memory;
        let reservation = memory.reserve(&mut driver, context, bytes)?;
        let op = StreamOp::Allocate(reservation);
        SIMULATOR.submit(driver, context, stream, op)?;
        return Ok(reservation.address);
    }
    if stream == StreamId::LEGACY {
        SIMULATOR.captures.check_legacy_stream(context)?;
    }
    let mut pools = SIMULATOR.pools.lock();
    let pool = match pool {
        Some(pool) => pool,
        None => pools.current(driver.context_device(context)?),
    };
    let &mut Pool {
        device,
        accessible_by,
        ..
    } = pools.pool(pool)?;
    drop(pools);
    let mut allocated = driver.allocate_from_pool(context, bytes, device, accessible_by);
    drop(driver);
    if allocated == Err(CudaError::OutOfMemory) {
        // Pending operations may free some.
        let mut driver = SIMULATOR.lock_driver_drained()?;
        allocated = driver.allocate_from_pool(context, bytes, device, accessible_by);
    }
    let address = allocated?;
    SIMULATOR.pools.record_allocation(pool, address, bytes);
    SIMULATOR.record_stream_allocation(context, stream, address);
    Ok(address)
}

/// `cuMemFree`.
pub fn free(address: CUdeviceptr) -> CallResult {
    SIMULATOR.check_safe()?;
    let mut driver = SIMULATOR.lock_driver_drained()?;
    match owner_or_current(&driver, address) {
        Some(context) => {
            let allocation = driver.allocation(address);
            let record = driver.allocation_record(address);
            SIMULATOR.host_access.begin_call();
            let freed = driver.free(context, address);
            if freed.is_ok() {
                SIMULATOR.record_free(record);
            }
            SIMULATOR.host_access.end();
            freed?;
            SIMULATOR.pools.record_free(address);
            if let Ok(allocation) = allocation {
                let range = allocation.base..allocation.base + allocation.size;
                lock(&SIMULATOR.tables.managed_hints).remove(range);
            }
            SIMULATOR.report_call_findings(driver);
            Ok(())
        }
        None if address == 0 => Ok(()),
        None => Err(CudaError::InvalidValue.into()),
    }
}

/// Returns the context that owns the allocation at `address`, whatever context is current. If there is no such
/// allocation, returns the current context.
fn owner_or_current(driver: &Driver, address: u64) -> Option<ContextId> {
    let owner = driver.owner(address);
    owner.or_else(|| with_contexts(|contexts| contexts.current()))
}

/// Locks the driver, after a check that the current context exists and has not faulted.
fn lock_live_context() -> Result<MutexGuard<'static, Driver>, CudaError> {
    let (driver, context) = SIMULATOR.lock_current_context_settled()?;
    driver.memory_info(context)?;
    Ok(driver)
}

/// `cuMemFreeAsync`: frees memory when all earlier operations of the stream have completed.
pub fn free_async(address: CUdeviceptr, h_stream: Stream) -> CallResult {
    let (driver, context, stream) = SIMULATOR.lock_live_stream(h_stream)?;
    if address == 0 {
        return Ok(());
    }
    let exists = driver.owner(address).is_some() || SIMULATOR.graph_memory.is_reserved(address);
    if SIMULATOR.queue.has_pending_free(address) {
        let pending = driver.allocation_record(address);
        let reason = pending.map(|allocation| Reason::FreedBefore(address, Box::new(allocation)));
        let reason = reason.unwrap_or(Reason::NotAnAllocation(address));
        return Err(CudaError::InvalidValue.because(reason).into());
    }
    if !exists {
        return Err(driver.not_freeable(address).into());
    }
    Ok(SIMULATOR.submit(driver, context, stream, StreamOp::Free(address))?)
}

/// `cuMemAllocHost`.
pub fn allocate_host(host: Option<Out<*mut c_void>>, bytes: usize) -> CallResult {
    allocate_page_locked(host, bytes)?;
    Ok(())
}

/// Allocates page-locked memory. Writes and returns its address: null for zero bytes.
fn allocate_page_locked(host: Option<Out<*mut c_void>>, bytes: usize) -> Result<u64, CudaError> {
    SIMULATOR.check_safe()?;
    let host = required(host)?;
    if bytes == 0 {
        drop(lock_live_context()?);
        host.set(std::ptr::null_mut());
        return Ok(0);
    }
    let (mut driver, context) = SIMULATOR.lock_current_context_settled()?;
    let address = driver.allocate_host(context, bytes as u64)?;
    host.set(std::ptr::with_exposed_provenance_mut(address as usize));
    Ok(address)
}

/// `cuMemHostAlloc`.
pub fn allocate_host_with_flags(
    host: Option<Out<*mut c_void>>,
    bytes: usize,
    flags: c_uint,
) -> CallResult {
    if flags & !HOST_ALLOC_FLAGS != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    let address = allocate_page_locked(host, bytes)?;
    lock(&SIMULATOR.tables.host_flags).insert(address, flags);
    Ok(())
}

/// `cuMemHostGetFlags`: returns the flags of an allocation or a registration plus `CU_MEMHOSTALLOC_DEVICEMAP`,
/// since all host memory is mapped.
pub fn host_flags(flags: Out<c_uint>, host: *mut c_void) -> CallResult {
    /// `CU_MEMHOSTALLOC_DEVICEMAP`.
    const DEVICE_MAP: c_uint = 2;
    let driver = lock_live_context()?;
    let allocation = driver.allocation(host as u64)?;
    if !is_host(allocation.kind) {
        return Err(CudaError::InvalidValue.into());
    }
    let stored = lock(&SIMULATOR.tables.host_flags)
        .get(&allocation.base)
        .copied();
    flags.set(stored.unwrap_or(0) | DEVICE_MAP);
    Ok(())
}

/// Returns true for memory of the host.
fn is_host(kind: AllocationKind) -> bool {
    matches!(kind, AllocationKind::Host | AllocationKind::Registered)
}

/// `cuMemFreeHost`. Ignores a null pointer.
pub fn free_host(host: *mut c_void) -> CallResult {
    SIMULATOR.check_safe()?;
    if host.is_null() {
        drop(lock_live_context()?);
        return Ok(());
    }
    let mut driver = SIMULATOR.lock_driver_to_free()?;
    let context = owner_or_current(&driver, host as u64).ok_or(CudaError::InvalidValue)?;
    driver.free_host(context, host as u64)?;
    lock(&SIMULATOR.tables.host_flags).remove(&(host as u64));
    Ok(())
}

/// `cuMemHostGetDevicePointer`.
pub fn host_device_pointer(
    address: Out<CUdeviceptr>,
    host: *mut c_void,
    flags: c_uint,
) -> CallResult {
    let driver = lock_live_context()?;
    let allocation = driver.allocation(host as u64)?;
    if flags != 0 || !is_host(allocation.kind) {
        return Err(CudaError::InvalidValue.into());
    }
    address.set(host as u64);
    Ok(())
}

/// `cuMemHostRegister`.
pub fn register_host(host: HostMemory, length: usize, flags: c_uint) -> CallResult {
    SIMULATOR.check_safe()?;
    let (mut driver, context) = SIMULATOR.lock_current_context_settled()?;
    if flags & !REGISTER_FLAGS != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    // SAFETY: the memory stays valid until it is unregistered, as `cuMemHostRegister` requires of its caller.
    unsafe { driver.register_host(context, host.as_ptr(), length as u64) }?;
    let address = host.as_ptr() as u64;
    lock(&SIMULATOR.tables.host_flags).insert(address, flags & PORTABLE);
    Ok(())
}

/// `cuMemHostUnregister`.
pub fn unregister_host(host: *mut c_void) -> CallResult {
    SIMULATOR.check_safe()?;
    let (mut driver, context) = SIMULATOR.lock_current_context_drained()?;
    driver.unregister_host(context, host as u64)?;
    drop(driver);
    lock(&SIMULATOR.tables.host_flags).remove(&(host as u64));
    SIMULATOR.host_waited(WaitTarget::All);
    Ok(())
}

/// `cuMemGetAddressRange`.
pub fn address_range(
    base: Option<Out<CUdeviceptr>>,
    size: Option<Out<usize>>,
    address: CUdeviceptr,
) -> CallResult {
    let driver = lock_live_context()?;
    let allocation = driver
        .allocation(address)
        .map_err(|_| CudaError::NotFound)?;
    Out::set_optional(base, allocation.base);
    Out::set_optional(size, allocation.size as usize);
    Ok(())
}

/// Values of `CUpointer_attribute`.
const CONTEXT: c_int = 1;
const MEMORY_TYPE: c_int = 2;
const DEVICE_POINTER: c_int = 3;
const HOST_POINTER: c_int = 4;
const PEER_TOKENS: c_int = 5;
const SYNC_MEMOPS: c_int = 6;
const BUFFER_ID: c_int = 7;
const IS_MANAGED: c_int = 8;
const DEVICE_ORDINAL: c_int = 9;
const IS_LEGACY_IPC_CAPABLE: c_int = 10;
const RANGE_START: c_int = 11;
const RANGE_SIZE: c_int = 12;
const MAPPED: c_int = 13;
const HANDLE_TYPES: c_int = 14;
const IS_RDMA_CAPABLE: c_int = 15;
const ACCESS: c_int = 16;
const POOL: c_int = 17;
const MAPPING_SIZE: c_int = 18;
const MAPPING_START: c_int = 19;
const BLOCK_ID: c_int = 20;
const IS_DECOMPRESSED: c_int = 21;

/// `CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE`.
const READ_AND_WRITE: c_uint = 3;

/// The value of an attribute, with the width of its C type.
#[derive(Clone, Copy)]
enum Value {
    /// A `bool`, of one byte.
    Flag(bool),
    Int(c_uint),
    Long(u64),
}

impl Value {
    /// Writes the value.
    ///
    /// # Safety
    /// `out` must have room for a value of this width.
    unsafe fn write(self, out: Out<c_void>) {
        // SAFETY: `out` has room for a value of this width, by this function's contract.
        unsafe {
            match self {
                Self::Flag(value) => out.set_as(value),
                Self::Int(value) => out.set_as(value),
                Self::Long(value) => out.set_as(value),
            }
        }
    }

    /// Returns the value reported for an address that belongs to no allocation: zero, with the same width.
    fn zeroed(self) -> Self {
        match self {
            Self::Flag(_) => Self::Flag(false),
            Self::Int(_) => Self::Int(0),
            Self::Long(_) => Self::Long(0),
        }
    }
}

/// `cuPointerGetAttribute`.
pub fn attribute(data: Out<c_void>, attribute: c_int, address: CUdeviceptr) -> CallResult {
    let (allocation, owner) = find_allocation(address)?;
    let value = value(attribute, address, allocation, owner)?;
    // SAFETY: `data` has room for a value of the attribute's documented type, as `cuPointerGetAttribute`
    // requires of its caller.
    unsafe { value.write(data) };
    Ok(())
}

/// `cuPointerGetAttributes`: reports zero for an address outside all allocations and for attributes that do
/// not apply.
pub fn attributes(
    count: c_uint,
    attributes: In<c_int>,
    data: In<*mut c_void>,
    address: CUdeviceptr,
) -> CallResult {
    if count == 0 {
        return Err(CudaError::InvalidValue.into());
    }
    let count = count as usize;
    // SAFETY: both arrays have `count` elements, as `cuPointerGetAttributes` requires of its caller.
    let (attributes, data) = unsafe { (attributes.read_all(count), data.read_all(count)) };
    // A sample allocation, which determines the width of each attribute's value.
    let sample = Allocation {
        base: 0,
        size: 0,
        host: std::ptr::null_mut(),
        kind: AllocationKind::Managed,
        owner: 0,
    };
    let allocation = find_allocation(address).ok();
    for (attribute, out) in attributes.into_iter().zip(data) {
        // SAFETY: `out` is null or has room for a value, as `cuPointerGetAttributes` requires.
        let out: Out<c_void> = unsafe { Argument::from_c(out) }?;
        let zeroed = match attribute {
            PEER_TOKENS => return Err(CudaError::NotSupported.into()),
            // `CU_DEVICE_INVALID`.
            DEVICE_ORDINAL => Value::Int(-2_i32 as c_uint),
            _ => value(attribute, 0, sample, None)?.zeroed(),
        };
        let value = allocation
            .and_then(|(allocation, owner)| value(attribute, address, allocation, owner).ok());
        // SAFETY: the room is for a value of the attribute's type.
        unsafe { value.unwrap_or(zeroed).write(out) };
    }
    Ok(())
}

/// `cuPointerSetAttribute`: only `SYNC_MEMOPS` can be set. It has no effect: all such operations are
/// synchronous here.
pub fn set_attribute(value: In<c_void>, attribute: c_int, address: CUdeviceptr) -> CallResult {
    if attribute != SYNC_MEMOPS {
        return Err(CudaError::InvalidValue.into());
    }
    let (allocation, _) = find_allocation(address)?;
    // SAFETY: this attribute is of type `unsigned int`.
    let on = unsafe { value.read_as::<c_uint>() } != 0;
    let mut allocations = lock(&SIMULATOR.tables.sync_memops_allocations);
    match on {
        true => allocations.insert(allocation.base),
        false => allocations.remove(&allocation.base),
    };
    Ok(())
}

/// Returns the allocation at an address, and the context that owns it.
fn find_allocation(address: u64) -> Result<(Allocation, Option<ContextId>), CudaError> {
    let driver = SIMULATOR.lock_driver()?;
    let allocation = driver.allocation(address)?;
    Ok((allocation, driver.owner(allocation.base)))
}

/// Returns an attribute of an address in an allocation. Returns [`CudaError::InvalidValue`] for an unknown
/// attribute or one that such an allocation lacks, [`CudaError::NotSupported`] for attributes of interprocess
/// sharing.
fn value(
    attribute: c_int,
    address: u64,
    allocation: Allocation,
    owner: Option<ContextId>,
) -> Result<Value, CudaError> {
    Ok(match attribute {
        CONTEXT => Value::Long(owner.map_or(0, |context| context.0)),
        MEMORY_TYPE => Value::Int(memory_type(allocation)),
        DEVICE_POINTER => Value::Long(address),
        HOST_POINTER if allocation.kind.is_device_only() => return Err(CudaError::InvalidValue),
        HOST_POINTER => Value::Long(address),
        PEER_TOKENS => return Err(CudaError::NotSupported),
        SYNC_MEMOPS => Value::Int(
            lock(&SIMULATOR.tables.sync_memops_allocations)
                .contains(&allocation.base)
                .into(),
        ),
        // Addresses are never reused, so the base address identifies the allocation.
        BUFFER_ID | BLOCK_ID => Value::Long(allocation.base),
        IS_MANAGED => Value::Flag(allocation.kind == AllocationKind::Managed),
        DEVICE_ORDINAL => Value::Int(allocation.owner),
        IS_LEGACY_IPC_CAPABLE => Value::Flag(allocation.kind == AllocationKind::Device),
        // Other devices could share the memory of a GPU.
        IS_RDMA_CAPABLE => Value::Flag(matches!(
            allocation.kind,
            AllocationKind::Device | AllocationKind::Pool
        )),
        IS_DECOMPRESSED => Value::Flag(false),
        RANGE_START | MAPPING_START => Value::Long(allocation.base),
        RANGE_SIZE | MAPPING_SIZE => Value::Long(allocation.size),
        MAPPED => Value::Flag(true),
        HANDLE_TYPES => Value::Long(0),
        ACCESS => Value::Int(READ_AND_WRITE),
        POOL => Value::Long(SIMULATOR.pools.lock().pool_of(allocation.base)),
        _ => return Err(CudaError::InvalidValue),
    })
}

/// Returns the `CUmemorytype` of an allocation: 1 for host memory, 2 for device memory. Managed memory counts
/// as device memory.
fn memory_type(allocation: Allocation) -> c_uint {
    match allocation.kind {
        AllocationKind::Host | AllocationKind::Registered => 1,
        _ => 2,
    }
}
