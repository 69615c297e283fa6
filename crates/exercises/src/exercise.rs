//! An exercise of the course: its texts, its data and its host side.

use std::sync::OnceLock;

use anyhow::Result;

use crate::data::{self, Data};
use crate::host::Host;
use crate::lang::Lang;
use crate::worker::Asks;

/// An exercise. All its files are in the program, so that nothing can be missing when it runs.
pub struct Exercise {
    /// Number and name, `01-first-thread`.
    pub name: &'static str,
    /// `exercise.toml`.
    pub toml: &'static str,
    /// `statement.en.md` and `statement.zh.md`.
    pub statement: [&'static str; 2],
    /// What a student gets.
    pub start: &'static str,
    /// The answer.
    pub solution: &'static str,
    /// What is written: CUDA C or Rust.
    pub side: Side,
    /// The folder that its own lies in, as it is named in messages.
    pub course: &'static str,
    data: OnceLock<Data>,
}

/// Which side of a program a student writes.
pub enum Side {
    /// The kernel, in a `.cu` file; the host side is the course's own.
    Kernel(&'static dyn Host),
    /// The host side, in a `.rs` file: `main.rs` of the exercise is compiled around it, and asked.
    Host {
        /// What asks, and knows what should come back.
        asks: &'static dyn Asks,
        /// `main.rs`.
        main: &'static str,
        /// The kernel, where there is one: `kernel.cu`.
        kernel: &'static str,
    },
}

impl Exercise {
    /// An exercise of these files; the macro [`exercise!`](crate::exercise!) names them.
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

    /// What its `exercise.toml` says.
    ///
    /// # Errors
    ///
    /// Where that file is wrong; the course's tests read every one.
    pub fn data(&self) -> Result<&Data> {
        if let Some(data) = self.data.get() {
            return Ok(data);
        }
        let is_kernel = matches!(self.side, Side::Kernel(_));
        let file = format!("{}/{}/exercise.toml", self.course, self.name);
        let data = data::of(&file, self.toml, is_kernel)?;
        Ok(self.data.get_or_init(|| data))
    }

    /// What is asked, in a language.
    pub fn statement(&self, lang: Lang) -> &'static str {
        let [en, zh] = self.statement;
        lang.pick(en, zh)
    }

    /// The name of the file that a student writes, `01-first-thread.cu`.
    pub fn file(&self) -> String {
        format!("{}.{}", self.name, self.extension())
    }

    /// `cu` or `rs`.
    pub fn extension(&self) -> &'static str {
        match self.side {
            Side::Kernel(_) => "cu",
            Side::Host { .. } => "rs",
        }
    }

    /// Whether a student who writes `text` means this one: its number, its name, or both.
    pub fn answers_to(&self, text: &str) -> bool {
        let (number, name) = self.name.split_once('-').unwrap_or(("", self.name));
        let is_number = text.parse::<u32>().is_ok() && number.parse::<u32>() == text.parse();
        is_number || text == name || text == self.name || text == self.file()
    }
}

/// An exercise by its name, from its files in `kernels/exercises`, whose `exercise.toml` describes the launch:
/// `exercise!("01-first-thread")`. With a host side of its own: `exercise!("06-fields", Fields)`. Where a
/// student writes Rust:
/// `exercise!("10-pitched-copy", asks PitchedCopy)`, or with a kernel beside it
/// `exercise!("25-events", asks Events, kernel)`.
#[macro_export]
macro_rules! exercise {
    ($name:literal, asks $asks:expr, kernel) => {
        $crate::exercise!(@ $name, "rs", $crate::exercise::Side::Host {
            asks: &$asks,
            main: $crate::exercise!(@file $name, "main.rs"),
            kernel: $crate::exercise!(@file $name, "kernel.cu"),
        })
    };
    ($name:literal) => {
        $crate::exercise!(@ $name, "cu", {
            static HOST: $crate::described::Described = $crate::described::Described::new(
                $crate::exercise!(@file $name, "exercise.toml"),
            );
            $crate::exercise::Side::Kernel(&HOST)
        })
    };
    ($name:literal, $host:expr) => {
        $crate::exercise!(@ $name, "cu", $crate::exercise::Side::Kernel(&$host))
    };
    ($name:literal, asks $asks:expr) => {
        $crate::exercise!(@ $name, "rs", $crate::exercise::Side::Host {
            asks: &$asks,
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
