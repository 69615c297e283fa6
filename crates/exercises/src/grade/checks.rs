//! The step `checks`: what the simulator found while the answer ran. Also what it says where it had to
//! stop a kernel.

use cuda_driver::{Fault, FaultKind, Finding, FindingKind, Severity, SourceLine, TimeLimit};

use super::kinds::{title, usually};
use super::{Answer, Failure, Stop, compile};
use crate::data::Step;
use crate::host::Case;
use crate::lang::Lang;

/// How many mistakes are shown.
const SHOWN: usize = 2;

/// Whether anything was found; warnings count, for a course has no use for what may be meant so. A read
/// of what nobody wrote is none: whether results depend on it shows where such memory holds other things.
pub fn verdict(findings: &[(Case, Finding)], answer: &Answer, lang: Lang) -> Result<(), Stop> {
    let wrong = findings.iter().filter(|(_, it)| !is_unwritten(it.kind));
    let mut sorted: Vec<&(Case, Finding)> = wrong.collect();
    sorted.sort_by_key(|(_, finding)| finding.severity);
    let Some((case, first)) = sorted.first() else {
        return Ok(());
    };
    let shown = shown(sorted.iter().map(|(_, finding)| finding), answer, lang);
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
    Err(Stop::Failed(Failure {
        step: Step::Checks,
        size: case.size.clone(),
        message: format!("{head}\n\n{shown}"),
    }))
}

/// Why results are wrong, in words: what was found while they came about. Empty where nothing was.
pub fn reasons(findings: &[Finding], answer: &Answer, lang: Lang) -> String {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|finding| (finding.severity, is_unwritten(finding.kind)));
    let Some(first) = sorted.first() else {
        return String::new();
    };
    let head = match why(first, lang) {
        Some(sentence) => say!(lang, "Why: {}", "原因：{}"; sentence),
        None => say!(
            lang,
            "Why: this was found while it ran.",
            "原因：运行时发现了以下问题。"
        ),
    };
    format!("{head}\n\n{}", shown(sorted.into_iter(), answer, lang))
}

/// The first mistakes in words, each once.
fn shown<'a>(findings: impl Iterator<Item = &'a Finding>, answer: &Answer, lang: Lang) -> String {
    let mut once: Vec<&Finding> = Vec::new();
    for finding in findings {
        if !once.iter().any(|known| is_alike(known, finding)) {
            once.push(finding);
        }
    }
    let shown = once.iter().take(SHOWN);
    let shown: Vec<String> = shown
        .map(|finding| describe(finding, answer, lang))
        .collect();
    shown.join("\n\n")
}

/// A read of memory that nobody has written.
fn is_unwritten(kind: FindingKind) -> bool {
    matches!(
        kind,
        FindingKind::UnwrittenDevice | FindingKind::UnwrittenShared
    )
}

/// A race in a sentence, where both of its lines are the answer's: what has to be between them.
fn why(finding: &Finding, lang: Lang) -> Option<String> {
    let line = |source: &SourceLine| {
        let own = source.file.as_deref() == Some(compile::NAME) && source.line > 0;
        own.then_some(source.line)
    };
    let (one, other) = (
        line(&finding.source)?,
        line(&finding.other.as_ref()?.source)?,
    );
    let sentence = match finding.kind {
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

/// The same mistake in the same line, at another size.
fn is_alike(one: &Finding, other: &Finding) -> bool {
    (one.kind, one.source.line) == (other.kind, other.source.line)
}

/// What ended a launch before its time.
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
        _ => say!(lang, "The kernel was stopped: {}", "核函数被中止：{}"; fault),
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

/// A mistake in words: what, who, in which line, what else is known, what usually causes it.
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
        _ => lang.pick("writes", "写入"),
    };
    let who_one = who(&finding.kernel, finding.block, thread, lang);
    let mut lines = vec![
        format!("{}{times}{}", title(kind, lang), lang.pick(":", "：")),
        at(&who_one, does, &finding.source, answer, lang),
    ];
    if let Some(other) = &finding.other {
        let does = match other.write {
            true => lang.pick("writes", "写入"),
            false => lang.pick("reads", "读取"),
        };
        let thread = threads.then_some(other.thread);
        let who = who("", other.block, thread, lang);
        lines.push(at(&who, does, &other.source, answer, lang));
    }
    if !finding.what.is_empty() {
        // The simulator's own words, sizes and addresses among them.
        lines.push(say!(
            lang,
            "  {}",
            "  模拟器的记录：{}";
            finding.what.replace("\n  ", ": ")
        ));
    }
    let usually = usually(finding, lang);
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

fn who(kernel: &str, block: [u32; 3], thread: Option<[u32; 3]>, lang: Lang) -> String {
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

/// Who does something, where, and that line of the answer.
fn at(who: &str, does: &str, source: &SourceLine, answer: &Answer, lang: Lang) -> String {
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
            verdict(&found, &answer(), Lang::En).is_ok()
        };
        assert!(judge(FindingKind::UnwrittenShared, None));
        assert!(judge(FindingKind::UnwrittenDevice, None));
        assert!(!judge(FindingKind::WriteAfterWrite, Some(1)));
    }
}
