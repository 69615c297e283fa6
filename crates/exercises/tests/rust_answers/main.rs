//! What an answer in Rust may do: return what its functions return. Each of these tries more, from safe Rust,
//! in a folder of the test's own; it gets the verdict it deserves, and leaves all as it was.

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

/// How long an answer may take: the machine may have other things to do.
const SECONDS: &str = "60";

/// An answer that tries something.
#[derive(Clone, Copy)]
struct Try {
    name: &'static str,
    /// Items of it.
    items: &'static str,
    /// What its function `blocks` does before it returns. `FOLDER` is the test's own, and `CHECKOUT`, `PORT`
    /// and `COURSE.RLIB` are what their names say.
    does: &'static str,
    /// What that returns.
    returns: &'static str,
    /// The step that rejects it, and what is said; none where it passes.
    rejected: Option<(&'static str, &'static [&'static str])>,
    seconds: &'static str,
}

/// What is right.
const RIGHT: &str = "count.div_ceil(block)";

impl Try {
    /// A right answer, which passes: nothing that it tries comes to anything.
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

    /// One that is rejected.
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

    /// With other items.
    const fn items(self, items: &'static str) -> Try {
        Try { items, ..self }
    }

    /// With a wrong result.
    const fn wrong(self) -> Try {
        Try {
            returns: "count / block",
            ..self
        }
    }

    /// Within so many seconds.
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

/// Why a program's files are open to it here.
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
