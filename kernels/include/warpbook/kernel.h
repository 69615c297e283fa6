// Everything that a kernel may use when it is compiled alone, without a program's host code:
// no C or C++ library, and only the mathematics that compiles to one or a few instructions.
// A compiler reads this in a fraction of the time that it takes for cuda_runtime.h.

#pragma once

typedef __SIZE_TYPE__ size_t;
// As in the C library of the machine for which kernels are compiled.
typedef long clock_t;

#include "../crt/host_defines.h"
#include "../device_launch_parameters.h"
#include "../mathematics/light.h"
#include "../vector_functions.h"
#include "addresses.h"
#include "atomics.h"
#include "bits.h"
#include "library.h"
#include "read_only.h"
#include "shuffles.h"
#include "votes.h"
#include "waiting.h"

#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) \
    ((condition) ? (void)0 : __assertfail(#condition, __FILE__, __LINE__, __func__, 1))
#endif

// The type of lists such as `{1, 2, 4}` in a loop, which the compiler knows by its name.
namespace std {
template <typename T> class initializer_list {
    const T *first = nullptr;
    size_t count = 0;

public:
    constexpr initializer_list() = default;
    constexpr size_t size() const { return count; }
    constexpr const T *begin() const { return first; }
    constexpr const T *end() const { return first + count; }
};
}
