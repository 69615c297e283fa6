// Rejected at: right
// Says: `kernel 0`: you predicted 2048, which is wrong.
#include "cuda_device.h"

// What a block of each kernel takes:
//
//             threads   registers a thread   shared memory
//   kernel 0      256                   32               0
//   kernel 1      256                   64               0
//   kernel 2       32                   32               0
//   kernel 3      128                   32           48 KB
//   kernel 4     1024                   40               0
//   kernel 5       96                   70               0

extern "C" {
// How many blocks of each a multiprocessor holds.
__device__ unsigned int blocks[6] = {8, 4, 32, 4, 1, 9};
// How many warps these are.
__device__ unsigned int warps[6] = {2048, 1024, 1024, 512, 1024, 864};
}
