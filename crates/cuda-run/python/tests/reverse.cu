__global__ void reverse(int *data)
{
    __shared__ int tile[256];
    int i = threadIdx.x;
    tile[i] = data[i];
    data[i] = tile[255 - i];
}

int main()
{
    int *data;
    cudaMalloc(&data, 256 * sizeof(int));
    cudaMemset(data, 0, 256 * sizeof(int));
    reverse<<<1, 256>>>(data);
    cudaDeviceSynchronize();
    cudaFree(data);
}
