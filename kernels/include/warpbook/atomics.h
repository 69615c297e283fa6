// Atomic functions with device scope, block scope (`_block`) and system scope (`_system`).

#pragma once

#include "device_fn.h"

// `gen` denotes the instruction with device scope, `cta_…_gen` with block scope,
// `sys_…_gen` with system scope. Exchange, compare-and-swap, addition and bitwise
// operations do not depend on the sign, so the unsigned overloads use the signed ones.
#define WARPBOOK_ATOMICS(T, S, suffix, scope, to)                                            \
    WARPBOOK_DEVICE_FN T atomicExch##to(T *p, T v) {                                         \
        return (T)__nvvm_atom_##scope##xchg_gen_##suffix((S *)p, (S)v);                      \
    }                                                                                        \
    WARPBOOK_DEVICE_FN T atomicCAS##to(T *p, T expected, T v) {                              \
        return (T)__nvvm_atom_##scope##cas_gen_##suffix((S *)p, (S)expected, (S)v);          \
    }                                                                                        \
    WARPBOOK_DEVICE_FN T atomicAdd##to(T *p, T v) {                                          \
        return (T)__nvvm_atom_##scope##add_gen_##suffix((S *)p, (S)v);                       \
    }                                                                                        \
    WARPBOOK_DEVICE_FN T atomicAnd##to(T *p, T v) {                                          \
        return (T)__nvvm_atom_##scope##and_gen_##suffix((S *)p, (S)v);                       \
    }                                                                                        \
    WARPBOOK_DEVICE_FN T atomicOr##to(T *p, T v) {                                           \
        return (T)__nvvm_atom_##scope##or_gen_##suffix((S *)p, (S)v);                        \
    }                                                                                        \
    WARPBOOK_DEVICE_FN T atomicXor##to(T *p, T v) {                                          \
        return (T)__nvvm_atom_##scope##xor_gen_##suffix((S *)p, (S)v);                       \
    }
#define WARPBOOK_ATOMIC_MIN_MAX(T, suffix, scope, to)                                        \
    WARPBOOK_DEVICE_FN T atomicMin##to(T *p, T v) {                                          \
        return __nvvm_atom_##scope##min_gen_##suffix(p, v);                                  \
    }                                                                                        \
    WARPBOOK_DEVICE_FN T atomicMax##to(T *p, T v) {                                          \
        return __nvvm_atom_##scope##max_gen_##suffix(p, v);                                  \
    }
// Exchanges a float as its bits.
#define WARPBOOK_ATOMIC_EXCHANGE(T, B, to)                                                    \
    WARPBOOK_DEVICE_FN T atomicExch##to(T *p, T v) {                                         \
        return __builtin_bit_cast(T, atomicExch##to((B *)p, __builtin_bit_cast(B, v)));      \
    }
#define WARPBOOK_ATOMIC_ADD(T, suffix, scope, to)                                            \
    WARPBOOK_DEVICE_FN T atomicAdd##to(T *p, T v) {                                          \
        return __nvvm_atom_##scope##add_gen_##suffix(p, v);                                  \
    }
#define WARPBOOK_ATOMIC_SCOPE(scope, to)                                                     \
    WARPBOOK_ATOMICS(int, int, i, scope, to)                                                 \
    WARPBOOK_ATOMICS(unsigned int, int, i, scope, to)                                        \
    WARPBOOK_ATOMICS(unsigned long long, long long, ll, scope, to)                           \
    WARPBOOK_ATOMIC_MIN_MAX(int, i, scope, to)                                               \
    WARPBOOK_ATOMIC_MIN_MAX(unsigned int, ui, scope, to)                                     \
    WARPBOOK_ATOMIC_MIN_MAX(long long, ll, scope, to)                                        \
    WARPBOOK_ATOMIC_MIN_MAX(unsigned long long, ull, scope, to)                              \
    WARPBOOK_DEVICE_FN long long atomicAnd##to(long long *p, long long v) {                  \
        return __nvvm_atom_##scope##and_gen_ll(p, v);                                        \
    }                                                                                        \
    WARPBOOK_DEVICE_FN long long atomicOr##to(long long *p, long long v) {                   \
        return __nvvm_atom_##scope##or_gen_ll(p, v);                                         \
    }                                                                                        \
    WARPBOOK_DEVICE_FN long long atomicXor##to(long long *p, long long v) {                  \
        return __nvvm_atom_##scope##xor_gen_ll(p, v);                                        \
    }                                                                                        \
    WARPBOOK_ATOMIC_ADD(float, f, scope, to)                                                 \
    WARPBOOK_ATOMIC_EXCHANGE(float, int, to)                                                 \
    WARPBOOK_DEVICE_FN int atomicSub##to(int *p, int v) { return atomicAdd##to(p, -v); }     \
    WARPBOOK_DEVICE_FN unsigned int atomicSub##to(unsigned int *p, unsigned int v) {         \
        return atomicAdd##to(p, -v);                                                         \
    }                                                                                        \
    WARPBOOK_DEVICE_FN unsigned int atomicInc##to(unsigned int *p, unsigned int limit) {     \
        return __nvvm_atom_##scope##inc_gen_ui(p, limit);                                    \
    }                                                                                        \
    WARPBOOK_DEVICE_FN unsigned int atomicDec##to(unsigned int *p, unsigned int limit) {     \
        return __nvvm_atom_##scope##dec_gen_ui(p, limit);                                    \
    }

WARPBOOK_ATOMIC_SCOPE(, )
#if WARPBOOK_HAS_SM(600)
WARPBOOK_ATOMIC_ADD(double, d, , )
WARPBOOK_ATOMIC_SCOPE(cta_, _block)
WARPBOOK_ATOMIC_ADD(double, d, cta_, _block)
WARPBOOK_ATOMIC_SCOPE(sys_, _system)
WARPBOOK_ATOMIC_ADD(double, d, sys_, _system)
#endif

// Compares and swaps 16 bits.
#if WARPBOOK_HAS_SM(700)
WARPBOOK_DEVICE_FN unsigned short atomicCAS(unsigned short *p, unsigned short expected,
                                            unsigned short v) {
    unsigned short old;
    asm volatile("atom.cas.b16 %0, [%1], %2, %3;"
                 : "=h"(old)
                 : "l"(p), "h"(expected), "h"(v)
                 : "memory");
    return old;
}
#endif

// Adds two or four floats in global memory, each element atomically on its own.
#if WARPBOOK_HAS_SM(900)
WARPBOOK_DEVICE_FN float2 atomicAdd(float2 *p, float2 v) {
    float2 old;
    asm volatile("atom.global.add.v2.f32 {%0, %1}, [%2], {%3, %4};"
                 : "=f"(old.x), "=f"(old.y)
                 : "l"(WARPBOOK_GLOBAL(p)), "f"(v.x), "f"(v.y)
                 : "memory");
    return old;
}
WARPBOOK_DEVICE_FN float4 atomicAdd(float4 *p, float4 v) {
    float4 old;
    asm volatile("atom.global.add.v4.f32 {%0, %1, %2, %3}, [%4], {%5, %6, %7, %8};"
                 : "=f"(old.x), "=f"(old.y), "=f"(old.z), "=f"(old.w)
                 : "l"(WARPBOOK_GLOBAL(p)), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w)
                 : "memory");
    return old;
}
#endif

#undef WARPBOOK_ATOMIC_SCOPE
#undef WARPBOOK_ATOMIC_ADD
#undef WARPBOOK_ATOMIC_EXCHANGE
#undef WARPBOOK_ATOMIC_MIN_MAX
#undef WARPBOOK_ATOMICS
