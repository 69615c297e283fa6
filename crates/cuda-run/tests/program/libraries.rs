//! Programs that call NVIDIA's libraries: results, reports and checks on the simulator.

use libtest_mimic::Failed;
use serde_json::Value;

use crate::support::Workspace;

/// A program that multiplies matrices with cuBLAS between two kernels.
const MULTIPLY: &str = r#"
#include <cublas_v2.h>
#include <cstdio>
__global__ void fill(float *x, int n, float value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = value + i % 3;
}
int main() {
    const int n = 96;
    float *a, *b, *c, *h = new float[n * n];
    cudaMalloc(&a, n * n * sizeof(float));
    cudaMalloc(&b, n * n * sizeof(float));
    cudaMalloc(&c, n * n * sizeof(float));
    fill<<<(n * n + 255) / 256, 256>>>(a, n * n, 1);
    fill<<<(n * n + 255) / 256, 256>>>(b, n * n, -1);
    cublasHandle_t handle;
    if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return 1;
    const float one = 1, zero = 0;
    float sum = 0;
    for (int i = 0; i < 2; ++i)
        cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n);
    cublasSasum(handle, n * n, c, 1, &sum);
    cudaMemcpy(h, c, n * n * sizeof(float), cudaMemcpyDeviceToHost);
    float expected = 0;
    for (int k = 0; k < n; ++k) expected += (1 + k * n % 3) * (-1.0f + k % 3);
    printf("%g %g %g\n", h[0] - expected, sum, h[n * n - 1]);
    cublasDestroy(handle);
    cudaFree(a), cudaFree(b), cudaFree(c);
    delete[] h;
}
"#;

pub fn cublas() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write("multiply.cu", MULTIPLY);
    let run = workspace.run(&["--check", "multiply.cu", "-lcublas", "-lcublasLt"]);
    let expected = [
        "| fill   |        2 | ",
        "Library calls, not simulated: cublasSasum, cublasSgemm × 2; estimated 0.0",
        "no findings",
    ];
    run.assert_exit(0, &expected)?;
    let mut numbers = run.stdout.split_whitespace();
    assert_eq!(numbers.next(), Some("0"), "{run:?}");
    let run = workspace.run(&["--json", "multiply.cu"]);
    run.assert_exit(0, &[])?;
    let record: Value = serde_json::from_str(&run.stdout)?;
    chapter_test::check_record("cuda-run", &record);
    let calls = &record["library_calls"];
    assert_eq!(
        (&calls[1]["function"], &calls[1]["calls"]),
        (&"cublasSgemm".into(), &2.into())
    );
    assert!(calls[1]["estimated_ms"].as_f64() > Some(0.0));
    Ok(())
}

pub fn checked_calls() -> Result<(), Failed> {
    let program = |body: &str| {
        format!(
            "#include <cublas_v2.h>\nint main() {{\n    float *x, *y, one = 1;\n    cublasHandle_t h;\n    \
             cublasCreate(&h);\n    cudaMalloc(&x, 400);\n    cudaMalloc(&y, 400);\n    cudaMemset(y, 0, 400);\n{body}\n    \
             cublasDestroy(h);\n    cudaFree(x);\n    cudaFree(y);\n}}\n"
        )
    };
    let workspace = Workspace::new();
    workspace.write(
        "unset.cu",
        &program("    cublasSaxpy(h, 100, &one, x, 1, y, 1);"),
    );
    workspace.run(&["--check", "unset.cu"]).assert_exit(
        1,
        &[
            "init: read of uninitialized device memory",
            "at unset.cu:9",
            "cublasSaxpy reads 400 bytes, 400 of which nothing has written",
        ],
    )?;
    workspace.write("past.cu", &program("    cublasSscal(h, 101, &one, y, 1);"));
    workspace.run(&["--check", "past.cu"]).assert_exit(
        1,
        &[
            "mem: out-of-bounds access",
            "at past.cu:9",
            "illegal address: cublasSscal reads 4 bytes at",
            "likely cause: a size, leading dimension, increment or stride",
        ],
    )?;
    let race = "    cudaStream_t s;\n    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);\n    \
                cudaMemsetAsync(x, 0, 400, s);\n    cublasScopy(h, 100, y, 1, x, 1);\n    cudaDeviceSynchronize();\n    \
                cudaStreamDestroy(s);";
    workspace.write("race.cu", &program(race));
    workspace.run(&["--check", "race.cu"]).assert_exit(
        1,
        &[
            "`cublasScopy` in the default stream writes, called at race.cu:12",
            "a fill of 400 bytes in non-blocking stream 1 writes, called at race.cu:11",
        ],
    )
}

pub fn cufft() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "wave.cu",
        r#"
#include <cufft.h>
#include <cstdio>
#include <cmath>
int main() {
    const int n = 64;
    cufftComplex h[n], *d;
    for (int i = 0; i < n; ++i) h[i] = make_cuComplex(cosf(2 * (float)M_PI * 5 * i / n), 0);
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    cufftHandle plan;
    if (cufftPlan1d(&plan, n, CUFFT_C2C, 1) != CUFFT_SUCCESS) return 1;
    cufftExecC2C(plan, d, d, CUFFT_FORWARD);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; ++i)
        if (fabsf(h[i].x) > 1) printf("%d: %.3f\n", i, h[i].x);
    cufftDestroy(plan);
    cudaFree(d);
}
"#,
    );
    let run = workspace.run(&["wave.cu", "-lcufft"]);
    run.assert_exit(
        0,
        &["Library calls, not simulated: cufftExecC2C; estimated 0.0"],
    )?;
    assert_eq!(run.stdout, "5: 32.000\n59: 32.000\n");
    Ok(())
}

/// A program that multiplies matrices in all kinds of memory.
const MULTIPLY_ON_HOST: &str = r#"
#include <cublasXt.h>
#include <cstdio>
int main() {
    const int n = 5, m = 3, k = 4, lda = 6;
    float a[lda * k], b[k * n], c[m * n], *device, *managed;
    for (int i = 0; i < lda * k; ++i) a[i] = i % 7;
    for (int i = 0; i < k * n; ++i) b[i] = i % 5 - 2;
    for (int i = 0; i < m * n; ++i) c[i] = i;
    cudaMalloc(&device, sizeof b);
    cudaMemcpy(device, b, sizeof b, cudaMemcpyHostToDevice);
    cudaMallocManaged(&managed, sizeof c);
    for (int i = 0; i < m * n; ++i) managed[i] = i;
    cublasXtHandle_t handle;
    int devices[] = {0}, size = 0;
    const float alpha = 2, beta = 1;
    if (cublasXtCreate(&handle)) return 1;
    if (cublasXtSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, a, lda, b, k, &beta, c, m) !=
        CUBLAS_STATUS_NOT_INITIALIZED) return 1;
    if (cublasXtDeviceSelect(handle, 1, devices)) return 1;
    if (cublasXtSetBlockDim(handle, 64) || cublasXtGetBlockDim(handle, &size) || size != 64) return 2;
    devices[0] = 99;
    if (cublasXtDeviceSelect(handle, 1, devices) != CUBLAS_STATUS_INVALID_VALUE) return 3;
    if (cublasXtSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, a, lda, b, k, &beta, c, m)) return 4;
    if (cublasXtSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, a, lda, device, k, &beta, managed, m)) return 5;
    if (cublasXtSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, a, 2, b, k, &beta, c, m) !=
        CUBLAS_STATUS_INVALID_VALUE) return 6;
    for (int column = 0; column < n; ++column) {
        for (int row = 0; row < m; ++row) {
            float expected = row + column * m;
            for (int i = 0; i < k; ++i) expected += 2 * a[row + i * lda] * b[i + column * k];
            if (c[row + column * m] != expected || managed[row + column * m] != expected) return 7;
        }
    }
    // The packed upper triangle of a symmetric matrix, times the identity; and the product of a matrix and its transpose.
    const double packed[] = {1, 2, 3, 4, 5, 6}, identity[] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, one = 1, zero = 0;
    double full[9], gram[9] = {};
    if (cublasXtDspmm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, 3, 3, &one, packed, identity, 3, &zero, full, 3))
        return 8;
    if (cublasXtDsyrk(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, 3, 3, &one, full, 3, &zero, gram, 3)) return 9;
    if (cublasXtDtrsm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, 3, 3, &one,
                      full, 3, gram, 3)) return 10;
    printf("%g %g %g %g %g\n", full[1], full[2], gram[0], gram[1], gram[3]);
    cudaFree(device), cudaFree(managed);
    return cublasXtDestroy(handle);
}
"#;

pub fn cublas_xt() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write("multiply.cu", MULTIPLY_ON_HOST);
    let run = workspace.run(&["--check", "multiply.cu", "-lcublas"]);
    let expected = [
        "Library calls, not simulated: cublasXtDspmm, cublasXtDsyrk, cublasXtDtrsm, cublasXtSgemm × 2",
        "no findings",
        "cublasXtSgemm: no device is selected",
    ];
    run.assert_exit(0, &expected)?;
    // The matrix is {1 2 4; 2 3 5; 4 5 6}: its square starts with 21, 28, 38, and trsm leaves zeros
    // above the diagonal.
    assert_eq!(run.stdout, "2 4 21 -4.66667 0\n", "{run:#?}");
    Ok(())
}

/// Checks that a program may include headers of libraries without calls, and the header of cuBLAS's first interface.
pub fn headers() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "header.cu",
        "#include <cublas_v2.h>\n#include <cublasLt.h>\n#include <cublasXt.h>\n#include <cufftXt.h>\n#include <cstdio>\ncublasHandle_t unused;\n\
         __global__ void k(int *out) { *out = 3; }\nint main() {\n    int *d, h = 0;\n    cudaMalloc(&d, sizeof h);\n    \
         k<<<1, 1>>>(d);\n    cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);\n    printf(\"%d\\n\", h);\n}\n",
    );
    let run = workspace.run(&["header.cu"]);
    run.assert_exit(0, &[])?;
    assert_eq!(run.stdout, "3\n");
    workspace.write(
        "first.c",
        "#include <cublas.h>\n#include <stdio.h>\nint main(void) {\n    const float h[3] = {1, 2, 3};\n    float *x;\n    \
         cublasInit();\n    cublasAlloc(3, sizeof *x, (void **)&x);\n    cublasSetVector(3, sizeof *x, h, 1, x, 1);\n    \
         cublasSscal(3, 2, x, 1);\n    printf(\"%g %d\\n\", cublasSdot(3, x, 1, x, 1), cublasGetError());\n    \
         cublasFree(x);\n    return cublasShutdown();\n}\n",
    );
    let run = workspace.run(&["first.c"]);
    run.assert_exit(0, &["cublasSdot, cublasSscal"])?;
    assert_eq!(run.stdout, "56 0\n");
    Ok(())
}
