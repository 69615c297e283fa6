// CUB's algorithms of warps, blocks and the device, compared with the C++ library's on the host.
#include <cub/cub.cuh>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

constexpr int BLOCK = 128, ITEMS = 4, TILE = BLOCK * ITEMS, N = 40009, BINS = 16;

/// Sorts a tile, and writes the prefix sums of the sorted keys.
__global__ void sort_and_scan(const int *in, int *sorted, int *sums) {
    using Load = cub::BlockLoad<int, BLOCK, ITEMS, cub::BLOCK_LOAD_TRANSPOSE>;
    using Store = cub::BlockStore<int, BLOCK, ITEMS, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    using Sort = cub::BlockRadixSort<int, BLOCK, ITEMS>;
    using Scan = cub::BlockScan<int, BLOCK>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
        typename Sort::TempStorage sort;
        typename Scan::TempStorage scan;
    } storage;
    int items[ITEMS];
    Load(storage.load).Load(in, items);
    __syncthreads();
    Sort(storage.sort).Sort(items);
    __syncthreads();
    // A store exchanges the items.
    int copy[ITEMS];
    for (int i = 0; i < ITEMS; i++) copy[i] = items[i];
    Store(storage.store).Store(sorted, copy);
    __syncthreads();
    Scan(storage.scan).InclusiveSum(items, items);
    __syncthreads();
    Store(storage.store).Store(sums, items);
}

// CCCL 3 has no cub::Max.
struct Maximum {
    __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};

/// Writes each warp's sum and the inclusive maxima of its lanes.
__global__ void warps(const int *in, int *sums, int *maxima) {
    using Reduce = cub::WarpReduce<int>;
    using Scan = cub::WarpScan<int>;
    __shared__ typename Reduce::TempStorage reduce[BLOCK / 32];
    __shared__ typename Scan::TempStorage scan[BLOCK / 32];
    const int warp = threadIdx.x / 32, value = in[threadIdx.x];
    const int sum = Reduce(reduce[warp]).Sum(value);
    if (threadIdx.x % 32 == 0) sums[warp] = sum;
    int maximum;
    Scan(scan[warp]).InclusiveScan(value, maximum, Maximum());
    maxima[threadIdx.x] = maximum;
}

/// Counts a tile's values and reduces them.
__global__ void count(const int *in, unsigned int *bins, int *sum) {
    using Histogram = cub::BlockHistogram<unsigned char, BLOCK, ITEMS, BINS>;
    using Reduce = cub::BlockReduce<int, BLOCK, cub::BLOCK_REDUCE_RAKING>;
    __shared__ typename Histogram::TempStorage histogram;
    __shared__ typename Reduce::TempStorage reduce;
    __shared__ unsigned int counts[BINS];
    unsigned char items[ITEMS];
    int own = 0;
    for (int i = 0; i < ITEMS; i++) {
        own += in[threadIdx.x * ITEMS + i];
        items[i] = in[threadIdx.x * ITEMS + i] % BINS;
    }
    Histogram(histogram).Histogram(items, counts);
    __syncthreads();
    if (threadIdx.x < BINS) bins[threadIdx.x] = counts[threadIdx.x];
    const int total = Reduce(reduce).Sum(own);
    if (threadIdx.x == 0) *sum = total;
}

template <class T> struct Array {
    T *data;
    explicit Array(size_t count) { cudaMalloc(&data, count * sizeof(T)); }
    explicit Array(const std::vector<T> &from) : Array(from.size()) {
        cudaMemcpy(data, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice);
    }
    ~Array() { cudaFree(data); }
    std::vector<T> take(size_t count) const {
        std::vector<T> copy(count);
        cudaMemcpy(copy.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost);
        return copy;
    }
};

/// Calls a device-wide algorithm twice: for the size of its storage, and to run.
template <class F> void run(F algorithm) {
    size_t bytes = 0;
    algorithm(nullptr, bytes);
    Array<char> storage(bytes);
    const cudaError_t error = algorithm(storage.data, bytes);
    if (error != cudaSuccess) printf("%s\n", cudaGetErrorString(error));
}

void report(const char *name, bool is_correct) { printf("%s: %s\n", name, is_correct ? "correct" : "wrong"); }

int main() {
    std::vector<int> input(N);
    unsigned int state = 3;
    for (int &x : input) x = (state = state * 1664525 + 1013904223) >> 18;
    const Array<int> in(input), out(N), other(N), length(1);

    std::vector<int> tile(input.begin(), input.begin() + TILE), sums(TILE);
    std::sort(tile.begin(), tile.end());
    std::partial_sum(tile.begin(), tile.end(), sums.begin());
    sort_and_scan<<<1, BLOCK>>>(in.data, out.data, other.data);
    report("block sort, scan, load and store", out.take(TILE) == tile && other.take(TILE) == sums);

    warps<<<1, BLOCK>>>(in.data, out.data, other.data);
    const std::vector<int> warp_sums = out.take(BLOCK / 32), maxima = other.take(BLOCK);
    bool is_correct = true;
    for (int i = 0; i < BLOCK; i++) {
        const auto start = input.begin() + i / 32 * 32;
        is_correct &= warp_sums[i / 32] == std::accumulate(start, start + 32, 0);
        is_correct &= maxima[i] == *std::max_element(start, input.begin() + i + 1);
    }
    report("warp reduce and scan", is_correct);

    const Array<unsigned int> bins(BINS);
    count<<<1, BLOCK>>>(in.data, bins.data, out.data);
    std::vector<unsigned int> counts(BINS);
    for (int i = 0; i < TILE; i++) counts[input[i] % BINS]++;
    report("block histogram and reduce", bins.take(BINS) == counts && out.take(1)[0] == sums[TILE - 1]);

    run([&](void *storage, size_t &bytes) { return cub::DeviceReduce::Sum(storage, bytes, in.data, out.data, N); });
    report("device reduce", out.take(1)[0] == std::accumulate(input.begin(), input.end(), 0));

    std::vector<int> expected(N);
    std::partial_sum(input.begin(), input.end() - 1, expected.begin() + 1);
    run([&](void *storage, size_t &bytes) { return cub::DeviceScan::ExclusiveSum(storage, bytes, in.data, out.data, N); });
    report("device scan", out.take(N) == expected);

    std::vector<int> order(N);
    std::iota(order.begin(), order.end(), 0);
    const Array<int> index(order);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return input[a] < input[b]; });
    run([&](void *storage, size_t &bytes) {
        return cub::DeviceRadixSort::SortPairs(storage, bytes, in.data, out.data, index.data, other.data, N);
    });
    report("device radix sort", other.take(N) == order);

    std::vector<int> odd;
    std::copy_if(input.begin(), input.end(), std::back_inserter(odd), [](int x) { return x & 1; });
    run([&](void *storage, size_t &bytes) {
        auto is_odd = [] __device__(int x) { return (x & 1) != 0; };
        return cub::DeviceSelect::If(storage, bytes, in.data, out.data, length.data, N, is_odd);
    });
    report("device select", length.take(1)[0] == (int)odd.size() && out.take(odd.size()) == odd);

    const Array<int> histogram(BINS);
    std::vector<int> levels(BINS);
    for (int x : input) levels[x * BINS >> 14]++;
    run([&](void *storage, size_t &bytes) {
        return cub::DeviceHistogram::HistogramEven(storage, bytes, in.data, histogram.data, BINS + 1, 0, 1 << 14, N);
    });
    report("device histogram", histogram.take(BINS) == levels);

    std::vector<int> runs, lengths, groups(N);
    for (int i = 0; i < N; i++) {
        groups[i] = i / 7 % 5 ? i / 7 : i / 35;
        if (i > 0 && groups[i] == groups[i - 1]) lengths.back()++;
        else runs.push_back(groups[i]), lengths.push_back(1);
    }
    const Array<int> grouped(groups);
    run([&](void *storage, size_t &bytes) {
        return cub::DeviceRunLengthEncode::Encode(storage, bytes, grouped.data, out.data, other.data, length.data, N);
    });
    report("device run-length encode", length.take(1)[0] == (int)runs.size() && out.take(runs.size()) == runs &&
                                           other.take(runs.size()) == lengths);
}
