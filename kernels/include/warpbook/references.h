// Texture and surface references, which CUDA 12 removed: `texture<float, 2> image;` at file scope, bound by
// cudaBindTexture. A reference is a variable in constant memory that holds a texture object.

#pragma once

// The type in which an element is fetched.
template <class T, cudaTextureReadMode mode> struct warpbook_fetched { typedef T type; };
#define WARPBOOK_NORMALIZED(T, Float) \
    template <> struct warpbook_fetched<T, cudaReadModeNormalizedFloat> { typedef Float type; };
#define WARPBOOK_NORMALIZED_VECTORS(name)  \
    WARPBOOK_NORMALIZED(name##1, float1)   \
    WARPBOOK_NORMALIZED(name##2, float2)   \
    WARPBOOK_NORMALIZED(name##4, float4)
WARPBOOK_NORMALIZED(char, float)
WARPBOOK_NORMALIZED(signed char, float)
WARPBOOK_NORMALIZED(unsigned char, float)
WARPBOOK_NORMALIZED(short, float)
WARPBOOK_NORMALIZED(unsigned short, float)
WARPBOOK_NORMALIZED_VECTORS(char)
WARPBOOK_NORMALIZED_VECTORS(uchar)
WARPBOOK_NORMALIZED_VECTORS(short)
WARPBOOK_NORMALIZED_VECTORS(ushort)
#undef WARPBOOK_NORMALIZED_VECTORS
#undef WARPBOOK_NORMALIZED

// A member of a reference. The host's copy of a variable of the GPU starts as zeros, so it records which members the
// program has set; the others have the values that the GPU's variable started with.
template <class T> struct warpbook_setting {
    T value;
    bool is_set;
    __host__ __device__ constexpr warpbook_setting(T value) : value(value), is_set(false) {}
    warpbook_setting &operator=(T set) {
        value = set;
        is_set = true;
        return *this;
    }
    operator T() const { return value; }
    T or_else(const warpbook_setting &start) const { return is_set ? value : start.value; }
};

struct textureReference {
    // The bound texture object, or 0.
    cudaTextureObject_t object;
    // The offset in bytes from the object's start to the bound address.
    size_t offset;
    enum cudaTextureReadMode readMode;
    struct cudaChannelFormatDesc channelDesc;
    warpbook_setting<int> normalized;
    warpbook_setting<enum cudaTextureFilterMode> filterMode;
    warpbook_setting<enum cudaTextureAddressMode> addressMode[3];
    warpbook_setting<int> sRGB;
    warpbook_setting<unsigned int> maxAnisotropy;
    warpbook_setting<enum cudaTextureFilterMode> mipmapFilterMode;
    warpbook_setting<float> mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
};

template <class T, int dim = cudaTextureType1D,
          cudaTextureReadMode mode = cudaReadModeElementType>
struct warpbook_texture : textureReference {
    typedef typename warpbook_fetched<T, mode>::type fetched;
    __host__ __device__ constexpr warpbook_texture(
        int normalized = 0, cudaTextureFilterMode filter = cudaFilterModePoint,
        cudaTextureAddressMode address = cudaAddressModeClamp, cudaChannelFormatDesc channels = {})
        : textureReference{0, 0, mode, channels, normalized, filter, {address, address, address},
                           0, 0, cudaFilterModePoint, 0, 0, 0} {}
};

struct surfaceReference {
    cudaSurfaceObject_t object;
};

template <class T = void, int dim = cudaTextureType1D> struct warpbook_surface : surfaceReference {
    __host__ __device__ constexpr warpbook_surface() : surfaceReference{0} {}
};

// The start of a memory range and its size, from the driver.
extern "C" int warpbook_address_range(unsigned long long *base, size_t *size,
                                      unsigned long long pointer)
    __asm__("cuMemGetAddressRange_v2");

inline cudaError_t cudaUnbindTexture(const textureReference *texref) {
    textureReference *reference = const_cast<textureReference *>(texref);
    if (reference->object == 0) return cudaSuccess;
    cudaError_t error = cudaDestroyTextureObject(reference->object);
    reference->object = 0;
    return error;
}

inline cudaError_t warpbook_bind(const textureReference *texref, const cudaResourceDesc *resource) {
    warpbook_texture<int> start;
    cudaError_t read = cudaMemcpyFromSymbol((textureReference *)&start, (const void *)texref,
                                            sizeof(textureReference), 0, cudaMemcpyDeviceToHost);
    if (read != cudaSuccess) return read;
    cudaTextureDesc description = {};
    for (int axis = 0; axis < 3; axis++)
        description.addressMode[axis] = texref->addressMode[axis].or_else(start.addressMode[axis]);
    description.filterMode = texref->filterMode.or_else(start.filterMode);
    description.readMode = start.readMode;
    description.sRGB = texref->sRGB.or_else(start.sRGB);
    description.normalizedCoords = texref->normalized.or_else(start.normalized);
    description.maxAnisotropy = texref->maxAnisotropy.or_else(start.maxAnisotropy);
    description.mipmapFilterMode = texref->mipmapFilterMode.or_else(start.mipmapFilterMode);
    description.mipmapLevelBias = texref->mipmapLevelBias.or_else(start.mipmapLevelBias);
    description.minMipmapLevelClamp = texref->minMipmapLevelClamp.or_else(start.minMipmapLevelClamp);
    description.maxMipmapLevelClamp = texref->maxMipmapLevelClamp.or_else(start.maxMipmapLevelClamp);
    cudaTextureObject_t object;
    cudaError_t error = cudaCreateTextureObject(&object, resource, &description, 0);
    if (error != cudaSuccess) return error;
    cudaUnbindTexture(texref);
    const_cast<textureReference *>(texref)->object = object;
    return cudaMemcpyToSymbol((const void *)texref, &object, sizeof object, 0,
                              cudaMemcpyHostToDevice);
}

// Separates an address into an aligned one, to which a texture can be bound, and the offset in bytes.
inline cudaError_t warpbook_align(size_t *offset, const textureReference *texref,
                                  const void **devPtr) {
    size_t remainder = (size_t)*devPtr % 512;
    if (offset == 0 && remainder != 0) return cudaErrorInvalidValue;
    if (offset != 0) *offset = remainder;
    const_cast<textureReference *>(texref)->offset = remainder;
    *devPtr = (const char *)*devPtr - remainder;
    return cudaSuccess;
}

inline cudaError_t cudaBindTexture(size_t *offset, const textureReference *texref,
                                   const void *devPtr, const cudaChannelFormatDesc *desc,
                                   size_t size = UINT_MAX) {
    const void *start = devPtr;
    cudaError_t error = warpbook_align(offset, texref, &start);
    if (error != cudaSuccess) return error;
    // The default size stands for the rest of the allocation.
    unsigned long long base;
    size_t allocated;
    if (warpbook_address_range(&base, &allocated, (unsigned long long)start) != 0)
        return cudaErrorInvalidValue;
    size_t rest = base + allocated - (unsigned long long)start;
    size += (const char *)devPtr - (const char *)start;
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = const_cast<void *>(start);
    resource.res.linear.desc = *desc;
    resource.res.linear.sizeInBytes = size < rest ? size : rest;
    return warpbook_bind(texref, &resource);
}

inline cudaError_t cudaBindTexture2D(size_t *offset, const textureReference *texref,
                                     const void *devPtr, const cudaChannelFormatDesc *desc,
                                     size_t width, size_t height, size_t pitch) {
    cudaError_t error = warpbook_align(offset, texref, &devPtr);
    if (error != cudaSuccess) return error;
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = const_cast<void *>(devPtr);
    resource.res.pitch2D.desc = *desc;
    resource.res.pitch2D.width = width;
    resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = pitch;
    return warpbook_bind(texref, &resource);
}

inline cudaResourceDesc warpbook_array_resource(cudaArray_const_t array) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = const_cast<cudaArray_t>(array);
    return resource;
}

inline cudaError_t cudaBindTextureToArray(const textureReference *texref, cudaArray_const_t array,
                                          const cudaChannelFormatDesc * = 0) {
    cudaResourceDesc resource = warpbook_array_resource(array);
    return warpbook_bind(texref, &resource);
}

inline cudaError_t cudaBindTextureToMipmappedArray(const textureReference *texref,
                                                   cudaMipmappedArray_const_t mipmappedArray,
                                                   const cudaChannelFormatDesc * = 0) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = const_cast<cudaMipmappedArray_t>(mipmappedArray);
    return warpbook_bind(texref, &resource);
}

inline cudaError_t cudaBindSurfaceToArray(const surfaceReference *surfref, cudaArray_const_t array,
                                          const cudaChannelFormatDesc * = 0) {
    cudaResourceDesc resource = warpbook_array_resource(array);
    cudaSurfaceObject_t object;
    cudaError_t error = cudaCreateSurfaceObject(&object, &resource);
    if (error != cudaSuccess) return error;
    return cudaMemcpyToSymbol((const void *)surfref, &object, sizeof object, 0,
                              cudaMemcpyHostToDevice);
}

inline cudaError_t cudaGetTextureReference(const textureReference **texref, const void *symbol) {
    *texref = (const textureReference *)symbol;
    return cudaSuccess;
}

inline cudaError_t cudaGetSurfaceReference(const surfaceReference **surfref, const void *symbol) {
    *surfref = (const surfaceReference *)symbol;
    return cudaSuccess;
}

#define WARPBOOK_TEXTURE template <class T, int dim, cudaTextureReadMode mode> inline cudaError_t
WARPBOOK_TEXTURE cudaBindTexture(size_t *offset, const warpbook_texture<T, dim, mode> &tex,
                                 const void *devPtr, const cudaChannelFormatDesc &desc,
                                 size_t size = UINT_MAX) {
    return cudaBindTexture(offset, &tex, devPtr, &desc, size);
}
WARPBOOK_TEXTURE cudaBindTexture(size_t *offset, const warpbook_texture<T, dim, mode> &tex,
                                 const void *devPtr, size_t size = UINT_MAX) {
    return cudaBindTexture(offset, tex, devPtr, cudaCreateChannelDesc<T>(), size);
}
WARPBOOK_TEXTURE cudaBindTexture2D(size_t *offset, const warpbook_texture<T, dim, mode> &tex,
                                   const void *devPtr, const cudaChannelFormatDesc &desc,
                                   size_t width, size_t height, size_t pitch) {
    return cudaBindTexture2D(offset, &tex, devPtr, &desc, width, height, pitch);
}
WARPBOOK_TEXTURE cudaBindTexture2D(size_t *offset, const warpbook_texture<T, dim, mode> &tex,
                                   const void *devPtr, size_t width, size_t height, size_t pitch) {
    return cudaBindTexture2D(offset, tex, devPtr, cudaCreateChannelDesc<T>(), width, height, pitch);
}
WARPBOOK_TEXTURE cudaBindTextureToArray(const warpbook_texture<T, dim, mode> &tex, cudaArray_const_t array) {
    return cudaBindTextureToArray(&tex, array);
}
WARPBOOK_TEXTURE cudaBindTextureToArray(const warpbook_texture<T, dim, mode> &tex, cudaArray_const_t array,
                                        const cudaChannelFormatDesc &desc) {
    return cudaBindTextureToArray(&tex, array, &desc);
}
WARPBOOK_TEXTURE cudaBindTextureToMipmappedArray(const warpbook_texture<T, dim, mode> &tex,
                                                 cudaMipmappedArray_const_t mipmappedArray) {
    return cudaBindTextureToMipmappedArray(&tex, mipmappedArray);
}
WARPBOOK_TEXTURE cudaBindTextureToMipmappedArray(const warpbook_texture<T, dim, mode> &tex,
                                                 cudaMipmappedArray_const_t mipmappedArray,
                                                 const cudaChannelFormatDesc &desc) {
    return cudaBindTextureToMipmappedArray(&tex, mipmappedArray, &desc);
}
WARPBOOK_TEXTURE cudaUnbindTexture(const warpbook_texture<T, dim, mode> &tex) {
    return cudaUnbindTexture(&tex);
}
WARPBOOK_TEXTURE cudaGetTextureAlignmentOffset(size_t *offset, const warpbook_texture<T, dim, mode> &tex) {
    *offset = tex.offset;
    return cudaSuccess;
}
#undef WARPBOOK_TEXTURE

template <class T, int dim>
inline cudaError_t cudaBindSurfaceToArray(const warpbook_surface<T, dim> &surf, cudaArray_const_t array) {
    return cudaBindSurfaceToArray(&surf, array);
}
template <class T, int dim>
inline cudaError_t cudaBindSurfaceToArray(const warpbook_surface<T, dim> &surf, cudaArray_const_t array,
                                          const cudaChannelFormatDesc &desc) {
    return cudaBindSurfaceToArray(&surf, array, &desc);
}

// Defined for programs that use references only: others have their own `texture`.
#if defined(WARPBOOK_REFERENCES)
template <class T, int dim = cudaTextureType1D, cudaTextureReadMode mode = cudaReadModeElementType>
using texture = warpbook_texture<T, dim, mode>;
template <class T = void, int dim = cudaTextureType1D> using surface = warpbook_surface<T, dim>;
#endif
