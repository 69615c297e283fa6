//! The commands for authors of a course: `new` creates an exercise whose template passes its own tests, and `test` checks
//! that exercises grade their own files as they claim.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use chapter::lang::Lang;

use crate::course::{Course, Exercise, command_line, parse_name};
use crate::data::Step;
use crate::files::{display_path, read_course_text, write_new};
use crate::grade::{Record, find_compiler};
use crate::process::Limits;
use crate::worker::{Job, JobSettings, supervise};
use crate::{output, report};

/// Expands to the names and contents of a new exercise's files.
macro_rules! template {
    ($($file:literal),*) => {
        [$(($file, include_str!(concat!("new/", $file)))),*]
    };
}

const TEMPLATE: [(&str, &str); 8] = template!(
    "exercise.toml",
    "statement.en.md",
    "statement.zh.md",
    "start.cu",
    "solution.cu",
    "wrong/no-bounds.cu",
    "wrong/half.cu",
    "right/backwards.cu"
);

/// Creates the exercise's folder and prints the next steps.
pub fn new(course: Option<&Path>, name: &str) -> Result<ExitCode> {
    let lang = Lang::current();
    let course = course.ok_or_else(|| {
        anyhow!(localize!(
            lang,
            "specify the course with --course FOLDER, which is created if it does not exist",
            "请用 --course FOLDER 指定课程；文件夹不存在时会新建"
        ))
    })?;
    parse_name(name, lang)?;
    let folder = course.join(name);
    ensure!(
        fs::symlink_metadata(&folder).is_err(),
        localize!(
            lang,
            "{} already exists: choose another name",
            "{} 已经存在：请换一个名字";
            display_path(&folder)
        )
    );
    for subfolder in ["wrong", "right"] {
        let path = folder.join(subfolder);
        fs::create_dir_all(&path).with_context(|| display_path(&path))?;
    }
    for (file, text) in TEMPLATE {
        write_new(&folder.join(file), text)?;
    }
    let folder = display_path(&folder);
    output::line(localize!(
        lang,
        "Created {0}. It doubles numbers; change it to your own exercise:\n\n  {0}/exercise.toml   \
         launches, sizes, targets, hints\n  {0}/start.cu        the file that students start with\n\
           {0}/solution.cu     the solution; its results are the reference\n  {0}/statement.en.md, \
         statement.zh.md\n  {0}/wrong, right    submissions to test it with\n\nTest it:  {1} \
         test {2}",
        "已新建 {0}。它现在的内容是把数加倍，请改成你自己的练习：\n\n  {0}/exercise.toml   启动、\
         规模、目标、提示\n  {0}/start.cu        学生的初始文件\n  {0}/solution.cu     参考答案；\
         它的计算结果就是参考结果\n  {0}/statement.en.md、statement.zh.md\n  {0}/wrong、right    \
         用来测试它的答案\n\n测试：  {1} test {2}";
        folder, command_line(course), name
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// The start of the first line of a submission that must be rejected.
const REJECTED_AT: &str = "// Rejected at: ";

/// The optional start of the second line: text that the English message must contain.
const MESSAGE_PART: &str = "// Says: ";

/// The expected verdict on a submission.
enum Expected {
    Passed,
    /// Rejected at one of these steps (separated by commas), with this text in the message.
    Rejected(String, Option<String>),
}

/// Tests one exercise or all. Exits with 0 if every verdict is the expected one.
pub fn test(course: &Course, name: Option<&str>, lang: Lang) -> Result<ExitCode> {
    let exercises: Vec<&Exercise> = match name {
        Some(name) => vec![super::find(course, name, lang)?],
        None => course.exercises.iter().collect(),
    };
    let settings = JobSettings {
        seed: JobSettings::random_seed(),
        lang,
        clang: find_compiler(lang)?,
        limits: Limits::within(60),
    };
    let (mut tests, mut failed) = (0, 0);
    for exercise in exercises {
        for (name, text, expected) in submissions(course, exercise, lang)? {
            let job = Job::new(exercise, name.clone(), text, &settings);
            let record = supervise(job)?;
            tests += 1;
            let (is_expected, actual) = compare(&record, &expected, lang);
            let mark = if is_expected { "✓" } else { "✗" };
            output::line(format!("{mark} {}: {name}: {actual}", exercise.name()))?;
            if !is_expected {
                failed += 1;
                output::text(&report::full_report(exercise, &record, false, lang))?;
            }
        }
    }
    output::line(localize!(
        lang,
        "\n{} of {} verdicts are as expected (seed {}).",
        "\n共 {1} 项，{0} 项符合预期（种子 {2}）。";
        tests - failed, tests, settings.seed
    ))?;
    Ok(match failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// Returns all submissions that an exercise is tested with, as name, text and expected verdict.
fn submissions(
    course: &Course,
    exercise: &Exercise,
    lang: Lang,
) -> Result<Vec<(String, String, Expected)>> {
    let rejected = exercise.data().rejected_at.name().to_owned();
    let file = |name: &str| format!("{name}.{}", exercise.extension());
    let mut all = vec![
        (
            file("start"),
            exercise.start().to_owned(),
            Expected::Rejected(rejected, None),
        ),
        (
            file("solution"),
            exercise.solution().to_owned(),
            Expected::Passed,
        ),
    ];
    // Courses made before the folder was renamed have `earned` instead of `cheats`.
    for (folder, passes) in [
        ("right", true),
        ("wrong", false),
        ("cheats", false),
        ("earned", false),
    ] {
        let exercise_folder = course.folder_of(exercise)?;
        let course_folder = exercise_folder.parent().unwrap_or(&exercise_folder);
        for path in files(&exercise_folder.join(folder))? {
            let text = read_course_text(course_folder, &path, lang)?;
            let expected = match passes {
                true => Expected::Passed,
                false => {
                    Expected::Rejected(parse_steps(&path, &text, lang)?, parse_message_part(&text))
                }
            };
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            all.push((format!("{folder}/{name}"), text, expected));
        }
    }
    Ok(all)
}

/// Returns the files in a folder, sorted; empty if there is no such folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).with_context(|| display_path(folder))?;
    let mut files = Vec::new();
    for entry in entries {
        files.push(entry?.path());
    }
    files.sort();
    Ok(files)
}

/// Parses the steps that the first line of a wrong submission names.
fn parse_steps(path: &Path, text: &str, lang: Lang) -> Result<String> {
    let first = text.lines().next().unwrap_or_default();
    let steps = first.strip_prefix(REJECTED_AT).unwrap_or_default();
    let names = Step::ALL.map(Step::name);
    if steps.is_empty() || !steps.split(", ").all(|step| names.contains(&step)) {
        bail!(localize!(
            lang,
            "{}, line 1: it must name the step that rejects the submission, for example `// \
             Rejected at: right`; the steps are {}",
            "{} 第 1 行：应写明拒绝这份答案的步骤，例如 `// Rejected at: right`；步骤有 {}";
            display_path(path), names.join(", ")
        ));
    }
    Ok(steps.to_owned())
}

/// Returns the text that the message must contain, if the second line of a wrong submission gives one.
fn parse_message_part(text: &str) -> Option<String> {
    let second = text.lines().nth(1)?;
    second
        .strip_prefix(MESSAGE_PART)
        .map(|part| part.trim().to_owned())
}

/// Compares the verdict with the expected one. Returns whether they agree and a description of the verdict.
fn compare(record: &Record, expected: &Expected, lang: Lang) -> (bool, String) {
    let passed_text = || lang.pick("passed", "通过").to_owned();
    let rejected_at = |step: &str| localize!(lang, "rejected at {}", "在 {} 步未通过"; step);
    let actual = match record.step {
        Some(step) => rejected_at(step.name()),
        None => passed_text(),
    };
    let (is_expected, expected_text) = match expected {
        Expected::Passed => (record.passed, passed_text()),
        Expected::Rejected(steps, part) => {
            let at_step = record
                .step
                .is_some_and(|step| steps.split(", ").any(|name| name == step.name()));
            // The expected text is in English.
            let message = record
                .messages
                .as_ref()
                .map_or("", |text| text.get(Lang::En));
            let words: Vec<&str> = message.split_whitespace().collect();
            let missing = part
                .as_ref()
                .filter(|part| !words.join(" ").contains(part.as_str()));
            match missing {
                Some(part) if at_step => (false, format!("{}: '{part}'", rejected_at(steps))),
                _ => (at_step, rejected_at(steps)),
            }
        }
    };
    let actual = match is_expected {
        true => actual,
        false => localize!(lang, "{}, expected: {}", "{}，应为：{}"; actual, expected_text),
    };
    (is_expected, actual)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_submissions_must_name_known_steps() {
        let parse = |text| parse_steps(Path::new("a.cu"), text, Lang::En);
        assert_eq!(
            parse("// Rejected at: launch, right\nx").unwrap(),
            "launch, right"
        );
        assert_eq!(parse_message_part("// Rejected at: right\nx"), None);
        let part = parse_message_part("// Rejected at: right\n// Says: got 7\nx");
        assert_eq!(part.as_deref(), Some("got 7"));
        for text in ["", "x", "// Rejected at: ", "// Rejected at: reight"] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains("a.cu, line 1"), "{error}");
        }
    }
}
