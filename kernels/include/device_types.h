// The rounding modes of conversions.

#pragma once
#define __DEVICE_TYPES_H__ // guard that programs test

enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };
