//! The step `checks`: what the simulator found while the answer ran. Also what it says where it had to
//! stop a kernel.

use cuda_driver::{Fault, FaultKind, Finding, Severity, SourceLine};

use super::kinds::{title, usually};
use super::{Answer, Failure, Stop, compile};
use crate::data::Step;
use crate::host::Case;
use crate::lang::Lang;

/// How many mistakes are shown.
const SHOWN: usize = 2;

/// Whether anything was found; warnings count, for a course has no use for what may be meant so.
pub fn verdict(findings: &[(Case, Finding)], answer: &Answer, lang: Lang) -> Result<(), Stop> {
    let mut sorted: Vec<&(Case, Finding)> = findings.iter().collect();
    sorted.sort_by_key(|(_, finding)| finding.severity);
    let mut once: Vec<&(Case, Finding)> = Vec::new();
    for found in sorted {
        if !once.iter().any(|known| is_alike(&known.1, &found.1)) {
            once.push(found);
        }
    }
    let Some((case, first)) = once.first() else {
        return Ok(());
    };
    let shown = once.iter().take(SHOWN);
    let shown: Vec<String> = shown
        .map(|(_, finding)| describe(finding, answer, lang))
        .collect();
    let head = match first.severity {
        Severity::Error => say!(
            lang,
            "The results are right, by chance: on another GPU, or another day, they may not be.",
            "结果正确只是碰巧：换一个 GPU，或者换一次运行，就可能出错。"
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
        message: format!("{head}\n\n{}", shown.join("\n\n")),
    }))
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
        FaultKind::Timeout(limit) => say!(
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
            let who = who(&place.kernel, place.block, Some(place.thread), lang);
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
    let threads = kind != cuda_driver::FindingKind::BetweenBlocks;
    let thread = threads.then_some(finding.thread);
    let does = match (&finding.other, kind) {
        (None, _) => "",
        (_, cuda_driver::FindingKind::ReadAfterWrite) => lang.pick("reads", "读取"),
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
