//! Likely causes that depend on more than the kind of a finding. Those of a data race within a block depend on the
//! two lines, on whether both threads are in one warp, and on the other races between the same lines; that of a
//! barrier that threads miss depends on the kernel's source.

use super::cause::Cause;
use super::finding::{Finding, FindingKind, Severity};
use crate::isa::SourceLine;
use std::fs;

/// The size above which a source file is not read.
const MAX_SOURCE_BYTES: u64 = 1 << 22;

/// Replaces the causes that the kinds of findings suggest by better ones.
pub fn refine(findings: &mut [Finding]) {
    let causes: Vec<Option<Cause>> = findings
        .iter()
        .map(|finding| {
            missed_barrier_cause(finding)
                .or_else(|| race_cause(finding, findings))
                .or_else(|| sum_cause(finding, findings))
        })
        .collect();
    for (finding, cause) in findings.iter_mut().zip(causes) {
        finding.likely_cause = cause.or(finding.likely_cause.take());
    }
}

/// The number of lines before an access in which its bounds check is searched.
const LINES_OF_CHECK: usize = 4;

/// Returns the cause of an access past the end after a condition that is always true in an unsigned type, if the kernel's
/// source can be read.
pub fn unsigned_bound_cause(source: &SourceLine) -> Option<Cause> {
    let text = source_text(source)?;
    Some(Cause::UnsignedBound(unsigned_bound(&text, source.line)?))
}

/// Returns the condition that a difference is not below 0, in or shortly before a line of a source that uses unsigned types.
fn unsigned_bound(text: &str, line: u32) -> Option<String> {
    let is_unsigned = ["unsigned", "size_t", "uint"];
    let code = || text.lines().map(without_comment);
    if !code().any(|line| is_unsigned.iter().any(|name| line.contains(name))) {
        return None;
    }
    let end = line as usize;
    let lines = code().take(end).skip(end.saturating_sub(LINES_OF_CHECK));
    let conditions = lines.filter_map(|line| {
        let (before, after) = line.split_once(">=")?;
        let rest = after.trim_start().strip_prefix('0')?;
        let is_zero = !rest.starts_with(|next: char| next.is_alphanumeric() || next == '.');
        let difference = left_operand(before);
        let is_difference = difference.get(1..)?.replace("->", "").contains('-');
        (is_zero && is_difference).then(|| format!("{difference} >= 0"))
    });
    conditions.last()
}

/// Returns the operand at the end of a line of source, as far as its opening parenthesis or a logical operator.
fn left_operand(text: &str) -> &str {
    let mut depth = 0;
    let start = text.char_indices().rev().find_map(|(at, letter)| {
        match letter {
            ')' | ']' => depth += 1,
            '(' | '[' => depth -= 1,
            _ => {}
        }
        let ends =
            depth < 0 || depth == 0 && matches!(letter, '&' | '|' | ';' | '?' | '{' | '=' | ',');
        ends.then_some(at + 1)
    });
    text[start.unwrap_or(0)..].trim()
}

/// Returns the cause of reads of shared memory that is uninitialized because a sum there is: an atomic does not
/// initialize, or the statement adds to it.
fn sum_cause(finding: &Finding, findings: &[Finding]) -> Option<Cause> {
    let is_sum = |other: &Finding| {
        other.likely_cause == Some(Cause::SumNotInitialized) && other.details == finding.details
    };
    let source = &finding.source;
    let adds = || source_text(source).is_some_and(|text| adds_to_element(&text, source.line));
    let is_read = finding.kind == FindingKind::UninitializedShared;
    (is_read && (findings.iter().any(is_sum) || adds())).then_some(Cause::SumNotInitialized)
}

/// Returns true if a line of source adds a value to an element of an array and reads no other element.
fn adds_to_element(text: &str, line: u32) -> bool {
    let line = text.lines().nth((line as usize).wrapping_sub(1));
    let parts = line.map(without_comment).and_then(|line| {
        let operators = ["+=", "-=", "|=", "^=", "&="];
        operators
            .iter()
            .find_map(|operator| line.split_once(operator))
    });
    parts.is_some_and(|(element, value)| element.trim_end().ends_with(']') && !value.contains('['))
}

/// Returns the text of the file of a line of source, if it can be read.
fn source_text(source: &SourceLine) -> Option<String> {
    let path = source.file.as_ref()?;
    let is_small = |file: fs::Metadata| file.is_file() && file.len() <= MAX_SOURCE_BYTES;
    let is_readable = fs::metadata(path).is_ok_and(is_small);
    is_readable.then(|| fs::read_to_string(path).ok())?
}

/// Returns the cause of a barrier that threads miss, if the kernel's source can be read.
fn missed_barrier_cause(finding: &Finding) -> Option<Cause> {
    if finding.kind != FindingKind::EndedBeforeBarrier {
        return None;
    }
    Some(finding.missed_barrier_cause(&source_text(&finding.source)?))
}

impl Finding {
    /// Returns the cause of a barrier that threads miss, given the text of its source file: that they return
    /// before it, or that it is in a branch that they do not take.
    pub fn missed_barrier_cause(&self, text: &str) -> Cause {
        let lines: Vec<&str> = text.lines().map(without_comment).collect();
        let barrier = (self.source.line as usize).min(lines.len());
        let is_start = |line: &&&str| {
            ["__global__", "__device__", "fn "]
                .iter()
                .any(|start| line.contains(start))
        };
        let mut before = lines[..barrier]
            .iter()
            .rev()
            .take_while(|line| !is_start(line));
        // The line at which the first thread left, which may be in a function that calls this one.
        let left = self
            .details
            .source()
            .filter(|left| left.file == self.source.file);
        let left = left.map_or(0, |left| left.line as usize);
        let at_exit = lines.iter().skip(left.wrapping_sub(1)).take(2);
        let mut at_exit = at_exit.take_while(|line| !line.trim_start().starts_with('}'));
        if before.any(|line| returns(line)) || at_exit.any(|line| returns(line)) {
            Cause::ReturnBeforeBarrier
        } else {
            Cause::BarrierInBranch
        }
    }
}

/// Returns a line of source up to its comment.
fn without_comment(line: &str) -> &str {
    line.split_once("//").map_or(line, |(code, _)| code)
}

/// Returns true if a line of source contains the word `return` or `exit`.
fn returns(line: &str) -> bool {
    let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| word == "return" || word == "exit")
}

/// Returns a better cause of a race than its kind suggests, if there is one.
fn race_cause(race: &Finding, findings: &[Finding]) -> Option<Cause> {
    let (kind, lines) = (race.kind, lines_of(race)?);
    let is_default = race.likely_cause == kind.likely_cause();
    let other_atomic = race.other.as_ref().is_some_and(|other| other.atomic);
    let beside_atomic = race.atomic || other_atomic;
    match kind {
        FindingKind::ReadAfterWrite | FindingKind::WriteAfterRead => {}
        // A plain write and an atomic.
        FindingKind::WriteAfterWrite if race.atomic != other_atomic => {}
        FindingKind::InterBlockRace if beside_atomic && is_default => {
            let is_read = race.other.as_ref().is_some_and(|other| !other.write);
            return is_read.then_some(Cause::ResultOfAtomics);
        }
        _ => return None,
    }
    if matches!(
        race.likely_cause,
        Some(Cause::LoadBeforeAtomic | Cause::DecidesByFlag)
    ) {
        return None;
    }
    if matches!(race.likely_cause, Some(Cause::TypesDiffer(..))) {
        return None;
    }
    let mut same_lines = findings
        .iter()
        .filter(|other| lines_of(other) == Some(lines));
    // An atomic is a statement of its own, whatever else is in its line.
    let in_one_line = lines.0 == lines.1 && !beside_atomic;
    let updates = |other: &Finding| {
        other.likely_cause == Some(Cause::SumWithoutAtomic)
            || other.kind == FindingKind::ConflictingStore
    };
    if in_one_line && same_lines.clone().any(updates) {
        return Some(Cause::SumWithoutAtomic);
    }
    // Races within a warp are warnings. `__syncwarp` is not enough if the lines also race between warps.
    let between_warps = |other: &Finding| {
        other.severity == Severity::Error && other.kind != FindingKind::ConflictingStore
    };
    match (in_one_line, same_lines.any(between_warps)) {
        (true, true) => Some(Cause::StatementNeedsBarrier),
        (true, false) => Some(Cause::StatementNeedsWarpSync),
        (false, true) if kind == FindingKind::ReadAfterWrite && has_barrier_between(race) => {
            Some(Cause::MissingBarrierInLoop)
        }
        (false, true) if beside_atomic && kind != FindingKind::ReadAfterWrite => {
            Some(Cause::MissingBarrier)
        }
        (false, true) => None,
        (false, false) => Some(Cause::MissingWarpSync),
    }
}

/// Returns true if the source has a barrier between the line that writes and a later one that reads: then another write
/// races, which comes after the read.
fn has_barrier_between(race: &Finding) -> bool {
    let Some(other) = &race.other else {
        return false;
    };
    let (written, read) = (&other.source, &race.source);
    if written.file != read.file || written.line == 0 || read.line <= written.line {
        return false;
    }
    let count = (read.line - written.line) as usize;
    source_text(read).is_some_and(|text| {
        let mut between = text.lines().skip(written.line as usize).take(count);
        between.any(|line| without_comment(line).contains("__syncthreads()"))
    })
}

/// A source line, by its file and number; a line of PTX if the source line is unknown. The nearest known line does not
/// show that two accesses are in one statement.
type Line<'a> = (Option<&'a str>, u32);

/// Returns the lines of a race, in order; `None` for other findings.
fn lines_of(finding: &Finding) -> Option<(Line<'_>, Line<'_>)> {
    let (first, other) = (
        line_of(&finding.source),
        line_of(&finding.other.as_ref()?.source),
    );
    Some((first.min(other), first.max(other)))
}

fn line_of(source: &SourceLine) -> Line<'_> {
    if source.line == 0 || source.is_nearest {
        (None, source.ptx_line)
    } else {
        (source.file.as_deref(), source.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{Details, OtherAccess};

    #[test]
    fn missed_barriers_are_told_apart_by_the_source() {
        let cause = |text: &str, barrier: u32, left: u32| {
            let line = |line| SourceLine {
                file: Some("kernel.cu".to_owned()),
                line,
                ptx_line: line,
                is_nearest: false,
            };
            let details = Details::ExitedThreads(28, line(left));
            let kind = FindingKind::EndedBeforeBarrier;
            let finding = Finding {
                source: line(barrier),
                ..Finding::of_program(kind, Severity::Warning, details)
            };
            finding.missed_barrier_cause(text)
        };
        let returns = "__device__ int f() { return 1; }\n__global__ void k() {\nif (t >= n)\nreturn;\n\
                       __syncthreads();\n}\n";
        assert_eq!(cause(returns, 5, 3), Cause::ReturnBeforeBarrier);
        let branch = returns.replace("return;", "{ // return");
        assert_eq!(cause(&branch, 5, 3), Cause::BarrierInBranch);
        assert_eq!(cause(&branch, 5, 6), Cause::BarrierInBranch);
        // The barrier is in a function that the kernel calls after the return.
        let called = "__device__ void sync() {\n__syncthreads();\n}\n__global__ void k() {\n\
                      if (t >= n) return;\nsync();\n}\n";
        assert_eq!(cause(called, 2, 5), Cause::ReturnBeforeBarrier);
        assert_eq!(cause("", 2, 5), Cause::BarrierInBranch, "not the source");
    }

    #[test]
    fn sums_in_an_element_are_told_apart_from_sums_of_elements() {
        let adds = |line: &str| adds_to_element(&format!("\n{line}\n"), 2);
        assert!(adds("    counts[t] += value;") && adds("a[i][j] |= 1; // b[k]"));
        assert!(!adds("    sum += tile[t];") && !adds("out[i] += tile[t];"));
        assert!(!adds("x[i] = 2;") && !adds_to_element("counts[t] += 1;", 2));
    }

    #[test]
    fn conditions_on_unsigned_differences_are_found() {
        let bound = |condition: &str, ty: &str| {
            let text =
                format!("__global__ void k(float *p, {ty} n) {{\n{condition}\np[i] = 1;\n}}\n");
            unsigned_bound(&text, 3)
        };
        let found = |condition: &str| bound(condition, "unsigned");
        assert_eq!(
            found("if (n - 1 - i >= 0)").as_deref(),
            Some("n - 1 - i >= 0")
        );
        let nested = "if (ok && (n - i) >= 0 && f(i))";
        assert_eq!(found(nested).as_deref(), Some("(n - i) >= 0"));
        assert_eq!(found("while (i-->= 0)").as_deref(), Some("i-- >= 0"));
        for other in [
            "if (i >= 0)",
            "if (p->n >= 0)",
            "if (n - i >= 0.5f)",
            "// n - i >= 0",
            "if (n - i >= 05)",
        ] {
            assert_eq!(found(other), None, "{other}");
        }
        assert_eq!(bound("if (n - i >= 0)", "int"), None);
    }

    #[test]
    fn nearest_lines_are_not_taken_for_one_statement() {
        let cause = |is_nearest| {
            let line = |ptx_line, is_nearest| SourceLine {
                file: Some("kernel.cu".to_owned()),
                line: 7,
                ptx_line,
                is_nearest,
            };
            let kind = FindingKind::ReadAfterWrite;
            let race = Finding {
                source: line(70, is_nearest),
                other: Some(OtherAccess {
                    block: [0; 3],
                    thread: [0; 3],
                    source: line(60, false),
                    write: true,
                    atomic: false,
                }),
                ..Finding::of_program(kind, Severity::Warning, Details::None)
            };
            let mut findings = [race];
            refine(&mut findings);
            findings[0].likely_cause.take()
        };
        assert_eq!(cause(false), Some(Cause::StatementNeedsWarpSync));
        assert_eq!(cause(true), Some(Cause::MissingWarpSync));
    }
}
