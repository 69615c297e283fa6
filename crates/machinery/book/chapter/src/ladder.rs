//! A chapter's ladder of kernels: from the note's kernel to the hardware's limit, one idea per rung.

use std::fmt::Debug;
use std::ops::Deref;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use common::error::note;
use common::gpu::{Capability, GpuInfo};

use crate::lang::Lang;

/// A row of a chapter's table of kernels: a kernel of the note that the chapter follows, or a rung above
/// them. The chapter's own fields are in `config`, and a `Variant` dereferences to them.
///
/// ```text
/// pub const VARIANTS: &[Variant] = &[
///     Variant::note("global", "raytrace_global", ["28-byte spheres", "28 字节的球体"], KernelConfig { … }),
///     Variant::rung("patches", "raytrace_patches", ["Sixteen pixels", "十六个像素"], KernelConfig { … }),
/// ];
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Variant<C: 'static = ()> {
    /// The name in tables.
    pub name: &'static str,
    /// The kernel's name in the `.cu` file.
    pub kernel: &'static str,
    /// The idea this kernel adds to the rung below, in one sentence: in English and in Chinese.
    pub idea: [&'static str; 2],
    /// The lowest compute capability that runs it.
    pub needs: Capability,
    /// True if newer GPUs do not run it.
    only: bool,
    /// The chapter's own fields.
    pub config: C,
    group: Group,
}

/// The groups of `--variant` that include a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    Book,
    BookAndLadder,
    Ladder,
}

impl<C> Variant<C> {
    /// Creates a row for a kernel of the note that is also a rung of the ladder.
    pub const fn note(
        name: &'static str,
        kernel: &'static str,
        idea: [&'static str; 2],
        config: C,
    ) -> Self {
        Variant {
            name,
            kernel,
            idea,
            needs: Capability::KERNELS,
            only: false,
            config,
            group: Group::BookAndLadder,
        }
    }

    /// Takes a kernel of the note off the ladder.
    pub const fn off_ladder(self) -> Self
    where
        C: Copy,
    {
        Variant {
            group: Group::Book,
            ..self
        }
    }

    /// Creates a row for a kernel that goes beyond the note.
    pub const fn rung(
        name: &'static str,
        kernel: &'static str,
        idea: [&'static str; 2],
        config: C,
    ) -> Self
    where
        C: Copy,
    {
        Variant {
            group: Group::Ladder,
            ..Variant::note(name, kernel, idea, config)
        }
    }

    /// Requires this compute capability or a higher one.
    pub const fn needs(self, needs: Capability) -> Self
    where
        C: Copy,
    {
        Variant { needs, ..self }
    }

    /// Requires exactly this compute capability.
    pub const fn only(self, only: Capability) -> Self
    where
        C: Copy,
    {
        Variant {
            needs: only,
            only: true,
            ..self
        }
    }

    /// Returns the idea in a language.
    pub fn idea(&self, lang: Lang) -> &'static str {
        let [en, zh] = self.idea;
        lang.pick(en, zh)
    }

    /// Returns true if this is one of the note's kernels.
    pub fn is_from_note(&self) -> bool {
        self.group != Group::Ladder
    }

    /// Returns true if the GPU runs this kernel.
    pub fn is_supported_on(&self, gpu: &GpuInfo) -> bool {
        let has = gpu.compute_capability.max(Capability::KERNELS);
        self.needs == has || self.needs < has && !self.only
    }

    /// Returns true if the GPU runs this kernel, and prints a note to standard error if not.
    pub fn runs_on(&self, gpu: &GpuInfo) -> bool {
        let runs = self.is_supported_on(gpu);
        if !runs {
            note(format_args!(
                "left out: {} needs compute capability {}{}, and the {} has {}",
                self.name,
                self.needs,
                if self.only { " and no newer" } else { "" },
                gpu.name,
                gpu.compute_capability
            ));
        }
        runs
    }

    /// Returns the name used in flags.
    fn flag(&self) -> String {
        self.name.replace(' ', "-")
    }
}

impl<C> Deref for Variant<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.config
    }
}

/// One value of `--variant`.
#[derive(Debug)]
pub enum Choice<C: 'static> {
    /// Every rung, from the note's kernel upwards.
    Book,
    /// Every rung, from the note's kernel up.
    Ladder,
    /// One kernel.
    One(&'static Variant<C>),
}

impl<C> Clone for Choice<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Choice<C> {}

/// Parses a [`Choice`] of a chapter's kernels; `--help` lists them with their ideas.
///
/// ```text
/// #[arg(long, value_name = "KERNEL", value_delimiter = ',', default_value = "book",
///       value_parser = ladder::choice(VARIANTS))]
/// variant: Vec<Choice<KernelConfig>>,
/// ```
pub fn choice<C: Send + Sync>(
    table: &'static [Variant<C>],
) -> impl TypedValueParser<Value = Choice<C>> {
    let book = PossibleValue::new("book").help("The note's kernels");
    let ladder = PossibleValue::new("ladder")
        .help("All kernels of the ladder, from the note's up to the hardware's limit");
    let each = table
        .iter()
        .map(|row| PossibleValue::new(row.flag()).help(row.idea(Lang::En)));
    PossibleValuesParser::new([book, ladder].into_iter().chain(each)).map(move |word| {
        let named = || table.iter().find(|row| row.flag() == word);
        match word.as_str() {
            "ladder" => Choice::Ladder,
            // The parser accepts no other word.
            _ => named().map_or(Choice::Book, Choice::One),
        }
    })
}

/// The kernels selected from a chapter's table, without duplicates: the note's first, then the rungs above
/// them, each in the order given.
#[derive(Debug)]
pub struct Selection<C: 'static>(Vec<&'static Variant<C>>);

/// Returns the kernels of `table` that `choices` select.
pub fn select<C>(table: &'static [Variant<C>], choices: &[Choice<C>]) -> Selection<C> {
    let mut chosen: Vec<&Variant<C>> = Vec::new();
    let mut choose = |row: &'static Variant<C>| {
        if !chosen.iter().any(|selected| selected.name == row.name) {
            chosen.push(row);
        }
    };
    for choice in choices {
        match choice {
            Choice::One(row) => choose(row),
            Choice::Book => table
                .iter()
                .filter(|row| row.is_from_note())
                .for_each(&mut choose),
            Choice::Ladder => {
                let rungs = table.iter().filter(|row| row.group != Group::Book);
                rungs.for_each(&mut choose);
            }
        }
    }
    chosen.sort_by_key(|row| !row.is_from_note());
    Selection(chosen)
}

impl<C> Selection<C> {
    /// Returns the note's kernels.
    pub fn note_kernels(self) -> impl Iterator<Item = &'static Variant<C>> {
        self.into_iter().filter(|row| row.is_from_note())
    }

    /// Returns the kernels that go beyond the note.
    pub fn rungs(mut self) -> Vec<&'static Variant<C>> {
        self.0.retain(|row| !row.is_from_note());
        self.0
    }

    /// Keeps the kernels that this GPU runs.
    pub fn supported_on(mut self, gpu: &GpuInfo) -> Self {
        self.0.retain(|row| row.is_supported_on(gpu));
        self
    }

    /// Returns true if a kernel goes beyond the note: then the table shows the limit as well.
    pub fn has_rungs(&self) -> bool {
        self.iter().any(|row| !row.is_from_note())
    }

    /// Returns the name and the idea of each kernel, one line per kernel, to print under the table. Empty if
    /// no kernel goes beyond the note.
    pub fn ideas(&self, lang: Lang) -> String {
        if !self.has_rungs() {
            return String::new();
        }
        let width = self.iter().map(|row| row.name.len()).max();
        let width = width.unwrap_or(0);
        let lines = self
            .iter()
            .map(|row| format!("{:width$}  {}", row.name, row.idea(lang)));
        lines.collect::<Vec<_>>().join("\n")
    }
}

impl<C> Deref for Selection<C> {
    type Target = [&'static Variant<C>];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<C> IntoIterator for Selection<C> {
    type Item = &'static Variant<C>;
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use common::gpu::Clock;

    const TABLE: &[Variant<u32>] = &[
        Variant::note("global", "k_global", ["As in the note.", "与笔记相同。"], 1),
        Variant::note(
            "constant",
            "k_constant",
            ["The table in constant memory.", "数值表在常量内存中。"],
            2,
        )
        .off_ladder(),
        Variant::rung(
            "wide vectors",
            "k_vectors",
            ["Sixteen bytes a load.", "每次读取十六字节。"],
            4,
        ),
        Variant::rung(
            "tensor cores",
            "k_tensor",
            ["Separate units.", "独立的单元。"],
            8,
        )
        .needs(Capability(8, 0)),
    ];

    #[derive(Debug, Parser)]
    struct Program {
        #[arg(long, value_delimiter = ',', default_value = "book", value_parser = choice(TABLE))]
        variant: Vec<Choice<u32>>,
    }

    fn parsed(arguments: &[&str]) -> Result<Selection<u32>, clap::Error> {
        let words = ["program"].iter().chain(arguments);
        Ok(select(TABLE, &Program::try_parse_from(words)?.variant))
    }

    fn names(variant: &str) -> String {
        let rows = parsed(&["--variant", variant]).unwrap();
        rows.iter()
            .map(|row| row.name)
            .collect::<Vec<_>>()
            .join(", ")
    }

    #[test]
    fn the_default_is_the_notes_kernels() {
        let rows = parsed(&[]).unwrap();
        assert!(rows.iter().map(|row| row.name).eq(["global", "constant"]));
        assert!(!rows.has_rungs());
        assert_eq!(rows.ideas(Lang::En), "");
        assert_eq!(rows.note_kernels().count(), 2);
    }

    #[test]
    fn duplicates_are_removed_and_the_notes_kernels_come_first() {
        assert_eq!(names("book"), "global, constant");
        assert_eq!(names("ladder"), "global, wide vectors, tensor cores");
        assert_eq!(names("wide-vectors"), "wide vectors");
        assert_eq!(names("constant,global"), "constant, global");
        assert_eq!(
            names("tensor-cores,book,tensor-cores,wide-vectors"),
            "global, constant, tensor cores, wide vectors"
        );
        let some = parsed(&["--variant", "global,wide-vectors"]).unwrap();
        assert!(some.has_rungs());
        let rungs = some.rungs().into_iter().map(|row| row.name);
        assert!(rungs.eq(["wide vectors"]));
    }

    #[test]
    fn unknown_kernels_are_rejected_with_the_list() {
        for bad in ["all", "wide", "global,", ""] {
            let message = parsed(&["--variant", bad]).unwrap_err().to_string();
            assert!(message.contains("book, ladder, global, constant, wide-vectors"));
        }
    }

    #[test]
    fn unsupported_rungs_are_left_out() {
        let gpu = |capability| GpuInfo {
            name: "GPU".to_owned(),
            compute_capability: capability,
            driver: "13.0".to_owned(),
            time: Clock::Modelled,
        };
        let [.., vectors, tensor] = TABLE else {
            panic!("the table above")
        };
        assert!(tensor.runs_on(&gpu(Capability(8, 0))));
        assert!(!tensor.runs_on(&gpu(Capability(7, 5))));
        // A model of a GPU older than all kernels still runs the note's kernels.
        assert!(vectors.runs_on(&gpu(Capability(1, 3))));
        assert!(!tensor.runs_on(&gpu(Capability(1, 3))));
        let only = tensor.only(Capability(9, 0));
        assert!(only.runs_on(&gpu(Capability(9, 0))));
        assert!(!only.runs_on(&gpu(Capability(8, 9))));
        assert!(!only.runs_on(&gpu(Capability(10, 0))));
    }

    #[test]
    fn ideas_are_listed_with_the_names() {
        let some = parsed(&["--variant", "global,wide-vectors"]).unwrap();
        assert_eq!(
            some.ideas(Lang::En),
            "global        As in the note.\nwide vectors  Sixteen bytes a load."
        );
        assert!(
            some.ideas(Lang::Zh)
                .starts_with("global        与笔记相同。\n")
        );
    }

    #[test]
    fn a_row_dereferences_to_the_chapters_fields() {
        assert_eq!(TABLE[2].config, 4);
        assert_eq!(TABLE[2].leading_zeros(), 29);
    }
}
