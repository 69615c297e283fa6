//! The log of a program: which functions it called, and what was refused.

use chapter::number::grouped;

use crate::Summary;

/// The log as text. `who` is the process.
pub fn text(who: &str, summary: &Summary) -> String {
    let mut lines = vec![format!("{who}:")];
    let mut section = |head: &str, of: Vec<String>| {
        if !of.is_empty() {
            lines.push(format!("  {head}:"));
            lines.extend(of.into_iter().map(|line| format!("    {line}")));
        }
    };
    let mut calls: Vec<(&String, &u64)> = summary.calls.iter().collect();
    calls.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
    let called = calls
        .iter()
        .map(|(name, count)| format!("{name}: {}", grouped(**count)));
    section("functions called, and how often", called.collect());
    section("functions not simulated", summary.not_simulated.clone());
    let refused = summary.refused.iter().map(|(why, count)| match count {
        1 => why.clone(),
        _ => format!("{why} ({} times)", grouped(*count)),
    });
    section("modules refused", refused.collect());
    section("launches ended by a fault", summary.faults.clone());
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_called_most_comes_first() {
        let summary = Summary {
            calls: [("cuInit", 1), ("cuCtxGetCurrent", 1234), ("cuA", 1)]
                .map(|(name, count)| (name.to_owned(), count))
                .into(),
            refused: vec![("no target".to_owned(), 2), ("no entry".to_owned(), 1)],
            ..Summary::default()
        };
        let wanted = "process 7:\n  functions called, and how often:\n    cuCtxGetCurrent: 1 234\n    \
                      cuA: 1\n    cuInit: 1\n  modules refused:\n    no target (2 times)\n    no entry\n";
        assert_eq!(text("process 7", &summary), wanted);
    }
}
