//! JUnit's XML, as test reports in CI read it: a test case for each kernel and check, and for each check of the whole
//! program. It is valid under the schemas of Jenkins and of Ant.

use std::borrow::Cow;
use std::io;
use std::time::SystemTime;

use cuda_driver::Check;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use telemetry::{Level, Problem};

use super::Report;

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
pub fn document(report: &Report) -> io::Result<String> {
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
    fn characters_that_xml_cannot_contain_are_replaced() {
        assert_eq!(printable("a<b>\n\u{1b}\u{ffff}"), "a<b>\n\u{fffd}\u{fffd}");
    }
}
