//! Exits of programs: by themselves, by signals and at the time limit.

#[cfg(unix)]
use chapter_test::Chapter;
use libtest_mimic::Failed;

use crate::support::{Run, Workspace};

const NEVER: &str = "__global__ void k() {}\nint main() { k<<<1, 1>>>(); volatile int x = 0; for (;;) x = x + 1; }\n";

pub fn exit_statuses() -> Result<(), Failed> {
    let workspace = Workspace::new();
    for (statement, code) in [
        ("return 3;", 3),
        ("exit(4);", 4),
        ("_exit(5);", 5),
        ("quick_exit(6);", 6),
        ("", 0),
    ] {
        workspace.write(
            "exits.cu",
            &format!(
                "#include <stdlib.h>\n#include <unistd.h>\n__global__ void k() {{}}\n\
                 int main() {{ k<<<1, 1>>>(); cudaDeviceSynchronize(); {statement} }}\n"
            ),
        );
        workspace
            .run(&["exits.cu"])
            .assert_exit(code, &["| k      |        1 |"])?;
    }
    Ok(())
}

/// The destructor of a global object, whose constructor does not call CUDA.
pub fn destructors() -> Result<(), Failed> {
    let workspace = Workspace::new();
    for (free, code, text) in [("cudaFree(p);", 0, "no findings"), ("", 1, "error: leak: ")] {
        workspace.write(
            "global.cu",
            &format!(
                "struct Buffer {{ int *p; Buffer() {{ p = nullptr; }} ~Buffer() {{ {free} }} }} buffer;\n\
                 int main() {{ return cudaMalloc(&buffer.p, 4); }}\n"
            ),
        );
        workspace
            .run(&["--check", "global.cu"])
            .assert_exit(code, &[text])?;
    }
    Ok(())
}

/// An exception that the program does not catch, with what it says, and the driver that a program loads itself.
pub fn exceptions_and_loaded_driver() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "throws.cpp",
        "#include <stdexcept>\nint main() { throw std::runtime_error(\"main.cu:7: no memory\"); }\n",
    );
    let text = [
        "std::runtime_error",
        "main.cu:7: no memory",
        "killed by signal 6",
    ];
    workspace.run(&["throws.cpp"]).assert_exit(134, &text)?;
    workspace.write(
        "loads.cpp",
        "#include <dlfcn.h>\nint main() {\n    void *driver = dlopen(\"libcuda.so.1\", RTLD_NOW);\n    int (*init)(unsigned) = \
         driver ? (int (*)(unsigned))dlsym(driver, \"cuInit\") : nullptr;\n    if (!init || init(0) != 0) return 1;\n    \
         return dlopen(\"libno-such-library.so\", RTLD_NOW) ? 2 : 0;\n}\n",
    );
    workspace.run(&["--quiet", "loads.cpp"]).assert_exit(0, &[])
}

pub fn crashes() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "crash.cu",
        "__global__ void k(int *p) { *p = 1; }\n\
         int main() { int *p; cudaMalloc(&p, 4); k<<<1, 1>>>(p); cudaDeviceSynchronize(); *p = 3; }\n",
    );
    workspace.run(&["crash.cu"]).assert_exit(
        139,
        &["killed by signal 11 (SIGSEGV", "| k      |        1 |"],
    )?;
    workspace.write("abort.cu", "#include <stdlib.h>\nint main() { abort(); }\n");
    workspace.run(&["abort.cu"]).assert_exit(
        134,
        &["killed by signal 6 (SIGABRT", "did not launch any kernels"],
    )
}

pub fn time_limit() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write("never.cu", NEVER);
    let run = workspace.run(&["--time-limit", "2", "never.cu"]);
    run.assert_exit(
        124,
        &["stopped at its time limit of 2 s", "| k      |        1 |"],
    )
}

/// The time limit and signals take precedence over the program's own exit status, and that over findings.
pub fn precedence() -> Result<(), Failed> {
    let workspace = Workspace::new();
    for (statement, code) in [
        ("", 1),
        ("return 7;", 7),
        ("raise(SIGTERM);", 143),
        ("abort();", 134),
        ("for (;;) usleep(10000);", 124),
        (
            "signal(SIGTERM, [](int) { _exit(3); }); for (;;) usleep(10000);",
            124,
        ),
    ] {
        workspace.write(
            "exits.cu",
            &format!(
                "#include <csignal>\n#include <cstdlib>\n#include <unistd.h>\n\
                 __global__ void k(int *p) {{ p[0] = threadIdx.x; }}\n\
                 int main() {{\n    int *p; cudaMalloc(&p, 4); k<<<1, 64>>>(p); cudaDeviceSynchronize();\n    \
                 cudaFree(p); {statement}\n}}\n"
            ),
        );
        let flags = ["--check", "--quiet", "--time-limit", "5", "exits.cu"];
        workspace
            .run(&flags)
            .assert_exit(code, &["error: race: "])?;
    }
    Ok(())
}

/// An interrupt from the keyboard, which both processes receive.
#[cfg(unix)]
pub fn interrupted() -> Result<(), Failed> {
    let workspace = Workspace::new();
    // A program that ignores the signal is killed.
    for before in ["", "signal(SIGINT, SIG_IGN); "] {
        let text = NEVER.replace(
            "volatile",
            &format!("cudaDeviceSynchronize(); {before}puts(\"begun\"); fflush(stdout); volatile"),
        );
        workspace.write(
            "never.cu",
            &format!("#include <signal.h>\n#include <stdio.h>\n{text}"),
        );
        let run = interrupt(&workspace, &["never.cu"])?;
        run.assert_exit(130, &["interrupted", "| k      |        1 |"])?;
    }
    Ok(())
}

/// Starts a program, interrupts it as the keyboard does once it has begun, and waits for its end.
#[cfg(unix)]
fn interrupt(workspace: &Workspace, flags: &[&str]) -> Result<Run, Failed> {
    use std::io::BufRead as _;
    use std::os::unix::process::CommandExt as _;
    use std::process::Stdio;

    let program = workspace.command(flags);
    let mut command = std::process::Command::new(program.get_program());
    command
        .args(program.get_args())
        .current_dir(workspace.path("."));
    command.envs(
        program
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    command.env_remove("CUDA_SIM_DEVICE").process_group(0);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut started = command.spawn()?;
    let mut line = String::new();
    let out = started.stdout.as_mut().expect("its output");
    std::io::BufReader::new(out).read_line(&mut line)?;
    assert_eq!(line, "begun\n");
    let group = rustix::process::Pid::from_child(&started);
    rustix::process::kill_process_group(group, rustix::process::Signal::INT)?;
    let run = Run::from(started.wait_with_output()?);
    workspace.assert_no_temporary_files();
    Ok(run)
}

/// Ends an endless kernel by the time limit and by an interrupt.
#[cfg(unix)]
pub fn interrupted_kernel() -> Result<(), Failed> {
    let workspace = Workspace::new();
    let lines = [
        "the kernel was interrupted\n  blocks ended: 0 of 4\n  in kernel k, block (0, 0, 0), warp 0",
        "4 threads of block (0, 0, 0) and 3 others: at endless.cu:6",
        "252 threads of block (0, 0, 0) and 3 others: waiting at the barrier at endless.cu:7",
    ];
    let run = workspace.run(&["--quiet", "--time-limit", "2", "endless.cu"]);
    run.assert_exit(124, &lines)?;
    run.assert_exit(124, &["stopped at its time limit of 2 s"])?;
    let run = interrupt(&workspace, &["--check", "--sarif", "o.sarif", "endless.cu"])?;
    run.assert_exit(130, &lines)?;
    let sarif = std::fs::read_to_string(workspace.path("o.sarif"))?;
    let sarif: serde_json::Value = serde_json::from_str(&sarif)?;
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    let hang = results
        .iter()
        .find(|result| result["ruleId"] == "interrupted");
    let related = &hang.expect("the hang")["relatedLocations"];
    assert_eq!(related[1]["physicalLocation"]["region"]["startLine"], 7);
    Ok(())
}

/// The first line that a terminal shows, after five seconds.
#[cfg(unix)]
pub fn status_line() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write("never.cu", NEVER);
    for (program, line) in [
        ("never.cu", "no kernel has been running for "),
        ("endless.cu", "k: 0 of 4 blocks done (0 %), running for "),
    ] {
        let cuda_run = Chapter::new(env!("CARGO_BIN_EXE_cuda-run"));
        let mut terminal = cuda_run.start_in_terminal(&workspace.path(""), program);
        terminal.wait_for(line);
        terminal.interrupt();
        let (code, output) = terminal.end();
        assert_eq!(code, 130, "{output}");
    }
    Ok(())
}

pub fn forks() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "forks.cu",
        "#include <sys/wait.h>\n#include <unistd.h>\n__global__ void k() {}\n\
         int main()\n{\n    if (fork() == 0) { k<<<1, 1>>>(); cudaDeviceSynchronize(); _exit(0); }\n    \
         int s; wait(&s);\n    k<<<1, 2>>>(); cudaDeviceSynchronize();\n    return 7;\n}\n",
    );
    workspace
        .run(&["forks.cu"])
        .assert_exit(7, &["| k      |        2 | varied"])
}

/// A child has a copy of the running launch, for whose end it must not wait.
pub fn forked_child_is_terminated() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "forks.cu",
        "#include <csignal>\n#include <sys/wait.h>\n#include <unistd.h>\n\
         __global__ void k(volatile int *p) { while (p[0] == 0) {} }\n\
         int main() {\n    \
             int *p, status = 0; cudaMalloc(&p, 4); cudaMemset(p, 0, 4);\n    \
             k<<<1, 1>>>(p); usleep(500000);\n    \
             if (fork() == 0) { raise(SIGTERM); _exit(0); }\n    \
             wait(&status); _exit(WTERMSIG(status));\n\
         }\n",
    );
    workspace.run(&["--quiet", "forks.cu"]).assert_exit(15, &[])
}

pub fn two_at_once() -> Result<(), Failed> {
    let workspace = Workspace::new();
    std::thread::scope(|scope| {
        let start = || scope.spawn(|| workspace.command(&["--quiet", "vector-add.cu"]).output());
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

pub fn closed_pipe() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "says.cu",
        "#include <stdio.h>\nint main() { for (;;) puts(\"more\"); }\n",
    );
    let program = workspace.command(&["says.cu"]).get_program().to_owned();
    let script = format!(
        "'{}' says.cu | head -n 1; exit ${{PIPESTATUS[0]}}",
        program.display()
    );
    let mut command = assert_cmd::Command::new("bash");
    command
        .args(["-c", &script])
        .current_dir(workspace.path("."));
    command
        .env("CUDA_BACKEND", "sim")
        .env("CUDA_RUN_CACHE", workspace.path("cache"));
    let run = Run::from(
        command
            .timeout(std::time::Duration::from_secs(120))
            .output()?,
    );
    run.assert_exit(141, &["SIGPIPE"])
}
