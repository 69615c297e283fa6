// Functions of a 16-bit floating-point type that exist only in device code: mathematics,
// shuffles, loads and atomics; included once for half and once for bfloat16.

// Mathematics, computed in float.
#define WARPBOOK_NARROW_MATH(name, value)                                                    \
    WARPBOOK_DEVICE_FN WARPBOOK_NARROW h##name(WARPBOOK_NARROW a) {                          \
        const float x = a;                                                                   \
        return WARPBOOK_NARROW(value);                                                       \
    }                                                                                        \
    WARPBOOK_DEVICE_FN WARPBOOK_NARROW2 h2##name(WARPBOOK_NARROW2 a) {                       \
        return WARPBOOK_NARROW2(h##name(a.x), h##name(a.y));                                 \
    }
WARPBOOK_NARROW_MATH(ceil, ::ceilf(x))
WARPBOOK_NARROW_MATH(floor, ::floorf(x))
WARPBOOK_NARROW_MATH(rint, ::rintf(x))
WARPBOOK_NARROW_MATH(trunc, ::truncf(x))
WARPBOOK_NARROW_MATH(cos, ::cosf(x))
WARPBOOK_NARROW_MATH(sin, ::sinf(x))
WARPBOOK_NARROW_MATH(exp, ::expf(x))
WARPBOOK_NARROW_MATH(exp2, ::exp2f(x))
WARPBOOK_NARROW_MATH(exp10, ::exp10f(x))
WARPBOOK_NARROW_MATH(log, ::logf(x))
WARPBOOK_NARROW_MATH(log2, ::log2f(x))
WARPBOOK_NARROW_MATH(log10, ::log10f(x))
WARPBOOK_NARROW_MATH(rcp, 1.0f / x)
WARPBOOK_NARROW_MATH(rsqrt, ::rsqrtf(x))
WARPBOOK_NARROW_MATH(sqrt, ::sqrtf(x))
WARPBOOK_NARROW_MATH(tanh, ::tanhf(x))
WARPBOOK_NARROW_MATH(tanh_approx, ::tanhf(x))
#undef WARPBOOK_NARROW_MATH

#define WARPBOOK_NARROW_SHUFFLE(name, Lane)                                                  \
    WARPBOOK_DEVICE_FN WARPBOOK_NARROW name(unsigned int mask, WARPBOOK_NARROW v, Lane lane, \
                                            int width = warpSize) {                          \
        v.__x = (unsigned short)name(mask, (unsigned int)v.__x, lane, width);                \
        return v;                                                                            \
    }                                                                                        \
    WARPBOOK_DEVICE_FN WARPBOOK_NARROW2 name(unsigned int mask, WARPBOOK_NARROW2 v, Lane lane, \
                                             int width = warpSize) {                         \
        return warpbook_bits_as<WARPBOOK_NARROW2>(                                           \
            name(mask, warpbook_bits_as<unsigned int>(v), lane, width));                     \
    }
WARPBOOK_NARROW_SHUFFLE(__shfl_sync, int)
WARPBOOK_NARROW_SHUFFLE(__shfl_up_sync, unsigned int)
WARPBOOK_NARROW_SHUFFLE(__shfl_down_sync, unsigned int)
WARPBOOK_NARROW_SHUFFLE(__shfl_xor_sync, int)
#undef WARPBOOK_NARROW_SHUFFLE

#define WARPBOOK_NARROW_LOAD(name)                                                           \
    WARPBOOK_DEVICE_FN WARPBOOK_NARROW name(const WARPBOOK_NARROW *p) {                      \
        return warpbook_bits_as<WARPBOOK_NARROW>(name((const unsigned short *)p));           \
    }                                                                                        \
    WARPBOOK_DEVICE_FN WARPBOOK_NARROW2 name(const WARPBOOK_NARROW2 *p) {                    \
        return warpbook_bits_as<WARPBOOK_NARROW2>(name((const unsigned int *)p));            \
    }
WARPBOOK_NARROW_LOAD(__ldg)
WARPBOOK_NARROW_LOAD(__ldca)
WARPBOOK_NARROW_LOAD(__ldcg)
WARPBOOK_NARROW_LOAD(__ldcs)
WARPBOOK_NARROW_LOAD(__ldlu)
WARPBOOK_NARROW_LOAD(__ldcv)
#undef WARPBOOK_NARROW_LOAD

#define WARPBOOK_NARROW_STORE(name)                                                          \
    WARPBOOK_DEVICE_FN void name(WARPBOOK_NARROW *p, WARPBOOK_NARROW v) {                    \
        name((unsigned short *)p, v.__x);                                                    \
    }                                                                                        \
    WARPBOOK_DEVICE_FN void name(WARPBOOK_NARROW2 *p, WARPBOOK_NARROW2 v) {                  \
        name((unsigned int *)p, warpbook_bits_as<unsigned int>(v));                          \
    }
WARPBOOK_NARROW_STORE(__stwb)
WARPBOOK_NARROW_STORE(__stcg)
WARPBOOK_NARROW_STORE(__stcs)
WARPBOOK_NARROW_STORE(__stwt)
#undef WARPBOOK_NARROW_STORE

// GPUs that cannot add such numbers in memory use a compare-and-swap loop.
#if WARPBOOK_HAS_SM(600)
WARPBOOK_DEVICE_FN WARPBOOK_NARROW2 atomicAdd(WARPBOOK_NARROW2 *p, WARPBOOK_NARROW2 v) {
#if WARPBOOK_NARROW_ATOMICS2
    unsigned int old;
    asm volatile("atom.add.noftz." WARPBOOK_NARROW_PTX "x2 %0, [%1], %2;"
                 : "=r"(old) : "l"(p), "r"(warpbook_bits_as<unsigned int>(v)) : "memory");
    return warpbook_bits_as<WARPBOOK_NARROW2>(old);
#else
    unsigned int old = *(volatile unsigned int *)p, before;
    do {
        before = old;
        const WARPBOOK_NARROW2 sum = __hadd2(warpbook_bits_as<WARPBOOK_NARROW2>(before), v);
        old = atomicCAS((unsigned int *)p, before, warpbook_bits_as<unsigned int>(sum));
    } while (old != before);
    return warpbook_bits_as<WARPBOOK_NARROW2>(old);
#endif
}
#endif
#if WARPBOOK_HAS_SM(700)
WARPBOOK_DEVICE_FN WARPBOOK_NARROW atomicAdd(WARPBOOK_NARROW *p, WARPBOOK_NARROW v) {
#if WARPBOOK_NARROW_ATOMICS
    WARPBOOK_NARROW old;
    asm volatile("atom.add.noftz." WARPBOOK_NARROW_PTX " %0, [%1], %2;"
                 : "=h"(old.__x) : "l"(p), "h"(v.__x) : "memory");
    return old;
#else
    unsigned short old = *(volatile unsigned short *)p, before;
    do {
        before = old;
        const WARPBOOK_NARROW sum = __hadd(warpbook_bits_as<WARPBOOK_NARROW>(before), v);
        old = atomicCAS((unsigned short *)p, before, sum.__x);
    } while (old != before);
    return warpbook_bits_as<WARPBOOK_NARROW>(old);
#endif
}
#endif
