//! Memory that graph nodes allocate: the address is reserved when the node is created, the memory is
//! allocated at each launch.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::sync::Mutex;

use cuda_sim::driver::{ContextId, CudaError, Driver, Memcpy, MemcpyAddress, Memset};
use cust_raw::CUdevice;

use super::Body;
use crate::simulator::arguments::{In, Out, required};
use crate::simulator::device::check_device;
use crate::simulator::stream_op::Reservation;
use crate::simulator::{SIMULATOR, lock_driver, lock_driver_drained, lock_mutex, pool};
use crate::status::CallResult;

/// Values of `CUgraphMem_attribute`.
const USED_CURRENT: c_int = 0;
const USED_HIGH: c_int = 1;
const RESERVED_CURRENT: c_int = 2;
const RESERVED_HIGH: c_int = 3;

/// The memory of graph nodes.
pub struct GraphMemory {
    /// The reserved addresses, with the size of each reservation in bytes.
    reservations: Mutex<BTreeMap<u64, u64>>,
    /// The allocations of graph nodes, some of which may have been freed since.
    allocated: Mutex<Allocated>,
}

impl GraphMemory {
    pub const fn new() -> Self {
        Self {
            reservations: Mutex::new(BTreeMap::new()),
            allocated: Mutex::new(Allocated {
                bytes: BTreeMap::new(),
                peak: BTreeMap::new(),
            }),
        }
    }
}

struct Allocated {
    /// Size in bytes, by address.
    bytes: BTreeMap<u64, u64>,
    /// Peak of the used bytes, by device.
    peak: BTreeMap<u32, u64>,
}

impl Allocated {
    /// Returns the bytes in use on a device. Skips memory that was freed since: any free function may have
    /// done so.
    fn used(&mut self, driver: &Driver, device: u32) -> u64 {
        self.bytes
            .retain(|&address, _| driver.owner(address).is_some());
        let of_device = self.bytes.iter().filter(|(address, _)| {
            let allocation = driver.allocation(**address);
            allocation.is_ok_and(|allocation| allocation.owner == device)
        });
        of_device.map(|(_, bytes)| bytes).sum()
    }
}

/// Reserves an address for a node that allocates `bytes` bytes.
pub fn reserve(driver: &mut Driver, context: ContextId, bytes: u64) -> Result<u64, CudaError> {
    let address = driver.reserve(context, bytes)?;
    lock_mutex(&SIMULATOR.graph_memory.reservations).insert(address, bytes);
    Ok(address)
}

/// Returns true if an address lies in the reservation of a graph node.
pub fn is_reserved(address: u64) -> bool {
    let reservations = lock_mutex(&SIMULATOR.graph_memory.reservations);
    let candidate = reservations.range(..=address).next_back();
    candidate.is_some_and(|(start, bytes)| address - start < *bytes)
}

/// Checks the copy of a new node. Skips the address check for memory of allocation nodes, which may not exist
/// yet.
pub fn check_memcpy(driver: &Driver, context: ContextId, copy: &Memcpy) -> Result<(), CudaError> {
    let sides = [copy.dst.array, copy.src.array];
    let is_unallocated = sides.iter().any(|side| match side {
        MemcpyAddress::Device(address) | MemcpyAddress::Unified(address) => is_reserved(*address),
        MemcpyAddress::Host(_) | MemcpyAddress::Array(_) => false,
    });
    match is_unallocated {
        true => driver.memory_info(context).map(|_| ()),
        false => driver.check_memcpy(context, copy),
    }
}

/// Checks the fill of a new node, as [`check_memcpy`] does for copies.
pub fn check_memset(driver: &Driver, context: ContextId, memset: &Memset) -> Result<(), CudaError> {
    match is_reserved(memset.address) {
        true => driver.memory_info(context).map(|_| ()),
        false => driver.check_memset(context, memset),
    }
}

/// Executes an allocation node.
pub fn allocate(context: ContextId, reservation: &Reservation) -> Result<(), CudaError> {
    let mut driver = lock_driver()?;
    driver.allocate_reserved(context, reservation.address, reservation.bytes)?;
    let mut allocated = lock_mutex(&SIMULATOR.graph_memory.allocated);
    allocated
        .bytes
        .insert(reservation.address, reservation.bytes);
    let device = driver.context_device(context)?;
    let used = allocated.used(&driver, device);
    let peak = allocated.peak.entry(device).or_default();
    *peak = used.max(*peak);
    Ok(())
}

/// Prepares the memory that a launch allocates. If memory of the previous launch is still allocated, frees it
/// if `free` is true; otherwise returns [`CudaError::InvalidValue`].
pub fn make_room(
    driver: &mut Driver,
    context: ContextId,
    body: &Body,
    free: bool,
) -> Result<(), CudaError> {
    for reservation in body.allocations() {
        if driver.owner(reservation.address).is_none() {
            continue;
        }
        if !free {
            return Err(CudaError::InvalidValue);
        }
        driver.free(context, reservation.address)?;
        pool::record_free(reservation.address);
    }
    let mut children = body.children();
    children.try_for_each(|child| make_room(driver, context, child, free))
}

/// `cuDeviceGetGraphMemAttribute`.
pub fn attribute(device: CUdevice, attribute: c_int, value: Option<Out<c_void>>) -> CallResult {
    let device = check_device(device)?;
    let value = required(value)?;
    let driver = lock_driver_drained()?;
    let mut allocated = lock_mutex(&SIMULATOR.graph_memory.allocated);
    let bytes = match attribute {
        // Freed memory is not cached, so the reserved bytes are the used bytes.
        USED_CURRENT | RESERVED_CURRENT => allocated.used(&driver, device),
        USED_HIGH | RESERVED_HIGH => allocated.peak.get(&device).copied().unwrap_or(0),
        _ => return Err(CudaError::InvalidValue.into()),
    };
    // SAFETY: all these attributes are 64-bit numbers.
    unsafe { value.set_as::<u64>(bytes) };
    Ok(())
}

/// `cuDeviceSetGraphMemAttribute`: a peak can only be reset.
pub fn set_attribute(device: CUdevice, attribute: c_int, value: Option<In<c_void>>) -> CallResult {
    let device = check_device(device)?;
    let value = required(value)?;
    if !matches!(attribute, USED_HIGH | RESERVED_HIGH) {
        return Err(CudaError::InvalidValue.into());
    }
    // SAFETY: all these attributes are 64-bit numbers.
    if unsafe { value.read_as::<u64>() } != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    let driver = lock_driver_drained()?;
    let mut allocated = lock_mutex(&SIMULATOR.graph_memory.allocated);
    let used = allocated.used(&driver, device);
    allocated.peak.insert(device, used);
    Ok(())
}

/// `cuDeviceGraphMemTrim`: a no-op, because freed memory is not cached.
pub fn trim(device: CUdevice) -> CallResult {
    check_device(device)?;
    Ok(())
}
