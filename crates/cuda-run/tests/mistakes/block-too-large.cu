// case: a block as large as two dimensions of the data, over 1,024 threads
// thread: https://github.com/ggml-org/llama.cpp/pull/16744
__global__ void pointers(int *out, int columns, int rows) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < columns && row < rows)
        out[row * columns + column] = row;
}
int main() {
    const int columns = 64, rows = 32;
    int *out;
    cudaMalloc(&out, columns * rows * sizeof(int));
#ifdef GOOD
    pointers<<<dim3(4, 2), dim3(16, 16)>>>(out, columns, rows);
#else
    pointers<<<1, dim3(columns, rows)>>>(out, columns, rows); //~ cudaErrorInvalidValue | a block has 2048 threads, at most 1024 are allowed
#endif
    cudaDeviceSynchronize();
    cudaFree(out);
}
