// Spheres in constant memory: each thread traces one ray, and the image is written to a PPM
// file that the command line may name.

#include <cmath>
#include <vector>

#include "check.h"

const int SPHERES = 20;
const int WIDTH = 256, HEIGHT = 256;

struct Sphere {
    float red, green, blue, radius, x, y, z;
};

__constant__ Sphere spheres[SPHERES];

// Returns how near to the eye a ray meets the sphere, very far if it misses; `square` is how directly the ray hits.
__host__ __device__ inline float hit(const Sphere &sphere, float x, float y, float *square)
{
    float dx = x - sphere.x, dy = y - sphere.y;
    float left = sphere.radius * sphere.radius - dx * dx - dy * dy;
    if (left <= 0)
        return -2e10f;
    float dz = sqrtf(left);
    *square = dz / sphere.radius;
    return dz + sphere.z;
}

__host__ __device__ inline uchar4 color(const Sphere *all, int px, int py)
{
    float x = px - WIDTH / 2, y = py - HEIGHT / 2, nearest = -2e10f, r = 0, g = 0, b = 0;
    for (int i = 0; i < SPHERES; i++) {
        float square = 0, z = hit(all[i], x, y, &square);
        if (z > nearest) {
            nearest = z;
            r = all[i].red * square;
            g = all[i].green * square;
            b = all[i].blue * square;
        }
    }
    return make_uchar4((unsigned char)(r * 255), (unsigned char)(g * 255), (unsigned char)(b * 255), 255);
}

__global__ void draw(uchar4 *picture)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    picture[y * WIDTH + x] = color(spheres, x, y);
}

int main(int argc, char **argv)
{
    Sphere on_host[SPHERES];
    unsigned seed = 1;
    auto drawn = [&](float below) {
        seed = seed * 1664525u + 1013904223u;
        return (seed >> 8) * below / (1 << 24);
    };
    for (Sphere &one : on_host)
        one = {drawn(1), drawn(1), drawn(1), drawn(25) + 5, drawn(256) - 128, drawn(256) - 128, drawn(256) - 128};
    CHECK(cudaMemcpyToSymbol(spheres, on_host, sizeof on_host));
    std::vector<uchar4> picture(WIDTH * HEIGHT);
    uchar4 *on_gpu;
    CHECK(cudaMalloc(&on_gpu, picture.size() * sizeof(uchar4)));
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(begin));
    draw<<<dim3(WIDTH / 16, HEIGHT / 16), dim3(16, 16)>>>(on_gpu);
    CHECK(cudaEventRecord(end));
    CHECK(cudaMemcpy(picture.data(), on_gpu, picture.size() * sizeof(uchar4), cudaMemcpyDeviceToHost));
    CHECK(cudaEventSynchronize(end));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    printf("drawn in %.5f ms\n", ms);
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    CHECK(cudaFree(on_gpu));

    if (argc > 1) {
        FILE *file = fopen(argv[1], "wb");
        if (!file) {
            perror(argv[1]);
            return 1;
        }
        fprintf(file, "P6\n%d %d\n255\n", WIDTH, HEIGHT);
        for (uchar4 one : picture)
            fwrite(&one, 1, 3, file);
        fclose(file);
    }

    // The host rounds twice where the GPU uses a fused multiply-add: a difference of one in 255 counts as equal.
    size_t wrong = 0;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        uchar4 here = color(on_host, i % WIDTH, i / WIDTH), there = picture[i];
        bool near = abs(here.x - there.x) <= 1 && abs(here.y - there.y) <= 1 && abs(here.z - there.z) <= 1;
        wrong += !near;
    }
    // A ray that just touches a sphere may hit it on the host or the GPU only.
    return verdict("pixels", wrong > 16 ? wrong : 0);
}
