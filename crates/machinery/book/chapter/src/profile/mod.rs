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
use crate::lang::Lang;
use crate::text::wrap_with_indent;

pub use lines::{Reader, listing};
pub use record::Record;
pub use table::resource_name;

/// One launch among a report's results.
pub struct ProfiledLaunch<'a> {
    /// The input, if the report has launches of this variant on several inputs; otherwise empty.
    pub case: String,
    /// The variant's name in the chapter's table.
    pub variant: &'a str,
    pub launch: &'a LaunchRecord,
}

/// Maximum width of a line of text in columns.
const WIDTH: usize = 100;

/// Formats the profile of some launches as Markdown, with the launches on one input side by side. `which`
/// describes a column, such as `one launch each`.
pub fn text(which: &str, launches: &[ProfiledLaunch], detail: Detail, lang: Lang) -> Vec<String> {
    let Some(first) = launches.first() else {
        let message = lang.pick(
            "Profile: no kernel was launched.",
            "性能分析：没有启动核函数。",
        );
        return vec![message.to_owned()];
    };
    let gpu = first.launch.time.gpu;
    let mut parts = vec![localize!(
        lang,
        "Profile: {}, counted on the simulator; times and caches modelled, {}.",
        "性能分析：{}，计数来自模拟器；时间和缓存由 {} 的模型估算。";
        which, gpu
    )];
    for group in launches.chunk_by(|a, b| a.case == b.case) {
        match group[0].case.as_str() {
            "" => {}
            case => parts.push(localize!(lang, "{}:", "{}："; case)),
        }
        parts.push(table::side_by_side(group, lang));
        parts.push(advice(group, lang));
        if detail == Detail::Lines {
            parts.extend(
                group
                    .iter()
                    .map(|launched| lines::annotated(launched, lang)),
            );
        }
    }
    parts.push(table::names(launches, lang));
    parts
}

/// Returns one line of advice per launch.
fn advice(group: &[ProfiledLaunch], lang: Lang) -> String {
    let lines = group.iter().filter_map(|launched| {
        let advice = advice::for_launch(launched.launch, lang)?;
        let line = localize!(lang, "{}: {}", "{}：{}"; launched.variant, advice);
        Some(wrap_with_indent(&line, WIDTH, "  ").join("\n"))
    });
    lines.collect::<Vec<_>>().join("\n")
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
        let parts = text("one launch each", &launches, Detail::Summary, Lang::En);
        let heads = parts.iter().filter(|part| part.ends_with(':'));
        assert_eq!(heads.collect::<Vec<_>>(), ["few:", "many:"]);
        let text_of = |parts: &[String], text: &str| parts.concat().matches(text).count();
        assert_eq!(text_of(&parts, "| counter "), 3);
        assert_eq!(text_of(&parts, "constant: no waste found"), 1);
        assert_eq!(text_of(&parts, "kernels/vector-add.cu\n"), 0);

        let parts = text("one launch each", &launches, Detail::Lines, Lang::En);
        assert_eq!(text_of(&parts, "kernels/vector-add.cu\n"), 3);
    }

    #[test]
    fn without_a_launch_there_is_no_profile() {
        let parts = text("one launch each", &[], Detail::Lines, Lang::En);
        assert_eq!(parts, ["Profile: no kernel was launched."]);
    }
}
