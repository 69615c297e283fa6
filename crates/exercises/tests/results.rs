//! The files with a class's results: what they replace, what they must not replace, and that repeated runs
//! produce the same bytes.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Child, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Value, json};
use support::{EXERCISES, Program, Run, endless_submission, parse, unless, with_clang};

const FILE: &str = "01-first-thread.cu";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let unix = (!cfg!(unix)).then_some("needs names of Unix");
    let unix = support::missing_clang().or(unix);
    let tests = vec![
        #[cfg(unix)]
        with_clang("only a regular file is replaced", ordinary),
        with_clang("a submission is never replaced", submissions_not_replaced),
        with_clang("record and table need different files", separate_files),
        with_clang(
            "an unwritable path is reported before grading",
            reported_before_grading,
        ),
        #[cfg(unix)]
        with_clang(
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
        unless(unix, "every valid folder name is accepted", names),
        Trial::test("a changed record is rejected", changed),
        Trial::test("merge does not overwrite a part", shard_not_overwritten),
    ];
    libtest_mimic::run(&arguments, tests).exit_code()
}

/// Returns a program whose folder has a class with these students, each with a submission to the first
/// exercise.
fn class(students: &[(&str, &str)]) -> Program {
    let program = Program::new().with_temporary_folder();
    program.hand_in_first("class", students);
    program
}

const CHECK: &str = "check --all --submissions class --seed 5";

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
            program.expect_error(
                &format!("{CHECK} {flag} {name}"),
                &[flag, name.trim_end_matches('/')],
            );
        }
    }
    program.expect(
        &format!("{CHECK} --out /dev/null --lang zh"),
        2,
        &["不是普通文件"],
    );
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

fn submissions_not_replaced() -> Result<(), Failed> {
    let program = class(&[("ann", "mine")]);
    let submission = program.home().join("class/ann").join(FILE);
    for (flag, path) in [
        ("--out", "class/ann/01-first-thread.cu"),
        ("--csv", "class/ann/01-first-thread.cu"),
        ("--csv", "./class/../class/ann/02-tail.cu"),
        ("--out", "class/class.json"),
    ] {
        program.expect_error(
            &format!("{CHECK} {flag} {path}"),
            &[flag, path, "class's folder"],
        );
    }
    assert_eq!(fs::read_to_string(submission)?, "mine");
    assert_eq!(fs::read_dir(program.home().join("class"))?.count(), 1);
    Ok(())
}

fn separate_files() -> Result<(), Failed> {
    let program = class(&[("ann", "")]);
    for (out, csv) in [("x", "x"), ("x", "./x"), ("temporary/../x", "x")] {
        program.expect_error(
            &format!("{CHECK} --out {out} --csv {csv}"),
            &["the same file"],
        );
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
            program.expect_error(&format!("{CHECK} {flag} {path}"), &[flag, path]);
        }
    }
    program.expect(
        &format!("{CHECK} --out nowhere/x.json --lang zh"),
        2,
        &["文件夹 nowhere 不存在"],
    );
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
    let record = parse(&program.read("class.json"));
    assert_eq!(record["results"][0]["step"], "launch");
    let table = program.read("class.csv");
    assert!(
        table.ends_with("missing\n") && !table.contains("foreign"),
        "{table}"
    );
    Ok(())
}

fn printed() -> Result<(), Failed> {
    let program = class(&[("ann", &endless_submission())]);
    let child = start_grading(&program, "--out class.json --csv class.csv");
    fs::create_dir(program.home().join("class.json")).expect("a writable folder");
    let run = finish(child);
    run.assert_has(2, &["printed", "class.json"]);
    let record = parse(&run.stdout);
    assert_eq!(record["results"][0]["step"], "launch");
    let table = program.read("class.csv");
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
    let record = parse(&run.stdout);
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
        program.hand_in_first(class_folder, &students);
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
        let check = [
            "check",
            "--all",
            "--submissions",
            class_folder,
            "--jobs",
            jobs,
        ];
        let flags = ["--seed", "5", "--json", "--csv", "class.csv"];
        let run = program.run(&[&check[..], &flags].concat());
        assert_eq!(run.code, 2, "{run:?}");
        (run.stdout, program.read("class.csv"))
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
    program.hand_in_first(&folder, &all);
    // The first student's submission is correct.
    fs::write(folder.join("O'Brien").join(FILE), EXERCISES[0].solution())?;
    let folder = folder.to_str().expect("UTF-8");
    let [out, csv] = ["-out \"1\"\n=.json", "=cs'v"];
    let (out, csv) = (format!("--out={out}"), format!("--csv={csv}"));
    let check = ["check", "--all", "--submissions", folder];
    let run = program.run(&[&check[..], &["--seed", "5", &out, &csv]].concat());
    run.assert_has(0, &["1 passed, 15 rejected"]);
    let record = parse(&program.read("-out \"1\"\n=.json"));
    let mut sorted = students.to_vec();
    sorted.sort_unstable();
    assert_eq!(record["students"], json!(sorted));
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
        json!({
            "student": "ann", "exercise": name, "outcome": "missing", "step": null, "size": [],
            "message": "", "targets": [], "time": null,
        })
    });
    let record = json!({
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
    program.expect(
        "merge class.json",
        0,
        &["1 student,", &format!("{} missing", EXERCISES.len())],
    );
    let other = program.home().join("other.json");
    let assert_rejected = |text: String, parts: &[&str]| {
        fs::write(&other, text).expect("the file can be written");
        program.expect_error(
            "merge other.json --out merged.json",
            &[&["other.json is not a record of a class"], parts].concat(),
        );
        assert!(!program.home().join("merged.json").exists());
    };
    let change = |pointer: &str, value: Value| {
        let mut record = right.clone();
        *record.pointer_mut(pointer).expect("the entry exists") = value;
        record.to_string()
    };
    for (pointer, value, parts) in [
        (
            "/results/3/student",
            json!("eve"),
            &["'eve' does not belong"][..],
        ),
        (
            "/results/3/student",
            json!("\u{1b}[2J\n"),
            &[r"'\x1b[2J\n'"],
        ),
        ("/results/3/exercise", json!("30-x"), &["30-x of 'ann'"][..]),
        (
            "/results/3/exercise",
            json!(EXERCISES[2].name()),
            &["03-blocks of 'ann'"][..],
        ),
        (
            "/students",
            json!(["ann", "ann"]),
            &["'ann' is listed twice"][..],
        ),
        (
            "/students",
            json!(["ann", "bob"]),
            &["of 'bob' is missing"][..],
        ),
        (
            "/exercises/0",
            json!("01-x"),
            &["not those of this course"][..],
        ),
        ("/shard", json!({"index": 1, "of": 0}), &["no part 1/0"][..]),
        (
            "/shard",
            json!({"index": 1, "of": 2}),
            &["02-tail of 'ann'"][..],
        ),
        (
            "/results/3/outcome",
            json!("rejected"),
            &["does not match its step"][..],
        ),
        (
            "/results/3/size",
            json!("big"),
            &["invalid type", "line 1 column"][..],
        ),
        ("/seed", json!(-1), &["invalid value", "line 1 column"][..]),
    ] {
        assert_rejected(change(pointer, value), parts);
    }
    let more = right.to_string().replacen('{', "{\"more\":1,", 1);
    assert_rejected(more, &["unknown field `more`", "line 1 column"]);
    assert_rejected("[".repeat(100_000), &["line 1 column"]);
    assert_rejected(format!("{right} {right}"), &["trailing characters"]);
    fs::write(&other, [0xff, 0xfe])?;
    program.expect_error("merge other.json", &["other.json"]);
    fs::write(&other, change("/seed", 2.into()))?;
    program.expect_error("merge class.json other.json", &["seed"]);
    program.expect("merge class.json class.json --lang zh", 2, &["出现了两次"]);
    Ok(())
}

fn shard_not_overwritten() -> Result<(), Failed> {
    let program = Program::new();
    let before = record(&program).to_string();
    for flag in ["--out", "--csv"] {
        program.expect_error(
            &format!("merge class.json {flag} ./class.json"),
            &[flag, "one of the records"],
        );
    }
    assert_eq!(program.read("class.json"), before);
    program.expect(
        "merge class.json --out merged.json --csv merged.csv",
        0,
        &[&format!("{} missing", EXERCISES.len())],
    );
    Ok(())
}
