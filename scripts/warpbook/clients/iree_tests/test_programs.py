"""Small programs that IREE compiles for CUDA and for the CPU, and whose results must agree.

The programs use no functions of mathematics, which IREE takes from NVIDIA's libdevice.
"""

import iree.compiler
import iree.runtime
import numpy
import pytest

# IREE converts 64-bit floats to 32 bits by default.
DOUBLES = "--iree-input-demote-f64-to-f32=false"

TARGETS = {
    "cuda": ("cuda", ["--iree-cuda-target=sm_80", DOUBLES]),
    "llvm-cpu": ("local-task", ["--iree-llvmcpu-target-cpu=generic", DOUBLES]),
}


def elementwise(expression, kind="f32", shape="64x33"):
    """A program that computes each element from the corresponding elements of two tensors."""
    tensor = f"tensor<{shape}x{kind}>"
    axes = ", ".join(f"d{axis}" for axis in range(shape.count("x") + 1))
    identity = f"affine_map<({axes}) -> ({axes})>"
    loops = ", ".join(['"parallel"'] * (shape.count("x") + 1))
    return f"""func.func @f(%a: {tensor}, %b: {tensor}) -> {tensor} {{
        %e = tensor.empty() : {tensor}
        %r = linalg.generic {{indexing_maps = [{identity}, {identity}, {identity}], iterator_types = [{loops}]}}
            ins(%a, %b : {tensor}, {tensor}) outs(%e : {tensor}) {{
            ^bb0(%x: {kind}, %y: {kind}, %z: {kind}):
                {expression.replace("TYPE", kind)}
                linalg.yield %v : {kind}
        }} -> {tensor}
        return %r : {tensor}
    }}"""


def product(m, n, k, kind="f32", result="f32"):
    """A multiplication of matrices."""
    zero = "0.0" if result.startswith("f") else "0"
    a, b, c = f"tensor<{m}x{k}x{kind}>", f"tensor<{k}x{n}x{kind}>", f"tensor<{m}x{n}x{result}>"
    return f"""func.func @f(%a: {a}, %b: {b}) -> {c} {{
        %z = arith.constant {zero} : {result}
        %e = tensor.empty() : {c}
        %i = linalg.fill ins(%z : {result}) outs(%e : {c}) -> {c}
        %r = linalg.matmul ins(%a, %b : {a}, {b}) outs(%i : {c}) -> {c}
        return %r : {c}
    }}"""


def reduction(operation, start, axis, kind="f32"):
    """A reduction of the rows (axis 1) or columns (axis 0) of a matrix."""
    shape = [96, 130]
    kept = f"d{1 - axis}"
    loops = ", ".join('"reduction"' if number == axis else '"parallel"' for number in range(2))
    a, c = f"tensor<96x130x{kind}>", f"tensor<{shape[1 - axis]}x{kind}>"
    maps = f"[affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ({kept})>]"
    return f"""func.func @f(%a: {a}, %b: {a}) -> {c} {{
        %z = arith.constant {start} : {kind}
        %e = tensor.empty() : {c}
        %i = linalg.fill ins(%z : {kind}) outs(%e : {c}) -> {c}
        %r = linalg.generic {{indexing_maps = {maps}, iterator_types = [{loops}]}}
            ins(%a : {a}) outs(%i : {c}) {{
            ^bb0(%x: {kind}, %y: {kind}):
                %v = {operation} %x, %y : {kind}
                linalg.yield %v : {kind}
        }} -> {c}
        return %r : {c}
    }}"""


CONVOLUTION = """func.func @f(%a: tensor<1x18x18x4xf32>, %b: tensor<3x3x4x8xf32>) -> tensor<1x16x16x8xf32> {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x16x16x8xf32>
    %i = linalg.fill ins(%z : f32) outs(%e : tensor<1x16x16x8xf32>) -> tensor<1x16x16x8xf32>
    %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
        ins(%a, %b : tensor<1x18x18x4xf32>, tensor<3x3x4x8xf32>) outs(%i : tensor<1x16x16x8xf32>)
        -> tensor<1x16x16x8xf32>
    return %r : tensor<1x16x16x8xf32>
}"""

POOLING = """func.func @f(%a: tensor<1x16x16x8xf32>, %b: tensor<2x2xf32>) -> tensor<1x8x8x8xf32> {
    %z = arith.constant -1.0e30 : f32
    %e = tensor.empty() : tensor<1x8x8x8xf32>
    %i = linalg.fill ins(%z : f32) outs(%e : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    %r = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
        ins(%a, %b : tensor<1x16x16x8xf32>, tensor<2x2xf32>) outs(%i : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    return %r : tensor<1x8x8x8xf32>
}"""

TRANSPOSE = """func.func @f(%a: tensor<65x40xf32>, %b: tensor<1xf32>) -> tensor<40x65xf32> {
    %e = tensor.empty() : tensor<40x65xf32>
    %r = linalg.transpose ins(%a : tensor<65x40xf32>) outs(%e : tensor<40x65xf32>) permutation = [1, 0]
    return %r : tensor<40x65xf32>
}"""

LOOP = """func.func @f(%a: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<64xf32> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %end = arith.constant 5 : index
    %r = scf.for %i = %zero to %end step %one iter_args(%x = %a) -> tensor<64xf32> {
        %y = arith.mulf %x, %b : tensor<64xf32>
        %z = arith.addf %y, %a : tensor<64xf32>
        scf.yield %z : tensor<64xf32>
    }
    return %r : tensor<64xf32>
}"""

SLICES = """func.func @f(%a: tensor<40x40xf32>, %b: tensor<8x8xf32>) -> tensor<40x40xf32> {
    %s = tensor.extract_slice %a[3, 5] [8, 8] [2, 1] : tensor<40x40xf32> to tensor<8x8xf32>
    %v = arith.addf %s, %b : tensor<8x8xf32>
    %r = tensor.insert_slice %v into %a[20, 1] [8, 8] [1, 3] : tensor<8x8xf32> into tensor<40x40xf32>
    return %r : tensor<40x40xf32>
}"""

BATCHES = """func.func @f(%a: tensor<3x16x24xf32>, %b: tensor<3x24x20xf32>) -> tensor<3x16x20xf32> {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<3x16x20xf32>
    %i = linalg.fill ins(%z : f32) outs(%e : tensor<3x16x20xf32>) -> tensor<3x16x20xf32>
    %r = linalg.batch_matmul ins(%a, %b : tensor<3x16x24xf32>, tensor<3x24x20xf32>)
        outs(%i : tensor<3x16x20xf32>) -> tensor<3x16x20xf32>
    return %r : tensor<3x16x20xf32>
}"""

SELECT = "%c = arith.cmpf olt, %x, %y : TYPE\n%v = arith.select %c, %x, %y : TYPE"
SHIFT = "%n = arith.constant 3 : TYPE\n%s = arith.shli %x, %n : TYPE\n%v = arith.xori %s, %y : TYPE"

# Name, program, shapes of the inputs, type of the inputs.
PROGRAMS = [
    ("add", elementwise("%v = arith.addf %x, %y : TYPE"), [(64, 33)] * 2, "f4"),
    ("add-f64", elementwise("%v = arith.addf %x, %y : TYPE", "f64"), [(64, 33)] * 2, "f8"),
    ("add-f16", elementwise("%v = arith.addf %x, %y : TYPE", "f16"), [(64, 33)] * 2, "f2"),
    ("divide", elementwise("%v = arith.divf %x, %y : TYPE"), [(64, 33)] * 2, "f4"),
    ("select", elementwise(SELECT), [(64, 33)] * 2, "f4"),
    ("multiply-i32", elementwise("%v = arith.muli %x, %y : TYPE", "i32"), [(64, 33)] * 2, "i4"),
    ("divide-i32", elementwise("%v = arith.divsi %x, %y : TYPE", "i32"), [(64, 33)] * 2, "i4"),
    ("shift-i64", elementwise(SHIFT, "i64"), [(64, 33)] * 2, "i8"),
    ("add-i8", elementwise("%v = arith.addi %x, %y : TYPE", "i8", "300"), [(300,)] * 2, "i1"),
    ("matmul", product(64, 32, 48), [(64, 48), (48, 32)], "f4"),
    ("matmul-odd", product(37, 29, 51), [(37, 51), (51, 29)], "f4"),
    ("matmul-f16", product(64, 64, 64, "f16", "f32"), [(64, 64)] * 2, "f2"),
    ("matmul-i32", product(32, 32, 32, "i32", "i32"), [(32, 32)] * 2, "i4"),
    ("batch-matmul", BATCHES, [(3, 16, 24), (3, 24, 20)], "f4"),
    ("sum-rows", reduction("arith.addf", "0.0", 1), [(96, 130)] * 2, "f4"),
    ("sum-columns", reduction("arith.addf", "0.0", 0), [(96, 130)] * 2, "f4"),
    ("maximum-rows", reduction("arith.maximumf", "-1.0e30", 1), [(96, 130)] * 2, "f4"),
    ("minimum-i32", reduction("arith.minsi", "2147483647", 0, "i32"), [(96, 130)] * 2, "i4"),
    ("convolution", CONVOLUTION, [(1, 18, 18, 4), (3, 3, 4, 8)], "f4"),
    ("pooling", POOLING, [(1, 16, 16, 8), (2, 2)], "f4"),
    ("transpose", TRANSPOSE, [(65, 40), (1,)], "f4"),
    ("loop", LOOP, [(64,)] * 2, "f4"),
    ("slices", SLICES, [(40, 40), (8, 8)], "f4"),
]


def run(program, target, inputs):
    """Compiles a program for a target, and returns its result."""
    driver, options = TARGETS[target]
    code = iree.compiler.compile_str(program, target_backends=[target], extra_args=options)
    context = iree.runtime.SystemContext(config=iree.runtime.Config(driver))
    context.add_vm_module(iree.runtime.VmModule.copy_buffer(context.instance, code))
    return numpy.asarray(context.modules.module.f(*inputs))


@pytest.mark.parametrize("program, shapes, kind", [p[1:] for p in PROGRAMS], ids=[p[0] for p in PROGRAMS])
def test_program(program, shapes, kind):
    random = numpy.random.default_rng(1)
    if kind.startswith("f"):
        inputs = [(random.random(shape) + 0.5).astype(kind) for shape in shapes]
    else:
        inputs = [random.integers(1, 100, shape).astype(kind) for shape in shapes]
    expected, actual = (run(program, target, inputs) for target in ("llvm-cpu", "cuda"))
    tolerance = {"f2": 1e-2, "f4": 1e-5, "f8": 1e-12}.get(kind, 0)
    numpy.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)
