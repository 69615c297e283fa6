// Includes headers of CUDA: the smallest number is -CUDART_INF_F.

#include <math_constants.h>
#include <sm_30_intrinsics.h>

// Threads per block.
#define THREADS 128

// Computes out[i] = e^in[i] / (e^in[0] + e^in[1] + ...) in rows of `columns` numbers, one block per row.
extern "C" __global__ void softmax(const float *in, float *out, int columns) {
    __shared__ float shared[THREADS];
    const float *row = in + blockIdx.x * columns;
    float largest = -CUDART_INF_F;
    for (int i = threadIdx.x; i < columns; i += THREADS) largest = fmaxf(largest, row[i]);
    shared[threadIdx.x] = largest;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] = fmaxf(shared[threadIdx.x], shared[threadIdx.x + half]);
        __syncthreads();
    }
    float greatest = shared[0];
    // All threads have read it before the array is reused.
    __syncthreads();
    float own = 0;
    for (int i = threadIdx.x; i < columns; i += THREADS) own += __expf(row[i] - greatest);
    shared[threadIdx.x] = own;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] = shared[threadIdx.x] + shared[threadIdx.x + half];
        __syncthreads();
    }
    float sum = shared[0];
    for (int i = threadIdx.x; i < columns; i += THREADS)
        out[blockIdx.x * columns + i] = __expf(row[i] - greatest) / sum;
}
