//! Tests of points, deadlines, and errors in the teacher's marks file.

use super::super::record::sample;
use super::*;

const FILE: &str = r#"
points = 2
total = 10
deadline = 2026-10-12T23:59:00+08:00
late = 0.25
steps = { counters = 0.5 }
[[exercise]]
name = "06"
points = 6
deadline = 2026-10-19T23:59:00+08:00
"#;

fn class() -> Class {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    Class {
        seed: 1,
        shard: None,
        exercises: names(&["01-first-thread", "02-tail", "06-fields"]),
        students: names(&["ann"]),
        results: Vec::new(),
    }
}

fn points(exercise: &str, outcome: Outcome, step: Option<Step>, handed_in: i64) -> Option<f64> {
    let marks = Marks::parse(FILE, &Course::built_in().unwrap(), Lang::En).unwrap();
    let result = super::super::StudentResult {
        handed_in: Some(handed_in),
        ..sample::result("ann", exercise, outcome, step)
    };
    marks.points(&class(), &result)
}

/// The default deadline, in seconds since 1970.
const DUE: i64 = 1_791_820_740;
const DAY: i64 = 86_400;

#[test]
fn points_are_scaled_and_reduced_when_late() {
    use Outcome::{Missing, Passed, Rejected, Ungraded};
    let exercise = "01-first-thread";
    assert_eq!(points(exercise, Passed, None, DUE), Some(2.0));
    assert_eq!(points("06-fields", Passed, None, DUE + 7 * DAY), Some(6.0));
    assert_eq!(points(exercise, Passed, None, DUE + 1), Some(1.5));
    assert_eq!(points(exercise, Passed, None, DUE + DAY), Some(1.5));
    assert_eq!(points(exercise, Passed, None, DUE + DAY + 1), Some(1.0));
    assert_eq!(points(exercise, Passed, None, DUE + 90 * DAY), Some(0.0));
    assert_eq!(
        points(exercise, Rejected, Some(Step::Counters), DUE),
        Some(1.0)
    );
    assert_eq!(
        points(exercise, Rejected, Some(Step::Right), DUE),
        Some(0.0)
    );
    assert_eq!(points(exercise, Missing, None, DUE), Some(0.0));
    assert_eq!(points(exercise, Ungraded, None, DUE), None);
}

#[test]
fn invalid_marks_are_reported() {
    let course = Course::built_in().unwrap();
    for (text, expected) in [
        ("point = 1", "line 1"),
        ("\npoints = \"many\"", "line 2"),
        ("points = -1", "0 or more"),
        ("late = 2", "from 0 to 1"),
        ("[steps]\ncounter = 0.5", "no step counter"),
        ("[[exercise]]\nname = \"99\"", "no exercise '99'"),
        (
            "[[exercise]]\nname = \"1\"\n[[exercise]]\nname = \"01\"",
            "01-first-thread is listed twice",
        ),
        ("deadline = 2026-10-12", "2026-10-12"),
        ("deadline = 2026-10-12T23:59:00", "+08:00"),
        ("by = \"mail\"", "line 1"),
    ] {
        let error = format!(
            "{:#}",
            Marks::parse(text, &course, Lang::En).expect_err(text)
        );
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn points_have_no_trailing_zeros() {
    for (points, text) in [
        (0.0, "0"),
        (1.0, "1"),
        (10.0, "10"),
        (2.5, "2.5"),
        (1.0 / 3.0, "0.33"),
    ] {
        assert_eq!(format_points(points), text);
    }
}
