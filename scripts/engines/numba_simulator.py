"""Times the chapters' kernels, ported to Numba, on Numba's CUDA simulator, for scripts/speed: see engine.py.

The simulator runs each CUDA thread as a Python thread. Kernels take the same arguments as in kernels.cl.
"""

import math
import os

import engine
from engine import numpy

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
numba = engine.require("numba")
cuda = engine.require("numba.cuda")

float32 = numpy.float32

INF = 2e10
GROUP, UNROLLED = 4, 20
TILE = 16
RADIUS = 4
WARP_SIZE, NUM_VALUES, MAGIC_NUMBER = 32, 16384, 1357


def fma(a, b, c):
    """Rounds once, except in very rare cases: the product of two floats is exact in double precision."""
    return float32(float(a) * float(b) + float(c))


@cuda.jit
def arithmetic(out):
    bits = cuda.threadIdx.x
    x, y = float32(bits), float32(0.5)
    for _ in range(1024):
        x = fma(x, y, 1)
        y = (x + y) * float32(1 / 1024)
        bits = (bits ^ bits << 3) & 0xFFFFFFFF
        bits = (bits + (bits >> 5)) & 0xFFFFFFFF
        bits = (bits + (bits & 255) * (bits & 255)) & 0xFFFFFFFF
    out[cuda.grid(1)] = bits ^ int(x.view(numpy.uint32))


def distance2(spheres, at, ox, oy):
    dx = ox - spheres[at + 4]
    dy = oy - spheres[at + 5]
    return fma(dx, dx, dy * dy)


def look_at(pixel, spheres, at, distance):
    radius = spheres[at + 3]
    if distance >= radius * radius:
        return pixel
    dz = float32(math.sqrt(fma(radius, radius, -distance)))
    z = dz + spheres[at + 6]
    if z <= pixel[0]:
        return pixel
    shade = dz / float32(math.sqrt(radius * radius))
    return z, spheres[at] * shade, spheres[at + 2] * shade, spheres[at + 1] * shade


def colour(pixel):
    red, green, blue = (int(channel * float32(255)) for channel in pixel[1:])
    return red | green << 8 | blue << 16 | 255 << 24


@cuda.jit
def raytrace_global(spheres, count, image, width, height):
    x, y = cuda.grid(2)
    if x >= width or y >= height:
        return
    ox, oy = float32(x - width // 2), float32(y - height // 2)
    pixel = (-INF, float32(0), float32(0), float32(0))
    for at in range(0, 7 * count, 7):
        pixel = look_at(pixel, spheres, at, distance2(spheres, at, ox, oy))
    image[x + y * width] = colour(pixel)


@cuda.jit
def raytrace_constant(count, image, width, height, spheres):
    x, y = cuda.grid(2)
    if x >= width or y >= height:
        return
    ox, oy = float32(x - width // 2), float32(y - height // 2)
    pixel = (-INF, float32(0), float32(0), float32(0))
    for at in range(0, 7 * count, 7):
        pixel = look_at(pixel, spheres, at, distance2(spheres, at, ox, oy))
    image[x + y * width] = colour(pixel)


@cuda.jit
def raytrace_unrolled(count, image, width, height, spheres):
    x, y = cuda.grid(2)
    if x >= width or y >= height:
        return
    ox, oy = float32(x - width // 2), float32(y - height // 2)
    pixel = (-INF, float32(0), float32(0), float32(0))
    for at in range(0, 8 * min(count, UNROLLED), 8):
        pixel = look_at(pixel, spheres, at, distance2(spheres, at, ox, oy))
    for at in range(8 * UNROLLED, 8 * count, 8):
        pixel = look_at(pixel, spheres, at, distance2(spheres, at, ox, oy))
    image[x + y * width] = colour(pixel)


@cuda.jit
def mat_mul_pitched(
    a_rows, a_cols, a, a_stride, b_rows, b_cols, b, b_stride, c_rows, c_cols, c, c_stride
):
    col, row = cuda.grid(2)
    if row >= c_rows or col >= c_cols:
        return
    result = float32(0)
    for i in range(b_rows):
        result = fma(a[row * a_stride + i], b[i * b_stride + col], result)
    c[row * c_stride + col] = result


@cuda.jit
def mat_mul_tiled_16(
    a_rows, a_cols, a, a_stride, b_rows, b_cols, b, b_stride, c_rows, c_cols, c, c_stride
):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    b_tile = cuda.shared.array((TILE, TILE), float32)
    col, row = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    result = float32(0)
    for first in range(0, b_rows, TILE):
        in_a = row < a_rows and first + x < a_cols
        in_b = first + y < b_rows and col < b_cols
        a_tile[y, x] = a[row * a_stride + first + x] if in_a else 0
        b_tile[y, x] = b[(first + y) * b_stride + col] if in_b else 0
        cuda.syncthreads()
        for i in range(TILE):
            result = fma(a_tile[y, i], b_tile[i, x], result)
        cuda.syncthreads()
    if row < c_rows and col < c_cols:
        c[row * c_stride + col] = result


@cuda.jit
def stencil_constant(points, out, size, coef):
    smem = cuda.shared.array(256 + 2 * RADIUS, float32)
    idx = cuda.grid(1)
    tid, block = cuda.threadIdx.x, cuda.blockDim.x
    last = size + 2 * RADIUS - 1
    smem[tid + RADIUS] = points[min(idx + RADIUS, last)]
    if tid < RADIUS:
        smem[tid] = points[idx]
        smem[tid + RADIUS + block] = points[min(idx + RADIUS + block, last)]
    cuda.syncthreads()
    total = float32(0)
    for i in range(1, RADIUS + 1):
        total = fma(coef[i], smem[tid + RADIUS + i] - smem[tid + RADIUS - i], total)
    if idx < size:
        out[idx + RADIUS] = total


def value_index(access_pattern, num_values):
    if access_pattern == 0:
        return cuda.blockIdx.x % num_values
    if access_pattern == 1:
        return cuda.threadIdx.x // WARP_SIZE % num_values
    if access_pattern == 2:
        return cuda.threadIdx.x % num_values
    return cuda.threadIdx.x * MAGIC_NUMBER % num_values


@cuda.jit
def add_constant_global_memory(sums, inputs, values, num_sums, num_values, access_pattern):
    i = cuda.grid(1)
    index = value_index(access_pattern, num_values)
    if i < num_sums:
        sums[i] = inputs[i] + values[index]


@cuda.jit
def add_constant_constant_memory(sums, inputs, num_sums, access_pattern, values):
    i = cuda.grid(1)
    index = value_index(access_pattern, NUM_VALUES)
    if i < num_sums:
        sums[i] = inputs[i] + values[index]


class Launch:
    def __init__(self, folder, work):
        self.kernel = globals()[work["kernel"]][tuple(work["grid"]), tuple(work["block"])]
        self.arguments = [self.argument(folder, argument) for argument in work["arguments"]]

    def argument(self, folder, argument):
        if "input" in argument:
            return numpy.fromfile(folder / argument["input"], argument["element"])
        if "output" in argument:
            self.result = numpy.full(argument["output"], engine.POISON, numpy.uint32)
            return self.result.view(argument["element"])
        (number,) = argument.values()
        return number

    def run(self):
        self.kernel(*self.arguments)

    def output(self):
        return self.result


engine.serve(f"Numba {numba.__version__}", Launch)
