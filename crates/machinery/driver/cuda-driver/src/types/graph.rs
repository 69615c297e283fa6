//! Structures of the graph API.

use std::ffi::{c_int, c_longlong, c_uchar, c_uint, c_ulonglong, c_void};

use cust_raw::{
    CUDA_HOST_NODE_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMCPY3D, CUcontext, CUdeviceptr,
    CUevent, CUfunction, CUgraph, CUgraphNode, CUstream,
};

/// `CUDA_KERNEL_NODE_PARAMS_v2`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KernelNodeParams {
    pub func: CUfunction,
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub shared_mem_bytes: c_uint,
    pub kernel_params: *mut *mut c_void,
    pub extra: *mut *mut c_void,
    /// A `CUkernel`.
    pub kern: *mut c_void,
    pub ctx: CUcontext,
}

/// `CUDA_MEMCPY_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemcpyNodeParams {
    pub flags: c_int,
    pub reserved: c_int,
    pub copy_ctx: CUcontext,
    pub copy_params: CUDA_MEMCPY3D,
}

/// `CUDA_MEMSET_NODE_PARAMS_v2`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MemsetNodeParams {
    pub dst: CUdeviceptr,
    pub pitch: usize,
    pub value: c_uint,
    pub element_size: c_uint,
    pub width: usize,
    pub height: usize,
    pub ctx: CUcontext,
}

/// `CUgraphNodeParams`: a node of any type.
#[repr(C)]
pub struct NodeParams {
    /// A `CUgraphNodeType`.
    pub kind: c_int,
    pub reserved0: [c_int; 3],
    pub payload: NodeParamsUnion,
    pub reserved2: c_longlong,
}

/// The parameters in a `CUgraphNodeParams`; its `kind` selects the valid field.
#[repr(C)]
pub union NodeParamsUnion {
    pub reserved1: [c_longlong; 29],
    pub kernel: KernelNodeParams,
    pub memcpy: MemcpyNodeParams,
    pub memset: MemsetNodeParams,
    pub host: CUDA_HOST_NODE_PARAMS,
    pub graph: CUgraph,
    pub event: CUevent,
    pub alloc: CUDA_MEM_ALLOC_NODE_PARAMS,
    pub free: CUdeviceptr,
}

/// `CUgraphEdgeData`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeData {
    pub from_port: c_uchar,
    pub to_port: c_uchar,
    pub kind: c_uchar,
    pub reserved: [c_uchar; 5],
}

/// `CUDA_GRAPH_INSTANTIATE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct InstantiateParams {
    pub flags: c_ulonglong,
    pub upload_stream: CUstream,
    pub error_node: CUgraphNode,
    /// A `CUgraphInstantiateResult`.
    pub result: c_int,
}

/// `CUgraphExecUpdateResultInfo`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct UpdateResult {
    /// A `CUgraphExecUpdateResult`.
    pub result: c_int,
    pub error_node: CUgraphNode,
    pub error_from_node: CUgraphNode,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_their_c_sizes() {
        assert_eq!(size_of::<KernelNodeParams>(), 72);
        assert_eq!(size_of::<MemcpyNodeParams>(), 216);
        assert_eq!(size_of::<MemsetNodeParams>(), 48);
        assert_eq!(size_of::<NodeParams>(), 256);
        assert_eq!(size_of::<EdgeData>(), 8);
        assert_eq!(size_of::<InstantiateParams>(), 32);
        assert_eq!(size_of::<UpdateResult>(), 24);
    }
}
