// Built-in variables: `threadIdx`, `blockIdx`, `blockDim`, `gridDim`, `warpSize`.

#pragma once
#define __DEVICE_LAUNCH_PARAMETERS_H__ // guard that programs test

#include "vector_types.h"

#if defined(__CUDA__)

#include "warpbook/device_fn.h"

// Each field reads a special register: threadIdx.x is %tid.x.
#define WARPBOOK_INDEX_FIELD(field, reg)                                         \
    __declspec(property(get = get_##field)) unsigned int field;                  \
    WARPBOOK_DEVICE_FN unsigned int get_##field() {                              \
        return __nvvm_read_ptx_sreg_##reg##_##field();                           \
    }
#define WARPBOOK_INDEX(name, reg)                                                \
    struct warpbook_##name##_t {                                                 \
        WARPBOOK_INDEX_FIELD(x, reg)                                             \
        WARPBOOK_INDEX_FIELD(y, reg)                                             \
        WARPBOOK_INDEX_FIELD(z, reg)                                             \
        __attribute__((device, always_inline, nodebug)) operator uint3() const { \
            return {x, y, z};                                                    \
        }                                                                        \
        __attribute__((device, always_inline, nodebug)) operator dim3() const {  \
            return dim3(x, y, z);                                                \
        }                                                                        \
    };                                                                           \
    extern const __attribute__((device, weak)) warpbook_##name##_t name;

WARPBOOK_INDEX(threadIdx, tid)
WARPBOOK_INDEX(blockIdx, ctaid)
WARPBOOK_INDEX(blockDim, ntid)
WARPBOOK_INDEX(gridDim, nctaid)

#undef WARPBOOK_INDEX
#undef WARPBOOK_INDEX_FIELD

static constexpr int warpSize = 32;

#endif
