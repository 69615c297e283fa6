//! A class's table: one row per student, one column per exercise.

use anyhow::Result;

use super::marks::format_points;
use super::{Class, Marks, Outcome};

/// Formats the table as CSV. A cell contains `passed`, the step at which the submission was rejected,
/// `missing` or `ungraded`; the second column contains the number of passed exercises and, with marks, the
/// third the points.
///
/// # Errors
///
/// Fails only if CSV cannot be written to memory.
pub fn table(class: &Class, marks: Option<&Marks>) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let head = ["student", "passed"].into_iter();
    let head = head.chain(marks.map(|_| "points"));
    writer.write_record(head.chain(class.exercises.iter().map(String::as_str)))?;
    for student in &class.students {
        let results = class
            .results
            .iter()
            .filter(|result| result.student == *student);
        let results: Vec<_> = results.collect();
        let passed = results
            .iter()
            .filter(|result| result.outcome == Outcome::Passed)
            .count();
        let cells = class.exercises.iter().map(|exercise| {
            let result = results.iter().find(|result| result.exercise == *exercise);
            outcome_label(result.copied())
        });
        let first = [escape_formula(student), passed.to_string()].into_iter();
        let points = marks.map(|marks| {
            let points = results
                .iter()
                .filter_map(|result| marks.points(class, result));
            format_points(points.sum())
        });
        writer.write_record(first.chain(points).chain(cells.map(str::to_owned)))?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// Returns a one-word label for a result, as used in records.
pub fn outcome_label(result: Option<&super::StudentResult>) -> &'static str {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class;
    use crate::data::Step;

    #[test]
    fn the_table_has_one_row_per_student_and_no_formulas() {
        let result = |student: &str, exercise: &str, outcome, step| class::StudentResult {
            message: "a, \"b\"".to_owned(),
            ..class::record::sample::result(student, exercise, outcome, step)
        };
        let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        let class = Class {
            seed: 1,
            shard: None,
            exercises: names(["01-a", "02-b"]),
            students: names(["=ann", "bob, \"junior\""]),
            results: vec![
                result("=ann", "01-a", Outcome::Passed, None),
                result("=ann", "02-b", Outcome::Rejected, Some(Step::Checks)),
                result("bob, \"junior\"", "01-a", Outcome::Missing, None),
            ],
        };
        assert_eq!(
            table(&class, None).unwrap(),
            "student,passed,01-a,02-b\n'=ann,1,passed,checks\n\"bob, \"\"junior\"\"\",0,missing,\n"
        );
    }
}
