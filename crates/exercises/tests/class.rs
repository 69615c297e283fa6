//! A class: grading in one run and in shards gives the same result, and a bad submission affects only itself.

mod support;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use support::{EXERCISES, Program, with_clang};

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
    for (student, text) in students {
        let folder = program.home().join("class").join(student);
        fs::create_dir_all(&folder).expect("the folder can be created");
        fs::write(folder.join(FILE), text).expect("the file can be written");
    }
    program
}

fn read(program: &Program, file: &str) -> String {
    fs::read_to_string(program.home().join(file)).expect("a file")
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
    let run = program.run_line(&format!(
        "{check} --out whole.json --csv whole.csv --jobs 3"
    ));
    run.assert_has(0, &["3 students", &counts]);
    let whole = read(&program, "whole.json");
    let table = read(&program, "whole.csv");
    let rows: Vec<&str> = table.lines().collect();
    assert!(
        rows[0].starts_with("student,passed,01-first-thread"),
        "{table}"
    );
    assert!(rows[1].starts_with("ann,1,passed"), "{table}");
    assert!(rows[2].starts_with("bob,0,right"), "{table}");
    assert!(rows[3].starts_with("eve,0,compile"), "{table}");
    assert_eq!(
        program.run_line(&format!("{check} --json --jobs 1")).stdout,
        whole
    );

    for part in 1..=3 {
        let shard = format!("{check} --shard {part}/3 --out part-{part}.json");
        program.run_line(&shard).assert_has(0, &["3 students"]);
    }
    let merge = "merge part-3.json part-1.json part-2.json --out merged.json --csv merged.csv";
    program.run_line(merge).assert_has(0, &[&counts]);
    assert_eq!(read(&program, "merged.json"), whole);
    assert_eq!(read(&program, "merged.csv"), table);
    program
        .run_line("merge part-1.json part-2.json")
        .assert_error(&["2 of 3 parts"]);
    program
        .run_line("merge part-1.json part-1.json")
        .assert_error(&["1/3 is listed twice"]);
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
    let endless = right.replace(
        "    if (i < n)",
        "    for (volatile int j = 0; j >= 0; j = 1) {}\n    if (i < n)",
    );
    fs::write(file("ann"), endless)?;
    fs::write(file("bob"), [0xff, 0xfe])?;
    fs::remove_file(file("eve"))?;
    link("/etc/passwd", &file("eve"))?;
    let run = program.run_line("check --all --submissions class --seed 5 --json --seconds 4");
    assert_eq!(run.code, 2, "{run:?}");
    let record: Value = serde_json::from_str(&run.stdout)?;
    let results = record["results"].as_array().expect("results");
    let result_of = |student: &str| {
        let result = results.iter().find(|result| result["student"] == student);
        result.expect("a result").clone()
    };
    assert_eq!(result_of("ann")["step"], "launch", "{:#}", result_of("ann"));
    assert_eq!(result_of("bob")["outcome"], "ungraded");
    assert_eq!(result_of("eve")["outcome"], "ungraded");
    assert!(!run.stdout.contains("root:"), "another file was read");
    assert_eq!(
        result_of("joe")["outcome"],
        "passed",
        "{:#}",
        result_of("joe")
    );
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
    program
        .run_line(&format!("{check} nowhere"))
        .assert_error(&["nowhere"]);
    program
        .run_line(&format!("{check} empty"))
        .assert_error(&["empty has no folders"]);
    let out = "--seed 1 --out nowhere/x.json";
    let run = program.run_line(&format!("{check} class {out}"));
    run.assert_error(&["nowhere/x.json"]);
    program
        .run_line("check 01 --csv x.csv")
        .assert_error(&["--submissions"]);
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
    program
        .run_line("merge nowhere.json")
        .assert_error(&["nowhere.json"]);
    fs::write(program.home().join("no.json"), "{}")?;
    program
        .run_line("merge no.json")
        .assert_error(&["no.json is not a record"]);
    Ok(())
}
