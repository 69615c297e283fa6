//! The live view's content as lines of text.

use super::{Pane, State, hints_shown};
use crate::course::EXERCISES;
use crate::report;
use crate::text::{columns, visible, wrapped};

/// Lays out the view for a terminal's width and height: head, pane, keys.
pub fn lines(state: &State, width: usize, height: usize) -> Vec<String> {
    let lang = state.course.lang;
    let title = state
        .exercise
        .data()
        .map(|data| data.title.of(lang).to_owned());
    let mut lines = vec![
        say!(
            lang,
            "{}/{}  {}: {}",
            "{}/{}  {}：{}";
            state.progress.count(), EXERCISES.len(), state.exercise.name, title.unwrap_or_default()
        ),
        format!(
            "{}  {}",
            state.course.folder.shown(state.exercise),
            now(state)
        ),
        "─".repeat(width.min(100)),
    ];
    let keys = [
        "─".repeat(width.min(100)),
        say!(
            lang,
            "n next  h hint  s statement  v verdict  l list  r again  ↑ ↓ scroll  q quit",
            "n 下一题  h 提示  s 题目  v 结果  l 列表  r 重新评分  ↑ ↓ 滚动  q 退出"
        ),
    ];
    let room = height.saturating_sub(lines.len() + keys.len());
    let body = match &state.unkept {
        Some(why) => format!("{why}\n\n{}", body(state)),
        None => body(state),
    };
    // Expand tabs, whose width depends on the terminal.
    let body = visible(&body).replace('\t', "    ");
    let mut shown: Vec<String> = body.lines().flat_map(|line| wrapped(line, width)).collect();
    if shown.len() > room {
        // Reserve the last line for the number of lines below.
        let room = room.saturating_sub(1);
        let above = state.above.get().min(shown.len() - room);
        state.above.set(above);
        state.room.set(room);
        shown.drain(..above);
        let below = shown.len().saturating_sub(room);
        shown.truncate(room);
        shown.push(match below {
            0 => say!(lang, "(the end; ↑ goes up)", "（已到末尾，↑ 向上）"),
            below => say!(
                lang,
                "… ({} more lines: ↓, or a page by the space bar)",
                "……（还有 {} 行：按 ↓，或按空格翻页）";
                below
            ),
        });
    } else {
        state.above.set(0);
    }
    shown.resize(room, String::new());
    lines.extend(shown);
    lines.extend(keys);
    lines.iter_mut().for_each(|line| cut(line, width));
    lines
}

/// Returns a line about the current grading or the last verdict.
fn now(state: &State) -> String {
    let lang = state.course.lang;
    match (&state.at, &state.last) {
        (Some((step, size)), _) if size.is_empty() => {
            say!(lang, "grading: {} …", "正在评分：{} ……"; report::doing(*step, lang))
        }
        (Some((step, size)), _) => say!(
            lang,
            "grading: {}, size {} …",
            "正在评分：{}，大小 {} ……";
            report::doing(*step, lang), report::size_of(state.exercise.name, size)
        ),
        (None, None) => say!(lang, "grading …", "正在评分 ……"),
        (None, Some(Ok(record))) if record.passed => say!(lang, "✓ passed", "✓ 通过"),
        (None, Some(_)) => say!(lang, "✗ not passed", "✗ 未通过"),
    }
}

fn body(state: &State) -> String {
    let lang = state.course.lang;
    match (state.pane, &state.last) {
        (Pane::List, _) => list(state),
        (Pane::Hint, _) => hints(state),
        (Pane::Statement, _) => report::statement(state.exercise, &state.progress, lang),
        (Pane::Report, None) => say!(lang, "It is being graded.", "正在评分。"),
        (Pane::Report, Some(Err(why))) => why.clone(),
        (Pane::Report, Some(Ok(record))) => {
            let onward = match record.passed {
                true => say!(lang, "n: the next exercise", "n：下一题"),
                false => say!(lang, "h: a hint", "h：提示"),
            };
            format!("{}\n{onward}", report::whole(record, false, lang))
        }
    }
}

fn hints(state: &State) -> String {
    let lang = state.course.lang;
    let hints = state.exercise.data().map(|data| data.hints.as_slice());
    let hints = hints.unwrap_or_default();
    let texts = hints.iter().take(hints_shown(state)).enumerate();
    let texts =
        texts.map(|(number, hint)| format!("{}/{}  {}", number + 1, hints.len(), hint.of(lang)));
    texts.collect::<Vec<_>>().join("\n\n")
}

/// Formats the list of all exercises in two columns.
fn list(state: &State) -> String {
    let rows = EXERCISES.iter().enumerate().map(|(number, exercise)| {
        let marked = if number == state.marked { '>' } else { ' ' };
        let mark = match exercise {
            it if it.name == state.exercise.name => "→",
            it if state.progress.has(it) => "✓",
            _ => " ",
        };
        format!("{marked} {mark} {:<24}", exercise.name)
    });
    let rows: Vec<String> = rows.collect();
    let half = rows.len().div_ceil(2);
    let lines = (0..half).map(|row| {
        let right = rows.get(row + half).map_or("", String::as_str);
        format!("{}  {right}", rows[row])
    });
    let lines = lines.collect::<Vec<_>>().join("\n");
    let keys = say!(
        state.course.lang,
        "↑ ↓ and Enter: work on another one",
        "↑ ↓ 选择，回车：改做所选的题"
    );
    format!("{lines}\n{keys}")
}

fn cut(line: &mut String, width: usize) {
    while columns(line) > width {
        line.pop();
    }
}
