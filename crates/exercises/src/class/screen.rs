//! A class's table on the terminal: one line per student, one mark per exercise.

use super::marks::written;
use super::{Class, Marks, Outcome};
use crate::lang::Lang;
use crate::report::WIDTH;
use crate::text::{columns, in_a_line, padded_left, padded_right, wrapped};

/// The maximum width of a name, in columns.
const LONGEST: usize = 24;
/// The maximum number of students shown; the files contain all of them.
const MOST: usize = 40;

/// Formats the table in lines of at most 80 columns.
pub fn screen(class: &Class, marks: Option<&Marks>, lang: Lang) -> String {
    let shown = class.students.iter().take(MOST);
    let names: Vec<String> = shown.map(|name| short(&in_a_line(name))).collect();
    let width = names.iter().map(|name| columns(name)).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (student, name) in class.students.iter().zip(&names) {
        let of = class
            .exercises
            .iter()
            .map(|exercise| class.result(student, exercise));
        let all: Vec<_> = of.collect();
        let passed = all
            .iter()
            .flatten()
            .filter(|it| it.outcome == Outcome::Passed)
            .count();
        let signs: String = all.iter().map(|it| sign(*it)).collect();
        let mut line = format!(
            "{}  {signs}  {}",
            padded_right(name, width),
            padded_left(&passed.to_string(), class.exercises.len().to_string().len())
        );
        if let Some(marks) = marks {
            let points = all
                .iter()
                .flatten()
                .filter_map(|it| marks.points(class, it));
            let points = written(points.sum());
            line += &say!(lang, "  {} points", "  {} 分"; padded_left(&points, 6));
        }
        lines.push(line);
    }
    if class.students.len() > MOST {
        lines.push(say!(lang, "… and {} more", "……还有 {} 名"; class.students.len() - MOST));
    }
    let first = class.exercises.first().map_or("", String::as_str);
    let last = class.exercises.last().map_or("", String::as_str);
    let legend = say!(
        lang,
        "From {} to {}, and how many passed: ✓ passed, ✗ rejected, · missing, ? ungraded",
        "从 {} 到 {}，以及通过的份数：✓ 通过，✗ 未通过，· 缺交，? 未能评分";
        first, last
    );
    lines.extend(wrapped(&legend, WIDTH));
    lines.join("\n")
}

fn sign(result: Option<&super::Result>) -> char {
    match result.map(|it| it.outcome) {
        Some(Outcome::Passed) => '✓',
        Some(Outcome::Rejected) => '✗',
        Some(Outcome::Missing) => '·',
        Some(Outcome::Ungraded) => '?',
        // The result belongs to another shard.
        None => ' ',
    }
}

/// Truncates a name to its maximum width.
fn short(name: &str) -> String {
    if columns(name) <= LONGEST {
        return name.to_owned();
    }
    let mut short = String::new();
    for letter in name.chars() {
        if columns(&short) + 3 > LONGEST {
            break;
        }
        short.push(letter);
    }
    short + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_to_their_columns() {
        assert_eq!(short("ann"), "ann");
        let long = short(&"李".repeat(40));
        assert!(columns(&long) <= LONGEST && long.ends_with('…'), "{long}");
    }
}
