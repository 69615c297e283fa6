// Integer functions, functions on the two halves or four bytes of a word, and conversions:
// out[i] is the result for three numbers.

#include "measure.h"

#define WORDS(name, result) KERNEL(unsigned, name, 3, result)
#define BOTH(name) WORDS(name, name(x[0], x[1]))
#define ALONE(name) WORDS(name, name(x[0]))
#define VIDEO(number)                                                                            \
    BOTH(__vadd##number) BOTH(__vaddss##number) BOTH(__vaddus##number) BOTH(__vsub##number)      \
    BOTH(__vsubss##number) BOTH(__vsubus##number) BOTH(__vavgs##number) BOTH(__vavgu##number)    \
    BOTH(__vhaddu##number) BOTH(__vmaxs##number) BOTH(__vmaxu##number) BOTH(__vmins##number)     \
    BOTH(__vminu##number) BOTH(__vabsdiffs##number) BOTH(__vabsdiffu##number)                    \
    BOTH(__vsads##number) BOTH(__vsadu##number) ALONE(__vabs##number) ALONE(__vabsss##number)    \
    ALONE(__vneg##number) ALONE(__vnegss##number) BOTH(__vseteq##number) BOTH(__vsetlts##number) \
    BOTH(__vsetltu##number) BOTH(__vcmpne##number) BOTH(__vcmpges##number) BOTH(__vcmpgtu##number)
VIDEO(2)
VIDEO(4)

BOTH(__mul24)
BOTH(__umul24)
BOTH(__mulhi)
BOTH(__umulhi)
ALONE(__clz)
ALONE(__ffs)
ALONE(__popc)
ALONE(__brev)
BOTH(__hadd)
BOTH(__rhadd)
BOTH(__uhadd)
BOTH(__urhadd)
WORDS(__sad, __sad(x[0], x[1], x[2]))
WORDS(__usad, __usad(x[0], x[1], x[2]))
WORDS(__byte_perm, __byte_perm(x[0], x[1], x[2]))
WORDS(__funnelshift_l, __funnelshift_l(x[0], x[1], x[2]))
WORDS(__funnelshift_lc, __funnelshift_lc(x[0], x[1], x[2]))
WORDS(__funnelshift_r, __funnelshift_r(x[0], x[1], x[2]))
WORDS(__funnelshift_rc, __funnelshift_rc(x[0], x[1], x[2]))
WORDS(__dp4a, __dp4a((int)x[0], (int)x[1], (int)x[2]))
WORDS(__dp4a_unsigned, __dp4a(x[0], x[1], x[2]))
WORDS(__dp2a_lo, __dp2a_lo((int)x[0], (int)x[1], (int)x[2]))
WORDS(__dp2a_hi_unsigned, __dp2a_hi(x[0], x[1], x[2]))

// Combines two words into a 64-bit number.
#define LONG(index) ((unsigned long long)x[index] << 32 | x[index + 1])
WORDS(__clzll, __clzll(LONG(0)))
WORDS(__ffsll, __ffsll(LONG(0)))
WORDS(__popcll, __popcll(LONG(0)))
WORDS(__brevll, __brevll(LONG(0)) >> 16)
WORDS(__umul64hi, __umul64hi(LONG(0), LONG(1)))
WORDS(__mul64hi, __mul64hi(LONG(0), LONG(1)))

#define FLOAT(index) __uint_as_float(x[index])
#define DOUBLE(index) __hiloint2double(x[index], x[index + 1])
WORDS(__float2int_rn, __float2int_rn(FLOAT(0)))
WORDS(__float2int_rd, __float2int_rd(FLOAT(0)))
WORDS(__float2uint_ru, __float2uint_ru(FLOAT(0)))
WORDS(__double2int_rz, __double2int_rz(DOUBLE(0)))
WORDS(__double2float_rn, __float_as_uint(__double2float_rn(DOUBLE(0))))
WORDS(__int2float_rn, __float_as_uint(__int2float_rn(x[0])))
WORDS(__uint2float_rz, __float_as_uint(__uint2float_rz(x[0])))
WORDS(__ll2float_rn, __float_as_uint(__ll2float_rn(LONG(0))))
WORDS(__ll2double_ru, (unsigned)__double_as_longlong(__ll2double_ru(LONG(0))))
WORDS(__double2float_rd, __float_as_uint(__double2float_rd(DOUBLE(0))))
WORDS(__fmul_rz, __float_as_uint(__fmul_rz(FLOAT(0), FLOAT(1))))
WORDS(__double2hiint, __double2hiint(DOUBLE(0)))
WORDS(__double2loint, __double2loint(DOUBLE(0)))
WORDS(__fadd_rn, __float_as_uint(__fadd_rn(FLOAT(0), FLOAT(1))))
WORDS(__fadd_ru, __float_as_uint(__fadd_ru(FLOAT(0), FLOAT(1))))
WORDS(__fmul_rn_then_sum, __float_as_uint(__fmul_rn(FLOAT(0), FLOAT(1)) + FLOAT(2)))
WORDS(__fmaf_rn, __float_as_uint(__fmaf_rn(FLOAT(0), FLOAT(1), FLOAT(2))))
WORDS(__fdiv_rn, __float_as_uint(__fdiv_rn(FLOAT(0), FLOAT(1))))
WORDS(__frcp_rn, __float_as_uint(__frcp_rn(FLOAT(0))))
WORDS(__fsqrt_rn, __float_as_uint(__fsqrt_rn(FLOAT(0))))
WORDS(__frsqrt_rn, __float_as_uint(__frsqrt_rn(FLOAT(0))))
WORDS(__saturatef, __float_as_uint(__saturatef(FLOAT(0))))
