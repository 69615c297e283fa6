//! Compilation: programs that compile, and the errors of those that do not.

use libtest_mimic::Failed;

use crate::support::{Run, Workspace};

pub fn second_run_uses_the_cache() -> Result<(), Failed> {
    let workspace = Workspace::new();
    let args = ["--quiet", "vector-add.cu"];
    let outputs = || {
        let files = std::fs::read_dir(workspace.path("cache"))
            .expect("a cache")
            .flatten();
        files
            .filter(|file| {
                file.path()
                    .extension()
                    .is_some_and(|extension| extension == "made")
            })
            .count()
    };
    workspace.run(&args).assert_exit(0, &[])?;
    assert_eq!(outputs(), 1);
    // Without a compiler, only the cache can supply the program.
    let rerun = workspace
        .command(&args)
        .env("KERNEL_CLANG", "/nonexistent")
        .output()?;
    assert!(!rerun.status.success());
    workspace.run(&args).assert_exit(0, &[])?;
    assert_eq!(outputs(), 1);
    // A change of an included header invalidates the entry.
    workspace.write("size.h", "#define SIZE 7\n");
    let run = workspace.run(&args);
    run.assert_exit(0, &[])?;
    assert_eq!(
        (run.stdout.as_str(), outputs()),
        ("7 sums are right, timed\n", 2)
    );
    workspace
        .run(&["--quiet", "-DOTHER", "vector-add.cu"])
        .assert_exit(0, &[])?;
    assert_eq!(outputs(), 3);
    Ok(())
}

pub fn several_files() -> Result<(), Failed> {
    let workspace = Workspace::new();
    std::fs::create_dir(workspace.path("inc"))?;
    workspace.write(
        "inc/both.h",
        "void launch(int times);\n#ifdef __cplusplus\nextern \"C\"\n#endif\nint times(void);\n",
    );
    workspace.write("main.cpp", "#include <cuda_runtime.h>\n#include <both.h>\nint main() { launch(times()); return cudaDeviceSynchronize(); }\n");
    workspace.write("times.c", "int times(void) { return TIMES; }\n");
    workspace.write("kernel.cu", "#include <both.h>\n__global__ void k() {}\nvoid launch(int times) { while (times--) k<<<1, 1>>>(); }\n");
    let run = workspace.run(&[
        "-I",
        "inc",
        "-DTIMES=5",
        "main.cpp",
        "times.c",
        "kernel.cu",
        "-lm",
    ]);
    run.assert_exit(0, &["| k      |        5 |"])
}

/// Loaders of the driver name their function pointers as the functions. One file defines them and another calls them.
pub fn own_variables() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "driver.h",
        "extern int (*cuInit)(unsigned), (*cuDriverGetVersion)(int *);\n",
    );
    workspace.write(
        "loader.cpp",
        "#include <dlfcn.h>\n#include \"driver.h\"\nint (*cuInit)(unsigned), (*cuDriverGetVersion)(int *);\n\
         void load() {\n    void *driver = dlopen(\"libcuda.so.1\", RTLD_NOW);\n    \
         cuInit = (int (*)(unsigned))dlsym(driver, \"cuInit\");\n    \
         cuDriverGetVersion = (int (*)(int *))dlsym(driver, \"cuDriverGetVersion\");\n}\n",
    );
    workspace.write(
        "main.cpp",
        "#include <cstdio>\n#include \"driver.h\"\nvoid load();\nint main() {\n    int version = 0;\n    \
         load();\n    if (cuInit(0) || cuDriverGetVersion(&version)) return 1;\n    \
         printf(\"%d\\n\", version);\n}\n",
    );
    let run = workspace.run(&["--quiet", "main.cpp", "loader.cpp"]);
    run.assert_exit(0, &[])?;
    assert_eq!(run.stdout, "13000\n");
    Ok(())
}

/// Code that g++ accepts and clang by default rejects.
pub fn deprecated_syntax_is_accepted() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "old.cu",
        "#include <cstdio>\n#define WIDTH \"3d\"\nint main() { printf(\"%\"WIDTH\"\\n\", 7); }\n",
    );
    let run = workspace.run(&["--quiet", "old.cu"]);
    run.assert_exit(0, &["old.cu:3:"])?;
    assert_eq!(run.stdout, "  7\n");
    Ok(())
}

/// Code that nvcc accepts and clang rejects.
pub fn nvcc_dialect() -> Result<(), Failed> {
    let workspace = Workspace::new();
    let run = workspace.run(&["--check", "--quiet", "nvcc.cu"]);
    let warning = "nvcc.cu:25:21: warning: the constructor of `cells` never runs";
    run.assert_exit(0, &[warning])?;
    assert_eq!(
        run.stdout,
        "forms: right\nnewer PTX: right\ntiles: right\nreferences: right\n"
    );
    assert_eq!(run.stderr.matches(warning).count(), 1, "{run:#?}");
    // A program may have its own type of this name.
    workspace.write(
        "own.cu",
        "struct texture { float v; };\n__global__ void k(texture t, float *o) { *o = t.v; }\nint main() {}\n",
    );
    workspace.run(&["--quiet", "own.cu"]).assert_exit(0, &[])?;
    // An error that is not repaired is reported at its own line.
    workspace.write(
        "both.cu",
        "__global__ void k(int *p) {\n    *p = missing;\n}\nint main() {\n    k << <1, 1 >> > (nullptr);\n}\n",
    );
    let run = workspace.run(&["both.cu"]);
    run.assert_exit(1, &["both.cu:2:10: error: use of undeclared identifier"])?;
    assert!(!run.stderr.contains("both.cu:5"), "{run:#?}");
    Ok(())
}

/// CUDA 13's `cuCtxCreate`, in C and C++.
pub fn context_of_cuda_13() -> Result<(), Failed> {
    let workspace = Workspace::new();
    let text = "#include <cuda.h>\nint main(void) {\n    CUcontext one, other;\n    CUctxCreateParams none = {0};\n    cuInit(0);\n\
                return cuCtxCreate(&one, 0, 0) || cuCtxCreate(&other, &none, 0, 0) || one == other;\n}\n";
    for name in ["context.c", "context.cpp"] {
        workspace.write(name, text);
        workspace.run(&["--quiet", name]).assert_exit(0, &[])?;
    }
    Ok(())
}

/// Third-party headers: GNU's C++ library since GCC 13, and NVIDIA's CUDA Toolkit, which a Makefile names.
pub fn third_party_headers() -> Result<(), Failed> {
    let workspace = Workspace::new();
    for inner in ["gnu/bits", "toolkit/crt"] {
        std::fs::create_dir_all(workspace.path(inner))?;
    }
    workspace.write(
        "gnu/bits/basic_string.h",
        "__attribute__((__noinline__)) inline int gnu() { return 3; }\n#include_next <bits/basic_string.h>\n",
    );
    workspace.write("toolkit/crt/host_runtime.h", "");
    workspace.write("toolkit/cuda_runtime.h", "#error this is NVIDIA's\n");
    workspace.write("toolkit/of_a_library.h", "#define LIBRARY 4\n");
    workspace.write(
        "uses.cu",
        "#ifdef __NVCC__\n#include <string>\n#include <cuda_runtime.h>\n#include <of_a_library.h>\n#endif\n\
         __noinline__ int seven() { register int sum = gnu() + LIBRARY; return sum; }\n\
         int main() { return seven(); }\n",
    );
    let mut command = workspace.command(&["-Itoolkit", "uses.cu"]);
    let run = Run::from(command.env("CPLUS_INCLUDE_PATH", "gnu").output()?);
    run.assert_exit(7, &[])
}

pub fn compile_errors() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "bad.cu",
        "__global__ void k(int *p) { p[0] = y; }\nint main() {}\n",
    );
    let run = workspace.run(&["bad.cu"]);
    run.assert_exit(
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
    workspace.write("host.cu", "int main() { return undeclared; }\n");
    workspace
        .run(&["host.cu"])
        .assert_exit(1, &["host.cu:1:21: error: "])?;
    workspace
        .run(&["no-such-file.cu"])
        .assert_exit(1, &["file not found: no-such-file.cu"])
}

/// nvcc initializes `p` when the program starts.
pub fn managed_addresses() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "static.cu",
        "__managed__ int x = 3;\nint *p = &x;\nint main() { return *p; }\n",
    );
    let reason = "static.cu:1:1: error: the address of the managed variable `x` initializes a static variable or an array";
    workspace.run(&["static.cu"]).assert_exit(1, &[reason])
}

pub fn global_timer() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "timer.cu",
        "__device__ unsigned long long __globaltimer() {\n    unsigned long long now;\n    \
         asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(now));\n    return now;\n}\n\
         __global__ void k(bool *is_set) { *is_set = __globaltimer() != 0; }\nint main() {\n    bool *is_set;\n    \
         cudaMallocManaged(&is_set, 1);\n    k<<<1, 1>>>(is_set);\n    cudaDeviceSynchronize();\n    return !*is_set;\n}\n",
    );
    workspace.run(&["timer.cu"]).assert_exit(0, &[])
}

pub fn undefined_functions() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "calls.cu",
        "extern \"C\" int cusolverDnCreate(int);\nint helper(double);\nint main()\n{\n    cusolverDnCreate(3);\n    return helper(2);\n}\n",
    );
    let args = [
        "cusolverDnCreate",
        "belongs to cuSOLVER, which cuda-run does not provide",
        "helper(double)",
        "-l",
    ];
    let run = workspace.run(&["calls.cu"]);
    run.assert_exit(1, &args)?;
    if cfg!(target_os = "linux") {
        run.assert_exit(1, &["(called in calls.cu:5)", "(called in calls.cu:6)"])?;
    }
    Ok(())
}

/// NVRTC, compiled from C++ and twice, the second time from the cache.
pub fn runtime_compilation() -> Result<(), Failed> {
    let workspace = Workspace::new();
    for _ in 0..2 {
        let run = workspace.run(&["--check", "-lnvrtc", "-lcuda", "nvrtc.cpp"]);
        run.assert_exit(0, &["| shapes::fill<unsigned int> |        2 |"])?;
        let expected = [
            "wrong.cu:2:34: error: use of undeclared identifier 'undeclared'",
            "nvrtc: error: unrecognized option --fast found",
            "function f(int) (used in default_program:1)",
            "0 failures",
        ];
        for line in expected {
            assert!(run.stdout.contains(line), "{line}: {run:#?}");
        }
    }
    Ok(())
}

/// A program that needs a library which cuda-run does not provide.
pub fn missing_libraries() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write("solver.h", "#include <cusolverDn.h>\n");
    workspace.write("solve.cu", "#include \"solver.h\"\nint main() {}\n");
    let error = "./solver.h:1:10: fatal error: 'cusolverDn.h' not found: it belongs to cuSOLVER. cuda-run does not provide \
                 this library: ";
    let run = workspace.run(&["--json", "solve.cu"]);
    run.assert_exit(1, &["In file included from solve.cu:1:", error])?;
    assert_eq!(run.stderr.matches("cusolverDn.h").count(), 1, "{run:#?}");
    let record: serde_json::Value = serde_json::from_str(&run.stdout)?;
    let problem = &record["problems"][0];
    assert_eq!(problem["location"]["file"], "solver.h");
    let message = problem["message"].as_str().unwrap_or_default();
    assert!(
        message.starts_with("'cusolverDn.h' not found: it belongs to cuSOLVER."),
        "{problem}"
    );
    Ok(())
}

pub fn missing_main() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write("kernel.cu", "__global__ void k() {}\n");
    workspace
        .run(&["kernel.cu"])
        .assert_exit(1, &["defines main", "docs/records/launch-plan.md"])
}

pub fn invalid_flags() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.run(&["-c", "vector-add.cu"]).assert_exit(
        2,
        &["-c is not supported: cuda-run compiles and runs a program"],
    )?;
    workspace
        .run(&["vector-add.cu", "-lcusolver"])
        .assert_exit(
            2,
            &["-lcusolver belongs to cuSOLVER. cuda-run does not provide"],
        )?;
    workspace
        .run(&["--profile=all", "vector-add.cu"])
        .assert_exit(2, &["summary, lines"])?;
    workspace
        .run(&["--time-limit", "0", "vector-add.cu"])
        .assert_exit(2, &["a positive number of seconds"])?;
    workspace.run(&[]).assert_exit(2, &["<FILE>"])?;
    workspace
        .run(&["--device", "h9", "vector-add.cu"])
        .assert_exit(1, &["h200"])?;
    workspace
        .run(&["--json=no-folder/a.json", "vector-add.cu"])
        .assert_exit(1, &["there is no folder no-folder"])
}

pub fn missing_clang() -> Result<(), Failed> {
    let workspace = Workspace::new();
    let mut command = workspace.command(&["vector-add.cu"]);
    let run = Run::from(command.env("KERNEL_CLANG", "/nonexistent/clang").output()?);
    run.assert_exit(1, &["cuda-run needs clang", "Install it:  "])?;
    assert_eq!(run.stderr.matches("error: ").count(), 1, "{run:#?}");
    Ok(())
}

/// NVIDIA's samples, and many programs derived from them, test these macros for the presence of the headers.
pub fn header_guards() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
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
    workspace.run(&["--quiet", "asks.cu"]).assert_exit(0, &[])
}
