// Module-scope data: every kind of initialiser, constants, a string for printf, dynamic shared memory.
#include "stand_in.h"
struct Sphere { float x, y, z; short tag; unsigned char rgb[3]; };
struct Link { const Link *next; int value; double weight; };
__constant__ Sphere spheres[2] = {{1.f, -2.f, 0.5f, -7, {1, 2, 255}}, {0, 0, 0, 9, {0, 0, 1}}};
__constant__ float coefficients[5] = {0.f, 1.f, -0.25f, 1e-20f};
__device__ float grid[3][4] = {{1, 2}, {3, 4, 5, 6}, {7}};
__device__ Link links[3] = {{(Link *)coefficients + 1, -1, 0.5}, {0, 2, -0.0}, {(Link *)grid, 3, 1e300}};
__device__ long long big = -9223372036854775807LL - 1;
__device__ unsigned char empty[1024];
__device__ const char *names[2] = {"first", "second"};
struct alignas(16) Four { float x, y, z, w; };
extern __shared__ Four scratch[];
extern "C" __global__ void __launch_bounds__(256, 2) gather(float *out, Sphere by_value, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float tile[16][17];
  tile[threadIdx.y][threadIdx.x] = coefficients[i % 5] + grid[i % 3][i & 3];
  __syncthreads();
  if (i >= n) return;
  float sum = by_value.x + spheres[i & 1].y;
#pragma nounroll
  for (int k = 0; k < 16; ++k) sum += tile[k][threadIdx.x] * scratch[k].z;
  printf("%s %d %lld %f\n", names[i & 1], links[i % 3].value + empty[i], big, sum);
  out[i] = sum;
}
