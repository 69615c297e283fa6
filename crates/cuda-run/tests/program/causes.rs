//! Causes of findings that depend on how the program allocated the memory.

use libtest_mimic::Failed;

use crate::support::Workspace;

/// Runs a program with all checks. Its report must contain `texts`.
fn check(program: &str, texts: &[&str]) -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write("cause.cu", program);
    workspace
        .run(&["--check", "cause.cu"])
        .assert_exit(1, texts)
}

const PITCHED_KERNEL: &str = "__global__ void k(float *p, size_t stride, int rows) {\n\
         int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;\n\
         if (y < rows && x < 100) p[y * stride + x] += 1;\n\
     }\n";

pub fn pitch() -> Result<(), Failed> {
    let launch = |stride: &str, rows: u32| {
        format!(
            "{PITCHED_KERNEL}\
             int main() {{\n\
                 float *p; size_t pitch;\n\
                 cudaMallocPitch(&p, &pitch, 400, 40);\n\
                 cudaMemset2D(p, pitch, 0, 400, 40);\n\
                 k<<<dim3(7, 6), dim3(16, 8)>>>(p, {stride}, {rows});\n\
                 cudaDeviceSynchronize();\n\
             }}\n"
        )
    };
    let allocation = "byte allocation `p` at cause.cu:7 (`cudaMallocPitch`), with a pitch of 512 bytes for rows of 400 \
                      bytes";
    check(
        &launch("pitch", 40),
        &[
            "cause.cu:3",
            allocation,
            "likely cause: the pitch of 512 bytes used as a number of elements",
        ],
    )?;
    check(
        &launch("pitch / 4", 41),
        &[
            "cause.cu:3",
            allocation,
            "likely cause: a row or column without a bounds check, or the pitch",
        ],
    )
}

pub fn rows_not_copied() -> Result<(), Failed> {
    let program = |copied: u32, columns: u32| {
        format!(
            "__global__ void k(const char *p, size_t pitch, float *sums) {{\n\
                 const float *row = (const float *)(p + threadIdx.x * pitch);\n\
                 for (int x = 0; x < {columns}; x++) sums[threadIdx.x] += row[x];\n\
             }}\n\
             int main() {{\n\
                 char *p; float *sums; size_t pitch;\n\
                 cudaMallocPitch(&p, &pitch, 40, 32);\n\
                 cudaMalloc(&sums, 128);\n\
                 cudaMemset(sums, 0, 128);\n\
                 cudaMemset2D(p, pitch, 0, 40, {copied});\n\
                 k<<<1, 32>>>(p, pitch, sums);\n\
                 cudaDeviceSynchronize();\n\
                 cudaFree(p);\n\
                 cudaFree(sums);\n\
             }}\n"
        )
    };
    check(
        &program(8, 10),
        &[
            "cause.cu:3",
            "rows that were never copied to",
            "pitch of 512 bytes",
        ],
    )?;
    check(
        &program(32, 11),
        &[
            "cause.cu:3",
            "a column past the end of a row, whose 40 bytes",
        ],
    )
}

pub fn managed_memory() -> Result<(), Failed> {
    for (index, details) in [
        (
            "threadIdx.x + 1",
            "right past the end of the 256-byte allocation `p` at cause.cu:4 (`cudaMallocManaged`)",
        ),
        (
            "(int)threadIdx.x - 1",
            "4 bytes before the 256-byte allocation",
        ),
    ] {
        check(
            &format!(
                "__global__ void k(int *p) {{ p[{index}]++; }}\n\
                 int main() {{\n\
                     int *p;\n\
                     cudaMallocManaged(&p, 256);\n\
                     k<<<1, 64>>>(p);\n\
                     cudaDeviceSynchronize();\n\
                 }}\n"
            ),
            &["out-of-bounds access", "cause.cu:1", details],
        )?;
    }
    Ok(())
}

pub fn shared_arrays() -> Result<(), Failed> {
    let program = "__global__ void k(const float *in, float *out) {\n\
             __shared__ float weights[64];\n\
             __shared__ float tile[64];\n\
             int t = threadIdx.x;\n\
             weights[t] = 2;\n\
             tile[t] = in[t];\n\
             __syncthreads();\n\
             float left = tile[t - 1];\n\
             float right = tile[t + 1];\n\
             out[t] = weights[t] * (left + right);\n\
         }\n\
         int main() {\n\
             float *p;\n\
             cudaMalloc(&p, 256);\n\
             cudaMemset(p, 0, 256);\n\
             k<<<1, 64>>>(p, p);\n\
             cudaDeviceSynchronize();\n\
         }\n";
    check(
        program,
        &[
            "right past the end of the array `tile` of 256 bytes",
            "4 bytes before the start of the array `tile` of 256 bytes\n  likely cause: a negative index",
        ],
    )
}

pub fn allocations() -> Result<(), Failed> {
    let program = "__global__ void k(float *p) { p[threadIdx.x] = 1; }\n\
         float *buffer(size_t bytes) {\n\
             float *p;\n\
             cudaMalloc(&p, bytes);\n\
             return p;\n\
         }\n\
         int main() {\n\
             float *a, *b; cudaMalloc(&a, 64); cudaMalloc((void **)&b, 128);\n\
             k<<<1, 16>>>(a);\n\
             k<<<1, 32>>>(b);\n\
             k<<<1, 16>>>(buffer(64));\n\
             k<<<1, 64>>>(buffer(64));\n\
             cudaDeviceSynchronize();\n\
         }\n";
    check(
        program,
        &["the 64-byte allocation `p` at cause.cu:4 (`cudaMalloc`, 2nd allocation of this line)"],
    )?;
    let program = program.replace("k<<<1, 64>>>", "k<<<1, 16>>>");
    check(
        &program,
        &[
            "the 64-byte allocation `a` at cause.cu:8 (`cudaMalloc`)\n",
            "the 128-byte allocation `b` at cause.cu:8 (`cudaMalloc`)\n",
        ],
    )?;
    // Without checks, allocations are only numbered.
    let workspace = Workspace::new();
    workspace.write("cause.cu", &program.replace("k<<<1, 32>>>", "k<<<1, 33>>>"));
    let run = workspace.run(&["cause.cu"]);
    run.assert_exit(0, &["allocated 2nd"])
}
