// A stencil with its coefficients in constant memory, and read through the read-only cache;
// timed over several launches, as a profiler does.

#include <cmath>
#include <vector>

#include "check.h"

const int RADIUS = 4;

__constant__ float weights[RADIUS + 1];

template <bool CONSTANT>
__global__ void stencil(const float *in, float *out, const float *__restrict__ coefficients, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float sum = 0;
    for (int d = 1; d <= RADIUS; d++) {
        float weight = CONSTANT ? weights[d] : __ldg(&coefficients[d]);
        sum += weight * (in[i + RADIUS + d] - in[i + RADIUS - d]);
    }
    out[i] = sum;
}

int main()
{
    const int count = 1 << 18;
    std::vector<float> in(count + 2 * RADIUS), out(count);
    const float on_host[RADIUS + 1] = {0, 0.8f, -0.2f, 0.0381f, -0.00357f};
    for (size_t i = 0; i < in.size(); i++)
        in[i] = sinf(0.01f * i);
    float *gi, *go, *gw;
    CHECK(cudaMalloc(&gi, in.size() * sizeof(float)));
    CHECK(cudaMalloc(&go, count * sizeof(float)));
    CHECK(cudaMalloc(&gw, sizeof on_host));
    CHECK(cudaMemcpy(gi, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(gw, on_host, sizeof on_host, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(weights, on_host, sizeof on_host));
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));

    size_t wrong = 0;
    for (bool constant : {true, false}) {
        const int launches = 4;
        CHECK(cudaEventRecord(begin));
        for (int n = 0; n < launches; n++) {
            if (constant)
                stencil<true><<<(count + 255) / 256, 256>>>(gi, go, gw, count);
            else
                stencil<false><<<(count + 255) / 256, 256>>>(gi, go, gw, count);
        }
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        printf("%s: %.5f ms a launch\n", constant ? "constant memory" : "read-only cache", ms / launches);
        CHECK(cudaMemcpy(out.data(), go, count * sizeof(float), cudaMemcpyDeviceToHost));
        for (int i = 0; i < count; i++) {
            double sum = 0;
            for (int d = 1; d <= RADIUS; d++)
                sum += (double)on_host[d] * ((double)in[i + RADIUS + d] - in[i + RADIUS - d]);
            wrong += !(fabs(sum - out[i]) <= 1e-6);
        }
        CHECK(cudaMemset(go, 0xff, count * sizeof(float)));
    }
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    CHECK(cudaFree(gi));
    CHECK(cudaFree(go));
    CHECK(cudaFree(gw));
    return verdict("derivatives", wrong);
}
