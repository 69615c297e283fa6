// libcu++: barriers, pipelines, atomics and parts of cuda::std, compared with results computed on the host.
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/chrono>
#include <cuda/std/complex>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>

#include <cstdio>
#include <numeric>
#include <vector>

constexpr int BLOCK = 128, TILES = 9, STAGES = 2, BLOCKS = 24;

/// Sums tiles that a pipeline of two stages copies to shared memory.
__global__ void sum_tiles(const int *in, int *out) {
    __shared__ int tiles[STAGES][BLOCK];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    const auto block = cooperative_groups::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    const auto fetch = [&](int tile) {
        pipeline.producer_acquire();
        if (tile < TILES)
            cuda::memcpy_async(block, tiles[tile % STAGES], in + tile * BLOCK, cuda::aligned_size_t<4>(BLOCK * 4),
                               pipeline);
        pipeline.producer_commit();
    };
    fetch(0);
    int sum = 0;
    for (int tile = 0; tile < TILES; tile++) {
        fetch(tile + 1);
        pipeline.consumer_wait();
        sum += tiles[tile % STAGES][BLOCK - 1 - threadIdx.x];
        // Before libcu++ 2, `producer_acquire` does not wait until the other threads have released the stage.
        block.sync();
        pipeline.consumer_release();
    }
    out[threadIdx.x] = sum;
}

/// Reverses a tile that arrives asynchronously, twice, with a phase of the barrier for each.
__global__ void reverse(const int *in, int *out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int tile[BLOCK];
    const auto block = cooperative_groups::this_thread_block();
    if (threadIdx.x == 0) init(&barrier, BLOCK);
    block.sync();
    for (int phase = 0; phase < 2; phase++) {
        cuda::memcpy_async(block, tile, in + phase * BLOCK, cuda::aligned_size_t<4>(BLOCK * 4), barrier);
        barrier.arrive_and_wait();
        out[phase * BLOCK + threadIdx.x] = tile[BLOCK - 1 - threadIdx.x];
        barrier.arrive_and_wait();
    }
}

struct Shared {
    cuda::atomic<int, cuda::thread_scope_device> tickets{0}, total{0};
    cuda::atomic<unsigned long long, cuda::thread_scope_device> longest{0};
    int sums[BLOCKS];
};

/// Adds the blocks' sums in the block that arrives last.
__global__ void last_block(Shared *shared) {
    cuda::atomic_ref<int, cuda::thread_scope_device> sum(shared->sums[blockIdx.x]);
    sum.fetch_add(threadIdx.x + blockIdx.x, cuda::memory_order_relaxed);
    shared->longest.fetch_max(blockIdx.x * 1000ull + threadIdx.x, cuda::memory_order_relaxed);
    __shared__ bool is_last;
    __syncthreads();
    if (threadIdx.x == 0) is_last = shared->tickets.fetch_add(1, cuda::memory_order_acq_rel) == BLOCKS - 1;
    __syncthreads();
    if (is_last && threadIdx.x < BLOCKS) shared->total += shared->sums[threadIdx.x];
}

struct Order {
    cuda::atomic<int, cuda::thread_scope_device> flag{0};
    cuda::counting_semaphore<cuda::thread_scope_device, 1> semaphore{1};
    cuda::latch<cuda::thread_scope_device> latch{64};
    int value = 0, sum = 0, seen = 0;
};

/// The first block hands a value over to the second, whose threads add it one after the other and wait for the sum.
__global__ void hand_over(Order *order) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            order->value = 41;
            order->flag.store(1, cuda::memory_order_release);
            order->flag.notify_all();
        }
        return;
    }
    order->flag.wait(0, cuda::memory_order_acquire);
    order->semaphore.acquire();
    order->sum += order->value;
    order->semaphore.release();
    order->latch.arrive_and_wait();
    if (threadIdx.x == 0) order->seen = order->sum;
}

/// Computes with types of cuda::std.
__host__ __device__ double standard(int i) {
    using namespace cuda::std;
    array<int, 3> numbers{{i, 2 * i, 3 * i}};
    const auto pair = make_tuple(numbers[1], complex<double>(i, 1));
    const complex<double> square = get<1>(pair) * get<1>(pair);
    static_assert(is_same<decay_t<const int &>, int>::value, "");
    const chrono::milliseconds time = chrono::seconds(i);
    return get<0>(pair) + square.real() + time.count();
}
__global__ void on_device(double *out) { out[threadIdx.x] = standard(threadIdx.x); }

void report(const char *name, bool is_correct) { printf("%s: %s\n", name, is_correct ? "correct" : "wrong"); }

int main() {
    std::vector<int> input(TILES * BLOCK), result(2 * BLOCK);
    for (size_t i = 0; i < input.size(); i++) input[i] = i * i % 1009;
    int *in, *out;
    cudaMalloc(&in, input.size() * sizeof(int));
    cudaMalloc(&out, result.size() * sizeof(int));
    cudaMemcpy(in, input.data(), input.size() * sizeof(int), cudaMemcpyHostToDevice);
    const auto fetch = [&](size_t count) { cudaMemcpy(result.data(), out, count * sizeof(int), cudaMemcpyDeviceToHost); };

    sum_tiles<<<1, BLOCK>>>(in, out);
    fetch(BLOCK);
    bool is_correct = true;
    for (int i = 0; i < BLOCK; i++) {
        int sum = 0;
        for (int tile = 0; tile < TILES; tile++) sum += input[tile * BLOCK + BLOCK - 1 - i];
        is_correct &= result[i] == sum;
    }
    report("pipeline", is_correct);

    reverse<<<1, BLOCK>>>(in, out);
    fetch(2 * BLOCK);
    is_correct = true;
    for (int i = 0; i < 2 * BLOCK; i++) is_correct &= result[i] == input[i / BLOCK * BLOCK + BLOCK - 1 - i % BLOCK];
    report("barrier", is_correct);

    Shared *shared;
    cudaMallocManaged(&shared, sizeof(Shared));
    new (shared) Shared();
    for (int &sum : shared->sums) sum = 0;
    last_block<<<BLOCKS, BLOCK>>>(shared);
    cudaDeviceSynchronize();
    const int total = BLOCKS * (BLOCK * (BLOCK - 1) / 2) + BLOCK * (BLOCKS * (BLOCKS - 1) / 2);
    report("atomic", shared->total == total && shared->longest == (BLOCKS - 1) * 1000 + BLOCK - 1);

    Order *order;
    cudaMallocManaged(&order, sizeof(Order));
    new (order) Order();
    hand_over<<<2, 64>>>(order);
    cudaDeviceSynchronize();
    report("flag, semaphore and latch", order->seen == 64 * 41);

    double *numbers, host_numbers[BLOCK];
    cudaMalloc(&numbers, sizeof host_numbers);
    on_device<<<1, BLOCK>>>(numbers);
    cudaMemcpy(host_numbers, numbers, sizeof host_numbers, cudaMemcpyDeviceToHost);
    is_correct = true;
    for (int i = 0; i < BLOCK; i++) is_correct &= host_numbers[i] == standard(i);
    report("cuda::std", is_correct);
    for (void *memory : {(void *)in, (void *)out, (void *)shared, (void *)order, (void *)numbers})
        cudaFree(memory);
}
