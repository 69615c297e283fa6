//! The live view in a terminal: saves, keys, and restoring the terminal at the end.

#![cfg(unix)]

mod support;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use support::{EXERCISES, Program, with_clang};

const FILE: &str = "01-first-thread.cu";

/// The escape sequence that leaves the alternate screen.
const LEAVE_SCREEN: &str = "\u{1b}[?1049l";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let tests = vec![
        Trial::test("watch without a terminal explains the alternative", || {
            Program::new()
                .run_line("watch")
                .assert_error(&["terminal", "check"]);
            Ok(())
        }),
        with_clang("a save is graded and keys are obeyed", saves_and_keys),
        with_clang(
            "a save cancels the grading of the previous version",
            saves_cancel_grading,
        ),
        with_clang("the list selects and long texts scroll", navigation),
        with_clang("Ctrl-C restores the terminal", interrupted),
        with_clang("Chinese text fits a small window", chinese),
        with_clang("an unreadable file is reported", unreadable),
    ];
    libtest_mimic::run(&arguments, tests).exit_code()
}

fn saves_and_keys() -> Result<(), Failed> {
    let program = Program::new();
    let mut terminal = program.in_terminal("watch", 40, 100);
    terminal.wait_for("✗ not passed");
    program.write(FILE, EXERCISES[0].solution());
    terminal.wait_for("✓ passed");
    // Saving the same text again has no effect; the list marks what passed.
    program.write(FILE, EXERCISES[0].solution());
    terminal.press("l");
    terminal.wait_for("→ 01-first-thread");
    terminal.press("h");
    terminal.wait_for("1/3");
    terminal.press("h");
    terminal.wait_for("2/3");
    terminal.press("s");
    terminal.wait_for("# One thread, one element");
    program.write(FILE, EXERCISES[0].start());
    terminal.wait_for("has wrong results");
    terminal.press("r");
    terminal.wait_for("✗ not passed");
    terminal.press("q");
    let (code, output) = terminal.end();
    assert_eq!(code, 0, "{output}");
    assert!(output.contains(LEAVE_SCREEN), "{output:?}");
    program
        .run_line("list")
        .assert_has(0, &["→ 01-first-thread"]);
    program.run_line("hint 01").assert_has(0, &["3/3"]);
    Ok(())
}

/// Goes from the list to another exercise, through its statement, to a hint, and back to the verdict, at 80 ×
/// 24.
fn navigation() -> Result<(), Failed> {
    const DOWN: &str = "\u{1b}[B";
    const ENTER: &str = "\r";
    let program = Program::new();
    let mut terminal = program.in_terminal("watch 01", 24, 80);
    terminal.wait_for("✗ not passed");
    terminal.press("l");
    terminal.wait_for("> → 01-first-thread");
    terminal.press(DOWN);
    terminal.wait_for(">   02-tail");
    terminal.press("k");
    terminal.wait_for("> → 01-first-thread");
    for _ in 1..17 {
        terminal.press("j");
    }
    terminal.wait_for(">   17-tiles");
    terminal.press(ENTER);
    terminal.wait_for("# Tiled matrix multiplication");
    terminal.wait_for("✗ not passed");
    // The statement is longer than the window.
    terminal.press(" ");
    terminal.wait_for("Prerequisites: 08-pitch-in-elements");
    terminal.press("h");
    terminal.wait_for("1/3");
    terminal.press("v");
    terminal.wait_for("misses a target of the counters");
    terminal.press(DOWN);
    terminal.press(DOWN);
    terminal.wait_for("more lines: ↓");
    terminal.press("s");
    terminal.wait_for("# Tiled matrix multiplication");
    terminal.press("\u{1b}");
    terminal.wait_for("misses a target of the counters");
    terminal.press("q");
    let (code, output) = terminal.end();
    assert_eq!(code, 0, "{output}");
    Ok(())
}

fn saves_cancel_grading() -> Result<(), Failed> {
    let program = Program::new();
    let endless = EXERCISES[0].solution().replace(
        "    if (i < n)",
        "    for (volatile int j = 0; j >= 0; j = 1) {}\n    if (i < n)",
    );
    program.write(FILE, endless);
    let mut terminal = program.in_terminal("watch 01", 30, 80);
    terminal.wait_for("running, size 1 ");
    program.write(FILE, EXERCISES[0].solution());
    terminal.wait_for("✓ passed");
    terminal.press("q");
    let (code, output) = terminal.end();
    assert_eq!(code, 0, "{output}");
    Ok(())
}

fn interrupted() -> Result<(), Failed> {
    let program = Program::new();
    let mut terminal = program.in_terminal("watch", 24, 80);
    terminal.wait_for("q quit");
    terminal.press("\u{3}");
    let (code, output) = terminal.end();
    assert_eq!(code, 130, "{output}");
    assert!(output.contains(LEAVE_SCREEN), "{output:?}");
    Ok(())
}

fn chinese() -> Result<(), Failed> {
    let program = Program::new();
    let mut terminal = program.in_terminal("watch 01 --lang zh", 10, 40);
    terminal.wait_for("还有");
    terminal.wait_for("✗ 未通过");
    terminal.press("q");
    assert_eq!(terminal.end().0, 0);
    Ok(())
}

fn unreadable() -> Result<(), Failed> {
    let program = Program::new();
    program.write(FILE, [0xff, 0xfe]);
    let mut terminal = program.in_terminal("watch 01", 24, 80);
    terminal.wait_for("UTF-8");
    program.write(FILE, EXERCISES[0].solution());
    terminal.wait_for("✓ passed");
    terminal.press("q");
    assert_eq!(terminal.end().0, 0);
    Ok(())
}
