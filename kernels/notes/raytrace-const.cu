// Ray tracing, sections 6.2 and 6.3 of "CUDA by Example": the spheres in global and in constant memory, timed with
// events. The only argument, a file name, saves the image in PPM format.
//
// Fused multiply-adds are written out, so that the GPU and the CPU round alike.

#include <cmath>
#include <cstring>

#include "check.h"
#include "common/book.h"
#include "common/cpu_bitmap.h"

#define INF 2e10f
#define DIM 1024
#define SPHERES 20
#define rnd(x) ((x) * (rand() / (float)RAND_MAX))

struct Sphere {
    float r, b, g;
    float radius;
    float x, y, z;

    // Returns the z at which the ray from the pixel (ox, oy) meets the sphere, or -INF if it misses. Sets `n` to the
    // brightness there: 1 where the surface faces the camera, 0 at the rim.
    __host__ __device__ float hit(float ox, float oy, float *n) const
    {
        float dx = ox - x, dy = oy - y;
        float dz2 = fmaf(-dx, dx, fmaf(-dy, dy, radius * radius));
        if (dz2 <= 0)
            return -INF;
        float dz = sqrtf(dz2);
        *n = dz / radius;
        return dz + z;
    }
};

// Writes the four bytes of the pixel (x, y): the colour of the sphere that is nearest to the camera.
__host__ __device__ inline void trace(const Sphere *s, int x, int y, unsigned char *pixel)
{
    float ox = x - DIM / 2, oy = y - DIM / 2;
    float r = 0, g = 0, b = 0, maxz = -INF;
    for (int i = 0; i < SPHERES; i++) {
        float n = 0, t = s[i].hit(ox, oy, &n);
        if (t > maxz) {
            maxz = t;
            r = s[i].r * n;
            g = s[i].g * n;
            b = s[i].b * n;
        }
    }
    pixel[0] = (int)(r * 255);
    pixel[1] = (int)(g * 255);
    pixel[2] = (int)(b * 255);
    pixel[3] = 255;
}

// Section 6.2.2: the spheres are an argument, a pointer to global memory.
namespace global_memory {
__global__ void kernel(Sphere *s, unsigned char *ptr)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int offset = x + y * blockDim.x * gridDim.x;
    trace(s, x, y, ptr + 4 * offset);
}
} // namespace global_memory

// Section 6.2.3: the spheres are a variable of the module.
namespace constant_memory {
__constant__ Sphere s[SPHERES];

__global__ void kernel(unsigned char *ptr)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int offset = x + y * blockDim.x * gridDim.x;
    trace(s, x, y, ptr + 4 * offset);
}
} // namespace constant_memory

// Returns the time of a launch in ms, between two events. The launch before it is not timed: it loads the kernel.
template <typename Launch>
static float milliseconds(Launch launch)
{
    launch();
    cudaEvent_t start, stop;
    HANDLE_ERROR(cudaEventCreate(&start));
    HANDLE_ERROR(cudaEventCreate(&stop));
    HANDLE_ERROR(cudaEventRecord(start, 0));
    launch();
    HANDLE_ERROR(cudaEventRecord(stop, 0));
    HANDLE_ERROR(cudaEventSynchronize(stop));
    float elapsedTime;
    HANDLE_ERROR(cudaEventElapsedTime(&elapsedTime, start, stop));
    HANDLE_ERROR(cudaEventDestroy(start));
    HANDLE_ERROR(cudaEventDestroy(stop));
    return elapsedTime;
}

// Copies the image to the host, and returns the number of pixels that differ from the CPU's.
static size_t wrong_pixels(const Sphere *spheres, const unsigned char *dev_bitmap, CPUBitmap &bitmap)
{
    HANDLE_ERROR(cudaMemcpy(bitmap.get_ptr(), dev_bitmap, bitmap.image_size(), cudaMemcpyDeviceToHost));
    size_t wrong = 0;
    for (int i = 0; i < DIM * DIM; i++) {
        unsigned char expected[4];
        trace(spheres, i % DIM, i / DIM, expected);
        wrong += memcmp(bitmap.get_ptr() + 4 * i, expected, 4) != 0;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    CPUBitmap bitmap(DIM, DIM);
    unsigned char *dev_bitmap;
    HANDLE_ERROR(cudaMalloc(&dev_bitmap, bitmap.image_size()));
    Sphere *s;
    HANDLE_ERROR(cudaMalloc(&s, sizeof(Sphere) * SPHERES));

    Sphere temp_s[SPHERES];
    for (Sphere &sphere : temp_s) {
        sphere.r = rnd(1.0f);
        sphere.g = rnd(1.0f);
        sphere.b = rnd(1.0f);
        sphere.x = rnd(1000.0f) - 500;
        sphere.y = rnd(1000.0f) - 500;
        sphere.z = rnd(1000.0f) - 500;
        sphere.radius = rnd(100.0f) + 20;
    }
    HANDLE_ERROR(cudaMemcpy(s, temp_s, sizeof(Sphere) * SPHERES, cudaMemcpyHostToDevice));
    HANDLE_ERROR(cudaMemcpyToSymbol(constant_memory::s, temp_s, sizeof(Sphere) * SPHERES));

    dim3 grids(DIM / 16, DIM / 16);
    dim3 threads(16, 16);
    float global = milliseconds([&] { global_memory::kernel<<<grids, threads>>>(s, dev_bitmap); });
    size_t wrong = wrong_pixels(temp_s, dev_bitmap, bitmap);

    HANDLE_ERROR(cudaMemset(dev_bitmap, 0, bitmap.image_size()));
    float constant = milliseconds([&] { constant_memory::kernel<<<grids, threads>>>(dev_bitmap); });
    wrong += wrong_pixels(temp_s, dev_bitmap, bitmap);

    printf("global memory: %.5f ms\nconstant memory: %.5f ms\n", global, constant);
    HANDLE_ERROR(cudaFree(dev_bitmap));
    HANDLE_ERROR(cudaFree(s));
    if (argc > 1)
        bitmap.save(argv[1]);
    return verdict("pixels", wrong);
}
