//! The step `checks`: the simulator's findings while the submission ran, with their likely causes in both languages, and
//! messages for kernels that it had to stop.

use chapter::chinese::{localized, title};
use chapter::lang::{Lang, Text};
use cuda_driver::{
    Cause, Details, Fault, FaultKind, Finding, FindingKind, Severity, SourceLine, TimeLimit,
};

use super::compile::is_in_submission;
use super::{Failure, Stop, Submission, strip_comment};
use crate::data::Step;
use crate::host::Case;

/// The number of findings shown when the findings are the failure.
const MAX_FINDINGS: usize = 2;
/// The number of findings shown as the cause of another failure.
const MAX_FINDINGS_AS_CAUSE: usize = 1;

/// Fails if there are findings. Warnings count, because an exercise has no excuse for suspicious code. Reads
/// of uninitialized memory do not: runs with other memory contents show whether the results depend on them.
pub fn verdict(findings: &[(Case, Finding)], submission: &Submission) -> Result<(), Stop> {
    let relevant = findings
        .iter()
        .filter(|(_, finding)| !has_undefined_value(finding.kind));
    let mut sorted: Vec<&(Case, Finding)> = relevant.collect();
    sorted.sort_by_key(|(_, finding)| finding.severity);
    let Some((case, first)) = sorted.first() else {
        return Ok(());
    };
    let message = Text::from_fn(|lang| {
        let findings = sorted.iter().map(|(_, finding)| finding);
        let list = format_findings(findings, MAX_FINDINGS, submission, lang);
        let head = match first.severity {
            Severity::Error => localize!(
                lang,
                "The results are correct only by chance: on another GPU, or in another run, they \
                 may be wrong.",
                "结果正确只是碰巧：换一个 GPU，或者再运行一次，就可能出错。"
            ),
            Severity::Warning => localize!(
                lang,
                "The results are correct, but only by chance:",
                "结果正确，但只是碰巧："
            ),
        };
        format!("{head}\n\n{list}")
    });
    Err(Stop::Failed(Failure {
        step: Step::Checks,
        kind: None,
        size: case.size.clone(),
        message,
    }))
}

/// Explains wrong results by the findings of the same run; empty if there are none.
pub fn explain(findings: &[Finding], submission: &Submission, lang: Lang) -> String {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|finding| (finding.severity, has_undefined_value(finding.kind)));
    let Some(first) = sorted.first() else {
        return String::new();
    };
    let head = match explain_race(first, submission, lang) {
        Some(sentence) => localize!(lang, "Why: {}", "原因：{}"; sentence),
        None => localize!(
            lang,
            "Why: the checks found this while it ran.",
            "原因：错误检查在运行时发现了以下问题。"
        ),
    };
    let list = format_findings(sorted.into_iter(), MAX_FINDINGS_AS_CAUSE, submission, lang);
    format!("{head}\n\n{list}")
}

/// Formats the first findings, omitting duplicates.
fn format_findings<'a>(
    findings: impl Iterator<Item = &'a Finding>,
    limit: usize,
    submission: &Submission,
    lang: Lang,
) -> String {
    let mut unique: Vec<&Finding> = Vec::new();
    for finding in findings {
        if !unique.iter().any(|other| is_duplicate(other, finding)) {
            unique.push(finding);
        }
    }
    let first = unique.iter().take(limit);
    let descriptions: Vec<String> = first
        .map(|finding| describe(finding, submission, lang))
        .collect();
    descriptions.join("\n\n")
}

/// Returns true if an instruction got an undefined value: uninitialized memory, or the value of a lane that does not take
/// part in a shuffle. Such values differ between the runs, and those of local variables between the threads of a run, so if
/// no result does, none depends on them.
fn has_undefined_value(kind: FindingKind) -> bool {
    matches!(
        kind,
        FindingKind::UninitializedDevice
            | FindingKind::UninitializedShared
            | FindingKind::UninitializedLocal
            | FindingKind::ShuffleFromAbsentLane
    )
}

/// Returns true for a data race between a load and an atomic. It is intended in a compare-and-swap loop, which verifies
/// the loaded value; only the checks of optimized code recognize that.
pub fn needs_confirmation(finding: &Finding) -> bool {
    let other = finding.other.as_ref();
    other.is_some_and(|other| match (finding.atomic, other.atomic) {
        (true, false) => !other.write,
        (false, true) => matches!(
            finding.kind,
            FindingKind::ReadAfterWrite | FindingKind::InterBlockRace
        ),
        _ => false,
    })
}

/// Returns true if both lines of a race update one location of device memory by reading and writing it, which
/// a barrier cannot fix. In shared memory, a barrier per iteration can fix a loop that does so.
fn is_update(finding: &Finding, submission: &Submission) -> bool {
    let is_update = |source: &SourceLine| {
        let location = (source.line as usize).checked_sub(1);
        let line = location.and_then(|location| submission.text.lines().nth(location));
        let code = line.map_or("", strip_comment);
        let updates = ["+=", "-=", "*=", "|=", "&=", "^=", "++", "--"];
        updates.iter().any(|update| code.contains(update))
    };
    let other = finding.other.as_ref().map(|other| &other.source);
    let same_line = other.is_some_and(|other| other.line == finding.source.line);
    let both_update = is_update(&finding.source) && other.is_some_and(is_update);
    let is_shared = matches!(finding.details, Details::Block(_));
    !is_shared && (same_line || both_update)
}

/// Returns a sentence about a race whose lines are both in the submission: what must separate them.
fn explain_race(finding: &Finding, submission: &Submission, lang: Lang) -> Option<String> {
    let line = |source: &SourceLine| is_in_submission(source).then_some(source.line);
    let (one, other) = (
        line(&finding.source)?,
        line(&finding.other.as_ref()?.source)?,
    );
    let sentence = match finding.kind {
        FindingKind::InterBlockRace if one == other => localize!(
            lang,
            "line {} accesses one location of device memory from different blocks. Does its index \
             take the preceding blocks into account, and does the loop's stride visit each \
             location only once? A sum across blocks needs an atomic operation.",
            "第 {} 行从不同的线程块访问设备内存的同一位置。它的下标算上了前面的线程块吗？\
             循环的步长能保证每个位置只访问一次吗？跨线程块求和需要原子操作。";
            one
        ),
        FindingKind::ReadAfterWrite
        | FindingKind::WriteAfterRead
        | FindingKind::WriteAfterWrite
            if is_update(finding, submission) =>
        {
            localize!(
                lang,
                "line {} updates a location of device memory that other threads update too, so an \
                 update may be lost: give each thread its own index, or use an atomic operation.",
                "第 {} 行更新的设备内存位置也被其他线程更新，更新可能会丢失：\
                 应让每个线程使用自己的下标，或者使用原子操作。";
                one
            )
        }
        FindingKind::ReadAfterWrite | FindingKind::WriteAfterRead if one == other => localize!(
            lang,
            "line {} reads and writes data that several threads access at the same time. If they \
             update one location, use an atomic operation; if a loop repeats the line, each \
             iteration needs a `__syncthreads()`.",
            "第 {} 行读写的数据同时被几个线程访问。如果它们更新同一位置，请使用原子操作；\
             如果循环重复执行这一行，每次迭代都需要一次 `__syncthreads()`。";
            one
        ),
        FindingKind::ReadAfterWrite => localize!(
            lang,
            "line {} reads data that line {} may not have written yet: put a `__syncthreads()` \
             between them.",
            "第 {} 行读取时，第 {} 行可能还没有写完：两者之间需要一次 `__syncthreads()`。";
            one, other
        ),
        FindingKind::WriteAfterRead => localize!(
            lang,
            "line {} overwrites data that line {} may not have read yet: put a `__syncthreads()` \
             between them.",
            "第 {} 行写入时，第 {} 行可能还没有读完：两者之间需要一次 `__syncthreads()`。";
            one, other
        ),
        FindingKind::WriteAfterWrite => localize!(
            lang,
            "lines {} and {} write to one location from different threads in an undefined order: \
             use separate locations or an atomic operation.",
            "第 {} 行和第 {} 行由不同的线程写入同一位置，先后顺序不确定：应写入不同的位置，\
             或者使用原子操作。";
            one, other
        ),
        FindingKind::InterBlockRace => localize!(
            lang,
            "lines {} and {} access one location of device memory from different blocks, which no \
             barrier can order: use an atomic operation or a separate location per block.",
            "第 {} 行和第 {} 行从不同的线程块访问设备内存的同一位置，\
             没有任何同步屏障能确定它们的先后：请使用原子操作，或者让每个线程块使用不同的位置。";
            one, other
        ),
        _ => return None,
    };
    Some(sentence)
}

/// Returns true if two findings are of the same kind in the same line, for example at different sizes.
fn is_duplicate(one: &Finding, other: &Finding) -> bool {
    (one.kind, one.source.line) == (other.kind, other.source.line)
}

/// Formats the fault that ended a launch.
pub fn describe_fault(fault: &Fault, submission: &Submission, lang: Lang) -> String {
    if let Some(finding) = fault.finding() {
        return localize!(
            lang,
            "The kernel was stopped. {}",
            "核函数被中止。{}";
            describe(&finding, submission, lang)
        );
    }
    let details = match &fault.kind {
        FaultKind::Timeout {
            limit: TimeLimit::Launch(limit) | TimeLimit::Standstill(limit),
            ..
        } => localize!(
            lang,
            "The kernel was still running after {} s; normally it takes a fraction of that. Check \
             the conditions of its loops: is there a thread that never leaves one?",
            "核函数运行 {} 秒仍未结束，而正常情况下只需其中很小一部分。请检查各循环的条件：\
             是否有线程永远不会离开循环？";
            limit.as_secs_f64()
        ),
        FaultKind::Assert { message } => localize!(
            lang,
            "An assert of the kernel failed: {}",
            "核函数中的 assert 不成立：{}";
            message
        ),
        FaultKind::Trap | FaultKind::Breakpoint => localize!(
            lang,
            "The kernel stopped itself: it called `__trap()` or a function that is declared but \
             not defined.",
            "核函数自行中止：执行了 `__trap()`，或者调用了只有声明、没有定义的函数。"
        ),
        kind => {
            let details = localized(kind, lang);
            localize!(lang, "The kernel was stopped: {}.", "核函数被中止：{}。"; details)
        }
    };
    match &fault.location {
        None => details,
        Some(location) => {
            let mut thread = format_thread(
                &location.kernel,
                location.block,
                Some(location.thread),
                lang,
            );
            if let FaultKind::Timeout { .. } = fault.kind {
                thread += &localize!(lang, " of warp {}", "（线程束 {}）"; location.warp);
            }
            format!(
                "{details}\n{}",
                format_access(&thread, "", &location.source, submission, lang)
            )
        }
    }
}

/// Formats a finding: kind, access and line, the other access, details, and the likely cause.
fn describe(finding: &Finding, submission: &Submission, lang: Lang) -> String {
    let kind = finding.kind;
    let times = match finding.count {
        1 => String::new(),
        count => localize!(lang, " ({} times)", "（{} 次）"; count),
    };
    let has_threads = kind != FindingKind::InterBlockRace;
    let thread = has_threads.then_some(finding.thread);
    let action = match (&finding.other, kind) {
        (None, _) => "",
        (_, FindingKind::ReadAfterWrite) => lang.pick("reads", "读取"),
        (_, FindingKind::CopyNotAwaited) => lang.pick("uses it", "使用数据"),
        _ if finding.atomic => lang.pick("updates atomically", "以原子操作更新"),
        _ => lang.pick("writes", "写入"),
    };
    let first_thread = format_thread(&finding.kernel, finding.block, thread, lang);
    let mut lines = vec![
        format!("{}{times}{}", title(kind, lang), lang.pick(":", "：")),
        format_access(&first_thread, action, &finding.source, submission, lang),
    ];
    if let Some(other) = &finding.other {
        let action = match other.write {
            true if kind == FindingKind::CopyNotAwaited => lang.pick("copies", "复制"),
            true if other.atomic => lang.pick("updates atomically", "以原子操作更新"),
            true => lang.pick("writes", "写入"),
            false => lang.pick("reads", "读取"),
        };
        let thread = has_threads.then_some(other.thread);
        let second_thread = format_thread("", other.block, thread, lang);
        lines.push(format_access(
            &second_thread,
            action,
            &other.source,
            submission,
            lang,
        ));
    }
    let details = match (lang, &finding.details) {
        (Lang::En, Details::AddressFault(kind, address)) => format!("{kind}: {address}"),
        (_, details) => localized(details, lang),
    };
    let details = match finding.details.source() {
        // The file is the student's own.
        Some(source) if is_in_submission(source) => {
            details.replace(&source.to_string(), &format!("line {}", source.line))
        }
        _ => details,
    };
    let details = match kind {
        FindingKind::AbsentLanes => {
            format!("{details}{}", lang.pick(" do not arrive", " 没有到达"))
        }
        _ => details,
    };
    if !details.is_empty() {
        lines.push(format!("  {details}"));
    }
    let cause = likely_cause(
        finding,
        is_update(finding, submission),
        &submission.text,
        lang,
    );
    if !cause.is_empty() {
        lines.push(localize!(
            lang,
            "  Likely cause: {}.",
            "  可能的原因：{}。";
            cause
        ));
    }
    lines.join("\n")
}

/// Formats a thread, or a block, of a kernel.
pub fn format_thread(
    kernel: &str,
    block: [u32; 3],
    thread: Option<[u32; 3]>,
    lang: Lang,
) -> String {
    let triple = |[x, y, z]: [u32; 3]| format!("({x}, {y}, {z})");
    let thread = thread.map_or(
        String::new(),
        |thread| localize!(lang, ", thread {}", "，线程 {}"; triple(thread)),
    );
    let kernel = match kernel {
        "" => String::new(),
        kernel => localize!(lang, "`{}`, ", "`{}`，"; kernel),
    };
    let block = localize!(lang, "block {}", "线程块 {}"; triple(block));
    format!("{kernel}{block}{thread}")
}

/// Formats an access: the thread, the action, the location and the source line.
pub fn format_access(
    thread: &str,
    action: &str,
    source: &SourceLine,
    submission: &Submission,
    lang: Lang,
) -> String {
    let is_submission = is_in_submission(source);
    let location = match (&source.file, is_submission) {
        (_, true) => localize!(lang, "line {}", "第 {} 行"; source.line),
        (Some(file), false) if source.line > 0 => format!("{file}:{}", source.line),
        _ => localize!(lang, "line {} of the PTX", "PTX 第 {} 行"; source.ptx_line),
    };
    let action = match action {
        "" => String::new(),
        action => format!(" {action}"),
    };
    let head = localize!(lang, "  {}{}, at {}", "  {}{}，位于{}"; thread, action, location);
    let line = match is_submission {
        true => submission.text.lines().nth(source.line as usize - 1),
        false => None,
    };
    match line {
        Some(line) => format!("{head}\n    {:>4} | {}", source.line, line.trim_end()),
        None => head,
    }
}

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
    if let Some(cause @ Cause::BlockScope) = &finding.likely_cause {
        return localized(cause, lang);
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
    use cuda_driver::{Check, OtherAccess};

    use super::super::compile;
    use super::*;

    fn submission() -> Submission {
        Submission {
            display_name: "a.cu".to_owned(),
            text: "one\ntwo\nthree\n".to_owned(),
        }
    }

    fn line(line: u32) -> SourceLine {
        SourceLine {
            file: Some(compile::FILE_NAME.into()),
            line,
            ..SourceLine::default()
        }
    }

    fn finding(kind: FindingKind, other: Option<u32>) -> Finding {
        Finding {
            check: Check::Race,
            kind,
            severity: Severity::Error,
            kernel: "k".to_owned(),
            block: [0; 3],
            thread: [1, 0, 0],
            source: line(3),
            atomic: false,
            other: other.map(|other| OtherAccess {
                block: [0; 3],
                thread: [2, 0, 0],
                source: line(other),
                write: true,
                atomic: false,
            }),
            details: Details::None,
            likely_cause: None,
            count: 1,
            ptx_lines: [0; 2],
        }
    }

    #[test]
    fn wrong_results_are_explained_by_findings() {
        let race = finding(FindingKind::ReadAfterWrite, Some(2));
        let message = explain(&[race], &submission(), Lang::En);
        let first = "Why: line 3 reads data that line 2 may not have written yet: put a \
                     `__syncthreads()` between them.\n\n";
        assert!(message.starts_with(first), "{message}");
        assert!(
            message.contains("   2 | two") && message.contains("   3 | three"),
            "{message}"
        );
        assert_eq!(explain(&[], &submission(), Lang::En), "");
    }

    #[test]
    fn races_precede_uninitialized_reads() {
        let findings = [
            finding(FindingKind::UninitializedShared, None),
            finding(FindingKind::WriteAfterRead, Some(1)),
        ];
        let message = explain(&findings, &submission(), Lang::Zh);
        assert!(
            message.starts_with("原因：第 3 行写入时，第 1 行可能还没有读完"),
            "{message}"
        );
        let message = explain(&findings[..1], &submission(), Lang::En);
        assert!(
            message.starts_with("Why: the checks found this"),
            "{message}"
        );
        assert!(
            message.contains("A read of uninitialized shared memory"),
            "{message}"
        );
    }

    #[test]
    fn uninitialized_reads_alone_do_not_fail() {
        let case = Case {
            size: vec![1],
            seed: 1,
        };
        let passes = |kind, other| {
            let findings = [(case.clone(), finding(kind, other))];
            verdict(&findings, &submission()).is_ok()
        };
        assert!(passes(FindingKind::UninitializedShared, None));
        assert!(passes(FindingKind::UninitializedDevice, None));
        assert!(passes(FindingKind::UninitializedLocal, None));
        assert!(!passes(FindingKind::WriteAfterWrite, Some(1)));
    }

    #[test]
    fn barriers_between_two_lines_are_found() {
        let text = "tile[t] = in[i];\n__syncthreads();\nout[i] = tile[t + 1];\n";
        assert!(has_barrier_between(text, 1, 3));
        assert!(!has_barrier_between(text, 2, 3) && !has_barrier_between(text, 3, 1));
        let text = "tile[t] = in[i];\n// no __syncthreads()\nout[i] = tile[t + 1];\n";
        assert!(!has_barrier_between(text, 1, 3));
    }
}
