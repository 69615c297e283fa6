//! JUnit's XML, as test reports in CI read it: a test case for each kernel and check, and for each check of the whole
//! program. It is valid under the schemas of Jenkins and of Ant.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use cuda_driver::Check;
use telemetry::{Level, Problem};

use super::Report;

/// A test case: the kernel, or `None` for the whole program; and the check.
type Case<'a> = (Option<&'a str>, &'a str);

/// The case of the program's end.
const PROGRAM_RUN: Case = (None, "run");

/// Returns the document.
pub fn document(report: &Report) -> String {
    let name = report.flags.process_name();
    let mut text = String::new();
    let (mut tests, mut failures, mut seconds) = (0, 0, 0.0);
    for case in cases(report) {
        let (kernel, check) = case;
        let class = kernel.map_or_else(|| name.clone(), |kernel| format!("{name}.{kernel}"));
        let class = escaped(&class);
        let time = case_seconds(report, case);
        let _ = write!(
            text,
            "    <testcase classname=\"{class}\" name=\"{check}\" time=\"{time:.3}\""
        );
        if let Some(failure) = failure(report, case) {
            let [kind, message, details] = failure.map(|part| escaped(&part));
            let _ = writeln!(
                text,
                ">\n      <failure type=\"{kind}\" message=\"{message}\">{details}</failure>\n    </testcase>"
            );
            failures += 1;
        } else {
            text += "/>\n";
        }
        tests += 1;
        seconds += time;
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites>\n  \
           <testsuite id=\"0\" package=\"cuda-run\" name=\"{name}\" hostname=\"localhost\" timestamp=\"{timestamp}\" \
         tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" time=\"{seconds:.3}\">\n    \
             <properties>\n      \
               <property name=\"gpu\" value=\"{gpu}\"/>\n      \
               <property name=\"status\" value=\"{status}\"/>\n    \
             </properties>\n\
         {text}    \
             <system-out>{others}</system-out>\n    \
             <system-err></system-err>\n  \
           </testsuite>\n\
         </testsuites>\n",
        name = escaped(&name),
        timestamp = timestamp(SystemTime::now()),
        gpu = escaped(&report.gpu.name),
        status = report.run.status.unwrap_or_default(),
        others = escaped(&warnings_and_notes(report.problems)),
    )
}

/// Returns the kind, the message and the details of a case's failure; `None` if it has no error. JUnit allows one
/// failure per case, so several errors are one.
fn failure(report: &Report, case: Case) -> Option<[String; 3]> {
    let problems = report.problems.iter();
    let problems = problems.filter(|problem| problem.severity == Level::Error);
    let problems: Vec<&Problem> = problems
        .filter(|problem| case_of(problem) == case)
        .collect();
    let Some(first) = problems.first() else {
        let status = report.run.status.filter(|&status| status != 0)?;
        let message = format!("the program exited with status {status}");
        return (case == PROGRAM_RUN).then(|| ["exit-status".to_owned(), message.clone(), message]);
    };
    let more = match problems.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let texts: Vec<&str> = problems
        .iter()
        .map(|problem| problem.message.as_str())
        .collect();
    let message = format!("{}{more}", first.headline());
    Some([first.kind.clone(), message, texts.join("\n\n")])
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

/// Escapes text for an element or an attribute. Characters that XML cannot contain are replaced.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' | '\t' => escaped.push(character),
            _ if character.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&character) => {
                escaped.push('\u{fffd}');
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Formats a time in UTC as `2026-01-31T23:59:59`.
fn timestamp(time: SystemTime) -> String {
    let seconds = time
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs();
    let (days, second) = (seconds / 86400, seconds % 86400);
    // Days since 1 March of year 0, in eras of 400 years; see Howard Hinnant's "chrono-Compatible Low-Level Date
    // Algorithms".
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn timestamps_are_in_utc() {
        let after = |seconds| timestamp(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(after(0), "1970-01-01T00:00:00");
        assert_eq!(after(951_782_400), "2000-02-29T00:00:00");
        assert_eq!(after(1_735_689_599), "2024-12-31T23:59:59");
    }

    #[test]
    fn special_characters_are_escaped() {
        assert_eq!(
            escaped("a<b> && \"c\"\u{1b}"),
            "a&lt;b&gt; &amp;&amp; &quot;c&quot;\u{fffd}"
        );
    }
}
