// A 16-bit floating-point type and its pair: included once for half and once for bfloat16.

#if defined(__CUDA__)
#define WARPBOOK_NARROW_MEMBER __attribute__((host, device, always_inline, nodebug)) inline
#else
#define WARPBOOK_NARROW_MEMBER inline
#endif

typedef struct __align__(2) { unsigned short x; } WARPBOOK_NARROW_RAW;
typedef struct __align__(4) { unsigned short x, y; } WARPBOOK_NARROW2_RAW;

struct WARPBOOK_NARROW_OTHER;

struct __align__(2) WARPBOOK_NARROW {
    unsigned short __x;

    WARPBOOK_NARROW() = default;
    WARPBOOK_NARROW_MEMBER WARPBOOK_NARROW(const WARPBOOK_NARROW_RAW &raw) : __x(raw.x) {}
    WARPBOOK_NARROW_MEMBER operator WARPBOOK_NARROW_RAW() const {
        WARPBOOK_NARROW_RAW raw = {__x};
        return raw;
    }
    WARPBOOK_NARROW_MEMBER operator WARPBOOK_NARROW_RAW() const volatile {
        WARPBOOK_NARROW_RAW raw = {__x};
        return raw;
    }

    // Converts from the other of the two types; defined if cuda_bf16.h is included.
    WARPBOOK_NARROW_MEMBER explicit WARPBOOK_NARROW(const WARPBOOK_NARROW_OTHER &other);

    // Conversions from and to C++'s types, rounded to nearest; toward zero to an integer.
#define WARPBOOK_NARROW_OF(T, exact)                                                          \
    WARPBOOK_NARROW_MEMBER WARPBOOK_NARROW(T x)                                               \
        : __x(WARPBOOK_NARROW_FROM(exact, warpbook_rn)) {}
    WARPBOOK_NARROW_OF(float, x)
    WARPBOOK_NARROW_OF(double, x)
    WARPBOOK_NARROW_OF(short, (float)x)
    WARPBOOK_NARROW_OF(unsigned short, (float)x)
    WARPBOOK_NARROW_OF(int, (double)x)
    WARPBOOK_NARROW_OF(unsigned int, (double)x)
    WARPBOOK_NARROW_OF(long long, warpbook_odd(x))
    WARPBOOK_NARROW_OF(unsigned long long, warpbook_odd(x))
#undef WARPBOOK_NARROW_OF
    WARPBOOK_NARROW_MEMBER WARPBOOK_NARROW(long x) : WARPBOOK_NARROW((long long)x) {}
    WARPBOOK_NARROW_MEMBER WARPBOOK_NARROW(unsigned long x)
        : WARPBOOK_NARROW((unsigned long long)x) {}

    WARPBOOK_NARROW_MEMBER operator float() const { return WARPBOOK_NARROW_TO(__x); }
    WARPBOOK_NARROW_MEMBER operator bool() const { return (__x & 0x7fff) != 0; }
#define WARPBOOK_NARROW_AS(T, low, high)                                                      \
    WARPBOOK_NARROW_MEMBER operator T() const {                                               \
        float x = WARPBOOK_NARROW_TO(__x);                                                    \
        return x != x ? (T)0 : x <= (float)(low) ? (low) : x >= (float)(high) ? (high) : (T)x; \
    }
#if defined(__CHAR_UNSIGNED__)
    WARPBOOK_NARROW_AS(char, (char)0, (char)255)
#else
    WARPBOOK_NARROW_AS(char, (char)-128, (char)127)
#endif
    WARPBOOK_NARROW_AS(signed char, (signed char)-128, (signed char)127)
    WARPBOOK_NARROW_AS(unsigned char, (unsigned char)0, (unsigned char)255)
    WARPBOOK_NARROW_AS(short, (short)-32768, (short)32767)
    WARPBOOK_NARROW_AS(unsigned short, (unsigned short)0, (unsigned short)65535)
    WARPBOOK_NARROW_AS(int, (-__INT_MAX__ - 1), __INT_MAX__)
    WARPBOOK_NARROW_AS(unsigned int, 0u, ~0u)
    WARPBOOK_NARROW_AS(long, (-__LONG_MAX__ - 1), __LONG_MAX__)
    WARPBOOK_NARROW_AS(unsigned long, 0ul, ~0ul)
    WARPBOOK_NARROW_AS(long long, (-__LONG_LONG_MAX__ - 1), __LONG_LONG_MAX__)
    WARPBOOK_NARROW_AS(unsigned long long, 0ull, ~0ull)
#undef WARPBOOK_NARROW_AS
};

struct __align__(4) WARPBOOK_NARROW2 {
    WARPBOOK_NARROW x, y;

    WARPBOOK_NARROW2() = default;
    WARPBOOK_NARROW_MEMBER WARPBOOK_NARROW2(const WARPBOOK_NARROW &x, const WARPBOOK_NARROW &y)
        : x(x), y(y) {}
    WARPBOOK_NARROW_MEMBER WARPBOOK_NARROW2(const WARPBOOK_NARROW2_RAW &raw) {
        x.__x = raw.x;
        y.__x = raw.y;
    }
    WARPBOOK_NARROW_MEMBER operator WARPBOOK_NARROW2_RAW() const {
        WARPBOOK_NARROW2_RAW raw = {x.__x, y.__x};
        return raw;
    }
};

#undef WARPBOOK_NARROW_MEMBER
