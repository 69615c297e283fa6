//! The report in machine-readable formats. All contain the same [`Problem`]s.
//!
//! SARIF 2.1.0, the Static Analysis Results Interchange Format of OASIS, is what code scanning reads. Test reports in CI read
//! JUnit's XML: a test case for each kernel and check, and for each check of the whole program. It is valid under the schemas
//! of Jenkins and of Ant.

use std::borrow::Cow;
use std::path::{self, Component, Path, PathBuf};
use std::time::SystemTime;
use std::{env, fs, io};

use anyhow::Result;
use common::gpu::GpuInfo;
use cuda_driver::{CallSite, Check};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use telemetry::record::{Record, Run};
use telemetry::{Level, Problem, Rule, Summary};

use crate::flags::{Flags, Format};

/// The report on a run.
pub struct Report<'a> {
    pub flags: &'a Flags,
    /// The GPU, or `None` if the program was not run because there is none of this name.
    pub gpu: Option<&'a GpuInfo>,
    pub summary: &'a Summary,
    pub problems: &'a [Problem],
    /// The exit status of cuda-run.
    pub status: i32,
    pub run: &'a Run,
}

impl Report<'_> {
    /// Formats the report.
    ///
    /// # Errors
    ///
    /// Fails if the text format is requested, which is printed elsewhere, or if the record cannot be serialized.
    pub fn format(&self, format: Format) -> Result<String> {
        match format {
            Format::Text => anyhow::bail!("the report in text is printed as it is"),
            Format::Json => {
                let report = &self.flags.show.report;
                // A program that was not run was not checked.
                let checks = report.check.filter(|_| self.run.status.is_some());
                let requested = (report.profile, checks);
                let record =
                    Record::new(self.run, self.gpu, requested, self.summary, self.problems);
                Ok(serde_json::to_string_pretty(&record)? + "\n")
            }
            Format::Sarif => Ok(serde_json::to_string_pretty(&sarif_log(self))? + "\n"),
            Format::Junit => Ok(junit_document(self)?),
            Format::Github => Ok(github_commands(self)),
        }
    }
}

/// Returns the title of a problem's kind.
fn title(rules: &[Rule], problem: &Problem) -> String {
    let rule = rules.iter().find(|rule| rule.name == problem.kind);
    rule.map_or_else(|| problem.headline().to_owned(), |rule| rule.title.clone())
}

/// The root of the source tree.
struct SourceRoot(PathBuf);

impl SourceRoot {
    /// Returns the checkout of a GitHub workflow if the working directory is in it, otherwise the working directory.
    fn new() -> SourceRoot {
        let current = env::current_dir().unwrap_or_default();
        let workspace = env::var_os("GITHUB_WORKSPACE").map(PathBuf::from);
        let workspace =
            workspace.filter(|workspace| workspace.is_absolute() && current.starts_with(workspace));
        SourceRoot(workspace.unwrap_or(current))
    }

    /// Returns the path of a file relative to the root, with `/` between its components; an absolute path if the file
    /// is outside.
    fn relative(&self, file: &str) -> String {
        let file = normalized(&path::absolute(file).unwrap_or_else(|_| file.into()));
        let file = file.strip_prefix(&self.0).unwrap_or(&file);
        file.to_string_lossy().replace('\\', "/")
    }
}

/// Removes the components `.` and `..`.
fn normalized(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normalized.pop();
            }
            _ => normalized.push(component),
        }
    }
    normalized
}

/// The characters that the path of a URI may contain unescaped, apart from letters and digits (RFC 3986, section 3.3).
const PATH: AsciiSet = NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/')
    .remove(b':');

/// Converts a path to a URI: a relative reference, or an absolute one for an absolute path.
fn uri(path: &str) -> String {
    let start = match path {
        _ if path.starts_with('/') => "file://",
        _ if Path::new(path).is_absolute() => "file:///",
        // Otherwise the colon would end a scheme (section 4.2).
        _ if path
            .split('/')
            .next()
            .is_some_and(|first| first.contains(':')) =>
        {
            "./"
        }
        _ => "",
    };
    format!("{start}{}", utf8_percent_encode(path, &PATH))
}

/// Returns the workflow commands of GitHub Actions that annotate the lines of a pull request, one per problem:
/// `::error file=add.cu,line=7,title=Data race::…`.
fn github_commands(report: &Report) -> String {
    let root = SourceRoot::new();
    let rules = Rule::all();
    let lines = report.problems.iter().map(|problem| {
        let command = match problem.severity {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "notice",
        };
        let mut properties = Vec::new();
        if let Some(location) = &problem.location {
            properties.push(("file", root.relative(&location.file)));
            properties.push(("line", location.line.to_string()));
        }
        if let Some(column) = problem.column {
            properties.push(("col", column.to_string()));
        }
        properties.push(("title", title(&rules, problem)));
        let properties = properties.iter();
        let properties =
            properties.map(|(name, value)| format!("{name}={}", escape_property(value)));
        let properties = properties.collect::<Vec<_>>().join(",");
        format!(
            "::{command} {properties}::{}\n",
            escape_data(&problem.message)
        )
    });
    lines.collect()
}

/// Escapes the message of a workflow command.
fn escape_data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Escapes the value of a property of a workflow command.
fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The identifier of the source root, relative to which paths are.
const SOURCE_ROOT: &str = "%SRCROOT%";

/// Returns the log, with one run.
pub fn sarif_log(report: &Report) -> Value {
    let root = SourceRoot::new();
    let rules = Rule::all();
    let main_file = main_file(report);
    let results = report.problems.iter();
    let results: Vec<Value> = results
        .map(|problem| result(problem, &rules, &root, main_file.as_ref()))
        .collect();
    let rules: Vec<Value> = rules.iter().map(descriptor).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "columnKind": "unicodeCodePoints",
            "tool": { "driver": {
                "name": "cuda-run",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "invocations": [{
                "executionSuccessful": report.run.status.is_some() && report.run.ended.is_none(),
                "exitCode": report.status,
            }],
            "originalUriBaseIds": {
                SOURCE_ROOT: { "description": { "text": "The root of the source tree." } },
            },
            "results": results,
        }],
    })
}

fn descriptor(rule: &Rule) -> Value {
    json!({
        "id": rule.name,
        "shortDescription": { "text": rule.title },
        "fullDescription": { "text": format!("{}. {}", rule.title, rule.help) },
        "help": { "text": rule.help },
    })
}

/// Converts a problem. Without a line of its own it is reported in the program's main file, because code scanning
/// ignores results without a location.
fn result(
    problem: &Problem,
    rules: &[Rule],
    root: &SourceRoot,
    main_file: Option<&CallSite>,
) -> Value {
    let location = problem.location.as_ref().or(main_file);
    let mut place = json!({});
    if let Some(location) = location {
        place["physicalLocation"] = physical(location, root);
    }
    if let Some(column) = problem.column {
        place["physicalLocation"]["region"]["startColumn"] = json!(column);
    }
    if let Some(kernel) = &problem.kernel {
        place["logicalLocations"] = json!([{ "name": kernel, "kind": "function" }]);
    }
    let mut result = json!({
        "ruleId": problem.kind,
        "level": problem.severity.name(),
        "message": { "text": problem.message },
        "locations": [place],
        "occurrenceCount": problem.count,
        "partialFingerprints": { "lineHash/v1": fingerprint(problem, root) },
        "properties": { "check": problem.check },
    });
    if let Some(index) = rules.iter().position(|rule| rule.name == problem.kind) {
        result["ruleIndex"] = json!(index);
    }
    if let Some(cause) = &problem.cause {
        result["properties"]["cause"] = json!(cause);
    }
    let related = problem.related.iter().zip(1..).map(|(related, id)| {
        json!({
            "id": id,
            "message": { "text": related.message },
            "physicalLocation": physical(&related.location, root),
        })
    });
    let related: Vec<Value> = related.collect();
    if !related.is_empty() {
        result["relatedLocations"] = json!(related);
    }
    result
}

fn physical(location: &CallSite, root: &SourceRoot) -> Value {
    let path = root.relative(&location.file);
    let uri = uri(&path);
    let artifact = if uri.starts_with("file:") {
        json!({ "uri": uri })
    } else {
        json!({ "uri": uri, "uriBaseId": SOURCE_ROOT })
    };
    json!({
        "artifactLocation": artifact,
        "region": { "startLine": location.line },
    })
}

/// Returns the start of the program's first file, or of the first argument that is one, such as a script.
fn main_file(report: &Report) -> Option<CallSite> {
    let files = report.flags.files.iter();
    let files = files.map(|file| file.display().to_string());
    let arguments = report.run.program.iter().chain(&report.run.arguments);
    let arguments = arguments.filter(|word| fs::metadata(word).is_ok_and(|file| file.is_file()));
    let file = files.chain(arguments.cloned()).next()?;
    Some(CallSite { file, line: 1 })
}

/// Returns a hash that identifies a problem in later versions of its file, in which its line may have moved.
fn fingerprint(problem: &Problem, root: &SourceRoot) -> String {
    let location = problem.location.as_ref();
    let file = location.map(|location| root.relative(&location.file));
    let text = location.and_then(|location| {
        let text = fs::read(&location.file).ok()?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let line = text.lines().nth(location.line.checked_sub(1)? as usize)?;
        Some(line.trim().to_owned())
    });
    let parts = [
        Some(problem.kind.clone()),
        problem.kernel.clone(),
        file,
        text,
    ];
    let key = parts.map(Option::unwrap_or_default).join("\n");
    let hash = Sha256::digest(key);
    hash[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A test case: the kernel, or `None` for the whole program; and the check.
type Case<'a> = (Option<&'a str>, &'a str);

/// The case of the program's end.
const PROGRAM_RUN: Case = (None, "run");

/// The outcome of a test case.
enum Outcome {
    Passed,
    /// The check did not see all of the kernel or the program, for this reason.
    Skipped(String),
    Failed(Failure),
}

/// The errors of a test case. JUnit allows one failure per case, so several errors are one.
struct Failure {
    kind: String,
    message: String,
    details: String,
}

/// Returns the document.
///
/// # Errors
///
/// Fails if the document cannot be formatted.
pub fn junit_document(report: &Report) -> io::Result<String> {
    let name = report.flags.process_name();
    let cases: Vec<(Case, Outcome)> = cases(report)
        .into_iter()
        .map(|case| (case, outcome(report, case)))
        .collect();
    let count = |is_counted: fn(&Outcome) -> bool| {
        let counted = cases.iter().filter(|(_, outcome)| is_counted(outcome));
        counted.count().to_string()
    };
    let failed = count(|outcome| matches!(outcome, Outcome::Failed(_)));
    // A program that was not run has an error, not a failure.
    let (element, failures, errors) = match report.run.status {
        Some(_) => ("failure", failed, "0".to_owned()),
        None => ("error", "0".to_owned(), failed),
    };
    let seconds: f64 = cases
        .iter()
        .map(|&(case, _)| case_seconds(report, case))
        .sum();
    let timestamp = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let attributes = [
        ("id", "0"),
        ("package", "cuda-run"),
        ("name", &printable(&name)),
        ("hostname", "localhost"),
        ("timestamp", timestamp.trim_end_matches('Z')),
        ("tests", &cases.len().to_string()),
        ("failures", &failures),
        ("errors", &errors),
        (
            "skipped",
            &count(|outcome| matches!(outcome, Outcome::Skipped(_))),
        ),
        ("time", &format!("{seconds:.3}")),
    ];
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let suites = writer.create_element("testsuites");
    suites.write_inner_content(|writer| {
        let suite = writer.create_element("testsuite");
        suite
            .with_attributes(attributes)
            .write_inner_content(|writer| {
                write_properties(writer, report)?;
                for ((kernel, check), outcome) in &cases {
                    let class =
                        kernel.map_or_else(|| name.clone(), |kernel| format!("{name}.{kernel}"));
                    let time = case_seconds(report, (*kernel, check));
                    let case = writer.create_element("testcase").with_attributes([
                        ("classname", &*printable(&class)),
                        ("name", check),
                        ("time", &format!("{time:.3}")),
                    ]);
                    match outcome {
                        Outcome::Passed => case.write_empty()?,
                        Outcome::Skipped(reason) => case.write_inner_content(|writer| {
                            let skipped = writer.create_element("skipped");
                            skipped
                                .with_attribute(("message", &*printable(reason)))
                                .write_empty()?;
                            Ok(())
                        })?,
                        Outcome::Failed(failure) => case.write_inner_content(|writer| {
                            let failed = writer.create_element(element).with_attributes([
                                ("type", &*failure.kind),
                                ("message", &*printable(&failure.message)),
                            ]);
                            failed
                                .write_text_content(BytesText::new(&printable(&failure.details)))?;
                            Ok(())
                        })?,
                    };
                }
                let others = warnings_and_notes(report.problems);
                for (stream, text) in [("system-out", &*printable(&others)), ("system-err", "")] {
                    writer
                        .create_element(stream)
                        .write_text_content(BytesText::new(text))?;
                }
                Ok(())
            })?;
        Ok(())
    })?;
    Ok(String::from_utf8_lossy(&writer.into_inner()).into_owned() + "\n")
}

/// Writes the GPU and the program's exit status, if they are known.
fn write_properties(writer: &mut Writer<Vec<u8>>, report: &Report) -> io::Result<()> {
    let gpu = report.gpu.map(|gpu| gpu.name.clone());
    let status = report.run.status.map(|status| status.to_string());
    let properties = writer.create_element("properties");
    properties.write_inner_content(|writer| {
        for (name, value) in [("gpu", gpu), ("status", status)] {
            if let Some(value) = value {
                let property = writer.create_element("property");
                let attributes = [("name", name), ("value", &*printable(&value))];
                property.with_attributes(attributes).write_empty()?;
            }
        }
        Ok(())
    })?;
    Ok(())
}

fn outcome(report: &Report, case: Case) -> Outcome {
    match (failure(report, case), skip_reason(report, case)) {
        (Some(failure), _) => Outcome::Failed(failure),
        (None, Some(reason)) => Outcome::Skipped(reason),
        (None, None) => Outcome::Passed,
    }
}

/// Returns the failure of a case; `None` if it has no error.
fn failure(report: &Report, case: Case) -> Option<Failure> {
    let problems = report.problems.iter();
    let problems = problems.filter(|problem| problem.severity == Level::Error);
    let problems: Vec<&Problem> = problems
        .filter(|problem| case_of(problem) == case)
        .collect();
    let Some(first) = problems.first() else {
        let status = report.run.status.filter(|&status| status != 0)?;
        let message = format!("the program exited with status {status}");
        return (case == PROGRAM_RUN).then(|| Failure {
            kind: "exit-status".to_owned(),
            message: message.clone(),
            details: message,
        });
    };
    let more = match problems.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let texts: Vec<&str> = problems
        .iter()
        .map(|problem| problem.message.as_str())
        .collect();
    Some(Failure {
        kind: first.kind.clone(),
        message: format!("{}{more}", first.headline()),
        details: texts.join("\n\n"),
    })
}

/// Returns the reason for which a check did not see all of a kernel or of the program; `None` if it did.
fn skip_reason(report: &Report, case: Case) -> Option<String> {
    if report.run.status.is_none() {
        return Some("the program was not run".to_owned());
    }
    let Some(kernel) = case.0 else {
        let stopped = report.run.ended.clone();
        return stopped.filter(|_| case != PROGRAM_RUN);
    };
    let mut faults = report.summary.faults.iter();
    let fault = faults.find(|fault| {
        // Overloads have their parameters in their names, but faults name only the function.
        let name = fault.kernel.as_deref().unwrap_or_default();
        let rest = kernel.strip_prefix(name).filter(|_| !name.is_empty());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('('))
    })?;
    let fault = fault.text.lines().next().unwrap_or_default();
    Some(format!("a launch of the kernel did not complete: {fault}"))
}

fn warnings_and_notes(problems: &[Problem]) -> String {
    let problems = problems.iter();
    let problems = problems.filter(|problem| problem.severity != Level::Error);
    let lines = problems.map(|problem| {
        let severity = problem.severity.name();
        format!("{severity}: {}: {}\n", problem.check, problem.message)
    });
    lines.collect()
}

fn case_of(problem: &Problem) -> Case<'_> {
    (problem.kernel.as_deref(), problem.check)
}

/// Returns the cases that were tested: each kernel's completion and checks, those of the program, and those with other
/// problems.
fn cases<'a>(report: &'a Report) -> Vec<Case<'a>> {
    let checks = report.flags.show.report.check;
    let checks: Vec<Check> = checks.map_or_else(Vec::new, |checks| checks.enabled().collect());
    let is_of_kernel = |check: &Check| {
        matches!(
            check,
            Check::Memory | Check::Init | Check::Race | Check::Sync
        )
    };
    let (of_kernel, of_program): (Vec<Check>, Vec<Check>) =
        checks.iter().partition(|check| is_of_kernel(check));
    let summary = report.summary;
    let kernels = summary.kernels.iter().map(|kernel| kernel.name.as_str());
    let measured = summary.measured.iter().map(|kernel| kernel.name.as_str());
    let faulty = report
        .problems
        .iter()
        .filter(|problem| problem.check != "api");
    let faulty = faulty.filter_map(|problem| problem.kernel.as_deref());
    let mut names: Vec<&str> = Vec::new();
    for name in kernels.chain(measured).chain(faulty) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut cases = vec![PROGRAM_RUN, (None, "api")];
    if report.run.status.is_none() && !report.flags.files.is_empty() {
        cases.insert(0, (None, "compile"));
    }
    cases.extend(of_program.iter().map(|check| (None, check.name())));
    for name in names {
        cases.push((Some(name), "run"));
        cases.extend(of_kernel.iter().map(|check| (Some(name), check.name())));
    }
    for problem in report.problems {
        if !cases.contains(&case_of(problem)) {
            cases.push(case_of(problem));
        }
    }
    cases
}

/// Returns the modelled or measured time of a kernel for its completion; other cases take none.
fn case_seconds(report: &Report, (kernel, check): Case) -> f64 {
    let summary = report.summary;
    let (Some(kernel), "run") = (kernel, check) else {
        return 0.0;
    };
    let modelled = summary.kernels.iter().filter(|row| row.name == kernel);
    let modelled = modelled.map(|row| row.total.time.milliseconds);
    let measured = summary.measured.iter().filter(|row| row.name == kernel);
    let measured = measured.map(|row| row.total.milliseconds);
    // The sum of no numbers is -0.
    modelled.chain(measured).sum::<f64>() / 1000.0 + 0.0
}

/// Replaces characters that XML cannot contain.
fn printable(text: &str) -> Cow<'_, str> {
    let is_invalid = |character: char| {
        character.is_control() && !matches!(character, '\n' | '\t')
            || ('\u{fffe}'..='\u{ffff}').contains(&character)
    };
    match text.contains(is_invalid) {
        true => text.replace(is_invalid, "\u{fffd}").into(),
        false => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_root() {
        let root = SourceRoot(env::current_dir().unwrap());
        assert_eq!(root.relative("./a/../b/c.cu"), "b/c.cu");
        let inside = root.0.join("d.cu");
        assert_eq!(root.relative(inside.to_str().unwrap()), "d.cu");
    }

    #[test]
    fn special_characters_are_encoded() {
        assert_eq!(uri("my kernels/核.cu"), "my%20kernels/%E6%A0%B8.cu");
        assert_eq!(uri("/usr/a#.h"), "file:///usr/a%23.h");
        assert_eq!(uri("a b/100%&c?.cu"), "a%20b/100%25%26c%3F.cu");
        // A colon in the first segment would end a scheme.
        assert_eq!(uri("a:b.cu"), "./a:b.cu");
        assert_eq!(uri("a/b:c.cu"), "a/b:c.cu");
    }

    #[test]
    fn special_characters_of_workflow_commands_are_escaped() {
        assert_eq!(escape_data("100 %: a,\nb\r"), "100 %25: a,%0Ab%0D");
        assert_eq!(escape_property("c:\\a,b.cu"), "c%3A\\a%2Cb.cu");
    }

    #[test]
    fn characters_that_xml_cannot_contain_are_replaced() {
        assert_eq!(printable("a<b>\n\u{1b}\u{ffff}"), "a<b>\n\u{fffd}\u{fffd}");
    }
}
