//! Conversion of node parameters from C into validated operations.

use std::ffi::c_int;
use std::sync::Arc;

use cuda_sim::driver::{CudaError, Driver, Memcpy, Memset, MemsetValue};
use cust_raw::{
    CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS, CUgraph,
};

use super::body::GraphId;
use super::memory;
use super::store::graphs;
use crate::simulator::raw::number;
use crate::simulator::work::{HostFunction, Kernel, Reserved, Work};
use crate::simulator::{contexts, current, driver, function, launch, memcpy};
use crate::types::graph::{KernelNodeParams, MemcpyNodeParams, MemsetNodeParams};

/// Reads through a pointer. Returns [`CudaError::InvalidValue`] for a null pointer.
///
/// # Safety
/// `from` must be null or readable.
pub unsafe fn read<T: Copy>(from: *const T) -> Result<T, CudaError> {
    if from.is_null() {
        return Err(CudaError::InvalidValue);
    }
    // SAFETY: `from` is not null, so it is readable by this function's contract.
    Ok(unsafe { from.read() })
}

/// Reads a kernel node's parameters from the structure before CUDA 12, which has no context.
///
/// # Safety
/// `from` must be null or a valid structure with the kernel's arguments.
pub unsafe fn old_kernel(from: *const CUDA_KERNEL_NODE_PARAMS) -> Result<Kernel, CudaError> {
    // SAFETY: `from` is null or valid, and its arguments are those of the kernel, by this function's contract.
    unsafe {
        let old = read(from)?;
        kernel(&KernelNodeParams {
            func: old.func,
            grid: [old.gridDimX, old.gridDimY, old.gridDimZ],
            block: [old.blockDimX, old.blockDimY, old.blockDimZ],
            shared_mem_bytes: old.sharedMemBytes,
            kernel_params: old.kernelParams,
            extra: old.extra,
            kern: std::ptr::null_mut(),
            ctx: std::ptr::null_mut(),
        })
    }
}

/// Reads a kernel node's parameters.
///
/// # Safety
/// Same as [`kernel_v1`].
pub unsafe fn kernel(from: *const KernelNodeParams) -> Result<Kernel, CudaError> {
    // SAFETY: `from` is null or valid, by this function's contract.
    let how = unsafe { read(from) }?;
    let handle = match how.func.is_null() {
        true => how.kern.cast(),
        false => how.func,
    };
    let context = contexts(|contexts| contexts.current());
    let mut driver = driver()?;
    let function = function(&mut driver, context, handle)?;
    let made = Kernel {
        function,
        grid: how.grid,
        block: how.block,
        dynamic_shared: how.shared_mem_bytes,
        // SAFETY: the structure holds the kernel's arguments, by this function's contract.
        arguments: unsafe { launch::pack(&driver, function, how.kernel_params, how.extra) }?,
        cooperative: false,
        priority: 0,
    };
    check_kernel(&driver, &made)?;
    Ok(made)
}

/// Checks that the kernel can be launched in the context of its module.
pub fn check_kernel(driver: &Driver, kernel: &Kernel) -> Result<(), CudaError> {
    let context = driver.module_context(driver.function_module(kernel.function)?)?;
    driver.check_launch(context, &kernel.config())
}

/// Reads a memcpy node's parameters.
///
/// # Safety
/// `from` must be null or a valid structure.
pub unsafe fn copy(from: *const CUDA_MEMCPY3D) -> Result<Work, CudaError> {
    // SAFETY: `from` is null or valid, by this function's contract.
    let copy = unsafe { memcpy::read_three_d(from) }?;
    let (driver, context) = current()?;
    memory::check_copy(&driver, context, &copy)?;
    Ok(Work::Memcpy(copy))
}

/// Reads a memcpy node's parameters from the structure for nodes of any type.
///
/// # Safety
/// `how` must be readable.
pub unsafe fn any_copy(how: *const MemcpyNodeParams) -> Result<Work, CudaError> {
    // SAFETY: `params` is readable, by this function's contract; the copy's enums are read as integers.
    unsafe {
        if (&raw const (*how).flags).read() != 0 {
            return Err(CudaError::InvalidValue);
        }
        copy(&raw const (*how).copy_params)
    }
}

/// Reads a memset node's parameters from the structure without a context.
///
/// # Safety
/// `from` must be null or a valid structure.
pub unsafe fn old_fill(from: *const CUDA_MEMSET_NODE_PARAMS) -> Result<Work, CudaError> {
    // SAFETY: `from` is null or valid, by this function's contract.
    let old = unsafe { read(from) }?;
    fill(&MemsetNodeParams {
        dst: old.dst,
        pitch: old.pitch,
        value: old.value,
        element_size: old.elementSize,
        width: old.width,
        height: old.height,
        ctx: std::ptr::null_mut(),
    })
}

/// Creates the operation of a memset node.
pub fn fill(how: &MemsetNodeParams) -> Result<Work, CudaError> {
    let value = match how.element_size {
        1 => MemsetValue::U8(u8::try_from(how.value).map_err(|_| CudaError::InvalidValue)?),
        2 => MemsetValue::U16(u16::try_from(how.value).map_err(|_| CudaError::InvalidValue)?),
        4 => MemsetValue::U32(how.value),
        _ => return Err(CudaError::InvalidValue),
    };
    let memset = Memset {
        address: how.dst,
        pitch: how.pitch as u64,
        value,
        width: how.width as u64,
        height: how.height as u64,
    };
    let (driver, context) = current()?;
    memory::check_fill(&driver, context, &memset)?;
    Ok(Work::Memset(memset))
}

/// Reads a host node's parameters.
///
/// # Safety
/// `from` must be null or a valid structure.
pub unsafe fn host(from: *const CUDA_HOST_NODE_PARAMS) -> Result<Work, CudaError> {
    // SAFETY: `from` is null or valid, by this function's contract.
    let how = unsafe { read(from) }?;
    if how.fn_.is_none() {
        return Err(CudaError::InvalidValue);
    }
    Ok(Work::Host(HostFunction::Plain {
        function: how.fn_,
        data: how.userData,
    }))
}

/// Creates the operation of a child graph node. A graph that allocates or frees memory cannot be a child.
pub fn child(graph: CUgraph) -> Result<Work, CudaError> {
    let graphs = graphs();
    let body = graphs.graph(GraphId(number(graph)))?;
    if body.has_memory() {
        return Err(CudaError::NotSupported);
    }
    Ok(Work::Graph(Arc::new(body.clone())))
}

/// Reserves the memory of an allocation node, and writes its address to the structure.
///
/// # Safety
/// `params` must be null or a valid, writable structure.
pub unsafe fn allocation(how: *mut CUDA_MEM_ALLOC_NODE_PARAMS) -> Result<Work, CudaError> {
    /// `CU_MEM_ALLOCATION_TYPE_PINNED` and `CU_MEM_LOCATION_TYPE_DEVICE`.
    const PINNED: c_int = 1;
    const DEVICE: c_int = 1;
    if how.is_null() {
        return Err(CudaError::InvalidValue);
    }
    // SAFETY: `params` is not null, so it is readable by this function's contract; enums are read as integers.
    let (kind, place, device, bytes) = unsafe {
        (
            (&raw const (*how).poolProps.allocType)
                .cast::<c_int>()
                .read(),
            (&raw const (*how).poolProps.location.type_)
                .cast::<c_int>()
                .read(),
            (*how).poolProps.location.id,
            (*how).bytesize,
        )
    };
    if kind != PINNED || place != DEVICE || device != 0 {
        return Err(CudaError::InvalidValue);
    }
    let (mut driver, context) = current()?;
    let address = memory::reserve(&mut driver, context, bytes as u64)?;
    // SAFETY: `params` is not null, so it is writable by this function's contract.
    unsafe { (*how).dptr = address };
    Ok(Work::Allocate(Reserved {
        address,
        bytes: bytes as u64,
    }))
}

/// Creates the operation of a free node.
pub fn freed(address: u64) -> Result<Work, CudaError> {
    let driver = driver()?;
    if !memory::is_reserved(address) && driver.owner(address).is_none() {
        return Err(CudaError::InvalidValue);
    }
    Ok(Work::Free(address))
}

/// Returns true if a copy or fill has more than one row: such nodes of an executable graph cannot be changed.
pub fn has_rows(work: &Work) -> bool {
    match work {
        Work::Memcpy(Memcpy { height, depth, .. }) => *height > 1 || *depth > 1,
        Work::Memset(memset) => memset.height > 1,
        _ => false,
    }
}

/// Returns the `CUgraphNodeType` of a node with this operation.
pub fn kind(work: &Work) -> c_int {
    match work {
        Work::Kernel(_) => 0,
        Work::Memcpy(_) => 1,
        Work::Memset(_) => 2,
        Work::Host(_) => 3,
        Work::Graph(_) => 4,
        Work::Empty => 5,
        Work::WaitEvent(_) => 6,
        Work::RecordEvent(_) => 7,
        Work::Allocate(_) => 10,
        Work::Free(_) => 11,
    }
}

/// Copies a list of handles.
///
/// # Safety
/// `list` must be null or have `count` elements.
pub unsafe fn list<T: Copy>(list: *const T, count: usize) -> Result<Vec<T>, CudaError> {
    match (list.is_null(), count) {
        (_, 0) => Ok(Vec::new()),
        (true, _) => Err(CudaError::InvalidValue),
        // SAFETY: `list` is not null, so it has `count` elements by this function's contract.
        (false, count) => Ok(unsafe { std::slice::from_raw_parts(list, count) }.to_vec()),
    }
}
