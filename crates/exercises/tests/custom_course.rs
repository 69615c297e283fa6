//! A teacher's own course: created with `new`, tested with `test`, run with `--course`, with helpful errors.

mod support;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use libtest_mimic::{Arguments, Failed, Trial};
use support::{Program, Run, parse, with_clang};

/// The exercise that the tests create.
const NAME: &str = "01-mine";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let tests = vec![
        with_clang("a new exercise passes its test after one edit", one_file),
        with_clang(
            "list, check, watch and class work with a custom course",
            everyday,
        ),
        with_clang(
            "a failed test reports the actual verdict",
            unexpected_verdicts,
        ),
        with_clang(
            "a submission cannot read the solution or its results",
            hostile,
        ),
        Trial::test("errors in a course are reported", invalid_courses),
        #[cfg(unix)]
        Trial::test("a course contains no files from outside", links),
        Trial::test("a failed new creates nothing", failed_new),
    ];
    libtest_mimic::run(&arguments, tests).exit_code()
}

/// Returns a program with a course that has one new exercise.
fn with_new_exercise() -> Program {
    let program = Program::new();
    run_with_course(&program, &format!("new {NAME}")).assert_has(0, &["Created", "test 01-mine"]);
    program
}

fn run_with_course(program: &Program, arguments: &str) -> Run {
    program.run_line(&format!("--course course --lang en {arguments}"))
}

fn file_path(program: &Program, file: &str) -> PathBuf {
    program.home().join("course").join(NAME).join(file)
}

/// Replaces a text in a file of the exercise.
fn edit(program: &Program, file: &str, from: &str, to: &str) {
    let path = file_path(program, file);
    let text = fs::read_to_string(&path).expect("a file");
    assert!(text.contains(from), "no '{from}' in {text}");
    fs::write(path, text.replacen(from, to, 1)).expect("the file can be written");
}

/// Changes the exercise through its data alone: larger blocks, other numbers, an explicit reference.
fn one_file() -> Result<(), Failed> {
    let program = with_new_exercise();
    run_with_course(&program, "test").assert_has(
        0,
        &[
            "5 of 5 verdicts are as expected",
            "start.cu: rejected at right",
        ],
    );
    for (from, to) in [
        ("(n + 127) / 128", "(n + 255) / 256"),
        ("block = 128", "block = 256"),
        ("from = -1, to = 1", "from = -50, to = 50, step = 1"),
        (
            "name = \"out\"",
            "name = \"out\"\nexpect = \"in[i] + in[i]\"",
        ),
        ("en = \"Twice as much\"", "en = \"Doubled\""),
    ] {
        edit(&program, "exercise.toml", from, to);
    }
    run_with_course(&program, "test 01").assert_has(0, &["5 of 5 verdicts are as expected"]);
    run_with_course(&program, "list").assert_has(0, &["01-mine", "Doubled", "0 of 1"]);
    Ok(())
}

fn everyday() -> Result<(), Failed> {
    let program = with_new_exercise();
    run_with_course(&program, "").assert_has(0, &["01-mine", "--course course check"]);
    let start = fs::read_to_string(program.file("01-mine.cu"))?;
    assert_eq!(start, fs::read_to_string(file_path(&program, "start.cu"))?);
    run_with_course(&program, "check 01")
        .assert_has(1, &["has wrong results", "--course course hint"]);
    run_with_course(&program, "hint mine").assert_has(0, &["threadIdx.x"]);
    let title = "# Twice as much\n";
    let cites = format!("{title}\nSee [our notes](../notes.md#one).\n");
    edit(&program, "statement.en.md", title, &cites);
    let run = run_with_course(&program, "statement mine");
    run.assert_has(0, &["\nSee our notes (course/notes.md).\n"]);
    assert!(
        !run.stdout.contains("crates/"),
        "it has no chapter: {run:?}"
    );
    fs::copy(
        file_path(&program, "solution.cu"),
        program.file("01-mine.cu"),
    )?;
    run_with_course(&program, "check 01").assert_has(0, &["✓ 01-mine", "12 500"]);
    run_with_course(&program, "solution 01").assert_has(0, &["2 * in[i]"]);
    // One language is enough.
    fs::remove_file(file_path(&program, "statement.zh.md"))?;
    program.expect("--course course --lang zh list", 0, &["加倍", "1 道"]);

    for (student, file) in [("ann", "solution.cu"), ("bob", "start.cu")] {
        let folder = program.home().join("class").join(student);
        fs::create_dir_all(&folder)?;
        fs::copy(file_path(&program, file), folder.join("01-mine.cu"))?;
    }
    let run = run_with_course(&program, "check --all --submissions class --seed 1 --json");
    let record = parse(&run.stdout);
    assert_eq!(record["exercises"], serde_json::json!([NAME]));
    assert_eq!(record["results"][0]["outcome"], "passed");
    assert_eq!(record["results"][1]["step"], "right");
    Ok(())
}

fn unexpected_verdicts() -> Result<(), Failed> {
    let program = with_new_exercise();
    edit(&program, "wrong/half.cu", "in[i] / 2", "in[i] * 2");
    edit(&program, "solution.cu", "2 * in[i]", "in[i]");
    let run = run_with_course(&program, "test");
    run.assert_has(
        1,
        &[
            "wrong/half.cu: rejected at right",
            "right/backwards.cu: rejected at right, expected: passed",
        ],
    );
    let program = with_new_exercise();
    edit(&program, "solution.cu", "if (i < n)", "if (i <= n)");
    run_with_course(&program, "test").assert_has(2, &["the solution failed to run"]);
    Ok(())
}

fn hostile() -> Result<(), Failed> {
    let program = with_new_exercise();
    let solution = fs::canonicalize(file_path(&program, "solution.cu"))?;
    let rejection_step = |text: &str| {
        let file = program.write("answer.cu", text);
        let file = file.to_str().expect("a path");
        let run = run_with_course(&program, &format!("--json check 01 --seed 1 --file {file}"));
        let record = parse(&run.stdout);
        assert_eq!(run.code, 1, "{record:#}");
        record["step"].as_str().unwrap_or_default().to_owned()
    };
    let solution = solution.display();
    assert_eq!(
        rejection_step(&format!("#include \"{solution}\"\n")),
        "compile"
    );
    assert_eq!(
        rejection_step(&format!("asm(\".incbin \\\"{solution}\\\"\");\n")),
        "compile"
    );
    // Search for results that the solution left behind, in `out` and around it.
    let kernel_reading = |from: &str| {
        format!(
            "#include \"cuda_device.h\"\nextern \"C\" __global__ void twice(const float *in, float *out, int n) {{\n\
             int i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i < n) out[i] = {from};\n}}\n"
        )
    };
    assert_eq!(rejection_step(&kernel_reading("out[i]")), "launch");
    assert_eq!(rejection_step(&kernel_reading("out[i + 4096]")), "launch");
    assert_eq!(rejection_step(&kernel_reading("in[i - 4096]")), "launch");
    Ok(())
}

/// Lists invalid changes of the data, as `text to replacement => parts of the error;`.
macro_rules! changes {
    ($($from:literal to $to:literal => $parts:expr;)*) => { [$(($from, $to, &$parts[..])),*] };
}

fn invalid_courses() -> Result<(), Failed> {
    let cases = changes! {
        "kind = \"complete\"" to "kind = \"complet\"" => ["line 3", "complet"];
        "[tolerance]" to "[tolerence]" => ["tolerence"];
        "graded = [100000]" to "" => ["graded", "missing"];
        "count = \"n\"" to "count = \"m\"" => ["line 20", "undefined number m"];
        "type = \"float\"" to "type = \"flaot\"" => ["line 19", "unknown type flaot"];
        "\"in\", \"out\", \"n\"]" to "\"in\", \"uot\", \"n\"]" => ["line 36", "uot"];
        "grid = \"(n + 127) / 128\"" to "grid = \"(n + 127\"" => ["line 34", "grid"];
        "buffer = \"out\"" to "buffer = \"uot\"" => ["[[output]] uot"];
        "[[output]]\nbuffer = \"out\"" to "" => ["no [[output]]"];
        "op_ld.sum\"" to "op_ld.sun\"" => ["op_ld.sun is not a counter"];
        "buffer = \"out\"" to "buffer = \"out\"\nshape = [\"n\", 2]" => ["shape"];
        "[[buffer]]\nname = \"in\"" to "[numbers]\nn = 3\n[[buffer]]\nname = \"in\"" => ["line 18", "another name"];
        "[[1], [31], [256], [1000]]" to "[[4294967295]]" => ["line 20", "[4294967295]", "more than 134217728 elements"];
        "graded = [100000]" to "graded = [4294967295]" => ["line 20", "more than 134217728 elements"];
        "name = \"out\"" to "name = \"out\"\nexpect = \"sum(k, 0, 4000000000, sum(j, 0, 4000000000, k + j))\""
            => ["line 25", "more than 100000000 operations"];
        "block = 128" to "block = \"sum(k, 0, 4000000000, 1)\"" => ["line 35", "more than 100000000 operations"];
        "buffer = \"out\"" to "buffer = \"out\"\nshape = [\"sum(k, 0, 4000000000, 1)\"]"
            => ["shape", "more than 100000000 operations"];
        "[[buffer]]\nname = \"in\"" to "[numbers]\nm = \"sum(k, 0, 4000000000, 1)\"\n[[buffer]]\nname = \"in\""
            => ["line 18", "more than 100000000 operations"];
        "fill = { random = { from = -1, to = 1 } }" to "fill = { file = \"/etc/passwd\" }" => ["line 21", "not read here"];
        "name = \"out\"" to "name = \"out\"\nexpect = { file = \"../out\" }" => ["line 25", "not read here"];
        "count = 3 }" to "count = 1000000 }" => ["`count` is at most 1000"];
        "fill = {" to "fill = { rendom = {} } # {" => ["line 21"];
        "{ en = \"Twice as much\", zh = \"加倍\" }" to "{ fr = \"Double\" }" => ["a text must be"];
    };
    for (from, to, parts) in cases {
        let program = with_new_exercise();
        edit(&program, "exercise.toml", from, to);
        let start = Instant::now();
        let run = run_with_course(&program, "list");
        assert!(start.elapsed().as_secs() < 10, "{to}: {run:?}");
        run.assert_error(parts);
        assert!(run.stderr.contains("01-mine/exercise.toml"), "{run:?}");
    }
    for missing in ["solution.cu", "start.cu", "exercise.toml"] {
        let program = with_new_exercise();
        fs::remove_file(file_path(&program, missing))?;
        run_with_course(&program, "check").assert_error(&[missing, "is missing"]);
    }
    let program = with_new_exercise();
    run_with_course(&program, "new 001-other").assert_has(0, &["Created"]);
    run_with_course(&program, "list").assert_error(&["have the number 1"]);
    let program = with_new_exercise();
    fs::create_dir(program.home().join("course/Notes"))?;
    run_with_course(&program, "list").assert_error(&["course/Notes", "is not a valid name"]);
    let program = with_new_exercise();
    fs::write(file_path(&program, "wrong/half.cu"), "// no step\n")?;
    if support::missing_clang().is_none() {
        run_with_course(&program, "test").assert_has(2, &["half.cu, line 1", "Rejected at: right"]);
    }
    let program = with_new_exercise();
    let wrong = file_path(&program, "wrong/half.cu");
    if support::missing_clang().is_none() {
        // Expect text that the submission's message does not contain.
        let text = fs::read_to_string(&wrong)?;
        fs::write(&wrong, text.replacen('\n', "\n// Says: on the moon\n", 1))?;
        run_with_course(&program, "test").assert_has(1, &["on the moon", ", expected:"]);
        // The expected text is compared with the English message in any language.
        let chinese = program.run_line("--course course --lang zh test");
        chinese.assert_has(1, &["on the moon", "应为"]);
    }
    let program = Program::new();
    run_with_course(&program, "list").assert_error(&["--course course"]);
    fs::create_dir(program.home().join("course"))?;
    run_with_course(&program, "list").assert_error(&["has no folders", "new 01-my-exercise"]);
    program.expect("--course course --lang zh list", 2, &["没有文件夹"]);
    Ok(())
}

#[cfg(unix)]
fn links() -> Result<(), Failed> {
    use std::os::unix::fs::symlink;

    let outside = &["outside course: copy the file"][..];
    for file in ["statement.en.md", "solution.cu"] {
        let program = with_new_exercise();
        fs::rename(file_path(&program, file), program.home().join("secret"))?;
        symlink("../../secret", file_path(&program, file))?;
        run_with_course(&program, "list").assert_error(outside);
        // A link within the course is permitted.
        fs::rename(program.home().join("secret"), file_path(&program, "inside"))?;
        fs::remove_file(file_path(&program, file))?;
        symlink("inside", file_path(&program, file))?;
        run_with_course(&program, "list").assert_has(0, &["01-mine"]);
    }
    let program = with_new_exercise();
    fs::rename(
        program.home().join("course").join(NAME),
        program.home().join(NAME),
    )?;
    symlink(
        format!("../{NAME}"),
        program.home().join("course").join(NAME),
    )?;
    run_with_course(&program, "list").assert_error(outside);
    let program = with_new_exercise();
    symlink("/etc/passwd", file_path(&program, "right/secret.cu"))?;
    if support::missing_clang().is_none() {
        let run = run_with_course(&program, "test");
        run.assert_has(2, outside);
        assert!(!run.stdout.contains("root:"), "{run:?}");
    }
    Ok(())
}

fn failed_new() -> Result<(), Failed> {
    let program = with_new_exercise();
    run_with_course(&program, &format!("new {NAME}")).assert_error(&["already exists"]);
    program.expect_error("--lang en new 02-x", &["--course FOLDER"]);
    for name in ["x", "2-x", "02-X", "../02-x"] {
        run_with_course(&program, &format!("new {name}")).assert_error(&["is not a valid name"]);
    }
    let exercises: Vec<_> = fs::read_dir(program.home().join("course"))?.collect();
    assert_eq!(exercises.len(), 1, "{exercises:?}");
    Ok(())
}
