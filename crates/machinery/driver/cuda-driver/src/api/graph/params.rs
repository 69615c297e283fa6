//! Queries and changes of node parameters and kernel node attributes.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

use cuda_sim::driver::{
    CudaError, Driver, EventId, Memcpy, MemcpyAddress, MemcpyOperand, MemsetValue,
};
use cuda_sim::exec::LaunchSpec;

use super::nodes::{existing_event, read_any};
use super::params_in::{self, check_launch};
use crate::api::SIMULATOR;
use crate::api::launch::cluster_size;
use crate::arguments::{In, InOut, Out, handle};
use crate::simulator::{HostFunction, Kernel, Node, NodeId, Pointer, StreamOp};
use crate::status::CallResult;
use crate::types::graph::{BatchNodeParams, KernelNodeParams, NodeParams};
use crate::types::{
    AccessWindow, CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_HANDLE_TYPE_NONE,
    CU_MEM_LOCATION_TYPE_DEVICE, CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST,
    CU_MEMORYTYPE_UNIFIED, CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS,
    CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUdeviceptr, CUevent,
    CUgraph, CUlaunchAttributeValue, CUmemLocation, CUmemPoolProps, CUmemorytype,
};

/// Replaces a node's operation by one of the same type. A kernel node keeps its attributes.
pub fn replace_op(driver: &Driver, node: &mut Node, op: StreamOp) -> Result<(), CudaError> {
    if !node.op.is_same_kind(&op) {
        return Err(CudaError::InvalidValue);
    }
    node.op = match (&node.op, op) {
        (StreamOp::Kernel(old), StreamOp::Kernel(new)) => {
            StreamOp::Kernel(Attributes::of(old).apply(driver, &new)?)
        }
        (_, other) => other,
    };
    node.listed.clear();
    Ok(())
}

/// Replaces the operation of a node.
fn set(node: NodeId, op: StreamOp) -> CallResult {
    let driver = SIMULATOR.lock_driver()?;
    Ok(replace_op(&driver, SIMULATOR.graphs().node_mut(node)?, op)?)
}

setters! {
    set(node: NodeId);
    /// `cuGraphKernelNodeSetParams`, before CUDA 12.
    set_kernel_v1(params: In<CUDA_KERNEL_NODE_PARAMS>) params_in::kernel_v1(params).map(StreamOp::Kernel);
    /// `cuGraphKernelNodeSetParams`.
    set_kernel(params: In<KernelNodeParams>) params_in::kernel(params).map(StreamOp::Kernel);
    /// `cuGraphMemcpyNodeSetParams`.
    set_memcpy(params: In<CUDA_MEMCPY3D>) params_in::memcpy(params);
    /// `cuGraphMemsetNodeSetParams`.
    set_memset(params: In<CUDA_MEMSET_NODE_PARAMS>) params_in::memset_v1(params);
    /// `cuGraphHostNodeSetParams`.
    set_host(params: In<CUDA_HOST_NODE_PARAMS>) params_in::host(params);
    /// `cuGraphBatchMemOpNodeSetParams`.
    set_batch(params: In<BatchNodeParams>) params_in::batch(params);
    /// `cuGraphEventRecordNodeSetEvent`.
    set_recorded_event(event: EventId) existing_event(event).map(StreamOp::RecordEvent);
    /// `cuGraphEventWaitNodeSetEvent`.
    set_awaited_event(event: EventId) existing_event(event).map(StreamOp::WaitEvent);
    /// `cuGraphNodeSetParams`: for all node types except allocation and free, whose memory is fixed.
    set_any(params: InOut<NodeParams>) read_changed(&params);
}

/// `cuGraphKernelNodeGetParams`, before CUDA 12.
pub fn kernel_v1(node: NodeId, out: Out<CUDA_KERNEL_NODE_PARAMS>) -> CallResult {
    let new = kernel_params(node)?;
    out.set(CUDA_KERNEL_NODE_PARAMS {
        func: new.func,
        gridDimX: new.grid[0],
        gridDimY: new.grid[1],
        gridDimZ: new.grid[2],
        blockDimX: new.block[0],
        blockDimY: new.block[1],
        blockDimZ: new.block[2],
        sharedMemBytes: new.shared_mem_bytes,
        kernelParams: new.kernel_params,
        extra: new.extra,
    });
    Ok(())
}

/// `cuGraphKernelNodeGetParams`.
pub fn kernel(node: NodeId, out: Out<KernelNodeParams>) -> CallResult {
    out.set(kernel_params(node)?);
    Ok(())
}

/// Returns a kernel node's parameters. The list of arguments belongs to the node and is valid until its
/// parameters change.
fn kernel_params(node: NodeId) -> Result<KernelNodeParams, CudaError> {
    let driver = SIMULATOR.lock_driver_settled()?;
    let mut graphs = SIMULATOR.graphs();
    let node = graphs.node_mut(node)?;
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

/// `cuGraphMemcpyNodeGetParams`.
pub fn memcpy(node: NodeId, out: Out<CUDA_MEMCPY3D>) -> CallResult {
    let graphs = SIMULATOR.graphs();
    let StreamOp::Memcpy(Memcpy {
        dst,
        src,
        width,
        height,
        depth,
    }) = &graphs.node(node)?.op
    else {
        return Err(CudaError::InvalidValue.into());
    };
    let (src_kind, src_host, src_device, src_array) = base(src);
    let (dst_kind, dst_host, dst_device, dst_array) = base(dst);
    out.set(CUDA_MEMCPY3D {
        srcXInBytes: src.x as usize,
        srcY: src.y as usize,
        srcZ: src.z as usize,
        srcLOD: 0,
        srcMemoryType: src_kind,
        srcHost: src_host,
        srcDevice: src_device,
        srcArray: handle(src_array),
        reserved0: null_mut(),
        srcPitch: src.pitch as usize,
        srcHeight: src.height as usize,
        dstXInBytes: dst.x as usize,
        dstY: dst.y as usize,
        dstZ: dst.z as usize,
        dstLOD: 0,
        dstMemoryType: dst_kind,
        dstHost: dst_host,
        dstDevice: dst_device,
        dstArray: handle(dst_array),
        reserved1: null_mut(),
        dstPitch: dst.pitch as usize,
        dstHeight: dst.height as usize,
        WidthInBytes: *width as usize,
        Height: *height as usize,
        Depth: *depth as usize,
    });
    Ok(())
}

/// Returns the start of one side of a copy: its memory type, which selects the valid one of the host's address, the
/// device's address and the array.
fn base(operand: &MemcpyOperand) -> (CUmemorytype, *mut c_void, u64, u64) {
    match operand.array {
        MemcpyAddress::Host(host) => (CU_MEMORYTYPE_HOST, host.cast(), 0, 0),
        MemcpyAddress::Device(device) => (CU_MEMORYTYPE_DEVICE, null_mut(), device, 0),
        MemcpyAddress::Array(array) => (CU_MEMORYTYPE_ARRAY, null_mut(), 0, array),
        MemcpyAddress::Unified(device) => (CU_MEMORYTYPE_UNIFIED, null_mut(), device, 0),
    }
}

/// `cuGraphMemsetNodeGetParams`.
pub fn memset(node: NodeId, out: Out<CUDA_MEMSET_NODE_PARAMS>) -> CallResult {
    let graphs = SIMULATOR.graphs();
    let StreamOp::Memset(memset) = &graphs.node(node)?.op else {
        return Err(CudaError::InvalidValue.into());
    };
    let (value, element) = match memset.value {
        MemsetValue::U8(value) => (value.into(), 1),
        MemsetValue::U16(value) => (value.into(), 2),
        MemsetValue::U32(value) => (value, 4),
    };
    out.set(CUDA_MEMSET_NODE_PARAMS {
        dst: memset.address,
        pitch: memset.pitch as usize,
        value,
        elementSize: element,
        width: memset.width as usize,
        height: memset.height as usize,
    });
    Ok(())
}

/// `cuGraphHostNodeGetParams`.
pub fn host(node: NodeId, out: Out<CUDA_HOST_NODE_PARAMS>) -> CallResult {
    match SIMULATOR.graphs().node(node)?.op {
        StreamOp::Host(HostFunction::Plain { function, data }) => out.set(CUDA_HOST_NODE_PARAMS {
            fn_: function,
            userData: data,
        }),
        _ => return Err(CudaError::InvalidValue.into()),
    }
    Ok(())
}

/// `cuGraphBatchMemOpNodeGetParams`. The list of operations belongs to the node and is valid until its parameters change.
pub fn batch(node: NodeId, out: Out<BatchNodeParams>) -> CallResult {
    let graphs = SIMULATOR.graphs();
    let StreamOp::Memory(operations) = &graphs.node(node)?.op else {
        return Err(CudaError::InvalidValue.into());
    };
    out.set(BatchNodeParams {
        ctx: null_mut(),
        count: operations.len() as c_uint,
        operations: operations.as_ptr().cast_mut(),
        flags: 0,
    });
    Ok(())
}

/// `cuGraphChildGraphNodeGetGraph`: the graph in the node, which belongs to it.
pub fn child(node: NodeId, out: Out<CUgraph>) -> CallResult {
    match &SIMULATOR.graphs().node(node)?.op {
        StreamOp::Graph(body) => out.set(handle(body.id.0)),
        _ => return Err(CudaError::InvalidValue.into()),
    }
    Ok(())
}

/// `cuGraphEventRecordNodeGetEvent`.
pub fn recorded_event(node: NodeId, out: Out<CUevent>) -> CallResult {
    event(node, out, |op| matches!(op, StreamOp::RecordEvent(_)))
}

/// `cuGraphEventWaitNodeGetEvent`.
pub fn awaited_event(node: NodeId, out: Out<CUevent>) -> CallResult {
    event(node, out, |op| matches!(op, StreamOp::WaitEvent(_)))
}

/// Returns the event of an event node of the requested type.
fn event(node: NodeId, out: Out<CUevent>, matches: impl Fn(&StreamOp) -> bool) -> CallResult {
    match &SIMULATOR.graphs().node(node)?.op {
        op @ (StreamOp::RecordEvent(EventId(event)) | StreamOp::WaitEvent(EventId(event)))
            if matches(op) =>
        {
            out.set(handle(*event));
            Ok(())
        }
        _ => Err(CudaError::InvalidValue.into()),
    }
}

/// `cuGraphMemAllocNodeGetParams`. The parameters are those at the node's creation. Access descriptors are not stored,
/// because graphs allocate only on device 0.
pub fn alloc(node: NodeId, out: Out<CUDA_MEM_ALLOC_NODE_PARAMS>) -> CallResult {
    let graphs = SIMULATOR.graphs();
    let StreamOp::Allocate(reserved) = &graphs.node(node)?.op else {
        return Err(CudaError::InvalidValue.into());
    };
    out.set(CUDA_MEM_ALLOC_NODE_PARAMS {
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
    });
    Ok(())
}

/// `cuGraphMemFreeNodeGetParams`.
pub fn free(node: NodeId, out: Out<CUdeviceptr>) -> CallResult {
    match SIMULATOR.graphs().node(node)?.op {
        StreamOp::Free(address) => out.set(address),
        _ => return Err(CudaError::InvalidValue.into()),
    }
    Ok(())
}

/// Creates the new operation of a node of any type except allocation and free.
pub fn read_changed(params: &InOut<NodeParams>) -> Result<StreamOp, CudaError> {
    // SAFETY: the C function requires a valid structure.
    if let 10 | 11 = unsafe { (*params.as_ptr()).kind } {
        return Err(CudaError::NotSupported);
    }
    read_any(params)
}

/// The values of `CUlaunchAttributeID` that kernel nodes support.
const ACCESS_WINDOW: c_int = 1;
const COOPERATIVE: c_int = 2;
const CLUSTER: c_int = 4;
const PRIORITY: c_int = 8;
const MEMORY_DOMAIN_MAP: c_int = 9;
const DEVICE_UPDATABLE: c_int = 13;
/// Attributes that are stored without effect: the scheduling policy of clusters, memory synchronization domains, the update
/// by kernels, and the preference for shared memory.
const STORED: [c_int; 5] = [5, MEMORY_DOMAIN_MAP, 10, DEVICE_UPDATABLE, 14];

/// `cuGraphKernelNodeGetAttribute`.
pub fn attribute(node: NodeId, attribute: c_int, out: Out<c_void>) -> CallResult {
    let graphs = SIMULATOR.graphs();
    let StreamOp::Kernel(kernel) = &graphs.node(node)?.op else {
        return Err(CudaError::InvalidValue.into());
    };
    let value: c_int = match attribute {
        ACCESS_WINDOW => {
            // SAFETY: the attribute is of this type.
            unsafe { out.set_as(kernel.window) };
            return Ok(());
        }
        CLUSTER => {
            let [x, y, z] = kernel.launch.spec().cluster.unwrap_or_default();
            let mut value = CUlaunchAttributeValue([0; 16]);
            value.0[..3].copy_from_slice(&[x, y, z]);
            // SAFETY: the C function requires room for a `CUlaunchAttributeValue`.
            unsafe { out.set_as(value) };
            return Ok(());
        }
        COOPERATIVE => kernel.launch.spec().cooperative.into(),
        PRIORITY => kernel.priority,
        _ if STORED.contains(&attribute) => {
            let value = kernel.stored.get(&attribute).copied();
            let value = value.unwrap_or(default_value(attribute));
            // SAFETY: the C function requires room for a `CUlaunchAttributeValue`.
            unsafe { out.set_as(value) };
            return Ok(());
        }
        _ => return Err(CudaError::InvalidValue.into()),
    };
    // SAFETY: the other attributes are of type `int`.
    unsafe { out.set_as(value) };
    Ok(())
}

/// `cuGraphKernelNodeSetAttribute`.
pub fn set_attribute(node: NodeId, attribute: c_int, src: In<c_void>) -> CallResult {
    let max_window = SIMULATOR.lock_driver()?.device().access_window_bytes;
    change_attributes(node, |attributes| {
        // SAFETY: the other attributes are of type `int`.
        let value = || unsafe { src.read_as::<c_int>() };
        match attribute {
            ACCESS_WINDOW => {
                // SAFETY: the attribute is of this type.
                attributes.window = unsafe { src.read_as() };
                attributes.window.check(max_window)?;
            }
            COOPERATIVE => attributes.cooperative = value() != 0,
            PRIORITY => attributes.priority = value(),
            CLUSTER => {
                // SAFETY: the C function requires a `CUlaunchAttributeValue`.
                let value = unsafe { src.read_as::<CUlaunchAttributeValue>() };
                attributes.cluster = cluster_size(&value)?;
            }
            DEVICE_UPDATABLE if value() != 0 => return Err(CudaError::NotSupported),
            _ if STORED.contains(&attribute) => {
                // SAFETY: the C function requires a `CUlaunchAttributeValue`.
                let value = unsafe { src.read_as::<CUlaunchAttributeValue>() };
                attributes.stored.insert(attribute, value);
            }
            _ => return Err(CudaError::InvalidValue),
        }
        Ok(())
    })
}

/// Returns the value of an attribute that is not set.
fn default_value(attribute: c_int) -> CUlaunchAttributeValue {
    let mut value = CUlaunchAttributeValue([0; 16]);
    if attribute == MEMORY_DOMAIN_MAP {
        // Two bytes: the default domain 0, the remote domain 1.
        value.0[0] = 0x100;
    }
    value
}

/// `cuGraphKernelNodeCopyAttributes`.
pub fn copy_attributes(out: NodeId, src: NodeId) -> CallResult {
    let source = match &SIMULATOR.graphs().node(src)?.op {
        StreamOp::Kernel(kernel) => Attributes::of(kernel),
        _ => return Err(CudaError::InvalidValue.into()),
    };
    change_attributes(out, |attributes| {
        *attributes = source;
        Ok(())
    })
}

/// The attributes of a kernel node.
#[derive(Clone)]
struct Attributes {
    cooperative: bool,
    cluster: Option<[u32; 3]>,
    priority: i32,
    window: AccessWindow,
    stored: BTreeMap<c_int, CUlaunchAttributeValue>,
}

impl Attributes {
    fn of(kernel: &Kernel) -> Attributes {
        Attributes {
            cooperative: kernel.launch.spec().cooperative,
            cluster: kernel.cluster,
            priority: kernel.priority,
            window: kernel.window,
            stored: kernel.stored.clone(),
        }
    }

    /// Returns `kernel` with these attributes, after a check that it can be launched.
    fn apply(self, driver: &Driver, kernel: &Kernel) -> Result<Kernel, CudaError> {
        let spec = LaunchSpec {
            cooperative: self.cooperative,
            // Without a request, the check returns the size of the kernel itself.
            cluster: self.cluster,
            ..kernel.launch.spec().clone()
        };
        Ok(Kernel {
            launch: check_launch(driver, kernel.launch.function(), spec)?,
            cluster: self.cluster,
            priority: self.priority,
            window: self.window,
            stored: self.stored,
        })
    }
}

/// Changes the attributes of a kernel node.
fn change_attributes(
    node: NodeId,
    change: impl FnOnce(&mut Attributes) -> Result<(), CudaError>,
) -> CallResult {
    let driver = SIMULATOR.lock_driver_settled()?;
    let mut graphs = SIMULATOR.graphs();
    let node = graphs.node_mut(node)?;
    let StreamOp::Kernel(kernel) = &mut node.op else {
        return Err(CudaError::InvalidValue.into());
    };
    let mut attributes = Attributes::of(kernel);
    change(&mut attributes)?;
    *kernel = attributes.apply(&driver, kernel)?;
    Ok(())
}
