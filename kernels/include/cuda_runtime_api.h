// The runtime API's functions, for C and C++. Short functions that exist only in C++ are
// in warpbook/runtime_templates.h.

#pragma once
#define __CUDA_RUNTIME_API_H__ // guard that programs test

#define CUDART_VERSION 12080

#include "driver_types.h"
#include "surface_types.h"
#include "texture_types.h"

#include "cuda_device_runtime_api.h"
#include "driver_functions.h"

#if defined(__cplusplus)
#define WARPBOOK_DEFAULT(value) = value
#else
#define WARPBOOK_DEFAULT(value)
#endif

// A program may select a default stream per thread. The functions then have another name in the
// library but keep their name in the program, because a compiler looks up some of them by it.
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) || defined(__CUDA_API_PER_THREAD_DEFAULT_STREAM)
#define WARPBOOK_TEXT_OF(text) #text
#define WARPBOOK_TEXT(text) WARPBOOK_TEXT_OF(text)
#define WARPBOOK_PER_THREAD(name) __asm__(WARPBOOK_TEXT(__USER_LABEL_PREFIX__) #name)
#else
#define WARPBOOK_PER_THREAD(name)
#endif

#if defined(__cplusplus)
extern "C" {
#endif

// Errors
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);

// Devices
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags);
cudaError_t cudaSetValidDevices(int *device_arr, int len);
cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device);
cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *prop, int device);
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaThreadSynchronize(void);
cudaError_t cudaThreadExit(void);
cudaError_t cudaDeviceGetLimit(size_t *pValue, enum cudaLimit limit);
cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
cudaError_t cudaThreadGetLimit(size_t *pValue, enum cudaLimit limit);
cudaError_t cudaThreadSetLimit(enum cudaLimit limit, size_t value);
cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *pCacheConfig);
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache cacheConfig);
cudaError_t cudaThreadGetCacheConfig(enum cudaFuncCache *pCacheConfig);
cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache cacheConfig);
cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *pConfig);
cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config);
cudaError_t cudaGetDeviceFlags(unsigned int *flags);
cudaError_t cudaSetDeviceFlags(unsigned int flags);
cudaError_t cudaDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority);
cudaError_t cudaDeviceCanAccessPeer(int *canAccessPeer, int device, int peerDevice);
cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags);
cudaError_t cudaDeviceDisablePeerAccess(int peerDevice);
cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attr, int srcDevice,
                                      int dstDevice);
cudaError_t cudaDeviceGetPCIBusId(char *pciBusId, int len, int device);
cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *pciBusId);
cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *maxWidthInElements,
                                                 const struct cudaChannelFormatDesc *fmtDesc,
                                                 int device);
cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(enum cudaFlushGPUDirectRDMAWritesTarget target,
                                               enum cudaFlushGPUDirectRDMAWritesScope scope);
cudaError_t cudaCtxResetPersistingL2Cache(void);
cudaError_t cudaDriverGetVersion(int *driverVersion);
cudaError_t cudaRuntimeGetVersion(int *runtimeVersion);

// Memory
cudaError_t cudaMalloc(void **devPtr, size_t size);
cudaError_t cudaFree(void *devPtr);
cudaError_t cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height);
cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent);
cudaError_t cudaMallocHost(void **ptr, size_t size);
cudaError_t cudaHostAlloc(void **pHost, size_t size, unsigned int flags);
cudaError_t cudaFreeHost(void *ptr);
cudaError_t cudaHostRegister(void *ptr, size_t size, unsigned int flags);
cudaError_t cudaHostUnregister(void *ptr);
cudaError_t cudaHostGetDevicePointer(void **pDevice, void *pHost, unsigned int flags);
cudaError_t cudaHostGetFlags(unsigned int *pFlags, void *pHost);
cudaError_t cudaMallocManaged(void **devPtr, size_t size,
                              unsigned int flags WARPBOOK_DEFAULT(cudaMemAttachGlobal));
cudaError_t cudaMemPrefetchAsync(const void *devPtr, size_t count, int dstDevice,
                                 cudaStream_t stream WARPBOOK_DEFAULT(0))
    WARPBOOK_PER_THREAD(cudaMemPrefetchAsync_ptsz);
cudaError_t cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
                          int device);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *devPtr,
                                     size_t length WARPBOOK_DEFAULT(0),
                                     unsigned int flags WARPBOOK_DEFAULT(cudaMemAttachSingle))
    WARPBOOK_PER_THREAD(cudaStreamAttachMemAsync_ptsz);
cudaError_t cudaMemGetInfo(size_t *free, size_t *total);
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr);
cudaError_t cudaGetSymbolAddress(void **devPtr, const void *symbol);
cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol);

// Stream-ordered memory allocation
cudaError_t cudaMallocAsync(void **devPtr, size_t size, cudaStream_t hStream)
    WARPBOOK_PER_THREAD(cudaMallocAsync_ptsz);
cudaError_t cudaFreeAsync(void *devPtr, cudaStream_t hStream)
    WARPBOOK_PER_THREAD(cudaFreeAsync_ptsz);
cudaError_t cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t memPool,
                                    cudaStream_t stream)
    WARPBOOK_PER_THREAD(cudaMallocFromPoolAsync_ptsz);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *memPool, int device);
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *memPool, int device);
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t memPool);
cudaError_t cudaMemPoolCreate(cudaMemPool_t *memPool, const struct cudaMemPoolProps *poolProps);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t memPool);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value);
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t memPool, const struct cudaMemAccessDesc *descList,
                                 size_t count);
cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t memPool,
                                 struct cudaMemLocation *location);

// Memory fills
cudaError_t cudaMemset(void *devPtr, int value, size_t count) WARPBOOK_PER_THREAD(cudaMemset_ptds);
cudaError_t cudaMemsetAsync(void *devPtr, int value, size_t count,
                            cudaStream_t stream WARPBOOK_DEFAULT(0))
    WARPBOOK_PER_THREAD(cudaMemsetAsync_ptsz);
cudaError_t cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width, size_t height)
    WARPBOOK_PER_THREAD(cudaMemset2D_ptds);
cudaError_t cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream WARPBOOK_DEFAULT(0))
    WARPBOOK_PER_THREAD(cudaMemset2DAsync_ptsz);
cudaError_t cudaMemset3D(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent)
    WARPBOOK_PER_THREAD(cudaMemset3D_ptds);
cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pitchedDevPtr, int value,
                              struct cudaExtent extent, cudaStream_t stream WARPBOOK_DEFAULT(0))
    WARPBOOK_PER_THREAD(cudaMemset3DAsync_ptsz);

// Copies
cudaError_t cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
    WARPBOOK_PER_THREAD(cudaMemcpy_ptds);
cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                            cudaStream_t stream WARPBOOK_DEFAULT(0))
    WARPBOOK_PER_THREAD(cudaMemcpyAsync_ptsz);
cudaError_t cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice, size_t count)
    WARPBOOK_PER_THREAD(cudaMemcpyPeer_ptds);
cudaError_t cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice,
                                size_t count, cudaStream_t stream WARPBOOK_DEFAULT(0))
    WARPBOOK_PER_THREAD(cudaMemcpyPeerAsync_ptsz);
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count,
                               size_t offset WARPBOOK_DEFAULT(0),
                               enum cudaMemcpyKind kind WARPBOOK_DEFAULT(cudaMemcpyHostToDevice))
    WARPBOOK_PER_THREAD(cudaMemcpyToSymbol_ptds);
cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count,
                                    size_t offset, enum cudaMemcpyKind kind,
                                    cudaStream_t stream WARPBOOK_DEFAULT(0))
    WARPBOOK_PER_THREAD(cudaMemcpyToSymbolAsync_ptsz);
cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count,
                                 size_t offset WARPBOOK_DEFAULT(0),
                                 enum cudaMemcpyKind kind WARPBOOK_DEFAULT(cudaMemcpyDeviceToHost))
    WARPBOOK_PER_THREAD(cudaMemcpyFromSymbol_ptds);
cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset,
                                      enum cudaMemcpyKind kind,
                                      cudaStream_t stream WARPBOOK_DEFAULT(0))
    WARPBOOK_PER_THREAD(cudaMemcpyFromSymbolAsync_ptsz);
cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                         size_t height, enum cudaMemcpyKind kind)
    WARPBOOK_PER_THREAD(cudaMemcpy2D_ptds);
cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream WARPBOOK_DEFAULT(0))
    WARPBOOK_PER_THREAD(cudaMemcpy2DAsync_ptsz);
cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                                size_t spitch, size_t width, size_t height,
                                enum cudaMemcpyKind kind)
    WARPBOOK_PER_THREAD(cudaMemcpy2DToArray_ptds);
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset,
                                     const void *src, size_t spitch, size_t width, size_t height,
                                     enum cudaMemcpyKind kind,
                                     cudaStream_t stream WARPBOOK_DEFAULT(0))
    WARPBOOK_PER_THREAD(cudaMemcpy2DToArrayAsync_ptsz);
cudaError_t cudaMemcpy2DFromArray(void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset,
                                  size_t hOffset, size_t width, size_t height,
                                  enum cudaMemcpyKind kind)
    WARPBOOK_PER_THREAD(cudaMemcpy2DFromArray_ptds);
cudaError_t cudaMemcpy2DFromArrayAsync(void *dst, size_t dpitch, cudaArray_const_t src,
                                       size_t wOffset, size_t hOffset, size_t width,
                                       size_t height, enum cudaMemcpyKind kind,
                                       cudaStream_t stream WARPBOOK_DEFAULT(0))
    WARPBOOK_PER_THREAD(cudaMemcpy2DFromArrayAsync_ptsz);
cudaError_t cudaMemcpy2DArrayToArray(
    cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,
    size_t wOffsetSrc, size_t hOffsetSrc, size_t width, size_t height,
    enum cudaMemcpyKind kind WARPBOOK_DEFAULT(cudaMemcpyDeviceToDevice))
    WARPBOOK_PER_THREAD(cudaMemcpy2DArrayToArray_ptds);
cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                              size_t count, enum cudaMemcpyKind kind)
    WARPBOOK_PER_THREAD(cudaMemcpyToArray_ptds);
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset,
                                   const void *src, size_t count, enum cudaMemcpyKind kind,
                                   cudaStream_t stream WARPBOOK_DEFAULT(0))
    WARPBOOK_PER_THREAD(cudaMemcpyToArrayAsync_ptsz);
cudaError_t cudaMemcpyFromArray(void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                                size_t count, enum cudaMemcpyKind kind)
    WARPBOOK_PER_THREAD(cudaMemcpyFromArray_ptds);
cudaError_t cudaMemcpyFromArrayAsync(void *dst, cudaArray_const_t src, size_t wOffset,
                                     size_t hOffset, size_t count, enum cudaMemcpyKind kind,
                                     cudaStream_t stream WARPBOOK_DEFAULT(0))
    WARPBOOK_PER_THREAD(cudaMemcpyFromArrayAsync_ptsz);
cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p) WARPBOOK_PER_THREAD(cudaMemcpy3D_ptds);
cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p,
                              cudaStream_t stream WARPBOOK_DEFAULT(0))
    WARPBOOK_PER_THREAD(cudaMemcpy3DAsync_ptsz);
cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p)
    WARPBOOK_PER_THREAD(cudaMemcpy3DPeer_ptds);
cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p,
                                  cudaStream_t stream WARPBOOK_DEFAULT(0))
    WARPBOOK_PER_THREAD(cudaMemcpy3DPeerAsync_ptsz);

// Arrays, textures and surfaces
cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                            size_t width, size_t height WARPBOOK_DEFAULT(0),
                            unsigned int flags WARPBOOK_DEFAULT(0));
cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                              struct cudaExtent extent, unsigned int flags WARPBOOK_DEFAULT(0));
cudaError_t cudaFreeArray(cudaArray_t array);
cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
                             unsigned int *flags, cudaArray_t array);
cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array);
struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   enum cudaChannelFormatKind f);
cudaError_t cudaCreateTextureObject(cudaTextureObject_t *pTexObject,
                                    const struct cudaResourceDesc *pResDesc,
                                    const struct cudaTextureDesc *pTexDesc,
                                    const struct cudaResourceViewDesc *pResViewDesc);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texObject);
cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *pResDesc,
                                             cudaTextureObject_t texObject);
cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *pTexDesc,
                                            cudaTextureObject_t texObject);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *pSurfObject,
                                    const struct cudaResourceDesc *pResDesc);
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surfObject);
cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *pResDesc,
                                             cudaSurfaceObject_t surfObject);

// Streams
typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void *userData);
cudaError_t cudaStreamCreate(cudaStream_t *pStream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *pStream, unsigned int flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *pStream, unsigned int flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream)
    WARPBOOK_PER_THREAD(cudaStreamSynchronize_ptsz);
cudaError_t cudaStreamQuery(cudaStream_t stream) WARPBOOK_PER_THREAD(cudaStreamQuery_ptsz);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned int flags WARPBOOK_DEFAULT(0))
    WARPBOOK_PER_THREAD(cudaStreamWaitEvent_ptsz);
cudaError_t cudaStreamGetFlags(cudaStream_t hStream, unsigned int *flags)
    WARPBOOK_PER_THREAD(cudaStreamGetFlags_ptsz);
cudaError_t cudaStreamGetPriority(cudaStream_t hStream, int *priority)
    WARPBOOK_PER_THREAD(cudaStreamGetPriority_ptsz);
cudaError_t cudaStreamGetDevice(cudaStream_t hStream, int *device)
    WARPBOOK_PER_THREAD(cudaStreamGetDevice_ptsz);
cudaError_t cudaStreamGetAttribute(cudaStream_t hStream, enum cudaLaunchAttributeID attr,
                                   union cudaLaunchAttributeValue *value_out)
    WARPBOOK_PER_THREAD(cudaStreamGetAttribute_ptsz);
cudaError_t cudaStreamSetAttribute(cudaStream_t hStream, enum cudaLaunchAttributeID attr,
                                   const union cudaLaunchAttributeValue *value)
    WARPBOOK_PER_THREAD(cudaStreamSetAttribute_ptsz);
cudaError_t cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src)
    WARPBOOK_PER_THREAD(cudaStreamCopyAttributes_ptsz);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void *userData, unsigned int flags)
    WARPBOOK_PER_THREAD(cudaStreamAddCallback_ptsz);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData)
    WARPBOOK_PER_THREAD(cudaLaunchHostFunc_ptsz);

// Events
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream WARPBOOK_DEFAULT(0))
    WARPBOOK_PER_THREAD(cudaEventRecord_ptsz);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream WARPBOOK_DEFAULT(0),
                                     unsigned int flags WARPBOOK_DEFAULT(0))
    WARPBOOK_PER_THREAD(cudaEventRecordWithFlags_ptsz);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end);

// Kernels
cudaError_t cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                             size_t sharedMem, cudaStream_t stream)
    WARPBOOK_PER_THREAD(cudaLaunchKernel_ptsz);
// Called by the code that clang generates for `<<<…>>>` with -fgpu-default-stream=per-thread.
cudaError_t cudaLaunchKernel_ptsz(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                                  size_t sharedMem, cudaStream_t stream);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args)
    WARPBOOK_PER_THREAD(cudaLaunchKernelExC_ptsz);
cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                                        size_t sharedMem, cudaStream_t stream)
    WARPBOOK_PER_THREAD(cudaLaunchCooperativeKernel_ptsz);
cudaError_t cudaLaunchCooperativeKernelMultiDevice(struct cudaLaunchParams *launchParamsList,
                                                   unsigned int numDevices,
                                                   unsigned int flags WARPBOOK_DEFAULT(0));
cudaError_t cudaConfigureCall(dim3 gridDim, dim3 blockDim, size_t sharedMem WARPBOOK_DEFAULT(0),
                              cudaStream_t stream WARPBOOK_DEFAULT(0));
cudaError_t cudaSetupArgument(const void *arg, size_t size, size_t offset);
cudaError_t cudaLaunch(const void *func) WARPBOOK_PER_THREAD(cudaLaunch_ptsz);
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func);
cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value);
cudaError_t cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache cacheConfig);
cudaError_t cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config);
cudaError_t cudaFuncGetName(const char **name, const void *func);
cudaError_t cudaFuncGetParamInfo(const void *func, size_t paramIndex, size_t *paramOffset,
                                 size_t *paramSize);
cudaError_t cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *func,
                                                          int blockSize, size_t dynamicSMemSize);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks,
                                                                   const void *func, int blockSize,
                                                                   size_t dynamicSMemSize,
                                                                   unsigned int flags);
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, const void *func,
                                                      int numBlocks, int blockSize);
cudaError_t cudaOccupancyMaxPotentialClusterSize(int *clusterSize, const void *func,
                                                 const cudaLaunchConfig_t *launchConfig);
cudaError_t cudaOccupancyMaxActiveClusters(int *numClusters, const void *func,
                                           const cudaLaunchConfig_t *launchConfig);

// Memory and events shared with other processes
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *devPtr);
cudaError_t cudaIpcOpenMemHandle(void **devPtr, cudaIpcMemHandle_t handle, unsigned int flags);
cudaError_t cudaIpcCloseMemHandle(void *devPtr);
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event);
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle);
cudaError_t cudaMemPoolExportToShareableHandle(void *shareableHandle, cudaMemPool_t memPool, enum
    cudaMemAllocationHandleType handleType, unsigned int flags);
cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *memPool, void *shareableHandle, enum
    cudaMemAllocationHandleType handleType, unsigned int flags);
cudaError_t cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData *exportData, void *ptr);
cudaError_t cudaMemPoolImportPointer(void **ptr, cudaMemPool_t memPool, struct
    cudaMemPoolPtrExportData *exportData);

// Graphs and stream capture
#include "warpbook/runtime_graphs.h"

#include "warpbook/runtime_missing.h"

#if defined(__cplusplus)
}
#endif

#include "channel_descriptor.h"
#include "cuda_profiler_api.h"
#if defined(__cplusplus)
#include "warpbook/runtime_templates.h"
#endif

#undef WARPBOOK_DEFAULT
#undef WARPBOOK_PER_THREAD
