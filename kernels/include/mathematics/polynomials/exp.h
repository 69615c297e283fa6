// Polynomials of the device mathematics. `scripts/polynomials --write` makes this file.

#pragma once

#include "../core.h"

namespace __cuda_math {

// (exp(r) - 1 - r) / r²; -0.3476 to 0.3476
__CUDA_MATH float exp_tailf(float x) {
    return horner(x, 0.5f, 0.16666667f, 0.041666463f, 0.0083333105f, 0.00139339f, 0.00019891269f);
}
__CUDA_MATH double exp_tail(double x) {
    return horner(x, 0.5, 0.1666666666666667, 0.04166666666666667, 0.008333333333325973,
                  0.0013888888888883633, 0.0001984126987538548, 2.480158732595111e-05,
                  2.7557254685728803e-06, 2.755727313289604e-07, 2.5105513541847086e-08,
                  2.0914898727175524e-09);
}

// (sinh(x) - x) / x³, of x²; 0 to 1
__CUDA_MATH float sinh_tailf(float x) {
    return horner(x, 0.16666667f, 0.008333339f, 0.00019838102f, 2.8062802e-06f);
}
__CUDA_MATH double sinh_tail(double x) {
    return horner(x, 0.16666666666666666, 0.008333333333333299, 0.00019841269841324198,
                  2.7557319191381816e-06, 2.5052117695907823e-08, 1.6057679623801638e-10,
                  7.746178593018827e-13);
}

// (tanh(x) - x) / x³, of x²; 0 to 0.36
__CUDA_MATH float tanh_tailf(float x) {
    return horner(x, -0.33333334f, 0.13333313f, -0.053961553f, 0.021788321f, -0.008410071f,
                  0.0023707657f);
}
__CUDA_MATH double tanh_tail(double x) {
    return horner(x, -0.3333333333333333, 0.13333333333333205, -0.05396825396808531,
                  0.021869488527368107, -0.008863235292803289, 0.0035921242500086925,
                  -0.0014557958855734635, 0.0005897680994688268, -0.00023795201383924994,
                  9.332432233847448e-05, -3.2086614037935994e-05, 6.934046420988954e-06);
}

} // namespace __cuda_math
