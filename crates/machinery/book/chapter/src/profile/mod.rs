//! Output of `--profile`: tables of counters, advice, and the kernels' source annotated with counters; and
//! their JSON form.
//!
//! This module only reports; the simulator counts, and on a GPU a profiler does.

mod advice;
pub mod cost;
mod lines;
mod record;
#[cfg(test)]
mod sample;
mod table;

use cuda_driver::LaunchRecord;

use crate::flags::Detail;
use crate::table::wrap;

pub use lines::{Reader, listing};
pub use record::Record;

/// One launch among a report's results.
pub struct ProfiledLaunch<'a> {
    /// The input, if the report has launches of this variant on several inputs; otherwise empty.
    pub case: String,
    /// The variant's name in the chapter's table.
    pub variant: &'a str,
    /// The launch record.
    pub launch: &'a LaunchRecord,
}

/// Maximum width of a line of text, in characters.
const WIDTH: usize = 100;

/// Formats the profile of some launches as Markdown, with the launches on one input side by side. `which`
/// describes a column, such as `one launch each`.
pub fn text(which: &str, launches: &[ProfiledLaunch], detail: Detail) -> Vec<String> {
    let Some(first) = launches.first() else {
        return vec!["Profile: no kernel was launched.".to_owned()];
    };
    let gpu = first.launch.time.gpu;
    let mut parts = vec![format!(
        "Profile: {which}, counted on the simulator; times and caches modelled, {gpu}."
    )];
    for group in launches.chunk_by(|a, b| a.case == b.case) {
        match group[0].case.as_str() {
            "" => {}
            case => parts.push(format!("{case}:")),
        }
        parts.push(table::side_by_side(group));
        parts.push(advice(group));
        if detail == Detail::Lines {
            parts.extend(group.iter().map(lines::annotated));
        }
    }
    parts.push(table::names(launches));
    parts
}

/// Returns one line of advice per launch.
fn advice(group: &[ProfiledLaunch]) -> String {
    let lines = group.iter().filter_map(|launched| {
        let advice = advice::for_launch(launched.launch)?;
        Some(wrapped(&format!("{}: {advice}", launched.variant)))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Wraps text into lines of at most [`WIDTH`] characters; all but the first are indented. The digit groups of
/// a number stay together.
fn wrapped(words: &str) -> String {
    let mut units: Vec<String> = Vec::new();
    for word in words.split(' ') {
        let continues_number = word.starts_with(|c: char| c.is_ascii_digit() || c == '%');
        match units.last_mut() {
            Some(number) if continues_number && number.ends_with(|c: char| c.is_ascii_digit()) => {
                *number += " ";
                *number += word;
            }
            _ => units.push(word.to_owned()),
        }
    }
    wrap(&units, "  ", |line| line.chars().count() <= WIDTH).join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_driver::counters::Tally;
    use cuda_driver::model::Resource;

    #[test]
    fn launches_of_one_case_share_a_table() {
        let launch = sample::by_lines(&[(1, Tally::default())], &[(Resource::Issue, 1.0)]);
        let launched = |case: &str, variant| ProfiledLaunch {
            case: case.to_owned(),
            variant,
            launch: &launch,
        };
        let launches = [
            launched("few", "global"),
            launched("few", "constant"),
            launched("many", "global"),
        ];
        let parts = text("one launch each", &launches, Detail::Summary);
        let heads = parts.iter().filter(|part| part.ends_with(':'));
        assert_eq!(heads.collect::<Vec<_>>(), ["few:", "many:"]);
        let text_of = |parts: &[String], text: &str| parts.concat().matches(text).count();
        assert_eq!(text_of(&parts, "| counter "), 3);
        assert_eq!(text_of(&parts, "constant: nothing stands out"), 1);
        assert_eq!(text_of(&parts, "kernels/vector-add.cu\n"), 0);

        let parts = text("one launch each", &launches, Detail::Lines);
        assert_eq!(text_of(&parts, "kernels/vector-add.cu\n"), 3);
    }

    #[test]
    fn without_a_launch_there_is_no_profile() {
        let parts = text("one launch each", &[], Detail::Lines);
        assert_eq!(parts, ["Profile: no kernel was launched."]);
    }

    #[test]
    fn words_are_wrapped_without_loss() {
        let words = ["word"; 60].join(" ");
        let lines = wrapped(&words);
        assert_eq!(lines.lines().count(), 4);
        assert!(lines.lines().all(|line| line.chars().count() <= WIDTH));
        assert!(lines.lines().skip(1).all(|line| line.starts_with("  word")));
        assert_eq!(
            lines.split_whitespace().collect::<Vec<_>>().join(" "),
            words
        );
        assert_eq!(wrapped("one two"), "one two");
        let number = format!("{} 12 345 %", "x".repeat(95));
        assert!(wrapped(&number).ends_with("x\n  12 345 %"));
        let long = "x".repeat(200);
        assert_eq!(wrapped(&long), long);
    }
}
