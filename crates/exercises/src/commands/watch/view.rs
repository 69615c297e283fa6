//! The live view's content as lines of text.

use super::{Pane, State, hints_shown};
use crate::report;
use crate::text::{columns, visible, wrapped};

/// Lays out the view for a terminal's width and height: head, pane, keys.
pub fn lines(state: &State, width: usize, height: usize) -> Vec<String> {
    let lang = state.context.lang;
    let course = state.context.course;
    let title = state.exercise.data().title.get(lang);
    let mut lines = vec![
        localize!(
            lang,
            "{}/{}  {}: {}",
            "{}/{}  {}：{}";
            state.progress.passed_count(course), course.exercises.len(), state.exercise.name(), title
        ),
        format!(
            "{}  {}",
            state.context.workspace.display_path(state.exercise),
            status_line(state)
        ),
        "─".repeat(width.min(100)),
    ];
    let keys = [
        "─".repeat(width.min(100)),
        localize!(
            lang,
            "n next  h hint  s statement  v verdict  l list  r again  ↑ ↓ scroll  q quit",
            "n 下一题  h 提示  s 题目  v 结果  l 列表  r 重新评分  ↑ ↓ 滚动  q 退出"
        ),
    ];
    let visible_lines = height.saturating_sub(lines.len() + keys.len());
    let body = match &state.store_error {
        Some(reason) => format!("{reason}\n\n{}", body(state)),
        None => body(state),
    };
    // Expand tabs, whose width depends on the terminal.
    let body = visible(&body).replace('\t', "    ");
    let mut body_lines: Vec<String> = body.lines().flat_map(|line| wrapped(line, width)).collect();
    if body_lines.len() > visible_lines {
        // Reserve the last line for the number of lines below.
        let visible_lines = visible_lines.saturating_sub(1);
        let offset = state
            .scroll_offset
            .get()
            .min(body_lines.len() - visible_lines);
        state.scroll_offset.set(offset);
        state.visible_lines.set(visible_lines);
        body_lines.drain(..offset);
        let below = body_lines.len().saturating_sub(visible_lines);
        body_lines.truncate(visible_lines);
        body_lines.push(match below {
            0 => localize!(lang, "(end; ↑ scrolls up)", "（已到末尾，↑ 向上）"),
            below => localize!(
                lang,
                "… ({} more lines: ↓, or space for a page)",
                "……（还有 {} 行：按 ↓，或按空格翻页）";
                below
            ),
        });
    } else {
        state.scroll_offset.set(0);
    }
    body_lines.resize(visible_lines, String::new());
    lines.extend(body_lines);
    lines.extend(keys);
    lines.iter_mut().for_each(|line| truncate(line, width));
    lines
}

/// Returns a line about the current grading or the last verdict.
fn status_line(state: &State) -> String {
    let lang = state.context.lang;
    match (&state.position, &state.last) {
        (Some((step, size)), _) if size.is_empty() => {
            localize!(lang, "grading: {} …", "正在评分：{} ……"; report::step_activity(*step, lang))
        }
        (Some((step, size)), _) => localize!(
            lang,
            "grading: {}, size {} …",
            "正在评分：{}，规模 {} ……";
            report::step_activity(*step, lang), report::format_exercise_size(state.exercise, size)
        ),
        (None, None) => localize!(lang, "grading …", "正在评分 ……"),
        (None, Some(Ok(record))) if record.passed => localize!(lang, "✓ passed", "✓ 通过"),
        (None, Some(_)) => localize!(lang, "✗ not passed", "✗ 未通过"),
    }
}

fn body(state: &State) -> String {
    let lang = state.context.lang;
    match (state.pane, &state.last) {
        (Pane::List, _) => list(state),
        (Pane::Hint, _) => hints(state),
        (Pane::Statement, _) => {
            report::statement(state.context.course, state.exercise, &state.progress, lang)
        }
        (Pane::Report, None) => localize!(lang, "Grading is in progress.", "正在评分。"),
        (Pane::Report, Some(Err(reason))) => reason.clone(),
        (Pane::Report, Some(Ok(record))) => {
            let next_step = match record.passed {
                true => localize!(lang, "n: the next exercise", "n：下一题"),
                false => localize!(lang, "h: a hint", "h：提示"),
            };
            format!(
                "{}\n{next_step}",
                report::full_report(state.exercise, record, false, lang)
            )
        }
    }
}

fn hints(state: &State) -> String {
    let lang = state.context.lang;
    let hints = &state.exercise.data().hints;
    let texts = hints.iter().take(hints_shown(state)).enumerate();
    let texts =
        texts.map(|(number, hint)| format!("{}/{}  {}", number + 1, hints.len(), hint.get(lang)));
    texts.collect::<Vec<_>>().join("\n\n")
}

/// Formats the list of all exercises in two columns.
fn list(state: &State) -> String {
    let rows = state
        .context
        .course
        .exercises
        .iter()
        .enumerate()
        .map(|(number, exercise)| {
            let cursor = if number == state.selected { '>' } else { ' ' };
            let mark = match exercise {
                exercise if exercise.name() == state.exercise.name() => "→",
                exercise if state.progress.has_passed(exercise) => "✓",
                _ => " ",
            };
            format!("{cursor} {mark} {:<24}", exercise.name())
        });
    let rows: Vec<String> = rows.collect();
    let half = rows.len().div_ceil(2);
    let lines = (0..half).map(|row| {
        let right = rows.get(row + half).map_or("", String::as_str);
        format!("{}  {right}", rows[row])
    });
    let lines = lines.collect::<Vec<_>>().join("\n");
    let keys = localize!(
        state.context.lang,
        "↑ ↓ and Enter: open another exercise",
        "↑ ↓ 选择，回车：打开所选的题"
    );
    format!("{lines}\n{keys}")
}

fn truncate(line: &mut String, width: usize) {
    while columns(line) > width {
        line.pop();
    }
}
