// Results of texture reads from layered arrays and cube maps: for each case a hash of the bits of all results.
//
//     cuda-run scripts/layers.cu                          on the simulator
//     CUDA_BACKEND=gpu cuda-run scripts/layers.cu | diff - scripts/layers.txt
//                                                         on a GPU, compared with the simulator
//
// scripts/layers.txt is the simulator's output; crates/cuda-run's tests compare the two. nvcc compiles this file, too.
// An NVIDIA H200 (driver 580.159.04, 2026-11-24) returns the same bits in 42 of the 44 cases. In the two cases of point
// sampling with wrapping, one of 4096 samples is on an edge between texels, where the GPU's approximate reciprocal decides.
// A case: geometry, texels, channel format and count, filter, address mode (a seamless cube map continues on the next
// face), coordinates in texels (plain) or from 0 to 1 (normalized).
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

const int SAMPLES = 4096;

enum Geometry { ROWS, PLANES, CUBE, CUBES };
const char *const GEOMETRIES[] = {"a1d", "a2d", "cube", "acube"};
const char *const MODES[] = {"wrap", "clamp", "mirror", "border", "seamless"};
const int SEAMLESS = 4;

struct Case {
    Geometry geometry;
    int width, height, layers;
    bool bytes; // four 8-bit channels, otherwise one float
    bool linear;
    int mode;
    bool normalised;
};

static void check(cudaError_t result, int line) {
    if (result == cudaSuccess) return;
    std::fprintf(stderr, "layers.cu:%d: %s\n", line, cudaGetErrorString(result));
    std::exit(1);
}
#define CHECK(call) check(call, __LINE__)

// Returns a 32-bit hash of `n`.
static uint32_t random_bits(uint64_t n) {
    n = (n + 1) * 0x9e3779b97f4a7c15;
    n = (n ^ n >> 32) * 0xd6e8feb86659fd93;
    return uint32_t(n ^ n >> 32);
}

// Returns a pseudo-random number from 0 to 1.
static float part(uint64_t n) { return float(random_bits(n) >> 8) / float(1 << 24); }

template <int GEOMETRY>
__global__ void fetch(cudaTextureObject_t texture, const float *at, float4 *to, bool bytes, int layers) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = at[3 * i], y = at[3 * i + 1], z = at[3 * i + 2];
    // Some layers are beyond the last one.
    int layer = i % (layers + 2);
    float4 read = make_float4(0, 0, 0, 0);
    if (GEOMETRY == ROWS) {
        if (bytes) read = tex1DLayered<float4>(texture, x, layer);
        else read.x = tex1DLayered<float>(texture, x, layer);
    } else if (GEOMETRY == PLANES) {
        if (bytes) read = tex2DLayered<float4>(texture, x, y, layer);
        else read.x = tex2DLayered<float>(texture, x, y, layer);
    } else if (GEOMETRY == CUBE) {
        if (bytes) read = texCubemap<float4>(texture, x, y, z);
        else read.x = texCubemap<float>(texture, x, y, z);
    } else {
        if (bytes) read = texCubemapLayered<float4>(texture, x, y, z, layer);
        else read.x = texCubemapLayered<float>(texture, x, y, z, layer);
    }
    to[i] = read;
}

// Returns coordinates in and around a row or plane, or directions.
static std::vector<float> coordinates(const Case &one) {
    bool cube = one.geometry >= CUBE;
    std::vector<float> at(3 * SAMPLES);
    for (int n = 0; n < 3 * SAMPLES; ++n) {
        int sample = n / 3, length = n % 3 ? one.height : one.width;
        float random = part((1 << 24) + n);
        // A quarter is far outside, and a quarter at multiples of a fraction of a texel.
        float extent = one.normalised || cube ? 1.f : float(length);
        float place = (random - 0.5f) * (sample % 4 == 1 ? 8.f : 2.f) * extent + (cube ? 0.f : extent * 0.5f);
        float fine = one.normalised || cube ? 64.f : 8.f;
        if (sample % 4 == 3) {
            int whole = int(place * fine);
            place = float(whole) / fine;
        }
        at[n] = place;
    }
    return at;
}

static void run(const Case &one) {
    size_t texels = size_t(one.width) * (one.height ? one.height : 1) * one.layers;
    std::vector<float> values(texels);
    for (size_t n = 0; n < texels; ++n) {
        uint32_t bits = random_bits((1 << 20) + n);
        float value = float(bits >> 8) / float(1 << 23) - 1.f;
        std::memcpy(&values[n], one.bytes ? (void *)&bits : (void *)&value, 4);
    }
    cudaChannelFormatDesc format =
        one.bytes ? cudaCreateChannelDesc<uchar4>() : cudaCreateChannelDesc<float>();
    unsigned flags = one.geometry == CUBE ? cudaArrayCubemap : cudaArrayLayered;
    if (one.geometry == CUBES) flags |= cudaArrayCubemap;
    cudaArray_t array;
    CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(one.width, one.height, one.layers), flags));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(values.data(), one.width * 4, one.width, one.height ? one.height : 1);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(one.width, one.height ? one.height : 1, one.layers);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));

    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    const cudaTextureAddressMode modes[] = {
        cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder, cudaAddressModeClamp};
    for (int axis = 0; axis < 3; ++axis) how.addressMode[axis] = modes[one.mode];
    how.filterMode = one.linear ? cudaFilterModeLinear : cudaFilterModePoint;
    how.readMode = one.bytes ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    how.normalizedCoords = one.normalised;
    how.seamlessCubemap = one.mode == SEAMLESS;
    how.borderColor[0] = 0.25f, how.borderColor[1] = -2.f, how.borderColor[2] = 3.f, how.borderColor[3] = 0.75f;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));

    std::vector<float> at = coordinates(one);
    std::vector<float4> found(SAMPLES);
    float *places;
    float4 *results;
    CHECK(cudaMalloc(&places, at.size() * sizeof(float)));
    CHECK(cudaMalloc(&results, found.size() * sizeof(float4)));
    CHECK(cudaMemcpy(places, at.data(), at.size() * sizeof(float), cudaMemcpyHostToDevice));
    decltype(&fetch<ROWS>) kernels[] = {fetch<ROWS>, fetch<PLANES>, fetch<CUBE>, fetch<CUBES>};
    int cubes = one.geometry == CUBES ? one.layers / 6 : one.layers;
    kernels[one.geometry]<<<SAMPLES / 128, 128>>>(texture, places, results, one.bytes, cubes);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(found.data(), results, found.size() * sizeof(float4), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(places));
    CHECK(cudaFree(results));
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));

    // FNV-1a, one word at a time.
    uint64_t hash = 0xcbf29ce484222325;
    for (const float4 &four : found) {
        uint32_t words[4];
        std::memcpy(words, &four, sizeof words);
        for (uint32_t word : words) hash = (hash ^ word) * 0x100000001b3;
    }
    std::string shape = std::to_string(one.width);
    if (one.height) shape += "x" + std::to_string(one.height);
    std::printf("%s %sx%d %s %s %s %s = %016llx\n", GEOMETRIES[one.geometry], shape.c_str(), one.layers,
                one.bytes ? "u8 4" : "f32 1", one.linear ? "linear" : "point", MODES[one.mode],
                one.normalised ? "normalised" : "plain", (unsigned long long)hash);
}

int main() {
    const Case shapes[] = {{ROWS, 13, 0, 4}, {PLANES, 12, 7, 4}, {CUBE, 8, 8, 6}, {CUBES, 8, 8, 18}};
    for (Case one : shapes) {
        for (int linear = 0; linear < 2; ++linear) {
            one.linear = linear;
            if (one.geometry >= CUBE) {
                one.normalised = true;
                for (int mode : {0, 1, SEAMLESS}) one.mode = mode, run(one);
            } else {
                for (int mode = 0; mode < 4; ++mode) {
                    for (int normalised = 0; normalised < 2; ++normalised) {
                        // CUDA has these two address modes only for normalized coordinates.
                        if (!normalised && (mode == 0 || mode == 2)) continue;
                        one.mode = mode, one.normalised = normalised;
                        run(one);
                    }
                }
            }
            one.bytes = true, one.mode = 1, one.normalised = true;
            run(one);
            one.bytes = false;
        }
    }
}
