//! Compilation of untrusted sources with a real clang, without a sandbox. Without clang the tests are ignored, with
//! the reason.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;
use std::{fs, io};

use kernel_build::{Clang, Compiled, Tree, install_command};
use libtest_mimic::{Arguments, Completion, Trial};
use tempfile::TempDir;
use untrusted::{Error, OptimizationLevel, Termination, UntrustedSource};

fn main() -> ExitCode {
    let missing = Clang::find().err().map(|reason| {
        let install = install_command();
        format!("needs clang: {reason}; install it:  {install}")
    });
    let tests: [(&str, fn()); 4] = [
        (
            "an_untrusted_source_is_compiled_with_its_allowed_headers",
            an_untrusted_source_is_compiled_with_its_allowed_headers,
        ),
        ("a_forbidden_file_is_detected", a_forbidden_file_is_detected),
        ("limits_stop_the_compiler", limits_stop_the_compiler),
        (
            "failures_of_the_system_are_not_the_sources",
            failures_of_the_system_are_not_the_sources,
        ),
    ];
    let trials = tests.map(|(name, test)| {
        let missing = missing.clone();
        Trial::ignorable_test(name, move || {
            Ok(match missing {
                Some(reason) => Completion::ignored_with(reason),
                None => {
                    test();
                    Completion::Completed
                }
            })
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.into()).exit_code()
}

/// Creates a checkout with the real headers and the empty kernel `other`.
fn checkout() -> TempDir {
    let checkout = tempfile::tempdir().unwrap();
    let kernels = checkout.path().join("kernels");
    let real_kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../kernels");
    copy(&real_kernels.join("include"), &kernels.join("include"));
    for header in ["cuda_device.h", "async_copy.h", "tensor_core.h"] {
        fs::copy(real_kernels.join(header), kernels.join(header)).unwrap();
    }
    fs::write(kernels.join("other.cu"), "").unwrap();
    fs::write(checkout.path().join("Cargo.toml"), "").unwrap();
    checkout
}

/// Copies a directory recursively.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in from.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(&path, &to).unwrap();
        }
    }
}

/// Asserts that `text` contains all of `parts`.
#[track_caller]
fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
}

/// Compiles an untrusted source that may include `cuda_device.h`, protected only by the check of the opened
/// files.
fn compile_untrusted(
    clang: &Clang,
    checkout: &TempDir,
    text: &str,
    time_limit: u64,
) -> Result<Compiled, Error> {
    compile_with_command(clang, checkout, text, time_limit, &|program, _| {
        Ok(Command::new(program))
    })
}

/// Compiles an untrusted source as [`compile_untrusted`] does, with the compiler that `command` starts.
fn compile_with_command(
    clang: &Clang,
    checkout: &TempDir,
    text: &str,
    time_limit: u64,
    command: &dyn Fn(&OsStr, Vec<PathBuf>) -> io::Result<Command>,
) -> Result<Compiled, Error> {
    let tree = Tree::find(checkout.path()).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let source = UntrustedSource {
        optimization: OptimizationLevel::Optimized,
        name: "answer.cu",
        text,
        headers: &["cuda_device.h"],
        architecture: None,
        scratch: scratch.path(),
        time_limit: Duration::from_secs(time_limit),
        command,
    };
    let compiled = source.compile(clang, &tree);
    for file in scratch.path().read_dir().unwrap() {
        let name = file.unwrap().file_name();
        assert!(name.to_string_lossy().starts_with("opened-"), "{name:?}");
    }
    compiled
}

fn an_untrusted_source_is_compiled_with_its_allowed_headers() {
    let checkout = checkout();
    let clang = Clang::find().unwrap();
    let text = "#include \"cuda_device.h\"\nextern \"C\" __constant__ float factor;\n\
                extern \"C\" __device__ int count[4];\nextern __shared__ float buffer[];\n\
                __global__ void scale(float *x) { buffer[0] = *x; *x = buffer[count[0]] * factor; }\n";
    let compiled = compile_untrusted(&clang, &checkout, text, 60).unwrap();
    let variables = [
        ".visible .const .align 4 .f32 factor;",
        ".visible .global .align 4 .b8 count[16];",
    ];
    assert_has(&compiled.ptx, &variables);
    assert_has(
        &compiled.ptx,
        &[".extern .shared ", ".file\t1 \"answer.cu\"", ".loc\t1 5 "],
    );
    assert_eq!(compiled.warnings, "");
    match compile_untrusted(&clang, &checkout, &text.replace("* factor", "* factr"), 60) {
        Err(Error::Text { message, .. }) => assert_has(&message, &["answer.cu:5:"]),
        other => panic!("{other:?}"),
    }
}

fn a_forbidden_file_is_detected() {
    let checkout = checkout();
    fs::write(checkout.path().join("kernels/secret.h"), "int secret;\n").unwrap();
    fs::create_dir(checkout.path().join("kernels/ptx")).unwrap();
    let clang = Clang::find().unwrap();
    for (text, file) in [
        ("#include \"secret.h\"\n", "kernels/secret.h"),
        (
            "#include \"cuda_device.h\"\n#include \"other.cu\"\n",
            "kernels/other.cu",
        ),
        ("#include \"ptx/../secret.h\"\n", "kernels/ptx/../secret.h"),
    ] {
        match compile_untrusted(&clang, &checkout, text, 60) {
            Err(Error::ForbiddenFile { file: actual }) => assert_eq!(actual, file),
            other => panic!("{text}: {other:?}"),
        }
    }
    for text in [
        "#if __has_include(\"cuda_device.h\")\n#endif\n",
        "#define C(a, b) a##b\n#if C(__has_, include)(\"cuda_device.h\")\n#endif\n",
        "#define C(a, b) a##b\nC(_Pra, gma)(\"GCC dependency \\\"cuda_device.h\\\"\")\n",
    ] {
        let rejected = compile_untrusted(&clang, &checkout, text, 60);
        assert!(
            matches!(rejected, Err(Error::Text { .. })),
            "{text}: {rejected:?}"
        );
    }
}

fn limits_stop_the_compiler() {
    let checkout = checkout();
    let clang = Clang::find().unwrap();
    let terminate = |text: &str, time| match compile_untrusted(&clang, &checkout, text, time) {
        Err(Error::Terminated {
            reason, file_name, ..
        }) => {
            assert_eq!(file_name, "answer.cu");
            reason
        }
        other => panic!("{other:?}"),
    };
    let doubled: String = (1..60)
        .map(|i| format!("#define M{i} M{0} M{0}\n", i - 1))
        .collect();
    let endless = format!("#define M0 ;\n{doubled}M59\n");
    assert_eq!(
        terminate(&endless, 1),
        Termination::TimedOut(Duration::from_secs(1))
    );
    let long = "struct Table { int first[1 << 24]; int last; };\n\
                __attribute__((device)) Table t = {{1}, 2};\n";
    assert_eq!(terminate(long, 100), Termination::OutputTooLong(8 << 20));
    let crash = terminate("_Pragma(\"clang __debug parser_crash\")\n", 100);
    assert!(matches!(crash, Termination::Crashed(_)), "{crash:?}");

    let missing_clang = Clang::from_parts("/nowhere/at/all".into(), "1.0".to_owned());
    let rejected = compile_untrusted(&missing_clang, &checkout, "", 10);
    assert!(
        matches!(rejected, Err(Error::Build(kernel_build::Error::Io { .. }))),
        "{rejected:?}"
    );
}

fn failures_of_the_system_are_not_the_sources() {
    if cfg!(not(unix)) {
        return;
    }
    let checkout = checkout();
    let clang = Clang::find().unwrap();
    for (script, part) in [
        ("kill -9 $$", "signal: 9"),
        (
            "echo 'error: unable to open a: No space left on device' >&2; exit 1",
            "No space left",
        ),
        (
            "echo 'LLVM ERROR: IO failure: Disk quota exceeded' >&2; exit 70",
            "Disk quota exceeded",
        ),
    ] {
        let command = |_: &OsStr, _| {
            let mut shell = Command::new("sh");
            shell.args(["-c", script]);
            Ok(shell)
        };
        match compile_with_command(&clang, &checkout, "", 60, &command) {
            Err(Error::System { message, .. }) => assert_has(&message, &[part]),
            other => panic!("{script}: {other:?}"),
        }
    }
}
