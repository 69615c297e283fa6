//! CSV tables of a class's results in the column layouts that other programs import.

use anyhow::Result;
use clap::ValueEnum;

use super::marks::format_points;
use super::table::{self, escape_formula, outcome_label};
use super::{Class, Marks, Outcome};
use crate::lang::Lang;
use crate::report;

/// The program that will import the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Columns {
    /// Programs that read CSV.
    #[default]
    Plain,
    /// Excel, which reads a file as UTF-8 only if it starts with a byte-order mark.
    Excel,
    /// Moodle's import of grades.
    Moodle,
    /// Canvas's import of grades.
    Canvas,
}

impl Columns {
    /// Formats the results as CSV, one row per student. Without marks, each exercise is worth one point.
    ///
    /// # Errors
    ///
    /// Fails only if CSV cannot be written to memory.
    pub fn table(self, class: &Class, marks: Option<&Marks>) -> Result<String> {
        match self {
            Columns::Plain => table::table(class, marks),
            Columns::Excel => Ok(format!("\u{feff}{}", table::table(class, marks)?)),
            Columns::Moodle => points(class, marks, &["Username", SUM], None),
            Columns::Canvas => {
                let head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"];
                points(class, marks, &head, Some("    Points Possible"))
            }
        }
    }
}

/// The column with a student's total, for importers that take one grade; Moodle lets the teacher map each
/// column.
const SUM: &str = "Points";

/// Formats a table with one row per student and one column of points per exercise; `head` holds the names by
/// which the importer recognizes its columns. Cells of ungraded submissions, and totals that include one, are
/// empty.
fn points(
    class: &Class,
    marks: Option<&Marks>,
    head: &[&str],
    possible: Option<&str>,
) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = class.exercises.iter().map(String::as_str);
    writer.write_record(head.iter().copied().chain(names))?;
    if let Some(first) = possible {
        let maxima = class.exercises.iter().map(|exercise| {
            marks.map_or("1".to_owned(), |marks| {
                format_points(marks.max_points(class, exercise))
            })
        });
        let labels = head.iter().enumerate();
        let labels = labels.map(|(index, _)| {
            if index == 0 {
                first.to_owned()
            } else {
                String::new()
            }
        });
        writer.write_record(labels.chain(maxima))?;
    }
    for student in &class.students {
        let points = class.exercises.iter().map(|exercise| {
            let result = class.result(student, exercise)?;
            points_of(class, marks, result)
        });
        let points: Vec<Option<f64>> = points.collect();
        let format_cell = |points: Option<f64>| points.map(format_points).unwrap_or_default();
        let sum: Option<f64> = points.iter().copied().sum();
        let identity = head.iter().map(|column| match *column {
            "Username" | "SIS Login ID" => login(student),
            "Student" => escape_formula(student),
            SUM => format_cell(sum),
            _ => String::new(),
        });
        let cells = points.iter().copied().map(format_cell);
        writer.write_record(identity.chain(cells))?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// Returns the points of a result; `None` if the submission could not be graded.
fn points_of(class: &Class, marks: Option<&Marks>, result: &super::StudentResult) -> Option<f64> {
    match (marks, result.outcome) {
        (Some(marks), _) => marks.points(class, result),
        (None, Outcome::Ungraded) => None,
        (None, outcome) => Some(f64::from(u8::from(outcome == Outcome::Passed))),
    }
}

/// Formats a student's name as a login: unchanged if it can be one (`+4912345`), because importers look it up
/// literally; otherwise quoted so that a spreadsheet does not read it as a formula.
fn login(name: &str) -> String {
    let is_login = |character: char| character.is_alphanumeric() || "-._@+".contains(character);
    match name.chars().all(is_login) {
        true => name.to_owned(),
        false => escape_formula(name),
    }
}

/// Returns a one-word label for a result, in the reader's language.
pub fn label(result: &super::StudentResult, lang: Lang) -> &'static str {
    match (lang, result.outcome) {
        (Lang::En, _) => outcome_label(Some(result)),
        (Lang::Zh, Outcome::Passed) => "通过",
        (Lang::Zh, Outcome::Rejected) => result
            .step
            .map_or("未通过", |step| report::step_headline(step, lang)),
        (Lang::Zh, Outcome::Missing) => "缺交",
        (Lang::Zh, Outcome::Ungraded) => "未能评分",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::record::sample::result;
    use crate::data::Step;

    fn class() -> Class {
        let names = |names: &[&str]| {
            names
                .iter()
                .map(|&name| name.to_owned())
                .collect::<Vec<String>>()
        };
        Class {
            seed: 1,
            shard: None,
            exercises: names(&["01-first-thread", "02-tail"]),
            students: names(&["ann", "李雷"]),
            results: vec![
                result("ann", "01-first-thread", Outcome::Passed, None),
                result("ann", "02-tail", Outcome::Rejected, Some(Step::Checks)),
                result("李雷", "01-first-thread", Outcome::Ungraded, None),
                result("李雷", "02-tail", Outcome::Missing, None),
            ],
        }
    }

    #[test]
    fn each_importer_gets_its_columns() {
        let table = |columns: Columns| columns.table(&class(), None).unwrap();
        let excel = table(Columns::Excel);
        assert!(
            excel.as_bytes().starts_with(b"\xef\xbb\xbfstudent,passed,"),
            "{excel}"
        );
        assert!(excel.contains("\n李雷,0,ungraded,missing\n"), "{excel}");
        assert_eq!(
            table(Columns::Moodle),
            "Username,Points,01-first-thread,02-tail\nann,1,1,0\n李雷,,,0\n"
        );
        assert_eq!(
            table(Columns::Canvas),
            "Student,ID,SIS User ID,SIS Login ID,Section,01-first-thread,02-tail\n\
             \"    Points Possible\",,,,,1,1\nann,,,ann,,1,0\n李雷,,,李雷,,,0\n"
                .replace('"', "")
        );
    }

    #[test]
    fn logins_are_written_literally_and_formulas_are_escaped() {
        let mut class = class();
        let [number, formula] = ["+4912345", "=1+1"].map(str::to_owned);
        class.results.clear();
        class.students = vec![number, formula];
        let table = |columns: Columns| columns.table(&class, None).unwrap();
        assert!(
            table(Columns::Moodle).ends_with("\n+4912345,,,\n'=1+1,,,\n"),
            "{}",
            table(Columns::Moodle)
        );
        assert!(
            table(Columns::Canvas).ends_with("\n'+4912345,,,+4912345,,,\n'=1+1,,,'=1+1,,,\n"),
            "{}",
            table(Columns::Canvas)
        );
    }
}
