//! Features for teachers: selected exercises, points, deadlines, feedback files, similar submissions, and
//! tables for other programs.

mod support;

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, UNIX_EPOCH};

use libtest_mimic::{Arguments, Failed, Trial};
use support::{EXERCISES, Program, parse, unless, with_clang};

const ONE: &str = "01-first-thread.cu";
const TWO: &str = "02-tail.cu";

/// 2026-10-12T23:59:00+08:00
const DUE: u64 = 1_791_820_740;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let git = Command::new("git").arg("--version").output().is_err();
    let git = support::missing_clang().or(git.then_some("needs git"));
    let tests = vec![
        with_clang("only the named exercises are graded", selected_exercises),
        with_clang(
            "late submissions get fewer points in tables and files",
            points,
        ),
        unless(git, "a deadline is compared with the commit time", commits),
        with_clang("similar submissions are reported", copied),
        Trial::test("invalid marks are reported", rejected),
    ];
    libtest_mimic::run(&arguments, tests).exit_code()
}

/// Returns a class: ann's two submissions are correct, bob's are the start files, and eve has only the first
/// one.
fn class() -> Program {
    let program = Program::new();
    let [one, two] = [&EXERCISES[0], &EXERCISES[1]];
    program.hand_in(
        "class",
        "ann",
        &[(ONE, one.solution()), (TWO, two.solution())],
    );
    program.hand_in("class", "bob", &[(ONE, one.start()), (TWO, two.start())]);
    program.hand_in("class", "eve", &[(ONE, one.solution())]);
    program
}

fn selected_exercises() -> Result<(), Failed> {
    let program = class();
    program.expect(
        "check 02 --submissions class --seed 5 --csv two.csv --out two.json",
        0,
        &[
            "3 students, 3 submissions: 1 passed, 1 rejected, 1 missing",
            "ann  ✓  1",
            "bob  ✗  0",
            "eve  ·  0",
        ],
    );
    assert_eq!(
        program.read("two.csv"),
        "student,passed,02-tail\nann,1,passed\nbob,0,launch\neve,0,missing\n"
    );
    let record = parse(&program.read("two.json"));
    assert_eq!(record["exercises"], serde_json::json!(["02-tail"]));
    for part in 1..=2 {
        let flags = format!(
            "check 2 tail --submissions class --seed 5 --shard {part}/2 --out part-{part}.json"
        );
        program.expect(&flags, 0, &["3 students"]);
    }
    program.expect(
        "merge part-2.json part-1.json --out whole.json",
        0,
        &["1 passed"],
    );
    assert_eq!(program.read("whole.json"), program.read("two.json"));
    program.expect_error("check --submissions class", &["--submissions needs --all"]);
    program.expect_error("check 02 99 --submissions class", &["no exercise '99'"]);
    // A student can check several exercises too.
    program.write(ONE, EXERCISES[0].solution());
    program.expect(
        "check 02 01 --seed 5",
        1,
        &["✓ 01-first-thread", "✗ 02-tail", "1 of 2 exercises passed"],
    );
    program.expect_error("check 01 02 --file x.cu", &["name one exercise"]);
    Ok(())
}

const MARKS: &str = "\
points = 4
deadline = 2026-10-12T23:59:00+08:00
late = 0.25
[steps]
launch = 0.5
[[exercise]]
name = \"02\"
points = 2
deadline = 2026-10-13T23:59:00+08:00
";

fn points() -> Result<(), Failed> {
    let program = class();
    fs::write(program.home().join("marks.toml"), MARKS)?;
    for student in ["ann", "bob", "eve"] {
        for (file, after) in [(ONE, 1), (TWO, 0)] {
            let path = program.home().join("class").join(student).join(file);
            let Ok(file) = File::options().append(true).open(path) else {
                continue;
            };
            // Eve's first submission is one second late.
            let late = if student == "eve" { after } else { 0 };
            file.set_modified(UNIX_EPOCH + Duration::from_secs(DUE + late))?;
        }
    }
    let check = "check 01 02 --submissions class --seed 5 --marks marks.toml";
    program.expect(
        &format!("{check} --csv plain.csv --feedback notes --out class.json"),
        0,
        &[
            "ann  ✓✓  2       6 points",
            "bob  ✗✗  0       1 points",
            "eve  ✓·  1       3 points",
        ],
    );
    assert_eq!(
        program.read("plain.csv"),
        "student,passed,points,01-first-thread,02-tail\nann,2,6,passed,passed\nbob,0,1,right,launch\n\
         eve,1,3,passed,missing\n"
    );
    let note = program.read("notes/bob.md");
    for part in [
        "# bob",
        "0 of 2 exercises passed, 1 of 6 points",
        "| 02-tail | launch | 1 |",
        "## 01-first-thread\n\n```text\n",
    ] {
        assert!(note.contains(part), "no {part} in {note}");
    }
    assert!(
        program
            .read("notes/eve.md")
            .contains("| 01-first-thread | passed | 3 (late) |")
    );
    assert!(
        !program.read("notes/ann.md").contains("## "),
        "passed exercises need no feedback"
    );

    let merge = "merge class.json --marks marks.toml --csv table.csv";
    program.expect(&format!("{merge} --columns moodle"), 0, &["6 points"]);
    assert_eq!(
        program.read("table.csv"),
        "Username,Points,01-first-thread,02-tail\nann,6,4,2\nbob,1,0,1\neve,3,3,0\n"
    );
    program.expect(
        &format!("{merge} --columns canvas --lang zh --feedback zh"),
        0,
        &["6 分"],
    );
    let canvas = program.read("table.csv");
    assert!(
        canvas.starts_with("Student,ID,SIS User ID,SIS Login ID,Section,01-first-thread,02-tail\n"),
        "{canvas}"
    );
    assert!(
        canvas.contains("Points Possible,,,,,4,2\nann,,,ann,,4,2\n"),
        "{canvas}"
    );
    for (student, part) in [
        ("eve", "共 2 道练习，通过 1 道，得 3 分（满分 6）"),
        ("eve", "| 01-first-thread | 通过 | 3（迟交） |"),
        ("eve", "| 02-tail | 缺交 | 0 |"),
        ("bob", "| 02-tail | 运行未完成 | 1 |"),
    ] {
        let note = program.read(&format!("zh/{student}.md"));
        assert!(note.contains(part), "no {part} in {note}");
    }
    program.expect(&format!("{merge} --columns excel"), 0, &[]);
    let bytes = fs::read(program.home().join("table.csv"))?;
    assert!(
        bytes.starts_with(b"\xef\xbb\xbfstudent,passed,points"),
        "{bytes:?}"
    );

    program.expect(
        "check 01 --submissions class --seed 5 --out untimed.json",
        0,
        &[],
    );
    program.expect_error(
        "merge untimed.json --marks marks.toml",
        &["does not contain the submission time of 01-first-thread by 'ann'"],
    );
    Ok(())
}

/// Commits everything in a folder at the given time.
fn commit(folder: &Path, at: u64) {
    let time = format!("{at} +0000");
    for arguments in [
        &["init", "--quiet"][..],
        &["add", "--all"],
        &[
            "-c",
            "user.name=x",
            "-c",
            "user.email=x@example.com",
            "commit",
            "--quiet",
            "-m",
            "done",
        ],
    ] {
        let mut git = Command::new("git");
        git.current_dir(folder).args(arguments);
        git.envs(["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"].map(|name| (name, &time)));
        assert!(
            git.status().expect("git is available").success(),
            "{arguments:?}"
        );
    }
}

fn commits() -> Result<(), Failed> {
    let program = class();
    fs::write(
        program.home().join("marks.toml"),
        format!("by = \"commit\"\n{MARKS}"),
    )?;
    let folder = |student: &str| program.home().join("class").join(student);
    commit(&folder("ann"), DUE - 5);
    commit(&folder("bob"), DUE + 60);
    commit(&folder("eve"), DUE + 2 * 86_400 + 1);
    // Settings in a student's repository must not start programs.
    let started = program.home().join("started");
    let settings = format!(
        "[core]\n\tfsmonitor = \"touch '{0}'\"\n\tpager = \"touch '{0}'\"\n[uploadpack]\n\tpackObjectsHook = \"touch '{0}'\"\n\
         [log]\n\tshowSignature = true\n[gpg]\n\tprogram = \"touch '{0}'\"\n",
        started.display()
    );
    let config = folder("ann").join(".git/config");
    fs::write(&config, fs::read_to_string(&config)? + &settings)?;
    let check = "check 01 02 --submissions class --seed 5 --marks marks.toml --json";
    let run = program.run_line(check);
    let record = parse(&run.stdout);
    let handed_in_of = |number: usize| record["results"][number]["handed_in"].as_u64();
    let expected = [Some(DUE - 5), Some(DUE + 60), Some(DUE + 172_801), None];
    assert_eq!([0, 2, 4, 5].map(handed_in_of), expected, "{run:?}");
    assert!(!started.exists(), "a setting of the student's was obeyed");

    // The graded file must be the committed one.
    fs::write(folder("eve").join(ONE), EXERCISES[0].start())?;
    fs::remove_dir_all(folder("bob").join(".git"))?;
    let run = program.run_line(check);
    let record = parse(&run.stdout);
    assert_eq!(run.code, 2, "{run:?}");
    for (number, part) in [
        (2, "there is no .git"),
        (4, "it was changed after the commit"),
    ] {
        let result = &record["results"][number];
        assert_eq!(result["outcome"], "ungraded");
        let message = result["message"].as_str().unwrap_or_default();
        assert!(message.contains(part), "{result:#}");
    }
    Ok(())
}

fn copied() -> Result<(), Failed> {
    let program = class();
    let solution = EXERCISES[18].solution();
    program.hand_in("class", "ann", &[("19-transpose.cu", solution)]);
    program.hand_in(
        "class",
        "eve",
        &[("19-transpose.cu", EXERCISES[18].start())],
    );
    let check = "check 19 --submissions class --seed 5";
    program.expect(
        &format!("{check} --copies copies.csv"),
        0,
        &["1 pairs of submissions"],
    );
    assert_eq!(
        program.read("copies.csv"),
        "exercise,student,like,share,same\n19-transpose,ann,(solution),1.00,yes\n"
    );
    program.expect_error(
        &format!("{check} --copies x.csv --csv x.csv"),
        &["--csv and --copies", "same file"],
    );
    program.expect_error(
        &format!("{check} --copies class/x.csv"),
        &["--copies class/x.csv"],
    );
    Ok(())
}

fn rejected() -> Result<(), Failed> {
    let program = class();
    program.expect_error("check 01 --marks x.toml", &["--submissions"]);
    for flags in [
        "check 01 --copies x.csv",
        "check 01 --submissions class --columns moodle",
    ] {
        assert_eq!(program.run_line(flags).code, 2, "{flags}");
    }
    if support::missing_clang().is_some() {
        return Ok(());
    }
    let check = "check 01 --submissions class";
    program.expect_error(&format!("{check} --marks nowhere.toml"), &["nowhere.toml"]);
    fs::write(
        program.home().join("marks.toml"),
        "points = 1\ndeadlin = 3\n",
    )?;
    program.expect_error(
        &format!("{check} --marks marks.toml"),
        &["marks.toml", "line 2", "deadlin"],
    );
    program.expect(
        &format!("{check} --lang zh --marks marks.toml"),
        2,
        &["第 2 行"],
    );
    program.expect_error(
        &format!("{check} --feedback class/notes"),
        &["class/notes", "outside"],
    );
    program.expect_error(
        &format!("{check} --feedback marks.toml"),
        &["--feedback marks.toml"],
    );
    Ok(())
}
