// case: an element's index in `int`, in an array of more than 2^31 elements
// thread: https://github.com/microsoft/onnxruntime/issues/28107
#ifdef GOOD
typedef long long Index;
#else
typedef int Index;
#endif
__global__ void gather(char *out, const char *table, const long long *rows, long long width) {
    Index index = rows[blockIdx.x] * width + threadIdx.x;
    out[blockIdx.x * blockDim.x + threadIdx.x] = table[index]; //~ out-of-bounds access | an `int` that overflowed and became negative
}
int main() {
    const long long width = 48 << 10, rows = 44000, chosen[] = {3, rows - 1};
    char *table, *out;
    long long *device_rows;
    cudaMalloc(&table, rows * width);
    cudaMalloc(&out, 128);
    cudaMalloc(&device_rows, sizeof(chosen));
    for (int i = 0; i < 2; i++)
        cudaMemset(table + chosen[i] * width, i, width);
    cudaMemcpy(device_rows, chosen, sizeof(chosen), cudaMemcpyHostToDevice);
    gather<<<2, 64>>>(out, table, device_rows, width);
    cudaDeviceSynchronize();
    cudaFree(table);
    cudaFree(out);
    cudaFree(device_rows);
}
