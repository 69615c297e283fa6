// Named conversions: included once for half and once for bfloat16.

WARPBOOK_NARROW_FN WARPBOOK_NARROW WARPBOOK_NAME(__ushort_as_, )(unsigned short bits) {
    WARPBOOK_NARROW_RAW raw = {bits};
    return raw;
}
WARPBOOK_NARROW_FN WARPBOOK_NARROW WARPBOOK_NAME(__short_as_, )(short bits) {
    return WARPBOOK_NAME(__ushort_as_, )((unsigned short)bits);
}
WARPBOOK_NARROW_FN unsigned short WARPBOOK_NAME(__, _as_ushort)(WARPBOOK_NARROW x) {
    return x.__x;
}
WARPBOOK_NARROW_FN short WARPBOOK_NAME(__, _as_short)(WARPBOOK_NARROW x) { return (short)x.__x; }

WARPBOOK_NARROW_FN float WARPBOOK_NAME(__, 2float)(WARPBOOK_NARROW x) {
    return WARPBOOK_NARROW_TO(x.__x);
}

#define WARPBOOK_NARROW_ROUND(before, after, T, exact, mode)                             \
    WARPBOOK_NARROW_FN WARPBOOK_NARROW WARPBOOK_NAME(before, after)(T x) {               \
        return WARPBOOK_NAME(__ushort_as_, )(WARPBOOK_NARROW_FROM(exact, mode));         \
    }
#define WARPBOOK_NARROW_ROUNDS(before, T, exact)                        \
    WARPBOOK_NARROW_ROUND(before, _rn, T, exact, warpbook_rn)           \
    WARPBOOK_NARROW_ROUND(before, _rz, T, exact, warpbook_rz)           \
    WARPBOOK_NARROW_ROUND(before, _rd, T, exact, warpbook_rd)           \
    WARPBOOK_NARROW_ROUND(before, _ru, T, exact, warpbook_ru)
WARPBOOK_NARROW_ROUNDS(__float2, float, x)
WARPBOOK_NARROW_ROUND(__float2, , float, x, warpbook_rn)
WARPBOOK_NARROW_ROUND(__double2, , double, x, warpbook_rn)
WARPBOOK_NARROW_ROUNDS(__short2, short, (float)x)
WARPBOOK_NARROW_ROUNDS(__ushort2, unsigned short, (float)x)
WARPBOOK_NARROW_ROUNDS(__int2, int, (double)x)
WARPBOOK_NARROW_ROUNDS(__uint2, unsigned int, (double)x)
WARPBOOK_NARROW_ROUNDS(__ll2, long long, warpbook_odd(x))
WARPBOOK_NARROW_ROUNDS(__ull2, unsigned long long, warpbook_odd(x))
#undef WARPBOOK_NARROW_ROUNDS
#undef WARPBOOK_NARROW_ROUND

// Converts to integers with saturation; NaN becomes 0.
#define WARPBOOK_NARROW_INTEGER(after, T, low, high, rounded)                              \
    WARPBOOK_NARROW_FN T WARPBOOK_NAME(__, after)(WARPBOOK_NARROW narrow) {                \
        float x = WARPBOOK_NARROW_TO(narrow.__x);                                          \
        x = rounded(x);                                                                    \
        return x != x ? (T)0 : x <= (float)(low) ? (low) : x >= (float)(high) ? (high) : (T)x; \
    }
#define WARPBOOK_NARROW_INTEGERS(name, T, low, high)                           \
    WARPBOOK_NARROW_INTEGER(name##_rn, T, low, high, __builtin_rintf)          \
    WARPBOOK_NARROW_INTEGER(name##_rz, T, low, high, __builtin_truncf)         \
    WARPBOOK_NARROW_INTEGER(name##_rd, T, low, high, __builtin_floorf)         \
    WARPBOOK_NARROW_INTEGER(name##_ru, T, low, high, __builtin_ceilf)
WARPBOOK_NARROW_INTEGER(2char_rz, signed char, (signed char)-128, (signed char)127, __builtin_truncf)
WARPBOOK_NARROW_INTEGER(2uchar_rz, unsigned char, (unsigned char)0, (unsigned char)255,
                        __builtin_truncf)
WARPBOOK_NARROW_INTEGERS(2short, short, (short)-32768, (short)32767)
WARPBOOK_NARROW_INTEGERS(2ushort, unsigned short, (unsigned short)0, (unsigned short)65535)
WARPBOOK_NARROW_INTEGERS(2int, int, -__INT_MAX__ - 1, __INT_MAX__)
WARPBOOK_NARROW_INTEGERS(2uint, unsigned int, 0u, ~0u)
WARPBOOK_NARROW_INTEGERS(2ll, long long, -__LONG_LONG_MAX__ - 1, __LONG_LONG_MAX__)
WARPBOOK_NARROW_INTEGERS(2ull, unsigned long long, 0ull, ~0ull)
#undef WARPBOOK_NARROW_INTEGERS
#undef WARPBOOK_NARROW_INTEGER

// Conversions of pairs.
WARPBOOK_NARROW_FN WARPBOOK_NARROW2 WARPBOOK_NAME2(make_, )(WARPBOOK_NARROW x, WARPBOOK_NARROW y) {
    return WARPBOOK_NARROW2(x, y);
}
WARPBOOK_NARROW_FN float2 WARPBOOK_NAME2(__, 2float2)(WARPBOOK_NARROW2 v) {
    return make_float2((float)v.x, (float)v.y);
}
WARPBOOK_NARROW_FN WARPBOOK_NARROW2 WARPBOOK_NAME2(__float2, _rn)(float x) {
    return WARPBOOK_NARROW2(x, x);
}
WARPBOOK_NARROW_FN WARPBOOK_NARROW2 WARPBOOK_NAME2(__floats2, _rn)(float x, float y) {
    return WARPBOOK_NARROW2(x, y);
}
WARPBOOK_NARROW_FN WARPBOOK_NARROW2 WARPBOOK_NAME2(__float22, _rn)(float2 v) {
    return WARPBOOK_NARROW2(v.x, v.y);
}
WARPBOOK_NARROW_FN float __low2float(WARPBOOK_NARROW2 v) { return (float)v.x; }
WARPBOOK_NARROW_FN float __high2float(WARPBOOK_NARROW2 v) { return (float)v.y; }
WARPBOOK_NARROW_FN WARPBOOK_NARROW WARPBOOK_NAME(__low2, )(WARPBOOK_NARROW2 v) { return v.x; }
WARPBOOK_NARROW_FN WARPBOOK_NARROW WARPBOOK_NAME(__high2, )(WARPBOOK_NARROW2 v) { return v.y; }
WARPBOOK_NARROW_FN WARPBOOK_NARROW2 WARPBOOK_NAME2(__low2, )(WARPBOOK_NARROW2 v) {
    return WARPBOOK_NARROW2(v.x, v.x);
}
WARPBOOK_NARROW_FN WARPBOOK_NARROW2 WARPBOOK_NAME2(__high2, )(WARPBOOK_NARROW2 v) {
    return WARPBOOK_NARROW2(v.y, v.y);
}
WARPBOOK_NARROW_FN WARPBOOK_NARROW2 WARPBOOK_NAME2(__lows2, )(WARPBOOK_NARROW2 a, WARPBOOK_NARROW2 b) {
    return WARPBOOK_NARROW2(a.x, b.x);
}
WARPBOOK_NARROW_FN WARPBOOK_NARROW2 WARPBOOK_NAME2(__highs2, )(WARPBOOK_NARROW2 a, WARPBOOK_NARROW2 b) {
    return WARPBOOK_NARROW2(a.y, b.y);
}
WARPBOOK_NARROW_FN WARPBOOK_NARROW2 __lowhigh2highlow(WARPBOOK_NARROW2 v) {
    return WARPBOOK_NARROW2(v.y, v.x);
}
