//! Code for compute capability 9.0 (Hopper), which old versions of clang do not support.

use std::process::Command;

use libtest_mimic::Failed;

use crate::support::{Run, Workspace};

/// Versions of clang that support `sm_90a`, and versions that do not support `sm_90`.
const NEW: &[&str] = &["clang-19", "clang-18", "clang-20"];
const OLD: &[&str] = &["clang-14", "clang-15"];

/// Runs cuda-run with the first of these versions of clang that is installed; `None` if none is.
fn run_with(clangs: &[&str], workspace: &Workspace, args: &[&str]) -> Result<Option<Run>, Failed> {
    let is_installed = |clang: &&&str| Command::new(clang).arg("--version").output().is_ok();
    let Some(clang) = clangs.iter().find(is_installed) else {
        eprintln!("skipped: none of {clangs:?} is installed");
        return Ok(None);
    };
    let mut command = workspace.command(args);
    command
        .env("KERNEL_CLANG", clang)
        .env("CUDA_SIM_TIME_LIMIT", "2");
    Ok(Some(Run::from(command.output()?)))
}

/// A cluster of four blocks, whose size a launch attribute gives; each block adds up the shared memory of all.
pub fn clusters() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "cluster.cu",
        r#"#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;
__global__ void sums(int *out) {
    __shared__ int own;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) own = 10 * cluster.block_rank() + cluster.num_threads();
    cluster.sync();
    int sum = 0;
    for (unsigned i = 0; i < cluster.num_blocks(); i++) sum += *cluster.map_shared_rank(&own, i);
    const unsigned rank = cluster.query_shared_rank(cluster.map_shared_rank(&own, 3));
    if (cluster.thread_rank() % 32 == 0) out[blockIdx.x] = sum + 1000 * rank;
    cluster.barrier_wait(cluster.barrier_arrive());
}
int main() {
    int *out, got[8];
    cudaMalloc(&out, sizeof got);
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 4;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = 8;
    config.blockDim = 32;
    config.attrs = &attribute;
    config.numAttrs = 1;
    if (cudaLaunchKernelEx(&config, sums, out)) return 2;
    config.gridDim = 6;
    printf("%s\n", cudaGetErrorName(cudaLaunchKernelEx(&config, sums, out)));
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 8; i++) printf("%d ", got[i]);
    return 0;
}
"#,
    );
    let Some(run) = run_with(NEW, &workspace, &["cluster.cu", "--arch=sm_90"])? else {
        return Ok(());
    };
    run.assert_exit(0, &["| sums "])?;
    let sums = "3572 ".repeat(8);
    assert_eq!(
        run.stdout,
        format!("cudaErrorInvalidClusterSize\n{sums}"),
        "{run:#?}"
    );
    Ok(())
}

/// The size is an expression, also one of a template's parameters.
const CLUSTER_DIMS: &str = r#"#include <cstdio>
__device__ unsigned blocks() {
    unsigned count;
    asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(count));
    return count;
}
constexpr int WIDTH = 3;
template <int N> __global__ void __cluster_dims__(2 * N, 1, 1) scaled(unsigned *out) { out[0] = blocks(); }
extern "C" __global__ void __cluster_dims__(WIDTH) __launch_bounds__(64) fixed(unsigned *out) { out[1] = blocks(); }
__global__ void none(unsigned *out) { out[2] = blocks(); }
int main() {
    unsigned *out, got[3];
    cudaMalloc(&out, sizeof got);
    scaled<2><<<12, 32>>>(out);
    fixed<<<12, 32>>>(out);
    none<<<12, 32>>>(out);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    printf("%u %u %u, ", got[0], got[1], got[2]);
    fixed<<<4, 32>>>(out);
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
"#;

pub fn cluster_dims() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write("dims.cu", CLUSTER_DIMS);
    for flag in ["-rdc=false", "-rdc=true"] {
        let Some(run) = run_with(NEW, &workspace, &["--quiet", flag, "dims.cu"])? else {
            return Ok(());
        };
        run.assert_exit(0, &[])?;
        let expected = "4 3 1, cudaErrorInvalidClusterSize\n";
        assert_eq!(run.stdout, expected, "{flag}: {run:#?}");
    }
    let args = ["--arch=sm_80", "dims.cu"];
    let Some(run) = run_with(NEW, &workspace, &args)? else {
        return Ok(());
    };
    let error = "error: `__cluster_dims__` requires sm_90, but the kernels are compiled for sm_80. Compile the kernels \
                 with --arch sm_90\n";
    run.assert_exit(
        1,
        &[
            &format!("dims.cu:8:1: {error}"),
            &format!("dims.cu:9:1: {error}"),
        ],
    )
}

/// The names of what an old clang lacks, and the next step.
pub fn old_clang() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write("dims.cu", CLUSTER_DIMS);
    workspace.write(
        "group.cu",
        "#include <cooperative_groups.h>\n\
         __global__ void k() { cooperative_groups::this_cluster().sync(); }\nint main() {}\n",
    );
    workspace.write(
        "bulk.cu",
        "__global__ void k() { asm volatile(\"cp.async.bulk.commit_group;\"); }\nint main() {}\n",
    );
    let next_step = "does not support sm_90. Install clang 16 or newer";
    for (args, texts) in [
        (
            &["dims.cu"][..],
            ["`__cluster_dims__` requires sm_90", next_step],
        ),
        (&["group.cu"], ["this_cluster", next_step]),
        (
            &["bulk.cu"],
            [
                "bulk.cu:1:1: error: `cp.async.bulk.commit_group` in inline assembly requires sm_90",
                next_step,
            ],
        ),
        (
            &["--arch=sm_90", "bulk.cu"],
            ["--arch sm_90: clang ", next_step],
        ),
        (
            &["--arch=sm_90a", "bulk.cu"],
            [
                "--arch sm_90a: clang ",
                "does not support sm_90a. Install clang 18 or newer",
            ],
        ),
    ] {
        let Some(run) = run_with(OLD, &workspace, args)? else {
            return Ok(());
        };
        run.assert_exit(1, &texts)?;
        run.assert_exit(1, &["KERNEL_CLANG=clang-19"])?;
    }
    Ok(())
}

pub fn features_of_one_architecture() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "features.cu",
        r#"#include <cstdio>
__global__ void k(int *out) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(FORCE)
    asm volatile("wgmma.fence.sync.aligned;");
    *out = 90;
#else
    *out = 0;
#endif
}
int main() {
    int *out, got;
    cudaMalloc(&out, sizeof got);
    k<<<1, 128>>>(out);
    cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost);
    printf("%d\n", got);
}
"#,
    );
    for (arch, expected) in [
        ("sm_90a", "90\n"),
        ("compute_90a", "90\n"),
        ("sm_90", "0\n"),
    ] {
        let args = ["--quiet", "--arch", arch, "features.cu"];
        let Some(run) = run_with(NEW, &workspace, &args)? else {
            return Ok(());
        };
        run.assert_exit(0, &[])?;
        assert_eq!(run.stdout, expected, "{arch}: {run:#?}");
    }
    let args = ["-DFORCE", "features.cu"];
    let Some(run) = run_with(NEW, &workspace, &args)? else {
        return Ok(());
    };
    let message = "features.cu:4:1: error: `wgmma.fence.sync.aligned` in inline assembly requires sm_90a, but the kernels are \
                   compiled for sm_90. Compile the kernels with --arch sm_90a";
    run.assert_exit(1, &[message])
}

/// The time limit names the barrier; with checks, data is not used before it has arrived.
pub fn missing_bytes() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "bytes.cu",
        r#"__device__ unsigned address(void *shared) { return (unsigned)__cvta_generic_to_shared(shared); }
__global__ void k(const int *in, int *out, unsigned expected, bool early) {
    __shared__ alignas(16) int tile[64];
    __shared__ alignas(8) unsigned long long full[2];
    const unsigned barrier = address(&full[1]);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(barrier) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(barrier), "r"(expected) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"
                     :: "r"(address(tile)), "l"(in), "r"(barrier) : "memory");
    }
    __syncthreads();
    if (early) out[threadIdx.x] = tile[threadIdx.x];
    int done = 0;
    while (!done)
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
                     : "=r"(done) : "r"(barrier) : "memory");
    out[threadIdx.x] = tile[threadIdx.x];
}
int main(int argc, char **) {
    int *in, *out;
    cudaMalloc(&in, 256);
    cudaMemset(in, 0, 256);
    cudaMalloc(&out, 256);
    k<<<1, 64>>>(in, out, argc == 1 ? 320 : 256, argc == 3);
    return cudaDeviceSynchronize() != cudaSuccess;
}
"#,
    );
    let barrier = "waiting for the mbarrier `full + 8` (offset 0x108 of shared memory): 0 of 1 arrivals are pending, and 64 bytes";
    let cause = "likely cause: `expect_tx` names more bytes than copies bring";
    let Some(run) = run_with(NEW, &workspace, &["bytes.cu"])? else {
        return Ok(());
    };
    run.assert_exit(1, &[barrier, cause])?;
    for (args, code, texts) in [
        (
            &["--check=race,init", "bytes.cu", "--", "1"][..],
            0,
            &[][..],
        ),
        (
            &["--check=race,init", "bytes.cu", "--", "1", "2"],
            1,
            &[
                "data race with an asynchronous copy that is still pending",
                "the bulk copy that writes the bytes has not been waited for",
            ],
        ),
    ] {
        let Some(run) = run_with(NEW, &workspace, args)? else {
            return Ok(());
        };
        run.assert_exit(code, texts)?;
        assert!(!run.stderr.contains("uninitialized"), "{run:#?}");
    }
    Ok(())
}
