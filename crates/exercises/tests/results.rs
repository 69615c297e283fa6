//! The files with a class's results: what they replace, what they must not replace, and that repeated runs
//! produce the same bytes.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Child, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use support::{EXERCISES, Program, Run, unless, with_clang};

const FILE: &str = "01-first-thread.cu";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let unix = (!cfg!(unix)).then_some("needs links and devices of Unix");
    let unix = || support::missing_clang().or(unix);
    let tests = vec![
        unless(unix(), "only a regular file is replaced", ordinary),
        with_clang("a submission is never replaced", submissions_not_replaced),
        with_clang("record and table need different files", separate_files),
        with_clang(
            "an unwritable path is reported before grading",
            reported_before_grading,
        ),
        unless(
            unix(),
            "a file created during grading is replaced completely",
            replaced_meanwhile,
        ),
        with_clang("results that cannot be written are printed", printed),
        with_clang(
            "submissions are read before the first one runs",
            submissions_read_first,
        ),
        with_clang(
            "results do not depend on the class's path",
            path_independent,
        ),
        unless(unix(), "every valid folder name is accepted", names),
        Trial::test("a changed record is rejected", changed),
        Trial::test("merge does not overwrite a part", shard_not_overwritten),
    ];
    libtest_mimic::run(&arguments, tests).exit_code()
}

/// Returns a program whose folder has a class with these students, each with a submission to the first
/// exercise.
fn class(students: &[(&str, &str)]) -> Program {
    let program = Program::new().with_temporary_folder();
    let folder = program.home().join("class");
    submit(&folder, students);
    program
}

fn submit(class: &Path, students: &[(&str, &str)]) {
    for (student, text) in students {
        let folder = class.join(student);
        fs::create_dir_all(&folder).expect("the folder can be created");
        fs::write(folder.join(FILE), text).expect("the file can be written");
    }
}

const CHECK: &str = "check --all --submissions class --seed 5";

/// Returns a submission that runs for seconds.
fn endless_submission() -> String {
    EXERCISES[0].solution().replace(
        "    if (i < n)",
        "    for (volatile int j = 0; j >= 0; j = 1) {}\n    if (i < n)",
    )
}

/// Starts grading and returns when the first submission is running.
fn start_grading(program: &Program, flags: &str) -> Child {
    let flags = format!("{CHECK} --jobs 1 {flags}");
    let mut command = program.command(&flags.split_whitespace().collect::<Vec<_>>());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the program can be started");
    let deadline = Instant::now() + Duration::from_secs(60);
    let is_empty = |folder: &Path| fs::read_dir(folder).expect("a folder").next().is_none();
    while is_empty(&program.temporary_folder()) {
        assert!(Instant::now() < deadline, "nothing is graded");
        thread::sleep(Duration::from_millis(10));
    }
    child
}

fn finish(child: Child) -> Run {
    Run::of(&child.wait_with_output().expect("the program exits"))
}

#[cfg(unix)]
fn ordinary() -> Result<(), Failed> {
    use std::os::unix::fs::{FileTypeExt as _, symlink};
    use std::os::unix::net::UnixListener;

    let program = class(&[("ann", "")]);
    let at = |name: &str| program.home().join(name);
    fs::create_dir(at("folder"))?;
    fs::write(at("mine"), "mine")?;
    symlink(at("mine"), at("link"))?;
    symlink(at("nowhere"), at("dangling"))?;
    let _socket = UnixListener::bind(at("socket"))?;
    let created = std::process::Command::new("mkfifo")
        .arg(at("fifo"))
        .status()?;
    assert!(created.success());
    for name in [
        "folder",
        "folder/",
        "link",
        "dangling",
        "socket",
        "fifo",
        "/dev/null",
        "new/",
        ".",
    ] {
        for flag in ["--out", "--csv"] {
            let run = program.run_line(&format!("{CHECK} {flag} {name}"));
            run.assert_error(&[flag, name.trim_end_matches('/')]);
        }
    }
    let run = program.run_line(&format!("{CHECK} --out /dev/null --lang zh"));
    run.assert_has(2, &["不是普通文件"]);
    assert_eq!(fs::read_to_string(at("mine"))?, "mine");
    assert!(fs::symlink_metadata(at("link"))?.is_symlink());
    assert!(fs::symlink_metadata(at("fifo"))?.file_type().is_fifo());
    assert!(
        fs::symlink_metadata("/dev/null")?
            .file_type()
            .is_char_device()
    );
    Ok(())
}

#[cfg(not(unix))]
fn ordinary() -> Result<(), Failed> {
    Ok(())
}

fn submissions_not_replaced() -> Result<(), Failed> {
    let program = class(&[("ann", "mine")]);
    let submission = program.home().join("class/ann").join(FILE);
    for (flag, path) in [
        ("--out", "class/ann/01-first-thread.cu"),
        ("--csv", "class/ann/01-first-thread.cu"),
        ("--csv", "./class/../class/ann/02-tail.cu"),
        ("--out", "class/class.json"),
    ] {
        let run = program.run_line(&format!("{CHECK} {flag} {path}"));
        run.assert_error(&[flag, path, "class's folder"]);
    }
    assert_eq!(fs::read_to_string(submission)?, "mine");
    assert_eq!(fs::read_dir(program.home().join("class"))?.count(), 1);
    Ok(())
}

fn separate_files() -> Result<(), Failed> {
    let program = class(&[("ann", "")]);
    for (out, csv) in [("x", "x"), ("x", "./x"), ("temporary/../x", "x")] {
        let run = program.run_line(&format!("{CHECK} --out {out} --csv {csv}"));
        run.assert_error(&["the same file"]);
    }
    assert!(!program.home().join("x").exists());
    Ok(())
}

/// Errors are reported before anything is graded, although the class has a submission that would run for
/// seconds.
fn reported_before_grading() -> Result<(), Failed> {
    let program = class(&[("ann", &endless_submission())]);
    fs::write(program.home().join("file"), "")?;
    let long = "x".repeat(300);
    let start = Instant::now();
    for path in ["nowhere/x.json", "file/x.json", &long] {
        for flag in ["--out", "--csv"] {
            let run = program.run_line(&format!("{CHECK} {flag} {path}"));
            run.assert_error(&[flag, path]);
        }
    }
    let run = program.run_line(&format!("{CHECK} --out nowhere/x.json --lang zh"));
    run.assert_has(2, &["文件夹 nowhere 不存在"]);
    assert!(start.elapsed() < Duration::from_secs(30));
    assert_eq!(fs::read_dir(program.temporary_folder())?.count(), 0);
    Ok(())
}

#[cfg(unix)]
fn replaced_meanwhile() -> Result<(), Failed> {
    let program = class(&[("ann", &endless_submission())]);
    let at = |name: &str| program.home().join(name);
    fs::write(at("mine"), "mine")?;
    fs::write(at("class.csv"), "an older one")?;
    let child = start_grading(&program, "--out class.json --csv class.csv");
    std::os::unix::fs::symlink(at("mine"), at("class.json")).expect("a link");
    fs::write(at("class.csv"), "foreign\n".repeat(10_000)).expect("a writable folder");
    finish(child).assert_has(0, &["1 rejected"]);
    assert_eq!(fs::read_to_string(at("mine"))?, "mine");
    assert!(fs::symlink_metadata(at("class.json"))?.is_file());
    let record: Value =
        serde_json::from_str(&fs::read_to_string(at("class.json"))?).expect("a record");
    assert_eq!(record["results"][0]["step"], "launch");
    let table = fs::read_to_string(at("class.csv")).expect("a readable file");
    assert!(
        table.ends_with("missing\n") && !table.contains("foreign"),
        "{table}"
    );
    Ok(())
}

#[cfg(not(unix))]
fn replaced_meanwhile() -> Result<(), Failed> {
    Ok(())
}

fn printed() -> Result<(), Failed> {
    let program = class(&[("ann", &endless_submission())]);
    let child = start_grading(&program, "--out class.json --csv class.csv");
    fs::create_dir(program.home().join("class.json")).expect("a writable folder");
    let run = finish(child);
    run.assert_has(2, &["printed", "class.json"]);
    let record: Value = serde_json::from_str(&run.stdout).expect("a record");
    assert_eq!(record["results"][0]["step"], "launch");
    let table = fs::read_to_string(program.home().join("class.csv")).expect("a readable file");
    assert!(table.contains("ann,0,launch"), "{table}");
    Ok(())
}

fn submissions_read_first() -> Result<(), Failed> {
    let right = EXERCISES[0].solution();
    let program = class(&[
        ("ann", &endless_submission()),
        ("bob", right),
        ("eve", "no kernel"),
        ("joe", right),
    ]);
    let child = start_grading(&program, "--json");
    let class = program.home().join("class");
    fs::remove_dir_all(class.join("bob")).expect("a writable folder");
    fs::write(class.join("eve").join(FILE), right).expect("a writable folder");
    fs::write(class.join("joe").join(FILE), "no kernel").expect("a writable folder");
    let run = finish(child);
    let record: Value = serde_json::from_str(&run.stdout).expect("a record");
    let step = |number: usize| {
        let result = &record["results"][number * EXERCISES.len()];
        result["step"].as_str().unwrap_or("passed")
    };
    assert_eq!(
        [0, 1, 2, 3].map(step),
        ["launch", "passed", "compile", "passed"]
    );
    Ok(())
}

fn path_independent() -> Result<(), Failed> {
    let program = Program::new();
    let outside = tempfile::tempdir()?;
    let students = [
        ("ann", EXERCISES[0].solution()),
        ("bob", "float f = ;"),
        ("eve", EXERCISES[0].start()),
        ("joe", "no kernel"),
    ];
    let class_folders = [
        program.home().join("class"),
        outside.path().join("O'Brien \"=线\""),
    ];
    for class_folder in &class_folders {
        submit(class_folder, &students);
        // Include unreadable submissions, and Rust that does not compile or panics.
        fs::write(class_folder.join("ann/02-tail.cu"), [0xff, 0xfe])?;
        fs::write(class_folder.join("bob/02-tail.cu"), " ".repeat(300 << 10))?;
        fs::create_dir(class_folder.join("eve/02-tail.cu"))?;
        fs::write(class_folder.join("ann/03-blocks.rs"), "pub fn blocks() {")?;
        fs::write(
            class_folder.join("bob/03-blocks.rs"),
            EXERCISES[2]
                .solution()
                .replace('{', "{ if true { panic!(\"at {}\", file!()); }"),
        )?;
    }
    let graded = |class_folder: &Path, jobs: &str| {
        let class_folder = class_folder.to_str().expect("UTF-8");
        let flags = [
            "--seed",
            "5",
            "--jobs",
            jobs,
            "--json",
            "--csv",
            "class.csv",
        ];
        let check = ["check", "--all", "--submissions", class_folder];
        let run = program.run(&[&check[..], &flags].concat());
        assert_eq!(run.code, 2, "{run:?}");
        let table = fs::read_to_string(program.home().join("class.csv"));
        (run.stdout, table.expect("a table"))
    };
    let first = graded(Path::new("class"), "1");
    assert!(
        first.0.contains("ungraded") && first.0.contains("ann/02-tail.cu"),
        "{}",
        first.0
    );
    assert_eq!(graded(&class_folders[0], "3"), first);
    assert_eq!(graded(&class_folders[1], "2"), first);
    Ok(())
}

fn names() -> Result<(), Failed> {
    let long = "长".repeat(66) + "xx";
    let students = [
        "O'Brien",
        "a \"b\"",
        "two\nlines",
        "-dash",
        "=1+1",
        "a=b",
        "线程",
        &long,
        " blank ",
        "%s%n",
        "a\\b",
        "tab\there",
        "\u{1b}[2J",
        "--out",
        "$(touch x)",
        "a,b;c",
    ];
    let all: Vec<(&str, &str)> = students.iter().map(|name| (*name, "float f = ;")).collect();
    let program = Program::new();
    let folder = program.home().join("=a \"class\"\nof '线程'");
    submit(&folder, &all);
    // The first student's submission is correct.
    fs::write(folder.join("O'Brien").join(FILE), EXERCISES[0].solution())?;
    let folder = folder.to_str().expect("UTF-8");
    let [out, csv] = ["-out \"1\"\n=.json", "=cs'v"];
    let (out, csv) = (format!("--out={out}"), format!("--csv={csv}"));
    let run = program.run(&[
        "check",
        "--all",
        "--submissions",
        folder,
        "--seed",
        "5",
        &out,
        &csv,
    ]);
    run.assert_has(0, &["1 passed, 15 rejected"]);
    let record = fs::read_to_string(program.home().join("-out \"1\"\n=.json"))?;
    let record: Value = serde_json::from_str(&record)?;
    let mut sorted = students.to_vec();
    sorted.sort_unstable();
    assert_eq!(record["students"], serde_json::json!(sorted));
    for result in record["results"].as_array().expect("results") {
        if result["outcome"] != "rejected" {
            continue;
        }
        assert_eq!(result["step"], "compile", "{result:#}");
        let message = result["message"].as_str().unwrap_or_default();
        assert!(message.contains("/01-first-thread.cu:1:"), "{result:#}");
    }
    let mut table = csv::Reader::from_path(program.home().join("=cs'v"))?;
    let rows: Vec<csv::StringRecord> = table.records().collect::<Result<_, _>>()?;
    assert_eq!(rows.len(), students.len());
    for (row, student) in rows.iter().zip(sorted) {
        assert_eq!(row[0].trim_start_matches('\''), student);
        assert!(!row[0].starts_with(['=', '-']), "{row:?} is a formula");
    }
    Ok(())
}

/// Writes the record of one student without submissions.
fn record(program: &Program) -> Value {
    let names: Vec<&str> = EXERCISES.iter().map(|exercise| exercise.name()).collect();
    let results = names.iter().map(|name| {
        serde_json::json!({
            "student": "ann", "exercise": name, "outcome": "missing", "step": null, "size": [],
            "message": "", "targets": [], "time": null,
        })
    });
    let record = serde_json::json!({
        "seed": 1, "shard": null, "exercises": names, "students": ["ann"],
        "results": results.collect::<Vec<_>>(),
    });
    fs::write(program.home().join("class.json"), record.to_string())
        .expect("the file can be written");
    record
}

fn changed() -> Result<(), Failed> {
    let program = Program::new();
    let right = record(&program);
    program
        .run_line("merge class.json")
        .assert_has(0, &["1 student,", &format!("{} missing", EXERCISES.len())]);
    let other = program.home().join("other.json");
    let assert_rejected = |text: String, parts: &[&str]| {
        fs::write(&other, text).expect("the file can be written");
        let run = program.run_line("merge other.json --out merged.json");
        run.assert_error(&[&["other.json is not a record of a class"], parts].concat());
        assert!(!program.home().join("merged.json").exists());
    };
    let change = |pointer: &str, value: Value| {
        let mut record = right.clone();
        *record.pointer_mut(pointer).expect("the entry exists") = value;
        record.to_string()
    };
    assert_rejected(
        change("/results/3/student", "eve".into()),
        &["'eve' does not belong"],
    );
    assert_rejected(
        change("/results/3/exercise", "30-x".into()),
        &["30-x of 'ann'"],
    );
    assert_rejected(
        change("/results/3/exercise", EXERCISES[2].name().into()),
        &["03-blocks of 'ann'"],
    );
    assert_rejected(
        change("/students", serde_json::json!(["ann", "ann"])),
        &["'ann' is listed twice"],
    );
    assert_rejected(
        change("/students", serde_json::json!(["ann", "bob"])),
        &["of 'bob' is missing"],
    );
    assert_rejected(
        change("/exercises/0", "01-x".into()),
        &["not those of this course"],
    );
    assert_rejected(
        change("/shard", serde_json::json!({"index": 1, "of": 0})),
        &["no part 1/0"],
    );
    assert_rejected(
        change("/shard", serde_json::json!({"index": 1, "of": 2})),
        &["02-tail of 'ann'"],
    );
    assert_rejected(
        change("/results/3/outcome", "rejected".into()),
        &["does not match its step"],
    );
    assert_rejected(
        change("/results/3/size", "big".into()),
        &["invalid type", "line 1 column"],
    );
    assert_rejected(
        change("/seed", (-1).into()),
        &["invalid value", "line 1 column"],
    );
    let more = right.to_string().replacen('{', "{\"more\":1,", 1);
    assert_rejected(more, &["unknown field `more`", "line 1 column"]);
    assert_rejected("[".repeat(100_000), &["line 1 column"]);
    assert_rejected(format!("{right} {right}"), &["trailing characters"]);
    assert_rejected(
        change("/results/3/student", "\u{1b}[2J\n".into()),
        &[r"'\x1b[2J\n'"],
    );
    fs::write(&other, [0xff, 0xfe])?;
    program
        .run_line("merge other.json")
        .assert_error(&["other.json"]);
    fs::write(&other, change("/seed", 2.into()))?;
    program
        .run_line("merge class.json other.json")
        .assert_error(&["seed"]);
    let run = program.run_line("merge class.json class.json --lang zh");
    run.assert_has(2, &["出现了两次"]);
    Ok(())
}

fn shard_not_overwritten() -> Result<(), Failed> {
    let program = Program::new();
    let before = record(&program).to_string();
    for flag in ["--out", "--csv"] {
        let run = program.run_line(&format!("merge class.json {flag} ./class.json"));
        run.assert_error(&[flag, "one of the records"]);
    }
    assert_eq!(
        fs::read_to_string(program.home().join("class.json"))?,
        before
    );
    let run = program.run_line("merge class.json --out merged.json --csv merged.csv");
    run.assert_has(0, &[&format!("{} missing", EXERCISES.len())]);
    Ok(())
}
