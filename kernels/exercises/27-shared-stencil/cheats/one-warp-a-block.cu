// Rejected at: time
// Says: times the solution's time
// One warp of each block does the work of eight.
#include "cuda_device.h"
#define WIDE 32
#define HIGH 8
extern "C" __global__ void blur(const float *in, float *out, int width, int height) {
    __shared__ float tile[HIGH + 2][WIDE + 2];
    if (threadIdx.y) return;
    int x0 = blockIdx.x * WIDE - 1, y0 = blockIdx.y * HIGH - 1;
    for (int r = 0; r < HIGH + 2; r++)
        for (int c = threadIdx.x; c < WIDE + 2; c += 32) {
            int x = x0 + c, y = y0 + r;
            tile[r][c] = x >= 0 && x < width && y >= 0 && y < height ? in[y * width + x] : 0.0f;
        }
    __syncwarp();
    for (int r = 0; r < HIGH; r++) {
        int x = x0 + 1 + threadIdx.x, y = y0 + 1 + r;
        if (x >= width || y >= height) continue;
        float s = 0;
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) s += tile[r + a][threadIdx.x + b];
        out[y * width + x] = s;
    }
}
