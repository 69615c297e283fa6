"""Kernels with divergent control flow."""

from .access import INDEX, shape
from .launch import Buffer, Launch, Number


def loops(draw):
    """Loops that threads leave after different numbers of iterations."""
    (grid, block), limit = shape(draw), draw.choice(5, 12, 30)
    kind = draw.choice("counted", "collatz", "until", "nested")
    body = {
        "counted": f"""{INDEX}    int sum = 0;
    #pragma nounroll
    for (unsigned k = 0; k < in[i]; k++) sum += in[(i + k * 7) % {grid * block}];
    out[i] = sum;
""",
        "collatz": f"""{INDEX}    unsigned v = in[i] + 1, steps = 0;
    while (v != 1) {{
        v = v % 2 == 0 ? v / 2 : 3 * v + 1;
        steps++;
    }}
    out[i] = steps;
""",
        "until": f"""{INDEX}    unsigned k = i, steps = 0;
    while (in[k] % 4 != 0 && steps < {limit}) {{
        k = (k * 5 + in[k]) % {grid * block};
        steps++;
    }}
    out[i] = steps * 1000 + k;
""",
        "nested": f"""{INDEX}    unsigned sum = 0;
    #pragma nounroll
    for (unsigned a = 0; a < in[i] % 6; a++) {{
        #pragma nounroll
        for (unsigned b = a; b < in[(i + a) % {grid * block}] % 5; b++) sum += a * b + out[i];
    }}
    out[i] = sum;
""",
    }[kind]
    buffers = [
        Buffer("in", "u32", grid * block, limit, draw.seed()),
        Buffer("out", "u32", grid * block),
    ]
    return Launch(f"loop, {kind}, limit {limit}", buffers, body, grid, block)


def branches(draw):
    """Branches on random values: short and long branches, switches, early returns."""
    (grid, block), kinds = shape(draw), draw.choice(2, 4, 8)
    kind = draw.choice("short", "long", "switch", "end", "chain")
    threads = grid * block
    long = "".join(f"        v = v * {2 * n + 3} + (v >> {n % 7 + 1});\n" for n in range(30))
    cases = "".join(
        f"    case {n}: v = v * {n + 3} + in[(i + {n}) % {threads}]; out[i] = v ^ {n}; break;\n"
        for n in range(kinds)
    )
    body = {
        "short": "    if (v % 3 == 0) out[i] = v * 2;\n",
        "long": f"    if (v % 3 == 0) {{\n{long}    }} else {{\n        v += in[(i * 3) % {threads}];\n"
        "    }\n    out[i] = v;\n",
        "switch": f"    switch (v % {kinds}) {{\n{cases}    }}\n",
        "end": f"    if (i >= n) return;\n{long}    out[i] = v;\n",
        "chain": "".join(
            f"    {'else ' if n else ''}if (v % {kinds + 3} == {n}) out[i] = in[(i + {n + 1}) % {threads}]"
            f" * {n + 2};\n"
            for n in range(kinds)
        ),
    }[kind]
    parameters = [
        Buffer("in", "u32", threads, 1000, draw.seed()),
        Buffer("out", "u32", threads),
        Number("n", threads - draw.below(block)),
    ]
    head = f"{INDEX}    unsigned v = in[i];\n"
    return Launch(f"branches, {kind}, {kinds}", parameters, head + body, grid, block)


def sorts(draw):
    """A block's elements sorted by exchanging pairs in shared memory."""
    block, grid = draw.choice(32, 64, 128), draw.between(1, 5)
    kind = draw.choice("bitonic", "odd and even")
    head = f"""    int t = threadIdx.x, i = blockIdx.x * {block} + t;
    __shared__ unsigned s[{block}];
    s[t] = in[i];
    __syncthreads();
"""
    body = {
        "bitonic": f"""    for (int size = 2; size <= {block}; size *= 2)
        for (int d = size / 2; d > 0; d /= 2) {{
            int other = t ^ d;
            if (other > t) {{
                unsigned a = s[t], b = s[other];
                if ((a > b) == ((t & size) == 0)) {{ s[t] = b; s[other] = a; }}
            }}
            __syncthreads();
        }}
""",
        "odd and even": f"""    for (int round = 0; round < {block}; round++) {{
        int a = 2 * t + round % 2;
        if (a + 1 < {block}) {{
            unsigned x = s[a], y = s[a + 1];
            if (x > y) {{ s[a] = y; s[a + 1] = x; }}
        }}
        __syncthreads();
    }}
""",
    }[kind]
    buffers = [
        Buffer("in", "u32", block * grid, 1000, draw.seed()),
        Buffer("out", "u32", block * grid),
    ]
    return Launch(f"sort, {kind}, {block}", buffers, head + body + "    out[i] = s[t];\n", grid, block)


def queues(draw):
    """Selected elements are counted and assigned slots, by warp votes or with an atomic per element."""
    (grid, block), kind = shape(draw), draw.choice("votes", "atomics")
    block, share = -(-block // 32) * 32, draw.choice(2, 3, 10)
    if kind == "votes":
        body = f"""{INDEX}    bool chosen = in[i] % {share} == 0;
    unsigned votes = __ballot_sync(0xffffffffu, chosen);
    int lane = threadIdx.x % 32;
    if (lane == 0) atomicAdd(count, __popc(votes));
    out[i] = chosen ? __popc(votes & ((1u << lane) - 1)) : 99;
"""
    else:
        body = f"{INDEX}    if (in[i] % {share} == 0) out[i] = atomicAdd(count, 1u) < {1 << 20};\n"
    buffers = [
        Buffer("in", "u32", grid * block, 1000, draw.seed()),
        Buffer("out", "u32", grid * block),
        Buffer("count", "u32", 1),
    ]
    return Launch(f"queue by {kind}, one of {share}", buffers, body, grid, block)


FAMILIES = [loops, branches, sorts, queues]
