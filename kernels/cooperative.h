// Groups of cooperating threads, under the names of the CUDA C++ Programming Guide:
// `cooperative_groups` with tiled_partition, coalesced_threads, reduce,
// inclusive_scan and memcpy_async.
//
//   namespace cg = cooperative_groups;
//   auto tile = cg::tiled_partition<8>(cg::this_thread_block());  // eight neighbouring threads
//   float sum = cg::reduce(tile, value, cg::plus<float>());       // their sum, in each of them
//
// nvcc has this functionality in headers of its own.

#pragma once

#include "cuda_device.h"

#if defined(__NVCC__) && !defined(__CUDACC_RTC__)
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#else
#include "include/cooperative_groups.h"
#include "include/cooperative_groups/memcpy_async.h"
#include "include/cooperative_groups/reduce.h"
#include "include/cooperative_groups/scan.h"
#endif
