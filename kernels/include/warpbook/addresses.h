// State space queries for generic addresses, and conversions between generic addresses and
// addresses of a state space.

#pragma once

#include "device_fn.h"

#define WARPBOOK_IS_IN(name, memory)                                                      \
    __attribute__((const)) WARPBOOK_DEVICE_FN unsigned int name(const void *p) {          \
        return __nvvm_isspacep_##memory(p);                                               \
    }
WARPBOOK_IS_IN(__isGlobal, global)
WARPBOOK_IS_IN(__isShared, shared)
WARPBOOK_IS_IN(__isConstant, const)
WARPBOOK_IS_IN(__isLocal, local)
#undef WARPBOOK_IS_IN

// True for the address of a kernel's parameter that is declared with `__grid_constant__`.
__attribute__((const)) WARPBOOK_DEVICE_FN unsigned int __isGridConstant(const void *p) {
    unsigned int is_parameter;
    asm("{ .reg .pred is; isspacep.param is, %1; selp.u32 %0, 1, 0, is; }" : "=r"(is_parameter) : "l"(p));
    return is_parameter;
}

#define WARPBOOK_ADDRESS(memory, number)                                                  \
    WARPBOOK_DEVICE_FN size_t __cvta_generic_to_##memory(const void *p) {                 \
        return (size_t)(__attribute__((address_space(number))) void *)p;                  \
    }                                                                                     \
    WARPBOOK_DEVICE_FN void *__cvta_##memory##_to_generic(size_t p) {                     \
        return (void *)(__attribute__((address_space(number))) void *)p;                  \
    }
WARPBOOK_ADDRESS(global, 1)
WARPBOOK_ADDRESS(shared, 3)
WARPBOOK_ADDRESS(constant, 4)
WARPBOOK_ADDRESS(local, 5)
#undef WARPBOOK_ADDRESS
