// Rejected at: right
// Says: `kernel 1`: you predicted 8, which is wrong.
#include "cuda_device.h"

// Resources of each kernel:
//
//             threads   registers per thread   shared memory
//   kernel 0      256                   32               0
//   kernel 1      256                   64               0
//   kernel 2       32                   32               0
//   kernel 3      128                   32           48 KB
//   kernel 4     1024                   40               0
//   kernel 5       96                   70               0

extern "C" {
// Resident blocks per streaming multiprocessor (SM), for each kernel.
__device__ unsigned int blocks[6] = {8, 8, 64, 16, 2, 21};
// Resident warps per SM.
__device__ unsigned int warps[6] = {64, 64, 64, 64, 64, 63};
}
