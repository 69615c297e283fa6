"""Kernels that read and write memory in many access patterns."""

from .launch import TYPES, Buffer, Launch, Number

INDEX = "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"


def shape(draw):
    """Draws a number of blocks and of threads per block. The last warp is not always full."""
    return draw.between(2, 12), draw.choice(32, 64, 96, 128, 100, 192, 256)


def strides(draw):
    """One element per thread, with a stride and an offset."""
    of, (grid, block) = draw.choice("u8", "u16", "u32", "u64", "f32", "f64"), shape(draw)
    step, offset = draw.choice(1, 2, 3, 4, 5, 7, 8, 16, 17, 32, 33), draw.below(9)
    back = draw.choice(1, 1, 2, 3)
    threads = grid * block
    body = f"{INDEX}    out[i * {back}] = in[i * {step} + {offset}] + ({TYPES[of]})1;\n"
    buffers = [
        Buffer("in", of, threads * step + offset, 100, draw.seed()),
        Buffer("out", of, threads * back),
    ]
    return Launch(f"stride {step} from {offset}, {of}, back {back}", buffers, body, grid, block)


def scattered(draw):
    """Elements at random indices, read or written."""
    of, (grid, block) = draw.choice("u8", "u16", "u32", "f32", "f64"), shape(draw)
    threads, reach = grid * block, draw.choice(16, 64, 500, 4000)
    write = draw.choice(False, True)
        # Threads that write to the same element write the same value.
    line = f"out[at[i]] = ({TYPES[of]})at[i];" if write else "out[i] = in[at[i]];"
    buffers = [Buffer("at", "u32", threads, reach, draw.seed())]
    if not write:
        buffers.append(Buffer("in", of, reach, 200, draw.seed()))
    buffers.append(Buffer("out", of, reach if write else threads))
    body = f"{INDEX}    {line}\n"
    kind = "scatter to" if write else "gather from"
    return Launch(f"{kind} {reach}, {of}", buffers, body, grid, block)


def structures(draw):
    """Structures of several words: read whole or in part, and written whole or not."""
    words, (grid, block) = draw.choice(2, 3, 4, 5, 6, 7, 8, 12, 16), shape(draw)
    aligned = draw.choice(4, 8, 16) if words % 4 == 0 else draw.choice(4, 8) if words % 2 == 0 else 4
    read = draw.choice("all", "all", "some")
    whole = draw.choice(False, True)
    fields = ", ".join(f"f{n}" for n in range(words))
    before = f"struct __align__({aligned}) S{words}_{aligned} {{ float {fields}; }};\n"
    name = f"S{words}_{aligned}"
    chosen = range(words) if read == "all" else sorted({draw.below(words) for _ in range(3)})
    total = " + ".join(f"{n + 1}.0f * s.f{n}" for n in chosen)
    fill = "".join(f" r.f{n} = sum + {n}.0f;" for n in range(words))
    put = f"{name} r;{fill} out[i] = r;" if whole else "out[i] = sum;"
    body = f"{INDEX}    {name} s = in[i];\n    float sum = {total};\n    {put}\n"
    threads = grid * block
    buffers = [
        Buffer("in", "f32", threads * words, 50, draw.seed(), type=name),
        Buffer("out", "f32", threads * (words if whole else 1), type=name if whole else None),
    ]
    label = f"structures of {words} words aligned to {aligned}, {read} read"
    return Launch(label + (", whole written" if whole else ""), buffers, body, grid, block, before)


def vectors(draw):
    """Vectors of several elements, read and written."""
    vector, of, lanes, add = draw.choice(
        ("uchar4", "u8", 4, "v.x += v.w; v.y ^= v.z;"),
        ("float2", "f32", 2, "v.x += v.y;"),
        ("float4", "f32", 4, "v.x += v.w; v.y += v.z;"),
        ("double2", "f64", 2, "v.x += v.y;"),
        ("uint4", "u32", 4, "v.x += v.w; v.y ^= v.z;"),
        ("ushort4", "u16", 4, "v.x += v.w;"),
        ("int2", "u32", 2, "v.x -= v.y;"),
    )
    step, (grid, block) = draw.choice(1, 1, 2, 3, 4), shape(draw)
    count = grid * block * step * lanes
    body = f"{INDEX}    {vector} v = in[i * {step}];\n    {add}\n    out[i * {step}] = v;\n"
    buffers = [
        Buffer("in", of, count, 90, draw.seed(), type=vector),
        Buffer("out", of, count, type=vector),
    ]
    return Launch(f"{vector}, step {step}", buffers, body, grid, block)


def transposes(draw):
    """A matrix transposed directly, or through a tile of shared memory with or without padding."""
    tile, tiles = draw.choice(8, 16, 32), draw.between(2, 5)
    n, way, pad = tile * tiles, draw.choice("direct", "tile"), draw.choice(0, 1, 2)
    rows = draw.choice(tile, tile // 2)
    steps = tile // rows
    body = f"""    int x = blockIdx.x * {tile} + threadIdx.x, y = blockIdx.y * {tile} + threadIdx.y;
"""
    each = f"for (int j = 0; j < {tile}; j += {rows})"
    if way == "direct":
        body += f"    {each} out[x * {n} + y + j] = in[(y + j) * {n} + x];\n"
    else:
        body += f"""    __shared__ float s[{tile}][{tile + pad}];
    {each} s[threadIdx.y + j][threadIdx.x] = in[(y + j) * {n} + x];
    __syncthreads();
    x = blockIdx.y * {tile} + threadIdx.x, y = blockIdx.x * {tile} + threadIdx.y;
    {each} out[(y + j) * {n} + x] = s[threadIdx.x][threadIdx.y + j];
"""
    buffers = [Buffer("in", "f32", n * n, 99, draw.seed()), Buffer("out", "f32", n * n)]
    label = f"transpose {n}, {way}" + (f" of {tile} + {pad}" if way == "tile" else f" of {tile}")
    return Launch(f"{label}, {steps} rows", buffers, body, [tiles, tiles], [tile, rows])


def constants(draw):
    """A table in constant memory, read at indices with many patterns."""
    (grid, block), size = shape(draw), draw.choice(32, 64, 256, 1024)
    of = draw.choice("int", "int", "float", "short", "double")
    index = draw.choice(
        "threadIdx.x", "blockIdx.x", "threadIdx.x / 32", "threadIdx.x / 4", "threadIdx.x * 3",
        "at[i]",
    )  # fmt: skip
    rounds = draw.choice(1, 1, 4)
    values = ", ".join(str((n * 37 + 11) % 101) for n in range(size))
    name = f"table_{of}_{size}_{draw.below(10000)}"
    before = f"__constant__ {of} {name}[{size}] = {{{values}}};\n"
    body = f"""{INDEX}    {of} sum = 0;
    #pragma nounroll
    for (int k = 0; k < n; k++) sum += {name}[(({index}) + k * 5) % {size}];
    out[i] = sum;
"""
    buffers = [
        Buffer("at", "u32", grid * block, size, draw.seed()),
        Buffer("out", {"short": "u16", "double": "f64", "float": "f32", "int": "u32"}[of],
               grid * block, type=of),
        Number("n", rounds),
    ]  # fmt: skip
    return Launch(f"constant {of}[{size}] at {index} × {rounds}", buffers, body, grid, block, before)


def local_arrays(draw):
    """Per-thread local arrays with indices known only at run time."""
    (grid, block), size = shape(draw), draw.choice(4, 8, 12, 20)
    of = draw.choice("u32", "f32", "u16", "u64", "u8")
    kind = draw.choice("counts", "reversed", "sorted")
    type, threads = TYPES[of], grid * block
    fill = f"""{INDEX}    {type} a[{size}];
    for (int k = 0; k < {size}; k++) a[k] = {'0' if kind == 'counts' else f'in[k * {threads} + i]'};
"""
    if kind == "counts":
        work = f"""    for (int k = 0; k < {size}; k++) a[(unsigned)in[k * {threads} + i] % {size}] += 1;
    out[i] = a[i % {size}];
"""
    elif kind == "reversed":
        work = f"""    {type} sum = 0;
    for (int k = 0; k < {size}; k++) sum += a[(unsigned)(i + k * n) % {size}] * ({type})(k + 1);
    out[i] = sum;
"""
    else:
        work = f"""    #pragma nounroll
    for (int k = 1; k < {size}; k++) {{
        {type} v = a[k];
        int j = k - 1;
        #pragma nounroll
        while (j >= 0 && a[j] > v) {{ a[j + 1] = a[j]; j--; }}
        a[j + 1] = v;
    }}
    out[i] = a[n];
"""
    parameters = [
        Buffer("in", of, threads * size, 60, draw.seed()),
        Buffer("out", of, threads),
        Number("n", draw.between(1, 3)),
    ]
    return Launch(f"local {type}[{size}], {kind}", parameters, fill + work, grid, block)


FAMILIES = [
    strides, scattered, structures, vectors, transposes, constants, local_arrays,
]  # fmt: skip
