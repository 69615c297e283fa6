//! Conversion of operations into node parameters for C.

use std::ffi::{c_uint, c_void};
use std::ptr::null_mut;

use cuda_sim::driver::{CudaError, Driver, Memcpy, MemcpyAddress, MemcpyOperand, MemsetValue};

use crate::arguments::handle;
use crate::simulator::{HostFunction, Node, Pointer, StreamOp};
use crate::types::graph::{BatchNodeParams, KernelNodeParams};
use crate::types::{
    CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_HANDLE_TYPE_NONE, CU_MEM_LOCATION_TYPE_DEVICE,
    CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_UNIFIED,
    CUDA_HOST_NODE_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS,
    CUmemLocation, CUmemPoolProps, CUmemorytype,
};

/// Returns a kernel node's parameters. The list of arguments belongs to the node and is valid until its
/// parameters change.
pub fn kernel(driver: &Driver, node: &mut Node) -> Result<KernelNodeParams, CudaError> {
    let StreamOp::Kernel(kernel) = &node.op else {
        return Err(CudaError::InvalidValue);
    };
    let (function, spec) = (kernel.launch.function(), kernel.launch.spec());
    let context = driver.module_context(driver.function_module(function)?)?;
    let (layout, _) = driver.parameters(function)?;
    let pointer_at = |offset: u32| {
        spec.parameters[offset as usize..]
            .as_ptr()
            .cast_mut()
            .cast()
    };
    node.listed = layout
        .iter()
        .map(|parameter| Pointer(pointer_at(parameter.offset)))
        .collect();
    let list: *mut Pointer = node.listed.as_mut_ptr();
    Ok(KernelNodeParams {
        func: handle(function.0),
        grid: spec.grid,
        block: spec.block,
        shared_mem_bytes: spec.dynamic_shared,
        // `Pointer` is `repr(transparent)`.
        kernel_params: list.cast::<*mut c_void>(),
        extra: null_mut(),
        kern: null_mut(),
        ctx: handle(context.0),
    })
}

/// Returns a memcpy node's parameters.
pub fn memcpy(node: &Node) -> Result<CUDA_MEMCPY3D, CudaError> {
    let StreamOp::Memcpy(Memcpy {
        dst,
        src,
        width,
        height,
        depth,
    }) = &node.op
    else {
        return Err(CudaError::InvalidValue);
    };
    let (src_base, dst_base) = (base(src), base(dst));
    Ok(CUDA_MEMCPY3D {
        srcXInBytes: src.x as usize,
        srcY: src.y as usize,
        srcZ: src.z as usize,
        srcLOD: 0,
        srcMemoryType: src_base.kind,
        srcHost: src_base.host,
        srcDevice: src_base.device,
        srcArray: handle(src_base.array),
        reserved0: null_mut(),
        srcPitch: src.pitch as usize,
        srcHeight: src.height as usize,
        dstXInBytes: dst.x as usize,
        dstY: dst.y as usize,
        dstZ: dst.z as usize,
        dstLOD: 0,
        dstMemoryType: dst_base.kind,
        dstHost: dst_base.host,
        dstDevice: dst_base.device,
        dstArray: handle(dst_base.array),
        reserved1: null_mut(),
        dstPitch: dst.pitch as usize,
        dstHeight: dst.height as usize,
        WidthInBytes: *width as usize,
        Height: *height as usize,
        Depth: *depth as usize,
    })
}

/// The start of one side of a copy: `kind` selects the valid address.
struct Base {
    kind: CUmemorytype,
    host: *mut c_void,
    device: u64,
    array: u64,
}

fn base(operand: &MemcpyOperand) -> Base {
    let (mut host, mut device, mut array) = (null_mut(), 0, 0);
    let kind = match operand.array {
        MemcpyAddress::Host(pointer_at) => {
            host = pointer_at.cast();
            CU_MEMORYTYPE_HOST
        }
        MemcpyAddress::Device(pointer_at) => {
            device = pointer_at;
            CU_MEMORYTYPE_DEVICE
        }
        MemcpyAddress::Array(pointer_at) => {
            array = pointer_at;
            CU_MEMORYTYPE_ARRAY
        }
        MemcpyAddress::Unified(pointer_at) => {
            device = pointer_at;
            CU_MEMORYTYPE_UNIFIED
        }
    };
    Base {
        kind,
        host,
        device,
        array,
    }
}

/// Returns a memset node's parameters.
pub fn memset(node: &Node) -> Result<CUDA_MEMSET_NODE_PARAMS, CudaError> {
    let StreamOp::Memset(memset) = &node.op else {
        return Err(CudaError::InvalidValue);
    };
    let (value, element) = match memset.value {
        MemsetValue::U8(value) => (value.into(), 1),
        MemsetValue::U16(value) => (value.into(), 2),
        MemsetValue::U32(value) => (value, 4),
    };
    Ok(CUDA_MEMSET_NODE_PARAMS {
        dst: memset.address,
        pitch: memset.pitch as usize,
        value,
        elementSize: element,
        width: memset.width as usize,
        height: memset.height as usize,
    })
}

/// Returns a host node's parameters.
pub fn host(node: &Node) -> Result<CUDA_HOST_NODE_PARAMS, CudaError> {
    match node.op {
        StreamOp::Host(HostFunction::Plain { function, data }) => Ok(CUDA_HOST_NODE_PARAMS {
            fn_: function,
            userData: data,
        }),
        _ => Err(CudaError::InvalidValue),
    }
}

/// Returns a batch memory operation node's parameters.
pub fn batch(node: &Node) -> Result<BatchNodeParams, CudaError> {
    let StreamOp::Memory(operations) = &node.op else {
        return Err(CudaError::InvalidValue);
    };
    Ok(BatchNodeParams {
        ctx: null_mut(),
        count: operations.len() as c_uint,
        operations: operations.as_ptr().cast_mut(),
        flags: 0,
    })
}

/// Returns an allocation node's parameters as at its creation. Access descriptors are not stored, because
/// graphs allocate only on device 0.
pub fn allocation(node: &Node) -> Result<CUDA_MEM_ALLOC_NODE_PARAMS, CudaError> {
    let StreamOp::Allocate(reserved) = &node.op else {
        return Err(CudaError::InvalidValue);
    };
    Ok(CUDA_MEM_ALLOC_NODE_PARAMS {
        poolProps: CUmemPoolProps {
            allocType: CU_MEM_ALLOCATION_TYPE_PINNED,
            handleTypes: CU_MEM_HANDLE_TYPE_NONE,
            location: CUmemLocation {
                kind: CU_MEM_LOCATION_TYPE_DEVICE,
                id: 0,
            },
            win32SecurityAttributes: null_mut(),
            reserved: [0; 64],
        },
        accessDescs: std::ptr::null(),
        accessDescCount: 0,
        bytesize: reserved.bytes as usize,
        dptr: reserved.address,
    })
}
