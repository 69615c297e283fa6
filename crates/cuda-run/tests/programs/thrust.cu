// Thrust's algorithms on the device, compared with the C++ library's on the host.
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/system_error.h>
#include <thrust/transform.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <vector>

using Device = thrust::device_vector<int>;

struct IsOdd {
    __host__ __device__ bool operator()(int x) const { return x & 1; }
};
struct Scaled {
    int factor;
    __host__ __device__ int operator()(int x, int y) const { return factor * x + y; }
};
struct Weighted {
    __host__ __device__ long operator()(thrust::tuple<int, int> pair) const {
        return (long)thrust::get<0>(pair) * thrust::get<1>(pair);
    }
};

void report(const char *name, bool is_correct) { printf("%s: %s\n", name, is_correct ? "correct" : "wrong"); }

bool equals(const Device &actual, const std::vector<int> &expected) {
    std::vector<int> copy(actual.size());
    thrust::copy(actual.begin(), actual.end(), copy.begin());
    return copy == expected;
}

int main() {
    const int n = 20011;
    std::vector<int> input(n);
    unsigned int state = 7;
    for (int &x : input) x = (state = state * 1664525 + 1013904223) >> 20;
    const Device device(input.begin(), input.end());
    Device result(n);

    std::vector<int> expected = input;
    std::sort(expected.begin(), expected.end());
    result = device;
    thrust::sort(result.begin(), result.end());
    report("sort", equals(result, expected));

    // Equal keys keep the order of their values.
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return input[a] % 100 > input[b] % 100; });
    Device keys(n), values(n);
    thrust::transform(device.begin(), device.end(), keys.begin(), [] __device__(int x) { return x % 100; });
    thrust::sequence(values.begin(), values.end());
    thrust::stable_sort_by_key(keys.begin(), keys.end(), values.begin(), thrust::greater<int>());
    report("stable_sort_by_key", equals(values, order));

    Device unique_end = result;
    expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
    unique_end.erase(thrust::unique(unique_end.begin(), unique_end.end()), unique_end.end());
    report("unique", equals(unique_end, expected));

    const int sum = thrust::reduce(device.begin(), device.end());
    const int largest = thrust::reduce(device.begin(), device.end(), 0, thrust::maximum<int>());
    report("reduce", sum == std::accumulate(input.begin(), input.end(), 0) &&
                         largest == *std::max_element(input.begin(), input.end()));

    expected.resize(n);
    std::partial_sum(input.begin(), input.end(), expected.begin());
    thrust::inclusive_scan(device.begin(), device.end(), result.begin());
    bool is_correct = equals(result, expected);
    thrust::exclusive_scan(device.begin(), device.end(), result.begin(), 0);
    is_correct &= result[0] == 0 && result[n - 1] == expected[n - 2];
    report("scan", is_correct);

    cudaStream_t stream;
    cudaStreamCreate(&stream);
    for (int i = 0; i < n; i++) expected[i] = 3 * input[i] + i;
    thrust::transform(thrust::cuda::par.on(stream), device.begin(), device.end(), thrust::counting_iterator<int>(0),
                      result.begin(), Scaled{3});
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    report("transform", equals(result, expected));

    expected.clear();
    std::copy_if(input.begin(), input.end(), std::back_inserter(expected), IsOdd());
    Device odd(n);
    odd.erase(thrust::copy_if(device.begin(), device.end(), odd.begin(), IsOdd()), odd.end());
    report("copy_if", equals(odd, expected) && thrust::count_if(device.begin(), device.end(), IsOdd()) == (long)odd.size());

    std::map<int, int> sums;
    for (int i = 0; i < n; i++) sums[input[i] % 100] += i;
    thrust::transform(device.begin(), device.end(), keys.begin(), [] __device__(int x) { return x % 100; });
    thrust::sequence(values.begin(), values.end());
    thrust::sort_by_key(keys.begin(), keys.end(), values.begin());
    Device groups(n), totals(n);
    const auto ends = thrust::reduce_by_key(keys.begin(), keys.end(), values.begin(), groups.begin(), totals.begin());
    is_correct = ends.first - groups.begin() == (long)sums.size();
    int group = 0;
    for (const auto &[key, total] : sums) {
        is_correct = is_correct && groups[group] == key && totals[group] == total;
        group++;
    }
    report("reduce_by_key", is_correct);

    const auto pairs = thrust::make_zip_iterator(thrust::make_tuple(device.begin(), values.begin()));
    const long weighted = thrust::transform_reduce(pairs, pairs + n, Weighted(), 0L, thrust::plus<long>());
    const long product = thrust::inner_product(device.begin(), device.end(), values.begin(), 0L);
    report("transform_reduce", weighted == product && product > 0);

    // The host's algorithms, and errors of the runtime as exceptions.
    thrust::host_vector<int> host(device);
    thrust::sort(thrust::host, host.begin(), host.end());
    report("host", std::is_sorted(host.begin(), host.end()));
    try {
        throw thrust::system_error(cudaErrorInvalidValue, thrust::cuda_category(), "a call");
    } catch (const std::exception &error) {
        report("system_error", std::string(error.what()).find("invalid argument") != std::string::npos);
    }
}
