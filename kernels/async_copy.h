// Asynchronous copies from global to shared memory, for kernels compiled for sm_80 or
// newer: the pipeline primitives of the CUDA C++ Programming Guide, under the same names.
//
// The copy bypasses the registers, and the thread continues while it runs:
//
//   __pipeline_memcpy_async(to_shared, from_global, 16);  // starts a copy of 4, 8 or 16 bytes
//   __pipeline_commit();          // closes a group of this thread's copies
//   __pipeline_wait_prior(1);     // waits until all groups but the newest one have arrived
//   __syncthreads();              // waits for the copies of the other threads
//
// Both addresses must be aligned to the size. A fourth argument fills that many
// bytes at the end with zeros instead of reading them. Copies of 16 bytes bypass the
// L1 cache. nvcc has these functions in a header of its own, and so do whole
// programs here: cuda_pipeline.h.

#pragma once

#include "cuda_device.h"

#if defined(__NVCC__) && !defined(__CUDACC_RTC__)
#include <cuda_pipeline.h>
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "asynchronous copies need sm_80: name the kernel's file NAME.sm_80.cu"
#elif defined(__CUDA_ARCH__)

#include "include/cuda_pipeline_primitives.h"
#endif
