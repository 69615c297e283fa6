//! Careless use: closed output, exhausted system resources, concurrent checks. The program never panics, and
//! no verdict is lost.

mod support;

use std::fs;
use std::io;
use std::process::{Child, ExitCode, Stdio};

use exercises::course::Exercise;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use support::{EXERCISES, Program, Run, parse, unless, with_clang};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let linux = (!cfg!(target_os = "linux")).then_some("needs Linux");
    let tests = vec![
        Trial::test(
            "a closed output pipe ends the program quietly",
            closed_output,
        ),
        unless(linux, "a full device is an error", full),
        #[cfg(unix)]
        Trial::test("closed input and output change nothing", closed),
        #[cfg(unix)]
        Trial::test("arguments that are not Unicode are rejected", not_unicode),
        unless(linux, "a failure to start threads is reported", no_threads),
        #[cfg(unix)]
        Trial::test("exhausted file descriptors are reported", few_descriptors),
        Trial::test(
            "a missing temporary folder is reported",
            no_temporary_folder,
        ),
        #[cfg(unix)]
        with_clang("low limits are not the submission's fault", low_limits),
        #[cfg(unix)]
        with_clang(
            "a killed compiler is not the submission's fault",
            killed_compiler,
        ),
        #[cfg(unix)]
        unless(
            unlimited_processes(),
            "a lack of processes is not the submission's fault",
            few_processes,
        ),
        #[cfg(target_os = "linux")]
        unless(
            no_mounts(),
            "a full temporary folder is not the submission's fault",
            full_folder,
        ),
        Trial::test("concurrent hints are all counted", concurrent_hints),
        with_clang("concurrent checks are all recorded", concurrent_checks),
        with_clang("a verdict that cannot be saved is printed", not_noted),
        with_clang(
            "a verdict written to a closed output does not pass",
            verdict_to_closed_output,
        ),
        with_clang(
            "an unreadable submission fails alone",
            unreadable_submission,
        ),
        with_clang(
            "an endless submission file is not read completely",
            endless_file,
        ),
        Trial::test("a second reset keeps the first text", reset_twice),
    ];
    libtest_mimic::run(&arguments, tests).exit_code()
}

/// Commands that print something and need no compiler.
const COMMANDS: [&[&str]; 7] = [
    &["list"],
    &["list", "--json"],
    &["hint", "01"],
    &["solution", "01", "--give-up"],
    &["reset", "01", "--lang", "zh"],
    &["--help"],
    &["check", "--help", "--lang", "zh"],
];

/// Runs the program with its standard output redirected.
fn with_output(program: &Program, arguments: &[&str], output: Stdio) -> Run {
    let mut command = program.command(arguments);
    let command = command.args(["--dir", "answers"]).stdout(output);
    Run::of(&command.output().expect("the program can be started"))
}

/// Returns a pipe whose reader is closed.
fn closed_pipe() -> Stdio {
    let (reader, writer) = io::pipe().expect("a pipe");
    drop(reader);
    writer.into()
}

fn closed_output() -> Result<(), Failed> {
    let program = Program::new();
    for arguments in COMMANDS {
        let run = with_output(&program, arguments, closed_pipe());
        assert_eq!((run.code, run.stderr.as_str()), (141, ""), "{arguments:?}");
        // An unread error message does not change the exit code.
        let mut command = program.command(&["check", "99", "--dir", "answers"]);
        let status = command.stderr(closed_pipe()).status()?;
        assert_eq!(status.code(), Some(2));
    }
    Ok(())
}

fn full() -> Result<(), Failed> {
    let program = Program::new();
    for arguments in COMMANDS {
        let device = fs::File::options().write(true).open("/dev/full")?;
        let run = with_output(&program, arguments, device.into());
        run.assert_has(2, &["28"]);
        assert!(!run.stderr.contains("panicked"), "{run:?}");
    }
    Ok(())
}

#[cfg(unix)]
fn closed() -> Result<(), Failed> {
    let program = Program::new();
    for closed in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"] {
        let run = program.run_in_shell(&format!("exercises list --dir answers {closed}"));
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{closed}");
    }
    let run = program.run_in_shell("exercises check 99 --dir answers <&- >&- 2>&-");
    assert_eq!(run.code, 2);
    Ok(())
}

#[cfg(unix)]
fn not_unicode() -> Result<(), Failed> {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let program = Program::new();
    let odd = OsStr::from_bytes(b"o\xffdd");
    for before in [
        &[][..],
        &["--lang"],
        &["check"],
        &["check", "01", "--seed"],
        &["hint"],
    ] {
        for lang in ["en", "zh"] {
            let mut command = program.command(&["--lang", lang]);
            let output = command.args(before).arg(odd).output()?;
            let run = Run::of(&output);
            assert_eq!(run.code, 2, "{run:?}");
            assert!(!run.stderr.contains("panicked"), "{run:?}");
        }
    }
    let output = program.command(&["list", "--dir"]).arg(odd).output()?;
    Run::of(&output).assert_has(0, &["01-first-thread"]);
    assert!(program.home().join(odd).join("02-tail.cu").exists());
    Ok(())
}

/// Requests a thread stack larger than any system provides.
fn no_threads() -> Result<(), Failed> {
    let program = Program::new().with_env("RUST_MIN_STACK", "140737488355328");
    program.expect_error("check 01", &["cannot"]);
    Ok(())
}

#[cfg(unix)]
fn few_descriptors() -> Result<(), Failed> {
    let program = Program::new();
    program.write("01-first-thread.cu", EXERCISES[0].solution());
    for handles in (5..20).chain([24, 32]) {
        let check = format!("ulimit -n {handles}; exercises check 01 --dir answers");
        let run = program.run_in_shell(&check);
        let is_handled = matches!(run.code, 0 | 2) && !run.stderr.contains("panicked");
        assert!(is_handled, "{handles} handles: {run:#?}");
        assert_eq!(run.code == 2, run.stderr.contains("error: "), "{run:#?}");
    }
    Ok(())
}

fn no_temporary_folder() -> Result<(), Failed> {
    let has_no_clang = support::missing_clang().is_some();
    let program = Program::new().with_temporary_folder();
    fs::remove_dir(program.temporary_folder())?;
    let parts: &[&str] = if has_no_clang {
        &["clang"]
    } else {
        &["temporary"]
    };
    program.expect_error("check 01", parts);
    Ok(())
}

/// Returns a program whose class has one student with correct submissions to two exercises, a kernel and a host side.
#[cfg(unix)]
fn correct_class() -> Program {
    let program = Program::new();
    for name in ["01", "03"] {
        let exercise = support::find(name).expect("an exercise");
        program.hand_in("class", "ann", &[(&exercise.file(), exercise.solution())]);
    }
    program
}

/// Grades these submissions with `line` before the program, and asserts that the results are `ungraded`.
#[cfg(unix)]
fn assert_ungraded(program: &Program, names: &[&str], line: &str, part: &str) {
    for name in names {
        let check = format!("check {name} --submissions class --seed 1 --json --dir answers");
        let run = program.run_in_shell(&format!("{line} exercises {check}"));
        assert_eq!(run.code, 2, "{name}: {run:#?}");
        let result = &parse(&run.stdout)["results"][0];
        assert_eq!(result["outcome"], "ungraded", "{name}: {result:#}");
        let message = result["message"].as_str().unwrap_or_default();
        assert!(message.contains(part), "{name}: {message}");
    }
}

#[cfg(unix)]
fn low_limits() -> Result<(), Failed> {
    let program = correct_class();
    for (limit, part) in [
        ("-v 3000000", "limits the memory in bytes to 3072000000"),
        ("-t 3", "limits the CPU time in seconds to 3"),
        ("-f 100", "limits the size of a file in bytes"),
    ] {
        assert_ungraded(&program, &["01", "03"], &format!("ulimit {limit};"), part);
    }
    Ok(())
}

/// Returns the reason why the number of processes cannot be limited here: the limit does not bind root.
#[cfg(unix)]
fn unlimited_processes() -> Option<&'static str> {
    let id = std::process::Command::new("id").arg("-u").output();
    let is_root = id.is_ok_and(|output| output.stdout == b"0\n");
    is_root
        .then_some("needs an ordinary user")
        .or(support::missing_clang())
}

/// The limit includes the user's other processes, so the check fails at various places, or passes.
#[cfg(unix)]
fn few_processes() -> Result<(), Failed> {
    let program = correct_class();
    for name in ["01", "03"] {
        let check = format!("check {name} --submissions class --seed 1 --json --dir answers");
        for processes in [1, 4, 8, 12, 16, 24, 32, 48, 64, 128, 256] {
            let run = program.run_in_shell(&format!("ulimit -u {processes}; exercises {check}"));
            let is_graded = run.code == 0 && run.stdout.contains("\"passed\"");
            assert!(is_graded || run.code == 2, "{processes}: {run:#?}");
            assert!(
                !run.stdout.contains("\"rejected\""),
                "{processes}: {run:#?}"
            );
        }
    }
    Ok(())
}

/// A compiler that is killed, as by the system when memory runs out.
#[cfg(unix)]
fn killed_compiler() -> Result<(), Failed> {
    use std::os::unix::fs::PermissionsExt as _;

    let program = correct_class();
    let file = program.home().join("compiler");
    fs::write(
        &file,
        "#!/bin/sh\n[ \"$1\" = --print ] && echo /nowhere || kill -9 $$\n",
    )?;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
    assert_ungraded(
        &program,
        &["03"],
        "export RUSTC=\"$PWD/compiler\";",
        "signal: 9",
    );
    Ok(())
}

/// The command that starts a shell in which file systems can be mounted.
#[cfg(target_os = "linux")]
const MOUNTING: &str = "unshare --user --map-root-user --mount";

/// Returns the reason why file systems cannot be mounted here.
#[cfg(target_os = "linux")]
fn no_mounts() -> Option<&'static str> {
    let line = format!("{MOUNTING} mount -t tmpfs tmpfs /mnt");
    let status = std::process::Command::new("sh")
        .args(["-c", &line])
        .stderr(Stdio::null())
        .status();
    let works = status.is_ok_and(|status| status.success());
    (!works)
        .then_some("needs user namespaces")
        .or(support::missing_clang())
}

#[cfg(target_os = "linux")]
fn full_folder() -> Result<(), Failed> {
    let program = correct_class();
    fs::create_dir(program.home().join("full"))?;
    let fill = "mount -t tmpfs -o size=64k tmpfs full; head -c 65536 /dev/zero >full/file";
    for name in ["01", "03"] {
        let check = format!("check {name} --submissions class --seed 1 --json --dir answers");
        let run = program.run_in_shell(&format!(
            "{MOUNTING} sh -c '{fill}; TMPDIR=$PWD/full \"$PROGRAM\" {check}'"
        ));
        assert_eq!(run.code, 2, "{name}: {run:#?}");
        let result = &parse(&run.stdout)["results"][0];
        assert_eq!(result["outcome"], "ungraded", "{name}: {result:#}");
        let message = result["message"].as_str().unwrap_or_default();
        assert!(
            message.contains("No space left on device"),
            "{name}: {message}"
        );
    }
    Ok(())
}

/// Runs a command with each of these exercises, all at once, and asserts that all runs succeed.
fn at_once<'a>(program: &Program, command: &str, exercises: impl Iterator<Item = &'a Exercise>) {
    let start = |exercise: &Exercise| {
        let mut command = program.command(&[command, exercise.name()]);
        let command = command.args(["--dir", "answers"]).stdout(Stdio::null());
        command.spawn().expect("the program can be started")
    };
    let all: Vec<Child> = exercises.map(start).collect();
    for mut child in all {
        assert!(child.wait().expect("the program exits").success());
    }
}

fn progress(program: &Program) -> Value {
    parse(&program.read("answers/progress.json"))
}

fn concurrent_hints() -> Result<(), Failed> {
    let program = Program::new();
    program.expect("list", 0, &[]);
    at_once(&program, "hint", EXERCISES.iter());
    let hints = &progress(&program)["hints"];
    for exercise in EXERCISES.iter() {
        assert_eq!(hints[exercise.name()], 1, "{}: {hints:#}", exercise.name());
    }
    Ok(())
}

fn concurrent_checks() -> Result<(), Failed> {
    let program = Program::new();
    let kernels = EXERCISES
        .iter()
        .filter(|exercise| exercise.file().ends_with(".cu"));
    let exercises: Vec<_> = kernels.take(8).collect();
    for exercise in &exercises {
        program.write(&exercise.file(), exercise.solution());
    }
    at_once(&program, "check", exercises.iter().copied());
    let names: Vec<&str> = exercises.iter().map(|exercise| exercise.name()).collect();
    assert_eq!(progress(&program)["passed"], serde_json::json!(names));
    Ok(())
}

fn not_noted() -> Result<(), Failed> {
    let program = Program::new();
    program.write("01-first-thread.cu", EXERCISES[0].solution());
    program.write("progress.json", "{ not json");
    let damaged = [
        "✓ 01-first-thread",
        "cannot save",
        "progress.json",
        "damaged",
    ];
    program.expect("check 01", 0, &damaged);
    let run = program.run_line("check 01 --json");
    assert_eq!(parse(&run.stdout)["passed"], true);
    assert!(run.stderr.contains("damaged"), "{run:?}");
    program.expect("check 01 --lang zh", 0, &["无法保存进度", "已损坏"]);
    let saved = fs::read_to_string(program.file("progress.json"))?;
    assert_eq!(saved, "{ not json", "nothing is put in its place");
    // Test a progress file that cannot be locked and one that cannot be written.
    for name in [".progress.lock", "progress.json"] {
        let program = Program::new();
        program.write("01-first-thread.cu", EXERCISES[0].start());
        fs::create_dir(program.file(name))?;
        program.expect("check 01", 1, &["✗ 01-first-thread", "cannot save", name]);
    }
    Ok(())
}

fn verdict_to_closed_output() -> Result<(), Failed> {
    let program = Program::new();
    program.write("01-first-thread.cu", EXERCISES[0].solution());
    let run = with_output(&program, &["check", "01"], closed_pipe());
    assert_eq!((run.code, run.stderr.as_str()), (141, ""));
    // The verdict is saved anyway.
    assert_eq!(progress(&program)["passed"][0], "01-first-thread");
    Ok(())
}

fn unreadable_submission() -> Result<(), Failed> {
    let program = Program::new();
    program.write("01-first-thread.cu", EXERCISES[0].solution());
    program.write("02-tail.cu", [0xff, 0xfe]);
    let run = program.expect(
        "check --all --json --seconds 30",
        2,
        &["02-tail.cu", "UTF-8"],
    );
    let records = parse(&run.stdout);
    assert_eq!(records.as_array().map(Vec::len), Some(EXERCISES.len() - 1));
    assert_eq!(records[0]["passed"], true);
    Ok(())
}

fn endless_file() -> Result<(), Failed> {
    if cfg!(unix) {
        Program::new().expect_error("check 01 --file /dev/zero", &["/dev/zero", "bytes"]);
    }
    let program = Program::new();
    fs::create_dir_all(program.file("01-first-thread.cu"))?;
    program.expect_error("check 01", &["01-first-thread.cu"]);
    Ok(())
}

fn reset_twice() -> Result<(), Failed> {
    let program = Program::new();
    program.write("01-first-thread.cu", "first");
    program.expect("reset 01", 0, &["01-first-thread.cu.old."]);
    // The file is already the start file, so there is nothing to save.
    program.expect("reset 01", 0, &["is the start file."]);
    program.write("01-first-thread.cu", "second");
    program.expect("reset 01", 0, &["01-first-thread.cu.old-2."]);
    for (suffix, text) in [
        ("", EXERCISES[0].start()),
        (".old", "first"),
        (".old-2", "second"),
    ] {
        let file = format!("answers/01-first-thread.cu{suffix}");
        assert_eq!(program.read(&file), text);
    }
    Ok(())
}
