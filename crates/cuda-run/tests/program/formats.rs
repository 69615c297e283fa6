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
        ("between-blocks", "warning", Some(2)),
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
            kernel("p[4] = 1;"),
            &[][..],
            0,
            "out-of-bounds",
            "error",
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
