//! Rust submissions that try to do more than return results, in safe Rust and in a folder of the test's own.
//! Each gets the verdict that it deserves and leaves everything unchanged.

#[path = "../support/mod.rs"]
mod support;

mod escapes;
mod failures;
mod forged;
mod includes;
mod others;
mod sandbox;
mod unchecked;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use sandbox::Sandbox;
use support::{missing_clang, unless, with_clang};

/// The time limit of a submission in seconds, generous because the machine may be busy.
const SECONDS: &str = "60";

/// A submission that attempts something.
#[derive(Clone, Copy)]
struct Attempt {
    name: &'static str,
    /// Additional items of the submission.
    with_items: &'static str,
    /// The statements that its function `blocks` executes first. `FOLDER` is replaced by the test's folder;
    /// `CHECKOUT`, `PORT` and `COURSE.RLIB` are replaced too.
    statements: &'static str,
    /// The expression that `blocks` returns.
    result: &'static str,
    /// The step that rejects the submission and parts of the message; `None` if it passes.
    rejected_as: Option<(&'static str, &'static [&'static str])>,
    seconds: &'static str,
}

/// The correct result of `blocks`.
const RIGHT: &str = "count.div_ceil(block)";

impl Attempt {
    /// A correct submission, which passes because its attempts have no effect.
    const fn passes(name: &'static str, statements: &'static str) -> Attempt {
        Attempt {
            name,
            with_items: "",
            statements,
            result: RIGHT,
            rejected_as: None,
            seconds: SECONDS,
        }
    }

    /// A submission that is rejected.
    const fn rejected_as(
        name: &'static str,
        statements: &'static str,
        step: &'static str,
        parts: &'static [&'static str],
    ) -> Attempt {
        Attempt {
            rejected_as: Some((step, parts)),
            ..Attempt::passes(name, statements)
        }
    }

    /// Sets the additional items.
    const fn with_items(self, with_items: &'static str) -> Attempt {
        Attempt { with_items, ..self }
    }

    /// Makes the result wrong.
    const fn with_wrong_result(self) -> Attempt {
        Attempt {
            result: "count / block",
            ..self
        }
    }

    /// Sets the time limit in seconds.
    const fn with_time_limit(self, seconds: &'static str) -> Attempt {
        Attempt { seconds, ..self }
    }

    fn run(&self) -> Result<(), Failed> {
        let sandbox = Sandbox::new();
        let text = support::blocks(self.with_items, self.statements, self.result);
        let (code, record) = sandbox.grade("03", &sandbox.fill(&text), self.seconds);
        let message = record["message"].as_str().unwrap_or_default();
        let step = record["step"].as_str();
        let is_as_expected = match self.rejected_as {
            None => code == 0 && record["passed"] == true,
            Some((at, parts)) => {
                code == 1 && step == Some(at) && parts.iter().all(|part| message.contains(part))
            }
        };
        if !is_as_expected {
            return Err(format!("exit code {code}, not {:?}: {record:#}", self.rejected_as).into());
        }
        sandbox.assert_unchanged(&record)
    }
}

/// Returns the reason why a program's files cannot be protected here.
fn unconfined_reason() -> Option<&'static str> {
    let text = confine::support().reason()?.to_owned();
    Some(text.leak())
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let anywhere = [
        forged::ATTEMPTS,
        includes::ATTEMPTS,
        unchecked::ATTEMPTS,
        failures::ATTEMPTS,
        failures::HARMLESS,
    ]
    .concat();
    let mut tests: Vec<Trial> = anywhere
        .into_iter()
        .map(|attempt| with_clang(attempt.name, move || attempt.run()))
        .collect();
    let missing = missing_clang().or(unconfined_reason());
    tests.extend(
        [escapes::ATTEMPTS, forged::NEED_CONFINEMENT]
            .concat()
            .into_iter()
            .map(|attempt| unless(missing, attempt.name, move || attempt.run())),
    );
    tests.extend(others::tests(missing));
    libtest_mimic::run(&arguments, tests).exit_code()
}
