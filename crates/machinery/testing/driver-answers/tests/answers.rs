//! Runs the programs on the simulator, linked with the shared library and with the static driver, and compares
//! their answers with those of a GPU.

#![cfg(target_os = "linux")]

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use driver_answers::{Answers, KnownDifferences};
use rayon::prelude::*;
use tempfile::TempDir;

const CRATE: &str = env!("CARGO_MANIFEST_DIR");
/// The simulated device, whose record is compared.
const DEVICE: &str = "h200";

/// Options of every compilation, the same as in `scripts/driver-answers`.
const OPTIONS: [&str; 3] = ["-std=gnu11", "-O1", "-w"];

fn compiler() -> OsString {
    env::var_os("CC").unwrap_or_else(|| "cc".into())
}

/// Returns true if there is a C compiler that compiles. The tests are skipped without one, and report that they are:
/// Rust needs only the linker of `cc`.
fn has_compiler(folder: &Path) -> bool {
    let source = folder.join("empty.c");
    fs::write(
        &source,
        "#include <stdio.h>\nint main(void) { return 0; }\n",
    )
    .unwrap();
    let mut command = Command::new(compiler());
    let compiled = command.arg(source).arg("-o").arg(folder.join("empty"));
    let compiles = compiled
        .output()
        .is_ok_and(|output| output.status.success());
    if !compiles {
        eprintln!("skipped: {} compiles no C", compiler().display());
    }
    compiles
}

/// Returns the names of all programs, in order.
fn programs() -> Vec<String> {
    let folder = Path::new(CRATE).join("programs");
    let files = fs::read_dir(folder).expect("cannot list the programs");
    let paths = files.map(|file| file.expect("cannot list the programs").path());
    let sources = paths.filter(|path| path.extension().is_some_and(|extension| extension == "c"));
    let mut names: Vec<String> = sources
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Returns the text of a file of `records`.
fn record(name: &str) -> String {
    let path = Path::new(CRATE).join("records").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Compiles a program with further options.
fn compile(program: &str, output: &Path, options: &[OsString]) {
    let crate_folder = Path::new(CRATE);
    let headers = crate_folder.join("../../../../kernels/include");
    let mut command = Command::new(compiler());
    command.args(OPTIONS).arg("-I").arg(headers);
    command.arg(crate_folder.join(format!("programs/{program}.c")));
    command.arg("-o").arg(output).args(options);
    command.assert().success();
}

/// Runs a command on the simulated device, and returns its standard output.
fn run(mut command: Command, settings: &[(&str, &Path)]) -> String {
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CUDA_"))
    {
        command.env_remove(name);
    }
    command
        .env("CUDA_BACKEND", "sim")
        .env("CUDA_SIM_DEVICE", DEVICE);
    command.envs(settings.iter().copied());
    let output = command.output().expect("the program does not start");
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{}\n{stdout}\n{stderr}",
        output.status
    );
    stdout
}

/// Runs all programs and compares their answers with the record.
fn compare(answers_of: impl Fn(&str, &Path) -> String + Sync) {
    let folder = TempDir::new().expect("cannot create a folder");
    if !has_compiler(folder.path()) {
        return;
    }
    let recorded = Answers::parse(&record(&format!("{DEVICE}.txt")));
    let known = KnownDifferences::parse(&record("known-differences.txt"));
    let programs = programs();
    let outputs = programs
        .par_iter()
        .map(|program| answers_of(program, folder.path()));
    let simulated = Answers::parse(&outputs.collect::<Vec<_>>().concat());
    assert_eq!(
        simulated.duplicates(),
        Vec::<&str>::new(),
        "names of cases that occur twice"
    );
    let differences = simulated.differences(&recorded);
    let (unknown, stale) = known.check(&differences);
    let lines: Vec<String> = unknown.iter().map(ToString::to_string).collect();
    let (count, cases) = (lines.len(), recorded.cases());
    assert!(
        count == 0,
        "{count} of {cases} answers differ:\n{}",
        lines.join("\n")
    );
    assert!(
        stale.is_empty(),
        "remove from records/known-differences.txt, because the answers agree: {stale:?}"
    );
    let known = differences.len();
    println!("{known} of {cases} answers differ from those of the GPU, all of them known");
}

/// Returns the file of the shared library, which cargo builds into the folder of this program or into a parent
/// folder.
fn library() -> PathBuf {
    let name = libloading::library_filename("warpbook_cuda");
    let program = env::current_exe().expect("this program has no path");
    let mut folders = program.ancestors().skip(1).map(|folder| folder.join(&name));
    folders
        .find(|file| file.exists())
        .expect("the library is not built")
}

#[test]
fn shared_library_gives_the_answers_of_the_gpu() {
    let libraries = TempDir::new().expect("cannot create a folder");
    let name = libraries.path().join("libcuda.so.1");
    std::os::unix::fs::symlink(library(), name).expect("cannot link the library");
    compare(|program, folder| {
        let executable = folder.join(program);
        let mut search = OsString::from("-L");
        search.push(libraries.path());
        compile(
            program,
            &executable,
            &[search, "-l:libcuda.so.1".into(), "-lpthread".into()],
        );
        run(
            Command::new(executable),
            &[("LD_LIBRARY_PATH", libraries.path())],
        )
    });
}

#[test]
fn static_driver_gives_the_answers_of_the_gpu() {
    compare(|program, folder| {
        let object = folder.join(format!("{program}.so"));
        compile(program, &object, &["-shared".into(), "-fPIC".into()]);
        let mut command = Command::cargo_bin("driver-answers").expect("the program is not built");
        command.arg(object);
        run(command, &[])
    });
}
