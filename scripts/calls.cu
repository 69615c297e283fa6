// Measures the cost of API calls: an empty launch and a copy of 8 bytes to the device, with the runtime and the
// driver API; the CPU time of the whole process, all threads together, over 100,000 calls (or the given number).
//
//     cargo run --release -p cuda-run -- --quiet scripts/calls.cu
//     nvcc -O3 -o calls scripts/calls.cu -lcuda && ./calls

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <cuda.h>
#include <cuda_runtime.h>

__global__ void empty()
{
}

static double seconds()
{
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

template <class Call>
static void time_it(const char *name, int count, Call call)
{
    call(); // the first call includes one-time initialization
    cudaDeviceSynchronize();
    double start = seconds();
    for (int i = 0; i < count; i++)
        call();
    cudaDeviceSynchronize();
    printf("%-17s %.2f us\n", name, (seconds() - start) / count * 1e6);
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 100000;
    long long word = 1;
    void *device;
    cudaFunction_t function;
    if (cudaMalloc(&device, sizeof word) || cudaGetFuncBySymbol(&function, (const void *)empty))
    {
        fprintf(stderr, "%s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }
    time_it("launch, runtime", count, [] { empty<<<1, 1>>>(); });
    time_it("launch, driver", count, [&] { cuLaunchKernel((CUfunction)function, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0); });
    time_it("copy, runtime", count, [&] { cudaMemcpy(device, &word, sizeof word, cudaMemcpyHostToDevice); });
    time_it("copy, driver", count, [&] { cuMemcpyHtoD((CUdeviceptr)device, &word, sizeof word); });
    return cudaFree(device) != cudaSuccess;
}
