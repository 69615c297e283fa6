// case: a surface's x coordinate in elements instead of bytes
// thread: https://github.com/shader-slang/slang/pull/1841
__global__ void gradient(cudaSurfaceObject_t surface) {
#ifdef GOOD
    surf2Dwrite(1.0f, surface, threadIdx.x * sizeof(float), threadIdx.y);
#else
    surf2Dwrite(1.0f, surface, threadIdx.x, threadIdx.y); //~ misaligned address | the x coordinate of a surface in elements
#endif
}
int main() {
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    cudaMallocArray(&resource.res.array.array, &format, 16, 16, cudaArraySurfaceLoadStore);
    cudaSurfaceObject_t surface;
    cudaCreateSurfaceObject(&surface, &resource);
    gradient<<<1, dim3(16, 16)>>>(surface);
    cudaDeviceSynchronize();
    cudaDestroySurfaceObject(surface);
    cudaFreeArray(resource.res.array.array);
}
