#include "cuda_device.h"

constexpr unsigned int least(unsigned int a, unsigned int b) { return a < b ? a : b; }
constexpr unsigned int held(unsigned int threads, unsigned int registers, unsigned int shared) {
    return least(least(32, 2048 / threads),
                 least(16384 / ((32 * registers + 255) / 256 * 256) * 4 / (threads / 32),
                       233472 / (shared + 1024)));
}
#define EACH(of) of(256, 32, 0), of(256, 64, 0), of(32, 32, 0), of(128, 32, 49152), of(1024, 40, 0), of(96, 70, 0)
#define WARPS(t, r, s) (t / 32 * held(t, r, s))
extern "C" {
__device__ unsigned int blocks[6] = {EACH(held)};
__device__ unsigned int warps[6] = {EACH(WARPS)};
}
