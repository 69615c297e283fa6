// Lei Mao's "CUDA Constant Memory": the same addition with the values in global and in constant memory.
//
// Arguments, as in the note: ACCESS_PATTERN BLOCK_SIZE NUMBER_OF_SUMS, for example
// one_access_per_warp 1024 12800000. Without arguments, all four patterns run with 1024 and 128000.

#include <functional>
#include <string>
#include <vector>

#include "check.h"

// The note's names for the checks of check.h.
#define CHECK_CUDA_ERROR(call) CHECK(call)
#define CHECK_LAST_CUDA_ERROR() CHECK(cudaGetLastError())

// All of constant memory: 64 KB, 16,384 values.
constexpr unsigned int N{64U * 1024U / sizeof(int)};
__constant__ int const_values[N];

constexpr unsigned int magic_number{1357U};

enum struct AccessPattern { OneAccessPerBlock, OneAccessPerWarp, OneAccessPerThread, PseudoRandom };

// Returns the index of the value that a thread adds.
__host__ __device__ inline unsigned int value_index(AccessPattern access_pattern, unsigned int block_id,
                                                    unsigned int thread_id, unsigned int num_values)
{
    switch (access_pattern) {
    case AccessPattern::OneAccessPerBlock:
        return block_id % num_values;
    case AccessPattern::OneAccessPerWarp:
        return thread_id / 32U % num_values;
    case AccessPattern::OneAccessPerThread:
        return thread_id % num_values;
    default:
        return thread_id * magic_number % num_values;
    }
}

void add_constant_cpu(int *sums, const int *inputs, const int *values, unsigned int num_sums,
                      unsigned int num_values, unsigned int block_size, AccessPattern access_pattern)
{
    for (unsigned int i{0U}; i < num_sums; i++)
        sums[i] = inputs[i] + values[value_index(access_pattern, i / block_size, i % block_size, num_values)];
}

__global__ void add_constant_global_memory(int *sums, const int *inputs, const int *values, unsigned int num_sums,
                                           unsigned int num_values, AccessPattern access_pattern)
{
    unsigned int i{blockIdx.x * blockDim.x + threadIdx.x};
    unsigned int index{value_index(access_pattern, blockIdx.x, threadIdx.x, num_values)};
    if (i < num_sums)
        sums[i] = inputs[i] + values[index];
}

__global__ void add_constant_constant_memory(int *sums, const int *inputs, unsigned int num_sums,
                                             AccessPattern access_pattern)
{
    unsigned int i{blockIdx.x * blockDim.x + threadIdx.x};
    unsigned int index{value_index(access_pattern, blockIdx.x, threadIdx.x, N)};
    if (i < num_sums)
        sums[i] = inputs[i] + const_values[index];
}

void launch_add_constant_global_memory(int *sums, const int *inputs, const int *values, unsigned int num_sums,
                                       unsigned int num_values, unsigned int block_size,
                                       AccessPattern access_pattern, cudaStream_t stream)
{
    unsigned int blocks{(num_sums + block_size - 1) / block_size};
    add_constant_global_memory<<<blocks, block_size, 0, stream>>>(sums, inputs, values, num_sums, num_values,
                                                                  access_pattern);
    CHECK_LAST_CUDA_ERROR();
}

void launch_add_constant_constant_memory(int *sums, const int *inputs, unsigned int num_sums,
                                         unsigned int block_size, AccessPattern access_pattern,
                                         cudaStream_t stream)
{
    unsigned int blocks{(num_sums + block_size - 1) / block_size};
    add_constant_constant_memory<<<blocks, block_size, 0, stream>>>(sums, inputs, num_sums, access_pattern);
    CHECK_LAST_CUDA_ERROR();
}

// Returns the mean time of a launch in ms, over `num_repeats` launches after `num_warmups` that are not timed.
float measure_performance(const std::function<void(cudaStream_t)> &bound_function, cudaStream_t stream,
                          unsigned int num_repeats = 100, unsigned int num_warmups = 100)
{
    cudaEvent_t start, stop;
    CHECK_CUDA_ERROR(cudaEventCreate(&start));
    CHECK_CUDA_ERROR(cudaEventCreate(&stop));
    for (unsigned int i{0U}; i < num_warmups; i++)
        bound_function(stream);
    CHECK_CUDA_ERROR(cudaStreamSynchronize(stream));

    CHECK_CUDA_ERROR(cudaEventRecord(start, stream));
    for (unsigned int i{0U}; i < num_repeats; i++)
        bound_function(stream);
    CHECK_CUDA_ERROR(cudaEventRecord(stop, stream));
    CHECK_CUDA_ERROR(cudaEventSynchronize(stop));
    float time;
    CHECK_CUDA_ERROR(cudaEventElapsedTime(&time, start, stop));
    CHECK_CUDA_ERROR(cudaEventDestroy(start));
    CHECK_CUDA_ERROR(cudaEventDestroy(stop));
    return time / num_repeats;
}

const char *const PATTERNS[] = {"one_access_per_block", "one_access_per_warp", "one_access_per_thread",
                                "pseudo_random"};

// Sets the parameters from the three arguments; `patterns` receives the numbers of the patterns to run.
void parse_args(int argc, char **argv, std::vector<int> &patterns, unsigned int &block_size, unsigned int &num_sums)
{
    for (int pattern = 0; pattern < 4; pattern++)
        if (argc == 1 || argv[1] == std::string(PATTERNS[pattern]))
            patterns.push_back(pattern);
    if (argc == 4) {
        block_size = atoi(argv[2]);
        num_sums = atoi(argv[3]);
    }
    if ((argc != 1 && argc != 4) || patterns.empty() || block_size == 0 || num_sums == 0) {
        fprintf(stderr, "Usage: %s [<access pattern> <block size> <number of sums>]\n", argv[0]);
        exit(EXIT_FAILURE);
    }
}

int main(int argc, char **argv)
{
    std::vector<int> patterns;
    unsigned int block_size{1024U};
    unsigned int num_sums{128000U};
    parse_args(argc, argv, patterns, block_size, num_sums);
    const size_t bytes = num_sums * sizeof(int);

    cudaStream_t stream;
    CHECK_CUDA_ERROR(cudaStreamCreate(&stream));

    // The values, in global and in constant memory.
    int h_values[N];
    for (unsigned int i{0U}; i < N; i++)
        h_values[i] = i;
    int *d_values;
    CHECK_CUDA_ERROR(cudaMallocAsync(&d_values, sizeof h_values, stream));
    CHECK_CUDA_ERROR(cudaMemcpyAsync(d_values, h_values, sizeof h_values, cudaMemcpyHostToDevice, stream));
    CHECK_CUDA_ERROR(cudaMemcpyToSymbolAsync(const_values, h_values, sizeof h_values, 0, cudaMemcpyHostToDevice,
                                             stream));

    // The inputs differ, so that adding to the wrong one is detected.
    std::vector<int> inputs(num_sums), reference_sums(num_sums);
    std::vector<int> sums_from_constant(num_sums), sums_from_global(num_sums);
    for (unsigned int i{0U}; i < num_sums; i++)
        inputs[i] = 3 * i;
    int *d_inputs_for_constant, *d_inputs_for_global, *d_sums_from_constant, *d_sums_from_global;
    for (int **buffer : {&d_inputs_for_constant, &d_inputs_for_global, &d_sums_from_constant, &d_sums_from_global})
        CHECK_CUDA_ERROR(cudaMallocAsync(buffer, bytes, stream));
    for (int *buffer : {d_inputs_for_constant, d_inputs_for_global})
        CHECK_CUDA_ERROR(cudaMemcpyAsync(buffer, inputs.data(), bytes, cudaMemcpyHostToDevice, stream));
    CHECK_CUDA_ERROR(cudaStreamSynchronize(stream));

    size_t wrong = 0;
    for (int pattern : patterns) {
        AccessPattern access_pattern{AccessPattern(pattern)};
        auto bound_function_constant_memory = [&](cudaStream_t stream) {
            launch_add_constant_constant_memory(d_sums_from_constant, d_inputs_for_constant, num_sums, block_size,
                                                access_pattern, stream);
        };
        auto bound_function_global_memory = [&](cudaStream_t stream) {
            launch_add_constant_global_memory(d_sums_from_global, d_inputs_for_global, d_values, num_sums, N,
                                              block_size, access_pattern, stream);
        };

        // Verify first, then measure.
        for (int *buffer : {d_sums_from_constant, d_sums_from_global})
            CHECK_CUDA_ERROR(cudaMemsetAsync(buffer, 0xff, bytes, stream));
        add_constant_cpu(reference_sums.data(), inputs.data(), h_values, num_sums, N, block_size, access_pattern);
        bound_function_global_memory(stream);
        bound_function_constant_memory(stream);
        CHECK_CUDA_ERROR(cudaMemcpyAsync(sums_from_constant.data(), d_sums_from_constant, bytes,
                                         cudaMemcpyDeviceToHost, stream));
        CHECK_CUDA_ERROR(cudaMemcpyAsync(sums_from_global.data(), d_sums_from_global, bytes,
                                         cudaMemcpyDeviceToHost, stream));
        CHECK_CUDA_ERROR(cudaStreamSynchronize(stream));
        for (unsigned int i{0U}; i < num_sums; i++) {
            wrong += sums_from_constant[i] != reference_sums[i];
            wrong += sums_from_global[i] != reference_sums[i];
        }

        float latency_constant_memory{measure_performance(bound_function_constant_memory, stream)};
        float latency_global_memory{measure_performance(bound_function_global_memory, stream)};
        printf("%s: constant memory %.5f ms, global memory %.5f ms\n", PATTERNS[pattern], latency_constant_memory,
               latency_global_memory);
    }

    CHECK_CUDA_ERROR(cudaStreamDestroy(stream));
    CHECK_CUDA_ERROR(cudaFree(d_values));
    for (int *buffer : {d_inputs_for_constant, d_inputs_for_global, d_sums_from_constant, d_sums_from_global})
        CHECK_CUDA_ERROR(cudaFree(buffer));
    return verdict("sums", wrong);
}
