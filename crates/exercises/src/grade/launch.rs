//! The step `launch`: the submission runs to completion and writes every element.

use anyhow::{Error, Result};
use chapter::lang::{Lang, Text};
use common::verify::POISON;
use cuda_driver::FaultKind;

use super::tokens::{self, Hidden};
use super::{Failure, FailureKind, Stop, Submission, checks};
use crate::data::Step;
use crate::declarative::SolutionFailed;
use crate::error::format_error;
use crate::host::{Bench, Case, Host, Missing, ModifiedInput, NoReply, Output, RunResult, Values};

/// Runs the host side at one size and checks that every element of its outputs was written.
pub fn run(
    host: &dyn Host,
    bench: &Bench,
    submission: &Submission,
    case: &Case,
) -> Result<RunResult, Stop> {
    let run = bench
        .run(host, case)
        .map_err(|error| failure(error, bench, submission, case))?;
    if let Some(modified) = &run.modified {
        let message = explain_modified_input(modified);
        return Err(Stop::at_size(Step::Right, case, message));
    }
    let mut unwritten = run.outputs.iter().filter_map(Unwritten::find);
    match unwritten.next() {
        Some(unwritten) => {
            let message = Text::from_fn(|lang| unwritten.explain(lang));
            Err(stop(message, Some(FailureKind::Unwritten), case))
        }
        None => Ok(run),
    }
}

/// Returns the verdict on a run that failed with this error.
pub fn failure(error: Error, bench: &Bench, submission: &Submission, case: &Case) -> Stop {
    // The solution failed, so the submission is not at fault.
    if error.is::<SolutionFailed>() {
        return Stop::InternalError(error);
    }
    let (message, kind) = explain_failure(&error, bench, submission);
    stop(message, kind, case)
}

/// Creates a failure of this step.
fn stop(message: Text, kind: Option<FailureKind>, case: &Case) -> Stop {
    Stop::Failed(Failure {
        step: Step::Launch,
        kind,
        size: case.size.clone(),
        message,
    })
}

/// Explains why a run failed. Returns the message and the kind of failure.
pub fn explain_failure(
    error: &Error,
    bench: &Bench,
    submission: &Submission,
) -> (Text, Option<FailureKind>) {
    if let Some(NoReply(reason)) = error.downcast_ref() {
        return (reason.clone(), None);
    }
    if let Some(fault) = bench.take_fault() {
        let kind = match fault.kind {
            FaultKind::Timeout { .. } => FailureKind::TimedOut,
            _ => FailureKind::Stopped,
        };
        let message = Text::from_fn(|lang| checks::describe_fault(&fault, submission, lang));
        return (message, Some(kind));
    }
    match error.downcast_ref::<Missing>() {
        Some(missing) => (
            explain_missing(missing, submission),
            Some(FailureKind::Missing),
        ),
        None => {
            let message = |lang| {
                let reason = format_error(error, lang);
                localize!(lang, "It failed to run: {}.", "运行失败：{}。"; reason)
            };
            (Text::from_fn(message), None)
        }
    }
}

/// Explains that the submission lacks a kernel or a variable.
fn explain_missing(missing: &Missing, submission: &Submission) -> Text {
    match missing {
        Missing::Variable(name)
            if let Some(cause) = tokens::hidden_variable(&submission.text, name) =>
        {
            explain_hidden(name, cause)
        }
        Missing::Kernel(name) => text!(
            "There is no kernel `{0}`. Declare it as `extern \"C\" __global__ void {0}(…)`, with \
             this name.",
            "找不到核函数 `{0}`。请声明为 `extern \"C\" __global__ void {0}(…)`，名字不能改。";
            name
        ),
        Missing::Variable(name) => text!(
            "There is no variable `{0}`. Declare it outside of all functions, as in `extern \"C\" \
             {{ __constant__ … {0}; }}`, with this name. Its type must have a name too: the host cannot see a \
             variable of an unnamed struct.",
            "找不到变量 `{0}`。请在所有函数之外声明，例如 `extern \"C\" {{ __constant__ … {0}; \
             }}`，名字不能改。它的类型也要有名字：类型是无名结构体的变量，主机看不到。";
            name
        ),
        Missing::Length {
            name,
            bytes,
            expected,
        } => text!(
            "The variable `{}` has {} bytes instead of {}: keep its type and length.",
            "变量 `{}` 占 {} 字节，应为 {} 字节：请不要改动它的类型和长度。";
            name, bytes, expected
        ),
    }
}

/// Explains that the submission declares a variable which has another name for the host.
pub fn explain_hidden(name: &str, cause: Hidden) -> Text {
    match cause {
        Hidden::Namespace => text!(
            "The host cannot find the variable `{0}`: your file declares it in a namespace, which becomes a part of its \
             name. Move it out of the namespace.",
            "主机端找不到变量 `{0}`：你的文件把它声明在命名空间中，它的名字因此改变。请把它移到命名空间之外。";
            name
        ),
        Hidden::Word(word) => text!(
            "The host cannot find the variable `{0}`: your file declares it `{1}`, which hides it from the host. Remove \
             `{1}`.",
            "主机端找不到变量 `{0}`：你的文件把它声明为 `{1}`，使它对主机端不可见。请去掉 `{1}`。";
            name, word
        ),
    }
}

/// Explains that the kernel modified an input.
fn explain_modified_input(modified: &ModifiedInput) -> Text {
    let ModifiedInput { name, count, first } = modified;
    text!(
        "The kernel modified its input `{}`: {} elements changed, the first at [{}]. Code that \
         uses `{0}` after this kernel would read wrong data.",
        "核函数修改了输入 `{}`：有 {} 个元素被改动，第一个在 [{}] 处。在这个核函数之后使用 `{0}` \
         的代码会读到错误的数据。";
        name, count, first
    )
}

/// Elements of an output that were never written.
struct Unwritten<'a> {
    output: &'a Output,
    first: usize,
    count: usize,
}

impl Unwritten<'_> {
    /// Finds the unwritten elements of an output; `None` if there are none.
    fn find(output: &Output) -> Option<Unwritten<'_>> {
        const UNWRITTEN: u32 = u32::from_ne_bytes([POISON; 4]);
        let (actual, expected) = (bits(&output.actual), bits(&output.expected));
        let is_unwritten =
            |(actual, expected): (&u32, &u32)| *actual == UNWRITTEN && *expected != UNWRITTEN;
        let mut unwritten = actual.iter().zip(&expected).map(is_unwritten);
        let first = unwritten.position(|element| element)?;
        let count = 1 + unwritten.filter(|&element| element).count();
        Some(Unwritten {
            output,
            first,
            count,
        })
    }

    /// Explains which elements were not written.
    fn explain(&self, lang: Lang) -> String {
        let Unwritten {
            output,
            first,
            count,
        } = *self;
        let all = output.shape.iter().product::<usize>();
        if count == all && count == 1 {
            return localize!(
                lang,
                "The kernel ran but did not write the only element of `{}`. Which thread should \
                 have written it?",
                "核函数运行了，但没有写入 `{}` 唯一的元素。它本应由哪个线程来写？";
                output.name
            );
        }
        if count == all {
            return localize!(
                lang,
                "The kernel ran but wrote nothing to `{}`: all {} elements are unchanged.",
                "核函数运行了，但没有向 `{}` 写入任何内容：{} 个元素都没有变化。";
                output.name, all
            );
        }
        localize!(
            lang,
            "{1} of the {2} elements of `{0}` {4} never written, the first at {3}. Which thread should \
             have written it?",
            "`{0}` 的 {2} 个元素中有 {1} 个从未写入，第一个在 {3} 处{4}。它本应由哪个线程来写？";
            output.name, count, all, super::results::format_index(&output.shape, first),
            lang.pick(if count == 1 { "was" } else { "were" }, "")
        )
    }
}

fn bits(values: &Values) -> Vec<u32> {
    match values {
        Values::Floats(values) => values.iter().map(|value| value.to_bits()).collect(),
        Values::Integers(values) => values.iter().map(|value| value.cast_unsigned()).collect(),
        Values::Unsigned(values) => values.clone(),
    }
}
