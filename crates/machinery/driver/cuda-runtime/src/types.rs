//! The runtime API's structures, with the fields and sizes of `driver_types.h`. Enums are plain numbers,
//! because a caller may pass a value that the enum lacks.

use std::ffi::{c_int, c_longlong, c_uint, c_ulonglong, c_void};

use cuda_driver::types::CUlaunchAttribute;
use cuda_driver::types::{CUarray, CUevent, CUgraph, CUgraphNode, CUstream};

pub use crate::properties::DeviceProperties;

/// `dim3`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim3 {
    pub x: c_uint,
    pub y: c_uint,
    pub z: c_uint,
}

/// `cudaExtent`. The width is in bytes for linear memory and in elements for arrays.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

/// `cudaPos`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Pos {
    pub x: usize,
    pub y: usize,
    pub z: usize,
}

/// `cudaPitchedPtr`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PitchedPtr {
    pub ptr: *mut c_void,
    pub pitch: usize,
    pub xsize: usize,
    pub ysize: usize,
}

/// `cudaMemcpy3DParms`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Memcpy3D {
    pub src_array: CUarray,
    pub src_pos: Pos,
    pub src_ptr: PitchedPtr,
    pub dst_array: CUarray,
    pub dst_pos: Pos,
    pub dst_ptr: PitchedPtr,
    pub extent: Extent,
    pub kind: c_int,
}

/// `cudaMemcpy3DPeerParms`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Memcpy3DPeer {
    pub src_array: CUarray,
    pub src_pos: Pos,
    pub src_ptr: PitchedPtr,
    pub src_device: c_int,
    pub dst_array: CUarray,
    pub dst_pos: Pos,
    pub dst_ptr: PitchedPtr,
    pub dst_device: c_int,
    pub extent: Extent,
}

/// `cudaChannelFormatDesc`: the bits of each channel (x, y, z, w) of an element, and the channels' kind (f).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelFormat {
    pub x: c_int,
    pub y: c_int,
    pub z: c_int,
    pub w: c_int,
    pub f: c_int,
}

/// `cudaPointerAttributes`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PointerAttributes {
    pub kind: c_int,
    pub device: c_int,
    pub device_pointer: *mut c_void,
    pub host_pointer: *mut c_void,
}

/// `cudaFuncAttributes`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FunctionAttributes {
    pub shared_size: usize,
    pub const_size: usize,
    pub local_size: usize,
    pub max_threads_per_block: c_int,
    pub registers: c_int,
    pub ptx_version: c_int,
    pub binary_version: c_int,
    pub cache_mode_ca: c_int,
    pub max_dynamic_shared_size: c_int,
    pub preferred_shmem_carveout: c_int,
    pub cluster_dim_must_be_set: c_int,
    pub required_cluster_width: c_int,
    pub required_cluster_height: c_int,
    pub required_cluster_depth: c_int,
    pub cluster_scheduling_policy: c_int,
    pub non_portable_cluster_size_allowed: c_int,
    pub reserved: [c_int; 16],
}

/// `cudaLaunchConfig_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LaunchConfig {
    pub grid: Dim3,
    pub block: Dim3,
    pub dynamic_shared: usize,
    pub stream: CUstream,
    pub attributes: *const CUlaunchAttribute,
    pub attribute_count: c_uint,
}

/// `cudaResourceDesc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ResourceDesc {
    pub kind: c_int,
    pub res: ResourceUnion,
}

/// The union in `cudaResourceDesc`; `kind` selects the active member.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ResourceUnion {
    pub array: CUarray,
    pub linear: LinearResource,
    pub pitched: PitchedResource,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct LinearResource {
    pub pointer: *mut c_void,
    pub format: ChannelFormat,
    pub bytes: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct PitchedResource {
    pub pointer: *mut c_void,
    pub format: ChannelFormat,
    pub width: usize,
    pub height: usize,
    pub pitch: usize,
}

/// `cudaResourceViewDesc`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ResourceViewDesc {
    pub format: c_int,
    pub extent: Extent,
    pub mipmap_levels: [c_uint; 2],
    pub layers: [c_uint; 2],
}

/// `cudaTextureDesc`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TextureDesc {
    pub address_mode: [c_int; 3],
    pub filter_mode: c_int,
    pub read_mode: c_int,
    pub srgb: c_int,
    pub border_color: [f32; 4],
    pub normalized_coordinates: c_int,
    pub max_anisotropy: c_uint,
    pub mipmap_filter_mode: c_int,
    pub mipmap_level_bias: f32,
    pub min_mipmap_level_clamp: f32,
    pub max_mipmap_level_clamp: f32,
    pub disable_trilinear_optimization: c_int,
    pub seamless_cubemap: c_int,
}

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
