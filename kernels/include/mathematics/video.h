// SIMD intrinsics: two 16-bit or four 8-bit lanes of a word at once. The names end in 2 or
// 4; s is signed, u unsigned, and a second s or u before that number means saturation.

#pragma once

#include "core.h"

namespace __cuda_math {

// The lanes of a word as numbers: 16 or 8 bits, signed or unsigned.
template <class Lane> struct lanes {
    static constexpr int bits = sizeof(Lane) * 8;
    static constexpr word mask = (1u << bits) - 1;
    static constexpr int highest = Lane(-1) < Lane(0) ? (int)(mask >> 1) : (int)mask;
    static constexpr int lowest = Lane(-1) < Lane(0) ? -highest - 1 : 0;

    template <class Of> static __attribute__((device, always_inline, nodebug)) word each(word a, word b, Of of) {
        word result = 0;
#pragma unroll
        for (int at = 0; at < 32; at += bits) {
            result |= ((word)of((int)(Lane)(a >> at), (int)(Lane)(b >> at)) & mask) << at;
        }
        return result;
    }
    template <class Of> static __attribute__((device, always_inline, nodebug)) word total(word a, word b, Of of) {
        word result = 0;
#pragma unroll
        for (int at = 0; at < 32; at += bits) result += (word)of((int)(Lane)(a >> at), (int)(Lane)(b >> at));
        return result;
    }
    static __attribute__((device, always_inline, nodebug)) int within(int x) {
        return x > highest ? highest : x < lowest ? lowest : x;
    }
};

// Defines an operation on one lane of each word.
#define __CUDA_MATH_LANE(name, result)                                                             \
    template <class Lane> struct lane_##name {                                                     \
        __attribute__((device, always_inline, nodebug)) int operator()(int x, int y) const { return result; } \
    };
__CUDA_MATH_LANE(add, x + y)
__CUDA_MATH_LANE(sub, x - y)
__CUDA_MATH_LANE(add_within, lanes<Lane>::within(x + y))
__CUDA_MATH_LANE(sub_within, lanes<Lane>::within(x - y))
__CUDA_MATH_LANE(average_up, (x + y + 1) >> 1)
__CUDA_MATH_LANE(average_down, (x + y) >> 1)
__CUDA_MATH_LANE(max, x > y ? x : y)
__CUDA_MATH_LANE(min, x < y ? x : y)
__CUDA_MATH_LANE(difference, x > y ? x - y : y - x)
__CUDA_MATH_LANE(abs, x < 0 ? -x : x)
__CUDA_MATH_LANE(abs_within, lanes<Lane>::within(x < 0 ? -x : x))
__CUDA_MATH_LANE(neg, -x)
__CUDA_MATH_LANE(neg_within, lanes<Lane>::within(-x))
#define __CUDA_MATH_COMPARED(name, compared)            \
    __CUDA_MATH_LANE(set##name, x compared y ? 1 : 0) \
    __CUDA_MATH_LANE(cmp##name, x compared y ? -1 : 0)
__CUDA_MATH_COMPARED(eq, ==)
__CUDA_MATH_COMPARED(ne, !=)
__CUDA_MATH_COMPARED(lt, <)
__CUDA_MATH_COMPARED(le, <=)
__CUDA_MATH_COMPARED(gt, >)
__CUDA_MATH_COMPARED(ge, >=)
#undef __CUDA_MATH_COMPARED
#undef __CUDA_MATH_LANE

} // namespace __cuda_math

// Templates, so that programs that call none of them do not pay their compile time.
#define __CUDA_MATH_VIDEO(name, Lane, how)                                                   \
    template <int = 0> __CUDA_MATH unsigned int name(unsigned int a, unsigned int b) {                          \
        return __cuda_math::lanes<Lane>::each(a, b, __cuda_math::lane_##how<Lane>());        \
    }
#define __CUDA_MATH_VIDEO_ONE(name, Lane, how)                                               \
    template <int = 0> __CUDA_MATH unsigned int name(unsigned int a) {                                          \
        return __cuda_math::lanes<Lane>::each(a, 0, __cuda_math::lane_##how<Lane>());        \
    }
#define __CUDA_MATH_VIDEO_TOTAL(name, Lane)                                                  \
    template <int = 0> __CUDA_MATH unsigned int name(unsigned int a, unsigned int b) {                          \
        return __cuda_math::lanes<Lane>::total(a, b, __cuda_math::lane_difference<Lane>());  \
    }
#define __CUDA_MATH_VIDEO_COMPARED(name, number, Signed, Unsigned)                           \
    __CUDA_MATH_VIDEO(__vset##name##s##number, Signed, set##name)                            \
    __CUDA_MATH_VIDEO(__vset##name##u##number, Unsigned, set##name)                          \
    __CUDA_MATH_VIDEO(__vcmp##name##s##number, Signed, cmp##name)                            \
    __CUDA_MATH_VIDEO(__vcmp##name##u##number, Unsigned, cmp##name)
#define __CUDA_MATH_VIDEO_ALL(number, Signed, Unsigned)                                      \
    __CUDA_MATH_VIDEO(__vadd##number, Unsigned, add)                                         \
    __CUDA_MATH_VIDEO(__vaddss##number, Signed, add_within)                                  \
    __CUDA_MATH_VIDEO(__vaddus##number, Unsigned, add_within)                                \
    __CUDA_MATH_VIDEO(__vsub##number, Unsigned, sub)                                         \
    __CUDA_MATH_VIDEO(__vsubss##number, Signed, sub_within)                                  \
    __CUDA_MATH_VIDEO(__vsubus##number, Unsigned, sub_within)                                \
    __CUDA_MATH_VIDEO(__vavgs##number, Signed, average_up)                                   \
    __CUDA_MATH_VIDEO(__vavgu##number, Unsigned, average_up)                                 \
    __CUDA_MATH_VIDEO(__vhaddu##number, Unsigned, average_down)                              \
    __CUDA_MATH_VIDEO(__vmaxs##number, Signed, max)                                          \
    __CUDA_MATH_VIDEO(__vmaxu##number, Unsigned, max)                                        \
    __CUDA_MATH_VIDEO(__vmins##number, Signed, min)                                          \
    __CUDA_MATH_VIDEO(__vminu##number, Unsigned, min)                                        \
    __CUDA_MATH_VIDEO(__vabsdiffs##number, Signed, difference)                               \
    __CUDA_MATH_VIDEO(__vabsdiffu##number, Unsigned, difference)                             \
    __CUDA_MATH_VIDEO_TOTAL(__vsads##number, Signed)                                         \
    __CUDA_MATH_VIDEO_TOTAL(__vsadu##number, Unsigned)                                       \
    __CUDA_MATH_VIDEO_ONE(__vabs##number, Signed, abs)                                       \
    __CUDA_MATH_VIDEO_ONE(__vabsss##number, Signed, abs_within)                              \
    __CUDA_MATH_VIDEO_ONE(__vneg##number, Signed, neg)                                       \
    __CUDA_MATH_VIDEO_ONE(__vnegss##number, Signed, neg_within)                              \
    __CUDA_MATH_VIDEO(__vseteq##number, Unsigned, seteq)                                     \
    __CUDA_MATH_VIDEO(__vsetne##number, Unsigned, setne)                                     \
    __CUDA_MATH_VIDEO(__vcmpeq##number, Unsigned, cmpeq)                                     \
    __CUDA_MATH_VIDEO(__vcmpne##number, Unsigned, cmpne)                                     \
    __CUDA_MATH_VIDEO_COMPARED(lt, number, Signed, Unsigned)                                 \
    __CUDA_MATH_VIDEO_COMPARED(le, number, Signed, Unsigned)                                 \
    __CUDA_MATH_VIDEO_COMPARED(gt, number, Signed, Unsigned)                                 \
    __CUDA_MATH_VIDEO_COMPARED(ge, number, Signed, Unsigned)

__CUDA_MATH_VIDEO_ALL(2, short, unsigned short)
__CUDA_MATH_VIDEO_ALL(4, signed char, unsigned char)
#undef __CUDA_MATH_VIDEO
#undef __CUDA_MATH_VIDEO_ONE
#undef __CUDA_MATH_VIDEO_TOTAL
#undef __CUDA_MATH_VIDEO_COMPARED
#undef __CUDA_MATH_VIDEO_ALL
