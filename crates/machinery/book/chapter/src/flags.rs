//! The flags that every chapter takes.

use std::path::Path;

use clap::{Args, ValueEnum, value_parser};

use cuda_driver::Checks;

use crate::lang::Lang;
use crate::plot::Destination;

/// Flags for measuring and printing; a chapter includes them with `#[command(flatten)]`.
#[derive(Args, Clone, Debug)]
pub struct CommonFlags {
    /// Number of samples per time, whose median is shown (on a GPU; a modelled time needs only one). With 0
    /// every kernel is launched exactly once, without a warm-up: for a profiler
    #[arg(
        long,
        value_name = "SAMPLES",
        default_value_t = 20,
        value_parser = value_parser!(u32).range(..=10_000),
        allow_negative_numbers = true
    )]
    pub repeat: u32,

    /// Print one JSON record to standard output instead of the table
    #[arg(long)]
    pub json: bool,

    /// Language of the tables, the advice and the findings; the default is the system's
    #[arg(long, value_name = "LANGUAGE", value_enum)]
    pub lang: Option<Lang>,

    #[command(flatten)]
    pub report: ReportFlags,
}

/// Flags for the output in addition to the table or record, which `cuda-run` takes too.
#[derive(Args, Clone, Debug)]
pub struct ReportFlags {
    /// Print the memory accesses of each kernel and advice on what to change first. On a GPU, print the
    /// Nsight Compute command that counts them
    #[arg(
        long,
        value_name = "DETAIL",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "summary"
    )]
    pub profile: Option<Detail>,

    /// Check the kernels for errors while they run: mem, init, race, sync, leak, host and stream, a list of
    /// these, or all; and, on request, for unused input: unused. On a GPU, print the compute-sanitizer commands that do so
    #[arg(
        long,
        value_name = "LIST",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "all"
    )]
    pub check: Option<Checks>,

    /// Plot times, memory requests and a roofline to NAME.svg and NAME.png
    #[arg(long, value_name = "NAME", value_parser = destination)]
    pub plot: Option<Destination>,
}

/// Parses the value of `--plot` and checks that the pictures can be written.
fn destination(name: &str) -> Result<Destination, String> {
    Destination::new(Path::new(name)).map_err(|error| format!("{error:#}"))
}

/// Amount of detail in a printed profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Detail {
    /// Tables of counters and one line of advice per launch
    Summary,
    /// Also the source of the kernels with counters next to each line
    Lines,
}

impl ReportFlags {
    /// Returns true if launches need full counters.
    pub fn needs_counters(&self) -> bool {
        self.profile.is_some() || self.plot.is_some()
    }
}

impl CommonFlags {
    /// Returns true if launches need full counters.
    pub fn needs_counters(&self) -> bool {
        self.json || self.report.needs_counters()
    }

    /// Returns the language of the output.
    pub fn lang(&self) -> Lang {
        self.lang.unwrap_or_else(Lang::system)
    }

    /// Returns true if launches are timed. Otherwise they only run for a profiler, and nothing else is
    /// launched: no limits are measured.
    pub fn is_timed(&self) -> bool {
        self.repeat > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        common: CommonFlags,
    }

    #[test]
    fn defaults() {
        let flags = Program::try_parse_from(["program"]).unwrap().common;
        assert_eq!(
            (flags.repeat, flags.json, flags.report.profile),
            (20, false, None)
        );
        assert!(!flags.needs_counters());
    }

    #[test]
    fn fractional_and_negative_repeats_are_rejected() {
        for bad in ["-3", "many", "1.5", "10001", ""] {
            let parsed = Program::try_parse_from(["program", "--repeat", bad]);
            assert!(parsed.is_err(), "--repeat {bad} was accepted");
        }
    }

    #[test]
    fn profiles_default_to_a_summary() {
        let profile = |flag| {
            Program::try_parse_from(["program", flag]).map(|program| program.common.report.profile)
        };
        assert_eq!(profile("--profile").unwrap(), Some(Detail::Summary));
        assert_eq!(profile("--profile=summary").unwrap(), Some(Detail::Summary));
        assert_eq!(profile("--profile=lines").unwrap(), Some(Detail::Lines));
        for bad in ["--profile=line", "--profile=", "--profile=3"] {
            let message = profile(bad).unwrap_err().to_string();
            assert!(message.contains("summary, lines"), "{message}");
        }
    }

    #[test]
    fn checks_default_to_all() {
        let check = |flag| {
            Program::try_parse_from(["program", flag]).map(|program| program.common.report.check)
        };
        assert_eq!(check("--check").unwrap(), Some(Checks::ALL));
        assert_eq!(check("--check=all").unwrap(), Some(Checks::ALL));
        let some = check("--check=race,mem").unwrap().unwrap();
        assert_eq!(some.to_string(), "mem,race");
        for (bad, named) in [
            ("--check=races", "'races'"),
            ("--check=", "''"),
            ("--check=mem,3", "'3'"),
        ] {
            let message = check(bad).unwrap_err().to_string();
            assert!(message.contains(named), "{message}");
            assert!(
                message.contains("mem, init, race, sync, leak, host and stream"),
                "{message}"
            );
        }
    }

    #[test]
    fn flags_that_print_counters_need_them() {
        for flag in ["--json", "--profile", "--profile=lines"] {
            let flags = Program::try_parse_from(["program", flag]).unwrap().common;
            assert!(flags.needs_counters(), "{flag}");
        }
    }

    #[test]
    fn an_unwritable_plot_is_rejected_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let plot = |name: &Path| {
            let name = name.to_str().unwrap();
            Program::try_parse_from(["program", "--plot", name]).map(|program| program.common)
        };
        assert!(plot(&folder.path().join("times")).unwrap().needs_counters());
        let message = plot(&folder.path().join("no-folder/times")).unwrap_err();
        assert!(
            message.to_string().contains("there is no folder"),
            "{message}"
        );
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }
}
