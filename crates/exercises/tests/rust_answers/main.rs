//! Rust submissions that try to do more than return results, in safe Rust and in a folder of the test's own.
//! Each gets the verdict that it deserves and leaves everything unchanged.

#[path = "../support/mod.rs"]
mod support;

mod compiling;
mod costs;
mod forged;
mod harm;
mod others;
mod room;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use room::Room;
use support::{unless, with_clang, without_clang};

/// The time limit of a submission in seconds, generous because the machine may be busy.
const SECONDS: &str = "60";

/// A submission that attempts something.
#[derive(Clone, Copy)]
struct Try {
    name: &'static str,
    /// Additional items of the submission.
    items: &'static str,
    /// The statements that its function `blocks` executes first. `FOLDER` is replaced by the test's folder;
    /// `CHECKOUT`, `PORT` and `COURSE.RLIB` are replaced too.
    does: &'static str,
    /// The expression that `blocks` returns.
    returns: &'static str,
    /// The step that rejects the submission and parts of the message; `None` if it passes.
    rejected: Option<(&'static str, &'static [&'static str])>,
    seconds: &'static str,
}

/// The correct result of `blocks`.
const RIGHT: &str = "count.div_ceil(block)";

impl Try {
    /// A correct submission, which passes because its attempts have no effect.
    const fn passes(name: &'static str, does: &'static str) -> Try {
        Try {
            name,
            items: "",
            does,
            returns: RIGHT,
            rejected: None,
            seconds: SECONDS,
        }
    }

    /// A submission that is rejected.
    const fn rejected(
        name: &'static str,
        does: &'static str,
        step: &'static str,
        says: &'static [&'static str],
    ) -> Try {
        Try {
            rejected: Some((step, says)),
            ..Try::passes(name, does)
        }
    }

    /// Sets the additional items.
    const fn items(self, items: &'static str) -> Try {
        Try { items, ..self }
    }

    /// Makes the result wrong.
    const fn wrong(self) -> Try {
        Try {
            returns: "count / block",
            ..self
        }
    }

    /// Sets the time limit in seconds.
    const fn within(self, seconds: &'static str) -> Try {
        Try { seconds, ..self }
    }

    fn run(&self) -> Result<(), Failed> {
        let room = Room::new();
        let text = support::blocks(self.items, self.does, self.returns);
        let (code, record) = room.graded("03", &room.filled(&text), self.seconds);
        let message = record["message"].as_str().unwrap_or_default();
        let step = record["step"].as_str();
        let is_so = match self.rejected {
            None => code == 0 && record["passed"] == true,
            Some((at, says)) => {
                code == 1 && step == Some(at) && says.iter().all(|part| message.contains(part))
            }
        };
        if !is_so {
            return Err(format!("exit code {code}, not {:?}: {record:#}", self.rejected).into());
        }
        room.is_as_it_was(&record)
    }
}

/// Returns the reason why a program's files cannot be protected here.
fn not_kept() -> Option<&'static str> {
    let why = confine::kept().reason()?.to_owned();
    Some(why.leak())
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let anywhere = [forged::TRIES, compiling::TRIES, costs::TRIES].concat();
    let mut tests: Vec<Trial> = anywhere
        .into_iter()
        .map(|it| with_clang(it.name, move || it.run()))
        .collect();
    let missing = without_clang().or(not_kept());
    tests.extend(
        [harm::TRIES, forged::KEPT_BY_THE_SYSTEM]
            .concat()
            .into_iter()
            .map(|it| unless(missing, it.name, move || it.run())),
    );
    tests.extend(others::tests(missing));
    libtest_mimic::run(&arguments, tests).exit_code()
}
