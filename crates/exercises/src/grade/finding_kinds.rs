//! Likely causes of findings, in both languages.

use chapter::lang::Lang;
use cuda_driver::{Cause, Finding, FindingKind};

use super::strip_comment;
use chapter::chinese::localized;

/// Returns the likely cause of a finding in a file with this text; empty if none is known. `is_update`: the
/// racing threads update one location of device memory. If the lines give no hint, it is the simulator's cause.
pub fn likely_cause(finding: &Finding, is_update: bool, text: &str, lang: Lang) -> String {
    if let Some(
        Cause::NoBoundsCheck | Cause::MatrixBounds | Cause::LoopBounds | Cause::PastRows(_),
    ) = finding.likely_cause
    {
        // The simulator's cause names several. Suggest `<=` only if the submission contains one before the access.
        let before = finding.source.line as usize;
        let mut lines = text.lines().take(before);
        return match lines.any(|line| strip_comment(line).contains("<=")) {
            true => localize!(
                lang,
                "`<=` instead of `<`: one thread more than there are elements",
                "该写 `<` 的地方写成了 `<=`，结果比元素多一个线程参与"
            ),
            false => localize!(
                lang,
                "no `if (i < n)` that excludes threads past the end, or an `n` or stride that is \
                 not the number of elements",
                "没有用 `if (i < n)` 排除末尾之后的线程，或者 `n`、步长不是元素的个数"
            ),
        };
    }
    if is_update {
        // A barrier cannot separate the read and the write of one update.
        return localized(&Cause::SumWithoutAtomic, lang);
    }
    if let Some(advice) = likely_cause_in_lines(finding, text, lang) {
        return advice;
    }
    let cause = finding.likely_cause.as_ref();
    cause.map_or(String::new(), |cause| localized(cause, lang))
}

/// Returns the likely cause of a finding in a file with this text; `None` if the lines give no hint.
fn likely_cause_in_lines(finding: &Finding, text: &str, lang: Lang) -> Option<String> {
    let line = |number: u32| {
        let line = (number as usize).checked_sub(1);
        let line = line.and_then(|line| text.lines().nth(line));
        line.map_or("", strip_comment)
    };
    let line_number = finding.source.line;
    let other_line_number = finding.other.as_ref().map(|other| other.source.line);
    Some(match finding.kind {
        FindingKind::ReadAfterWrite | FindingKind::WriteAfterRead
            if other_line_number == Some(line_number) =>
        {
            localize!(
                lang,
                "a sum without `atomicAdd`, or a loop without a `__syncthreads()` in each iteration",
                "求和没有使用 `atomicAdd`，或者循环的每次迭代缺少 `__syncthreads()`"
            )
        }
        FindingKind::EndedBeforeBarrier => localized(&finding.missed_barrier_cause(text), lang),
        FindingKind::WriteAfterRead
            if finding.likely_cause == Some(Cause::MissingBarrierInLoop)
                && !has_barrier_between(text, line_number, other_line_number?) =>
        {
            localized(&Cause::MissingBarrier, lang)
        }
        FindingKind::UninitializedShared if line(line_number).contains("atomic") => localize!(
            lang,
            "a sum in shared memory that was not set to 0: shared memory is uninitialized at first",
            "共享内存中的和没有先清零：共享内存最初是未初始化的"
        ),
        FindingKind::CopyNotAwaited => localize!(
            lang,
            "a missing `__pipeline_wait_prior` (`cp.async.wait_group` in PTX), or one that leaves \
             too many copies in flight",
            "缺少 `__pipeline_wait_prior`（PTX 中为 `cp.async.wait_group`），或者它允许未完成的复制过多"
        ),
        FindingKind::BarrierNeverOpens => localize!(
            lang,
            "`__syncthreads()` in an `if` or a loop that not all threads of the block enter",
            "`__syncthreads()` 写在 `if` 或循环里，而线程块中有线程不会进入"
        ),
        FindingKind::InterBlockRace if other_line_number != Some(line_number) => localize!(
            lang,
            "blocks run in any order, some concurrently: a result written over the input, a sum \
             without `atomicAdd`, or no `__threadfence()` before signalling that a result is ready",
            "线程块的执行顺序不定，有些同时执行：结果写在了输入上，求和没有使用 `atomicAdd`，\
             或者在通知结果已写好之前缺少 `__threadfence()`"
        ),
        _ => return None,
    })
}

/// Returns true if there is a barrier between a line that writes and a later one that reads.
fn has_barrier_between(text: &str, write: u32, read: u32) -> bool {
    let after = text.lines().enumerate().skip(write as usize);
    let mut between = after.take_while(|(at, _)| at + 1 < read as usize);
    between.any(|(_, line)| strip_comment(line).contains("__syncthreads()"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn barriers_between_two_lines_are_found() {
        let text = "tile[t] = in[i];\n__syncthreads();\nout[i] = tile[t + 1];\n";
        assert!(has_barrier_between(text, 1, 3));
        assert!(!has_barrier_between(text, 2, 3) && !has_barrier_between(text, 3, 1));
        let text = "tile[t] = in[i];\n// no __syncthreads()\nout[i] = tile[t + 1];\n";
        assert!(!has_barrier_between(text, 1, 3));
    }
}
