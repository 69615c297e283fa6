//! Features of kernels: device linking, graphs, several devices, the heap, and nvcc's flags.

use std::path::Path;

use libtest_mimic::Failed;

use crate::support::Workspace;

/// Uses a function, a variable and a constant of another file, and static ones with the same names in both
/// files.
pub fn device_linking() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "main.cu",
        r#"#include <cstdio>
extern __device__ int twice(int);
extern __device__ int counter;
extern __constant__ float scale[2];
static __device__ int hidden = 3;
static __device__ int helper(int x) { return x + hidden; }
static __global__ void own(int *out) { *out = helper(twice(20)) + counter++ + (int)scale[1]; }
static __constant__ int offset;
__global__ void add_offset(int *out) { *out += offset; }
void other(int *out);
int main() {
    int *out, n = 5, got[2];
    cudaMalloc(&out, sizeof got);
    cudaMemcpyToSymbol(counter, &n, sizeof n);
    own<<<1, 1>>>(out);
    n = 100;
    cudaMemcpyToSymbol(offset, &n, sizeof n);
    add_offset<<<1, 1>>>(out);
    n = 9;
    cudaMemcpyToSymbol(hidden, &n, sizeof n);
    other(out + 1);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(&n, counter, sizeof n);
    printf("%d %d %d\n", got[0], got[1], n);
    return cudaGetLastError();
}
"#,
    );
    workspace.write(
        "other.cu",
        r#"__device__ int twice(int x) { return 2 * x; }
__device__ int counter = 1;
__constant__ float scale[2] = {1, 2};
static __device__ int hidden = 7;
static __device__ int helper(int x) { return x * hidden; }
static __global__ void own(int *out) { *out = helper(twice(3)) + counter++; }
static __constant__ int offset;
__global__ void add_other_offset(int *out) { *out += offset; }
void other(int *out) {
    int thousand = 1000;
    cudaMemcpyToSymbol(offset, &thousand, sizeof thousand);
    own<<<1, 1>>>(out);
    add_other_offset<<<1, 1>>>(out);
}
"#,
    );
    for flag in ["-rdc=true", "-dc"] {
        let run = workspace.run(&["main.cu", flag, "other.cu", "--arch=sm_70"]);
        run.assert_exit(0, &["| own(int*) "])?;
        // 40 + 3 + 5 + 2 + 100; 6 * 7 + 6 + 1000; 5 plus two increments.
        assert_eq!(run.stdout, "150 1048 7\n", "{run:#?}");
    }
    // The profile lists the lines of both files.
    workspace
        .run(&["main.cu", "other.cu", "-rdc=true", "--profile=lines"])
        .assert_exit(0, &["main.cu", "other.cu"])?;
    // Files without kernels and C++ files may be linked too.
    workspace.write("plain.cpp", "int plain() { return 1; }\n");
    workspace.write("empty.cu", "int empty() { return 1; }\n");
    let run = workspace.run(&["-rdc=true", "main.cu", "plain.cpp", "empty.cu", "other.cu"]);
    assert_eq!(run.stdout, "150 1048 7\n", "{run:#?}");
    Ok(())
}

/// Graphs, built explicitly and captured; the program compares the results itself.
pub fn graphs() -> Result<(), Failed> {
    let workspace = Workspace::new();
    let run = workspace.run(&["graphs.cu"]);
    run.assert_exit(0, &["| scale  |      151 |", "| add    |      101 |"])?;
    let expected = "captured 6 nodes and 5 edges\n\
                cudaErrorStreamCaptureUnsupported, cudaErrorStreamCaptureInvalidated\n0 wrong\n";
    assert_eq!(run.stdout, expected, "{run:#?}");
    workspace.run(&["graphs.cu", "--check"]).assert_exit(0, &[])
}

/// cuRAND's host interface, with the checks of streams and initialization.
pub fn random_numbers() -> Result<(), Failed> {
    let workspace = Workspace::new();
    let run = workspace.run(&["--check", "-lcurand", "curand.cu"]);
    run.assert_exit(
        0,
        &[
            "| doubled |        6 |",
            "Library calls, not simulated: curandGenerateUniform × 12;",
            "no findings",
        ],
    )?;
    assert_eq!(run.stdout, "0 failures\n");
    Ok(())
}

/// Several devices, each with its own memory and variables; copies between them, and peer access by kernels.
pub fn devices() -> Result<(), Failed> {
    let workspace = Workspace::new();
    for (count, launches) in [("1", 1), ("2", 2), ("3", 3)] {
        let run = workspace.run(&["devices.cu", "--devices", count, "--check"]);
        run.assert_exit(0, &[&format!("| fill   |        {launches} |")])?;
        assert_eq!(
            run.stdout,
            format!("{count} devices, 0 wrong\n"),
            "{run:#?}"
        );
    }
    workspace
        .run(&["devices.cu", "--devices", "2", "--", "without access"])
        .assert_exit(
            1,
            &[
                "it is memory of device 1, to which this device has no access",
                "in kernel add",
            ],
        )
}

/// The simulator's output for layered textures and cubemaps equals the recording, which a GPU's is compared
/// with.
pub fn layered_textures() -> Result<(), Failed> {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts");
    let program = scripts.join("layers.cu");
    let run = Workspace::new().run(&["--quiet", program.to_str().expect("a name in UTF-8")]);
    run.assert_exit(0, &[])?;
    let recorded = std::fs::read_to_string(scripts.join("layers.txt"))?;
    assert_eq!(recorded.lines().count(), 44);
    assert_eq!(run.stdout, recorded);
    Ok(())
}

/// `malloc`, `free`, `new` and `delete` in kernels.
pub fn heap() -> Result<(), Failed> {
    let workspace = Workspace::new();
    let run = workspace.run(&["heap.cu"]);
    run.assert_exit(0, &["| lists  |"])?;
    assert_eq!(run.stdout, "8388608 0: 0 12 1 1: 0\n", "{run:#?}");
    workspace.run(&["heap.cu", "--check"]).assert_exit(0, &[])?;
    workspace.write(
        "twice.cu",
        "__global__ void twice() {\n    void *volatile p = malloc(8);\n    free(p);\n    free(p);\n}\n\
         int main() {\n    twice<<<1, 1>>>();\n    return cudaDeviceSynchronize() != cudaErrorLaunchFailure;\n}\n",
    );
    workspace
        .run(&["twice.cu"])
        .assert_exit(0, &["was freed before", "in kernel twice", "twice.cu:4"])
}

/// Includes a class with a pure virtual function, whose vtable refers to a function that no file defines.
pub fn virtual_functions() -> Result<(), Failed> {
    let workspace = Workspace::new();
    for flag in ["-rdc=false", "-rdc=true"] {
        let run = workspace.run(&["--quiet", flag, "virtual.cu"]);
        run.assert_exit(0, &[])?;
        assert_eq!(run.stdout, "areas: right\n", "{flag}: {run:#?}");
    }
    Ok(())
}

pub fn flush_denormals() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "small.cu",
        "#include <cstdio>\n__global__ void k(float *x) {\n    x[2] = __fadd_rn(x[0], x[1]);\n    \
         x[3] = __fmaf_rz(x[0], 1.0f, x[1]);\n    x[4] = __fmaf_ieee_rz(x[0], 1.0f, x[1]);\n}\n\
         int main() {\n    float *x;\n    cudaMallocManaged(&x, 20);\n    x[0] = x[1] = 1e-40f;\n    \
         k<<<1, 1>>>(x);\n    cudaDeviceSynchronize();\n    \
         printf(\"%d %d %d\\n\", x[2] > 0, x[3] > 0, x[4] > 0);\n}\n",
    );
    for (flag, expected) in [
        ("-ftz=false", "1 1 1\n"),
        ("-ftz=true", "0 0 1\n"),
        ("-use_fast_math", "0 0 1\n"),
    ] {
        let run = workspace.run(&["small.cu", flag]);
        run.assert_exit(0, &[])?;
        assert_eq!(run.stdout, expected, "{flag}: {run:#?}");
    }
    Ok(())
}

/// Conversions to powers of two, with both rounding modes and both kinds of saturation, and back.
pub fn powers_of_two() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "scales.cu",
        r#"#include <cuda_fp8.h>
#include <cstdio>
__global__ void convert(const double *x, unsigned char *out, float *back) {
    const double value = x[threadIdx.x];
    unsigned char *to = out + 3 * threadIdx.x;
    to[0] = __nv_cvt_double_to_e8m0(value, __NV_SATFINITE, cudaRoundZero);
    to[1] = __nv_cvt_double_to_e8m0(value, __NV_SATFINITE, cudaRoundPosInf);
    to[2] = __nv_cvt_double_to_e8m0(value, __NV_NOSAT, cudaRoundPosInf);
    back[threadIdx.x] = (float)__nv_fp8_e8m0(value);
}
int main() {
    double *x;
    unsigned char *out;
    float *back;
    cudaMallocManaged(&x, 8 * 8);
    cudaMallocManaged(&out, 8 * 3);
    cudaMallocManaged(&back, 8 * 4);
    const double values[] = {1, -3, 0, 0x1p-127, 0x1.8p127, 0x1p128, 1 / 0.0, 0 / 0.0};
    for (int i = 0; i < 8; i++) x[i] = values[i];
    convert<<<1, 8>>>(x, out, back);
    cudaDeviceSynchronize();
    for (int i = 0; i < 8; i++) printf("%d %d %d %g\n", out[3 * i], out[3 * i + 1], out[3 * i + 2], back[i]);
}
"#,
    );
    let run = workspace.run(&["--quiet", "scales.cu"]);
    run.assert_exit(0, &[])?;
    let largest = "1.70141e+38";
    let expected = format!(
        "127 127 127 1\n128 129 129 4\n0 0 0 5.87747e-39\n0 0 0 5.87747e-39\n254 254 255 {largest}\n\
         254 254 255 {largest}\n254 254 255 {largest}\n255 255 255 nan\n"
    );
    assert_eq!(run.stdout, expected);
    Ok(())
}

pub fn undefined_device_symbols() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "calls.cu",
        "extern __device__ int twice(int);\nextern __device__ int counter;\n\
         __global__ void k(int *out) {\n    *out = twice(1) +\n        counter;\n}\n\
         int main() { k<<<1, 1>>>(0); }\n",
    );
    workspace.write("idle.cu", "__global__ void idle() {}\n");
    let function = "function twice(int) (used in calls.cu:4)";
    workspace.run(&["calls.cu", "idle.cu"]).assert_exit(
        1,
        &[
            "undefined functions or variables",
            function,
            "with -rdc=true",
        ],
    )?;
    let variable = "variable counter (used in calls.cu:5)";
    workspace
        .run(&["calls.cu", "idle.cu", "-rdc=true"])
        .assert_exit(1, &["undefined functions or variables", function, variable])
}

/// Passes a variable that only the leader has set to shuffles, as in warp-aggregated atomics.
pub fn undefined_arguments() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "tickets.cu",
        r#"#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;
__device__ int broadcast(int value) { return __shfl_sync(0xffffffff, value, 0); }
__global__ void tickets(int *counters) {
    int ticket, tile_ticket, group_ticket, wrapped;
    if (threadIdx.x % 32 == 0) ticket = atomicAdd(&counters[0], 32);
    ticket = __shfl_sync(0xffffffff, ticket, 0);
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    if (tile.thread_rank() == 0) tile_ticket = atomicAdd(&counters[1], 32);
    tile_ticket = tile.shfl(tile_ticket, 0);
    auto group = cg::coalesced_threads();
    if (group.thread_rank() == 0) group_ticket = atomicAdd(&counters[2], group.size());
    group_ticket = group.shfl(group_ticket, 0);
    if (threadIdx.x % 32 == 0) wrapped = atomicAdd(&counters[3], 32);
    wrapped = broadcast(wrapped);
    if (threadIdx.x % 32 == 9) atomicAdd(&counters[4], ticket + tile_ticket + group_ticket + wrapped);
}
int main() {
    int *counters;
    cudaMallocManaged(&counters, 5 * sizeof(int));
    tickets<<<1, 64>>>(counters);
    cudaDeviceSynchronize();
    for (int i = 0; i < 5; ++i) printf("%d ", counters[i]);
}
"#,
    );
    for flag in ["-rdc=false", "-rdc=true"] {
        let run = workspace.run(&["--quiet", flag, "tickets.cu"]);
        run.assert_exit(0, &[])?;
        // Each counter grows by 32 per warp; each kind of ticket is 0 for one warp and 32 for the other.
        assert_eq!(run.stdout, "64 64 64 64 128 ", "{flag}: {run:#?}");
    }
    Ok(())
}

/// clang 14 miscompiles the tests to 1 instead of 7, with and without device linking.
pub fn sign_test() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "sign.cu",
        "#include <cstdio>\n__global__ void k(long long *wide, int *narrow) {\n    \
         *wide = *wide < 0 ? 7 : 0;\n    *narrow = *narrow < 0 ? 7 : 0;\n}\n\
         int main() {\n    long long *wide;\n    cudaMallocManaged(&wide, 16);\n    \
         int *narrow = (int *)(wide + 1);\n    *wide = *narrow = -1;\n    k<<<1, 1>>>(wide, narrow);\n    \
         cudaDeviceSynchronize();\n    printf(\"%lld %d\\n\", *wide, *narrow);\n}\n",
    );
    for flag in ["-rdc=false", "-rdc=true"] {
        let run = workspace.run(&["--quiet", flag, "sign.cu"]);
        run.assert_exit(0, &[])?;
        assert_eq!(run.stdout, "7 7\n", "{flag}: {run:#?}");
    }
    Ok(())
}

/// Variables of all kinds in two files, one of which declares those of the other.
pub fn managed_variables() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write("one.cu", include_str!("../programs/managed.cu"));
    for flag in ["-rdc=false", "-O0", "-O3", "--check", "-rdc=true"] {
        let run = workspace.run(&["one.cu", flag]);
        run.assert_exit(0, &[])?;
        assert_eq!(run.stdout, "correct\n", "{flag}: {run:#?}");
    }
    workspace.write(
        "names.cu",
        r#"#include <cstdio>
template <typename T> __managed__ T pool;
__managed__ int version = 1, function = 2, object = 3;
__global__ void k() { ++pool<int>; }
int main() {
    pool<int> = 4;
    k<<<1, 1>>>();
    cudaDeviceSynchronize();
    printf("%d %d\n", pool<int>, version + function + object);
}
"#,
    );
    let run = workspace.run(&["names.cu"]);
    run.assert_exit(0, &[])?;
    assert_eq!(run.stdout, "5 6\n", "{run:#?}");
    workspace.write(
        "unnamed.cu",
        "__managed__ struct { int x; } point; int main() { return point.x; }",
    );
    let run = workspace.run(&["unnamed.cu"]);
    assert!(
        run.stderr
            .contains("the managed variable point is not in the kernels' code"),
        "{run:#?}"
    );
    workspace.write(
        "main.cu",
        r#"#include <cstdio>
extern __managed__ int shared_count;
extern __managed__ float table[3];
static __managed__ int hidden = 1;
__global__ void k() { shared_count += hidden; table[1] = 5; }
void other();
int main() {
    shared_count = 10;
    k<<<1, 1>>>();
    cudaDeviceSynchronize();
    other();
    printf("%d %g %d\n", shared_count, table[1] + table[2], hidden);
}
"#,
    );
    workspace.write(
        "other.cu",
        r#"__managed__ int shared_count = 1;
__managed__ float table[3] = {1, 2, 3};
static __managed__ int hidden = 100;
__global__ void k2() { shared_count += hidden; }
void other() {
    k2<<<1, 1>>>();
    cudaDeviceSynchronize();
    shared_count += ++hidden;
}
"#,
    );
    let run = workspace.run(&["main.cu", "-rdc=true", "other.cu"]);
    run.assert_exit(0, &[])?;
    // 10 + 1 + 100 + 101; 5 + 3.
    assert_eq!(run.stdout, "212 8 1\n", "{run:#?}");
    Ok(())
}

/// A filter mode is ignored for linear memory, as NVIDIA documents. An H200 accepts a texture that extends past its
/// allocation, and faults when a kernel reads there.
pub fn linear_textures() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "linear.cu",
        r#"#include <cstdio>
__global__ void k(cudaTextureObject_t texture, int i, float *out) { *out = tex1Dfetch<float>(texture, i); }
int main(int argc, char **) {
    float *x;
    cudaMallocManaged(&x, 4 * sizeof *x);
    for (int i = 0; i < 4; ++i) x[i] = i * i;
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = x;
    resource.res.linear.sizeInBytes = 9 * sizeof *x;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    cudaTextureDesc sampling = {};
    sampling.filterMode = cudaFilterModeLinear;
    cudaTextureObject_t texture;
    if (cudaCreateTextureObject(&texture, &resource, &sampling, NULL)) return 1;
    k<<<1, 1>>>(texture, argc > 1 ? 4 : 2, x + 3);
    if (cudaDeviceSynchronize()) return 2;
    printf("%g\n", x[3]);
    cudaDestroyTextureObject(texture);
    cudaFree(x);
}
"#,
    );
    let run = workspace.run(&["linear.cu"]);
    run.assert_exit(0, &[])?;
    assert_eq!(run.stdout, "4\n", "{run:#?}");
    let run = workspace.run(&["linear.cu", "--", "past"]);
    run.assert_exit(2, &["illegal address: read of 4 bytes", "at linear.cu:2"])
}
