//! Pointer attributes (`cuPointerGetAttribute` and related functions).

use std::ffi::{c_int, c_uint, c_void};

use cuda_sim::driver::{ContextId, CudaError};
use cuda_sim::memory::global::{Allocation, AllocationKind};

use super::SIMULATOR;
use crate::arguments::{Argument, In, Out};
use crate::simulator::lock;
use crate::status::CallResult;
use crate::types::CUdeviceptr;

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
