// Channel descriptors: the element formats of arrays, deduced from C++ types.

#pragma once

#include "cuda_runtime_api.h"

#if defined(__cplusplus)
#include "warpbook/runtime_channels.h"
#endif
