//! The `test` command, which checks that exercises grade their own files as they claim.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use kernel_build::Tree;

use super::check::drawn;
use crate::course::{self, EXERCISES};
use crate::data::Step;
use crate::exercise::Exercise;
use crate::folder::{self, shown};
use crate::lang::Lang;
use crate::output;
use crate::record::Record;
use crate::worker::{Job, Limits, Terms, supervise};
use crate::{compiler, report};

/// The start of the first line of a submission that must be rejected.
const REJECTED: &str = "// Rejected at: ";

/// The optional start of the second line: text that the English message must contain.
const SAYS: &str = "// Says: ";

/// The expected verdict on a submission.
enum Wanted {
    Passed,
    /// Rejected at one of these steps (separated by commas), with this text in the message.
    Rejected(String, Option<String>),
}

/// Tests one exercise or all. Exits with 0 if every verdict is the expected one.
pub fn run(name: Option<&str>, lang: Lang) -> Result<ExitCode> {
    let chosen: Vec<&Exercise> = match name {
        Some(name) => vec![super::find(name, lang)?],
        None => EXERCISES.into_iter().collect(),
    };
    let terms = Terms {
        seed: drawn(),
        lang,
        clang: compiler::find(lang)?,
        limits: Limits::within(60),
    };
    let (mut tests, mut failed) = (0, 0);
    for exercise in chosen {
        for (what, text, wanted) in answers(exercise, lang)? {
            let job = Job::new(exercise, what.clone(), text, &terms);
            let record = Record::new(exercise, supervise(job)?, lang);
            tests += 1;
            let (is_right, came) = judged(&record, &wanted, lang);
            let mark = if is_right { "✓" } else { "✗" };
            output::line(format!("{mark} {}: {what}: {came}", exercise.name))?;
            if !is_right {
                failed += 1;
                output::text(&report::whole(&record, false, lang))?;
            }
        }
    }
    output::line(say!(
        lang,
        "\n{} of {} came as they should (seed {}).",
        "\n共 {1} 项，{0} 项符合预期（种子 {2}）。";
        tests - failed, tests, terms.seed
    ))?;
    Ok(match failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// Returns all submissions that an exercise is tested with, as name, text and expected verdict.
fn answers(exercise: &Exercise, lang: Lang) -> Result<Vec<(String, String, Wanted)>> {
    let rejected = exercise.data()?.rejected_at.name().to_owned();
    let file = |name: &str| format!("{name}.{}", exercise.extension());
    let mut all = vec![
        (
            file("start"),
            exercise.start.to_owned(),
            Wanted::Rejected(rejected, None),
        ),
        (
            file("solution"),
            exercise.solution.to_owned(),
            Wanted::Passed,
        ),
    ];
    for (folder, passes) in [("right", true), ("wrong", false), ("earned", false)] {
        for path in files(&place(exercise, folder)?)? {
            let text = folder::read(&path, &shown(&path), lang)?;
            let wanted = match passes {
                true => Wanted::Passed,
                false => Wanted::Rejected(steps(&path, &text, lang)?, says(&text)),
            };
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            all.push((format!("{folder}/{name}"), text, wanted));
        }
    }
    Ok(all)
}

/// Returns the folder with such submissions: in the exercise's folder for a teacher's course, next to this
/// crate's tests for the built-in one.
fn place(exercise: &Exercise, folder: &str) -> Result<PathBuf> {
    Ok(match course::folder::path() {
        Some(course) => course.join(exercise.name).join(folder),
        None => Tree::find(Path::new(env!("CARGO_MANIFEST_DIR")))?
            .root()
            .join("crates/exercises/tests")
            .join(folder)
            .join(exercise.name),
    })
}

/// Returns the files in a folder, sorted; empty if there is no such folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).with_context(|| shown(folder))?;
    let mut files = Vec::new();
    for entry in entries {
        files.push(entry?.path());
    }
    files.sort();
    Ok(files)
}

/// Parses the steps that the first line of a wrong submission names.
fn steps(path: &Path, text: &str, lang: Lang) -> Result<String> {
    let first = text.lines().next().unwrap_or_default();
    let steps = first.strip_prefix(REJECTED).unwrap_or_default();
    let known = Step::ALL.map(Step::name);
    if steps.is_empty() || !steps.split(", ").all(|step| known.contains(&step)) {
        bail!(say!(
            lang,
            "{}, line 1: it says where the answer is rejected, as `// Rejected at: right`; steps are {}",
            "{} 第 1 行：应写明答案在哪一步被拒，例如 `// Rejected at: right`；步骤有 {}";
            shown(path), known.join(", ")
        ));
    }
    Ok(steps.to_owned())
}

/// Returns the text that the message must contain, if the second line of a wrong submission gives one.
fn says(text: &str) -> Option<String> {
    let second = text.lines().nth(1)?;
    second.strip_prefix(SAYS).map(|says| says.trim().to_owned())
}

/// Compares the verdict with the expected one. Returns whether they agree and a description of the verdict.
fn judged(record: &Record, wanted: &Wanted, lang: Lang) -> (bool, String) {
    let passed = || lang.pick("passed", "通过").to_owned();
    let at = |step: &str| say!(lang, "rejected at {}", "在 {} 步被拒"; step);
    let came = match record.step {
        Some(step) => at(step.name()),
        None => passed(),
    };
    let (is_right, should) = match wanted {
        Wanted::Passed => (record.passed, passed()),
        Wanted::Rejected(steps, says) => {
            let at_step = record
                .step
                .is_some_and(|step| steps.split(", ").any(|it| it == step.name()));
            // The expected text is in English.
            let message = record.messages.as_ref().map_or("", |it| it.of(Lang::En));
            let words: Vec<&str> = message.split_whitespace().collect();
            let missing = says
                .as_ref()
                .filter(|says| !words.join(" ").contains(says.as_str()));
            match missing {
                Some(says) if at_step => (false, format!("{}: '{says}'", at(steps))),
                _ => (at_step, at(steps)),
            }
        }
    };
    let came = match is_right {
        true => came,
        false => say!(lang, "{}, and should be: {}", "{}，应为：{}"; came, should),
    };
    (is_right, came)
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_answer_names_known_steps() {
        let steps = |text| steps(Path::new("a.cu"), text, Lang::En);
        assert_eq!(
            steps("// Rejected at: launch, right\nx").unwrap(),
            "launch, right"
        );
        assert_eq!(says("// Rejected at: right\nx"), None);
        let said = says("// Rejected at: right\n// Says: got 7\nx");
        assert_eq!(said.as_deref(), Some("got 7"));
        for text in ["", "x", "// Rejected at: ", "// Rejected at: reight"] {
            let why = steps(text).unwrap_err().to_string();
            assert!(why.contains("a.cu, line 1"), "{why}");
        }
    }
}
