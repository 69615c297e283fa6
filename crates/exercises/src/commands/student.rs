//! The commands with which a student works on exercises: the progress, statements, hints, the list, solutions, and
//! restoring a start file.

use anyhow::{Result, bail};
use chapter::lang::Lang;
use serde::Serialize;

use super::Context;
use crate::data::Kind;
use crate::files::display_path;
use crate::grade::find_compiler;
use crate::text::{WIDTH, fit, pad_right};
use crate::{output, report};

/// Prints the student's progress, the next exercise's statement and the commands to continue with.
pub fn status(context: &Context) -> Result<()> {
    let lang = context.lang;
    if context.json {
        return list(context);
    }
    let progress = context.workspace.progress(lang)?;
    output::line(localize!(
        lang,
        "{} of {} exercises passed.\n",
        "共 {1} 道练习，已通过 {0} 道。\n";
        progress.passed_count(context.course), context.course.exercises.len()
    ))?;
    let Some(next) = progress.next(context.course) else {
        return output::line(localize!(
            lang,
            "You have passed all exercises. Well done!",
            "全部完成，祝贺！"
        ));
    };
    let statement = report::statement(context.course, next, &progress, lang);
    output::line(format!("{statement}\n"))?;
    output::line(localize!(
        lang,
        "Edit    {0}\nCheck   {1} check {2}\nHint    {1} hint {2}",
        "编辑    {0}\n评分    {1} check {2}\n提示    {1} hint {2}";
        context.workspace.display_path(next), context.course.command_line(), next.name()
    ))?;
    // Look for the compiler now, so that a missing one is reported before the student starts writing.
    let clang = find_compiler(lang)?;
    output::line(localize!(lang, "Compiled with {}.", "用 {} 编译。"; clang.name()))
}

/// Prints the statement of the named exercise or of the next one.
pub fn statement(context: &Context, name: Option<&str>) -> Result<()> {
    let lang = context.lang;
    let exercise = context.exercise(name)?;
    if context.json {
        let data = exercise.data();
        let needs = data
            .needs
            .iter()
            .filter_map(|name| context.course.find(name));
        let needs: Vec<&str> = needs.map(|before| before.name()).collect();
        let record = serde_json::json!({
            "exercise": exercise.name(),
            "title": data.title.get(lang),
            "chapter": data.chapter,
            "needs": needs,
            "file": context.workspace.display_path(exercise),
            "statement": exercise.statement(lang),
        });
        return output::json(&record);
    }
    let progress = context.workspace.progress(lang)?;
    output::line(report::statement(context.course, exercise, &progress, lang))?;
    let file = context.workspace.display_path(exercise);
    output::line(localize!(lang, "\nEdit    {}", "\n编辑    {}"; file))
}

/// Prints the hints shown before and the next one.
pub fn hint(context: &Context, name: Option<&str>) -> Result<()> {
    let lang = context.lang;
    let exercise = context.exercise(name)?;
    let hints = &exercise.data().hints;
    let mut revealed = 0;
    context.workspace.change(lang, |progress| {
        revealed = progress.reveal_hint(exercise, hints.len());
    })?;

    let texts = hints.iter().take(revealed).map(|hint| hint.get(lang));
    if context.json {
        let record = serde_json::json!({
            "exercise": exercise.name(),
            "hints": texts.collect::<Vec<_>>(),
            "of": hints.len(),
        });
        return output::json(&record);
    }
    for (number, text) in texts.enumerate() {
        let hint = format!("{}/{}  {text}\n", number + 1, hints.len());
        output::line(fit(&hint, WIDTH) + "\n")?;
    }
    output::line(match revealed < hints.len() {
        true => localize!(
            lang,
            "For another hint, run the same command again.",
            "还想要提示，请再运行一次同样的命令。"
        ),
        false => localize!(
            lang,
            "There are no more hints. To see the solution:\n{} solution {} --give-up",
            "没有更多提示了。查看参考答案：\n{} solution {} --give-up";
            context.course.command_line(), exercise.name()
        ),
    })
}

/// The JSON record of an exercise.
#[derive(Serialize)]
struct Row<'a> {
    exercise: &'a str,
    title: String,
    chapter: String,
    kind: Kind,
    passed: bool,
    file: String,
}

/// Prints all exercises and marks those that have passed and the next one.
pub fn list(context: &Context) -> Result<()> {
    let lang = context.lang;
    let progress = context.workspace.progress(lang)?;
    let mut rows = Vec::new();
    for exercise in &context.course.exercises {
        let data = exercise.data();
        rows.push(Row {
            exercise: exercise.name(),
            title: data.title.get(lang).to_owned(),
            chapter: data.chapter.clone(),
            kind: data.kind,
            passed: progress.has_passed(exercise),
            file: context.workspace.display_path(exercise),
        });
    }
    if context.json {
        return output::json(&rows);
    }
    let next = progress
        .next(context.course)
        .map(|exercise| exercise.name());
    let longest = rows.iter().map(|row| row.exercise.len()).max().unwrap_or(0);
    let mut chapter = "";
    for row in &rows {
        let mark = match row {
            row if row.passed => "✓",
            row if Some(row.exercise) == next => "→",
            _ => " ",
        };
        if row.chapter != chapter {
            chapter = &row.chapter;
            output::line(chapter)?;
        }
        output::line(format!(
            "  {mark} {}  {}  {}",
            pad_right(row.exercise, longest),
            pad_right(kind_label(row.kind, lang), lang.pick(8, 12)),
            row.title
        ))?;
    }
    output::line(localize!(
        lang,
        "\n{} of {} exercises passed.",
        "\n共 {1} 道练习，已通过 {0} 道。";
        progress.passed_count(context.course), context.course.exercises.len()
    ))
}

/// Returns a one-word label for a kind of exercise.
fn kind_label(kind: Kind, lang: Lang) -> &'static str {
    match kind {
        Kind::Complete => lang.pick("complete", "补全"),
        Kind::Bug => lang.pick("bug", "找错"),
        Kind::Coalesce => lang.pick("coalesce", "合并访问"),
        Kind::Banks => lang.pick("banks", "存储体冲突"),
        Kind::Constant => lang.pick("constant", "常量内存"),
        Kind::Choose => lang.pick("choose", "选择内存"),
        Kind::Events => lang.pick("events", "事件计时"),
        Kind::Predict => lang.pick("predict", "预测"),
        Kind::Limit => lang.pick("limit", "逼近极限"),
    }
}

/// Prints the solution if the student has passed or gives up.
pub fn solution(context: &Context, name: &str, give_up: bool) -> Result<()> {
    let lang = context.lang;
    let exercise = context.exercise(Some(name))?;
    if !give_up && !context.workspace.progress(lang)?.has_passed(exercise) {
        bail!(localize!(
            lang,
            "your submission to {0} has not passed yet: run `{1} hint {0}` for a hint, or use \
             --give-up to see the solution anyway",
            "你对 {0} 的答案还没有通过：可以用 `{1} hint {0}` 获取提示，或者用 --give-up 直接查看参考答案";
            exercise.name(), context.course.command_line()
        ));
    }
    if context.json {
        let record = serde_json::json!({
            "exercise": exercise.name(), "solution": exercise.solution(),
        });
        return output::json(&record);
    }
    output::text(exercise.solution())
}

/// Restores the start file and prints the name under which the student's text was saved.
pub fn reset(context: &Context, name: &str) -> Result<()> {
    let lang = context.lang;
    let exercise = context.exercise(Some(name))?;
    // Read the progress first, so that an unreadable progress file is reported before any file changes.
    context.workspace.progress(lang)?;
    let saved = context.workspace.reset(exercise)?;
    context.workspace.change(lang, |progress| {
        progress.set_passed(exercise, false);
        progress.hints.remove(exercise.name());
    })?;

    let file = context.workspace.display_path(exercise);
    let saved = saved.map(|saved| display_path(&saved));
    if context.json {
        let record = serde_json::json!({
            "exercise": exercise.name(), "file": file, "kept": saved,
        });
        return output::json(&record);
    }
    output::line(match saved {
        Some(saved) => localize!(
            lang,
            "{} is restored to the start file; your version is saved in {}.",
            "{} 已恢复为初始内容；你写的内容保存在 {}。";
            file, saved
        ),
        None => localize!(
            lang,
            "{} is the start file.",
            "{} 已是初始内容。";
            file
        ),
    })
}
