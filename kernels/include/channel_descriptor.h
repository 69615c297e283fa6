// What the elements of an array are, by their type in C++.

#pragma once

#include "cuda_runtime_api.h"

#if defined(__cplusplus)
#include "warpbook/runtime_channels.h"
#endif
