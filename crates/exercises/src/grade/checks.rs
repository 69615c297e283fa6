//! The step `checks`: the simulator's findings while the submission ran, and messages for kernels that it had
//! to stop.

use cuda_driver::{Fault, FaultKind, Finding, FindingKind, Severity, SourceLine, TimeLimit};

use super::kinds::{title, usually};
use super::{Answer, Failure, Stop, chinese, code, compile};
use crate::data::{Step, Text};
use crate::host::Case;
use crate::lang::Lang;

/// The number of findings shown when the findings are the failure.
const SHOWN: usize = 2;
/// The number of findings shown as the cause of another failure.
const SHOWN_WHY: usize = 1;

/// Fails if there are findings. Warnings count, because an exercise has no excuse for suspicious code. Reads
/// of uninitialized memory do not: runs with other memory contents show whether the results depend on them.
pub fn verdict(findings: &[(Case, Finding)], answer: &Answer) -> Result<(), Stop> {
    let wrong = findings.iter().filter(|(_, it)| !is_unwritten(it.kind));
    let mut sorted: Vec<&(Case, Finding)> = wrong.collect();
    sorted.sort_by_key(|(_, finding)| finding.severity);
    let Some((case, first)) = sorted.first() else {
        return Ok(());
    };
    let message = Text::both(|lang| {
        let findings = sorted.iter().map(|(_, finding)| finding);
        let shown = shown(findings, SHOWN, answer, lang);
        let head = match first.severity {
            Severity::Error => say!(
                lang,
                "The results are right, by chance: on another GPU, or another day, they may not be.",
                "结果正确只是碰巧：换一个 GPU，或者再运行一次，就可能出错。"
            ),
            Severity::Warning => say!(
                lang,
                "The results are right, but this is left to chance:",
                "结果正确，但这里要靠运气："
            ),
        };
        format!("{head}\n\n{shown}")
    });
    Err(Stop::Failed(Failure {
        step: Step::Checks,
        kind: None,
        size: case.size.clone(),
        message,
    }))
}

/// Explains wrong results by the findings of the same run; empty if there are none.
pub fn reasons(findings: &[Finding], answer: &Answer, lang: Lang) -> String {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|finding| (finding.severity, is_unwritten(finding.kind)));
    let Some(first) = sorted.first() else {
        return String::new();
    };
    let head = match why(first, answer, lang) {
        Some(sentence) => say!(lang, "Why: {}", "原因：{}"; sentence),
        None => say!(
            lang,
            "Why: this was found while it ran.",
            "原因：运行时发现了以下问题。"
        ),
    };
    let shown = shown(sorted.into_iter(), SHOWN_WHY, answer, lang);
    format!("{head}\n\n{shown}")
}

/// Formats the first findings, omitting duplicates.
fn shown<'a>(
    findings: impl Iterator<Item = &'a Finding>,
    most: usize,
    answer: &Answer,
    lang: Lang,
) -> String {
    let mut once: Vec<&Finding> = Vec::new();
    for finding in findings {
        if !once.iter().any(|known| is_alike(known, finding)) {
            once.push(finding);
        }
    }
    let shown = once.iter().take(most);
    let shown: Vec<String> = shown
        .map(|finding| describe(finding, answer, lang))
        .collect();
    shown.join("\n\n")
}

/// Returns true for reads of uninitialized memory.
fn is_unwritten(kind: FindingKind) -> bool {
    matches!(
        kind,
        FindingKind::UnwrittenDevice | FindingKind::UnwrittenShared
    )
}

/// Returns true if both lines of a race update one location of device memory by reading and writing it, which
/// a barrier cannot fix. In shared memory, a barrier per iteration can fix a loop that does so.
fn is_update(finding: &Finding, answer: &Answer) -> bool {
    let changes = |source: &SourceLine| {
        let place = (source.line as usize).checked_sub(1);
        let line = place.and_then(|place| answer.text.lines().nth(place));
        let code = line.map_or("", code);
        let updates = ["+=", "-=", "*=", "|=", "&=", "^=", "++", "--"];
        updates.iter().any(|update| code.contains(update))
    };
    let other = finding.other.as_ref().map(|other| &other.source);
    let same = other.is_some_and(|other| other.line == finding.source.line);
    let both = changes(&finding.source) && other.is_some_and(changes);
    !finding.what.contains("of shared memory") && (same || both)
}

/// Returns a sentence about a race whose lines are both in the submission: what must separate them.
fn why(finding: &Finding, answer: &Answer, lang: Lang) -> Option<String> {
    let line = |source: &SourceLine| {
        let own = source.file.as_deref() == Some(compile::NAME) && source.line > 0;
        own.then_some(source.line)
    };
    let (one, other) = (
        line(&finding.source)?,
        line(&finding.other.as_ref()?.source)?,
    );
    let sentence = match finding.kind {
        FindingKind::BetweenBlocks if one == other => say!(
            lang,
            "line {} uses one place in device memory from different blocks. Does its index count the blocks \
             before this one, or does a loop's step leave no place twice? A sum over blocks takes an atomic \
             operation.",
            "第 {} 行从不同的线程块使用设备内存的同一位置。它的下标算上了前面的线程块吗？循环的跨度会不会让一个位置用到两次？\
             跨线程块求和则需要原子操作。";
            one
        ),
        FindingKind::ReadAfterWrite
        | FindingKind::WriteAfterRead
        | FindingKind::WriteAfterWrite
            if is_update(finding, answer) =>
        {
            say!(
                lang,
                "line {} changes a place in device memory that other threads change as well, and one update may be \
                 lost: each thread needs an index of its own, or the update an atomic operation.",
                "第 {} 行修改的设备内存位置，别的线程也在修改，其中一次更新可能会丢失：应让每个线程有自己的下标，\
                 或者用原子操作来更新。";
                one
            )
        }
        FindingKind::ReadAfterWrite | FindingKind::WriteAfterRead if one == other => say!(
            lang,
            "line {} reads and writes what several threads use at the same time. Where they change one place, that \
             takes an atomic operation; where a loop comes back to the line, each round takes a `__syncthreads()`.",
            "第 {} 行读写的位置同时被几个线程使用。如果它们修改同一个位置，就需要原子操作；如果是循环回到这一行，\
             每一轮都需要一次 `__syncthreads()`。";
            one
        ),
        FindingKind::ReadAfterWrite => say!(
            lang,
            "line {} reads what line {} may not have written yet: a `__syncthreads()` belongs between them.",
            "第 {} 行读取时，第 {} 行可能还没有写完：两者之间需要一次 `__syncthreads()`。";
            one, other
        ),
        FindingKind::WriteAfterRead => say!(
            lang,
            "line {} writes over what line {} may not have read yet: a `__syncthreads()` belongs between \
             them.",
            "第 {} 行写入时，第 {} 行可能还没有读完：两者之间需要一次 `__syncthreads()`。";
            one, other
        ),
        FindingKind::WriteAfterWrite => say!(
            lang,
            "lines {} and {} write to one place for different threads, and either may be last: each needs a \
             place of its own, or an atomic operation.",
            "第 {} 行和第 {} 行由不同的线程写入同一位置，谁最后写并不确定：应各写各的位置，或者使用原子操作。";
            one, other
        ),
        FindingKind::BetweenBlocks => say!(
            lang,
            "lines {} and {} use one place in device memory from different blocks, which no barrier \
             keeps apart: it takes an atomic operation, or a place for each block.",
            "第 {} 行和第 {} 行从不同的线程块使用设备内存的同一位置，没有任何同步能隔开它们：需要原子操作，\
             或者每个线程块各用一处。";
            one, other
        ),
        _ => return None,
    };
    Some(sentence)
}

/// Returns true if two findings are of the same kind in the same line, for example at different sizes.
fn is_alike(one: &Finding, other: &Finding) -> bool {
    (one.kind, one.source.line) == (other.kind, other.source.line)
}

/// Formats the fault that ended a launch.
pub fn stopped(fault: &Fault, answer: &Answer, lang: Lang) -> String {
    if let Some(finding) = fault.finding() {
        return say!(
            lang,
            "The kernel was stopped. {}",
            "核函数被中止。{}";
            describe(&finding, answer, lang)
        );
    }
    let what = match &fault.kind {
        FaultKind::Timeout {
            limit: TimeLimit::Launch(limit) | TimeLimit::Standstill(limit),
            ..
        } => say!(
            lang,
            "The kernel had not ended after {} s, and takes a fraction of that. Look at the conditions \
             of its loops: is there a thread that never leaves one?",
            "核函数运行 {} 秒仍未结束，而正常情况下只需其中很小一部分。请检查各循环的条件：\
             是否有线程永远不会离开循环？";
            limit.as_secs_f64()
        ),
        FaultKind::Assert { message } => say!(
            lang,
            "An assert of the kernel failed: {}",
            "核函数中的 assert 不成立：{}";
            message
        ),
        FaultKind::Trap | FaultKind::Breakpoint => say!(
            lang,
            "The kernel stopped itself: by `__trap()`, or by a function that is only declared.",
            "核函数自行中止：执行了 `__trap()`，或者调用了只有声明、没有定义的函数。"
        ),
        kind => {
            let what = kind.to_string();
            let what = match lang {
                Lang::En => what,
                Lang::Zh => chinese::of(&what).unwrap_or(what),
            };
            say!(lang, "The kernel was stopped: {}.", "核函数被中止：{}。"; what)
        }
    };
    match &fault.place {
        None => what,
        Some(place) => {
            let mut who = who(&place.kernel, place.block, Some(place.thread), lang);
            if let FaultKind::Timeout { .. } = fault.kind {
                who += &say!(lang, " of warp {}", "（线程束 {}）"; place.warp);
            }
            format!("{what}\n{}", at(&who, "", &place.source, answer, lang))
        }
    }
}

/// Formats a finding: kind, access and line, the other access, details, and the likely cause.
fn describe(finding: &Finding, answer: &Answer, lang: Lang) -> String {
    let kind = finding.kind;
    let times = match finding.count {
        1 => String::new(),
        many => say!(lang, " ({} times)", "（{} 次）"; many),
    };
    let threads = kind != FindingKind::BetweenBlocks;
    let thread = threads.then_some(finding.thread);
    let does = match (&finding.other, kind) {
        (None, _) => "",
        (_, FindingKind::ReadAfterWrite) => lang.pick("reads", "读取"),
        (_, FindingKind::CopyNotAwaited) => lang.pick("uses it", "使用数据"),
        _ => lang.pick("writes", "写入"),
    };
    let who_one = who(&finding.kernel, finding.block, thread, lang);
    let mut lines = vec![
        format!("{}{times}{}", title(kind, lang), lang.pick(":", "：")),
        at(&who_one, does, &finding.source, answer, lang),
    ];
    if let Some(other) = &finding.other {
        let does = match other.write {
            true if kind == FindingKind::CopyNotAwaited => lang.pick("copies", "复制"),
            true => lang.pick("writes", "写入"),
            false => lang.pick("reads", "读取"),
        };
        let thread = threads.then_some(other.thread);
        let who = who("", other.block, thread, lang);
        lines.push(at(&who, does, &other.source, answer, lang));
    }
    let what = with_lines(&finding.what);
    let what = match lang {
        Lang::En => what.replace("\n  ", ": "),
        // An untranslated sentence is better than none.
        Lang::Zh => chinese::of(&what).unwrap_or(what),
    };
    let what = match kind {
        FindingKind::AbsentLanes => format!("{what}{}", lang.pick(" do not come", " 没有到达")),
        _ => what,
    };
    if !what.is_empty() {
        lines.push(format!("  {what}"));
    }
    let usually = usually(finding, is_update(finding, answer), &answer.text, lang);
    if !usually.is_empty() {
        lines.push(say!(
            lang,
            "  Usually: {}.",
            "  常见原因：{}。";
            usually
        ));
    }
    lines.join("\n")
}

/// Replaces `answer.cu:7 (PTX line 70)` by `line 7`, because the file is the student's own.
fn with_lines(what: &str) -> String {
    let file = format!("{}:", compile::NAME);
    let mut pieces = what.split(&file);
    let mut said = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let digits = piece.len()
            - piece
                .trim_start_matches(|it: char| it.is_ascii_digit())
                .len();
        let (line, rest) = piece.split_at(digits);
        let rest = match rest
            .strip_prefix(" (PTX line ")
            .and_then(|it| it.split_once(')'))
        {
            Some((_, rest)) => rest,
            None => rest,
        };
        said.push_str(&format!("line {line}{rest}"));
    }
    said
}

/// Formats a thread, or a block, of a kernel.
pub fn who(kernel: &str, block: [u32; 3], thread: Option<[u32; 3]>, lang: Lang) -> String {
    let triple = |[x, y, z]: [u32; 3]| format!("({x}, {y}, {z})");
    let thread = thread.map_or(
        String::new(),
        |thread| say!(lang, ", thread {}", "，线程 {}"; triple(thread)),
    );
    let kernel = match kernel {
        "" => String::new(),
        kernel => say!(lang, "`{}`, ", "`{}`，"; kernel),
    };
    let block = say!(lang, "block {}", "线程块 {}"; triple(block));
    format!("{kernel}{block}{thread}")
}

/// Formats an access: the thread, the action, the location and the source line.
pub fn at(who: &str, does: &str, source: &SourceLine, answer: &Answer, lang: Lang) -> String {
    let own = source.file.as_deref() == Some(compile::NAME) && source.line > 0;
    let place = match (&source.file, own) {
        (_, true) => say!(lang, "line {}", "第 {} 行"; source.line),
        (Some(file), false) if source.line > 0 => format!("{file}:{}", source.line),
        _ => say!(lang, "line {} of the PTX", "PTX 第 {} 行"; source.ptx_line),
    };
    let does = match does {
        "" => String::new(),
        does => format!(" {does}"),
    };
    let head = say!(lang, "  {}{}, at {}", "  {}{}，位于{}"; who, does, place);
    let line = match own {
        true => answer.text.lines().nth(source.line as usize - 1),
        false => None,
    };
    match line {
        Some(line) => format!("{head}\n    {:>4} | {}", source.line, line.trim_end()),
        None => head,
    }
}

#[cfg(test)]
mod tests {
    use cuda_driver::{Check, OtherAccess};

    use super::*;

    fn answer() -> Answer {
        Answer {
            shown: "a.cu".to_owned(),
            text: "one\ntwo\nthree\n".to_owned(),
        }
    }

    fn line(line: u32) -> SourceLine {
        SourceLine {
            file: Some(compile::NAME.into()),
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
            other: other.map(|other| OtherAccess {
                block: [0; 3],
                thread: [2, 0, 0],
                source: line(other),
                write: true,
            }),
            what: String::new(),
            usually: String::new(),
            count: 1,
        }
    }

    #[test]
    fn wrong_results_have_a_reason() {
        let race = finding(FindingKind::ReadAfterWrite, Some(2));
        let said = reasons(&[race], &answer(), Lang::En);
        let first = "Why: line 3 reads what line 2 may not have written yet: a `__syncthreads()` belongs \
                     between them.\n\n";
        assert!(said.starts_with(first), "{said}");
        assert!(
            said.contains("   2 | two") && said.contains("   3 | three"),
            "{said}"
        );
        assert_eq!(reasons(&[], &answer(), Lang::En), "");
    }

    #[test]
    fn a_race_comes_before_what_nobody_wrote() {
        let findings = [
            finding(FindingKind::UnwrittenShared, None),
            finding(FindingKind::WriteAfterRead, Some(1)),
        ];
        let said = reasons(&findings, &answer(), Lang::Zh);
        assert!(
            said.starts_with("原因：第 3 行写入时，第 1 行可能还没有读完"),
            "{said}"
        );
        let said = reasons(&findings[..1], &answer(), Lang::En);
        assert!(said.starts_with("Why: this was found"), "{said}");
        assert!(said.contains("no thread of the block wrote"), "{said}");
    }

    #[test]
    fn reading_what_nobody_wrote_is_no_mistake_by_itself() {
        let case = Case {
            size: vec![1],
            seed: 1,
        };
        let judge = |kind, other| {
            let found = [(case.clone(), finding(kind, other))];
            verdict(&found, &answer()).is_ok()
        };
        assert!(judge(FindingKind::UnwrittenShared, None));
        assert!(judge(FindingKind::UnwrittenDevice, None));
        assert!(!judge(FindingKind::WriteAfterWrite, Some(1)));
    }
}
