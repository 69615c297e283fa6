//! Checks or updates `kernels/ptx`; run by `scripts/ptx`.

use std::path::Path;
use std::process::ExitCode;

use kernel_build::{Drift, Error, Tree};

const USAGE: &str = "\
usage: kernel-build --check | --write [--any-clang]

  --check      compile every kernel and compare with kernels/ptx; fail on drift
  --write      compile every kernel into kernels/ptx
  --any-clang  accept a clang other than the pinned one";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (write, any_clang) = match arguments[..] {
        ["--check"] => (false, false),
        ["--write"] => (true, false),
        ["--check", "--any-clang"] | ["--any-clang", "--check"] => (false, true),
        ["--write", "--any-clang"] | ["--any-clang", "--write"] => (true, true),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(write, any_clang) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(write: bool, any_clang: bool) -> Result<ExitCode, Error> {
    let current_dir = std::env::current_dir().map_err(|source| Error::Io {
        path: ".".into(),
        source,
    })?;
    let tree = Tree::find(Path::new(&current_dir))?;
    if write {
        let drifts = kernel_build::write(&tree, any_clang)?;
        println!(
            "{} kernels compiled, {} PTX files changed",
            tree.kernels()?.len(),
            drifts.len()
        );
        return Ok(ExitCode::SUCCESS);
    }
    let drifts = kernel_build::check(&tree, any_clang)?;
    report(&drifts);
    if drifts.is_empty() {
        println!("{} kernels compiled, PTX up to date", tree.kernels()?.len());
        Ok(ExitCode::SUCCESS)
    } else {
        eprintln!("error: kernels/ptx is out of date; update it:  scripts/ptx --write");
        Ok(ExitCode::FAILURE)
    }
}

fn report(drifts: &[Drift]) {
    for drift in drifts {
        eprintln!("{drift}");
    }
}
