//! What came of an answer, for the student.

use chapter::number::grouped;

use crate::data::Step;
use crate::exercise::Exercise;
use crate::grade;
use crate::lang::Lang;
use crate::progress::Progress;
use crate::record::Record;

/// In a line: `✗ 02-tail  launch, at 31`.
pub fn line(record: &Record, lang: Lang) -> String {
    let Some(failed) = record.step else {
        return format!("✓ {}", record.exercise);
    };
    let at = match record.size.is_empty() {
        true => String::new(),
        false => say!(lang, ", at size {}", "，大小 {}"; size(&record.size)),
    };
    format!("✗ {}  {}{at}", record.exercise, step(failed, lang))
}

/// All there is to say of it.
pub fn whole(record: &Record, counters: bool, lang: Lang) -> String {
    let mut parts = vec![line(record, lang)];
    if !record.passed {
        parts.push(format!("\n{}", record.message));
    }
    if !record.printed.is_empty() {
        let head = say!(lang, "\nYour kernel printed:", "\n核函数的输出：");
        parts.push(format!("{head}\n{}", record.printed));
    }
    let reached = record.targets.iter().filter(|counted| counted.reached);
    let reached: Vec<String> = reached
        .map(|counted| format!("  ✓ {}", grade::line(counted, lang)))
        .collect();
    if !reached.is_empty() {
        parts.push(format!("\n{}", reached.join("\n")));
    }
    if let Some(timed) = record.time.as_ref().filter(|timed| timed.reached) {
        parts.push(format!("\n  ✓ {}", grade::time_line(timed, lang)));
    }
    if record.passed && record.device.starts_with("GPU") {
        parts.push(match record.time {
            None => say!(
                lang,
                "\nOn a GPU the results alone are looked at: checks and counters are the simulator's. Unset \
                 CUDA_BACKEND to have all of it graded.",
                "\n在 GPU 上只检查结果：错误检查和计数器由模拟器完成。请取消 CUDA_BACKEND 的设置以进行完整评分。"
            ),
            Some(_) => say!(
                lang,
                "\nOn a GPU results and time are looked at: checks and counters are the simulator's. Unset \
                 CUDA_BACKEND to have all of it graded.",
                "\n在 GPU 上只检查结果和用时：错误检查和计数器由模拟器完成。请取消 CUDA_BACKEND 的设置以进行\
                 完整评分。"
            ),
        });
    }
    if counters {
        let lines = record.counters.iter().map(|(name, value)| {
            let plain = grade::plain(name, lang);
            format!("  {:>14}  {plain}  ({name})", grouped(*value))
        });
        parts.push(format!("\n{}", lines.collect::<Vec<_>>().join("\n")));
    }
    if !record.device.is_empty() {
        let seed = say!(
            lang,
            "seed {0}: with `--seed {0}` sizes and inputs are the same again",
            "种子 {0}：用 `--seed {0}` 可以重现同样的大小和输入";
            record.seed
        );
        let device = &record.device;
        parts.push(say!(lang, "\n({}; {})", "\n（{}；{}）"; device, seed));
    }
    parts.join("\n") + "\n"
}

/// What to do next.
pub fn onward(exercise: &Exercise, record: &Record, progress: &Progress, lang: Lang) -> String {
    let program = crate::commands::PROGRAM;
    let text = match (record.passed, progress.next()) {
        (false, _) => say!(
            lang,
            "A hint: {} hint {}",
            "获取提示：{} hint {}";
            program, exercise.name
        ),
        (true, Some(next)) => say!(
            lang,
            "Next is {}: cargo run -p exercises",
            "下一题是 {}：cargo run -p exercises";
            next.name
        ),
        (true, None) => say!(lang, "All exercises have passed.", "所有练习都已通过。"),
    };
    format!("\n{text}\n")
}

/// A size: `31`, `64 × 48`.
pub fn size(size: &[u32]) -> String {
    let numbers: Vec<String> = size.iter().map(u32::to_string).collect();
    numbers.join(" × ")
}

/// What an answer failed at, in a few words.
fn step(step: Step, lang: Lang) -> &'static str {
    match step {
        Step::Compile => lang.pick("does not compile", "编译未通过"),
        Step::Launch => lang.pick("does not run through", "运行未完成"),
        Step::Right => lang.pick("is not right", "结果不正确"),
        Step::Checks => lang.pick("has a mistake that the checks found", "检查发现错误"),
        Step::Counters => lang.pick("misses a target of the counters", "计数器未达标"),
        Step::Time => lang.pick("takes too long", "用时过长"),
    }
}

/// What is being done in a step, in a word.
pub fn doing(step: Step, lang: Lang) -> &'static str {
    match step {
        Step::Compile => lang.pick("compiling", "编译"),
        Step::Launch => lang.pick("running", "运行"),
        Step::Right => lang.pick("comparing", "比较结果"),
        Step::Checks => lang.pick("looking for mistakes", "检查错误"),
        Step::Counters => lang.pick("counting", "计数"),
        Step::Time => lang.pick("timing", "计时"),
    }
}
