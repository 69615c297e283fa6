// Times the kernels of an unmodified program: linked with --wrap=cudaLaunchKernel, this file intercepts
// calls of the runtime. Writes the CPU time of each kernel's launches, all threads together, to the
// file that KERNEL_TIMES names: one line per kernel with its launches, seconds and name.

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>

#include <cuda_runtime.h>
#include <cxxabi.h>

struct Times
{
    struct Kernel
    {
        long launches;
        double seconds;
    };
    std::map<std::string, Kernel> kernels;

    ~Times()
    {
        const char *path = getenv("KERNEL_TIMES");
        FILE *file = path ? fopen(path, "w") : nullptr;
        if (!file)
            return;
        for (const auto &one : kernels)
        {
            char *name = abi::__cxa_demangle(one.first.c_str(), nullptr, nullptr, nullptr);
            fprintf(file, "%ld %.9f %s\n", one.second.launches, one.second.seconds, name ? name : one.first.c_str());
            free(name);
        }
        fclose(file);
    }
};

static Times times;

static double seconds()
{
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

extern "C" cudaError_t __real_cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                               size_t shared, cudaStream_t stream);

extern "C" cudaError_t __wrap_cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                               size_t shared, cudaStream_t stream)
{
    const char *name = "";
    cudaFuncGetName(&name, kernel);
    cudaDeviceSynchronize();
    double start = seconds();
    cudaError_t error = __real_cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
    cudaDeviceSynchronize();
    Times::Kernel &of = times.kernels[name];
    of.launches++;
    of.seconds += seconds() - start;
    return error;
}
