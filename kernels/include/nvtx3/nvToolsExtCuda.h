// NVTX: names of the objects of CUDA's driver API.

#pragma once
#define NVTOOLSEXT_CUDA_V3

#include "../cuda.h"
#include "nvToolsExt.h"

#define NVTX_RESOURCE_CLASS_CUDA 4

typedef enum nvtxResourceCUDAType_t {
    NVTX_RESOURCE_TYPE_CUDA_DEVICE = NVTX_RESOURCE_MAKE_TYPE(CUDA, 1),
    NVTX_RESOURCE_TYPE_CUDA_CONTEXT = NVTX_RESOURCE_MAKE_TYPE(CUDA, 2),
    NVTX_RESOURCE_TYPE_CUDA_STREAM = NVTX_RESOURCE_MAKE_TYPE(CUDA, 3),
    NVTX_RESOURCE_TYPE_CUDA_EVENT = NVTX_RESOURCE_MAKE_TYPE(CUDA, 4)
} nvtxResourceCUDAType_t;

#if defined(__cplusplus)
extern "C" {
#endif

void nvtxNameCuDeviceA(CUdevice device, const char *name);
void nvtxNameCuDeviceW(CUdevice device, const wchar_t *name);
void nvtxNameCuContextA(CUcontext context, const char *name);
void nvtxNameCuContextW(CUcontext context, const wchar_t *name);
void nvtxNameCuStreamA(CUstream stream, const char *name);
void nvtxNameCuStreamW(CUstream stream, const wchar_t *name);
void nvtxNameCuEventA(CUevent event, const char *name);
void nvtxNameCuEventW(CUevent event, const wchar_t *name);

#if defined(__cplusplus)
}
#endif

#if defined(UNICODE)
#define nvtxNameCuDevice nvtxNameCuDeviceW
#define nvtxNameCuContext nvtxNameCuContextW
#define nvtxNameCuStream nvtxNameCuStreamW
#define nvtxNameCuEvent nvtxNameCuEventW
#else
#define nvtxNameCuDevice nvtxNameCuDeviceA
#define nvtxNameCuContext nvtxNameCuContextA
#define nvtxNameCuStream nvtxNameCuStreamA
#define nvtxNameCuEvent nvtxNameCuEventA
#endif
