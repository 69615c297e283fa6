//! The machine-readable formats of the report.

use std::fs;

use libtest_mimic::Failed;
use roxmltree::{Document, Node};
use serde_json::Value;

use crate::support::Workspace;

/// A program with errors of several sorts and a warning. One kernel is a template, whose name must be escaped in XML.
const PROGRAM: &str = include_str!("../programs/mistakes.cu");

/// A program whose only problem has no line.
const LEAK: &str = "int main() { int *p; cudaMalloc(&p, 8); cudaDeviceReset(); }\n";

/// A problem as the formats contain it: kind, severity and line.
type Row = (String, String, Option<u64>);

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn read(workspace: &Workspace, file: &str) -> Result<String, Failed> {
    Ok(fs::read_to_string(workspace.path(file))?)
}

/// Returns the problems of a record.
fn of_record(record: &Value) -> Vec<Row> {
    let problems = record["problems"].as_array().expect("problems");
    let row = |problem: &Value| {
        let line = problem["location"]["line"].as_u64();
        (text(&problem["kind"]), text(&problem["severity"]), line)
    };
    problems.iter().map(row).collect()
}

/// Returns the results of a SARIF log. Those without a line of their own are in line 1.
fn of_sarif(log: &Value) -> Vec<Row> {
    let run = &log["runs"][0];
    let results = run["results"].as_array().expect("results");
    let row = |result: &Value| {
        let index = result["ruleIndex"].as_u64().expect("an index") as usize;
        let rule = &run["tool"]["driver"]["rules"][index];
        assert_eq!(rule["id"], result["ruleId"]);
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "a%20folder/mix.cu");
        let line = place["region"]["startLine"].as_u64();
        (text(&result["ruleId"]), text(&result["level"]), line)
    };
    results.iter().map(row).collect()
}

pub fn same_problems() -> Result<(), Failed> {
    let record = compare_formats(PROGRAM)?;
    let problems = of_record(&record);
    for (kind, severity, line) in [
        ("out-of-bounds", "error", Some(3)),
        ("write-after-write", "error", Some(1)),
        ("one-store-two-values", "error", Some(1)),
        ("failed-call", "error", Some(10)),
        ("between-blocks", "error", Some(2)),
    ] {
        let row = (kind.to_owned(), severity.to_owned(), line);
        assert!(problems.contains(&row), "{row:?} is not in {problems:#?}");
    }
    // The fault is not repeated.
    assert_eq!(problems.iter().filter(|row| row.2 == Some(3)).count(), 1);
    let causes = record["problems"].as_array().into_iter().flatten();
    let causes: Vec<String> = causes.map(|problem| text(&problem["cause"])).collect();
    for cause in ["past-allocation", "no-bounds-check", "block-order"] {
        assert!(causes.iter().any(|known| known == cause), "{causes:?}");
    }
    assert_eq!(record["failed_calls"][0]["reason_kind"], "past-allocation");
    let leak = of_record(&compare_formats(LEAK)?);
    assert_eq!(leak, [("leaked".to_owned(), "error".to_owned(), Some(1))]);
    Ok(())
}

/// Runs a program with all formats, compares them, and returns the record.
fn compare_formats(program: &str) -> Result<Value, Failed> {
    let workspace = Workspace::new();
    fs::create_dir(workspace.path("a folder"))?;
    workspace.write("a folder/mix.cu", program);
    let files = ["--json=o.json", "--sarif", "o.sarif", "--junit", "o.xml"];
    let flags = [
        "--check",
        "--quiet",
        "--format",
        "github",
        "a folder/mix.cu",
    ];
    let run = workspace.run(&[&files[..], &flags].concat());
    run.assert_exit(
        1,
        &["Checked (mem, init, race, sync, leak, host, stream): "],
    )?;

    let record: Value = serde_json::from_str(&read(&workspace, "o.json")?)?;
    chapter_test::check_record("cuda-run", &record);
    let problems = of_record(&record);

    let sarif: Value = serde_json::from_str(&read(&workspace, "o.sarif")?)?;
    let with_line =
        |(kind, severity, line): &Row| (kind.clone(), severity.clone(), line.or(Some(1)));
    let expected: Vec<Row> = problems.iter().map(with_line).collect();
    assert_eq!(of_sarif(&sarif), expected);
    for result in sarif["runs"][0]["results"].as_array().into_iter().flatten() {
        if result["ruleId"] == "write-after-write" {
            let other = &result["relatedLocations"][0]["physicalLocation"];
            assert_eq!(other["region"]["startLine"], 1);
        }
    }

    let annotations: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(annotations.len(), problems.len(), "{run:#?}");
    for (annotation, (_, severity, line)) in annotations.iter().zip(&problems) {
        let place = line.map(|line| format!("file=a folder/mix.cu,line={line},"));
        let start = format!("::{severity} {}title=", place.unwrap_or_default());
        assert!(annotation.starts_with(&start), "{annotation}");
    }
    check_junit(&read(&workspace, "o.xml")?, &record)?;
    Ok(record)
}

fn failed<'a, 'input>(case: &Node<'a, 'input>) -> Option<Node<'a, 'input>> {
    case.children().find(|node| node.has_tag_name("failure"))
}

/// Checks that the problems of a JUnit report are those of the record, in the test cases of their kernels and checks.
fn check_junit(xml: &str, record: &Value) -> Result<(), Failed> {
    let document = Document::parse(xml)?;
    let suite = document
        .descendants()
        .find(|node| node.has_tag_name("testsuite"));
    let suite = suite.expect("a test suite");
    let cases: Vec<Node> = suite
        .children()
        .filter(|node| node.has_tag_name("testcase"))
        .collect();
    let failures = cases.iter().filter(|case| failed(case).is_some()).count();
    assert_eq!(suite.attribute("tests"), Some(&*cases.len().to_string()));
    assert_eq!(suite.attribute("failures"), Some(&*failures.to_string()));
    let others = suite
        .children()
        .find(|node| node.has_tag_name("system-out"));
    for problem in record["problems"].as_array().into_iter().flatten() {
        let class = match &problem["kernel"] {
            Value::Null => "a folder/mix".to_owned(),
            kernel => format!("a folder/mix.{}", text(kernel)),
        };
        let is_its = |case: &&Node| {
            (case.attribute("classname"), case.attribute("name"))
                == (Some(&*class), problem["check"].as_str())
        };
        let place = match problem["severity"].as_str() {
            Some("error") => cases.iter().find(is_its).and_then(failed),
            _ => others,
        };
        let place = place.and_then(|node| node.text()).unwrap_or_default();
        let message = text(&problem["message"]);
        assert!(place.contains(&message), "{message} is not in {place}");
    }
    Ok(())
}

/// Faults are problems even if no check was requested, and so are wrong results and rejected modules.
pub fn problems_without_checks() -> Result<(), Failed> {
    let workspace = Workspace::new();
    let main =
        "int main() { int *p; cudaMalloc(&p, 4); k<<<1, 1>>>(p); cudaDeviceSynchronize(); }\n";
    let kernel = |body: &str| format!("__global__ void k(int *p) {{ {body} }}\n{main}");
    let plan = fs::read_to_string(workspace.path("described.cu"))?;
    let wrong = plan.replace("= a[i] + b[i];", "= a[i] - b[i];");
    for (text, flags, code, kind, severity, line) in [
        (
            kernel("p[128] = 1;"),
            &[][..],
            0,
            "out-of-bounds",
            "error",
            Some(1),
        ),
        (
            kernel("p[127] = 1;"),
            &[],
            0,
            "out-of-bounds",
            "warning",
            Some(1),
        ),
        (kernel("__trap();"), &[], 0, "trap", "error", Some(1)),
        (wrong, &[], 1, "wrong-result", "error", None),
        (
            kernel(""),
            &["--device", "gtx970", "--arch", "sm_80"],
            0,
            "rejected-module",
            "warning",
            None,
        ),
    ] {
        workspace.write("program.cu", &text);
        let run = workspace.run(&[flags, &["--format", "json", "program.cu"]].concat());
        run.assert_exit(code, &[])?;
        let record: Value = serde_json::from_str(&run.stdout)?;
        chapter_test::check_record("cuda-run", &record);
        let row = (kind.to_owned(), severity.to_owned(), line);
        let problems = of_record(&record);
        assert!(problems.contains(&row), "{row:?} is not in {problems:#?}");
    }
    Ok(())
}

/// Without problems, all formats are empty, and the program's output is not mixed with them.
pub fn no_problems() -> Result<(), Failed> {
    let workspace = Workspace::new();
    for format in ["sarif", "junit", "github", "json"] {
        let run = workspace.run(&["--check", "--format", format, "vector-add.cu"]);
        run.assert_exit(0, &["1000 sums are right"])?;
        match format {
            "sarif" => {
                let log: Value = serde_json::from_str(&run.stdout)?;
                assert_eq!(log["runs"][0]["results"], serde_json::json!([]));
            }
            "junit" => assert!(run.stdout.contains(" failures=\"0\""), "{run:#?}"),
            "github" => assert_eq!(run.stdout, ""),
            _ => chapter_test::check_record("cuda-run", &serde_json::from_str(&run.stdout)?),
        }
    }
    Ok(())
}

/// Returns the results of a SARIF log: rule, URI, line and column.
fn places(log: &Value) -> Vec<(String, String, u64, Option<u64>)> {
    let results = log["runs"][0]["results"].as_array().into_iter().flatten();
    let row = |result: &Value| {
        let place = &result["locations"][0]["physicalLocation"];
        let region = &place["region"];
        (
            text(&result["ruleId"]),
            text(&place["artifactLocation"]["uri"]),
            region["startLine"].as_u64().expect("a line"),
            region["startColumn"].as_u64(),
        )
    };
    results.map(row).collect()
}

/// Asserts that a JUnit report has no passed test case and this many skipped ones, and returns the kind of its error.
fn check_not_run(xml: &str, skipped: usize) -> Result<String, Failed> {
    let document = Document::parse(xml)?;
    let nodes = |name| {
        document
            .descendants()
            .filter(move |node| node.has_tag_name(name))
    };
    let errors: Vec<Node> = nodes("error").collect();
    assert_eq!(
        (errors.len(), nodes("skipped").count()),
        (1, skipped),
        "{xml}"
    );
    assert_eq!(nodes("testcase").count(), 1 + skipped, "{xml}");
    let suite = nodes("testsuite").next().expect("a test suite");
    assert_eq!(suite.attribute("errors"), Some("1"));
    assert_eq!(suite.attribute("failures"), Some("0"));
    Ok(errors[0].attribute("type").unwrap_or_default().to_owned())
}

/// The errors of a program that does not compile are problems in all formats.
pub fn compile_errors() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "a:b%.cu",
        &fs::read_to_string(workspace.path("undeclared.cu"))?,
    );
    let files = ["--json", "o.json", "--sarif", "o.sarif", "--junit", "o.xml"];
    let flags = ["--check=mem,leak", "--format", "github", "a:b%.cu"];
    let run = workspace.run(&[&files[..], &flags].concat());
    run.assert_exit(
        1,
        &["does not compile", "a:b%.cu:3:12: error: use of undeclared"],
    )?;
    let start = |column| {
        format!("::error file=a%3Ab%25.cu,line=3,col={column},title=Source that does not compile::")
    };
    let annotations: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(annotations.len(), 2, "{run:#?}");
    for (annotation, column) in annotations.iter().zip([12, 34]) {
        assert!(annotation.starts_with(&start(column)), "{annotation}");
    }

    let record: Value = serde_json::from_str(&read(&workspace, "o.json")?)?;
    chapter_test::check_record("cuda-run", &record);
    let error = ("compile-error".to_owned(), "error".to_owned(), Some(3));
    assert_eq!(of_record(&record), [error.clone(), error]);
    assert_eq!(record["problems"][1]["column"], 34);
    assert_eq!((record.get("status"), record.get("check")), (None, None));

    let sarif: Value = serde_json::from_str(&read(&workspace, "o.sarif")?)?;
    let place = |column| {
        (
            "compile-error".to_owned(),
            "./a:b%25.cu".to_owned(),
            3,
            Some(column),
        )
    };
    assert_eq!(places(&sarif), [place(12), place(34)]);
    let invocation = serde_json::json!([{ "executionSuccessful": false, "exitCode": 1 }]);
    assert_eq!(sarif["runs"][0]["invocations"], invocation);

    // The program's end, its calls and leaks were not tested.
    assert_eq!(
        check_not_run(&read(&workspace, "o.xml")?, 3)?,
        "compile-error"
    );
    Ok(())
}

/// Other reasons for which a program is not run are problems too, with their lines.
pub fn programs_not_run() -> Result<(), Failed> {
    let workspace = Workspace::new();
    let plan = fs::read_to_string(workspace.path("described.cu"))?;
    workspace.write(
        "plan.cu",
        &plan.replacen("/* cuda-run\n", "/* cuda-run\nnone = 1\n", 1),
    );
    workspace.write(
        "kernel.cu",
        "__device__ int f();\n__global__ void k(int *p) {\n    *p = f(); }\nint main() {}\n",
    );
    workspace.write("host.cu", "int f();\nint main() {\n    return f(); }\n");
    workspace.write("one.cu", "int main() {}\n");
    workspace.write("two.cu", "\n\nint main() {}\n");
    let mut cases = vec![
        ("plan.cu", &[][..], "invalid-plan", 4),
        ("kernel.cu", &[], "undefined-symbol", 3),
        ("absent.cu", &[], "not-run", 1),
        ("one.cu", &["--device", "h9"], "not-run", 1),
    ];
    // The lines are in the messages of GNU's and LLVM's linkers.
    if cfg!(target_os = "linux") {
        cases.push(("host.cu", &[], "undefined-symbol", 3));
        cases.push(("one.cu", &["two.cu"], "link-error", 3));
    }
    for (file, flags, kind, line) in cases {
        let formats = [
            "--sarif", "o.sarif", "--junit", "o.xml", "--format", "json", file,
        ];
        let run = workspace.run(&[&formats[..], flags].concat());
        run.assert_exit(1, &["error: "])?;
        let record: Value = serde_json::from_str(&run.stdout)?;
        chapter_test::check_record("cuda-run", &record);
        let expected = (
            kind.to_owned(),
            "error".to_owned(),
            (line > 1).then_some(line),
        );
        assert_eq!(of_record(&record), [expected], "{file}");
        let sarif: Value = serde_json::from_str(&read(&workspace, "o.sarif")?)?;
        let file = if kind == "link-error" { "two.cu" } else { file };
        assert_eq!(
            places(&sarif),
            [(kind.to_owned(), file.to_owned(), line, None)]
        );
        assert_eq!(check_not_run(&read(&workspace, "o.xml")?, 2)?, kind);
    }
    Ok(())
}

/// The checks of a kernel that was interrupted, and of a program that was stopped, are skipped.
pub fn interrupted_checks() -> Result<(), Failed> {
    let workspace = Workspace::new();
    for (program, code, skipped) in [("endless.cu", 124, 8), ("mistakes.cu", 1, 4)] {
        let flags = [
            "--check",
            "--quiet",
            "--time-limit",
            "5",
            "--junit",
            "-",
            program,
        ];
        let run = workspace.run(&flags);
        run.assert_exit(code, &[])?;
        let document = Document::parse(&run.stdout)?;
        let cases = document.descendants();
        let reasons = cases.filter(|node| node.has_tag_name("skipped"));
        let reasons: Vec<&str> = reasons
            .filter_map(|node| node.attribute("message"))
            .collect();
        assert_eq!(reasons.len(), skipped, "{run:#?}");
        for reason in reasons {
            assert!(
                reason.starts_with("a launch of the kernel did not complete: ")
                    || reason == "the program was stopped at its time limit of 5 s",
                "{reason}"
            );
        }
    }
    Ok(())
}

/// A value after a blank is not taken for a source file, nor a source file for a value.
pub fn values_and_sources() -> Result<(), Failed> {
    let workspace = Workspace::new();
    for (flags, advice) in [
        (
            &["--sarif", "vector-add.cu"][..],
            "write --sarif report.sarif vector-add.cu",
        ),
        (
            &["--junit=vector-add.cu"],
            "write --junit report.xml vector-add.cu",
        ),
        (
            &["--json=vector-add.cu"],
            "write --json=report.json vector-add.cu",
        ),
        (&["--json", "out", "vector-add.cu"], "write --json=out;"),
        (&["--check", "mem", "vector-add.cu"], "write --check=mem;"),
    ] {
        let before = read(&workspace, "vector-add.cu")?;
        workspace.run(flags).assert_exit(2, &[advice])?;
        assert_eq!(read(&workspace, "vector-add.cu")?, before);
    }
    let run = workspace.run(&["--json", "o.json", "vector-add.cu"]);
    run.assert_exit(0, &["| vectorAdd |"])?;
    let record: Value = serde_json::from_str(&read(&workspace, "o.json")?)?;
    assert_eq!(record["program"], serde_json::json!(["vector-add.cu"]));
    let run = workspace.run(&["--json", "vector-add.cu"]);
    assert_eq!(
        serde_json::from_str::<Value>(&run.stdout)?["program"],
        record["program"]
    );
    Ok(())
}

/// Invalid destinations are reported before the program runs, and nothing is written.
pub fn destinations() -> Result<(), Failed> {
    let workspace = Workspace::new();
    for (flags, reason) in [
        (
            &["--sarif", "nowhere/o.sarif"][..],
            "--sarif=nowhere/o.sarif: there is no folder",
        ),
        (&["--junit", "."], "--junit=.: . is not a file"),
        (&["--json=tmp"], "--json=tmp: tmp is not a file"),
        (
            &["--sarif", "o", "--junit", "o"],
            "--sarif and --junit both write to o",
        ),
        (
            &["--format", "github", "--sarif", "-"],
            "--format github and --sarif both write to standard output",
        ),
    ] {
        let run = workspace.run(&[flags, &["vector-add.cu"]].concat());
        run.assert_exit(1, &[reason])?;
        assert_eq!(run.stdout, "");
        assert!(!run.stderr.contains("sums are right"), "{run:#?}");
        assert!(!workspace.path("o").exists());
    }
    let run = workspace.run(&["--format", "xml", "vector-add.cu"]);
    run.assert_exit(2, &["text, json, sarif, junit, github"])
}
