// The kernels that scripts/speed times, in OpenCL C: they compute what the chapters' .cu files
// compute, in the same order, and so with bit-identical results. Arguments are those of the
// CUDA kernels, with two differences: a symbol in constant memory is a last argument, and a
// structure passed by value is passed field by field, since OpenCL allows no pointers in one.

#pragma OPENCL FP_CONTRACT OFF

// Arithmetic without memory accesses; from no chapter.
__kernel void arithmetic(__global uint *out) {
    uint bits = get_local_id(0);
    float x = bits, y = 0.5f;
    for (int i = 0; i < 1024; i++) {
        x = fma(x, y, 1.0f);
        y = (x + y) * (1.0f / 1024.0f);
        bits ^= bits << 3;
        bits += bits >> 5;
        bits += (bits & 255) * (bits & 255);
    }
    out[get_global_id(0)] = bits ^ as_uint(x);
}

// Kernels of kernels/raytrace-const.cu

#define INF 2e10f
#define GROUP 4
#define UNROLLED 20

typedef struct {
    float r, b, g;
    float radius;
    float x, y, z;
} Sphere;

typedef struct {
    Sphere sphere;
} __attribute__((aligned(32))) AlignedSphere;

typedef struct {
    float nearest;
    float r, g, b;
} Pixel;

__constant Pixel BLACK = {-INF, 0, 0, 0};

// Returns the squared distance between the ray through (ox, oy) and the centre.
float distance2(Sphere sphere, float ox, float oy) {
    float dx = ox - sphere.x;
    float dy = oy - sphere.y;
    return fma(dx, dx, dy * dy);
}

bool met(Sphere sphere, float distance2) { return distance2 < sphere.radius * sphere.radius; }

Pixel look_at(Pixel pixel, Sphere sphere, float distance2) {
    if (!met(sphere, distance2)) return pixel;
    float dz = sqrt(fma(sphere.radius, sphere.radius, -distance2));
    float z = dz + sphere.z;
    if (z > pixel.nearest) {
        float shade = dz / sqrt(sphere.radius * sphere.radius);
        pixel = (Pixel){z, sphere.r * shade, sphere.g * shade, sphere.b * shade};
    }
    return pixel;
}

uchar4 colour(Pixel pixel) {
    int r = pixel.r * 255, g = pixel.g * 255, b = pixel.b * 255;
    return (uchar4)(r, g, b, 255);
}

__kernel void raytrace_global(__global const Sphere *spheres, int count, __global uchar4 *image,
                              int width, int height) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    float ox = x - width / 2, oy = y - height / 2;
    Pixel pixel = BLACK;
    for (int i = 0; i < count; i++) {
        pixel = look_at(pixel, spheres[i], distance2(spheres[i], ox, oy));
    }
    image[x + y * width] = colour(pixel);
}

__kernel void raytrace_constant(int count, __global uchar4 *image, int width, int height,
                                __constant Sphere *spheres) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    float ox = x - width / 2, oy = y - height / 2;
    Pixel pixel = BLACK;
    for (int i = 0; i < count; i++) {
        pixel = look_at(pixel, spheres[i], distance2(spheres[i], ox, oy));
    }
    image[x + y * width] = colour(pixel);
}

__kernel void raytrace_unrolled(int count, __global uchar4 *image, int width, int height,
                                __constant AlignedSphere *spheres) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    float ox = x - width / 2, oy = y - height / 2;
    Pixel pixel = BLACK;
#pragma unroll
    for (int first = 0; first < UNROLLED; first += GROUP) {
        if (first >= count) continue;
        float distances[GROUP];
        bool any = false;
#pragma unroll
        for (int i = 0; i < GROUP; i++) {
            distances[i] = distance2(spheres[first + i].sphere, ox, oy);
            any |= met(spheres[first + i].sphere, distances[i]);
        }
        if (!any) continue;
#pragma unroll
        for (int i = 0; i < GROUP; i++) {
            pixel = look_at(pixel, spheres[first + i].sphere, distances[i]);
        }
    }
    for (int i = UNROLLED; i < count; i++) {
        Sphere sphere = spheres[i].sphere;
        pixel = look_at(pixel, sphere, distance2(sphere, ox, oy));
    }
    image[x + y * width] = colour(pixel);
}

// Kernels of kernels/matmul-pitched.cu and kernels/matmul-tiled.cu. Each matrix is passed as
// rows, columns, elements, and the stride from row to row in elements.

__kernel void mat_mul_pitched(ulong a_rows, ulong a_cols, __global const float *a, ulong a_stride,
                              ulong b_rows, ulong b_cols, __global const float *b, ulong b_stride,
                              ulong c_rows, ulong c_cols, __global float *c, ulong c_stride) {
    ulong row = get_global_id(1), col = get_global_id(0);
    if (row >= c_rows || col >= c_cols) return;
    float result = 0;
    for (ulong i = 0; i < b_rows; i++) {
        result = fma(a[row * a_stride + i], b[i * b_stride + col], result);
    }
    c[row * c_stride + col] = result;
}

#define TILE 16

__kernel void mat_mul_tiled_16(ulong a_rows, ulong a_cols, __global const float *a, ulong a_stride,
                               ulong b_rows, ulong b_cols, __global const float *b, ulong b_stride,
                               ulong c_rows, ulong c_cols, __global float *c, ulong c_stride) {
    __local float a_tile[TILE][TILE], b_tile[TILE][TILE];
    ulong row = get_global_id(1), col = get_global_id(0);
    ulong y = get_local_id(1), x = get_local_id(0);
    float result = 0;
    for (ulong first = 0; first < b_rows; first += TILE) {
        bool in_a = row < a_rows && first + x < a_cols;
        bool in_b = first + y < b_rows && col < b_cols;
        a_tile[y][x] = in_a ? a[row * a_stride + first + x] : 0;
        b_tile[y][x] = in_b ? b[(first + y) * b_stride + col] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int i = 0; i < TILE; i++) result = fma(a_tile[y][i], b_tile[i][x], result);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < c_rows && col < c_cols) c[row * c_stride + col] = result;
}

// Kernels of kernels/stencil-readonly.cu. Pointers point to the halo here. The array in
// shared memory has the size that the largest block needs.

#define RADIUS 4

__kernel void stencil_constant(__global const float *in, __global float *out, int size,
                               __constant float *coef) {
    __local float smem[256 + 2 * RADIUS];
    int idx = get_global_id(0);
    int tid = get_local_id(0), block = get_local_size(0);
    int last = size + 2 * RADIUS - 1;
    smem[tid + RADIUS] = in[min(idx + RADIUS, last)];
    if (tid < RADIUS) {
        smem[tid] = in[idx];
        smem[tid + RADIUS + block] = in[min(idx + RADIUS + block, last)];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
#pragma unroll
    for (int i = 1; i <= RADIUS; i++) {
        sum = fma(coef[i], smem[tid + RADIUS + i] - smem[tid + RADIUS - i], sum);
    }
    if (idx < size) out[idx + RADIUS] = sum;
}

// Kernels of kernels/add-constant.cu

#define WARP_SIZE 32
#define NUM_VALUES 16384
#define MAGIC_NUMBER 1357

uint value_index(int access_pattern, uint num_values) {
    uint block_id = get_group_id(0), thread_id = get_local_id(0);
    switch (access_pattern) {
        case 0: return block_id % num_values;
        case 1: return thread_id / WARP_SIZE % num_values;
        case 2: return thread_id % num_values;
        case 3: return thread_id * MAGIC_NUMBER % num_values;
    }
    return 0;
}

__kernel void add_constant_global_memory(__global int *sums, __global const int *inputs,
                                         __global const int *values, uint num_sums,
                                         uint num_values, int access_pattern) {
    uint i = get_global_id(0);
    uint index = value_index(access_pattern, num_values);
    if (i < num_sums) sums[i] = inputs[i] + values[index];
}

__kernel void add_constant_constant_memory(__global int *sums, __global const int *inputs,
                                           uint num_sums, int access_pattern,
                                           __constant int *values) {
    uint i = get_global_id(0);
    uint index = value_index(access_pattern, NUM_VALUES);
    if (i < num_sums) sums[i] = inputs[i] + values[index];
}
