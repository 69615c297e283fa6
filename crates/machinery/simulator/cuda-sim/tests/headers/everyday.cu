// Program that uses common features: the C++ library, printf, memory functions, atomics, loads, votes.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <cuda_runtime.h>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

struct Step {
    int by;
    __host__ __device__ int operator()(int x) const { return x + by; }
};
template <typename F> __host__ __device__ int twice(F f, int x) { return f(f(x)); }

// Returns the mask of lanes with the same number if the 32-bit and 64-bit matches agree; 0 if all lanes match.
__device__ int matching(int number) {
    int one32, one64;
    const unsigned int all = __match_all_sync(~0u, number, &one32) | __match_all_sync(~0u, (long long)number, &one64);
    const unsigned int any = __match_any_sync(~0u, number) & __match_any_sync(~0u, (unsigned long long)number);
    return all == 0 && one32 == 0 && one64 == 0 ? (int)any : 0;
}

extern "C" __global__ void __launch_bounds__(64) everyday(float4 *to, const float4 *from, int *words,
                                                          double *sum, const int n) {
    __shared__ float shared[64];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
    assert(i < 1000);
    shared[threadIdx.x] = (float)i;
    __syncthreads();
    char bytes[16];
    memset(bytes, i, sizeof bytes);
    memcpy(words + 64 + i, bytes + 3, 4);
    atomicAdd(sum, std::min(1.0, 2.0) + std::max(3.0f, shared[0]));
    atomicMax_block(words + 200, i);
    const float4 cached = __ldcs(from + 1);
    __stcg(words + 201, (int)cached.y);
    const uint32_t byte = __ldcv((const unsigned char *)words + 804);
    std::complex<float> c(1, 2);
    c = c * c;
    auto lambda = [=] __host__ __device__(int x) { return x * n; };
    const int sums[] = {
        (int)__ballot_sync(~0u, i & 1), __shfl_down_sync(~0u, i, 1), __popc(i), (int)byte,
        (int)c.imag(), twice(Step{3}, i), twice(lambda, 1), (int)__isShared(shared),
        std::numeric_limits<float>::max() == FLT_MAX, (int)__funnelshift_l(1u << 31, 1, 1),
        __syncthreads_count(i < 5), matching(i / 8), __any_sync(~0u, i == 3),
        INT_MAX == std::numeric_limits<int>::max(), (int)(M_PI * 1000), warpSize};
    int total = 0;
    for (int k = 0; k < 16; k++) total = total * 31 + sums[k];
    words[i] = total;
    if (i == 1) printf("%d of %s: %.2f\n", i, "everyday", from[0].x);
}

int main() {
    std::vector<int> numbers(3);
    auto shared = std::make_shared<std::string>("text");
    std::cout << *shared << std::max(numbers[0], 2) << max(3, 4) << rsqrtf(4.0f) << twice(Step{1}, 2);
    float4 *to = nullptr;
    cudaMalloc(&to, 64 * sizeof(float4));
    everyday<<<dim3(1), 64>>>(to, to, nullptr, nullptr, 64);
    const float3 v = make_float3(1, 2, 3);
    return v.x > 2 || cudaDeviceSynchronize() != cudaSuccess;
}
