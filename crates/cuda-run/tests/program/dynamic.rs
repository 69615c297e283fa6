//! Kernels that launch kernels, and graphs with conditional nodes.

use libtest_mimic::Failed;

use crate::support::{Run, Workspace};

/// The output of `dynamic.cu`.
const DYNAMIC: &str = "1 2 4 8 16 32 \n\
    3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 4 4 4 4 \n\
    1\n2\n1111\n\
    3039 7b 1010101 \n\
    1 0 127 \n\
    500\n\
    depth 2048\n2048\n\
    6144\n\
    cudaErrorInvalidConfiguration 9 1 1\n";

/// Runs programs whose kernels launch kernels, with and without checks.
pub fn launches_by_kernels() -> Result<(), Failed> {
    let workspace = Workspace::new();
    for args in [&[][..], &["--check"], &["--arch=sm_70", "-rdc=true"]] {
        let run = workspace.run(&[args, &["dynamic.cu"]].concat());
        run.assert_exit(
            0,
            &[
                "| level ",
                "63 (62 by kernels)",
                "952 threads of kernel many and of those that it launched ended with an error",
            ],
        )?;
        assert_eq!(run.stdout, DYNAMIC, "{args:?}: {run:#?}");
    }
    let mut shuffled = workspace.command(&["dynamic.cu"]);
    let run = Run::from(shuffled.env("CUDA_SIM_SHUFFLE", "1").output()?);
    assert_eq!(run.stdout, DYNAMIC, "{run:#?}");
    Ok(())
}

/// Runs a program whose kernels wait for kernels.
pub fn device_synchronization() -> Result<(), Failed> {
    let workspace = Workspace::new();
    let block = |block: u32| {
        let sum = 255 * 128 + 256 * block;
        format!("sum {sum}\nblock {block}: {sum} no error\n")
    };
    let expected = (0..3).map(block).collect::<String>() + "different: 0, failed: 0\n";
    for args in [&[][..], &["--check"]] {
        let run =
            workspace.run(&[args, &["device_sync.cu", "-DCUDA_FORCE_CDP1_IF_SUPPORTED"]].concat());
        run.assert_exit(0, &[])?;
        assert_eq!(run.stdout, expected, "{run:#?}");
        assert!(!run.stderr.contains("warning"), "{run:#?}");
    }
    let run = workspace.run(&["device_sync.cu"]);
    run.assert_exit(
        0,
        &["device_sync.cu:10:1: warning: a kernel calls cudaDeviceSynchronize"],
    )
}

/// Launches a kernel of another file, and reports the fault of a kernel that a kernel has launched.
pub fn linked_launches() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "main.cu",
        r#"#include <cstdio>
extern __global__ void child(int *out);
__global__ void parent(int *out) { child<<<1, 1>>>(out); }
int main(int argc, char **) {
    int *out, got = 0;
    cudaMalloc(&out, sizeof got);
    parent<<<1, 1>>>(argc > 1 ? nullptr : out);
    cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost);
    printf("%d\n", got);
    return cudaGetLastError() != cudaSuccess;
}
"#,
    );
    workspace.write(
        "child.cu",
        "__global__ void child(int *out) { *out = 7; }\n",
    );
    let run = workspace.run(&["-rdc=true", "main.cu", "child.cu"]);
    run.assert_exit(0, &["| child  | 1 (1 by kernels)"])?;
    assert_eq!(run.stdout, "7\n");
    let run = workspace.run(&["-rdc=true", "main.cu", "child.cu", "--", "fault"]);
    run.assert_exit(1, &["in kernel child, block", "child.cu:1"])?;
    let run = workspace.run(&["main.cu", "child.cu"]);
    run.assert_exit(1, &["child(int*)", "-rdc=true"])
}

/// The output of `conditional.cu`.
const CONDITIONAL: &str = "type 13\n\
    o1\ne2\no3\ne4\no5\nb5\n\
    e6\nc6\n\
    cudaErrorInvalidValue\ncudaSuccess\ncudaErrorNotSupported\ncudaErrorNotSupported\n";

/// Launches a graph with conditional nodes of each type.
pub fn conditional_nodes() -> Result<(), Failed> {
    let workspace = Workspace::new();
    for args in [&[][..], &["--check"]] {
        let run = workspace.run(&[args, &["conditional.cu", "--api=none"]].concat());
        run.assert_exit(0, &[])?;
        assert_eq!(run.stdout, CONDITIONAL, "{run:#?}");
    }
    Ok(())
}
