//! A class's table on the terminal: one line per student, one mark per exercise.

use super::marks::format_points;
use super::{Class, Marks, Outcome};
use crate::lang::Lang;
use crate::text::{WIDTH, columns, in_a_line, pad_left, pad_right, wrapped};

/// The maximum width of a name, in columns.
const MAX_NAME_WIDTH: usize = 24;
/// The maximum number of students shown; the files contain all of them.
const MAX_STUDENTS: usize = 40;

/// Formats the table in lines of at most 80 columns.
pub fn screen(class: &Class, marks: Option<&Marks>, lang: Lang) -> String {
    let listed = class.students.iter().take(MAX_STUDENTS);
    let names: Vec<String> = listed.map(|name| truncate_name(&in_a_line(name))).collect();
    let width = names.iter().map(|name| columns(name)).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (student, name) in class.students.iter().zip(&names) {
        let results = class
            .exercises
            .iter()
            .map(|exercise| class.result(student, exercise));
        let results: Vec<_> = results.collect();
        let passed = results
            .iter()
            .flatten()
            .filter(|result| result.outcome == Outcome::Passed)
            .count();
        let signs: String = results.iter().map(|result| sign(*result)).collect();
        let mut line = format!(
            "{}  {signs}  {}",
            pad_right(name, width),
            pad_left(&passed.to_string(), class.exercises.len().to_string().len())
        );
        if let Some(marks) = marks {
            let points = results
                .iter()
                .flatten()
                .filter_map(|result| marks.points(class, result));
            let points = format_points(points.sum());
            line += &localize!(lang, "  {} points", "  {} 分"; pad_left(&points, 6));
        }
        lines.push(line);
    }
    if class.students.len() > MAX_STUDENTS {
        lines.push(
            localize!(lang, "… and {} more", "……还有 {} 名"; class.students.len() - MAX_STUDENTS),
        );
    }
    let first = class.exercises.first().map_or("", String::as_str);
    let last = class.exercises.last().map_or("", String::as_str);
    let legend = localize!(
        lang,
        "From {} to {}, and the number passed: ✓ passed, ✗ rejected, · missing, ? ungraded",
        "从 {} 到 {}，以及通过的份数：✓ 通过，✗ 未通过，· 缺交，? 未能评分";
        first, last
    );
    lines.extend(wrapped(&legend, WIDTH));
    lines.join("\n")
}

fn sign(result: Option<&super::StudentResult>) -> char {
    match result.map(|result| result.outcome) {
        Some(Outcome::Passed) => '✓',
        Some(Outcome::Rejected) => '✗',
        Some(Outcome::Missing) => '·',
        Some(Outcome::Ungraded) => '?',
        // The result belongs to another shard.
        None => ' ',
    }
}

/// Truncates a name to its maximum width.
fn truncate_name(name: &str) -> String {
    if columns(name) <= MAX_NAME_WIDTH {
        return name.to_owned();
    }
    let mut short = String::new();
    for character in name.chars() {
        if columns(&short) + 3 > MAX_NAME_WIDTH {
            break;
        }
        short.push(character);
    }
    short + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_truncated() {
        assert_eq!(truncate_name("ann"), "ann");
        let long = truncate_name(&"李".repeat(40));
        assert!(
            columns(&long) <= MAX_NAME_WIDTH && long.ends_with('…'),
            "{long}"
        );
    }
}
