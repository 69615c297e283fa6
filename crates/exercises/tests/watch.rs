//! The live view in a terminal: saves, keys, and restoring the terminal at the end.

#![cfg(unix)]

mod support;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use support::{EXERCISES, Program, endless_submission, with_clang};

const FILE: &str = "01-first-thread.cu";

/// The escape sequence that leaves the alternate screen.
const LEAVE_SCREEN: &str = "\u{1b}[?1049l";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let tests = vec![
        Trial::test("watch without a terminal explains the alternative", || {
            Program::new().expect_error("watch", &["terminal", "check"]);
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
    terminal.press_until("l", "→ 01-first-thread");
    terminal.press_until("h", "1/3");
    terminal.press_until("h", "2/3");
    terminal.press_until("s", "# One thread, one element");
    program.write(FILE, EXERCISES[0].start());
    terminal.wait_for("has wrong results");
    terminal.press_until("r", "✗ not passed");
    let output = terminal.quit();
    assert!(output.contains(LEAVE_SCREEN), "{output:?}");
    program.expect("list", 0, &["→ 01-first-thread"]);
    program.expect("hint 01", 0, &["3/3"]);
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
    terminal.press_until("l", "> → 01-first-thread");
    terminal.press_until(DOWN, ">   02-tail");
    terminal.press_until("k", "> → 01-first-thread");
    for _ in 1..17 {
        terminal.press("j");
    }
    terminal.wait_for(">   17-tiles");
    terminal.press_until(ENTER, "# Tiled matrix multiplication");
    terminal.wait_for("✗ not passed");
    // The statement is longer than the window.
    terminal.press_until(" ", "Prerequisites: 08-pitch-in-elements");
    terminal.press_until("h", "1/3");
    terminal.press_until("v", "misses a target of the counters");
    terminal.press(DOWN);
    terminal.press_until(DOWN, "more lines: ↓");
    terminal.press_until("s", "# Tiled matrix multiplication");
    terminal.press_until("\u{1b}", "misses a target of the counters");
    terminal.quit();
    Ok(())
}

fn saves_cancel_grading() -> Result<(), Failed> {
    let program = Program::new();
    program.write(FILE, endless_submission());
    let mut terminal = program.in_terminal("watch 01", 30, 80);
    terminal.wait_for("running, size 1 ");
    program.write(FILE, EXERCISES[0].solution());
    terminal.wait_for("✓ passed");
    terminal.quit();
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
    terminal.quit();
    Ok(())
}

fn unreadable() -> Result<(), Failed> {
    let program = Program::new();
    program.write(FILE, [0xff, 0xfe]);
    let mut terminal = program.in_terminal("watch 01", 24, 80);
    terminal.wait_for("UTF-8");
    program.write(FILE, EXERCISES[0].solution());
    terminal.wait_for("✓ passed");
    terminal.quit();
    Ok(())
}
