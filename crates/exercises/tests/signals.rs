//! A signal ends the program with its own exit code and leaves no process and no file behind.

#![cfg(target_os = "linux")]

mod support;

use std::fs;
use std::process::{Child, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

use libtest_mimic::{Arguments, Failed};
use support::processes::{processes_using, send, wait_for};
use support::{EXERCISES, Program, Run, endless_submission, parse, unless, with_clang};

/// The signals that end a program, and the program's exit codes.
const SIGNALS: [(&str, i32); 3] = [("INT", 130), ("TERM", 143), ("HUP", 129)];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut tests = Vec::new();
    for (signal, code) in SIGNALS {
        let missing = support::missing_clang().or_else(|| ignored_signal(signal));
        let name = |mode: &str| format!("SIG{signal} in {mode}");
        tests.extend([
            unless(missing, name("a check"), move || check(signal, code)),
            unless(missing, name("a check of Rust"), move || rust(signal, code)),
            unless(missing, name("a class"), move || class(signal, code)),
            unless(missing, name("watch"), move || watch(signal, code)),
        ]);
    }
    tests.extend([
        with_clang("SIGHUP is ignored under nohup", nohup),
        with_clang("watch leaves no files or processes", quits_on_q),
        with_clang("a killed worker yields ungraded", killed),
        with_clang("a check leaves no files or processes", leaves_nothing),
    ]);
    libtest_mimic::run(&arguments, tests).exit_code()
}

/// Returns the reason why a signal has no effect here: `nohup` ignores SIGHUP for everything that these tests
/// start.
fn ignored_signal(signal: &str) -> Option<&'static str> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:\t"));
    let mask = u64::from_str_radix(mask.unwrap_or("0"), 16).unwrap_or(0);
    (signal == "HUP" && mask & 1 == 1).then_some("needs a SIGHUP that is not switched off")
}

/// Returns a program with a submission to the first exercise that never ends.
fn with_endless_submission() -> Program {
    let program = Program::new().with_temporary_folder();
    program.write("01-first-thread.cu", endless_submission());
    program
}

fn start(program: &Program, arguments: &[&str]) -> Child {
    let mut command = program.command(arguments);
    command.args(["--dir", "answers"]).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the program can be started")
}

/// Waits until a process whose command contains `command` works for the program. Returns its process ID.
fn wait_for_worker(program: &Program, command: &str) -> u32 {
    let folder = program.temporary_folder();
    let number = wait_for(|| {
        let all = processes_using(&folder).into_iter();
        let mut matching = all.filter(|(_, name)| name.contains(command));
        matching.next().map(|(number, _)| number)
    });
    thread::sleep(Duration::from_millis(200));
    number
}

/// Asserts that no process and no file is left.
fn assert_clean(program: &Program) {
    let folder = program.temporary_folder();
    // A killed process may take a moment to disappear.
    wait_for(|| processes_using(&folder).is_empty().then_some(()));
    let files: Vec<_> = fs::read_dir(&folder).expect("a folder").flatten().collect();
    assert!(files.is_empty(), "{files:?}");
}

fn assert_terminated(program: &Program, child: Child, code: i32) {
    let run = Run::of(&child.wait_with_output().expect("the program exits"));
    assert_eq!((run.code, run.stdout.as_str()), (code, ""), "{run:?}");
    assert_eq!(run.stderr, "interrupted\n");
    assert_clean(program);
}

fn check(signal: &str, code: i32) -> Result<(), Failed> {
    let program = with_endless_submission();
    let child = start(&program, &["check", "01"]);
    wait_for_worker(&program, " worker");
    send(signal, child.id());
    assert_terminated(&program, child, code);
    Ok(())
}

/// Tests a signal while rustc, which has its own temporary files, evaluates a constant that outlasts the test.
fn rust(signal: &str, code: i32) -> Result<(), Failed> {
    let program = Program::new().with_temporary_folder();
    let counts = "#[allow(long_running_const_eval)]\nconst _: () = {\n    let mut n = 0u64;\n    \
        while n < 1 << 40 {\n        n += 1;\n    }\n};\n";
    program.write(
        "03-blocks.rs",
        format!("{}{counts}", EXERCISES[2].solution()),
    );
    let child = start(&program, &["check", "03"]);
    wait_for_worker(&program, "--crate-name=answer");
    send(signal, child.id());
    assert_terminated(&program, child, code);
    Ok(())
}

fn class(signal: &str, code: i32) -> Result<(), Failed> {
    let program = Program::new().with_temporary_folder();
    let endless = endless_submission();
    program.hand_in_first(
        "class",
        &["ann", "bob", "eve"].map(|student| (student, &*endless)),
    );
    let flags = "check --all --submissions class --jobs 3 --out class.json --csv class.csv";
    let child = start(&program, &flags.split(' ').collect::<Vec<_>>());
    wait_for_worker(&program, " worker");
    send(signal, child.id());
    assert_terminated(&program, child, code);
    for file in ["class.json", "class.csv"] {
        assert!(
            !program.home().join(file).exists(),
            "{file} is half a result"
        );
    }
    Ok(())
}

fn watch(signal: &str, code: i32) -> Result<(), Failed> {
    let program = with_endless_submission();
    let mut terminal = program.in_terminal("watch 01", 24, 80);
    terminal.wait_for("running, size 1 ");
    send(signal, terminal.id());
    let (assert_terminated, output) = terminal.end();
    assert_eq!(i32::try_from(assert_terminated)?, code, "{output}");
    assert!(output.contains("\u{1b}[?1049l"), "{output:?}");
    assert_clean(&program);
    Ok(())
}

/// Closing the terminal does not end a program that `nohup` started.
fn nohup() -> Result<(), Failed> {
    let program = with_endless_submission();
    let mut command = std::process::Command::new("nohup");
    let inner = program.command(&["check", "01", "--seconds", "4", "--dir", "answers"]);
    command.arg(inner.get_program()).args(inner.get_args());
    command.current_dir(program.home());
    command.envs(
        inner
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn()?;
    wait_for_worker(&program, " worker");
    send("HUP", child.id());
    let run = Run::of(&child.wait_with_output()?);
    run.assert_has(1, &["✗ 01-first-thread"]);
    assert_clean(&program);
    Ok(())
}

fn quits_on_q() -> Result<(), Failed> {
    let program = with_endless_submission();
    let mut terminal = program.in_terminal("watch 01", 24, 80);
    terminal.wait_for("running, size 1 ");
    terminal.press("q");
    assert_eq!(terminal.end().0, 0);
    assert_clean(&program);
    Ok(())
}

fn killed() -> Result<(), Failed> {
    let program = Program::new().with_temporary_folder();
    let endless = endless_submission();
    let students = [("ann", &*endless), ("bob", EXERCISES[0].solution())];
    program.hand_in_first("class", &students);
    let flags = "check --all --submissions class --jobs 1 --json --seed 1";
    let child = start(&program, &flags.split(' ').collect::<Vec<_>>());
    send("KILL", wait_for_worker(&program, " worker"));
    let run = Run::of(&child.wait_with_output()?);
    run.assert_has(2, &["killed from outside"]);
    let record = parse(&run.stdout);
    let outcome = |number: usize| &record["results"][number]["outcome"];
    assert_eq!(outcome(0), "ungraded");
    assert_eq!(outcome(EXERCISES.len()), "passed");
    assert_clean(&program);
    Ok(())
}

fn leaves_nothing() -> Result<(), Failed> {
    let program = Program::new().with_temporary_folder();
    for exercise in [&EXERCISES[0], &EXERCISES[2]] {
        program.write(&exercise.file(), exercise.solution());
        program
            .run(&["check", exercise.name()])
            .assert_has(0, &["✓"]);
        assert_clean(&program);
    }
    Ok(())
}
