//! Submissions that attack the compiler: they try to read files, probe for them, crash it, or keep it busy
//! forever. Each is rejected with a message; harmless look-alikes are graded normally.

mod attacks;
#[path = "../support/mod.rs"]
mod support;

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::LazyLock;

use attacks::{ATTACKS, HARMLESS};
use confine::{Rules, system_libraries};
use kernel_build::{Clang, Tree};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use support::{Program, missing_clang, unless, with_clang};

const HEAD: &str = "#include \"cuda_device.h\"\n";

/// The correct submission to the first exercise.
const CORRECT: &str =
    "extern \"C\" __global__ void axpy(float a, const float *x, float *y, unsigned int n) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
";

fn main() -> ExitCode {
    // One of the tests starts this program again, confined.
    if let Some(code) = confine::run_if_child() {
        return code;
    }
    let arguments = Arguments::from_args();
    let mut tests: Vec<Trial> = ATTACKS
        .iter()
        .map(|&(name, text, expected)| with_clang(name, move || rejected(text, expected)))
        .collect();
    let harmless = HARMLESS.iter();
    tests.extend(
        harmless.map(|&(name, text)| with_clang(format!("right: {name}"), move || passes(text))),
    );
    tests.push(with_clang("right: odd names", odd_names));
    tests.push(with_clang("right: an external constant", external_constant));
    tests.push(unless(
        unconfined_reason(),
        "the confined compiler opens no other file",
        confined_compiler_opens_no_file,
    ));
    #[cfg(unix)]
    tests.push(Trial::test(
        "a compiler that hangs during detection is killed",
        hangs,
    ));
    #[cfg(unix)]
    tests.push(with_clang(
        "a compiler started by a script is killed with it",
        script,
    ));
    libtest_mimic::run(&arguments, tests).exit_code()
}

/// Returns a program whose temporary folder is inspected afterwards.
fn program() -> Program {
    Program::new().with_temporary_folder()
}

/// Grades a submission to the first exercise and checks that no temporary file is left.
fn graded(program: &Program, name: &str, text: &str) -> Result<(i32, Value), Failed> {
    let file = program.write(name, text);
    let graded = program.grade_within("20", "01", &file);
    let left: Vec<_> = fs::read_dir(program.temporary_folder())?.collect();
    match left.is_empty() {
        true => Ok(graded),
        false => Err(format!("it left {left:?}").into()),
    }
}

fn rejected(text: &str, expected: &str) -> Result<(), Failed> {
    let program = program();
    let secret = program.home().join("secret");
    fs::write(&secret, "rosebud\n")?;
    let solution = "kernels/exercises/01-first-thread/solution.cu";
    let text = match text {
        "DOUBLED" => support::doubled_macros() + "M39",
        "BRACKETS" => format!("int a = {};", "(".repeat(100_000)),
        text => text
            .replace("SECRET", &secret.to_string_lossy())
            .replace("SOLUTION", solution),
    };
    let text = format!("{HEAD}{text}\n{CORRECT}");
    let (code, record) = graded(&program, "answer.cu", &text)?;
    let message = record["message"].as_str().unwrap_or_default();
    let is_as_expected =
        record["step"] == "compile" && message.to_lowercase().contains(&expected.to_lowercase());
    let leaked = message.contains("rosebud") || message.contains("a * x[i] + y[i];\n}");
    match code == 1 && is_as_expected && !message.is_empty() && !leaked {
        true => Ok(()),
        false => Err(format!("exit code {code}, expected '{expected}': {record:#}").into()),
    }
}

fn passes(text: &str) -> Result<(), Failed> {
    // A byte-order mark must be the first character.
    let whole = format!("{text}{HEAD}{CORRECT}");
    let whole = match text.starts_with('\u{feff}') {
        true => whole,
        false => format!("{HEAD}{text}\n{CORRECT}"),
    };
    passed(graded(&program(), "answer.cu", &whole)?)
}

fn passed((code, record): (i32, Value)) -> Result<(), Failed> {
    match (code, record["passed"].as_bool()) {
        (0, Some(true)) => Ok(()),
        _ => Err(format!("exit code {code}: {record:#}").into()),
    }
}

/// Tests that unusual file names do not affect compilation, and that messages show the correct line.
fn odd_names() -> Result<(), Failed> {
    let mut names = vec![
        "with blanks.cu",
        "it's.cu",
        "%s %n.cu",
        "答案.cu",
        "#include.cu",
    ];
    if cfg!(unix) {
        names.extend(["a \"quote\".cu", "back\\slash\\n.cu", "new\nline.cu"]);
    }
    for name in names {
        let program = program();
        passed(graded(&program, name, &format!("{HEAD}{CORRECT}"))?)?;
        let wrong = CORRECT.replace("a * x[i]", "a * z[i]");
        let (_, record) = graded(&program, name, &format!("{HEAD}{wrong}"))?;
        let message = record["message"].as_str().unwrap_or_default();
        let shown = message.contains(":4:27: error: ") && !message.contains("answer.cu");
        assert!(shown, "{name:?}: {record:#}");
        let outside = CORRECT.replace("if (i < n) ", "");
        let (_, record) = graded(&program, name, &format!("{HEAD}{outside}"))?;
        let message = record["message"].as_str().unwrap_or_default();
        assert!(message.contains("line 4"), "{name:?}: {record:#}");
    }
    Ok(())
}

/// Returns the reason why the compiler cannot be confined here.
fn unconfined_reason() -> Option<&'static str> {
    static REASON: LazyLock<Option<String>> =
        LazyLock::new(|| confine::support().reason().map(str::to_owned));
    missing_clang().or(REASON.as_deref())
}

/// Tests the confinement of the compiler alone, without the check of the submission's text.
fn confined_compiler_opens_no_file() -> Result<(), Failed> {
    let clang = Clang::find()?;
    let tree = Tree::find(Path::new(env!("CARGO_MANIFEST_DIR")))?;
    let rules = Rules {
        read: untrusted::required_files(&clang, &tree, &["cuda_device.h"])?,
        execute: system_libraries(),
        cpu_seconds: 20,
        file: 1 << 20,
        ..Rules::default()
    };
    let solution = "kernels/exercises/01-first-thread/solution.cu";
    for (file, opens) in [
        ("kernels/cuda_device.h", true),
        ("kernels/include/warpbook/kernel.h", true),
        ("kernels/include/cuda_fp16.h", false),
        (solution, false),
        ("kernels/async_copy.h", false),
        ("/etc/passwd", false),
        ("/proc/self/environ", false),
    ] {
        let mut command = rules.command(clang.program())?;
        command
            .current_dir(tree.root())
            .args(["-x", "c", "-E", file]);
        let output = command.output()?;
        let message = String::from_utf8_lossy(&output.stderr);
        let refused = message.contains("error: ") && message.contains(file);
        let as_expected = output.status.success() == opens && refused != opens;
        assert!(as_expected, "{file}: {output:?}");
        assert!(opens || output.stdout.len() < 1000, "{output:?}");
    }
    Ok(())
}

/// `extern "C" __constant__` is a definition in nvcc and must be one here too.
fn external_constant() -> Result<(), Failed> {
    let program = program();
    let solution = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../kernels/exercises/13-settings/solution.cu");
    let text = fs::read_to_string(solution)?;
    assert!(text.contains("\n__constant__ "), "{text}");
    let external = text.replace("\n__constant__ ", "\nextern \"C\" __constant__ ");
    let file = program.write("13.cu", external);
    passed(program.grade_within("60", "13", &file))
}

/// Writes an executable script to the program's folder.
#[cfg(unix)]
fn script_file(program: &Program, text: &str) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let file = program.write("clang.sh", format!("#!/bin/sh\n{text}\n"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("permissions can be set");
    file
}

#[cfg(unix)]
fn hangs() -> Result<(), Failed> {
    use std::time::Instant;
    let program = program();
    let later = program.home().join("later");
    let script = script_file(&program, &format!("sleep 24; touch '{}'", later.display()));
    let program = program.with_env("KERNEL_CLANG", script);
    let file = program.write("answer.cu", CORRECT);
    let start = Instant::now();
    let run = program.run(&["check", "01", "--file", file.to_str().ok_or("UTF-8")?]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("did not exit within 20 s"), "{run:?}");
    assert!(
        start.elapsed().as_secs_f64() < 23.5,
        "{:?}",
        start.elapsed()
    );
    std::thread::sleep(std::time::Duration::from_secs(5));
    assert!(
        !later.exists(),
        "a process that the script started is still running"
    );
    Ok(())
}

#[cfg(unix)]
fn script() -> Result<(), Failed> {
    let clang = Clang::find()?;
    let program = program();
    let script = script_file(
        &program,
        &format!("'{}' \"$@\"; exit $?", clang.program().display()),
    );
    let program = program.with_env("KERNEL_CLANG", script);
    passed(graded(&program, "answer.cu", &format!("{HEAD}{CORRECT}"))?)
}
