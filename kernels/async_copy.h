// Asynchronous copies from global to shared memory, for kernels compiled for sm_80 and
// newer GPUs: the pipeline primitives of the CUDA C++ Programming Guide, by its names.
//
// The copy goes past the registers, and the thread goes on meanwhile:
//
//   __pipeline_memcpy_async(to_shared, from_global, 16);  // starts; 4, 8 or 16 bytes
//   __pipeline_commit();          // closes a group of the copies this thread started
//   __pipeline_wait_prior(1);     // until all but the newest 1 groups have arrived
//   __syncthreads();              // and those of the other threads have too
//
// Both addresses are aligned to the size. A fourth argument fills that many bytes at the
// end with zeros in place of reading them. Copies of 16 bytes leave out the first-level
// cache. nvcc has all this in a header of its own, and so have whole programs here:
// cuda_pipeline.h.

#pragma once

#include "cuda_device.h"

#if defined(__NVCC__) && !defined(__CUDACC_RTC__)
#include <cuda_pipeline.h>
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "asynchronous copies need sm_80: name the kernel's file NAME.sm_80.cu"
#elif defined(__CUDA_ARCH__)

#include "include/cuda_pipeline_primitives.h"
#endif
