//! Rows of the driver API's function table: interoperability with graphics and other external interfaces;
//! logs, core dumps and checkpoints.

use cust_raw::{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC, CUDA_EXTERNAL_MEMORY_HANDLE_DESC, CUdeviceptr,
    CUexternalMemory,
};

use super::*;

functions! {
    10000 cuImportExternalMemory(
        ext_mem_out: *mut CUexternalMemory, mem_handle_desc: *const CUDA_EXTERNAL_MEMORY_HANDLE_DESC,
    ) [];
    10000 cuDestroyExternalMemory(ext_mem: CUexternalMemory) [];
    10000 cuExternalMemoryGetMappedBuffer(
        dev_ptr: *mut CUdeviceptr, ext_mem: CUexternalMemory, buffer_desc: *const
        CUDA_EXTERNAL_MEMORY_BUFFER_DESC,
    ) [];

    unsupported {
        12080 cuCheckpointProcessCheckpoint, 12080 cuCheckpointProcessGetRestoreThreadId,
        12080 cuCheckpointProcessGetState, 12080 cuCheckpointProcessLock, 12080 cuCheckpointProcessRestore,
        12080 cuCheckpointProcessUnlock, 12010 cuCoredumpGetAttribute, 12010 cuCoredumpGetAttributeGlobal,
        12010 cuCoredumpSetAttribute, 12010 cuCoredumpSetAttributeGlobal, 10000 cuDestroyExternalSemaphore,
        7000 cuEGLStreamConsumerAcquireFrame, 7000 cuEGLStreamConsumerConnect,
        8000 cuEGLStreamConsumerConnectWithFlags, 7000 cuEGLStreamConsumerDisconnect,
        7000 cuEGLStreamConsumerReleaseFrame, 7000 cuEGLStreamProducerConnect,
        7000 cuEGLStreamProducerDisconnect, 7000 cuEGLStreamProducerPresentFrame,
        7000 cuEGLStreamProducerReturnFrame, 10000 cuExternalMemoryGetMappedMipmappedArray,
        2000 cuGLCtxCreate, 3020 cuGLCtxCreate_v2, 4010 cuGLGetDevices, 6050 cuGLGetDevices_v2, 2000 cuGLInit,
        2000 cuGLMapBufferObject, 2030 cuGLMapBufferObjectAsync,
        3020 cuGLMapBufferObjectAsync_v2 / 7000 cuGLMapBufferObjectAsync_v2_ptsz,
        3020 cuGLMapBufferObject_v2 / 7000 cuGLMapBufferObject_v2_ptds, 2000 cuGLRegisterBufferObject,
        2030 cuGLSetBufferObjectMapFlags, 2000 cuGLUnmapBufferObject, 2030 cuGLUnmapBufferObjectAsync,
        2000 cuGLUnregisterBufferObject, 7000 cuGraphicsEGLRegisterImage, 3000 cuGraphicsGLRegisterBuffer,
        3000 cuGraphicsGLRegisterImage, 3000 cuGraphicsMapResources / 7000 cuGraphicsMapResources_ptsz,
        7000 cuGraphicsResourceGetMappedEglFrame, 5000 cuGraphicsResourceGetMappedMipmappedArray,
        3000 cuGraphicsResourceGetMappedPointer, 3020 cuGraphicsResourceGetMappedPointer_v2,
        3000 cuGraphicsResourceSetMapFlags, 6050 cuGraphicsResourceSetMapFlags_v2,
        3000 cuGraphicsSubResourceGetMappedArray,
        3000 cuGraphicsUnmapResources / 7000 cuGraphicsUnmapResources_ptsz, 3000 cuGraphicsUnregisterResource,
        3010 cuGraphicsVDPAURegisterOutputSurface, 3010 cuGraphicsVDPAURegisterVideoSurface,
        10000 cuImportExternalSemaphore, 12090 cuLogsCurrent, 12090 cuLogsDumpToFile,
        12090 cuLogsDumpToMemory, 12090 cuLogsRegisterCallback, 12090 cuLogsUnregisterCallback,
        10000 cuSignalExternalSemaphoresAsync / 10000 cuSignalExternalSemaphoresAsync_ptsz,
        3010 cuVDPAUCtxCreate, 3020 cuVDPAUCtxCreate_v2, 3010 cuVDPAUGetDevice, 2020 cuWGLGetDevice,
        10000 cuWaitExternalSemaphoresAsync / 10000 cuWaitExternalSemaphoresAsync_ptsz,
    }
}
