//! The log of a program: the driver functions it called, and what was rejected.

use chapter::number::grouped;

use crate::Summary;

/// Formats the log. `process` names the process.
pub fn text(process: &str, summary: &Summary) -> String {
    let mut lines = vec![format!("{process}:")];
    let mut section = |heading: &str, entries: Vec<String>| {
        if !entries.is_empty() {
            lines.push(format!("  {heading}:"));
            lines.extend(entries.into_iter().map(|line| format!("    {line}")));
        }
    };
    let mut calls: Vec<(&String, &u64)> = summary.calls.iter().collect();
    calls.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
    let call_counts = calls
        .iter()
        .map(|(name, count)| format!("{name}: {}", grouped(**count)));
    section(
        "driver functions called, with counts",
        call_counts.collect(),
    );
    section("functions not simulated", summary.not_simulated.clone());
    let rejected = summary
        .rejected_modules
        .iter()
        .map(|(reason, count)| match count {
            1 => reason.clone(),
            _ => format!("{reason} ({} times)", grouped(*count)),
        });
    section("rejected modules", rejected.collect());
    section("launches ended by a fault", summary.faults.clone());
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_call_comes_first() {
        let summary = Summary {
            calls: [("cuInit", 1), ("cuCtxGetCurrent", 1234), ("cuA", 1)]
                .map(|(name, count)| (name.to_owned(), count))
                .into(),
            rejected_modules: vec![("no target".to_owned(), 2), ("no entry".to_owned(), 1)],
            ..Summary::default()
        };
        let expected = "process 7:\n  driver functions called, with counts:\n    cuCtxGetCurrent: 1 234\n    \
                      cuA: 1\n    cuInit: 1\n  rejected modules:\n    no target (2 times)\n    no entry\n";
        assert_eq!(text("process 7", &summary), expected);
    }
}
