// The device functions that belong neither to the mathematics nor to the C++ library.

#pragma once
#define __DEVICE_FUNCTIONS_H__ // guard that programs test

#if defined(__CUDA__)
#include "device_launch_parameters.h"
#include "vector_functions.h"
#include "warpbook/addresses.h"
#include "warpbook/atomics.h"
#include "warpbook/bits.h"
#include "warpbook/dpx.h"
#include "warpbook/library.h"
#include "warpbook/loads.h"
#include "warpbook/ordered_atomics.h"
#include "warpbook/read_only.h"
#include "warpbook/shuffles.h"
#include "warpbook/votes.h"
#include "warpbook/waiting.h"
#endif
