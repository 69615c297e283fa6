//! Programs that use CCCL: Thrust, CUB and libcu++, as installed from Debian's packages.

use std::path::Path;

use libtest_mimic::{Completion, Failed, Trial};

use crate::support::{Workspace, with_clang};

const INCLUDE: &str = "/usr/include";

/// Creates a test that needs clang and CCCL. Without CCCL it is ignored, with advice on how to install it.
fn with_cccl(name: &str, test: fn() -> Result<(), Failed>) -> Trial {
    let parts = ["thrust/version.h", "cub/version.cuh", "cuda/std/version"];
    let is_installed = parts
        .iter()
        .all(|part| Path::new(INCLUDE).join(part).is_file());
    if is_installed {
        return with_clang(name, test);
    }
    Trial::ignorable_test(name, || {
        Ok(Completion::ignored_with(
            "needs CCCL; install it:  sudo apt-get install libthrust-dev libcub-dev libcu++-dev",
        ))
    })
}

pub fn tests() -> [Trial; 4] {
    [
        with_cccl("Thrust's algorithms agree with the host's", thrust),
        with_cccl("CUB's algorithms agree with the host's", cub),
        with_cccl(
            "libcu++'s synchronization and types agree with the host's",
            libcudacxx,
        ),
        with_cccl("a directory of CCCL replaces the installed one", directory),
    ]
}

/// Runs a program that prints a line for each comparison, with all checks.
fn assert_all_correct(file: &str, comparisons: usize) -> Result<(), Failed> {
    let workspace = Workspace::new();
    let run = workspace.run(&["--check", "--quiet", file]);
    run.assert_exit(0, &[])?;
    let (correct, other): (Vec<&str>, Vec<&str>) =
        (run.stdout.lines()).partition(|line| line.ends_with(": correct"));
    assert_eq!(
        (correct.len(), other.as_slice()),
        (comparisons, &[][..]),
        "{run:#?}"
    );
    assert!(!run.stderr.contains("Checked"), "{run:#?}");
    Ok(())
}

fn thrust() -> Result<(), Failed> {
    assert_all_correct("thrust.cu", 11)
}

fn cub() -> Result<(), Failed> {
    assert_all_correct("cub.cu", 9)
}

fn libcudacxx() -> Result<(), Failed> {
    assert_all_correct("libcudacxx.cu", 5)
}

fn directory() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "version.cu",
        "#include <cstdio>\n#include <thrust/version.h>\nint main() { printf(\"%d\\n\", THRUST_VERSION); }\n",
    );
    workspace.run(&["version.cu", "--cccl", "."]).assert_exit(
        1,
        &[
            "error: --cccl .: no CCCL in this directory",
            "github.com/NVIDIA/cccl",
        ],
    )?;
    let run = workspace.run(&["--quiet", "version.cu", "--cccl", INCLUDE]);
    run.assert_exit(0, &[])?;
    std::fs::create_dir_all(workspace.path("own/thrust"))?;
    workspace.write("own/thrust/version.h", "#define THRUST_VERSION 42\n");
    let own = workspace.run(&["--quiet", "version.cu", "--cccl", "own"]);
    own.assert_exit(0, &[])?;
    assert_ne!(run.stdout, own.stdout);
    assert_eq!(own.stdout, "42\n");
    // A header that the version lacks.
    workspace.write(
        "newer.cu",
        "#include <cuda/no_such_header>\nint main() {}\n",
    );
    let run = workspace.run(&["newer.cu"]);
    run.assert_exit(
        1,
        &[
            "newer.cu:1:10: fatal error: 'cuda/no_such_header' not found: it belongs to CCCL",
            "--cccl DIR",
        ],
    )?;
    assert!(!run.stderr.contains("#include"), "{run:#?}");
    Ok(())
}
