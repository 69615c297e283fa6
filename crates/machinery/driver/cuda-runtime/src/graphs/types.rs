//! Graph structures of `driver_types.h`, except those that the driver API shares field by field.

use std::ffi::{c_int, c_longlong, c_uint, c_ulonglong, c_void};

use cust_raw::{CUevent, CUgraph, CUgraphNode, CUstream};

use crate::types::{Dim3, Memcpy3D};

/// `cudaKernelNodeParams`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KernelNode {
    pub function: *mut c_void,
    pub grid: Dim3,
    pub block: Dim3,
    pub dynamic_shared: c_uint,
    pub arguments: *mut *mut c_void,
    pub extra: *mut *mut c_void,
}

/// `cudaMemcpyNodeParams`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MemcpyNode {
    pub flags: c_int,
    pub reserved: [c_int; 3],
    pub copy: Memcpy3D,
}

/// `cudaGraphNodeParams`: the parameters of a node of any type.
#[repr(C)]
pub struct AnyNode {
    pub kind: c_int,
    pub reserved0: [c_int; 3],
    pub of: AnyNodeOf,
    pub reserved2: c_longlong,
}

/// The union in `cudaGraphNodeParams`; `kind` selects the active member. Members that are not listed have the
/// driver's layout.
#[repr(C)]
#[derive(Clone, Copy)]
pub union AnyNodeOf {
    pub reserved1: [c_longlong; 29],
    pub kernel: KernelNode,
    pub memcpy: MemcpyNode,
    pub graph: CUgraph,
    pub event: CUevent,
}

/// `cudaGraphInstantiateParams`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Instantiate {
    pub flags: c_ulonglong,
    pub upload_stream: CUstream,
    pub error_node: CUgraphNode,
    pub result: c_int,
}
