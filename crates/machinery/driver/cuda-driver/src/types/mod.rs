//! Structures and handles of the driver API that are newer than `cust_raw`. Enums are plain integers, because
//! a caller may pass a value that the enum lacks.

pub mod graph;

use std::ffi::{c_int, c_uint, c_void};

use cust_raw::CUstream;

/// A handle to a loaded library.
pub type CUlibrary = *mut c_void;

/// A handle to a kernel of a library.
pub type CUkernel = *mut c_void;

/// `CUlaunchConfig`: the configuration of a launch.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUlaunchConfig {
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    /// Dynamic shared memory per block, in bytes.
    pub dynamic_shared: c_uint,
    pub stream: CUstream,
    pub attributes: *const CUlaunchAttribute,
    pub attribute_count: c_uint,
}

/// One attribute of a launch or a stream.
#[repr(C)]
pub struct CUlaunchAttribute {
    pub id: c_int,
    pub value: CUlaunchAttributeValue,
}

/// The value of an attribute: a union in C, of which each attribute reads its own member.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub struct CUlaunchAttributeValue(pub [c_uint; 16]);

/// `CUctxCreateParams`: the parameters of `cuCtxCreate_v4`, since CUDA 12.5.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUctxCreateParams {
    pub affinities: *const CUexecAffinityParam,
    pub affinity_count: c_int,
    /// Parameters for CUDA in Graphics (CIG); null if unused.
    pub graphics: *const c_void,
}

/// `CUexecAffinityParam`: the SMs that a context may use. `kind` 0 limits their number.
#[repr(C)]
pub struct CUexecAffinityParam {
    pub kind: c_int,
    pub sm_count: c_uint,
}

/// `CUmemLocation`: a memory location. `kind` 1 is the device with the number `id`; 2 and above are on the
/// host.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUmemLocation {
    pub kind: c_int,
    pub id: c_int,
}

/// `CUdevprop`: the device properties of the API before device attributes, 14 integers.
#[repr(C)]
pub struct CUdevprop(pub [c_int; 14]);

/// `CUmemAllocationProp`: the properties of physical memory that `cuMemCreate` allocates.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUmemAllocationProp {
    /// 1: pinned, the only kind.
    pub kind: c_int,
    /// The requested handle types for sharing with other processes, a bit set.
    pub shared: c_int,
    pub location: CUmemLocation,
    pub windows: *mut c_void,
    /// Compression type, GPUDirect RDMA capability and usage.
    pub flags: [u8; 8],
}

/// `CUmemAccessDesc`: the access rights of one location to mapped memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUmemAccessDesc {
    pub location: CUmemLocation,
    /// 0: none; 1: read; 3: read and write.
    pub flags: c_int,
}
