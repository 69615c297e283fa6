//! Functions that are not implemented: interprocess communication, mipmapped arrays and graphics
//! interoperability.

use std::ffi::{c_int, c_uint, c_void};

use cust_raw::{CUarray, CUevent, CUmemoryPool, CUstream};

use super::entry::Entry;
use crate::last_error::{call, unsupported};
use crate::status::Code;
use crate::stream::DefaultStream;
use crate::types::{ChannelFormat, Extent, IpcHandle};

functions! {
    cudaIpcGetMemHandle(handle: *mut c_void, ptr: *mut c_void);
    cudaIpcOpenMemHandle(ptr: *mut *mut c_void, handle: IpcHandle, flags: c_uint);
    cudaIpcCloseMemHandle(ptr: *mut c_void);
    cudaIpcGetEventHandle(handle: *mut c_void, event: CUevent);
    cudaIpcOpenEventHandle(event: *mut CUevent, handle: IpcHandle);
    cudaMemPoolExportToShareableHandle(
        handle: *mut c_void, pool: CUmemoryPool, kind: c_int, flags: c_uint,
    );
    cudaMemPoolImportFromShareableHandle(
        pool: *mut CUmemoryPool, handle: *mut c_void, kind: c_int, flags: c_uint,
    );
    cudaMemPoolExportPointer(data: *mut c_void, ptr: *mut c_void);
    cudaMemPoolImportPointer(ptr: *mut *mut c_void, pool: CUmemoryPool, data: *mut c_void);
    cudaMallocMipmappedArray(
        to: *mut *mut c_void, format: *const ChannelFormat, extent: Extent, levels: c_uint,
        flags: c_uint,
    );
    cudaFreeMipmappedArray(array: *mut c_void);
    cudaGetMipmappedArrayLevel(to: *mut CUarray, array: *const c_void, level: c_uint);
    cudaGetTextureObjectResourceViewDesc(to: *mut c_void, texture: u64);
    cudaMemRangeGetAttribute(
        to: *mut c_void, bytes: usize, attribute: c_int, ptr: *const c_void, count: usize,
    );
    cudaGraphicsUnregisterResource(resource: *mut c_void);
    cudaGraphicsMapResources(count: c_int, resources: *mut *mut c_void, stream: CUstream);
    cudaGraphicsUnmapResources(count: c_int, resources: *mut *mut c_void, stream: CUstream);
    cudaGraphicsResourceGetMappedPointer(
        to: *mut *mut c_void, bytes: *mut usize, resource: *mut c_void,
    );
}
