// Operators: included once for half and once for bfloat16.

#define WARPBOOK_NARROW_OPERATOR(T, op, function)                                       \
    WARPBOOK_NARROW_FN T operator op(const T &a, const T &b) { return function(a, b); }      \
    WARPBOOK_NARROW_FN T &operator op##=(T &a, const T &b) { return a = function(a, b); }
WARPBOOK_NARROW_OPERATOR(WARPBOOK_NARROW, +, __hadd)
WARPBOOK_NARROW_OPERATOR(WARPBOOK_NARROW, -, __hsub)
WARPBOOK_NARROW_OPERATOR(WARPBOOK_NARROW, *, __hmul)
WARPBOOK_NARROW_OPERATOR(WARPBOOK_NARROW, /, __hdiv)
WARPBOOK_NARROW_OPERATOR(WARPBOOK_NARROW2, +, __hadd2)
WARPBOOK_NARROW_OPERATOR(WARPBOOK_NARROW2, -, __hsub2)
WARPBOOK_NARROW_OPERATOR(WARPBOOK_NARROW2, *, __hmul2)
WARPBOOK_NARROW_OPERATOR(WARPBOOK_NARROW2, /, __h2div)
#undef WARPBOOK_NARROW_OPERATOR

#define WARPBOOK_NARROW_STEP(T, op, function, one)                                           \
    WARPBOOK_NARROW_FN T &operator op(T &a) { return a = function(a, one); }                 \
    WARPBOOK_NARROW_FN T operator op(T &a, int) {                                            \
        const T before = a;                                                                  \
        a = function(a, one);                                                                \
        return before;                                                                       \
    }
WARPBOOK_NARROW_STEP(WARPBOOK_NARROW, ++, __hadd, WARPBOOK_NARROW(1.0f))
WARPBOOK_NARROW_STEP(WARPBOOK_NARROW, --, __hsub, WARPBOOK_NARROW(1.0f))
WARPBOOK_NARROW_STEP(WARPBOOK_NARROW2, ++, __hadd2, WARPBOOK_NARROW2(1.0f, 1.0f))
WARPBOOK_NARROW_STEP(WARPBOOK_NARROW2, --, __hsub2, WARPBOOK_NARROW2(1.0f, 1.0f))
#undef WARPBOOK_NARROW_STEP

WARPBOOK_NARROW_FN WARPBOOK_NARROW operator+(const WARPBOOK_NARROW &a) { return a; }
WARPBOOK_NARROW_FN WARPBOOK_NARROW operator-(const WARPBOOK_NARROW &a) { return __hneg(a); }
WARPBOOK_NARROW_FN WARPBOOK_NARROW2 operator+(const WARPBOOK_NARROW2 &a) { return a; }
WARPBOOK_NARROW_FN WARPBOOK_NARROW2 operator-(const WARPBOOK_NARROW2 &a) { return __hneg2(a); }

// `!=` is true if a value is NaN; the other comparisons are false.
#define WARPBOOK_NARROW_RELATION(op, scalar, pair)                                           \
    WARPBOOK_NARROW_FN bool operator op(const WARPBOOK_NARROW &a, const WARPBOOK_NARROW &b) { \
        return scalar(a, b);                                                                 \
    }                                                                                        \
    WARPBOOK_NARROW_FN bool operator op(const WARPBOOK_NARROW2 &a, const WARPBOOK_NARROW2 &b) { \
        return pair(a, b);                                                                   \
    }
WARPBOOK_NARROW_RELATION(==, __heq, __hbeq2)
WARPBOOK_NARROW_RELATION(!=, __hneu, __hbneu2)
WARPBOOK_NARROW_RELATION(<, __hlt, __hblt2)
WARPBOOK_NARROW_RELATION(<=, __hle, __hble2)
WARPBOOK_NARROW_RELATION(>, __hgt, __hbgt2)
WARPBOOK_NARROW_RELATION(>=, __hge, __hbge2)
#undef WARPBOOK_NARROW_RELATION
