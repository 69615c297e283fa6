// The functions in namespace std, in the inline namespace that the C++ library uses.

#pragma once

#if defined(_LIBCPP_BEGIN_NAMESPACE_STD)
_LIBCPP_BEGIN_NAMESPACE_STD
#elif defined(_GLIBCXX_BEGIN_NAMESPACE_VERSION)
namespace std {
_GLIBCXX_BEGIN_NAMESPACE_VERSION
#else
namespace std {
#endif

using ::abs; using ::acos; using ::acosh; using ::asin; using ::asinh; using ::atan; using ::atan2;
using ::atanh; using ::cbrt; using ::ceil; using ::copysign; using ::cos; using ::cosh; using ::erf;
using ::erfc; using ::exp; using ::exp2; using ::expm1; using ::fabs; using ::fdim; using ::floor;
using ::fma; using ::fmax; using ::fmin; using ::fmod; using ::frexp; using ::hypot; using ::ilogb;
using ::ldexp; using ::lgamma; using ::llrint; using ::llround; using ::log; using ::log10; using ::log1p;
using ::log2; using ::logb; using ::lrint; using ::lround; using ::modf; using ::nearbyint; using ::nextafter; using ::nexttoward;
using ::pow; using ::remainder; using ::remquo; using ::rint; using ::round; using ::scalbln; using ::scalbn;
using ::sin; using ::sinh; using ::sqrt; using ::tan; using ::tanh; using ::tgamma; using ::trunc;
using ::fpclassify; using ::isfinite; using ::isgreater; using ::isgreaterequal; using ::isless;
using ::islessequal; using ::islessgreater; using ::isnormal; using ::isunordered; using ::signbit;
// GNU's library declares other functions under these names in std than in the global namespace.
#if !defined(__GLIBCXX__)
using ::isinf; using ::isnan;
#endif
using ::acosf; using ::acoshf; using ::asinf; using ::asinhf; using ::atan2f; using ::atanf; using ::atanhf;
using ::cbrtf; using ::ceilf; using ::copysignf; using ::cosf; using ::coshf; using ::erfcf; using ::erff;
using ::exp2f; using ::expf; using ::expm1f; using ::fabsf; using ::fdimf; using ::floorf; using ::fmaf;
using ::fmaxf; using ::fminf; using ::fmodf; using ::frexpf; using ::hypotf; using ::ilogbf; using ::ldexpf;
using ::lgammaf; using ::llrintf; using ::llroundf; using ::log10f; using ::log1pf; using ::log2f;
using ::logbf; using ::logf; using ::lrintf; using ::lroundf; using ::modff; using ::nearbyintf;
using ::nextafterf; using ::nexttowardf; using ::powf; using ::remainderf; using ::remquof; using ::rintf; using ::roundf;
using ::scalblnf; using ::scalbnf; using ::sinf; using ::sinhf; using ::sqrtf; using ::tanf; using ::tanhf;
using ::tgammaf; using ::truncf;

#if defined(_LIBCPP_END_NAMESPACE_STD)
_LIBCPP_END_NAMESPACE_STD
#elif defined(_GLIBCXX_BEGIN_NAMESPACE_VERSION)
_GLIBCXX_END_NAMESPACE_VERSION
} // namespace std
#else
} // namespace std
#endif
