//! How programs end, by themselves and otherwise.

use libtest_mimic::Failed;

use crate::support::{Folder, Run};

const NEVER: &str = "__global__ void k() {}\nint main() { k<<<1, 1>>>(); volatile int x = 0; for (;;) x = x + 1; }\n";

pub fn exits() -> Result<(), Failed> {
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

pub fn crashes() -> Result<(), Failed> {
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

pub fn never_ends() -> Result<(), Failed> {
    let folder = Folder::new();
    folder.write("never.cu", NEVER);
    let run = folder.run(&["--time-limit", "2", "never.cu"]);
    run.says(
        124,
        &["ended after 2 s, its time limit", "| k      |        1 |"],
    )
}

/// As the keyboard has it: the signal reaches both processes.
#[cfg(unix)]
pub fn interrupted() -> Result<(), Failed> {
    use std::io::BufRead as _;
    use std::os::unix::process::CommandExt as _;
    use std::process::Stdio;

    let folder = Folder::new();
    // The program itself may take no notice of it; it is ended then.
    for before in ["", "signal(SIGINT, SIG_IGN); "] {
        let text = NEVER.replace(
            "volatile",
            &format!("cudaDeviceSynchronize(); {before}puts(\"begun\"); fflush(stdout); volatile"),
        );
        folder.write(
            "never.cu",
            &format!("#include <signal.h>\n#include <stdio.h>\n{text}"),
        );
        let own = folder.command(&["never.cu"]);
        let mut command = std::process::Command::new(own.get_program());
        command.args(own.get_args()).current_dir(folder.path("."));
        command.envs(
            own.get_envs()
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
        run.says(130, &["interrupted", "| k      |        1 |"])?;
        folder.nothing_is_left();
    }
    Ok(())
}

pub fn forks() -> Result<(), Failed> {
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

pub fn two_at_once() -> Result<(), Failed> {
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

pub fn closed_pipe() -> Result<(), Failed> {
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
    let run = Run::from(
        command
            .timeout(std::time::Duration::from_secs(120))
            .output()?,
    );
    run.says(141, &["SIGPIPE"])
}
