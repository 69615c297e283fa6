//! A class: grading in one run and in shards gives the same result, and a bad submission affects only itself.

mod support;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use support::{EXERCISES, Program, endless_submission, parse, with_clang};

const FILE: &str = "01-first-thread.cu";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let tests = vec![
        Trial::test("incompatible flags are rejected", flags_rejected),
        with_clang("an invalid class folder is rejected", rejected),
        with_clang("merged parts equal an unsharded run", parts),
        with_clang("an invalid submission fails alone", bad),
    ];
    libtest_mimic::run(&arguments, tests).exit_code()
}

/// Returns a program whose folder has a class with these students, each with a submission to the first
/// exercise.
fn class(students: &[(&str, &str)]) -> Program {
    let program = Program::new();
    program.hand_in_first("class", students);
    program
}

fn parts() -> Result<(), Failed> {
    let right = EXERCISES[0].solution();
    let program = class(&[
        ("bob", EXERCISES[0].start()),
        ("ann", right),
        ("eve", "no kernel"),
    ]);
    let check = "check --all --submissions class --seed 5";
    let missing = 3 * (EXERCISES.len() - 1);
    let counts = format!("1 passed, 2 rejected, {missing} missing, 0 ungraded (seed 5)");
    program.expect(
        &format!("{check} --out whole.json --csv whole.csv --jobs 3"),
        0,
        &["3 students", &counts],
    );
    let whole = program.read("whole.json");
    let table = program.read("whole.csv");
    let rows: Vec<&str> = table.lines().collect();
    let starts = [
        "student,passed,01-first-thread",
        "ann,1,passed",
        "bob,0,right",
        "eve,0,compile",
    ];
    for (row, start) in rows.iter().zip(starts) {
        assert!(row.starts_with(start), "{table}");
    }
    assert_eq!(
        program.run_line(&format!("{check} --json --jobs 1")).stdout,
        whole
    );

    for part in 1..=3 {
        let shard = format!("{check} --shard {part}/3 --out part-{part}.json");
        program.expect(&shard, 0, &["3 students"]);
    }
    let merge = "merge part-3.json part-1.json part-2.json --out merged.json --csv merged.csv";
    program.expect(merge, 0, &[&counts]);
    assert_eq!(program.read("merged.json"), whole);
    assert_eq!(program.read("merged.csv"), table);
    program.expect_error("merge part-1.json part-2.json", &["2 of 3 parts"]);
    program.expect_error("merge part-1.json part-1.json", &["1/3 is listed twice"]);
    assert!(
        !program.folder().exists(),
        "no student's folder is created for a class"
    );
    Ok(())
}

fn bad() -> Result<(), Failed> {
    let right = EXERCISES[0].solution();
    let program = class(&[
        ("ann", right),
        ("bob", right),
        ("eve", right),
        ("joe", right),
    ]);
    let file = |student: &str| program.home().join("class").join(student).join(FILE);
    fs::write(file("ann"), endless_submission())?;
    fs::write(file("bob"), [0xff, 0xfe])?;
    fs::remove_file(file("eve"))?;
    link("/etc/passwd", &file("eve"))?;
    let run = program.run_line("check --all --submissions class --seed 5 --json --seconds 4");
    assert_eq!(run.code, 2, "{run:?}");
    let record = parse(&run.stdout);
    let results = record["results"].as_array().expect("results");
    for (student, field, expected) in [
        ("ann", "step", "launch"),
        ("bob", "outcome", "ungraded"),
        ("eve", "outcome", "ungraded"),
        ("joe", "outcome", "passed"),
    ] {
        let result = results.iter().find(|result| result["student"] == student);
        let result = result.expect("a result");
        assert_eq!(result[field], expected, "{result:#}");
    }
    assert!(!run.stdout.contains("root:"), "another file was read");
    Ok(())
}

#[cfg(unix)]
fn link(to: &str, at: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(to, at)
}

#[cfg(not(unix))]
fn link(_to: &str, at: &Path) -> std::io::Result<()> {
    fs::create_dir(at)
}

fn rejected() -> Result<(), Failed> {
    let program = class(&[("ann", "")]);
    fs::create_dir(program.home().join("empty"))?;
    let check = "check --all --submissions";
    program.expect_error(&format!("{check} nowhere"), &["nowhere"]);
    program.expect_error(&format!("{check} empty"), &["empty has no folders"]);
    let out = "--seed 1 --out nowhere/x.json";
    program.expect_error(&format!("{check} class {out}"), &["nowhere/x.json"]);
    program.expect_error("check 01 --csv x.csv", &["--submissions"]);
    Ok(())
}

fn flags_rejected() -> Result<(), Failed> {
    let program = class(&[("ann", "")]);
    for flags in [
        "check --submissions class",
        "check --all --submissions class --shard 1/2",
        "check --all --submissions class --seed 1 --shard 3/2",
        "check --all --submissions class --jobs 0",
        "check --all --shard 1/2 --seed 1",
        "merge",
    ] {
        let run = program.run_line(flags);
        assert_eq!(run.code, 2, "{flags}: {run:?}");
    }
    program.expect_error("merge nowhere.json", &["nowhere.json"]);
    fs::write(program.home().join("no.json"), "{}")?;
    program.expect_error("merge no.json", &["no.json is not a record"]);
    Ok(())
}
