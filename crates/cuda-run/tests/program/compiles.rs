//! What compiles, what does not, and what is said then.

use libtest_mimic::Failed;

use crate::support::{Folder, Run};

pub fn compiled_once() -> Result<(), Failed> {
    let folder = Folder::new();
    let words = ["--quiet", "vector-add.cu"];
    let made = || {
        let files = std::fs::read_dir(folder.path("cache"))
            .expect("a cache")
            .flatten();
        files
            .filter(|file| file.path().extension().is_some_and(|it| it == "made"))
            .count()
    };
    folder.run(&words).says(0, &[])?;
    assert_eq!(made(), 1);
    // Nothing can be compiled any more.
    let again = folder
        .command(&words)
        .env("KERNEL_CLANG", "/nonexistent")
        .output()?;
    assert!(!again.status.success());
    folder.run(&words).says(0, &[])?;
    assert_eq!(made(), 1);
    // A header that it includes is a source too.
    folder.write("size.h", "#define SIZE 7\n");
    let run = folder.run(&words);
    run.says(0, &[])?;
    assert_eq!(
        (run.stdout.as_str(), made()),
        ("7 sums are right, timed\n", 2)
    );
    folder
        .run(&["--quiet", "-DOTHER", "vector-add.cu"])
        .says(0, &[])?;
    assert_eq!(made(), 3);
    Ok(())
}

pub fn several_files() -> Result<(), Failed> {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("inc"))?;
    folder.write(
        "inc/both.h",
        "void launch(int times);\n#ifdef __cplusplus\nextern \"C\"\n#endif\nint times(void);\n",
    );
    folder.write("main.cpp", "#include <cuda_runtime.h>\n#include <both.h>\nint main() { launch(times()); return cudaDeviceSynchronize(); }\n");
    folder.write("times.c", "int times(void) { return TIMES; }\n");
    folder.write("kernel.cu", "#include <both.h>\n__global__ void k() {}\nvoid launch(int times) { while (times--) k<<<1, 1>>>(); }\n");
    let run = folder.run(&[
        "-I",
        "inc",
        "-DTIMES=5",
        "main.cpp",
        "times.c",
        "kernel.cu",
        "-lm",
    ]);
    run.says(0, &["| k      |        5 |"])
}

/// What g++ lets pass, and clang by itself does not.
pub fn lenient() -> Result<(), Failed> {
    let folder = Folder::new();
    folder.write(
        "old.cu",
        "#include <cstdio>\n#define WIDTH \"3d\"\nint main() { printf(\"%\"WIDTH\"\\n\", 7); }\n",
    );
    let run = folder.run(&["--quiet", "old.cu"]);
    run.says(0, &["old.cu:3:"])?;
    assert_eq!(run.stdout, "  7\n");
    Ok(())
}

/// Headers that others wrote: GNU's C++ library from GCC 13 on, and NVIDIA's toolkit, which a Makefile names.
pub fn headers_of_others() -> Result<(), Failed> {
    let folder = Folder::new();
    for inner in ["gnu/bits", "toolkit/crt"] {
        std::fs::create_dir_all(folder.path(inner))?;
    }
    folder.write(
        "gnu/bits/basic_string.h",
        "__attribute__((__noinline__)) inline int gnu() { return 3; }\n#include_next <bits/basic_string.h>\n",
    );
    folder.write("toolkit/crt/host_runtime.h", "");
    folder.write("toolkit/cuda_runtime.h", "#error this is NVIDIA's\n");
    folder.write("toolkit/of_a_library.h", "#define LIBRARY 4\n");
    folder.write(
        "uses.cu",
        "#ifdef __NVCC__\n#include <string>\n#include <cuda_runtime.h>\n#include <of_a_library.h>\n#endif\n\
         __noinline__ int seven() { register int sum = gnu() + LIBRARY; return sum; }\n\
         int main() { return seven(); }\n",
    );
    let mut command = folder.command(&["-Itoolkit", "uses.cu"]);
    let run = Run::from(command.env("CPLUS_INCLUDE_PATH", "gnu").output()?);
    run.says(7, &[])
}

pub fn does_not_compile() -> Result<(), Failed> {
    let folder = Folder::new();
    folder.write(
        "bad.cu",
        "__global__ void k(int *p) { p[0] = y; }\nint main() {}\n",
    );
    let run = folder.run(&["bad.cu"]);
    run.says(
        1,
        &[
            "bad.cu:1:36: error: use of undeclared identifier 'y'\n",
            "\n                                   ^",
        ],
    )?;
    assert_eq!(
        run.stderr.matches("undeclared identifier").count(),
        1,
        "{run:#?}"
    );
    folder.write("host.cu", "int main() { return undeclared; }\n");
    folder
        .run(&["host.cu"])
        .says(1, &["host.cu:1:21: error: "])?;
    folder
        .run(&["no-such-file.cu"])
        .says(1, &["there is no file no-such-file.cu"])
}

pub fn missing() -> Result<(), Failed> {
    let folder = Folder::new();
    folder.write(
        "calls.cu",
        "extern \"C\" int cublasSgemm_v2(int);\nint helper(double);\nint main()\n{\n    cublasSgemm_v2(3);\n    return helper(2);\n}\n",
    );
    let words = [
        "cublasSgemm_v2",
        "no part of the CUDA runtime that cuda-run has",
        "helper(double)",
        "-l",
    ];
    let run = folder.run(&["calls.cu"]);
    run.says(1, &words)?;
    if cfg!(target_os = "linux") {
        run.says(1, &["(called in calls.cu:5)", "(called in calls.cu:6)"])?;
    }
    Ok(())
}

pub fn without_main() -> Result<(), Failed> {
    let folder = Folder::new();
    folder.write("kernel.cu", "__global__ void k() {}\n");
    folder
        .run(&["kernel.cu"])
        .says(1, &["has a main", "docs/records/launch-plan.md"])
}

pub fn bad_flags() -> Result<(), Failed> {
    let folder = Folder::new();
    folder.run(&["-c", "vector-add.cu"]).says(
        2,
        &["-c is not done: cuda-run compiles a program and runs it"],
    )?;
    folder
        .run(&["vector-add.cu", "-lcublas"])
        .says(2, &["none of NVIDIA's other libraries"])?;
    folder
        .run(&["--profile=all", "vector-add.cu"])
        .says(2, &["summary, lines"])?;
    folder
        .run(&["--time-limit", "0", "vector-add.cu"])
        .says(2, &["a number of seconds above 0"])?;
    folder.run(&[]).says(2, &["<FILE>"])?;
    folder
        .run(&["--device", "h9", "vector-add.cu"])
        .says(1, &["h200"])?;
    folder
        .run(&["--json=no-folder/a.json", "vector-add.cu"])
        .says(1, &["there is no folder no-folder"])
}

pub fn no_clang() -> Result<(), Failed> {
    let folder = Folder::new();
    let mut command = folder.command(&["vector-add.cu"]);
    let run = Run::from(command.env("KERNEL_CLANG", "/nonexistent/clang").output()?);
    run.says(1, &["cuda-run compiles with clang", "Install it:  "])?;
    assert_eq!(run.stderr.matches("error: ").count(), 1, "{run:#?}");
    Ok(())
}

/// NVIDIA's samples, and many programs with them, ask so whether they may use the runtime API.
pub fn read_headers() -> Result<(), Failed> {
    let folder = Folder::new();
    folder.write(
        "asks.cu",
        r#"#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#if !defined(__CUDA_RUNTIME_H__) || !defined(__CUDA_RUNTIME_API_H__) || !defined(__DRIVER_TYPES_H__)
#error the runtime API
#endif
#if !defined(__cuda_cuda_h__) || !defined(__VECTOR_TYPES_H__) || !defined(__CUDA_FP16_H__)
#error other headers
#endif
int main() {
    CUcomputemode mode = CU_COMPUTEMODE_PROHIBITED;
    return mode != 2;
}
"#,
    );
    folder.run(&["--quiet", "asks.cu"]).says(0, &[])
}
