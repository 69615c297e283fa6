// What a CUDA toolkit's headers give a kernel, for a clang without the toolkit.
//
// nvcc, NVRTC, and clang with a toolkit bring their own: for them this file is
// empty. Names, meanings and alignments are those of the CUDA C++ Programming
// Guide. What is missing needs a newer GPU than sm_52 (double atomicAdd, __match)
// or NVIDIA's libdevice (sinf, expf, ...).
//
// Every function is inlined and carries no line numbers of its own, so that an
// instruction counts for the kernel's line that asked for it.

#pragma once

#if defined(__NVCC__) && !defined(__CUDACC_RTC__)
#include <assert.h>
#include <stdio.h>
#endif

#if defined(__clang__) && defined(__CUDA__) && !defined(__CLANG_CUDA_RUNTIME_WRAPPER_H__)

// ---- Where code runs and where data lies ------------------------------------

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(bytes) __attribute__((aligned(bytes)))

// How the functions below are declared.
#define CUDA_DEVICE_FN \
    static inline __attribute__((device, always_inline, nodebug, unused))

typedef __SIZE_TYPE__ size_t;

// ---- Vector types -------------------------------------------------------------

// A struct is copied as a block of memory, and clang moves those in 64-bit words; a
// vector of up to 128 bits is moved by one instruction. So the structs that are
// aligned to 16 bytes are assigned through a vector.
#define CUDA_ASSIGN_16(T, name, count)                                            \
    __attribute__((host, device, always_inline, nodebug)) name &operator=(        \
        const name &from) {                                                       \
        typedef T vector __attribute__((ext_vector_type(count), aligned(16)));    \
        *(vector *)this = *(const vector *)&from;                                 \
        return *this;                                                             \
    }
#define CUDA_ASSIGN_8(T, name, count)
#define CUDA_ASSIGN_4(T, name, count)
#define CUDA_ASSIGN_2(T, name, count)

#define CUDA_VECTOR(T, name, align2, align4)                                      \
    struct name##1 { T x; };                                                      \
    struct __align__(align2) name##2 { T x, y; CUDA_ASSIGN_##align2(T, name##2, 2) }; \
    struct name##3 { T x, y, z; };                                                \
    struct __align__(align4) name##4 { T x, y, z, w; CUDA_ASSIGN_##align4(T, name##4, 4) }; \
    CUDA_DEVICE_FN name##1 make_##name##1(T x) { return {x}; }                    \
    CUDA_DEVICE_FN name##2 make_##name##2(T x, T y) { return {x, y}; }            \
    CUDA_DEVICE_FN name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }    \
    CUDA_DEVICE_FN name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

CUDA_VECTOR(signed char, char, 2, 4)
CUDA_VECTOR(unsigned char, uchar, 2, 4)
CUDA_VECTOR(short, short, 4, 8)
CUDA_VECTOR(unsigned short, ushort, 4, 8)
CUDA_VECTOR(int, int, 8, 16)
CUDA_VECTOR(unsigned int, uint, 8, 16)
CUDA_VECTOR(long long, longlong, 16, 16)
CUDA_VECTOR(unsigned long long, ulonglong, 16, 16)
CUDA_VECTOR(float, float, 8, 16)
CUDA_VECTOR(double, double, 16, 16)
#undef CUDA_VECTOR
#undef CUDA_ASSIGN_16
#undef CUDA_ASSIGN_8
#undef CUDA_ASSIGN_4
#undef CUDA_ASSIGN_2

struct dim3 {
    unsigned int x, y, z;
    __attribute__((device, nodebug)) constexpr dim3(unsigned int x = 1, unsigned int y = 1,
                                                    unsigned int z = 1)
        : x(x), y(y), z(z) {}
    __attribute__((device, nodebug)) constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

// ---- Which thread this is -------------------------------------------------------

// Each field reads a special register: threadIdx.x is %tid.x.
#define CUDA_INDEX_FIELD(field, reg)                                             \
    __declspec(property(get = get_##field)) unsigned int field;                  \
    CUDA_DEVICE_FN unsigned int get_##field() { return __nvvm_read_ptx_sreg_##reg##_##field(); }
#define CUDA_INDEX(name, reg)                                                    \
    struct cuda_##name##_t {                                                     \
        CUDA_INDEX_FIELD(x, reg)                                                 \
        CUDA_INDEX_FIELD(y, reg)                                                 \
        CUDA_INDEX_FIELD(z, reg)                                                 \
        __attribute__((device, always_inline, nodebug)) operator uint3() const { \
            return {x, y, z};                                                    \
        }                                                                        \
        __attribute__((device, always_inline, nodebug)) operator dim3() const {  \
            return {x, y, z};                                                    \
        }                                                                        \
    };                                                                           \
    extern const __attribute__((device, weak)) cuda_##name##_t name;

CUDA_INDEX(threadIdx, tid)
CUDA_INDEX(blockIdx, ctaid)
CUDA_INDEX(blockDim, ntid)
CUDA_INDEX(gridDim, nctaid)
#undef CUDA_INDEX
#undef CUDA_INDEX_FIELD

enum { warpSize = 32 };

// ---- Waiting and ordering ---------------------------------------------------------

// A macro: clang knows the name as a builtin without a definition.
#define __syncthreads() __nvvm_bar_sync(0)
CUDA_DEVICE_FN int __syncthreads_count(int predicate) { return __nvvm_bar0_popc(predicate); }
CUDA_DEVICE_FN int __syncthreads_and(int predicate) { return __nvvm_bar0_and(predicate); }
CUDA_DEVICE_FN int __syncthreads_or(int predicate) { return __nvvm_bar0_or(predicate); }
CUDA_DEVICE_FN void __syncwarp(unsigned int mask = ~0u) { __nvvm_bar_warp_sync(mask); }
CUDA_DEVICE_FN void __threadfence_block() { __nvvm_membar_cta(); }
CUDA_DEVICE_FN void __threadfence() { __nvvm_membar_gl(); }
CUDA_DEVICE_FN void __threadfence_system() { __nvvm_membar_sys(); }
CUDA_DEVICE_FN long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }

// ---- Loads through the read-only cache ----------------------------------------------

#define CUDA_LDG(T, suffix) \
    CUDA_DEVICE_FN T __ldg(const T *p) { return __nvvm_ldg_##suffix(p); }
#define CUDA_LDG2(T, E, suffix)                                     \
    CUDA_DEVICE_FN T __ldg(const T *p) {                            \
        typedef E vector __attribute__((ext_vector_type(2)));       \
        vector v = __nvvm_ldg_##suffix##2((const vector *)p);       \
        return {v[0], v[1]};                                        \
    }
#define CUDA_LDG4(T, E, suffix)                                     \
    CUDA_DEVICE_FN T __ldg(const T *p) {                            \
        typedef E vector __attribute__((ext_vector_type(4)));       \
        vector v = __nvvm_ldg_##suffix##4((const vector *)p);       \
        return {v[0], v[1], v[2], v[3]};                            \
    }

CUDA_LDG(char, c)
CUDA_LDG(unsigned char, uc)
CUDA_LDG(short, s)
CUDA_LDG(unsigned short, us)
CUDA_LDG(int, i)
CUDA_LDG(unsigned int, ui)
CUDA_LDG(long, l)
CUDA_LDG(unsigned long, ul)
CUDA_LDG(long long, ll)
CUDA_LDG(unsigned long long, ull)
CUDA_LDG(float, f)
CUDA_LDG(double, d)
CUDA_LDG2(int2, int, i)
CUDA_LDG2(uint2, unsigned int, ui)
CUDA_LDG2(float2, float, f)
CUDA_LDG2(double2, double, d)
CUDA_LDG4(uchar4, unsigned char, uc)
CUDA_LDG4(int4, int, i)
CUDA_LDG4(uint4, unsigned int, ui)
CUDA_LDG4(float4, float, f)
#undef CUDA_LDG
#undef CUDA_LDG2
#undef CUDA_LDG4

// ---- Arithmetic ----------------------------------------------------------------------

CUDA_DEVICE_FN float sqrtf(float x) { return __builtin_sqrtf(x); }
CUDA_DEVICE_FN float rsqrtf(float x) { return __nvvm_rsqrt_approx_f(x); }
CUDA_DEVICE_FN float fabsf(float x) { return __builtin_fabsf(x); }
CUDA_DEVICE_FN float fminf(float x, float y) { return __builtin_fminf(x, y); }
CUDA_DEVICE_FN float fmaxf(float x, float y) { return __builtin_fmaxf(x, y); }
CUDA_DEVICE_FN float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
CUDA_DEVICE_FN float floorf(float x) { return __builtin_floorf(x); }
CUDA_DEVICE_FN float ceilf(float x) { return __builtin_ceilf(x); }
CUDA_DEVICE_FN float truncf(float x) { return __builtin_truncf(x); }
CUDA_DEVICE_FN float rintf(float x) { return __builtin_rintf(x); }
CUDA_DEVICE_FN float copysignf(float x, float y) { return __builtin_copysignf(x, y); }

CUDA_DEVICE_FN double sqrt(double x) { return __builtin_sqrt(x); }
CUDA_DEVICE_FN double fabs(double x) { return __builtin_fabs(x); }
CUDA_DEVICE_FN double fmin(double x, double y) { return __builtin_fmin(x, y); }
CUDA_DEVICE_FN double fmax(double x, double y) { return __builtin_fmax(x, y); }
CUDA_DEVICE_FN double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
CUDA_DEVICE_FN double floor(double x) { return __builtin_floor(x); }
CUDA_DEVICE_FN double ceil(double x) { return __builtin_ceil(x); }
CUDA_DEVICE_FN double trunc(double x) { return __builtin_trunc(x); }
CUDA_DEVICE_FN double rint(double x) { return __builtin_rint(x); }

#define CUDA_MIN_MAX(T)                                            \
    CUDA_DEVICE_FN T min(T a, T b) { return b < a ? b : a; }       \
    CUDA_DEVICE_FN T max(T a, T b) { return a < b ? b : a; }
CUDA_MIN_MAX(int)
CUDA_MIN_MAX(unsigned int)
CUDA_MIN_MAX(long long)
CUDA_MIN_MAX(unsigned long long)
#undef CUDA_MIN_MAX
CUDA_DEVICE_FN float min(float a, float b) { return fminf(a, b); }
CUDA_DEVICE_FN float max(float a, float b) { return fmaxf(a, b); }
CUDA_DEVICE_FN double min(double a, double b) { return fmin(a, b); }
CUDA_DEVICE_FN double max(double a, double b) { return fmax(a, b); }
CUDA_DEVICE_FN int abs(int x) { return x < 0 ? -x : x; }

// ---- Bits ------------------------------------------------------------------------------

CUDA_DEVICE_FN int __popc(unsigned int x) { return __builtin_popcount(x); }
CUDA_DEVICE_FN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
CUDA_DEVICE_FN int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned int)x); }
CUDA_DEVICE_FN int __clzll(long long x) {
    return x == 0 ? 64 : __builtin_clzll((unsigned long long)x);
}
CUDA_DEVICE_FN int __ffs(int x) { return __builtin_ffs(x); }
CUDA_DEVICE_FN int __ffsll(long long x) { return __builtin_ffsll(x); }
CUDA_DEVICE_FN unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
CUDA_DEVICE_FN unsigned long long __brevll(unsigned long long x) {
    return __builtin_bitreverse64(x);
}
CUDA_DEVICE_FN int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
CUDA_DEVICE_FN unsigned int __float_as_uint(float x) {
    return __builtin_bit_cast(unsigned int, x);
}
CUDA_DEVICE_FN float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
CUDA_DEVICE_FN float __uint_as_float(unsigned int x) { return __builtin_bit_cast(float, x); }

// ---- Atomics ------------------------------------------------------------------------------

// The instructions for exchange, compare-and-swap, addition and bits do not care
// about signs, so the unsigned forms go through the signed ones.
#define CUDA_ATOMICS(T, S, suffix)                                                           \
    CUDA_DEVICE_FN T atomicExch(T *p, T v) { return (T)__nvvm_atom_xchg_gen_##suffix((S *)p, (S)v); } \
    CUDA_DEVICE_FN T atomicCAS(T *p, T expected, T v) {                                      \
        return (T)__nvvm_atom_cas_gen_##suffix((S *)p, (S)expected, (S)v);                   \
    }                                                                                        \
    CUDA_DEVICE_FN T atomicAdd(T *p, T v) { return (T)__nvvm_atom_add_gen_##suffix((S *)p, (S)v); }   \
    CUDA_DEVICE_FN T atomicAnd(T *p, T v) { return (T)__nvvm_atom_and_gen_##suffix((S *)p, (S)v); }   \
    CUDA_DEVICE_FN T atomicOr(T *p, T v) { return (T)__nvvm_atom_or_gen_##suffix((S *)p, (S)v); }     \
    CUDA_DEVICE_FN T atomicXor(T *p, T v) { return (T)__nvvm_atom_xor_gen_##suffix((S *)p, (S)v); }
CUDA_ATOMICS(int, int, i)
CUDA_ATOMICS(unsigned int, int, i)
CUDA_ATOMICS(unsigned long long, long long, ll)
#undef CUDA_ATOMICS

#define CUDA_ATOMIC_MIN_MAX(T, suffix)                                                  \
    CUDA_DEVICE_FN T atomicMin(T *p, T v) { return __nvvm_atom_min_gen_##suffix(p, v); } \
    CUDA_DEVICE_FN T atomicMax(T *p, T v) { return __nvvm_atom_max_gen_##suffix(p, v); }
CUDA_ATOMIC_MIN_MAX(int, i)
CUDA_ATOMIC_MIN_MAX(unsigned int, ui)
CUDA_ATOMIC_MIN_MAX(long long, ll)
CUDA_ATOMIC_MIN_MAX(unsigned long long, ull)
#undef CUDA_ATOMIC_MIN_MAX

CUDA_DEVICE_FN float atomicAdd(float *p, float v) { return __nvvm_atom_add_gen_f(p, v); }
CUDA_DEVICE_FN float atomicExch(float *p, float v) {
    return __int_as_float(atomicExch((int *)p, __float_as_int(v)));
}
CUDA_DEVICE_FN int atomicSub(int *p, int v) { return atomicAdd(p, -v); }
CUDA_DEVICE_FN unsigned int atomicSub(unsigned int *p, unsigned int v) {
    return atomicAdd(p, -v);
}
CUDA_DEVICE_FN unsigned int atomicInc(unsigned int *p, unsigned int limit) {
    return __nvvm_atom_inc_gen_ui(p, limit);
}
CUDA_DEVICE_FN unsigned int atomicDec(unsigned int *p, unsigned int limit) {
    return __nvvm_atom_dec_gen_ui(p, limit);
}

// ---- Between the lanes of a warp ----------------------------------------------------------

CUDA_DEVICE_FN int __all_sync(unsigned int mask, int predicate) {
    return __nvvm_vote_all_sync(mask, predicate);
}
CUDA_DEVICE_FN int __any_sync(unsigned int mask, int predicate) {
    return __nvvm_vote_any_sync(mask, predicate);
}
CUDA_DEVICE_FN unsigned int __ballot_sync(unsigned int mask, int predicate) {
    return __nvvm_vote_ballot_sync(mask, predicate);
}
CUDA_DEVICE_FN unsigned int __activemask() {
    unsigned int mask;
    asm volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}

// `clamp` is the last lane a shuffle may read within its segment; an upward
// shuffle is bounded by the first lane instead, so its clamp is 0. The instruction
// takes it with the segment's mask in bits 8 to 12. A 64-bit value goes as halves.
#define CUDA_SHUFFLE(name, mode, Lane, clamp)                                                \
    CUDA_DEVICE_FN int name(unsigned int mask, int value, Lane lane, int width = warpSize) { \
        return __nvvm_shfl_sync_##mode##_i32(mask, value, (int)lane,                         \
                                             ((warpSize - width) << 8) | clamp);             \
    }                                                                                        \
    CUDA_DEVICE_FN unsigned int name(unsigned int mask, unsigned int value, Lane lane,       \
                                     int width = warpSize) {                                 \
        return (unsigned int)name(mask, (int)value, lane, width);                            \
    }                                                                                        \
    CUDA_DEVICE_FN float name(unsigned int mask, float value, Lane lane,                     \
                              int width = warpSize) {                                        \
        return __int_as_float(name(mask, __float_as_int(value), lane, width));               \
    }                                                                                        \
    CUDA_DEVICE_FN unsigned long long name(unsigned int mask, unsigned long long value,      \
                                           Lane lane, int width = warpSize) {                \
        unsigned int low = name(mask, (unsigned int)value, lane, width);                     \
        unsigned int high = name(mask, (unsigned int)(value >> 32), lane, width);            \
        return (unsigned long long)high << 32 | low;                                         \
    }                                                                                        \
    CUDA_DEVICE_FN long long name(unsigned int mask, long long value, Lane lane,             \
                                  int width = warpSize) {                                    \
        return (long long)name(mask, (unsigned long long)value, lane, width);                \
    }                                                                                        \
    CUDA_DEVICE_FN double name(unsigned int mask, double value, Lane lane,                   \
                               int width = warpSize) {                                       \
        unsigned long long bits = __builtin_bit_cast(unsigned long long, value);             \
        return __builtin_bit_cast(double, name(mask, bits, lane, width));                    \
    }
CUDA_SHUFFLE(__shfl_sync, idx, int, 0x1f)
CUDA_SHUFFLE(__shfl_up_sync, up, unsigned int, 0)
CUDA_SHUFFLE(__shfl_down_sync, down, unsigned int, 0x1f)
CUDA_SHUFFLE(__shfl_xor_sync, bfly, int, 0x1f)
#undef CUDA_SHUFFLE

// ---- Messages -----------------------------------------------------------------------------

// clang turns printf into vprintf, which the driver provides, as it does this:
extern "C" __device__ int printf(const char *format, ...);
extern "C" __device__ __attribute__((noreturn)) void __assertfail(
    const char *condition, const char *file, unsigned int line, const char *function,
    size_t char_bytes);

#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) \
    ((condition) ? (void)0 : __assertfail(#condition, __FILE__, __LINE__, __func__, 1))
#endif

#undef CUDA_DEVICE_FN

#endif
