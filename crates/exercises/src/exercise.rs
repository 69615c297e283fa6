//! An exercise of the course: its texts, its data and its host side.

use std::sync::OnceLock;

use anyhow::Result;

use crate::data::{self, Data};
use crate::host::Host;
use crate::lang::Lang;
use crate::worker::HostExercise;

/// An exercise. All its files are compiled into the program, so none can be missing at run time.
pub struct Exercise {
    /// Number and name, as in `01-first-thread`.
    pub name: &'static str,
    /// The contents of `exercise.toml`.
    pub toml: &'static str,
    /// The contents of `statement.en.md` and `statement.zh.md`.
    pub statement: [&'static str; 2],
    /// The start file.
    pub start: &'static str,
    /// The course's solution.
    pub solution: &'static str,
    /// The side that the student writes: the kernel in CUDA C or the host in Rust.
    pub side: Side,
    /// The path of the course's folder, for messages.
    pub course: &'static str,
    data: OnceLock<Data>,
}

/// The side of a program that a student writes.
pub enum Side {
    /// The kernel, in a `.cu` file; the course provides the host side.
    Kernel(&'static dyn Host),
    /// The host side, in a `.rs` file; the exercise's `main.rs` is compiled around it and replies to requests.
    Host {
        /// The grader's side, which sends requests and has the expected replies.
        grader: &'static dyn HostExercise,
        /// The contents of `main.rs`.
        main: &'static str,
        /// The contents of `kernel.cu`; empty if there is none.
        kernel: &'static str,
    },
}

impl Exercise {
    /// Creates an exercise from its files. The macro [`exercise!`](crate::exercise!) includes them.
    pub const fn new(
        name: &'static str,
        toml: &'static str,
        statement: [&'static str; 2],
        start: &'static str,
        solution: &'static str,
        side: Side,
    ) -> Exercise {
        Exercise {
            name,
            toml,
            statement,
            start,
            solution,
            side,
            course: "kernels/exercises",
            data: OnceLock::new(),
        }
    }

    /// Returns the data in `exercise.toml`, parsed on first use.
    ///
    /// # Errors
    ///
    /// Fails if that file is invalid; the course's tests parse every one.
    pub fn data(&self) -> Result<&Data> {
        if let Some(data) = self.data.get() {
            return Ok(data);
        }
        let is_kernel = matches!(self.side, Side::Kernel(_));
        let file = format!("{}/{}/exercise.toml", self.course, self.name);
        let data = data::parse(&file, self.toml, is_kernel)?;
        Ok(self.data.get_or_init(|| data))
    }

    /// Returns the statement in a language.
    pub fn statement(&self, lang: Lang) -> &'static str {
        let [en, zh] = self.statement;
        lang.pick(en, zh)
    }

    /// Returns the name of the file that the student edits, such as `01-first-thread.cu`.
    pub fn file(&self) -> String {
        format!("{}.{}", self.name, self.extension())
    }

    /// Returns the extension of that file, `cu` or `rs`.
    pub fn extension(&self) -> &'static str {
        match self.side {
            Side::Kernel(_) => "cu",
            Side::Host { .. } => "rs",
        }
    }

    /// Returns true if `text` is this exercise's number, name, or both.
    pub fn matches(&self, text: &str) -> bool {
        let (number, name) = self.name.split_once('-').unwrap_or(("", self.name));
        let is_number = text.parse::<u32>().is_ok() && number.parse::<u32>() == text.parse();
        is_number || text == name || text == self.name || text == self.file()
    }
}

/// Creates an exercise from its files in `kernels/exercises`.
///
/// - `exercise!("01-first-thread")`: `exercise.toml` describes the launches.
/// - `exercise!("06-fields", Fields)`: the host side is written in Rust.
/// - `exercise!("10-pitched-copy", rust PitchedCopy)`: the student writes Rust.
/// - `exercise!("25-events", rust Events, kernel)`: the student writes Rust, and the course provides a kernel.
#[macro_export]
macro_rules! exercise {
    ($name:literal, rust $grader:expr, kernel) => {
        $crate::exercise!(@ $name, "rs", $crate::exercise::Side::Host {
            grader: &$grader,
            main: $crate::exercise!(@file $name, "main.rs"),
            kernel: $crate::exercise!(@file $name, "kernel.cu"),
        })
    };
    ($name:literal) => {
        $crate::exercise!(@ $name, "cu", {
            static HOST: $crate::declarative::DeclarativeHost = $crate::declarative::DeclarativeHost::new(
                $crate::exercise!(@file $name, "exercise.toml"),
            );
            $crate::exercise::Side::Kernel(&HOST)
        })
    };
    ($name:literal, $host:expr) => {
        $crate::exercise!(@ $name, "cu", $crate::exercise::Side::Kernel(&$host))
    };
    ($name:literal, rust $grader:expr) => {
        $crate::exercise!(@ $name, "rs", $crate::exercise::Side::Host {
            grader: &$grader,
            main: $crate::exercise!(@file $name, "main.rs"),
            kernel: "",
        })
    };
    (@ $name:literal, $extension:literal, $side:expr) => {
        $crate::exercise::Exercise::new(
            $name,
            $crate::exercise!(@file $name, "exercise.toml"),
            [
                $crate::exercise!(@file $name, "statement.en.md"),
                $crate::exercise!(@file $name, "statement.zh.md"),
            ],
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"), "/../../kernels/exercises/", $name, "/start.", $extension
            )),
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"), "/../../kernels/exercises/", $name, "/solution.", $extension
            )),
            $side,
        )
    };
    (@file $name:literal, $file:literal) => {
        include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"), "/../../kernels/exercises/", $name, "/", $file
        ))
    };
}
