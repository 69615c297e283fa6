//! Conversion of node parameters from C into validated operations.

use std::collections::BTreeMap;
use std::sync::Arc;

use cuda_sim::driver::{CheckedLaunch, CudaError, Driver, FunctionId, Memset, MemsetValue};
use cuda_sim::exec::LaunchSpec;

use crate::api::launch::{ParameterList, pack};
use crate::api::{SIMULATOR, memcpy, stream};
use crate::arguments::{Argument, In, InOut, number};
use crate::simulator::{GraphId, HostFunction, Kernel, StreamOp, with_contexts};
use crate::types::graph::{BatchNodeParams, KernelNodeParams, MemcpyNodeParams, MemsetNodeParams};
use crate::types::{
    AccessWindow, CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_DEVICE,
    CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS,
};

/// Reads a kernel node's parameters from the structure before CUDA 12, which has no context.
pub fn kernel_v1(from: In<CUDA_KERNEL_NODE_PARAMS>) -> Result<Kernel, CudaError> {
    let v1 = from.read();
    let params = KernelNodeParams {
        func: v1.func,
        grid: [v1.gridDimX, v1.gridDimY, v1.gridDimZ],
        block: [v1.blockDimX, v1.blockDimY, v1.blockDimZ],
        shared_mem_bytes: v1.sharedMemBytes,
        kernel_params: v1.kernelParams,
        extra: v1.extra,
        kern: std::ptr::null_mut(),
        ctx: std::ptr::null_mut(),
    };
    kernel_op(&params)
}

/// Reads a kernel node's parameters.
pub fn kernel(from: In<KernelNodeParams>) -> Result<Kernel, CudaError> {
    kernel_op(&from.read())
}

/// Creates the operation of a kernel node from a structure that a C function has received.
fn kernel_op(params: &KernelNodeParams) -> Result<Kernel, CudaError> {
    // SAFETY: the C function requires the kernel's arguments in the structure.
    let parameters = unsafe { ParameterList::from_c(params.kernel_params) }?;
    // SAFETY: the C function requires that `extra` is null or ends with `CU_LAUNCH_PARAM_END`.
    let extra = unsafe { ParameterList::from_c(params.extra) }?;
    let handle = match params.func.is_null() {
        true => params.kern.cast(),
        false => params.func,
    };
    let context = with_contexts(|contexts| contexts.current());
    let mut driver = SIMULATOR.lock_driver_settled()?;
    let function = driver.resolve_function(number(handle), context)?;
    let spec = LaunchSpec {
        grid: params.grid,
        block: params.block,
        dynamic_shared: params.shared_mem_bytes,
        parameters: pack(&driver, function, parameters, extra)?,
        cooperative: false,
        cluster: None,
    };
    Ok(Kernel {
        launch: check_launch(&driver, function, spec)?,
        cluster: None,
        priority: 0,
        window: AccessWindow::default(),
        stored: BTreeMap::new(),
    })
}

/// Checks a launch in the context of its kernel's module.
pub fn check_launch(
    driver: &Driver,
    function: FunctionId,
    spec: LaunchSpec,
) -> Result<CheckedLaunch, CudaError> {
    let context = driver.module_context(driver.function_module(function)?)?;
    driver.check_launch(context, function, spec)
}

/// Reads a memcpy node's parameters.
pub fn memcpy(from: In<CUDA_MEMCPY3D>) -> Result<StreamOp, CudaError> {
    let memcpy = memcpy::read_three_d(from)?;
    if [memcpy.width, memcpy.height, memcpy.depth].contains(&0) {
        return Err(CudaError::InvalidValue);
    }
    let (driver, context) = SIMULATOR.lock_current_context_settled()?;
    SIMULATOR
        .graph_memory
        .check_memcpy(&driver, context, &memcpy)?;
    Ok(StreamOp::Memcpy(memcpy))
}

/// Reads a memcpy node's parameters from the structure for nodes of any type.
///
/// # Safety
/// `params` must be a valid structure.
pub unsafe fn memcpy_any(params: *const MemcpyNodeParams) -> Result<StreamOp, CudaError> {
    // SAFETY: `params` is valid, by this function's contract.
    unsafe {
        if (&raw const (*params).flags).read() != 0 {
            return Err(CudaError::InvalidValue);
        }
        memcpy(In::from_c(&raw const (*params).copy_params)?)
    }
}

/// Reads a memset node's parameters from the structure without a context.
pub fn memset_v1(from: In<CUDA_MEMSET_NODE_PARAMS>) -> Result<StreamOp, CudaError> {
    let v1 = from.read();
    memset(&MemsetNodeParams {
        dst: v1.dst,
        pitch: v1.pitch,
        value: v1.value,
        element_size: v1.elementSize,
        width: v1.width,
        height: v1.height,
        ctx: std::ptr::null_mut(),
    })
}

/// Creates the operation of a memset node.
pub fn memset(params: &MemsetNodeParams) -> Result<StreamOp, CudaError> {
    let value = match params.element_size {
        // As the driver does, ignores the other bits.
        1 => MemsetValue::U8(params.value as u8),
        2 => MemsetValue::U16(params.value as u16),
        4 => MemsetValue::U32(params.value),
        _ => return Err(CudaError::InvalidValue),
    };
    if params.width == 0 || params.height == 0 {
        return Err(CudaError::InvalidValue);
    }
    let memset = Memset {
        address: params.dst,
        pitch: params.pitch as u64,
        value,
        width: params.width as u64,
        height: params.height as u64,
    };
    let (driver, context) = SIMULATOR.lock_current_context_settled()?;
    SIMULATOR
        .graph_memory
        .check_memset(&driver, context, &memset)?;
    Ok(StreamOp::Memset(memset))
}

/// Reads a host node's parameters.
pub fn host(from: In<CUDA_HOST_NODE_PARAMS>) -> Result<StreamOp, CudaError> {
    let params = from.read();
    if params.fn_.is_none() {
        return Err(CudaError::InvalidValue);
    }
    Ok(StreamOp::Host(HostFunction::Plain {
        function: params.fn_,
        data: params.userData,
    }))
}

/// Reads a batch memory operation node's parameters.
pub fn batch(from: In<BatchNodeParams>) -> Result<StreamOp, CudaError> {
    let params = from.read();
    // SAFETY: the C function requires that the list has `count` elements.
    unsafe {
        let operations = Option::<In<_>>::from_c(params.operations.cast_const())?;
        stream::read_batch(params.count, operations, params.flags)
    }
}

/// Creates the operation of a child graph node. A graph with memory nodes or conditional nodes cannot be a child.
pub fn child(graph: GraphId) -> Result<StreamOp, CudaError> {
    let graphs = SIMULATOR.graphs();
    let body = graphs.graph(graph)?;
    if !body.can_be_child() {
        return Err(CudaError::NotSupported);
    }
    Ok(StreamOp::Graph(Arc::new(body.clone())))
}

/// Reserves the memory of an allocation node, and writes its address to the structure.
pub fn allocation(params: InOut<CUDA_MEM_ALLOC_NODE_PARAMS>) -> Result<StreamOp, CudaError> {
    let request = params.read();
    let is_pinned = request.poolProps.allocType == CU_MEM_ALLOCATION_TYPE_PINNED;
    let location = request.poolProps.location;
    if !is_pinned || location.kind != CU_MEM_LOCATION_TYPE_DEVICE || location.id != 0 {
        return Err(CudaError::InvalidValue);
    }
    let (mut driver, context) = SIMULATOR.lock_current_context_settled()?;
    let memory = &SIMULATOR.graph_memory;
    let reservation = memory.reserve(&mut driver, context, request.bytesize as u64)?;
    // SAFETY: the structure is writable.
    unsafe { (*params.as_ptr()).dptr = reservation.address };
    Ok(StreamOp::Allocate(reservation))
}

/// Creates the operation of a free node.
pub fn free_op(address: u64) -> Result<StreamOp, CudaError> {
    let driver = SIMULATOR.lock_driver_settled()?;
    if !SIMULATOR.graph_memory.is_reserved(address) && driver.owner(address).is_none() {
        return Err(CudaError::InvalidValue);
    }
    Ok(StreamOp::Free(address))
}
