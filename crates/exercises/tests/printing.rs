//! Escaping of text from students: kernel output, source lines, file names. The amount of output does not
//! affect the verdict.

mod support;

use std::fs;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed};
use serde_json::Value;
use support::{Program, axpy, unless, with_clang};

const SCREEN: &str = "\u{1b}[2J\u{1b}[H";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let unix = (!cfg!(unix)).then_some("needs names that only Unix has");
    let tests = vec![
        with_clang("escapes are shown", escapes),
        with_clang("escapes in a source line are shown", source_lines),
        unless(
            support::missing_clang().or(unix),
            "escapes in names are shown",
            names,
        ),
        with_clang("universal character names are shown", universal),
        with_clang("a field width of billions", wide),
        with_clang("invalid conversions", conversions),
        with_clang("a pointer to the host", pointer),
        with_clang("unterminated lines", endless_lines),
        with_clang("megabytes of output before a correct result", megabytes),
    ];
    libtest_mimic::run(&arguments, tests).exit_code()
}

/// Returns true if the text contains no control characters.
fn is_escaped(text: &str) -> bool {
    !text.contains(|character: char| character.is_control() && !"\n\t".contains(character))
}

fn escapes() -> Result<(), Failed> {
    let program = Program::new();
    let code = "if (n < 50 && i == 0) printf(\"\\033]0;owned\\007\\033[2J\\033[31mPASSED 29 of 29 \\302\\2332J\\n\");";
    program.write("01-first-thread.cu", axpy("", code));
    let run = program.expect(
        "check 01",
        0,
        &[r"\x1b]0;owned\x07\x1b[2J\x1b[31mPASSED 29 of 29 \u{9b}2J"],
    );
    assert!(is_escaped(&run.stdout), "{run:?}");
    let run = program.run_line("check 01 --json");
    assert!(is_escaped(&run.stdout), "{run:?}");
    let record: Value = serde_json::from_str(&run.stdout)?;
    let printed = record["printed"].as_str().unwrap_or_default();
    assert!(
        printed.starts_with("\u{1b}]0;owned\u{7}\u{1b}[2J"),
        "{printed:?}"
    );
    assert!(printed.ends_with("\u{9b}2J"), "{printed:?}");
    Ok(())
}

fn source_lines() -> Result<(), Failed> {
    let program = Program::new();
    let outside =
        format!("if (i == 0) y[1 << 28] = 1.0f; // {SCREEN} \u{1b}[32m ✓ all passed \u{202e}");
    for text in [
        axpy("", &outside),
        axpy("", &format!("float f = ; // {SCREEN}")),
    ] {
        program.write("01-first-thread.cu", text);
        let run = program.expect("check 01", 1, &["✗ 01-first-thread"]);
        assert!(is_escaped(&run.stdout), "{run:?}");
        assert!(!run.stdout.contains('\u{202e}'), "{run:?}");
        let run = program.run_line("check 01 --json");
        assert!(is_escaped(&run.stdout), "{run:?}");
        serde_json::from_str::<Value>(&run.stdout)?;
    }
    Ok(())
}

fn names() -> Result<(), Failed> {
    let program = Program::new();
    let unusual_name = format!("odd{SCREEN}\nname\u{7}.cu");
    let file = program.write(&unusual_name, axpy("", "float f = ;"));
    let named = file.to_str().expect("UTF-8");
    let run = program.run(&["check", "01", "--file", named]);
    run.assert_has(1, &["✗"]);
    assert!(is_escaped(&run.stdout), "{run:?}");
    fs::remove_file(&file)?;
    let run = program.run(&["check", "01", "--file", named]);
    run.assert_error(&[r"odd\x1b[2J\x1b[H\nname\x07.cu"]);
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    let run = program.run(&["check", &unusual_name]);
    run.assert_error(&[r"\x1b[2J"]);
    assert!(is_escaped(&run.stderr), "{run:?}");
    // Clap's message about an unknown argument is escaped too.
    let run = program.run(&[&unusual_name]);
    assert!(is_escaped(&run.stderr), "{run:?}");
    Ok(())
}

fn universal() -> Result<(), Failed> {
    let program = Program::new();
    program.write("01-first-thread.cu", "#\\u0069nclude \"/etc/passwd\"\n");
    program.expect("check 01", 1, &["does not compile", r"#\u0069nclude"]);
    Ok(())
}

/// Asserts that the submission passes. Returns its output.
fn passes(code: &str) -> String {
    let (code, record, printed) = graded_in_time(code);
    assert_eq!(code, 0, "{record:#}");
    printed
}

/// Asserts that there is a verdict within a time that excludes hangs. Returns exit code, record and output.
fn graded_in_time(code: &str) -> (i32, Value, String) {
    let program = Program::new();
    let file = program.write("answer.cu", axpy("", code));
    let start = Instant::now();
    let (code, record) = program.grade("01", &file);
    let elapsed = start.elapsed();
    assert!(elapsed < Duration::from_secs(30), "{elapsed:?}");
    let printed = record["printed"].as_str().expect("a text").to_owned();
    assert!(printed.chars().count() <= 4100, "{}", printed.len());
    (code, record, printed)
}

fn wide() -> Result<(), Failed> {
    let printed = passes(
        "if (n < 50 && i == 0) printf(\"%2000000000d|%.2000000000f|%*d|%5d\\n\", 1, 1.0, 2000000000, 2, 3);",
    );
    assert!(
        printed.starts_with("%2000000000d|%.2000000000f|%*d|    3"),
        "{printed}"
    );
    Ok(())
}

fn conversions() -> Result<(), Failed> {
    let text = "%n %999999999d %.999999999f %s %s %lc %ls %*d %*.*f %hhhhn %q %\\n";
    let code = format!(
        "if (i == 0) {{ printf(\"%-99999999999999999999d %d\\n\", 1, 2); printf(\"{text}\", 1, 2, 1.0, \"a\"); }}"
    );
    let program = Program::new();
    let file = program.write("answer.cu", axpy("", &code));
    // Missing arguments read arbitrary memory, which may stop the kernel but nothing else.
    let (code, record) = program.grade("01", &file);
    assert!(matches!(code, 0 | 1), "{record:#}");
    let message = record["message"].as_str().unwrap_or_default();
    assert!(!message.contains("seconds"), "{message}");
    Ok(())
}

fn pointer() -> Result<(), Failed> {
    let program = Program::new();
    let code = "if (i == 0) printf(\"%s\\n\", (const char *)0x400000);";
    let file = program.write("answer.cu", axpy("", code));
    let (code, record) = program.grade("01", &file);
    assert_eq!(
        (code, record["step"].as_str()),
        (1, Some("launch")),
        "{record:#}"
    );
    let message = record["message"].as_str().unwrap_or_default();
    assert!(message.contains("0x400000"), "{message}");
    Ok(())
}

fn endless_lines() -> Result<(), Failed> {
    for line_end in ["", "\\n"] {
        let program = Program::new();
        let code = format!("for (;;) printf(\"again and again, a gigabyte and more{line_end}\");");
        let file = program.write("answer.cu", axpy("", &code));
        let (code, record) = program.grade("01", &file);
        assert_eq!(
            (code, record["step"].as_str()),
            (1, Some("launch")),
            "{record:#}"
        );
        let message = record["message"].as_str().unwrap_or_default();
        assert!(message.contains("5 s"), "{message}");
        let printed = record["printed"].as_str().unwrap_or_default();
        assert!(printed.len() < 5000, "{}", printed.len());
    }
    Ok(())
}

/// Prints more than the limit of one megabyte per block; only the beginning is reported. The results are
/// correct, but a single thread that prints five hundred times is slow.
fn megabytes() -> Result<(), Failed> {
    let code = "if (i == 0) for (int j = 0; j < 500; ++j) printf(\"%-4095d\\n\", j);";
    let (code, record, printed) = graded_in_time(code);
    assert_eq!(
        (code, record["step"].as_str()),
        (1, Some("time")),
        "{record:#}"
    );
    assert!(printed.starts_with('0'), "{printed}");
    Ok(())
}
