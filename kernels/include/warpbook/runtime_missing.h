// Functions of the runtime API that are not implemented: each prints its name to stderr and returns
// cudaErrorNotSupported. They are declared so that programs compile if they use them only in code that is not executed.
//
// Included by cuda_runtime_api.h, inside `extern "C"`.

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmappedArray, const struct
    cudaChannelFormatDesc *desc, struct cudaExtent extent, unsigned int numLevels, unsigned int
    flags WARPBOOK_DEFAULT(0));
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmappedArray);
cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *levelArray, cudaMipmappedArray_const_t
    mipmappedArray, unsigned int level);
cudaError_t cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc *pResViewDesc,
    cudaTextureObject_t texObject);
cudaError_t cudaMemRangeGetAttribute(void *data, size_t dataSize, enum cudaMemRangeAttribute
    attribute, const void *devPtr, size_t count);
cudaError_t cudaGraphicsUnregisterResource(cudaGraphicsResource_t resource);
cudaError_t cudaGraphicsMapResources(int count, cudaGraphicsResource_t *resources, cudaStream_t
    stream WARPBOOK_DEFAULT(0));
cudaError_t cudaGraphicsUnmapResources(int count, cudaGraphicsResource_t *resources, cudaStream_t
    stream WARPBOOK_DEFAULT(0));
cudaError_t cudaGraphicsResourceGetMappedPointer(void **devPtr, size_t *size,
    cudaGraphicsResource_t resource);
