//! Structures and handles of the driver API, with the names of `cuda.h`. Enums are plain integers, because a caller may
//! pass a value that the enum lacks.

#![allow(non_snake_case, non_camel_case_types)]

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ulonglong, c_void};

use cuda_sim::driver::CudaError;
use cuda_sim::memory::tensor_map::TENSOR_MAP_BYTES;

/// Defines opaque handles. Each is a pointer to a type of its own, so that they cannot be confused.
macro_rules! handles {
    ($($name:ident = $target:ident;)*) => {$(
        #[doc = concat!("The object of a [`", stringify!($name), "`].")]
        #[repr(C)]
        pub struct $target {
            _opaque: [u8; 0],
        }
        #[doc = concat!("The handle `", stringify!($name), "`.")]
        pub type $name = *mut $target;
    )*};
}

handles! {
    CUcontext = CUctx_st;
    CUmodule = CUmod_st;
    CUfunction = CUfunc_st;
    CUstream = CUstream_st;
    CUevent = CUevent_st;
    CUarray = CUarray_st;
    CUmipmappedArray = CUmipmappedArray_st;
    CUtexref = CUtexref_st;
    CUsurfref = CUsurfref_st;
    CUlinkState = CUlinkState_st;
    CUmemoryPool = CUmemPoolHandle_st;
    CUexternalMemory = CUextMemory_st;
    CUgraph = CUgraph_st;
    CUgraphNode = CUgraphNode_st;
    CUgraphExec = CUgraphExec_st;
    CUuserObject = CUuserObject_st;
}

/// A device's number.
pub type CUdevice = c_int;

/// An address in device memory.
pub type CUdeviceptr = c_ulonglong;

/// A texture object.
pub type CUtexObject = c_ulonglong;

/// A surface object.
pub type CUsurfObject = c_ulonglong;

/// A host function in a stream or a graph.
pub type CUhostFn = Option<unsafe extern "C" fn(data: *mut c_void)>;

/// A host function that receives the stream and its status, a `CUresult`.
pub type CUstreamCallback =
    Option<unsafe extern "C" fn(stream: CUstream, status: c_int, data: *mut c_void)>;

/// A function from a block size to bytes of dynamic shared memory.
pub type CUoccupancyB2DSize = Option<unsafe extern "C" fn(block_size: c_int) -> usize>;

/// Defines enums as integers, with the values that are used.
macro_rules! enums {
    ($($name:ident { $($value:ident = $number:literal,)* })*) => {$(
        #[doc = concat!("A value of the enum `", stringify!($name), "`.")]
        pub type $name = c_int;
        $(
            #[doc = concat!("A [`", stringify!($name), "`].")]
            pub const $value: $name = $number;
            #[cfg(test)]
            const _: () = assert!($value == cust::sys::$name::$value as c_int);
        )*
    )*};
}

enums! {
    CUmemorytype {
        CU_MEMORYTYPE_HOST = 1,
        CU_MEMORYTYPE_DEVICE = 2,
        CU_MEMORYTYPE_ARRAY = 3,
        CU_MEMORYTYPE_UNIFIED = 4,
    }
    CUarray_format {
        CU_AD_FORMAT_UNSIGNED_INT8 = 1,
        CU_AD_FORMAT_FLOAT = 32,
    }
    CUresourcetype {
        CU_RESOURCE_TYPE_ARRAY = 0,
        CU_RESOURCE_TYPE_MIPMAPPED_ARRAY = 1,
        CU_RESOURCE_TYPE_LINEAR = 2,
        CU_RESOURCE_TYPE_PITCH2D = 3,
    }
    CUresourceViewFormat {}
    CUaddress_mode {}
    CUfilter_mode {}
    CUmemAllocationType {
        CU_MEM_ALLOCATION_TYPE_PINNED = 1,
    }
    CUmemAllocationHandleType {
        CU_MEM_HANDLE_TYPE_NONE = 0,
    }
    CUmemLocationType {
        CU_MEM_LOCATION_TYPE_DEVICE = 1,
    }
}

/// The UUID of a device.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CUuuid {
    pub bytes: [c_char; 16],
}

/// A copy of rows between host memory, device memory and arrays.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CUDA_MEMCPY2D {
    pub srcXInBytes: usize,
    pub srcY: usize,
    pub srcMemoryType: CUmemorytype,
    pub srcHost: *const c_void,
    pub srcDevice: CUdeviceptr,
    pub srcArray: CUarray,
    pub srcPitch: usize,
    pub dstXInBytes: usize,
    pub dstY: usize,
    pub dstMemoryType: CUmemorytype,
    pub dstHost: *mut c_void,
    pub dstDevice: CUdeviceptr,
    pub dstArray: CUarray,
    pub dstPitch: usize,
    pub WidthInBytes: usize,
    pub Height: usize,
}

/// A copy of planes of rows.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CUDA_MEMCPY3D {
    pub srcXInBytes: usize,
    pub srcY: usize,
    pub srcZ: usize,
    pub srcLOD: usize,
    pub srcMemoryType: CUmemorytype,
    pub srcHost: *const c_void,
    pub srcDevice: CUdeviceptr,
    pub srcArray: CUarray,
    pub reserved0: *mut c_void,
    pub srcPitch: usize,
    pub srcHeight: usize,
    pub dstXInBytes: usize,
    pub dstY: usize,
    pub dstZ: usize,
    pub dstLOD: usize,
    pub dstMemoryType: CUmemorytype,
    pub dstHost: *mut c_void,
    pub dstDevice: CUdeviceptr,
    pub dstArray: CUarray,
    pub reserved1: *mut c_void,
    pub dstPitch: usize,
    pub dstHeight: usize,
    pub WidthInBytes: usize,
    pub Height: usize,
    pub Depth: usize,
}

/// A copy of planes of rows between contexts.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CUDA_MEMCPY3D_PEER {
    pub srcXInBytes: usize,
    pub srcY: usize,
    pub srcZ: usize,
    pub srcLOD: usize,
    pub srcMemoryType: CUmemorytype,
    pub srcHost: *const c_void,
    pub srcDevice: CUdeviceptr,
    pub srcArray: CUarray,
    pub srcContext: CUcontext,
    pub srcPitch: usize,
    pub srcHeight: usize,
    pub dstXInBytes: usize,
    pub dstY: usize,
    pub dstZ: usize,
    pub dstLOD: usize,
    pub dstMemoryType: CUmemorytype,
    pub dstHost: *mut c_void,
    pub dstDevice: CUdeviceptr,
    pub dstArray: CUarray,
    pub dstContext: CUcontext,
    pub dstPitch: usize,
    pub dstHeight: usize,
    pub WidthInBytes: usize,
    pub Height: usize,
    pub Depth: usize,
}

/// The size and element type of a one- or two-dimensional array.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CUDA_ARRAY_DESCRIPTOR {
    pub Width: usize,
    pub Height: usize,
    pub Format: CUarray_format,
    pub NumChannels: c_uint,
}

/// The size, element type and flags of an array.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CUDA_ARRAY3D_DESCRIPTOR {
    pub Width: usize,
    pub Height: usize,
    pub Depth: usize,
    pub Format: CUarray_format,
    pub NumChannels: c_uint,
    pub Flags: c_uint,
}

/// The memory of a texture or a surface.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUDA_RESOURCE_DESC {
    pub resType: CUresourcetype,
    pub res: ResourceUnion,
    pub flags: c_uint,
}

/// The memory of a [`CUDA_RESOURCE_DESC`], in the member that its type selects.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ResourceUnion {
    pub array: ArrayResource,
    pub mipmap: MipmapResource,
    pub linear: LinearResource,
    pub pitch2D: PitchResource,
    pub reserved: ReservedResource,
}

/// A CUDA array.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ArrayResource {
    pub hArray: CUarray,
}

/// A mipmapped array.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MipmapResource {
    pub hMipmappedArray: CUmipmappedArray,
}

/// Linear memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LinearResource {
    pub devPtr: CUdeviceptr,
    pub format: CUarray_format,
    pub numChannels: c_uint,
    pub sizeInBytes: usize,
}

/// Rows of pitched memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PitchResource {
    pub devPtr: CUdeviceptr,
    pub format: CUarray_format,
    pub numChannels: c_uint,
    pub width: usize,
    pub height: usize,
    pub pitchInBytes: usize,
}

/// Padding to the size of the union in C.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ReservedResource {
    pub reserved: [c_int; 32],
}

/// The elements and levels of a resource that a texture uses.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CUDA_RESOURCE_VIEW_DESC {
    pub format: CUresourceViewFormat,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub firstMipmapLevel: c_uint,
    pub lastMipmapLevel: c_uint,
    pub firstLayer: c_uint,
    pub lastLayer: c_uint,
    pub reserved: [c_uint; 16],
}

/// The addressing and filtering of a texture.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CUDA_TEXTURE_DESC {
    pub addressMode: [CUaddress_mode; 3],
    pub filterMode: CUfilter_mode,
    pub flags: c_uint,
    pub maxAnisotropy: c_uint,
    pub mipmapFilterMode: CUfilter_mode,
    pub mipmapLevelBias: f32,
    pub minMipmapLevelClamp: f32,
    pub maxMipmapLevelClamp: f32,
    pub borderColor: [f32; 4],
    pub reserved: [c_int; 12],
}

/// The properties of a memory pool.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUmemPoolProps {
    pub allocType: CUmemAllocationType,
    pub handleTypes: CUmemAllocationHandleType,
    pub location: CUmemLocation,
    pub win32SecurityAttributes: *mut c_void,
    pub reserved: [c_uchar; 64],
}

/// A launch in a graph.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CUDA_KERNEL_NODE_PARAMS {
    pub func: CUfunction,
    pub gridDimX: c_uint,
    pub gridDimY: c_uint,
    pub gridDimZ: c_uint,
    pub blockDimX: c_uint,
    pub blockDimY: c_uint,
    pub blockDimZ: c_uint,
    pub sharedMemBytes: c_uint,
    pub kernelParams: *mut *mut c_void,
    pub extra: *mut *mut c_void,
}

/// A call of a host function in a graph.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CUDA_HOST_NODE_PARAMS {
    pub fn_: CUhostFn,
    pub userData: *mut c_void,
}

/// A fill of device memory in a graph.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CUDA_MEMSET_NODE_PARAMS {
    pub dst: CUdeviceptr,
    pub pitch: usize,
    pub value: c_uint,
    pub elementSize: c_uint,
    pub width: usize,
    pub height: usize,
}

/// An allocation in a graph.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUDA_MEM_ALLOC_NODE_PARAMS {
    pub poolProps: CUmemPoolProps,
    pub accessDescs: *const CUmemAccessDesc,
    pub accessDescCount: usize,
    pub bytesize: usize,
    pub dptr: CUdeviceptr,
}

/// A handle to a loaded library.
pub type CUlibrary = *mut c_void;

/// A handle to a kernel of a library.
pub type CUkernel = *mut c_void;

/// `CUtensorMap`: a descriptor of an array, in the encoding of [`cuda_sim::memory::tensor_map::TensorMap`].
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub struct CUtensorMap(pub [u8; TENSOR_MAP_BYTES]);

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
#[derive(Clone, Copy, PartialEq)]
pub struct CUlaunchAttributeValue(pub [c_uint; 16]);

/// `CUaccessPolicyWindow`: the value of the attribute 1 of launches, streams and kernel nodes. The simulator stores
/// windows without effect: the modelled L2 cache treats all lines alike, so hit rates may differ from a GPU's.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AccessWindow {
    pub address: u64,
    pub bytes: u64,
    /// The fraction of accesses to the window that have `hit`; the others have `miss`.
    pub hit_ratio: f32,
    /// Values of `CUaccessProperty`: normal, streaming or persisting.
    pub hit: c_int,
    pub miss: c_int,
}

impl From<CUlaunchAttributeValue> for AccessWindow {
    fn from(value: CUlaunchAttributeValue) -> Self {
        let words = value.0;
        let number = |low, high| u64::from(high) << 32 | u64::from(low);
        Self {
            address: number(words[0], words[1]),
            bytes: number(words[2], words[3]),
            hit_ratio: f32::from_bits(words[4]),
            hit: words[5] as c_int,
            miss: words[6] as c_int,
        }
    }
}

impl AccessWindow {
    /// Returns an error unless the ratio is a fraction, `miss` is normal or streaming, and the window has at most
    /// `max_bytes` bytes, as on an H200. A device without windows (0) ignores their size.
    pub fn check(&self, max_bytes: u32) -> Result<(), CudaError> {
        let fits = max_bytes == 0 || self.bytes <= u64::from(max_bytes);
        let is_valid = (0.0..=1.0).contains(&self.hit_ratio) && (0..=1).contains(&self.miss);
        (fits && is_valid)
            .then_some(())
            .ok_or(CudaError::InvalidValue)
    }
}

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

/// `CUipcMemHandle`, `CUipcEventHandle` and `CUmemPoolPtrExportData`: 64 bytes that a process passes to another one.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ShareableHandle(pub [u8; 64]);

/// `CUmemAccessDesc`: the access rights of one location to mapped memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUmemAccessDesc {
    pub location: CUmemLocation,
    /// 0: none; 1: read; 3: read and write.
    pub flags: c_int,
}

/// `CUDA_ARRAY_MEMORY_REQUIREMENTS`: the memory to map to an array.
#[repr(C)]
pub struct MemoryRequirements {
    pub size: usize,
    pub alignment: usize,
    pub reserved: [c_uint; 4],
}

/// `CUDA_ARRAY_SPARSE_PROPERTIES`: the tiles of a sparse array.
#[repr(C)]
#[derive(Default)]
pub struct SparseProperties {
    /// The extents of a tile in texels.
    pub tile: [c_uint; 3],
    /// The first level of the tail, and its size in bytes.
    pub tail_level: c_uint,
    pub tail_bytes: u64,
    pub flags: c_uint,
    pub reserved: [c_uint; 4],
}

/// `CUdevResource`: a set of resources of a device.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CUdevResource {
    /// A `CUdevResourceType`.
    pub kind: c_int,
    pub reserved: [u32; 23],
    /// Number of SMs, the minimum number of SMs of a partition, and the number whose multiples partitions have.
    pub sms: [c_uint; 3],
    pub unused: [u32; 9],
}

/// `CUstreamBatchMemOpParams`: a memory operation of a stream.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryOperation {
    /// A `CUstreamBatchMemOpType`, which selects the fields that are used.
    pub kind: c_int,
    /// The flags of a barrier or a flush.
    pub barrier_flags: c_uint,
    pub address: u64,
    /// The value; the operations of 32 bits use the lower half.
    pub value: u64,
    pub flags: c_uint,
    pub alias: u64,
    pub padding: u64,
}

impl MemoryOperation {
    /// Values of `CUstreamBatchMemOpType`.
    pub const WAIT_32: c_int = 1;
    pub const WRITE_32: c_int = 2;
    pub const FLUSH: c_int = 3;
    pub const WAIT_64: c_int = 4;
    pub const WRITE_64: c_int = 5;
    pub const BARRIER: c_int = 6;

    /// Returns true if it writes a value.
    pub fn is_write(&self) -> bool {
        matches!(self.kind, Self::WRITE_32 | Self::WRITE_64)
    }

    /// Returns true if it waits for a value.
    pub fn is_wait(&self) -> bool {
        matches!(self.kind, Self::WAIT_32 | Self::WAIT_64)
    }

    /// Returns the size of the value in memory.
    pub fn bytes(&self) -> u64 {
        match self.kind {
            Self::WAIT_64 | Self::WRITE_64 => 8,
            _ => 4,
        }
    }

    /// Returns true if a value in memory ends the wait. The lower bits of the flags are a `CUstreamWaitValue_flags`.
    pub fn is_satisfied(&self, value: u64) -> bool {
        let mask = if self.bytes() == 8 {
            u64::MAX
        } else {
            0xffff_ffff
        };
        let expected = self.value & mask;
        match self.flags & 3 {
            // Cyclic, so that a counter may overflow.
            0 if self.bytes() == 8 => value.wrapping_sub(expected) as i64 >= 0,
            0 => (value as u32).wrapping_sub(expected as u32) as i32 >= 0,
            1 => value == expected,
            2 => value & expected != 0,
            _ => !(value | expected) & mask != 0,
        }
    }
}

/// `CUmemcpyAttributes`: the attributes of copies of a batch.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemcpyAttributes {
    /// A `CUmemcpySrcAccessOrder`.
    pub source_order: c_int,
    pub source_location: CUmemLocation,
    pub destination_location: CUmemLocation,
    pub flags: c_uint,
}

/// `CUmemcpy3DOperand`: the source or destination of a copy of a batch. `kind` 1 is a pointer with the bytes of a row and
/// the rows of a layer, both 0 if they are those of the copy; `kind` 2 is an array with an offset.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemcpyBatchOperand {
    pub kind: c_int,
    /// The address, or the array's handle.
    pub base: u64,
    /// The length of a row and the height of a layer; or the offset's x and y.
    pub shape: [usize; 2],
    /// A hint of the location; or the offset's z.
    pub rest: usize,
}

/// `CUDA_MEMCPY3D_BATCH_OP`: a copy of a batch.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemcpyBatchOp {
    pub source: MemcpyBatchOperand,
    pub destination: MemcpyBatchOperand,
    /// Width, height and depth.
    pub extent: [usize; 3],
    /// A `CUmemcpySrcAccessOrder`.
    pub source_order: c_int,
    pub flags: c_uint,
}

/// Structures of the graph API.
pub mod graph {
    use std::ffi::{c_int, c_longlong, c_uchar, c_uint, c_ulonglong, c_void};

    use super::{
        CUDA_HOST_NODE_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMCPY3D, CUcontext, CUdeviceptr,
        CUevent, CUfunction, CUgraph, CUgraphNode, CUstream, MemoryOperation,
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

    /// `CUDA_BATCH_MEM_OP_NODE_PARAMS`.
    #[repr(C)]
    #[derive(Clone, Copy, Debug)]
    pub struct BatchNodeParams {
        pub ctx: CUcontext,
        pub count: c_uint,
        pub operations: *mut MemoryOperation,
        pub flags: c_uint,
    }

    /// `CUDA_CONDITIONAL_NODE_PARAMS`.
    #[repr(C)]
    #[derive(Clone, Copy, Debug)]
    pub struct ConditionalNodeParams {
        pub handle: c_ulonglong,
        /// A `CUgraphConditionalNodeType`.
        pub kind: c_int,
        /// The number of graphs.
        pub size: c_uint,
        /// The list of the node's graphs, which belongs to the node.
        pub graphs: *mut CUgraph,
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
        pub batch: BatchNodeParams,
        pub conditional: ConditionalNodeParams,
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
            assert_eq!(size_of::<BatchNodeParams>(), 32);
            assert_eq!(size_of::<MemoryOperation>(), 48);
            assert_eq!(size_of::<ConditionalNodeParams>(), 32);
            assert_eq!(size_of::<NodeParams>(), 256);
            assert_eq!(size_of::<EdgeData>(), 8);
            assert_eq!(size_of::<InstantiateParams>(), 32);
            assert_eq!(size_of::<UpdateResult>(), 24);
        }
    }
}

/// Descriptions of memory and semaphores of other interfaces.
pub mod external {
    use std::ffi::{c_int, c_uint};

    /// `CUDA_EXTERNAL_MEMORY_HANDLE_DESC`
    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct HandleDescription {
        pub kind: c_int,
        /// A file descriptor, or one or two pointers.
        pub handle: [u64; 2],
        pub bytes: u64,
        pub flags: c_uint,
        pub reserved: [c_uint; 16],
    }

    /// `CUDA_EXTERNAL_MEMORY_BUFFER_DESC`
    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct BufferDescription {
        pub offset: u64,
        pub bytes: u64,
        pub flags: c_uint,
        pub reserved: [c_uint; 16],
    }

    /// `CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC`
    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct SemaphoreDescription {
        pub kind: c_int,
        /// A file descriptor, or one or two pointers.
        pub handle: [u64; 2],
        pub flags: c_uint,
        pub reserved: [c_uint; 16],
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use cust::sys;

    use super::external::*;
    use super::*;

    /// Compares the size and the alignment of structures with those of `cust`, and the offsets of the given fields.
    macro_rules! assert_layouts {
        ($($structure:ident = $c:ident { $($field:ident)* })*) => {$(
            let name = stringify!($structure);
            assert_eq!(size_of::<$structure>(), size_of::<sys::$c>(), "{name}");
            assert_eq!(align_of::<$structure>(), align_of::<sys::$c>(), "{name}");
            $({
                let offsets = (offset_of!($structure, $field), offset_of!(sys::$c, $field));
                assert_eq!(offsets.0, offsets.1, "{name}.{}", stringify!($field));
            })*
        )*};
    }

    #[test]
    fn structures_have_the_layout_of_those_of_cust() {
        assert_layouts! {
            CUuuid = CUuuid { bytes }
            CUDA_MEMCPY2D = CUDA_MEMCPY2D { srcMemoryType srcHost dstMemoryType dstHost dstArray Height }
            CUDA_MEMCPY3D = CUDA_MEMCPY3D { srcMemoryType srcHost reserved0 dstLOD dstHost reserved1 Depth }
            CUDA_MEMCPY3D_PEER = CUDA_MEMCPY3D_PEER { srcMemoryType srcContext dstLOD dstHost dstContext Depth }
            CUDA_ARRAY_DESCRIPTOR = CUDA_ARRAY_DESCRIPTOR { Width Height Format NumChannels }
            CUDA_ARRAY3D_DESCRIPTOR = CUDA_ARRAY3D_DESCRIPTOR { Depth Format NumChannels Flags }
            CUDA_RESOURCE_DESC = CUDA_RESOURCE_DESC { resType res flags }
            ResourceUnion = CUDA_RESOURCE_DESC_st__bindgen_ty_1 { array mipmap linear pitch2D reserved }
            ArrayResource = CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_1 { hArray }
            MipmapResource = CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_2 { hMipmappedArray }
            LinearResource = CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_3 { format numChannels sizeInBytes }
            PitchResource = CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_4 { format width height pitchInBytes }
            ReservedResource = CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_5 { reserved }
            CUDA_RESOURCE_VIEW_DESC = CUDA_RESOURCE_VIEW_DESC { format width firstMipmapLevel lastLayer reserved }
            CUDA_TEXTURE_DESC = CUDA_TEXTURE_DESC { filterMode flags mipmapFilterMode borderColor reserved }
            CUmemPoolProps = CUmemPoolProps { handleTypes location win32SecurityAttributes reserved }
            CUDA_KERNEL_NODE_PARAMS = CUDA_KERNEL_NODE_PARAMS { gridDimX sharedMemBytes kernelParams extra }
            CUDA_HOST_NODE_PARAMS = CUDA_HOST_NODE_PARAMS { fn_ userData }
            CUDA_MEMSET_NODE_PARAMS = CUDA_MEMSET_NODE_PARAMS { pitch value elementSize width height }
            CUDA_MEM_ALLOC_NODE_PARAMS = CUDA_MEM_ALLOC_NODE_PARAMS { poolProps accessDescs accessDescCount bytesize dptr }
            CUmemAccessDesc = CUmemAccessDesc { location flags }
            CUmemLocation = CUmemLocation { id }
            CUmemAllocationProp = CUmemAllocationProp { location }
            CUexecAffinityParam = CUexecAffinityParam {}
            CUdevprop = CUdevprop {}
            AccessWindow = CUaccessPolicyWindow {}
            ShareableHandle = CUipcMemHandle {}
            SparseProperties = CUDA_ARRAY_SPARSE_PROPERTIES { flags reserved }
            MemoryOperation = CUstreamBatchMemOpParams {}
            HandleDescription = CUDA_EXTERNAL_MEMORY_HANDLE_DESC { handle flags reserved }
            BufferDescription = CUDA_EXTERNAL_MEMORY_BUFFER_DESC { offset flags reserved }
            SemaphoreDescription = CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC { handle flags reserved }
        }
    }
}
