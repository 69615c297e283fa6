// Lists and arrays in memory that threads allocate while they run.

#include <cstdio>

struct Node {
    int value;
    Node *next;
    __device__ Node(int value, Node *next) : value(value), next(next) {}
};

// Each thread allocates a list and an array, waits for its block, checks both and frees them.
__global__ void lists(int *wrong, int rounds) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    int nodes = 1 + id % 5, length = 1 + id % 100;
    for (int round = 0; round < rounds; round++) {
        Node *first = nullptr;
        for (int i = 0; i < nodes; i++) first = new Node(id * 31 + i + round, first);
        char *bytes = new char[length];
        for (int i = 0; i < length; i++) bytes[i] = (char)(id + i);
        if ((size_t)first % 16 || (size_t)bytes % 16) atomicAdd(wrong, 1);
        __syncthreads();
        for (int i = nodes - 1; first; i--) {
            if (first->value != id * 31 + i + round) atomicAdd(wrong, 1);
            Node *gone = first;
            first = first->next;
            delete gone;
        }
        for (int i = 0; i < length; i++) {
            if (bytes[i] != (char)(id + i)) atomicAdd(wrong, 1);
        }
        delete[] bytes;
    }
}

// Memory allocated by one kernel may be freed by another.
__device__ int *kept;
__global__ void keep() {
    kept = (int *)malloc(100);
    kept[0] = 7;
    int here[2], *placed = new (here) int(5);
    kept[1] = *placed;
}
__global__ void drop(int *out) {
    out[0] = kept[0] + kept[1];
    free(kept);
}

// An allocation that exceeds the heap returns null.
__global__ void full(int *out) {
    void *volatile first = malloc(size_t(1) << 30), *volatile second = new char[1u << 30];
    out[0] = first == nullptr;
    out[1] = second == nullptr;
}

int main() {
    size_t bytes;
    cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize);
    cudaError_t set = cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20);
    int *out;
    cudaMallocManaged(&out, 64);
    lists<<<40, 128>>>(out, 10);
    keep<<<1, 1>>>();
    drop<<<1, 1>>>(out + 1);
    full<<<1, 1>>>(out + 2);
    cudaError_t error = cudaDeviceSynchronize();
    printf("%zu %d: %d %d %d %d: %d\n", bytes, set, out[0], out[1], out[2], out[3], error);
    cudaFree(out);
    return error;
}
