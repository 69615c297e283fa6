//! The parameters of nodes as C gives them, made into work that is known to be possible.

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

/// What a pointer points to. [`CudaError::InvalidValue`] for a null pointer.
///
/// # Safety
/// `from` must be null or readable.
pub unsafe fn read<T: Copy>(from: *const T) -> Result<T, CudaError> {
    if from.is_null() {
        return Err(CudaError::InvalidValue);
    }
    // SAFETY: not null, so readable by the caller's promise.
    Ok(unsafe { from.read() })
}

/// A kernel node's parameters in the older structure, which names no context.
///
/// # Safety
/// `from` must be null or the structure, with the kernel's arguments.
pub unsafe fn old_kernel(from: *const CUDA_KERNEL_NODE_PARAMS) -> Result<Kernel, CudaError> {
    // SAFETY: the caller's promise.
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

/// A kernel node's parameters.
///
/// # Safety
/// As [`old_kernel`].
pub unsafe fn kernel(from: *const KernelNodeParams) -> Result<Kernel, CudaError> {
    // SAFETY: the caller's promise.
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
        // SAFETY: the caller's promise.
        arguments: unsafe { launch::pack(&driver, function, how.kernel_params, how.extra) }?,
        cooperative: false,
        priority: 0,
    };
    check_kernel(&driver, &made)?;
    Ok(made)
}

/// Whether the kernel could be launched in the context that it was loaded into.
pub fn check_kernel(driver: &Driver, kernel: &Kernel) -> Result<(), CudaError> {
    let context = driver.module_context(driver.function_module(kernel.function)?)?;
    driver.check_launch(context, &kernel.config())
}

/// A memcpy node's parameters.
///
/// # Safety
/// `from` must be null or the structure.
pub unsafe fn copy(from: *const CUDA_MEMCPY3D) -> Result<Work, CudaError> {
    // SAFETY: the caller's promise.
    let copy = unsafe { memcpy::read_three_d(from) }?;
    let (driver, context) = current()?;
    memory::check_copy(&driver, context, &copy)?;
    Ok(Work::Memcpy(copy))
}

/// A memcpy node's parameters, of any node.
///
/// # Safety
/// `how` must be readable.
pub unsafe fn any_copy(how: *const MemcpyNodeParams) -> Result<Work, CudaError> {
    // SAFETY: the caller's promise; the copy's enums are read as the numbers that they are in C.
    unsafe {
        if (&raw const (*how).flags).read() != 0 {
            return Err(CudaError::InvalidValue);
        }
        copy(&raw const (*how).copy_params)
    }
}

/// A memset node's parameters in the structure without a context.
///
/// # Safety
/// `from` must be null or the structure.
pub unsafe fn old_fill(from: *const CUDA_MEMSET_NODE_PARAMS) -> Result<Work, CudaError> {
    // SAFETY: the caller's promise.
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

/// A memset node's parameters.
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

/// A host node's parameters.
///
/// # Safety
/// `from` must be null or the structure.
pub unsafe fn host(from: *const CUDA_HOST_NODE_PARAMS) -> Result<Work, CudaError> {
    // SAFETY: the caller's promise.
    let how = unsafe { read(from) }?;
    if how.fn_.is_none() {
        return Err(CudaError::InvalidValue);
    }
    Ok(Work::Host(HostFunction::Plain {
        function: how.fn_,
        data: how.userData,
    }))
}

/// The graph that a node is to hold. One whose nodes allocate or free memory cannot be in another.
pub fn child(graph: CUgraph) -> Result<Work, CudaError> {
    let graphs = graphs();
    let body = graphs.graph(GraphId(number(graph)))?;
    if body.has_memory() {
        return Err(CudaError::NotSupported);
    }
    Ok(Work::Graph(Arc::new(body.clone())))
}

/// Memory for a node that allocates, whose address is written to the structure.
///
/// # Safety
/// `how` must be null or the structure, which can be written to.
pub unsafe fn allocation(how: *mut CUDA_MEM_ALLOC_NODE_PARAMS) -> Result<Work, CudaError> {
    /// `CU_MEM_ALLOCATION_TYPE_PINNED` and `CU_MEM_LOCATION_TYPE_DEVICE`.
    const PINNED: c_int = 1;
    const DEVICE: c_int = 1;
    if how.is_null() {
        return Err(CudaError::InvalidValue);
    }
    // SAFETY: not null, so readable; enums are read as the numbers that they are in C.
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
    // SAFETY: as above.
    unsafe { (*how).dptr = address };
    Ok(Work::Allocate(Reserved {
        address,
        bytes: bytes as u64,
    }))
}

/// The memory that a node is to free.
pub fn freed(address: u64) -> Result<Work, CudaError> {
    let driver = driver()?;
    if !memory::is_reserved(address) && driver.owner(address).is_none() {
        return Err(CudaError::InvalidValue);
    }
    Ok(Work::Free(address))
}

/// Whether a copy or a fill has more than one row: those of an executable graph cannot be changed.
pub fn has_rows(work: &Work) -> bool {
    match work {
        Work::Memcpy(Memcpy { height, depth, .. }) => *height > 1 || *depth > 1,
        Work::Memset(memset) => memset.height > 1,
        _ => false,
    }
}

/// The number of a type of node (`CUgraphNodeType`).
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

/// A list of handles.
///
/// # Safety
/// `list` must be null or hold `count` of them.
pub unsafe fn list<T: Copy>(list: *const T, count: usize) -> Result<Vec<T>, CudaError> {
    match (list.is_null(), count) {
        (_, 0) => Ok(Vec::new()),
        (true, _) => Err(CudaError::InvalidValue),
        // SAFETY: the caller's promise.
        (false, count) => Ok(unsafe { std::slice::from_raw_parts(list, count) }.to_vec()),
    }
}
