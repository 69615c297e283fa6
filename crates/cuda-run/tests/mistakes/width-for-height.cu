// case: width and height swapped in the bounds check
// thread: https://github.com/nerfstudio-project/gsplat/pull/14
__global__ void invert(unsigned char *image, int width, int height) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef GOOD
    if (row < height && column < width)
#else
    if (row < width && column < height)
#endif
        image[row * width + column] ^= 255; //~ out-of-bounds access | the wrong bounds: those of another matrix, or width and height swapped
}
int main() {
    const int width = 257, height = 10;
    unsigned char *image;
    cudaMalloc(&image, width * height);
    cudaMemset(image, 0, width * height);
    invert<<<dim3((width + 15) / 16, (width + 15) / 16), dim3(16, 16)>>>(image, width, height);
    cudaDeviceSynchronize();
    cudaFree(image);
}
