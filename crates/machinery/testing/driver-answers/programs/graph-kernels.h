// Parameters of kernel nodes.

#pragma once

#include "kernels.h"

static CUDA_KERNEL_NODE_PARAMS one_thread(const char *name) {
    CUDA_KERNEL_NODE_PARAMS node;
    memset(&node, 0, sizeof node);
    node.func = function(name);
    node.gridDimX = node.gridDimY = node.gridDimZ = 1;
    node.blockDimX = node.blockDimY = node.blockDimZ = 1;
    return node;
}

// A kernel node that stores a value to the 4 words of `filled`.
static CUdeviceptr filled;
static unsigned fill_value, fill_count = 4;
static void *fill_arguments[] = {&filled, &fill_value, &fill_count};

static CUDA_KERNEL_NODE_PARAMS fill_node(void) {
    CUDA_KERNEL_NODE_PARAMS node = one_thread("fill");
    node.blockDimX = 32;
    node.kernelParams = fill_arguments;
    return node;
}
