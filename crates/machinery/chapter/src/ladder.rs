//! A chapter's ladder of kernels: from the note's kernel to the hardware's limit, one idea per rung.

use std::fmt::Debug;
use std::ops::Deref;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use common::error::note;
use common::gpu::{Capability, GpuInfo};

/// A row of a chapter's table of kernels: a kernel of the note that the chapter follows, or a rung above
/// them. The chapter's own fields are in `own`, and a `Variant` dereferences to them.
///
/// ```ignore
/// pub const VARIANTS: &[Variant] = &[
///     Variant::note("global", "raytrace_global", "28-byte spheres in global memory", Own { … }),
///     Variant::rung("patches", "raytrace_patches", "Sixteen pixels per thread", Own { … }),
/// ];
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Variant<O: 'static = ()> {
    /// The name in tables.
    pub name: &'static str,
    /// The kernel's name in the `.cu` file.
    pub kernel: &'static str,
    /// The idea this kernel adds to the rung below, in one sentence.
    pub idea: &'static str,
    /// The lowest compute capability that runs it.
    pub needs: Capability,
    /// True if newer GPUs do not run it.
    only: bool,
    /// The chapter's own fields.
    pub own: O,
    group: Group,
}

/// The groups of `--variant` that include a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    Book,
    BookAndLadder,
    Ladder,
}

impl<O> Variant<O> {
    /// Creates a row for a kernel of the note that is also a rung of the ladder.
    pub const fn note(
        name: &'static str,
        kernel: &'static str,
        idea: &'static str,
        own: O,
    ) -> Self {
        Variant {
            name,
            kernel,
            idea,
            needs: Capability::KERNELS,
            only: false,
            own,
            group: Group::BookAndLadder,
        }
    }

    /// Takes a kernel of the note off the ladder.
    pub const fn aside(self) -> Self
    where
        O: Copy,
    {
        Variant {
            group: Group::Book,
            ..self
        }
    }

    /// Creates a row for a kernel that goes beyond the note.
    pub const fn rung(name: &'static str, kernel: &'static str, idea: &'static str, own: O) -> Self
    where
        O: Copy,
    {
        Variant {
            group: Group::Ladder,
            ..Variant::note(name, kernel, idea, own)
        }
    }

    /// Requires this compute capability or a higher one.
    pub const fn needs(self, needs: Capability) -> Self
    where
        O: Copy,
    {
        Variant { needs, ..self }
    }

    /// Requires exactly this compute capability.
    pub const fn only(self, only: Capability) -> Self
    where
        O: Copy,
    {
        Variant {
            needs: only,
            only: true,
            ..self
        }
    }

    /// Returns true if this is one of the note's kernels.
    pub fn is_the_notes(&self) -> bool {
        self.group != Group::Ladder
    }

    /// Returns true if the GPU runs this kernel.
    pub fn is_for(&self, gpu: &GpuInfo) -> bool {
        let has = gpu.compute_capability.max(Capability::KERNELS);
        self.needs == has || self.needs < has && !self.only
    }

    /// Returns true if the GPU runs this kernel, and prints a note to standard error if not.
    pub fn runs_on(&self, gpu: &GpuInfo) -> bool {
        let runs = self.is_for(gpu);
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

impl<O> Deref for Variant<O> {
    type Target = O;

    fn deref(&self) -> &O {
        &self.own
    }
}

/// One value of `--variant`.
#[derive(Debug)]
pub enum Choice<O: 'static> {
    /// Every rung, from the note's kernel upwards.
    Book,
    /// Every rung, from the note's kernel up.
    Ladder,
    /// One kernel.
    One(&'static Variant<O>),
}

impl<O> Clone for Choice<O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O> Copy for Choice<O> {}

/// Parses a [`Choice`] of a chapter's kernels; `--help` lists them with their ideas.
///
/// ```text
/// #[arg(long, value_name = "KERNEL", value_delimiter = ',', default_value = "book",
///       value_parser = ladder::choice(VARIANTS))]
/// variant: Vec<Choice<Own>>,
/// ```
pub fn choice<O: Send + Sync>(
    table: &'static [Variant<O>],
) -> impl TypedValueParser<Value = Choice<O>> {
    let book = PossibleValue::new("book").help("The note's kernels");
    let ladder = PossibleValue::new("ladder")
        .help("Every kernel from the note's to the hardware's limit, and the limit");
    let each = table
        .iter()
        .map(|row| PossibleValue::new(row.flag()).help(row.idea));
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
pub struct Chosen<O: 'static>(Vec<&'static Variant<O>>);

/// Returns the kernels of `table` that `choices` select.
pub fn chosen<O>(table: &'static [Variant<O>], choices: &[Choice<O>]) -> Chosen<O> {
    let mut chosen: Vec<&Variant<O>> = Vec::new();
    let mut choose = |row: &'static Variant<O>| {
        if !chosen.iter().any(|known| known.name == row.name) {
            chosen.push(row);
        }
    };
    for choice in choices {
        match choice {
            Choice::One(row) => choose(row),
            Choice::Book => table
                .iter()
                .filter(|row| row.is_the_notes())
                .for_each(&mut choose),
            Choice::Ladder => {
                let rungs = table.iter().filter(|row| row.group != Group::Book);
                rungs.for_each(&mut choose);
            }
        }
    }
    chosen.sort_by_key(|row| !row.is_the_notes());
    Chosen(chosen)
}

impl<O> Chosen<O> {
    /// Returns the note's kernels.
    pub fn note(self) -> impl Iterator<Item = &'static Variant<O>> {
        self.into_iter().filter(|row| row.is_the_notes())
    }

    /// Returns the kernels that go beyond the note.
    pub fn rungs(mut self) -> Vec<&'static Variant<O>> {
        self.0.retain(|row| !row.is_the_notes());
        self.0
    }

    /// Keeps the kernels that this GPU runs.
    pub fn those_for(mut self, gpu: &GpuInfo) -> Self {
        self.0.retain(|row| row.is_for(gpu));
        self
    }

    /// Returns true if a kernel goes beyond the note: then the table shows the limit as well.
    pub fn climbs(&self) -> bool {
        self.iter().any(|row| !row.is_the_notes())
    }

    /// Returns the name and the idea of each kernel, one line per kernel, to print under the table. Empty if
    /// no kernel goes beyond the note.
    pub fn ideas(&self) -> String {
        if !self.climbs() {
            return String::new();
        }
        let width = self.iter().map(|row| row.name.len()).max();
        let width = width.unwrap_or(0);
        let lines = self
            .iter()
            .map(|row| format!("{:width$}  {}", row.name, row.idea));
        lines.collect::<Vec<_>>().join("\n")
    }
}

impl<O> Deref for Chosen<O> {
    type Target = [&'static Variant<O>];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<O> IntoIterator for Chosen<O> {
    type Item = &'static Variant<O>;
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
        Variant::note("global", "k_global", "As in the note.", 1),
        Variant::note("constant", "k_constant", "The table in constant memory.", 2).aside(),
        Variant::rung("wide vectors", "k_vectors", "Sixteen bytes a load.", 4),
        Variant::rung("tensor cores", "k_tensor", "Units of their own.", 8).needs(Capability(8, 0)),
    ];

    #[derive(Debug, Parser)]
    struct Program {
        #[arg(long, value_delimiter = ',', default_value = "book", value_parser = choice(TABLE))]
        variant: Vec<Choice<u32>>,
    }

    fn parsed(arguments: &[&str]) -> Result<Chosen<u32>, clap::Error> {
        let words = ["program"].iter().chain(arguments);
        Ok(chosen(TABLE, &Program::try_parse_from(words)?.variant))
    }

    fn names(variant: &str) -> String {
        let rows = parsed(&["--variant", variant]).unwrap();
        rows.iter()
            .map(|row| row.name)
            .collect::<Vec<_>>()
            .join(", ")
    }

    #[test]
    fn the_notes_kernels_unless_something_is_chosen() {
        let rows = parsed(&[]).unwrap();
        assert!(rows.iter().map(|row| row.name).eq(["global", "constant"]));
        assert!(!rows.climbs());
        assert_eq!(rows.ideas(), "");
        assert_eq!(rows.note().count(), 2);
    }

    #[test]
    fn groups_and_names_come_once_and_the_notes_kernels_first() {
        assert_eq!(names("book"), "global, constant");
        assert_eq!(names("ladder"), "global, wide vectors, tensor cores");
        assert_eq!(names("wide-vectors"), "wide vectors");
        assert_eq!(names("constant,global"), "constant, global");
        assert_eq!(
            names("tensor-cores,book,tensor-cores,wide-vectors"),
            "global, constant, tensor cores, wide vectors"
        );
        let some = parsed(&["--variant", "global,wide-vectors"]).unwrap();
        assert!(some.climbs());
        let rungs = some.rungs().into_iter().map(|row| row.name);
        assert!(rungs.eq(["wide vectors"]));
    }

    #[test]
    fn what_is_no_kernel_is_refused_with_all_that_are() {
        for bad in ["all", "wide", "global,", ""] {
            let said = parsed(&["--variant", bad]).unwrap_err().to_string();
            assert!(said.contains("book, ladder, global, constant, wide-vectors"));
        }
    }

    #[test]
    fn a_gpu_that_is_too_old_leaves_a_rung_out() {
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
    fn ideas_stand_beside_the_names() {
        let some = parsed(&["--variant", "global,wide-vectors"]).unwrap();
        assert_eq!(
            some.ideas(),
            "global        As in the note.\nwide vectors  Sixteen bytes a load."
        );
    }

    #[test]
    fn a_row_has_the_chapters_own_fields() {
        assert_eq!(TABLE[2].own, 4);
        assert_eq!(TABLE[2].leading_zeros(), 29);
    }
}
