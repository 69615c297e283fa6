//! Reports of a submission's result for the student, as text.

use chapter::lang::Lang;
use chapter::number::grouped;

use crate::course::{Course, Exercise};
use crate::data::Step;
use crate::grade::{self, FailureKind, Record};
use crate::text::{WIDTH, columns, fit, pad_left, pad_right, reflow, spell_out_links, wrapped};
use crate::workspace::Progress;

/// Formats a result in one line: `✗ 02-tail  does not run through, at size 31`.
pub fn summary(exercise: &Exercise, record: &Record, lang: Lang) -> String {
    let Some(failed) = record.step else {
        return format!("✓ {}", record.exercise);
    };
    let size_text = match record.size.is_empty() {
        true => String::new(),
        false => {
            let size = format_exercise_size(exercise, &record.size);
            localize!(lang, ", at size {}", "，规模 {}"; size)
        }
    };
    let headline = match record.kind {
        Some(kind) => kind_headline(kind, lang),
        None => step_headline(failed, lang),
    };
    format!("✗ {}  {headline}{size_text}", record.exercise)
}

/// Formats the complete report of a result.
pub fn full_report(exercise: &Exercise, record: &Record, counters: bool, lang: Lang) -> String {
    let mut parts = vec![summary(exercise, record, lang)];
    if !record.passed {
        parts.push(format!("\n{}", record.message));
    }
    if !record.printed.is_empty() {
        let head = localize!(lang, "\nYour kernel printed:", "\n核函数的输出：");
        parts.push(format!("{head}\n{}", record.printed));
    }
    let reached = record.targets.iter().filter(|counted| counted.reached);
    let reached: Vec<String> = reached
        .map(|counted| format!("  ✓ {}", grade::format_target(counted, lang)))
        .collect();
    let counters_shown = counters || !reached.is_empty() || !record.lines.is_empty();
    if let Some(size) = counted_size(exercise, record)
        && counters_shown
    {
        parts.push(localize!(
            lang,
            "\nThe counters below are those at the size {}:",
            "\n以下计数器的规模为 {}：";
            size
        ));
    }
    if !reached.is_empty() {
        parts.push(format!("\n{}", reached.join("\n")));
    }
    if let Some(timed) = record.time.as_ref().filter(|timed| timed.reached) {
        parts.push(format!("\n  ✓ {}", grade::format_times(timed, lang)));
    }
    if record.passed
        && let Some(after) = explain_solution(exercise, record, lang)
    {
        parts.push(format!("\n{after}"));
    }
    if record.passed && record.device.starts_with("GPU") {
        parts.push(match record.time {
            None => localize!(
                lang,
                "\nOn a GPU only the results are graded: checks and counters need the simulator. \
                 Unset CUDA_BACKEND for a complete grading.",
                "\n在 GPU 上只评结果：错误检查和计数器需要模拟器。请取消 CUDA_BACKEND \
                 的设置以进行完整评分。"
            ),
            Some(_) => localize!(
                lang,
                "\nOn a GPU only the results and the time are graded: checks and counters need the \
                 simulator. Unset CUDA_BACKEND for a complete grading.",
                "\n在 GPU 上只评结果和用时：错误检查和计数器需要模拟器。请取消 CUDA_BACKEND \
                 的设置以进行完整评分。"
            ),
        });
    }
    if counters {
        let lines = record.counters.iter().map(|(name, value)| {
            let label = grade::counter_label(name, lang);
            format!("  {:>14}  {label}  ({name})", grouped(*value))
        });
        parts.push(format!("\n{}", lines.collect::<Vec<_>>().join("\n")));
    }
    if !record.lines.is_empty() {
        parts.push(format!("\n{}", record.lines));
    }
    if !record.device.is_empty() {
        let seed = localize!(
            lang,
            "seed {0}: `--seed {0}` reproduces the sizes and inputs",
            "种子 {0}：用 `--seed {0}` 可以重现同样的规模和输入";
            record.seed
        );
        let device = &record.device;
        parts.push(localize!(lang, "\n({}; {})", "\n（{}；{}）"; device, seed));
    }
    fit(&parts.join("\n"), WIDTH) + "\n"
}

/// Formats the size at which counters were measured, if the submission failed at another size.
fn counted_size(exercise: &Exercise, record: &Record) -> Option<String> {
    let sizes = &exercise.data().sizes;
    let graded = sizes.graded.as_ref()?;
    let is_other = !record.size.is_empty() && record.size != *graded;
    (is_other && !record.counters.is_empty()).then(|| sizes.format(graded))
}

/// Formats an exercise's statement with its prerequisites and the chapter's program.
pub fn statement(course: &Course, exercise: &Exercise, progress: &Progress, lang: Lang) -> String {
    let text = spell_out_links(exercise.statement(lang), &exercise.folder(), lang);
    let mut parts = vec![reflow(&text, WIDTH)];
    let data = exercise.data();
    let needs = data.needs.iter().filter_map(|name| course.find(name));
    let needs = needs.map(|before| match progress.has_passed(before) {
        true => format!("{} ✓", before.name()),
        false => before.name().to_owned(),
    });
    let needs: Vec<String> = needs.collect();
    if !needs.is_empty() {
        let needs = needs.join(lang.pick(", ", "、"));
        parts.push(localize!(lang, "Prerequisites: {}", "先做：{}"; needs));
    }
    if !data.chapter.is_empty() {
        parts.push(localize!(
            lang,
            "The chapter's program: crates/{}",
            "该章的程序：crates/{}";
            data.chapter
        ));
    }
    fit(&parts.join("\n\n"), WIDTH)
}

/// Explains the solution and compares its counters and time with the submission's; `None` without an
/// explanation.
fn explain_solution(exercise: &Exercise, record: &Record, lang: Lang) -> Option<String> {
    let data = exercise.data();
    let text = data.after.as_ref()?.get(lang);
    let counter_rows = record.targets.iter().filter_map(|counted| {
        let solution = counted.solution?;
        let (submission, solution) = (grouped(counted.value as u64), grouped(solution as u64));
        Some([
            grade::counter_label(&counted.counter, lang),
            submission,
            solution,
        ])
    });
    // Omit rows with zeros on both sides.
    let counter_rows =
        counter_rows.filter(|[_, submission, solution]| submission != "0" || solution != "0");
    let time = record.time.as_ref().map(|time| {
        let milliseconds = |ms: f64| format!("{ms:.5}");
        [
            lang.pick("time, ms", "用时（毫秒）").to_owned(),
            milliseconds(time.submission_ms),
            milliseconds(time.solution_ms),
        ]
    });
    let mut rows = vec![["", "yours", "solution"].map(str::to_owned)];
    if lang == Lang::Zh {
        rows = vec![["", "你的", "参考答案"].map(str::to_owned)];
    }
    rows.extend(counter_rows.chain(time));
    let max_width = |column: usize| rows.iter().map(|row| columns(&row[column])).max();
    let widths = [0, 1, 2].map(|column| max_width(column).unwrap_or(0));
    let first = widths[0].min(WIDTH - widths[1] - widths[2] - 6);
    let line = |[name, submission, solution]: &[String; 3]| {
        let mut name = wrapped(name, first);
        let last = name.pop().unwrap_or_default();
        let last = format!(
            "{}  {}  {}",
            pad_right(&last, first),
            pad_left(submission, widths[1]),
            pad_left(solution, widths[2])
        );
        name.push(last);
        name.iter()
            .map(|line| format!("  {line}"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let table: Vec<String> = match rows.len() {
        1 => Vec::new(),
        _ => rows.iter().map(line).collect(),
    };
    Some([vec![text.to_owned()], table].concat().join("\n"))
}

/// Suggests the next command.
pub fn next_step(
    course: &Course,
    exercise: &Exercise,
    record: &Record,
    progress: &Progress,
    lang: Lang,
) -> String {
    let program = course.command_line();
    let text = match (record.passed, progress.next(course)) {
        (false, _) => localize!(
            lang,
            "A hint: {} hint {}",
            "获取提示：{} hint {}";
            program, exercise.name()
        ),
        (true, Some(next)) => localize!(
            lang,
            "The solution: {0} solution {1}\nNext is {2}: {0} statement {2}",
            "参考答案：{0} solution {1}\n下一题是 {2}：{0} statement {2}";
            program, exercise.name(), next.name()
        ),
        (true, None) => localize!(lang, "All exercises have passed.", "所有练习都已通过。"),
    };
    format!("\n{text}\n")
}

/// Formats a size of an exercise: `M = 16, N = 48, P = 32` if its numbers have names.
pub fn format_exercise_size(exercise: &Exercise, numbers: &[u32]) -> String {
    exercise.data().sizes.format(numbers)
}

/// Returns a headline for a kind of failure.
fn kind_headline(kind: FailureKind, lang: Lang) -> &'static str {
    match kind {
        FailureKind::Unwritten => lang.pick("leaves elements unwritten", "有元素没有写入"),
        FailureKind::TimedOut => lang.pick("does not terminate", "没有终止"),
        FailureKind::Parameters => lang.pick(
            "has parameters that differ from the launch",
            "参数与启动时不一致",
        ),
        FailureKind::Missing => lang.pick(
            "lacks a kernel or variable that the course needs",
            "缺少课程需要的核函数或变量",
        ),
        FailureKind::Stopped => lang.pick("was stopped", "被中止"),
    }
}

/// Returns a headline for a failed step.
pub fn step_headline(step: Step, lang: Lang) -> &'static str {
    match step {
        Step::Compile => lang.pick("does not compile", "编译未通过"),
        Step::Launch => lang.pick("does not run to completion", "运行未完成"),
        Step::Right => lang.pick("has wrong results", "结果错误"),
        Step::Checks => lang.pick("has errors that the checks found", "检查发现错误"),
        Step::Counters => lang.pick("misses a target of the counters", "计数器未达标"),
        Step::Time => lang.pick("takes too long", "用时过长"),
    }
}

/// Returns a word for the activity of a step.
pub fn step_activity(step: Step, lang: Lang) -> &'static str {
    match step {
        Step::Compile => lang.pick("compiling", "编译"),
        Step::Launch => lang.pick("running", "运行"),
        Step::Right => lang.pick("comparing", "比较结果"),
        Step::Checks => lang.pick("checking", "检查错误"),
        Step::Counters => lang.pick("counting", "计数"),
        Step::Time => lang.pick("timing", "计时"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grade::{Counted, Failure, Verdict};
    use chapter::lang::Text;

    #[test]
    fn counters_of_another_size_than_the_failures_are_marked() {
        let course = Course::built_in().expect("the course");
        let exercise = course.find("12-columns").expect("the exercise");
        let graded = exercise.data().sizes.graded.clone().expect("a graded size");
        let report = |size: Vec<u32>, lang| {
            let verdict = Verdict {
                failure: Some(Failure {
                    step: Step::Time,
                    kind: None,
                    size,
                    message: Text::from_fn(|_| String::new()),
                }),
                targets: vec![Counted {
                    counter: "global_load_sectors".to_owned(),
                    kernel: None,
                    value: 8.0,
                    required: "exactly 8".to_owned(),
                    reached: true,
                    solution: None,
                }],
                counters: vec![("global_load_sectors".to_owned(), 8)],
                ..Verdict::new(1)
            };
            let record = Record::new(exercise.name(), verdict, lang);
            full_report(exercise, &record, false, lang)
        };
        for (lang, head) in [(Lang::En, "The counters below"), (Lang::Zh, "以下计数器")] {
            assert!(!report(graded.clone(), lang).contains(head));
            let other = report(vec![7, 5], lang);
            assert!(other.contains(head), "{other}");
            assert!(
                other.contains(&format_exercise_size(exercise, &graded)),
                "{other}"
            );
        }
    }
}
