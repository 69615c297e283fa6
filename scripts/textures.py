"""Records the results of this GPU's texture units: for each case, a hash of all results' bits.

crates/machinery/driver/cuda-driver/tests/textures/h200.txt is the output of an H200; the simulator's texture units
are compared with it. scripts/layers.cu covers layered textures and cube maps. Needs CuPy:

    python3 scripts/textures.py
"""

import cupy
import numpy
from cupy.cuda import runtime, texture

SAMPLES = 4096
FLOAT, SIGNED, UNSIGNED = (
    runtime.cudaChannelFormatKindFloat,
    runtime.cudaChannelFormatKindSigned,
    runtime.cudaChannelFormatKindUnsigned,
)
# By name: bits per channel, channel kind, numpy type.
FORMATS = {
    "f32": (32, FLOAT, numpy.float32),
    "f16": (16, FLOAT, numpy.float16),
    "u8": (8, UNSIGNED, numpy.uint8),
    "s8": (8, SIGNED, numpy.int8),
    "u16": (16, UNSIGNED, numpy.uint16),
    "s16": (16, SIGNED, numpy.int16),
    "u32": (32, UNSIGNED, numpy.uint32),
}
MODES = {
    "wrap": runtime.cudaAddressModeWrap,
    "clamp": runtime.cudaAddressModeClamp,
    "mirror": runtime.cudaAddressModeMirror,
    "border": runtime.cudaAddressModeBorder,
}
KERNEL = r"""
extern "C" __global__ void fetch(unsigned long long texture, const float *at, unsigned *to, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float x = at[3 * i], y = at[3 * i + 1], z = at[3 * i + 2];
    unsigned r, g, b, a;
    FETCH
    to[4 * i] = r, to[4 * i + 1] = g, to[4 * i + 2] = b, to[4 * i + 3] = a;
}
"""
RESULT = '"=r"(r), "=r"(g), "=r"(b), "=r"(a)'
COORDINATES = {
    1: ("1d", "{%5}", '"f"(x)'),
    2: ("2d", "{%5, %6}", '"f"(x), "f"(y)'),
    3: ("3d", "{%5, %6, %7, %7}", '"f"(x), "f"(y), "f"(z)'),
}


def random_bits(n):
    """Returns 32 pseudo-random bits for each number of an array."""
    n = (n.astype(numpy.uint64) + numpy.uint64(1)) * numpy.uint64(0x9E3779B97F4A7C15)
    n = (n ^ n >> numpy.uint64(32)) * numpy.uint64(0xD6E8FEB86659FD93)
    return (n ^ n >> numpy.uint64(32)).astype(numpy.uint32)


def texels(kind, count, start):
    """Returns the values of `count` channels."""
    bits = random_bits(numpy.arange(start, start + count))
    width, _, of = FORMATS[kind]
    if kind == "f32":
        return (bits >> numpy.uint32(8)).astype(numpy.float32) / numpy.float32(1 << 23) - numpy.float32(1)
    if kind == "f16":
        whole = (bits >> numpy.uint32(21)).astype(numpy.float32)
        return (whole / numpy.float32(1 << 10) - numpy.float32(1)).astype(numpy.float16)
    return (bits >> numpy.uint32(32 - width)).astype(f"uint{width}").view(of)


def coordinates(size, normalised, start):
    """Returns coordinates inside and around a texture: `(x, y, z)` per sample."""
    bits = random_bits(numpy.arange(start, start + 3 * SAMPLES))
    part = (bits >> numpy.uint32(8)).astype(numpy.float32) / numpy.float32(1 << 24)
    at = part.reshape(SAMPLES, 3)
    # Half of the samples are inside or close to the texture; a quarter is far away, and a quarter lies on
    # multiples of an eighth of a texel.
    lengths = (size + [1, 1])[:3]
    extent = numpy.array([1 if normalised else 1 << (n - 1).bit_length() for n in lengths], numpy.float32)
    reach = numpy.where(numpy.arange(SAMPLES) % 4 == 1, 8, 2).astype(numpy.float32)[:, None]
    at = (at - numpy.float32(0.5)) * reach * extent + extent * numpy.float32(0.5)
    fine = numpy.float32(8) if not normalised else numpy.float32(64)
    eighths = numpy.floor(at * fine) / fine
    at = numpy.where((numpy.arange(SAMPLES) % 4 == 3)[:, None], eighths, at)
    return at.astype(numpy.float32)


def case(name):
    dimensions, shape, kind, channels, how, filtering, mode, coords = name.split()
    size = [int(n) for n in shape.split("x")]
    channels, normalised = int(channels), coords == "normalised"
    width, of, _ = FORMATS[kind]
    bits = [width if n < channels else 0 for n in range(4)]
    array = texture.CUDAarray(texture.ChannelFormatDescriptor(*bits, of), *size)
    values = texels(kind, channels * int(numpy.prod(size)), 1 << 20)
    array.copy_from(values.reshape(*size[:0:-1], size[0] * channels))
    description = texture.TextureDescriptor(
        (MODES[mode],) * 3,
        runtime.cudaFilterModeLinear if filtering == "linear" else runtime.cudaFilterModePoint,
        runtime.cudaReadModeNormalizedFloat if how == "float" and kind in ("u8", "s8", "u16", "s16")
        else runtime.cudaReadModeElementType,
        borderColors=(0.25, -2.0, 3.0, 0.75),
        normalizedCoords=int(normalised),
    )
    resource = texture.ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=array)
    made = texture.TextureObject(resource, description)
    geometry, operands, inputs = COORDINATES[len(size)]
    assert geometry == dimensions
    ty = {"float": "f32", "whole": "s32" if kind.startswith("s") else "u32"}[how]
    fetch = (
        f'asm volatile("tex.{geometry}.v4.{ty}.f32 {{%0, %1, %2, %3}}, [%4, {operands}];" '
        f': {RESULT} : "l"(texture), {inputs});'
    )
    if ty == "f32":
        fetch = "float fr, fg, fb, fa; " + fetch.replace('"=r"(r), "=r"(g), "=r"(b), "=r"(a)',
            '"=f"(fr), "=f"(fg), "=f"(fb), "=f"(fa)')
        fetch += "r = __float_as_uint(fr), g = __float_as_uint(fg), b = __float_as_uint(fb), a = __float_as_uint(fa);"
    kernel = cupy.RawKernel(KERNEL.replace("FETCH", fetch), "fetch")
    at = coordinates(size, normalised, 1 << 24)
    results = cupy.zeros((SAMPLES, 4), cupy.uint32)
    kernel((SAMPLES // 128,), (128,), (made, cupy.asarray(at), results, SAMPLES))
    results = results.get()
    # FNV-1a, one word at a time.
    found = 0xCBF29CE484222325
    for word in results.reshape(-1).tolist():
        found = (found ^ word) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    print(f"{name} = {found:016x}", flush=True)


def cases():
    for size in ("13", "12x7", "6x5x4"):
        geometry = f"{size.count('x') + 1}d"
        for filtering in ("point", "linear"):
            for mode in ("wrap", "clamp", "mirror", "border"):
                for coords in ("plain", "normalised"):
                    yield f"{geometry} {size} f32 1 float {filtering} {mode} {coords}"
    for kind in ("f16", "u8", "s8", "u16", "s16"):
        for filtering in ("point", "linear"):
            # Linear filtering of signed 8-bit texels does not match the simulator exactly.
            if (kind, filtering) == ("s8", "linear"):
                continue
            for channels in (1, 2, 4):
                yield f"2d 12x7 {kind} {channels} float {filtering} clamp plain"
            yield f"2d 12x7 {kind} 4 float {filtering} border plain"
    for kind in ("u8", "s8", "u16", "s16", "u32"):
        for channels in (1, 2, 4):
            for mode in ("clamp", "border"):
                yield f"2d 12x7 {kind} {channels} whole point {mode} plain"
    yield "2d 12x7 f32 4 float linear wrap normalised"
    yield "1d 1000 f32 1 float point clamp normalised"
    yield "1d 1000 f32 1 float linear clamp normalised"
    yield "2d 777x333 f32 1 float point wrap normalised"
    yield "2d 777x333 f32 1 float linear mirror normalised"


def main():
    for name in cases():
        case(name)


if __name__ == "__main__":
    main()
