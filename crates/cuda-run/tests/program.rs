//! Programs compiled and run through the real binary.

mod support;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use support::{Folder, with_clang};

fn main() -> ExitCode {
    let mut tests = vec![
        Trial::test("flags that are not understood are refused", bad_flags),
        Trial::test("without a compiler there is one message", no_clang),
        with_clang("a mistake in a description names its line", bad_description),
        with_clang("a kernel is launched by its description", described),
        with_clang(
            "what a description expects and is not so is an error",
            wrong,
        ),
    ];
    if cfg!(unix) {
        tests.extend([
            with_clang("a program runs, and is summed up", vector_add),
            with_clang("a program is compiled once", compiled_once),
            with_clang("a profile has the reader's own lines", profile),
            with_clang("the record is as its schema says", record),
            with_clang("mistakes are found, and are an error", check),
            with_clang("a picture is drawn", plot),
            with_clang(
                "a mistake in a program is told once, with its line",
                does_not_compile,
            ),
            with_clang("a function that nobody has is named with its line", missing),
            with_clang("a file without a main is told what to do", without_main),
            with_clang("exit, _exit and a return are the program's status", exits),
            with_clang("a program that crashes has its summary", crashes),
            with_clang(
                "a program that never ends is ended at its limit",
                never_ends,
            ),
            with_clang("a program may fork", forks),
            with_clang("two programs at once do no harm", two_at_once),
            with_clang("several files make one program", several_files),
            with_clang("a fault of a kernel is told", faults),
            with_clang("what is written into a closed pipe ends it", closed_pipe),
        ]);
    }
    if cfg!(unix) {
        tests.extend(notes().into_iter().map(|file| {
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            with_clang(format!("the note's program: {name}"), move || note(&file))
        }));
    }
    libtest_mimic::run(&Arguments::from_args(), tests).exit_code()
}

/// The notes' programs.
fn notes() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels/notes");
    let files = std::fs::read_dir(folder)
        .expect("the notes' programs")
        .flatten();
    let mut files: Vec<PathBuf> = files.map(|file| file.path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "cu"));
    files.sort();
    files
}

/// It compares its result with the CPU's itself, and does nothing wrong besides.
fn note(file: &Path) -> Result<(), Failed> {
    let run = Folder::new().run(&["--check", &file.to_string_lossy()]);
    run.says(0, &["nothing found."])?;
    assert!(run.stdout.ends_with(": right\n"), "{run:#?}");
    Ok(())
}

const NEVER: &str = "__global__ void k() {}\nint main() { k<<<1, 1>>>(); volatile int x = 0; for (;;) x = x + 1; }\n";

fn vector_add() -> Result<(), Failed> {
    let run = Folder::new().run(&["-O3", "-arch=sm_70", "vector-add.cu", "--", "100000"]);
    run.says(
        0,
        &[
            "| vectorAdd |        3 | ",
            "modelled, NVIDIA H200",
            "These times are a model's",
        ],
    )?;
    assert_eq!(run.stdout, "100000 sums are right, timed\n");
    let quiet = Folder::new().run(&["--quiet", "--device", "gtx970", "vector-add.cu"]);
    quiet.says(0, &[])?;
    assert!(!quiet.stderr.contains('|'), "{quiet:#?}");
    Ok(())
}

fn compiled_once() -> Result<(), Failed> {
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

fn profile() -> Result<(), Failed> {
    let run = Folder::new().run(&["--profile=lines", "vector-add.cu"]);
    let words = [
        "all launches of a kernel together",
        "| global load requests ",
        "  vector-add.cu\n",
        "c[i] = a[i] + b[i];",
    ];
    run.says(0, &words)
}

fn record() -> Result<(), Failed> {
    let folder = Folder::new();
    let run = folder.run(&[
        "--json",
        "--check=mem",
        "--profile=lines",
        "vector-add.cu",
        "--",
        "64",
    ]);
    run.says(0, &["64 sums are right"])?;
    let record: Value = serde_json::from_str(&run.stdout)?;
    chapter_test::check_record("cuda-run", &record);
    let kernel = &record["kernels"][0];
    assert_eq!(
        (&kernel["kernel"], &kernel["launches"]),
        (&"vectorAdd".into(), &3.into())
    );
    assert_eq!(
        kernel["counters"]["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"],
        12
    );
    assert_eq!(record["arguments"], serde_json::json!(["64"]));
    folder
        .run(&["--json=out.json", "vector-add.cu"])
        .says(0, &[])?;
    let record: Value = serde_json::from_str(&std::fs::read_to_string(folder.path("out.json"))?)?;
    chapter_test::check_record("cuda-run", &record);
    assert_eq!(record["status"], 0);
    Ok(())
}

fn check() -> Result<(), Failed> {
    let folder = Folder::new();
    let good = folder.run(&["--check", "vector-add.cu"]);
    good.says(
        0,
        &["Checked (mem, init, race, sync, leak): nothing found."],
    )?;
    folder.write(
        "race.cu",
        "__global__ void k(int *p) { p[0] = threadIdx.x; p[1] = p[0]; }\n\
         int main() { int *p; cudaMalloc(&p, 8); k<<<1, 64>>>(p); cudaDeviceSynchronize(); cudaFree(p); }\n",
    );
    folder
        .run(&["--check=race", "race.cu"])
        .says(1, &["in kernel k,", "race.cu:1", "Checked (race): "])
}

fn plot() -> Result<(), Failed> {
    let folder = Folder::new();
    folder
        .run(&["--plot", "times", "vector-add.cu"])
        .says(0, &["The plot: "])?;
    assert!(folder.path("times.svg").is_file() && folder.path("times.png").is_file());
    Ok(())
}

fn does_not_compile() -> Result<(), Failed> {
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

fn missing() -> Result<(), Failed> {
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

fn without_main() -> Result<(), Failed> {
    let folder = Folder::new();
    folder.write("kernel.cu", "__global__ void k() {}\n");
    folder
        .run(&["kernel.cu"])
        .says(1, &["has a main", "docs/records/launch-plan.md"])
}

fn exits() -> Result<(), Failed> {
    let folder = Folder::new();
    for (how, code) in [
        ("return 3;", 3),
        ("exit(4);", 4),
        ("_exit(5);", 5),
        ("quick_exit(6);", 6),
        ("", 0),
    ] {
        folder.write(
            "exits.cu",
            &format!(
                "#include <stdlib.h>\n#include <unistd.h>\n__global__ void k() {{}}\n\
                 int main() {{ k<<<1, 1>>>(); cudaDeviceSynchronize(); {how} }}\n"
            ),
        );
        folder
            .run(&["exits.cu"])
            .says(code, &["| k      |        1 |"])?;
    }
    Ok(())
}

fn crashes() -> Result<(), Failed> {
    let folder = Folder::new();
    folder.write(
        "crash.cu",
        "__global__ void k(int *p) { *p = 1; }\n\
         int main() { int *p; cudaMalloc(&p, 4); k<<<1, 1>>>(p); cudaDeviceSynchronize(); *p = 3; }\n",
    );
    folder.run(&["crash.cu"]).says(
        139,
        &["ended by signal 11 (SIGSEGV", "| k      |        1 |"],
    )?;
    folder.write("abort.cu", "#include <stdlib.h>\nint main() { abort(); }\n");
    folder
        .run(&["abort.cu"])
        .says(134, &["ended by signal 6 (SIGABRT", "launched no kernel"])
}

fn never_ends() -> Result<(), Failed> {
    let folder = Folder::new();
    folder.write("never.cu", NEVER);
    let run = folder.run(&["--time-limit", "2", "never.cu"]);
    run.says(
        124,
        &["ended after 2 s, its time limit", "| k      |        1 |"],
    )
}

fn forks() -> Result<(), Failed> {
    let folder = Folder::new();
    folder.write(
        "forks.cu",
        "#include <sys/wait.h>\n#include <unistd.h>\n__global__ void k() {}\n\
         int main()\n{\n    if (fork() == 0) { k<<<1, 1>>>(); cudaDeviceSynchronize(); _exit(0); }\n    \
         int s; wait(&s);\n    k<<<1, 2>>>(); cudaDeviceSynchronize();\n    return 7;\n}\n",
    );
    folder
        .run(&["forks.cu"])
        .says(7, &["| k      |        2 | varied"])
}

fn two_at_once() -> Result<(), Failed> {
    let folder = Folder::new();
    std::thread::scope(|scope| {
        let start = || scope.spawn(|| folder.command(&["--quiet", "vector-add.cu"]).output());
        for run in [start(), start(), start()] {
            let output = run.join().expect("no panic")?;
            assert_eq!(
                String::from_utf8_lossy(&output.stdout),
                "1000 sums are right, timed\n"
            );
        }
        Ok(())
    })
}

fn several_files() -> Result<(), Failed> {
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

fn faults() -> Result<(), Failed> {
    let folder = Folder::new();
    folder.write(
        "fault.cu",
        "__global__ void k(int *p) { p[100000000] = 1; }\n\
         int main() { int *p; cudaMalloc(&p, 4); k<<<1, 1>>>(p); return cudaDeviceSynchronize() ? 9 : 0; }\n",
    );
    folder.run(&["fault.cu"]).says(
        9,
        &[
            "illegal address",
            "fault.cu:1",
            "No launch of the program came to its end",
        ],
    )
}

fn closed_pipe() -> Result<(), Failed> {
    let folder = Folder::new();
    folder.write(
        "says.cu",
        "#include <stdio.h>\nint main() { for (;;) puts(\"more\"); }\n",
    );
    let program = folder.command(&["says.cu"]).get_program().to_owned();
    let script = format!(
        "'{}' says.cu | head -n 1; exit ${{PIPESTATUS[0]}}",
        program.display()
    );
    let mut command = assert_cmd::Command::new("bash");
    command.args(["-c", &script]).current_dir(folder.path("."));
    command
        .env("CUDA_BACKEND", "sim")
        .env("CUDA_RUN_CACHE", folder.path("cache"));
    let run = support::Run::from(
        command
            .timeout(std::time::Duration::from_secs(120))
            .output()?,
    );
    run.says(141, &["SIGPIPE"])
}

fn described() -> Result<(), Failed> {
    let folder = Folder::new();
    let run = folder.run(&["--profile", "--check", "described.cu"]);
    run.says(
        0,
        &[
            "| add    |        1 |",
            "| global load requests ",
            "nothing found",
        ],
    )?;
    assert!(
        run.stdout.starts_with("c: ") && run.stdout.ends_with("c is equal to a[i] + b[i]\n"),
        "{run:#?}"
    );
    let run = folder.run(&["--set", "n=5000", "--json", "described.cu"]);
    let record: Value = serde_json::from_str(&run.stdout)?;
    assert_eq!(
        record["kernels"][0]["launch"]["grid"],
        serde_json::json!([20, 1, 1])
    );
    folder.write(
        "plan.toml",
        "[[launch]]\nkernel = \"k\"\ngrid = 1\nblock = 1\narguments = [3, 2.5]\n",
    );
    folder.write(
        "k.cu",
        "#include <stdio.h>\n__global__ void k(int n, float x) { printf(\"%d %g\\n\", n, x); }\n",
    );
    let run = folder.run(&["--plan", "plan.toml", "k.cu"]);
    run.says(0, &[])?;
    assert_eq!(run.stdout, "3 2.5\n");
    Ok(())
}

fn wrong() -> Result<(), Failed> {
    let folder = Folder::new();
    let text = std::fs::read_to_string(folder.path("described.cu"))?;
    folder.write(
        "wrong.cu",
        &text.replace("= a[i] + b[i];", "= a[i] - b[i];"),
    );
    folder
        .run(&["wrong.cu"])
        .says(1, &["error: c is not equal to a[i] + b[i]: "])?;
    let variable = text.replace("name = \"b\"", "symbol = true\nname = \"b\"");
    folder.write("variable.cu", &variable);
    folder.run(&["variable.cu"]).says(1, &["has no variable b"])
}

fn bad_description() -> Result<(), Failed> {
    let folder = Folder::new();
    let text = std::fs::read_to_string(folder.path("described.cu"))?;
    for (from, to, said) in [
        (
            "\"iota\"",
            "\"itoa\"",
            "bad.cu:11: fill: there is no number itoa",
        ),
        (
            "kernel = \"add\"",
            "kernel = \"ad\"",
            "bad.cu:27: the file has no kernel ad; there are add",
        ),
        (
            ", \"n\"]",
            "]",
            "bad.cu:27: add takes 4 arguments, and the description has 3",
        ),
        (
            "\"b\", \"c\", \"n\"",
            "\"b\", 1, \"c\"",
            "argument 4 of add is no pointer",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        folder.write("bad.cu", &text.replacen(from, to, 1));
        folder.run(&["bad.cu"]).says(1, &[said])?;
    }
    folder
        .run(&["--set", "m=1", "described.cu"])
        .says(1, &["the description has no number m"])?;
    folder
        .run(&["described.cu", "--", "5"])
        .says(1, &["takes no arguments after --"])?;
    folder
        .run(&["--set", "n=1", "vector-add.cu"])
        .says(1, &["changes a number of a description, and there is none"])
}

fn bad_flags() -> Result<(), Failed> {
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

fn no_clang() -> Result<(), Failed> {
    let folder = Folder::new();
    let mut command = folder.command(&["vector-add.cu"]);
    let run = support::Run::from(command.env("KERNEL_CLANG", "/nonexistent/clang").output()?);
    run.says(1, &["cuda-run compiles with clang", "Install it:  "])?;
    assert_eq!(run.stderr.matches("error: ").count(), 1, "{run:#?}");
    Ok(())
}
