// A function that calls itself for the next element of a list. Each call needs space on
// the thread's stack, which is 1 KB unless the host requests more, and the list is long.

#include "cuda_device.h"

struct Element {
    float value;
    int next; // -1 for the first element (no predecessor) and the last (no successor)
};

// Folds the list from `at` on, the last element first.
__device__ __noinline__ float folded(const Element *list, int at) {
    if (at < 0) return 0.0f;
    return list[at].value + 0.5f * folded(list, list[at].next); // BUG: mem
}

extern "C" __global__ void deep_recursion(const Element *list, float *result) {
    *result = folded(list, 0);
}

// Sums from the first element on; the weights halve from element to element, so no recursion is needed.
extern "C" __global__ void deep_recursion_right(const Element *list, float *result) {
    float sum = 0.0f, weight = 1.0f;
    for (int at = 0; at >= 0; at = list[at].next) {
        sum += weight * list[at].value;
        weight *= 0.5f;
    }
    *result = sum;
}
