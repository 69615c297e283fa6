//! A chapter's ladder: from the note's kernel to the hardware's limit, one idea a rung.

use std::fmt::Debug;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::gpu::{Capability, GpuInfo};
use crate::report::note;

/// A kernel of a chapter: one of the note's, or a rung above them.
pub trait Rung: Copy + Eq + Debug + Send + Sync + 'static {
    /// The note's kernels, the one that others are compared with first.
    const BOOK: &'static [Self];

    /// From the note's kernel to the limit, in order.
    const LADDER: &'static [Self];

    /// Its name in tables.
    fn name(self) -> &'static str;

    /// The one idea it adds to the rung below, in a sentence.
    fn idea(self) -> &'static str;

    /// The oldest GPU that runs it.
    fn needs(self) -> Capability {
        Capability::KERNELS
    }

    /// Its name in flags.
    fn flag(self) -> String {
        self.name().replace(' ', "-")
    }

    /// Whether it runs on this GPU; where not, says so on standard error.
    fn runs_on(self, gpu: &GpuInfo) -> bool {
        let runs = self.needs() <= gpu.compute_capability.max(Capability::KERNELS);
        if !runs {
            note(format_args!(
                "left out: {} needs compute capability {}, and the {} has {}",
                self.name(),
                self.needs(),
                gpu.name,
                gpu.compute_capability
            ));
        }
        runs
    }
}

/// What `--variant` takes, one or several of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice<R> {
    /// The note's kernels.
    Book,
    /// Every rung, from the note's kernel up.
    Ladder,
    /// One kernel.
    One(R),
}

/// Reads a [`Choice`]; `--help` lists them with their ideas.
///
/// ```text
/// #[arg(long, value_name = "KERNEL", value_delimiter = ',', default_value = "book",
///       value_parser = ladder::choice::<Variant>())]
/// variant: Vec<Choice<Variant>>,
/// ```
pub fn choice<R: Rung>() -> impl TypedValueParser<Value = Choice<R>> {
    let book = PossibleValue::new("book").help("The note's kernels");
    let ladder = PossibleValue::new("ladder")
        .help("Every kernel from the note's to the hardware's limit, and the limit");
    let each = kernels::<R>().map(|rung| PossibleValue::new(rung.flag()).help(rung.idea()));
    PossibleValuesParser::new([book, ladder].into_iter().chain(each)).map(|word| {
        let named = || kernels::<R>().find(|rung| rung.flag() == word);
        match word.as_str() {
            "ladder" => Choice::Ladder,
            // The parser has let no other word through.
            _ => named().map_or(Choice::Book, Choice::One),
        }
    })
}

/// The note's kernels and the rungs, each once.
fn kernels<R: Rung>() -> impl Iterator<Item = R> {
    let rungs = R::LADDER.iter().filter(|rung| !R::BOOK.contains(rung));
    R::BOOK.iter().chain(rungs).copied()
}

/// The kernels chosen, each once, in the order they were first named in.
pub fn chosen<R: Rung>(choices: &[Choice<R>]) -> Vec<R> {
    let mut chosen = Vec::new();
    for choice in choices {
        let rungs = match choice {
            Choice::Book => R::BOOK,
            Choice::Ladder => R::LADDER,
            Choice::One(rung) => std::slice::from_ref(rung),
        };
        for &rung in rungs {
            if !chosen.contains(&rung) {
                chosen.push(rung);
            }
        }
    }
    chosen
}

/// Whether these are more than the note has: then the table shows how far the limit is.
pub fn climbs<R: Rung>(chosen: &[R]) -> bool {
    chosen.iter().any(|rung| !R::BOOK.contains(rung))
}

/// What each of these adds, a line a rung, for under the table.
pub fn ideas<R: Rung>(chosen: &[R]) -> String {
    let width = chosen.iter().map(|rung| rung.name().len()).max();
    let width = width.unwrap_or(0);
    let lines = chosen
        .iter()
        .map(|rung| format!("{:width$}  {}", rung.name(), rung.idea()));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Clock;
    use clap::Parser;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Kernel {
        Global,
        Constant,
        Vectors,
        Tensor,
    }

    impl Rung for Kernel {
        const BOOK: &'static [Self] = &[Kernel::Global, Kernel::Constant];
        const LADDER: &'static [Self] = &[Kernel::Global, Kernel::Vectors, Kernel::Tensor];

        fn name(self) -> &'static str {
            match self {
                Kernel::Global => "global",
                Kernel::Constant => "constant",
                Kernel::Vectors => "wide vectors",
                Kernel::Tensor => "tensor cores",
            }
        }

        fn idea(self) -> &'static str {
            match self {
                Kernel::Global => "As in the note.",
                Kernel::Constant => "The table in constant memory.",
                Kernel::Vectors => "Sixteen bytes a load.",
                Kernel::Tensor => "Units of their own.",
            }
        }

        fn needs(self) -> Capability {
            match self {
                Kernel::Tensor => Capability(8, 0),
                _ => Capability::KERNELS,
            }
        }
    }

    #[derive(Debug, Parser)]
    struct Program {
        #[arg(long, value_delimiter = ',', default_value = "book",
              value_parser = choice::<Kernel>())]
        variant: Vec<Choice<Kernel>>,
    }

    fn parsed(variant: &str) -> Result<Vec<Kernel>, clap::Error> {
        let program = Program::try_parse_from(["program", "--variant", variant])?;
        Ok(chosen(&program.variant))
    }

    #[test]
    fn the_notes_kernels_unless_something_is_chosen() {
        let program = Program::try_parse_from(["program"]).unwrap();
        assert_eq!(chosen(&program.variant), Kernel::BOOK);
        assert!(!climbs(&chosen(&program.variant)));
    }

    #[test]
    fn groups_and_names_come_in_the_order_given_and_once() {
        use Kernel::{Constant, Global, Tensor, Vectors};
        assert_eq!(parsed("book").unwrap(), [Global, Constant]);
        assert_eq!(parsed("ladder").unwrap(), [Global, Vectors, Tensor]);
        assert_eq!(parsed("wide-vectors").unwrap(), [Vectors]);
        assert_eq!(
            parsed("tensor-cores,book,tensor-cores").unwrap(),
            [Tensor, Global, Constant]
        );
        assert!(climbs(&parsed("global,wide-vectors").unwrap()));
    }

    #[test]
    fn what_is_no_kernel_is_refused_with_all_that_are() {
        for bad in ["all", "wide", "global,", ""] {
            let said = parsed(bad).unwrap_err().to_string();
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
        assert!(Kernel::Tensor.runs_on(&gpu(Capability(8, 0))));
        assert!(!Kernel::Tensor.runs_on(&gpu(Capability(7, 5))));
        // A model of a GPU that is older than all kernels runs those of the notes.
        assert!(Kernel::Vectors.runs_on(&gpu(Capability(1, 3))));
        assert!(!Kernel::Tensor.runs_on(&gpu(Capability(1, 3))));
    }

    #[test]
    fn ideas_stand_beside_the_names() {
        let said = ideas(&[Kernel::Global, Kernel::Vectors]);
        assert_eq!(
            said,
            "global        As in the note.\nwide vectors  Sixteen bytes a load."
        );
    }
}
