// `__nv_atomic_…`: atomic functions with an explicit memory order and thread scope.
//
// The instructions of atomics.h do the work; fences before and after provide the order. The
// fences have device scope, or system scope if the requested scope is the system.

#pragma once

#include "atomics.h"
#include "waiting.h"

#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5

#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4

WARPBOOK_DEVICE_FN void __nv_atomic_thread_fence(int order, int scope) {
    if (order == __NV_ATOMIC_RELAXED || scope == __NV_THREAD_SCOPE_THREAD) return;
    if (scope == __NV_THREAD_SCOPE_SYSTEM) __threadfence_system();
    else if (scope == __NV_THREAD_SCOPE_BLOCK) __threadfence_block();
    else __threadfence();
}
WARPBOOK_DEVICE_FN void warpbook_fence_before(int order, int scope) {
    if (order >= __NV_ATOMIC_RELEASE) __nv_atomic_thread_fence(order, scope);
}
WARPBOOK_DEVICE_FN void warpbook_fence_after(int order, int scope) {
    if (order != __NV_ATOMIC_RELEASE) __nv_atomic_thread_fence(order, scope);
}

#define WARPBOOK_ORDERED(name, function)                                                       \
    template <typename T>                                                                      \
    WARPBOOK_DEVICE_FN T __nv_atomic_fetch_##name(T *p, T v, int order,                        \
                                                  int scope = __NV_THREAD_SCOPE_SYSTEM) {      \
        warpbook_fence_before(order, scope);                                                   \
        const T old = function(p, v);                                                          \
        warpbook_fence_after(order, scope);                                                    \
        return old;                                                                            \
    }                                                                                          \
    template <typename T>                                                                      \
    WARPBOOK_DEVICE_FN void __nv_atomic_##name(T *p, T v, int order,                           \
                                               int scope = __NV_THREAD_SCOPE_SYSTEM) {         \
        __nv_atomic_fetch_##name(p, v, order, scope);                                          \
    }
WARPBOOK_ORDERED(add, atomicAdd)
WARPBOOK_ORDERED(sub, atomicSub)
WARPBOOK_ORDERED(and, atomicAnd)
WARPBOOK_ORDERED(or, atomicOr)
WARPBOOK_ORDERED(xor, atomicXor)
WARPBOOK_ORDERED(min, atomicMin)
WARPBOOK_ORDERED(max, atomicMax)
#undef WARPBOOK_ORDERED

template <typename T>
WARPBOOK_DEVICE_FN T __nv_atomic_exchange_n(T *p, T v, int order,
                                            int scope = __NV_THREAD_SCOPE_SYSTEM) {
    warpbook_fence_before(order, scope);
    const T old = atomicExch(p, v);
    warpbook_fence_after(order, scope);
    return old;
}
template <typename T>
WARPBOOK_DEVICE_FN bool __nv_atomic_compare_exchange_n(T *p, T *expected, T v, bool, int order, int,
                                                       int scope = __NV_THREAD_SCOPE_SYSTEM) {
    warpbook_fence_before(order, scope);
    const T wanted = *expected, old = atomicCAS(p, wanted, v);
    warpbook_fence_after(order, scope);
    *expected = old;
    return old == wanted;
}
template <typename T>
WARPBOOK_DEVICE_FN T __nv_atomic_load_n(const T *p, int order,
                                        int scope = __NV_THREAD_SCOPE_SYSTEM) {
    const T v = *(const volatile T *)p;
    warpbook_fence_after(order, scope);
    return v;
}
template <typename T>
WARPBOOK_DEVICE_FN void __nv_atomic_store_n(T *p, T v, int order,
                                            int scope = __NV_THREAD_SCOPE_SYSTEM) {
    warpbook_fence_before(order, scope);
    *(volatile T *)p = v;
}
