"""Kernels whose threads cooperate through shared memory, atomics and shuffles."""

from .access import INDEX, shape
from .launch import TYPES, Buffer, Launch

FULL = "0xffffffffu"


def histograms(draw):
    """Histograms of random values, accumulated in shared memory first or directly in device memory."""
    (grid, block), bins = shape(draw), draw.choice(8, 32, 64, 200, 256)
    values, of = draw.choice(bins, max(bins // 8, 1)), draw.choice("u32", "u32", "f32")
    each, where = draw.between(1, 4), draw.choice("shared", "shared", "global")
    type, one = TYPES[of], "1.0f" if of == "f32" else "1u"
    count = grid * block * each
    loop = f"for (int k = 0; k < {each}; k++)"
    if where == "shared":
        body = f"""{INDEX}    __shared__ {type} s[{bins}];
    for (int b = threadIdx.x; b < {bins}; b += blockDim.x) s[b] = 0;
    __syncthreads();
    {loop} atomicAdd(&s[in[i * {each} + k]], {one});
    __syncthreads();
    for (int b = threadIdx.x; b < {bins}; b += blockDim.x) atomicAdd(&out[b], s[b]);
"""
    else:
        body = f"{INDEX}    {loop} atomicAdd(&out[in[i * {each} + k]], {one});\n"
    buffers = [Buffer("in", "u32", count, values, draw.seed()), Buffer("out", of, bins)]
    label = f"histogram of {bins} bins, {values} used, {type}, {where}"
    return Launch(label, buffers, body, grid, block)


def scans(draw):
    """Prefix sums of a block's elements."""
    block, grid = draw.choice(64, 128, 256), draw.between(1, 6)
    way = draw.choice("steps", "tree", "tree", "padded tree", "shuffles")
    of = draw.choice("u32", "f32")
    type = TYPES[of]
    head = f"    int t = threadIdx.x, i = blockIdx.x * {block} + t;\n"
    if way == "steps":
        body = f"""{head}    __shared__ {type} s[2][{block}];
    int from = 0;
    s[0][t] = in[i];
    __syncthreads();
    for (int d = 1; d < {block}; d *= 2) {{
        s[1 - from][t] = t >= d ? s[from][t] + s[from][t - d] : s[from][t];
        from = 1 - from;
        __syncthreads();
    }}
    out[i] = s[from][t];
"""
    elif way == "shuffles":
        body = f"""{head}    __shared__ {type} sums[32];
    {type} v = in[i];
    for (int d = 1; d < 32; d *= 2) {{
        {type} other = __shfl_up_sync({FULL}, v, d);
        if (t % 32 >= d) v += other;
    }}
    if (t % 32 == 31) sums[t / 32] = v;
    __syncthreads();
    for (int w = 0; w < t / 32; w++) v += sums[w];
    out[i] = v;
"""
    else:
        pad = " + (n) / 32" if way == "padded tree" else ""
        before = f"#undef AT\n#define AT(n) ((n){pad})\n"
        # Each thread has two elements, as in the usual tree.
        mine = f"blockIdx.x * {2 * block} + 2 * t"
        body = f"""    int t = threadIdx.x, apart = 1;
    __shared__ {type} s[{2 * block + block // 16}];
    s[AT(2 * t)] = in[{mine}];
    s[AT(2 * t + 1)] = in[{mine} + 1];
    for (int d = {block}; d > 0; d /= 2) {{
        __syncthreads();
        if (t < d) {{
            int a = apart * (2 * t + 1) - 1, b = apart * (2 * t + 2) - 1;
            s[AT(b)] += s[AT(a)];
        }}
        apart *= 2;
    }}
    if (t == 0) s[AT({2 * block - 1})] = 0;
    for (int d = 1; d <= {block}; d *= 2) {{
        apart /= 2;
        __syncthreads();
        if (t < d) {{
            int a = apart * (2 * t + 1) - 1, b = apart * (2 * t + 2) - 1;
            {type} left = s[AT(a)];
            s[AT(a)] = s[AT(b)];
            s[AT(b)] += left;
        }}
    }}
    __syncthreads();
    out[{mine}] = s[AT(2 * t)];
    out[{mine} + 1] = s[AT(2 * t + 1)];
"""
        count = 2 * block * grid
        buffers = [Buffer("in", of, count, 9, draw.seed()), Buffer("out", of, count)]
        return Launch(f"scan by a {way} of {block}, {type}", buffers, body, grid, block, before)
    count = block * grid
    buffers = [Buffer("in", of, count, 9, draw.seed()), Buffer("out", of, count)]
    return Launch(f"scan by {way} of {block}, {type}", buffers, body, grid, block)


def reductions(draw):
    """A block's sum, computed in several ways. Atomics combine the blocks' sums."""
    block, grid = draw.choice(64, 128, 256), draw.between(2, 8)
    way = draw.choice("neighbours", "halves", "shuffles", "atomics")
    of = draw.choice("u32", "f32")
    type = TYPES[of]
    head = f"    int t = threadIdx.x, i = blockIdx.x * {block} + t;\n"
    if way == "shuffles":
        work = f"""    {type} v = in[i];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync({FULL}, v, d);
    if (t % 32 == 0) atomicAdd(out, v);
"""
    elif way == "atomics":
        work = f"""    __shared__ {type} sum;
    if (t == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[i]);
    __syncthreads();
    if (t == 0) out[blockIdx.x] = sum;
"""
    else:
        loop = {
            "neighbours": f"for (int d = 1; d < {block}; d *= 2) {{\n        if (t % (2 * d) == 0)",
            "halves": f"for (int d = {block // 2}; d > 0; d /= 2) {{\n        if (t < d)",
        }[way]
        work = f"""    __shared__ {type} s[{block}];
    s[t] = in[i];
    __syncthreads();
    {loop} s[t] += s[t + d];
        __syncthreads();
    }}
    if (t == 0) out[blockIdx.x] = s[0];
"""
    buffers = [Buffer("in", of, block * grid, 9, draw.seed()), Buffer("out", of, grid)]
    return Launch(f"sum by {way} of {block}, {type}", buffers, head + work, grid, block)


# The call of each operation, and the types for which it exists.
OPERATIONS = {
    "add": ("atomicAdd({at}, {v})", ["u32", "u64", "f32"]),
    "min": ("atomicMin({at}, {v})", ["u32", "u64"]),
    "max": ("atomicMax({at}, {v})", ["u32", "u64"]),
    "and": ("atomicAnd({at}, {v})", ["u32", "u64"]),
    "or": ("atomicOr({at}, {v})", ["u32", "u64"]),
    "xor": ("atomicXor({at}, {v})", ["u32", "u64"]),
    "exchange": ("atomicExch({at}, {v})", ["u32", "u64"]),
    "swap": ("atomicCAS({at}, ({type})0, {v})", ["u32", "u64"]),
    "increment": ("atomicInc({at}, 7u)", ["u32"]),
}


def shared_atomics(draw):
    return atomics(draw, "shared")


def global_atomics(draw):
    return atomics(draw, "global")


def atomics(draw, where):
    """Atomics of all kinds, on as many addresses as there are threads or on few."""
    (grid, block), name = shape(draw), draw.choice(*OPERATIONS)
    block = max(block, 64)
    call, types = OPERATIONS[name]
    of = draw.choice(*types)
    count = draw.choice(1, 2, 7, 32, 64)
    spread = draw.choice("t % {}", "t / 4 % {}", "in[i] % {}").format(count)
    # The result of an exchange depends on the order of the threads, so all threads write the same value.
    value = "7" if name in ("exchange", "swap") else "in[i] + 1"
    used = draw.choice(False, True) and name not in ("exchange", "swap", "increment")
    type = TYPES[of]
    target = "s" if where == "shared" else "out"
    act = call.format(at=f"&{target}[{spread}]", v=f"({type})({value})", type=type)
    body = f"    int t = threadIdx.x, i = blockIdx.x * {block} + t;\n"
    if where == "shared":
        body += f"""    __shared__ {type} s[{count}];
    if (t < {count}) s[t] = 0;
    __syncthreads();
"""
    # The old value is used, but the result does not depend on the order.
    body += f"    if ({act} == ({type})12345) other[i] = 1;\n" if used else f"    {act};\n"
    if where == "shared":
        body += f"    __syncthreads();\n    if (t < {count}) out[blockIdx.x * {count} + t] = s[t];\n"
    buffers = [
        Buffer("in", "u32", grid * block, 50, draw.seed()),
        Buffer("out", of, count * grid),
        Buffer("other", "u32", grid * block),
    ]
    label = f"atomic {name}, {type}, {where}, {spread}" + (", old value used" if used else "")
    return Launch(label, buffers, body, grid, block)


def tiles(draw):
    """A stencil or a matrix product with tiles of shared memory whose rows are read in some order."""
    tile, tiles = draw.choice(8, 16), draw.between(2, 4)
    n, kind = tile * tiles, draw.choice("product", "stencil")
    if kind == "product":
        body = f"""    int x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * {tile} + x, row = blockIdx.y * {tile} + y;
    __shared__ float a[{tile}][{tile}], b[{tile}][{tile}];
    float sum = 0;
    for (int k = 0; k < {n}; k += {tile}) {{
        a[y][x] = in[row * {n} + k + x];
        b[y][x] = in[(k + y) * {n} + column];
        __syncthreads();
        for (int j = 0; j < {tile}; j++) sum += a[y][j] * b[j][x];
        __syncthreads();
    }}
    out[row * {n} + column] = sum;
"""
    else:
        body = f"""    int x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * {tile} + x, row = blockIdx.y * {tile} + y;
    __shared__ float s[{tile + 2}][{tile + 2}];
    for (int k = y * {tile} + x; k < {(tile + 2) ** 2}; k += {tile * tile}) {{
        int c = blockIdx.x * {tile} + k % {tile + 2} - 1;
        int r = blockIdx.y * {tile} + k / {tile + 2} - 1;
        bool inside = c >= 0 && c < {n} && r >= 0 && r < {n};
        s[k / {tile + 2}][k % {tile + 2}] = inside ? in[r * {n} + c] : 0.0f;
    }}
    __syncthreads();
    out[row * {n} + column] = s[y + 1][x + 1] * 4.0f - s[y][x + 1] - s[y + 2][x + 1]
        - s[y + 1][x] - s[y + 1][x + 2];
"""
    buffers = [Buffer("in", "f32", n * n, 7, draw.seed()), Buffer("out", "f32", n * n)]
    return Launch(f"{kind} of {n} by tiles of {tile}", buffers, body, [tiles, tiles], [tile, tile])


FAMILIES = [histograms, scans, reductions, shared_atomics, global_atomics, tiles]
