"""Kernels for the subjects of Triton's tutorials: add, softmax, matrix multiplication, dropout, layer norm, attention,
grouped matrix multiplication. Results are compared with numpy's."""

import numpy
import pytest
import triton
import triton.language as tl
from arrays import Array, poisoned

RANDOM = numpy.random.default_rng(0)


def normal(*shape, dtype=numpy.float32):
    return RANDOM.standard_normal(shape).astype(dtype)


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@pytest.mark.parametrize("n", [1, 31, 1000, 98432])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
def test_add(n, dtype):
    x, y = (RANDOM.integers(-99, 99, n).astype(dtype) for _ in range(2))
    out = poisoned(n, dtype)
    add[(triton.cdiv(n, 1024),)](Array(x), Array(y), out, n, BLOCK=1024)
    assert (out.numpy() == x + y).all()


@triton.jit
def softmax(x, out, rows, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        values = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
        powers = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + row * columns + at, powers / tl.sum(powers, axis=0), mask=at < columns)


@pytest.mark.parametrize("rows, columns", [(64, 781), (5, 1), (33, 256), (4, 3000)])
@pytest.mark.parametrize("warps", [1, 4, 8])
@pytest.mark.parametrize("stages", [1, 4])
def test_softmax(rows, columns, warps, stages):
    x = normal(rows, columns)
    out = poisoned(x.shape, x.dtype)
    block = triton.next_power_of_2(columns)
    softmax[(min(rows, 8),)](Array(x), out, rows, columns, BLOCK=block, STAGES=stages, num_warps=warps)
    powers = numpy.exp(x.astype(float) - x.max(1, keepdims=True))
    numpy.testing.assert_allclose(out.numpy(), powers / powers.sum(1, keepdims=True), rtol=1e-5)


@triton.jit
def leaky(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def matmul(
    a, b, c, M, N, K, a_row, a_column, b_row, b_column,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, LEAKY: tl.constexpr,
):  # fmt: skip
    # Order blocks in groups of a few rows, so that the columns of B that they read are still in the cache.
    program, columns = tl.program_id(0), tl.cdiv(N, BN)
    group = program // (GROUP * columns)
    height = min(tl.cdiv(M, BM) - group * GROUP, GROUP)
    row = group * GROUP + (program % (GROUP * columns)) % height
    column = (program % (GROUP * columns)) // height
    i = row * BM + tl.arange(0, BM)
    j = column * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    from_a = a + (i % M)[:, None] * a_row + k[None, :] * a_column
    from_b = b + k[:, None] * b_row + (j % N)[None, :] * b_column
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        left = K - step * BK
        tile = tl.load(from_a, mask=k[None, :] < left, other=0.0)
        total = tl.dot(tile, tl.load(from_b, mask=k[:, None] < left, other=0.0), total)
        from_a += BK * a_column
        from_b += BK * b_row
    if LEAKY:
        total = leaky(total)
    inside = (i[:, None] < M) & (j[None, :] < N)
    tl.store(c + i[:, None] * N + j[None, :], total.to(c.dtype.element_ty), mask=inside)


@pytest.mark.parametrize("tile", [(16, 16, 16, 1, 1), (32, 64, 32, 4, 2), (64, 64, 32, 4, 3), (128, 64, 64, 8, 4)])
@pytest.mark.parametrize("size", [(128, 128, 128), (65, 70, 100)])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("activation", [False, True])
def test_matmul(tile, size, transposed, activation):
    (BM, BN, BK, warps, stages), (M, N, K) = tile, size
    a, b = normal(M, K, dtype=numpy.float16), normal(K, N, dtype=numpy.float16)
    out = poisoned((M, N), numpy.float16)
    strides = (1, K) if transposed else (N, 1)
    grid = (triton.cdiv(M, BM) * triton.cdiv(N, BN),)
    matmul[grid](
        Array(a), Array(b.T if transposed else b), out, M, N, K, K, 1, *strides,
        BM=BM, BN=BN, BK=BK, GROUP=2, LEAKY=activation, num_warps=warps, num_stages=stages,
    )  # fmt: skip
    right = a.astype(float) @ b.astype(float)
    right = numpy.where(right >= 0, right, 0.01 * right) if activation else right
    numpy.testing.assert_allclose(out.numpy(), right, rtol=2e-3, atol=2e-2)


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    kept = tl.rand(seed, at) > p
    tl.store(out + at, tl.where(kept, tl.load(x + at, mask=at < n) / (1 - p), 0.0), mask=at < n)


def philox(seed, counter):
    """Returns the first word of Philox 4x32-10 (Salmon et al., 2011)."""
    words = [counter.astype(numpy.uint64)] + [numpy.zeros_like(counter, numpy.uint64)] * 3
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        a, b = words[0] * 0xD2511F53, words[2] * 0xCD9E8D57
        low = numpy.uint64(0xFFFFFFFF)
        words = [(b >> 32) ^ words[1] ^ key[0], b & low, (a >> 32) ^ words[3] ^ key[1], a & low]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return words[0]


@pytest.mark.parametrize("seed", [0, 123, 512])
def test_dropout(seed):
    x = normal(1000)
    out = poisoned(1000, numpy.float32)
    dropout[(4,)](Array(x), out, 1000, 0.5, seed, BLOCK=256)
    drawn = philox(seed, numpy.arange(1000)).astype(numpy.uint32).view(numpy.int32).astype(numpy.int64)
    drawn = numpy.where(drawn < 0, -drawn - 1, drawn) * 4.6566127342e-10
    assert (out.numpy() == numpy.where(drawn > 0.5, x * 2, 0)).all()


@triton.jit
def layer_norm(x, out, weight, bias, means, inverses, n, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x += row * n
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for begin in range(0, n, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        total += tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / n
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for begin in range(0, n, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        off = tl.where(at < n, tl.load(x + at, mask=at < n, other=0.0).to(tl.float32) - mean, 0.0)
        total += off * off
    inverse = 1 / tl.sqrt(tl.sum(total, axis=0) / n + epsilon)
    tl.store(means + row, mean)
    tl.store(inverses + row, inverse)
    for begin in range(0, n, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        inside = at < n
        normed = (tl.load(x + at, mask=inside).to(tl.float32) - mean) * inverse
        scaled = normed * tl.load(weight + at, mask=inside) + tl.load(bias + at, mask=inside)
        tl.store(out + row * n + at, scaled, mask=inside)


@triton.jit
def layer_norm_back(dx, dy, dw, db, x, weight, means, inverses, locks, n, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    # Sum the rows of a group into one, with a lock each and a flag that is set by the first block.
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < n
    dx_row = tl.load(dy + row * n + at, mask=inside, other=0.0).to(tl.float32)
    mean, inverse = tl.load(means + row), tl.load(inverses + row)
    normed = tl.where(inside, (tl.load(x + row * n + at, mask=inside, other=0.0).to(tl.float32) - mean) * inverse, 0.0)
    weighted = tl.load(weight + at, mask=inside, other=0.0).to(tl.float32) * dx_row
    a, b = tl.sum(normed * weighted, axis=0) / n, tl.sum(weighted, axis=0) / n
    tl.store(dx + row * n + at, (weighted - (normed * a + b)) * inverse, mask=inside)
    own = row % GROUP
    lock, count = locks + own, locks + GROUP + own
    dw_part, db_part = dx_row * normed, dx_row
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    else:
        dw_part += tl.load(dw + own * n + at, mask=inside)
        db_part += tl.load(db + own * n + at, mask=inside)
    tl.store(dw + own * n + at, dw_part, mask=inside)
    tl.store(db + own * n + at, db_part, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@pytest.mark.parametrize("rows, n", [(8, 200), (33, 512), (5, 1000)])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_layer_norm(rows, n, dtype):
    x, dy = normal(rows, n, dtype=dtype), normal(rows, n, dtype=dtype)
    weight, bias = normal(n), normal(n)
    x_gpu, weight_gpu = Array(x), Array(weight)
    out = poisoned(x.shape, dtype)
    means, inverses = poisoned(rows, numpy.float32), poisoned(rows, numpy.float32)
    layer_norm[(rows,)](x_gpu, out, weight_gpu, Array(bias), means, inverses, n, 1e-5, BLOCK=256)
    exact = x.astype(float)
    inverse = 1 / numpy.sqrt(exact.var(1, keepdims=True) + 1e-5)
    normed = (exact - exact.mean(1, keepdims=True)) * inverse
    close = {"rtol": 2e-3, "atol": 2e-2} if dtype == "float16" else {"rtol": 1e-4, "atol": 1e-4}
    numpy.testing.assert_allclose(out.numpy(), normed * weight + bias, **close)

    groups, block = 4, triton.next_power_of_2(n)
    dx = poisoned(x.shape, dtype)
    dw, db = poisoned((groups, n), numpy.float32), poisoned((groups, n), numpy.float32)
    locks = Array(numpy.zeros(2 * groups, numpy.int32))
    layer_norm_back[(rows,)](
        dx, Array(dy), dw, db, x_gpu, weight_gpu, means, inverses, locks, n, GROUP=groups, BLOCK=block, num_warps=8
    )
    weighted = weight * dy.astype(float)
    a, b = (normed * weighted).mean(1, keepdims=True), weighted.mean(1, keepdims=True)
    numpy.testing.assert_allclose(dx.numpy(), (weighted - (normed * a + b)) * inverse, **close)
    numpy.testing.assert_allclose(dw.numpy().sum(0), (dy * normed).sum(0), **close)
    numpy.testing.assert_allclose(db.numpy().sum(0), dy.astype(float).sum(0), **close)


@triton.jit
def attention(q, k, v, out, n, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    begin, head = tl.program_id(0) * BM, tl.program_id(1) * n * D
    i, d = begin + tl.arange(0, BM), tl.arange(0, D)
    query = tl.load(q + head + i[:, None] * D + d[None, :])
    largest = tl.full([BM], -float("inf"), dtype=tl.float32)
    weights = tl.zeros([BM], dtype=tl.float32)
    total = tl.zeros([BM, D], dtype=tl.float32)
    # The hardware computes exponentials to base 2.
    scale *= 1.44269504
    for step in range(0, begin + BM if CAUSAL else n, BN):
        j = step + tl.arange(0, BN)
        key = tl.load(k + head + j[None, :] * D + d[:, None])
        scores = tl.dot(query, key) * scale
        if CAUSAL:
            scores = tl.where(i[:, None] >= j[None, :], scores, -1.0e6)
        larger = tl.maximum(largest, tl.max(scores, 1))
        powers = tl.math.exp2(scores - larger[:, None])
        before = tl.math.exp2(largest - larger)
        weights = weights * before + tl.sum(powers, 1)
        total = total * before[:, None]
        value = tl.load(v + head + j[:, None] * D + d[None, :])
        total = tl.dot(powers.to(value.dtype), value, total)
        largest = larger
    tl.store(out + head + i[:, None] * D + d[None, :], (total / weights[:, None]).to(out.dtype.element_ty))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("D", [32, 64])
@pytest.mark.parametrize("BM, BN, warps, stages", [(64, 32, 4, 1), (64, 64, 4, 3), (128, 32, 8, 2)])
def test_attention(causal, D, BM, BN, warps, stages):
    heads, n = 2, 256
    q, k, v = (normal(heads, n, D, dtype=numpy.float16) for _ in range(3))
    out = poisoned(q.shape, numpy.float16)
    attention[(n // BM, heads)](
        Array(q), Array(k), Array(v), out, n, 0.5,
        D=D, BM=BM, BN=BN, CAUSAL=causal, num_warps=warps, num_stages=stages,
    )  # fmt: skip
    scores = q.astype(float) @ k.astype(float).transpose(0, 2, 1) * 0.5
    if causal:
        scores = numpy.where(numpy.tri(n, dtype=bool), scores, -numpy.inf)
    powers = numpy.exp(scores - scores.max(2, keepdims=True))
    right = powers / powers.sum(2, keepdims=True) @ v.astype(float)
    numpy.testing.assert_allclose(out.numpy(), right, rtol=5e-3, atol=1e-2)


@triton.jit
def grouped(addresses_a, addresses_b, addresses_c, sizes, count, PROGRAMS: tl.constexpr, T: tl.constexpr):
    tile, last = tl.program_id(0), 0
    for which in range(count):
        M, N, K = tl.load(sizes + which * 3), tl.load(sizes + which * 3 + 1), tl.load(sizes + which * 3 + 2)
        across = tl.cdiv(N, T)
        tiles = tl.cdiv(M, T) * across
        a = tl.load(addresses_a + which).to(tl.pointer_type(tl.float16))
        b = tl.load(addresses_b + which).to(tl.pointer_type(tl.float16))
        c = tl.load(addresses_c + which).to(tl.pointer_type(tl.float16))
        while tile >= last and tile < last + tiles:
            i = (tile - last) // across * T + tl.arange(0, T)
            j = (tile - last) % across * T + tl.arange(0, T)
            k = tl.arange(0, T)
            total = tl.zeros((T, T), dtype=tl.float32)
            for begin in range(0, K, T):
                of_a = tl.load(a + i[:, None] * K + begin + k[None, :])
                of_b = tl.load(b + (begin + k)[:, None] * N + j[None, :])
                total += tl.dot(of_a, of_b)
            tl.store(c + i[:, None] * N + j[None, :], total.to(tl.float16))
            tile += PROGRAMS
        last += tiles


@pytest.mark.parametrize("programs", [1, 7])
def test_grouped_matmul(programs):
    sizes = numpy.array([(64, 32, 64), (32, 96, 32), (128, 64, 96)], numpy.int32)
    of_a = [normal(M, K, dtype=numpy.float16) for M, _, K in sizes]
    of_b = [normal(K, N, dtype=numpy.float16) for _, N, K in sizes]
    arrays = [[Array(one) for one in of_a], [Array(one) for one in of_b]]
    arrays.append([poisoned((M, N), numpy.float16) for M, N, _ in sizes])
    lists = [Array(numpy.array([one.data_ptr() for one in row], numpy.int64)) for row in arrays]
    grouped[(programs,)](*lists, Array(sizes), len(sizes), PROGRAMS=programs, T=32)
    for a, b, c in zip(of_a, of_b, arrays[2], strict=True):
        numpy.testing.assert_allclose(c.numpy(), a.astype(float) @ b.astype(float), rtol=2e-3, atol=2e-2)
