#include "cuda_device.h"

// In millions.
constexpr double time(double bytes, double operations) {
    return bytes / 4 > operations / 60 ? bytes / 4 : operations / 60;
}
#define EACH(of) of(12 * 100, 2 * 100), of(3 * 36, 2 * 27000), of(8 * 27000, 2 * 27000), of(8 * 100, 180 * 100), of(4 * 1000, 1000), of(4 * 10, 6000 * 10)
#define WHOLE(b, o) (unsigned int)(time(b, o) + 0.5)
#define ROOF(b, o) (o) / 60.0 > (b) / 4.0
extern "C" {
__device__ unsigned int microseconds[6] = {EACH(WHOLE)};
__device__ unsigned int computes[6] = {EACH(ROOF)};
}
