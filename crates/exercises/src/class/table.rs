//! A class's table: a row a student, a column an exercise.

use anyhow::Result;

use super::{Class, Outcome};

/// The table as CSV. A cell says `passed`, the step at which the answer was rejected, `missing` or
/// `ungraded`; the second column how many passed.
///
/// # Errors
///
/// None that a text in memory could have.
pub fn table(class: &Class) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let head = ["student", "passed"].into_iter();
    writer.write_record(head.chain(class.exercises.iter().map(String::as_str)))?;
    for student in &class.students {
        let of = class.results.iter().filter(|it| it.student == *student);
        let of: Vec<_> = of.collect();
        let passed = of.iter().filter(|it| it.outcome == Outcome::Passed).count();
        let cells = class.exercises.iter().map(|exercise| {
            let found = of.iter().find(|it| it.exercise == *exercise);
            match found.map(|it| (it.outcome, it.step)) {
                Some((Outcome::Passed, _)) => "passed",
                Some((Outcome::Rejected, step)) => step.map_or("rejected", |step| step.name()),
                Some((Outcome::Missing, _)) => "missing",
                Some((Outcome::Ungraded, _)) => "ungraded",
                // Of another part.
                None => "",
            }
        });
        let first = [plain(student), passed.to_string()];
        writer.write_record(first.into_iter().chain(cells.map(str::to_owned)))?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// A name that a spreadsheet takes for no formula.
fn plain(name: &str) -> String {
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
    fn a_row_a_student_and_no_formulas() {
        let result = |student: &str, exercise: &str, outcome, step| class::Result {
            student: student.to_owned(),
            exercise: exercise.to_owned(),
            outcome,
            step,
            size: Vec::new(),
            message: "a, \"b\"".to_owned(),
            targets: Vec::new(),
            time: None,
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
            table(&class).unwrap(),
            "student,passed,01-a,02-b\n'=ann,1,passed,checks\n\"bob, \"\"junior\"\"\",0,missing,\n"
        );
    }
}
