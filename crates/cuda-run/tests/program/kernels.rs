//! What kernels of programs have of CUDA: other files' functions, memory, nvcc's flags.

use std::path::Path;

use libtest_mimic::Failed;

use crate::support::Folder;

/// A function, a variable and a constant of another file, and static ones of the same names in both.
pub fn linked_kernels() -> Result<(), Failed> {
    let folder = Folder::new();
    folder.write(
        "main.cu",
        r#"#include <cstdio>
extern __device__ int twice(int);
extern __device__ int counter;
extern __constant__ float scale[2];
static __device__ int hidden = 3;
static __device__ int helper(int x) { return x + hidden; }
static __global__ void own(int *out) { *out = helper(twice(20)) + counter++ + (int)scale[1]; }
void other(int *out);
int main() {
    int *out, n = 5, got[2];
    cudaMalloc(&out, sizeof got);
    cudaMemcpyToSymbol(counter, &n, sizeof n);
    own<<<1, 1>>>(out);
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
    folder.write(
        "other.cu",
        r#"__device__ int twice(int x) { return 2 * x; }
__device__ int counter = 1;
__constant__ float scale[2] = {1, 2};
static __device__ int hidden = 7;
static __device__ int helper(int x) { return x * hidden; }
static __global__ void own(int *out) { *out = helper(twice(3)) + counter++; }
void other(int *out) { own<<<1, 1>>>(out); }
"#,
    );
    for flag in ["-rdc=true", "-dc"] {
        let run = folder.run(&["main.cu", flag, "other.cu", "--arch=sm_70"]);
        run.says(0, &["| own(int*) |"])?;
        // 40 + 3 + 5 + 2; 6 * 7 + 6; 5 and two more.
        assert_eq!(run.stdout, "50 48 7\n", "{run:#?}");
    }
    // Counted for the lines of both files.
    folder
        .run(&["main.cu", "other.cu", "-rdc=true", "--profile=lines"])
        .says(0, &["main.cu", "other.cu"])?;
    // Nor does a file without kernels matter, nor one of C.
    folder.write("plain.cpp", "int plain() { return 1; }\n");
    folder.write("empty.cu", "int empty() { return 1; }\n");
    let run = folder.run(&["-rdc=true", "main.cu", "plain.cpp", "empty.cu", "other.cu"]);
    assert_eq!(run.stdout, "50 48 7\n", "{run:#?}");
    Ok(())
}

/// Graphs, by hand and captured, whose results the program itself compares.
pub fn graphs() -> Result<(), Failed> {
    let folder = Folder::new();
    let run = folder.run(&["graphs.cu"]);
    run.says(0, &["| scale  |      151 |", "| add    |      101 |"])?;
    let told = "captured 6 nodes and 5 edges\n\
                cudaErrorStreamCaptureUnsupported, cudaErrorStreamCaptureInvalidated\n0 wrong\n";
    assert_eq!(run.stdout, told, "{run:#?}");
    folder.run(&["graphs.cu", "--check"]).says(0, &[])
}

/// Several devices: each with its memory and its variables, copies between them, and kernels that reach another's.
pub fn devices() -> Result<(), Failed> {
    let folder = Folder::new();
    for (count, launches) in [("1", 1), ("2", 2), ("3", 3)] {
        let run = folder.run(&["devices.cu", "--devices", count, "--check"]);
        run.says(0, &[&format!("| fill   |        {launches} |")])?;
        assert_eq!(
            run.stdout,
            format!("{count} devices, 0 wrong\n"),
            "{run:#?}"
        );
    }
    folder
        .run(&["devices.cu", "--devices", "2", "--", "without access"])
        .says(
            1,
            &[
                "it is memory of device 1, which this device has no access to",
                "in kernel add",
            ],
        )
}

/// What is to be compared with a GPU of arrays of layers and of cube maps is what the simulator answers.
pub fn layers() -> Result<(), Failed> {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts");
    let program = scripts.join("layers.cu");
    let run = Folder::new().run(&["--quiet", program.to_str().expect("a name in UTF-8")]);
    run.says(0, &[])?;
    let known = std::fs::read_to_string(scripts.join("layers.txt"))?;
    assert_eq!(known.lines().count(), 44);
    assert_eq!(run.stdout, known);
    Ok(())
}

/// `malloc`, `free`, `new` and `delete` in kernels.
pub fn heap() -> Result<(), Failed> {
    let folder = Folder::new();
    let run = folder.run(&["heap.cu"]);
    run.says(0, &["| lists  |"])?;
    assert_eq!(run.stdout, "8388608 0: 0 12 1 1: 0\n", "{run:#?}");
    folder.run(&["heap.cu", "--check"]).says(0, &[])?;
    folder.write(
        "twice.cu",
        "__global__ void twice() {\n    void *volatile p = malloc(8);\n    free(p);\n    free(p);\n}\n\
         int main() {\n    twice<<<1, 1>>>();\n    return cudaDeviceSynchronize() != cudaErrorLaunchFailure;\n}\n",
    );
    folder
        .run(&["twice.cu"])
        .says(0, &["was freed before", "in kernel twice", "twice.cu:4"])
}

/// Of a class with a function that has no body, too: its table names one that no file defines.
pub fn virtual_functions() -> Result<(), Failed> {
    let folder = Folder::new();
    for linked in ["-rdc=false", "-rdc=true"] {
        let run = folder.run(&["--quiet", linked, "virtual.cu"]);
        run.says(0, &[])?;
        assert_eq!(run.stdout, "areas: right\n", "{linked}: {run:#?}");
    }
    Ok(())
}

pub fn flushed() -> Result<(), Failed> {
    let folder = Folder::new();
    folder.write(
        "small.cu",
        "#include <cstdio>\n__global__ void k(float *x) {\n    x[2] = __fadd_rn(x[0], x[1]);\n    \
         x[3] = __fmaf_rz(x[0], 1.0f, x[1]);\n    x[4] = __fmaf_ieee_rz(x[0], 1.0f, x[1]);\n}\n\
         int main() {\n    float *x;\n    cudaMallocManaged(&x, 20);\n    x[0] = x[1] = 1e-40f;\n    \
         k<<<1, 1>>>(x);\n    cudaDeviceSynchronize();\n    \
         printf(\"%d %d %d\\n\", x[2] > 0, x[3] > 0, x[4] > 0);\n}\n",
    );
    for (flag, printed) in [
        ("-ftz=false", "1 1 1\n"),
        ("-ftz=true", "0 0 1\n"),
        ("-use_fast_math", "0 0 1\n"),
    ] {
        let run = folder.run(&["small.cu", flag]);
        run.says(0, &[])?;
        assert_eq!(run.stdout, printed, "{flag}: {run:#?}");
    }
    Ok(())
}

pub fn undefined_for_kernels() -> Result<(), Failed> {
    let folder = Folder::new();
    folder.write(
        "calls.cu",
        "extern __device__ int twice(int);\nextern __device__ int counter;\n\
         __global__ void k(int *out) {\n    *out = twice(1) +\n        counter;\n}\n\
         int main() { k<<<1, 1>>>(0); }\n",
    );
    folder.write("idle.cu", "__global__ void idle() {}\n");
    let function = "function twice(int) (used in calls.cu:4)";
    folder
        .run(&["calls.cu", "idle.cu"])
        .says(1, &["no file defines", function, "with -rdc=true"])?;
    let variable = "variable counter (used in calls.cu:5)";
    folder
        .run(&["calls.cu", "idle.cu", "-rdc=true"])
        .says(1, &["no file defines", function, variable])
}

/// clang 14 makes 1 of the 7 here, by itself and where files are linked.
pub fn mended() -> Result<(), Failed> {
    let folder = Folder::new();
    folder.write(
        "sign.cu",
        "#include <cstdio>\n__global__ void k(long long *wide, int *narrow) {\n    \
         *wide = *wide < 0 ? 7 : 0;\n    *narrow = *narrow < 0 ? 7 : 0;\n}\n\
         int main() {\n    long long *wide;\n    cudaMallocManaged(&wide, 16);\n    \
         int *narrow = (int *)(wide + 1);\n    *wide = *narrow = -1;\n    k<<<1, 1>>>(wide, narrow);\n    \
         cudaDeviceSynchronize();\n    printf(\"%lld %d\\n\", *wide, *narrow);\n}\n",
    );
    for linked in ["-rdc=false", "-rdc=true"] {
        let run = folder.run(&["--quiet", linked, "sign.cu"]);
        run.says(0, &[])?;
        assert_eq!(run.stdout, "7 7\n", "{linked}: {run:#?}");
    }
    Ok(())
}
