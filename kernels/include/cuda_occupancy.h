// NVIDIA's occupancy calculator for programs without a GPU is not provided: Thrust 1.17 includes this header and uses
// nothing of it. The runtime API computes the occupancy of the chosen GPU (cudaOccupancyMaxActiveBlocksPerMultiprocessor).

#pragma once
