//! cuBLASLt and the functions whose element types are arguments.

use std::ffi::{c_int, c_void};

use cuda_libraries::cublas::lt::*;
use cuda_libraries::cublas::{cublasGemmEx, cublasHgemm};
use half::{bf16, f16};

use crate::device::{Array, Handle, numbers, start};

/// The numbers of `cudaDataType`s.
const F32: c_int = 0;
const F16: c_int = 2;
const I8: c_int = 3;
const I32: c_int = 10;

/// Calls `cublasGemmEx` for contiguous matrices, the first of which is transposed. Each has its address and its type.
fn gemm_ex<S>(
    handle: &Handle,
    [m, n, k]: [c_int; 3],
    [alpha, beta]: [S; 2],
    [a, b, c]: [(*mut c_void, c_int); 3],
    compute: c_int,
) -> c_int {
    let [alpha, beta] = [&raw const alpha, &raw const beta].map(|scale| scale.cast());
    // SAFETY: the scalars are readable, and the addresses are checked.
    unsafe {
        cublasGemmEx(
            handle.0, 1, 0, m, n, k, alpha, a.0, a.1, k, b.0, b.1, k, beta, c.0, c.1, m, compute,
            -1,
        )
    }
}

/// Multiplies column-major matrices, the first of which is transposed.
fn product(a: &[f64], b: &[f64], [m, n, k]: [usize; 3]) -> Vec<f64> {
    let element =
        |row: usize, column: usize| (0..k).map(|i| a[i + row * k] * b[i + column * k]).sum();
    (0..n)
        .flat_map(|column| (0..m).map(move |row| (row, column)))
        .map(|(row, column)| element(row, column))
        .collect()
}

fn assert_rounded(name: &str, actual: &[f64], expected: &[f64], epsilon: f64) {
    assert_eq!(actual.len(), expected.len());
    for (index, (actual, expected)) in actual.iter().zip(expected).enumerate() {
        let difference = (actual - expected).abs();
        assert!(
            difference <= epsilon * expected.abs().max(1.0),
            "{name}: element {index} is {actual}, expected {expected}"
        );
    }
}

#[test]
fn halves_and_bytes_are_multiplied() {
    let handle = Handle::new();
    let [m, n, k] = [6, 5, 11];
    let numbers = |count, seed| numbers::<f64>(count, seed);
    let round = |x: &f64| f16::from_f64(*x);
    let (a, b): (Vec<f16>, Vec<f16>) = (
        numbers(m * k, 30).iter().map(round).collect(),
        numbers(n * k, 31).iter().map(round).collect(),
    );
    let exact = |elements: &[f16]| elements.iter().map(|x| x.to_f64()).collect::<Vec<_>>();
    let expected = product(&exact(&a), &exact(&b), [m, n, k]);
    let (x, y) = (Array::new(&a), Array::new(&b));
    let (float, half) = (
        Array::new(&vec![f32::NAN; m * n]),
        Array::new(&vec![f16::NAN; m * n]),
    );
    let sizes = [m, n, k].map(|size| size as c_int);
    let operands = [
        (x.address.cast(), F16),
        (y.address.cast(), F16),
        (float.address.cast(), F32),
    ];
    assert_eq!(gemm_ex(&handle, sizes, [1.0f32, 0.0], operands, 68), 0);
    let [mi, ni, ki] = sizes;
    let (one, zero) = (f16::ONE, f16::ZERO);
    // SAFETY: the pointers are valid.
    let status = unsafe {
        cublasHgemm(
            handle.0,
            1,
            0,
            mi,
            ni,
            ki,
            &one,
            x.address,
            ki,
            y.address,
            ki,
            &zero,
            half.address,
            mi,
        )
    };
    assert_eq!(status, 0);
    let floats: Vec<f64> = float.read().into_iter().map(f64::from).collect();
    assert_rounded("half to float", &floats, &expected, 1e-6);
    let halves: Vec<f64> = half.read().into_iter().map(f16::to_f64).collect();
    assert_rounded("half", &halves, &expected, 1e-3);

    let (bytes, more): (Vec<i8>, Vec<i8>) = (
        (0..m * k).map(|i| (i * 37 % 256) as u8 as i8).collect(),
        (0..n * k).map(|i| (i * 91 % 256) as u8 as i8).collect(),
    );
    let (x, y, sums) = (
        Array::new(&bytes),
        Array::new(&more),
        Array::new(&vec![7i32; m * n]),
    );
    let operands = |second| {
        [
            (x.address.cast(), I8),
            (y.address.cast(), second),
            (sums.address.cast(), I32),
        ]
    };
    assert_eq!(gemm_ex(&handle, sizes, [2i32, -1], operands(I8), 72), 0);
    let wide = |elements: &[i8]| elements.iter().map(|&x| x.into()).collect::<Vec<f64>>();
    let expected = product(&wide(&bytes), &wide(&more), [m, n, k]);
    let expected: Vec<i32> = expected.into_iter().map(|sum| 2 * sum as i32 - 7).collect();
    assert_eq!(sums.read(), expected);
    let status = gemm_ex(&handle, sizes, [1.0f32; 2], operands(F16), 68);
    assert_eq!(
        status, 15,
        "a combination of types that cuBLAS does not have"
    );
}

/// Sets an attribute.
fn set<V>(
    function: unsafe extern "C" fn(usize, c_int, *const c_void, usize) -> c_int,
    object: usize,
    attribute: c_int,
    value: V,
) {
    let (pointer, bytes) = ((&raw const value).cast(), size_of::<V>());
    // SAFETY: the value is readable.
    let status = unsafe { function(object, attribute, pointer, bytes) };
    assert_eq!(status, 0);
}

#[test]
fn epilogues_change_results() {
    start();
    let [m, n, k] = [8, 3, 5];
    let (a, b, biases) = (
        numbers::<f64>(m * k, 32),
        numbers::<f64>(n * k, 33),
        numbers::<f64>(m, 34),
    );
    let gelu =
        |x: f64| 0.5 * x * (1.0 + (0.797_884_560_802_865_4 * (x + 0.044_715 * x * x * x)).tanh());
    for (number, activation) in [
        (1, &(|x, _| x) as &dyn Fn(f64, f64) -> f64),
        (4, &|x, bias| x + bias),
        (6, &|x: f64, bias| (x + bias).max(0.0)),
        (36, &|x, bias| gelu(x + bias)),
    ] {
        let brain = |elements: &[f64]| {
            elements
                .iter()
                .map(|&x| bf16::from_f64(x))
                .collect::<Vec<_>>()
        };
        let (x, y, bias) = (
            Array::new(&brain(&a)),
            Array::new(&brain(&b)),
            Array::new(&brain(&biases)),
        );
        // The result is in row-major order.
        let result = Array::new(&vec![bf16::NAN; m * n]);
        let (mut handle, mut description, mut layouts) = (0, 0, [0; 3]);
        let (alpha, beta) = (1.0f32, 0.0f32);
        // SAFETY: the pointers are valid.
        unsafe {
            assert_eq!(cublasLtCreate(&mut handle), 0);
            assert_eq!(cublasLtMatmulDescCreate(&mut description, 68, 0), 0);
            set(cublasLtMatmulDescSetAttribute, description, 3, 1);
            set(cublasLtMatmulDescSetAttribute, description, 7, number);
            set(cublasLtMatmulDescSetAttribute, description, 8, bias.address);
            for (layout, [rows, columns, leading]) in
                layouts.iter_mut().zip([[k, m, k], [k, n, k], [m, n, n]])
            {
                let status = cublasLtMatrixLayoutCreate(
                    layout,
                    14,
                    rows as u64,
                    columns as u64,
                    leading as i64,
                );
                assert_eq!(status, 0);
            }
            set(cublasLtMatrixLayoutSetAttribute, layouts[2], 1, 1);
            let [first, second, output] = layouts;
            let status = cublasLtMatmul(
                handle,
                description,
                (&raw const alpha).cast(),
                x.address.cast(),
                first,
                y.address.cast(),
                second,
                (&raw const beta).cast(),
                result.address.cast(),
                output,
                result.address.cast(),
                output,
                std::ptr::null(),
                std::ptr::null_mut(),
                0,
                std::ptr::null_mut(),
            );
            assert_eq!(status, 0);
            for layout in layouts {
                assert_eq!(cublasLtMatrixLayoutDestroy(layout), 0);
            }
            assert_eq!(cublasLtMatrixLayoutDestroy(first), 7);
            assert_eq!(cublasLtMatmulDescDestroy(description), 0);
            assert_eq!(cublasLtDestroy(handle), 0);
        }
        let exact = |array: &Array<bf16>| {
            array
                .read()
                .into_iter()
                .map(bf16::to_f64)
                .collect::<Vec<_>>()
        };
        let sums = product(&exact(&x), &exact(&y), [m, n, k]);
        let bias = exact(&bias);
        let expected: Vec<f64> = (0..m * n)
            .map(|i| activation(sums[i / n + i % n * m], bias[i / n]))
            .collect();
        assert_rounded(
            &format!("epilogue {number}"),
            &exact(&result),
            &expected,
            1.0 / 128.0,
        );
    }
}
