// The device runtime: the functions of the runtime API that kernels call, and launches by kernels (dynamic
// parallelism). The simulator provides the functions; on a GPU they are in NVIDIA's library `cudadevrt`.

#pragma once
#define __CUDA_DEVICE_RUNTIME_API_H__ // guard that programs test

#include "driver_types.h"

// The streams of launches by a kernel that start when the launching grid is complete, and of launches that are
// independent of all others.
#define cudaStreamTailLaunch ((cudaStream_t)0x3)
#define cudaStreamFireAndForget ((cudaStream_t)0x4)

#if defined(__CUDA__) && defined(__cplusplus)
#include "warpbook/library.h"

extern "C" {
// Launches
__device__ void *cudaGetParameterBuffer(size_t alignment, size_t size);
__device__ void *cudaGetParameterBufferV2(void *func, dim3 gridDimension, dim3 blockDimension,
                                          unsigned int sharedMemSize);
__device__ cudaError_t cudaLaunchDevice(void *func, void *parameterBuffer, dim3 gridDimension,
                                        dim3 blockDimension, unsigned int sharedMemSize,
                                        cudaStream_t stream);
__device__ cudaError_t cudaLaunchDeviceV2(void *parameterBuffer, cudaStream_t stream);
__device__ cudaError_t cudaDeviceSynchronize(void);
__device__ cudaError_t __cudaDeviceSynchronizeDeprecationAvoidance(void); // CUB's name for it, for CUDA 11

// Errors of the calling thread
__device__ cudaError_t cudaGetLastError(void);
__device__ cudaError_t cudaPeekAtLastError(void);

// Streams and events
__device__ cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags);
__device__ cudaError_t cudaStreamDestroy(cudaStream_t stream);
__device__ cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                           unsigned int flags = 0);
__device__ cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
__device__ cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0);
__device__ cudaError_t cudaEventDestroy(cudaEvent_t event);

// Copies and fills, in a stream
__device__ cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t count,
                                       enum cudaMemcpyKind kind, cudaStream_t stream = 0);
__device__ cudaError_t cudaMemsetAsync(void *devPtr, int value, size_t count,
                                       cudaStream_t stream = 0);

// Graphs
__device__ void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);
}

// The names of the errors that kernels receive.
static inline __device__ const char *cudaGetErrorName(cudaError_t error) {
    switch (error) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case cudaErrorSyncDepthExceeded: return "cudaErrorSyncDepthExceeded";
    case cudaErrorLaunchPendingCountExceeded: return "cudaErrorLaunchPendingCountExceeded";
    case cudaErrorInvalidDeviceFunction: return "cudaErrorInvalidDeviceFunction";
    case cudaErrorLaunchOutOfResources: return "cudaErrorLaunchOutOfResources";
    default: return "unrecognized error code";
    }
}

static inline __device__ const char *cudaGetErrorString(cudaError_t error) {
    switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidConfiguration: return "invalid configuration argument";
    case cudaErrorSyncDepthExceeded:
        return "cudaDeviceSynchronize failed because caller's grid depth exceeds cudaLimitDevRuntimeSyncDepth";
    case cudaErrorLaunchPendingCountExceeded:
        return "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount";
    case cudaErrorInvalidDeviceFunction: return "invalid device function";
    case cudaErrorLaunchOutOfResources: return "too many resources requested for launch";
    default: return "unrecognized error code";
    }
}

// Memory of the device heap
static inline __device__ cudaError_t cudaMalloc(void **devPtr, size_t size) {
    *devPtr = malloc(size);
    return *devPtr != nullptr || size == 0 ? cudaSuccess : cudaErrorMemoryAllocation;
}

static inline __device__ cudaError_t cudaFree(void *devPtr) {
    free(devPtr);
    return cudaSuccess;
}

// A launch by a kernel: `kernel<<<grid, block, shared, stream>>>(arguments…)` in device code, which clang rejects, is
// compiled as WARPBOOK_DEVICE_LAUNCH(kernel)(grid, block, shared, stream)(arguments…).
#define WARPBOOK_DEVICE_LAUNCH(...) warpbook_device_launch<decltype(__VA_ARGS__), __VA_ARGS__>

template <class Function, Function *kernel> struct warpbook_device_launch;

template <class... Parameters, void (*kernel)(Parameters...)>
struct warpbook_device_launch<void(Parameters...), kernel> {
    __device__ warpbook_device_launch(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0)
        : grid(grid), block(block), shared((unsigned int)shared), stream(stream) {}

    __device__ void operator()(Parameters... arguments) const {
        void *buffer = cudaGetParameterBufferV2((void *)address, grid, block, shared);
        if (buffer == nullptr) {
            return; // The reason is the thread's last error.
        }
        size_t offset = 0;
        int stored[] = {0, (store((char *)buffer, offset, arguments), 0)...};
        (void)stored;
        cudaLaunchDeviceV2(buffer, stream);
    }

  private:
    // Stores an argument at the next offset that its alignment allows, as in the parameter space of a kernel.
    template <class T> static __device__ void store(char *buffer, size_t &offset, const T &argument) {
        offset = (offset + alignof(T) - 1) / alignof(T) * alignof(T);
        __builtin_memcpy(buffer + offset, &argument, sizeof(T));
        offset += sizeof(T);
    }

    // clang lets the initializer of a variable name a kernel, but not a device function.
    static __device__ void (*const address)(Parameters...);

    dim3 grid;
    dim3 block;
    unsigned int shared;
    cudaStream_t stream;
};

template <class... Parameters, void (*kernel)(Parameters...)>
__device__ void (*const warpbook_device_launch<void(Parameters...), kernel>::address)(Parameters...) = kernel;

#endif
