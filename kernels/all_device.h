// All device functions of CUDA for kernels that are compiled alone: those of cuda_device.h, and those that take a compiler
// longer to read, such as the mathematics (expf, pow, sincosf) and loads with cache hints (__ldcs). A submission of the
// course that uses one of them is compiled with this file, whether or not it includes it.

#pragma once

#include "standard_c.h"

#if defined(__clang__) && defined(__CUDA__) && !defined(__CLANG_CUDA_RUNTIME_WRAPPER_H__)
#include "include/device_functions.h"
#include "include/mathematics/overloads.h"
#include "include/mathematics/rounded.h"
#include "include/mathematics/video.h"

// As in the C library of the machine for which kernels are compiled.
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;

namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::intptr_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t; using ::uintptr_t;
using ::size_t;
}
#endif
