//! A class's results as tables: CSV in the column layouts that other programs import, and lines on the terminal.

use anyhow::Result;
use chapter::lang::Lang;
use clap::ValueEnum;

use super::marks::format_points;
use super::{Class, Marks, Outcome, StudentResult};
use crate::report;
use crate::text::{WIDTH, columns, in_a_line, pad_left, pad_right, wrapped};

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
            Columns::Plain => plain_table(class, marks),
            Columns::Excel => Ok(format!("\u{feff}{}", plain_table(class, marks)?)),
            Columns::Moodle => points(class, marks, &["Username", SUM], None),
            Columns::Canvas => {
                let head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"];
                points(class, marks, &head, Some("    Points Possible"))
            }
        }
    }
}

impl Class {
    /// Returns a student's results.
    pub(super) fn results_of(&self, student: &str) -> Vec<&StudentResult> {
        let results = self.results.iter();
        results.filter(|result| result.student == student).collect()
    }
}

/// Returns the number of passed exercises.
pub fn passed(results: &[&StudentResult]) -> usize {
    let passed = |result: &&&StudentResult| result.outcome == Outcome::Passed;
    results.iter().filter(passed).count()
}

/// Returns the sum of the points of a student's results.
pub fn total(class: &Class, marks: &Marks, results: &[&StudentResult]) -> f64 {
    let points = results.iter();
    points
        .filter_map(|result| marks.points(class, result))
        .sum()
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
        let mut labels = vec![String::new(); head.len()];
        labels[0] = first.to_owned();
        writer.write_record(labels.into_iter().chain(maxima))?;
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
fn points_of(class: &Class, marks: Option<&Marks>, result: &StudentResult) -> Option<f64> {
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
pub fn label(result: &StudentResult, lang: Lang) -> &'static str {
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

/// Formats the table as CSV. A cell contains `passed`, the step at which the submission was rejected,
/// `missing` or `ungraded`; the second column contains the number of passed exercises and, with marks, the
/// third the points.
///
/// # Errors
///
/// Fails only if CSV cannot be written to memory.
fn plain_table(class: &Class, marks: Option<&Marks>) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let head = ["student", "passed"].into_iter();
    let head = head.chain(marks.map(|_| "points"));
    writer.write_record(head.chain(class.exercises.iter().map(String::as_str)))?;
    for student in &class.students {
        let results = class.results_of(student);
        let cells = class.exercises.iter().map(|exercise| {
            let result = results.iter().find(|result| result.exercise == *exercise);
            outcome_label(result.copied())
        });
        let first = [escape_formula(student), passed(&results).to_string()].into_iter();
        let points = marks.map(|marks| format_points(total(class, marks, &results)));
        writer.write_record(first.chain(points).chain(cells.map(str::to_owned)))?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// Returns a one-word label for a result, as used in records.
fn outcome_label(result: Option<&StudentResult>) -> &'static str {
    match result.map(|result| (result.outcome, result.step)) {
        Some((Outcome::Passed, _)) => "passed",
        Some((Outcome::Rejected, step)) => step.map_or("rejected", |step| step.name()),
        Some((Outcome::Missing, _)) => "missing",
        Some((Outcome::Ungraded, _)) => "ungraded",
        // The result belongs to another shard.
        None => "",
    }
}

/// Quotes a name that a spreadsheet would read as a formula.
pub fn escape_formula(name: &str) -> String {
    match name.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        true => format!("'{name}"),
        false => name.to_owned(),
    }
}

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
        let results = class.results_of(student);
        let exercises = class.exercises.iter();
        let signs = exercises.map(|exercise| sign(class.result(student, exercise)));
        let signs: String = signs.collect();
        let mut line = format!(
            "{}  {signs}  {}",
            pad_right(name, width),
            pad_left(
                &passed(&results).to_string(),
                class.exercises.len().to_string().len()
            )
        );
        if let Some(marks) = marks {
            let points = format_points(total(class, marks, &results));
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

fn sign(result: Option<&StudentResult>) -> char {
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

/// Returns a class for tests.
#[cfg(test)]
pub fn sample(exercises: &[&str], students: &[&str], results: Vec<StudentResult>) -> Class {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    Class {
        seed: 1,
        shard: None,
        exercises: names(exercises),
        students: names(students),
        results,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class;
    use crate::class::record::sample::result;
    use crate::data::Step;

    fn class() -> Class {
        let results = vec![
            result("ann", "01-first-thread", Outcome::Passed, None),
            result("ann", "02-tail", Outcome::Rejected, Some(Step::Checks)),
            result("李雷", "01-first-thread", Outcome::Ungraded, None),
            result("李雷", "02-tail", Outcome::Missing, None),
        ];
        sample(&["01-first-thread", "02-tail"], &["ann", "李雷"], results)
    }

    #[test]
    fn each_importer_gets_its_columns() {
        let table = |columns: Columns| columns.table(&class(), None).unwrap();
        let excel = table(Columns::Excel);
        assert!(excel.starts_with("\u{feff}student,passed,"), "{excel}");
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
        for (columns, end) in [
            (Columns::Moodle, "\n+4912345,,,\n'=1+1,,,\n"),
            (
                Columns::Canvas,
                "\n'+4912345,,,+4912345,,,\n'=1+1,,,'=1+1,,,\n",
            ),
        ] {
            assert!(table(columns).ends_with(end), "{}", table(columns));
        }
    }

    #[test]
    fn the_table_has_one_row_per_student_and_no_formulas() {
        let result = |student: &str, exercise: &str, outcome, step| class::StudentResult {
            message: "a, \"b\"".to_owned(),
            ..class::record::sample::result(student, exercise, outcome, step)
        };
        let results = vec![
            result("=ann", "01-a", Outcome::Passed, None),
            result("=ann", "02-b", Outcome::Rejected, Some(Step::Checks)),
            result("bob, \"junior\"", "01-a", Outcome::Missing, None),
        ];
        let class = sample(&["01-a", "02-b"], &["=ann", "bob, \"junior\""], results);
        assert_eq!(
            plain_table(&class, None).unwrap(),
            "student,passed,01-a,02-b\n'=ann,1,passed,checks\n\"bob, \"\"junior\"\"\",0,missing,\n"
        );
    }

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
