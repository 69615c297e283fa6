"""Tests of the operations of Triton's language by type and shape. Results are compared with numpy's."""

import hashlib
import importlib.util
import math
import pathlib
import tempfile

import numpy
import pytest
import triton
import triton.language as tl
from arrays import Array, brain_floats, from_brain_floats, poisoned

RANDOM = numpy.random.default_rng(0)
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
WHOLE = SIGNED + UNSIGNED
FLOATS = ["float16", "float32", "float64"]


def some(shape, dtype, limit=None):
    """Returns random numbers of a type, integers from the whole range or up to `limit` in magnitude."""
    dtype = numpy.dtype(dtype)
    if dtype.kind == "f":
        return (RANDOM.standard_normal(shape) * 4).astype(dtype)
    limits = numpy.iinfo(dtype)
    low, high = (limits.min, limits.max) if limit is None else (max(limits.min, -limit), min(limits.max, limit))
    return RANDOM.integers(low, high, shape, dtype, endpoint=True)


def compiled(text, name="kernel"):
    """Writes a kernel's text to a file, from which Triton reads it, and returns the kernel."""
    folder = pathlib.Path(tempfile.gettempdir()) / "triton-kernels"
    folder.mkdir(exist_ok=True)
    text = f"import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n{text}"
    path = folder / f"k{hashlib.sha256(text.encode()).hexdigest()[:16]}.py"
    if not path.exists():
        path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def of_two(expression):
    return compiled(f"""
@triton.jit
def kernel(x, y, out, N: tl.constexpr):
    at = tl.arange(0, N)
    a, b = tl.load(x + at), tl.load(y + at)
    tl.store(out + at, {expression})
""")


def truncated(a, b):
    """Returns the quotient as in C, truncated towards zero."""
    quotient = numpy.abs(a.astype(object)) // numpy.abs(b.astype(object))
    return (numpy.sign(a.astype(object)) * numpy.sign(b.astype(object)) * quotient).astype(a.dtype)


BINARY = {
    "a + b": lambda a, b: a + b,
    "a - b": lambda a, b: a - b,
    "a * b": lambda a, b: a * b,
    "tl.maximum(a, b)": numpy.maximum,
    "tl.minimum(a, b)": numpy.minimum,
    "tl.where(a < b, a, b)": numpy.minimum,
    "tl.where(a == b, b, a)": lambda a, b: a,
    "tl.where(a >= b, a, b)": numpy.maximum,
}
BITS = {
    "a & b": lambda a, b: a & b,
    "a | b": lambda a, b: a | b,
    "a ^ b": lambda a, b: a ^ b,
    "~a": lambda a, b: ~a,
    "a // b": lambda a, b: truncated(a, b),
    "a % b": lambda a, b: (a.astype(object) - truncated(a, b).astype(object) * b.astype(object)).astype(a.dtype),
}


@pytest.mark.parametrize("dtype", WHOLE + FLOATS)
@pytest.mark.parametrize("expression", BINARY)
def test_binary(expression, dtype):
    x, y = some(512, dtype), some(512, dtype)
    x[:8] = y[:8]
    out = poisoned(512, dtype)
    of_two(expression)[(1,)](Array(x), Array(y), out, N=512)
    assert (out.numpy() == BINARY[expression](x, y)).all()


@pytest.mark.parametrize("dtype", WHOLE)
@pytest.mark.parametrize("expression", BITS)
def test_bits(expression, dtype):
    x, y = some(512, dtype), some(512, dtype)
    y[y == 0] = 1
    y[(y.astype(object) == -1)] = 3  # the smallest number divided by -1 overflows
    out = poisoned(512, dtype)
    of_two(expression)[(1,)](Array(x), Array(y), out, N=512)
    assert (out.numpy() == BITS[expression](x, y)).all()


@pytest.mark.parametrize("dtype", WHOLE)
@pytest.mark.parametrize("expression", ["a << b", "a >> b"])
def test_shifts(expression, dtype):
    x, y = some(512, dtype), RANDOM.integers(0, numpy.dtype(dtype).itemsize * 8, 512).astype(dtype)
    out = poisoned(512, dtype)
    of_two(expression)[(1,)](Array(x), Array(y), out, N=512)
    assert (out.numpy() == (x << y if "<<" in expression else x >> y)).all()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("expression", ["a / b", "tl.div_rn(a, b)", "tl.fma(a, b, a)", "tl.abs(a)", "-a", "a % b"])
def test_floats(expression, dtype):
    if expression.startswith("tl.div_rn") and dtype != "float32":
        pytest.skip("only for float32")
    x, y = some(512, dtype), some(512, dtype)
    out = poisoned(512, dtype)
    of_two(expression)[(1,)](Array(x), Array(y), out, N=512)
    a, b = x.astype(float), y.astype(float)
    right = {
        "a / b": a / b, "tl.div_rn(a, b)": x / y, "tl.fma(a, b, a)": a * b + a, "tl.abs(a)": abs(a), "-a": -a,
        "a % b": numpy.fmod(a, b),
    }[expression]  # fmt: skip
    close = {"float16": 1e-3, "float32": 1e-6, "float64": 1e-14}[dtype]
    numpy.testing.assert_allclose(out.numpy(), right, rtol=close, atol=close * 10)


@pytest.mark.parametrize("expression", ["tl.exp(a)", "tl.sqrt_rn(a * a)", "tl.sigmoid(a)", "tl.clamp(a, -1.0, 1.0)"])
def test_functions(expression):
    x = some(512, "float32")
    out = poisoned(512, "float32")
    of_two(expression)[(1,)](Array(x), Array(x), out, N=512)
    right = {
        "tl.exp(a)": numpy.exp, "tl.sqrt_rn(a * a)": abs, "tl.sigmoid(a)": lambda a: 1 / (1 + numpy.exp(-a)),
        "tl.clamp(a, -1.0, 1.0)": lambda a: a.clip(-1, 1),
    }[expression](x)  # fmt: skip
    numpy.testing.assert_allclose(out.numpy(), right, rtol=1e-6)


OF_ONE = {
    "tl.sqrt": math.sqrt, "tl.rsqrt": lambda a: 1 / math.sqrt(a), "tl.exp2": math.exp2, "tl.log": math.log,
    "tl.log2": math.log2, "tl.sin": math.sin, "tl.cos": math.cos, "tl.erf": math.erf, "tl.floor": math.floor,
    "tl.ceil": math.ceil, "libdevice.cbrt": math.cbrt, "libdevice.exp10": lambda a: 10**a,
    "libdevice.expm1": math.expm1, "libdevice.log10": math.log10, "libdevice.log1p": math.log1p,
    "libdevice.tan": math.tan, "libdevice.atan": math.atan, "libdevice.sinh": math.sinh, "libdevice.cosh": math.cosh,
    "libdevice.tanh": math.tanh, "libdevice.asinh": math.asinh, "libdevice.acosh": math.acosh, "libdevice.erfc": math.erfc, "libdevice.tgamma": math.gamma,
    "libdevice.lgamma": math.lgamma, "libdevice.trunc": math.trunc, "libdevice.rint": round,
}  # fmt: skip
OF_TWO = {
    "libdevice.pow": math.pow, "libdevice.atan2": math.atan2, "libdevice.fmod": math.fmod,
    "libdevice.hypot": math.hypot, "libdevice.remainder": math.remainder, "libdevice.copysign": math.copysign,
    "libdevice.fdim": lambda a, b: max(a - b, 0),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", [*OF_ONE, *OF_TWO])
def test_mathematics(name, dtype):
    """Checks this project's functions that replace libdevice."""
    x, y = (abs(some(512, dtype)) + numpy.dtype(dtype).type(1.01) for _ in range(2))
    out = poisoned(512, dtype)
    of_two(f"{name}(a, b)" if name in OF_TWO else f"{name}(a)")[(1,)](Array(x), Array(y), out, N=512)
    right = list(map(OF_TWO[name], x.tolist(), y.tolist()) if name in OF_TWO else map(OF_ONE[name], x.tolist()))
    close = {"float32": 1e-5, "float64": 1e-13}[dtype]
    numpy.testing.assert_allclose(out.numpy(), numpy.array(right, float), rtol=close, atol=close)


def test_what_is_not_linked_is_refused():
    with pytest.raises(RuntimeError):
        of_two("libdevice.cyl_bessel_i0(a)")[(1,)](*[Array(some(512, "float32"))] * 3, N=512)


@pytest.mark.parametrize("to", [*WHOLE, *FLOATS, "bool"])
@pytest.mark.parametrize("of", [*WHOLE, *FLOATS])
def test_casts(of, to):
    x = some(512, of, 100)
    if numpy.dtype(to).kind == "u":
        x = abs(x)
    out = poisoned(512, to)
    one = to.replace("bool", "int1")
    of_two(f"a.to(tl.{one})")[(1,)](Array(x), Array(x), out, N=512)
    assert (out.numpy() == x.astype(to)).all()


@pytest.mark.parametrize("to", ["bfloat16", "float8e5"])
def test_narrow_casts(to):
    x = some(512, "float32")
    out = poisoned(512, "float32")
    of_two(f"a.to(tl.{to}).to(tl.float32)")[(1,)](Array(x), Array(x), out, N=512)
    if to == "bfloat16":
        assert (out.numpy() == from_brain_floats(brain_floats(x))).all()
    else:
        # Two fractional bits.
        numpy.testing.assert_allclose(out.numpy(), x, rtol=0.125, atol=1e-4)


@triton.jit
def reducing(x, out, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, HOW: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    values = tl.load(x + i[:, None] * N + j[None, :])
    if HOW == "sum":
        z = tl.sum(values, axis=AXIS)
    elif HOW == "max":
        z = tl.max(values, axis=AXIS)
    elif HOW == "min":
        z = tl.min(values, axis=AXIS)
    elif HOW == "argmax":
        z = tl.argmax(values, axis=AXIS)
    elif HOW == "argmin":
        z = tl.argmin(values, axis=AXIS)
    else:
        z = tl.xor_sum(values, axis=AXIS)
    tl.store(out + (j if AXIS == 0 else i), z)


@pytest.mark.parametrize("how", ["sum", "max", "min", "argmax", "argmin", "xor"])
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint32", "float16", "float32", "float64"])
@pytest.mark.parametrize(
    "shape, axis, warps", [((1, 256), 1, 4), ((32, 64), 0, 4), ((64, 16), 1, 8), ((128, 32), 0, 1)]
)
def test_reduce(how, dtype, shape, axis, warps):
    if how == "xor" and dtype.startswith("float"):
        pytest.skip("only for integers")
    x = some(shape, dtype, 1000)
    summed = numpy.dtype(dtype)
    if how == "sum" and summed.kind in "iu" and summed.itemsize < 4:
        summed = numpy.dtype("int32")
    exact = numpy.dtype(float) if summed.kind == "f" else summed
    right = {
        "sum": lambda: x.astype(exact).sum(axis, dtype=exact),
        "max": lambda: x.max(axis), "min": lambda: x.min(axis),
        "argmax": lambda: x.argmax(axis), "argmin": lambda: x.argmin(axis),
        "xor": lambda: numpy.bitwise_xor.reduce(x, axis),
    }[how]()  # fmt: skip
    out = poisoned(right.shape, "int32" if how.startswith("arg") else summed)
    reducing[(1,)](Array(x), out, M=shape[0], N=shape[1], AXIS=axis, HOW=how, num_warps=warps)
    close = {"float16": 2e-2, "float32": 1e-5}.get(dtype, 1e-12) if how == "sum" else 0
    numpy.testing.assert_allclose(out.numpy(), right, rtol=close, atol=close * 10)


@triton.jit
def plus(a, b):
    return a + b


@triton.jit
def scanning(x, out, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr, HOW: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    values = tl.load(x + at)
    if HOW == "sum":
        z = tl.cumsum(values, axis=AXIS, reverse=REVERSE)
    elif HOW == "product":
        z = tl.cumprod(values, axis=AXIS, reverse=REVERSE)
    else:
        z = tl.associative_scan(values, AXIS, plus, reverse=REVERSE)
    tl.store(out + at, z)


@pytest.mark.parametrize("how", ["sum", "product", "own"])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32"])
@pytest.mark.parametrize("shape, axis, warps", [((8, 32), 1, 4), ((512, 2), 0, 4), ((4, 512), 1, 8), ((32, 32), 0, 1)])
@pytest.mark.parametrize("reverse", [False, True])
def test_scan(how, dtype, shape, axis, warps, reverse):
    x = some(shape, dtype, 3)
    if dtype == "float32":
        x = numpy.exp(x / 40).astype(dtype)
    out = poisoned(shape, dtype)
    scanning[(1,)](Array(x), out, *shape, AXIS=axis, REVERSE=reverse, HOW=how, num_warps=warps)
    turned = numpy.flip(x, axis) if reverse else x
    function = numpy.cumprod if how == "product" else numpy.cumsum
    exact = "float64" if dtype == "float32" else dtype
    right = function(turned.astype(exact), axis, dtype=exact)
    right = numpy.flip(right, axis) if reverse else right
    numpy.testing.assert_allclose(out.numpy(), right, rtol=1e-4 if dtype == "float32" else 0)


@triton.jit
def product(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, HOW: tl.constexpr, KIND: tl.constexpr):
    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + i[:, None] * K + k[None, :])
    # B is stored by columns.
    y = tl.trans(tl.load(b + j[:, None] * K + k[None, :]))
    tl.store(c + i[:, None] * N + j[None, :], tl.dot(x, y, input_precision=HOW, out_dtype=KIND))


@pytest.mark.parametrize("dtype, how", [
    ("float16", "ieee"), ("bfloat16", "ieee"), ("float32", "ieee"), ("float32", "tf32"), ("float32", "tf32x3"),
    ("int8", "ieee"), ("float64", "ieee"),
])  # fmt: skip
@pytest.mark.parametrize("M, N, K", [(16, 16, 32), (32, 64, 64), (64, 32, 32), (128, 128, 32)])
@pytest.mark.parametrize("warps", [1, 4, 8])
def test_dot(dtype, how, M, N, K, warps):
    whole = dtype == "int8"
    a, b = (some(shape, "float32" if dtype == "bfloat16" else dtype) for shape in ((M, K), (N, K)))
    kind = {"int8": "int32", "float64": "float64"}.get(dtype, "float32")
    out = poisoned((M, N), kind)
    if dtype == "bfloat16":
        arrays = [Array(brain_floats(one), tl.bfloat16) for one in (a, b)]
        a, b = (from_brain_floats(brain_floats(one)) for one in (a, b))
    else:
        arrays = [Array(a), Array(b)]
    product[(1,)](*arrays, out, M=M, N=N, K=K, HOW=how, KIND=getattr(tl, kind), num_warps=warps)
    right = a.astype("int64" if whole else float) @ b.astype("int64" if whole else float).T
    close = 0 if whole else {"tf32": 2e-3}.get(how, 2e-5)
    numpy.testing.assert_allclose(out.numpy(), right, rtol=close, atol=close * 100)


ATOMS = {
    "add": numpy.add, "max": numpy.maximum, "min": numpy.minimum,
    "and": numpy.bitwise_and, "or": numpy.bitwise_or, "xor": numpy.bitwise_xor,
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "float16", "float32", "float64"])
@pytest.mark.parametrize("how", ATOMS)
@pytest.mark.parametrize("places", [1, 7, 256])
def test_atomics(dtype, how, places):
    if dtype.startswith("float") and how in ("and", "or", "xor") or dtype == "float16" and how != "add":
        pytest.skip("not defined")
    n = 1000
    x, begin = some(n, dtype, 1000), some(places, dtype, 1000)
    if dtype.startswith("float"):
        x, begin = (numpy.round(array) for array in (x, begin))  # so that the order does not matter
    out = Array(begin)
    kernel = compiled(f"""
@triton.jit
def kernel(x, out, n, PLACES: tl.constexpr):
    at = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.atomic_{how}(out + at % PLACES, tl.load(x + at, mask=at < n), mask=at < n)
""")
    kernel[(4,)](Array(x), out, n, PLACES=places)
    right = begin.copy()
    ATOMS[how].at(right, numpy.arange(n) % places, x)
    assert (out.numpy() == right).all()


@triton.jit
def counting(counts, seen, n):
    at = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.store(seen + tl.atomic_add(counts + at * 0, 1, mask=at < n), 1, mask=at < n)


def test_atomics_return_each_number_once():
    counts, seen = Array(numpy.zeros(1, "int32")), Array(numpy.zeros(1024, "int32"))
    counting[(4,)](counts, seen, 1000)
    assert counts.numpy()[0] == 1000
    assert (seen.numpy() == (numpy.arange(1024) < 1000)).all()


SHAPED = {
    "tl.sort(a)": numpy.sort,
    "tl.sort(a, descending=True)": lambda a: numpy.sort(a)[..., ::-1],
    "tl.flip(a, 1)": lambda a: a[:, ::-1],
    "tl.reshape(tl.trans(a), (M, N))": lambda a: a.T.reshape(a.shape),
    "tl.gather(a, (N - 1 - j)[None, :] + i[:, None] * 0, 1)": lambda a: a[:, ::-1],
    "tl.broadcast_to(tl.max(a, 1, keep_dims=True), (M, N))":
        lambda a: numpy.broadcast_to(a.max(1, keepdims=True), a.shape),
    "tl.reshape(tl.join(a, a), (M, 2 * N)).reshape((M, N, 2)).sum(2) // 2": lambda a: a,
    "tl.cumsum(a, 0)": lambda a: a.cumsum(0, dtype=a.dtype),
    "tl.permute(a.reshape((M, N // 4, 4)), (0, 2, 1)).reshape((M, N))":
        lambda a: a.reshape(a.shape[0], -1, 4).transpose(0, 2, 1).reshape(a.shape),
}  # fmt: skip


@pytest.mark.parametrize("expression", SHAPED)
@pytest.mark.parametrize("shape, warps", [((8, 32), 4), ((32, 64), 1), ((64, 16), 8)])
def test_shapes(expression, shape, warps):
    x = some(shape, "int32", 10**6)
    out = poisoned(shape, "int32")
    kernel = compiled(f"""
@triton.jit
def kernel(x, out, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    at = i[:, None] * N + j[None, :]
    a = tl.load(x + at)
    tl.store(out + at, {expression})
""")
    kernel[(1,)](Array(x), out, *shape, num_warps=warps)
    assert (out.numpy() == SHAPED[expression](x)).all()


@triton.jit
def counted(x, out, n, BINS: tl.constexpr):
    at = tl.arange(0, 1024)
    tl.store(out + tl.arange(0, BINS), tl.histogram(tl.load(x + at, mask=at < n, other=0), BINS, mask=at < n))


@pytest.mark.parametrize("bins", [2, 16, 128])
@pytest.mark.parametrize("warps", [1, 4, 8])
def test_histogram(bins, warps):
    x = RANDOM.integers(0, bins, 1000).astype("int32")
    out = poisoned(bins, "int32")
    counted[(1,)](Array(x), out, 1000, BINS=bins, num_warps=warps)
    assert (out.numpy() == numpy.bincount(x, minlength=bins)).all()


@pytest.mark.parametrize("read", ["", ".ca", ".cg", ".cv"])
@pytest.mark.parametrize("write", ["", ".wb", ".cg", ".cs", ".wt"])
@pytest.mark.parametrize("kept", ["", "evict_first", "evict_last"])
def test_caches(read, write, kept):
    x = some(1000, "float32")
    out = poisoned(1024, "float32")
    kernel = compiled(f"""
@triton.jit
def kernel(x, out, n):
    at = tl.arange(0, 1024)
    a = tl.load(x + at, mask=at < n, other=7, cache_modifier="{read}", eviction_policy="{kept}")
    tl.store(out + at, a, cache_modifier="{write}", eviction_policy="{kept}")
""")
    kernel[(1,)](Array(x), out, 1000)
    assert (out.numpy() == numpy.append(x, numpy.full(24, 7, "float32"))).all()


@triton.jit
def assembled(x, y, out, N: tl.constexpr):
    at = tl.arange(0, N)
    z = tl.inline_asm_elementwise(
        "shf.l.wrap.b32 $0, $1, $2, $3;", "=r,r,r,r", [tl.load(x + at), tl.load(y + at), 5], tl.int32, True, 1
    )
    tl.store(out + at, z)


def test_inline_assembly():
    x, y = some(256, "int32"), some(256, "int32")
    out = poisoned(256, "int32")
    assembled[(1,)](Array(x), Array(y), out, N=256)
    assert (out.numpy() == ((y << 5) | (x.view("uint32") >> 27).view("int32"))).all()


@triton.jit
def copying(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [M, N], [N, 1], [BM, BN])
    target = tl.make_tensor_descriptor(out, [M, N], [N, 1], [BM, BN])
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    target.store([i, j], source.load([i, j]) + 1)


@pytest.mark.parametrize("shape", [(64, 64), (50, 40)])
def test_tensor_descriptors(shape):
    x = some(shape, "int32", 1000)
    out = poisoned(shape, "int32")
    triton.set_allocator(lambda size, _align, _stream: Array(numpy.zeros(size, "int8")))
    copying[(triton.cdiv(shape[0], 16), triton.cdiv(shape[1], 32))](Array(x), out, *shape, BM=16, BN=32)
    assert (out.numpy() == x + 1).all()


@triton.jit(noinline=True)
def factorial(n):
    product = 1
    while n > 1:
        product *= n
        n -= 1
    return product


@triton.jit
def calling(out):
    at = tl.program_id(0) + tl.num_programs(0) * (tl.program_id(1) + tl.num_programs(1) * tl.program_id(2))
    if at % 2 == 0:
        tl.store(out + at, factorial(tl.program_id(0) + 1))
    else:
        tl.store(out + at, -at)


def test_calls_and_grids():
    out = poisoned((4, 3, 5), "int32")
    calling[(5, 3, 4)](out)
    at = numpy.arange(60)
    right = numpy.where(at % 2 == 0, numpy.array([1, 2, 6, 24, 120])[at % 5], -at)
    assert (out.numpy().ravel() == right).all()
