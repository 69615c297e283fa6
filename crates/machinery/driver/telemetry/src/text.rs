//! The report as text: a table of kernels, the profile and the findings. The log lists the driver functions
//! called, and what was rejected.

use chapter::flags::Detail;
use chapter::lang::Lang;
use chapter::number::{grouped, milliseconds};
use chapter::plot::{Figure, Variant};
use chapter::profile::{self, ProfiledLaunch};
use chapter::text::{or_dash, table};
use chapter::{check, rerun};
use common::gpu::{Clock, GpuInfo};
use cuda_driver::Checks;

use crate::failures::{FailedCall, Fault};
use crate::summary::{Api, Kernel, Launch, Summary};

/// The maximum number of rows in a table sorted by time; a program may have thousands of kernels.
const MAX_ROWS: usize = 30;

/// The maximum number of kernels in a profile sorted by time.
const MAX_PROFILED_KERNELS: usize = 6;

/// The maximum number of rejection reasons listed.
const MAX_REJECTIONS: usize = 10;

/// The maximum number of functions of libraries listed.
const MAX_LIBRARY_FUNCTIONS: usize = 20;

/// The maximum number of failed calls listed.
const MAX_FAILURES: usize = 20;

/// The contents of the report.
pub struct TextOptions {
    pub profile: Option<Detail>,
    pub check: Option<Checks>,
    pub api: Api,
    /// The order of the kernels.
    pub order: Order,
    /// The command that runs the program again, for the command lines of NVIDIA's tools on a GPU.
    pub rerun_command: String,
}

/// The order of the kernels in the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Order of first launches, in which the program's author expects the kernels.
    FirstLaunch,
    /// Descending time; only the slowest kernels are listed.
    Time,
}

impl Summary {
    /// Formats the report of a run.
    pub fn text(&self, options: &TextOptions, gpu: &GpuInfo) -> String {
        let modelled = gpu.time == Clock::Modelled;
        let kernels = if modelled {
            self.table(options.order)
        } else {
            self.gpu_section(options, gpu)
        };
        let mut parts = vec![kernels, self.library_calls(), self.rejections()];
        if let Some(detail) = options.profile {
            parts.extend(self.profile(detail, options, modelled));
            parts.push(self.range_table(modelled));
        }
        if let Some(checks) = options.check {
            parts.push(if modelled {
                self.checked(checks, options.api)
            } else {
                format!(
                    "To check the program on this GPU, use compute-sanitizer from the CUDA Toolkit:\n\n{}",
                    rerun::sanitizer_commands(checks, &options.rerun_command)
                )
            });
        }
        parts.push(self.failures(options.api));
        if modelled && !(self.kernels.is_empty() && self.library_calls.is_empty()) {
            parts.push(format!(
                "These times are modelled for the {}; run on a GPU to measure them.",
                gpu.name
            ));
        }
        parts.retain(|part| !part.is_empty());
        parts.join("\n\n")
    }

    /// Formats the findings of the checks.
    fn checked(&self, checks: Checks, api: Api) -> String {
        let is_incomplete = self.ignored_calls() > 0;
        let failed = match self.listed_failures(api).map(|call| call.calls).sum() {
            0 => None,
            _ if !is_incomplete => None,
            1 => Some("1 call failed, see below.".to_owned()),
            count => Some(format!("{} calls failed, see below.", grouped(count))),
        };
        let incomplete: Vec<String> = self.incomplete().into_iter().chain(failed).collect();
        let incomplete = (!incomplete.is_empty()).then(|| incomplete.join(" "));
        // Accesses that a GPU does not detect are found without the check of memory, too, and printed at once.
        let mut findings = self.findings.clone();
        findings.retain(|finding| checks.contains(finding.check));
        check::section(checks, &findings, incomplete.as_deref(), Lang::En)
    }

    /// Formats what is printed of failed checks if the report is not; `None` if they passed.
    pub fn failed_checks(&self, checks: Checks, api: Api) -> Option<String> {
        let parts = [
            self.rejections(),
            self.checked(checks, api),
            self.failures(api),
        ];
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        self.fails(true, api)
            .then(|| parts.collect::<Vec<_>>().join("\n\n"))
    }

    /// Lists the failed calls.
    fn failures(&self, api: Api) -> String {
        let mut calls: Vec<_> = self.listed_failures(api).collect();
        if calls.is_empty() {
            return String::new();
        }
        let total = |calls: &[&FailedCall]| grouped(calls.iter().map(|call| call.calls).sum());
        let mut parts = vec![format!("Failed calls: {}.", total(&calls))];
        let omitted = calls.split_off(calls.len().min(MAX_FAILURES));
        parts.extend(calls.iter().map(|call| call.to_string()));
        if !omitted.is_empty() {
            parts.push(format!("and {} more failed calls", total(&omitted)));
        }
        if self.ignored_calls() > 0 {
            let advice = "A failed call does nothing: check the result of every call, and cudaGetLastError() after every \
                          launch.";
            parts.push(advice.to_owned());
        }
        parts.join("\n\n")
    }

    /// Lists the calls of libraries.
    fn library_calls(&self) -> String {
        if self.library_calls.is_empty() {
            return String::new();
        }
        let listed = self.library_calls.iter().take(MAX_LIBRARY_FUNCTIONS);
        let functions = listed.map(|(function, calls)| match calls.count {
            1 => function.clone(),
            count => format!("{function} × {}", grouped(count)),
        });
        let mut functions: Vec<String> = functions.collect();
        if let Some(more @ 1..) = self.library_calls.len().checked_sub(functions.len()) {
            functions.push(format!("and {more} more functions"));
        }
        let total = self.library_calls.values();
        let total = total.map(|calls| calls.milliseconds).sum();
        format!(
            "Library calls, not simulated: {}; estimated {} ms.",
            functions.join(", "),
            milliseconds(total)
        )
    }

    /// Lists unsupported functions and rejected modules.
    fn rejections(&self) -> String {
        let mut lines = Vec::new();
        if !self.not_simulated.is_empty() {
            lines.push(format!("Not simulated: {}.", self.not_simulated.join(", ")));
        }
        for (reason, count) in self.rejected_modules.iter().take(MAX_REJECTIONS) {
            lines.push(match count {
                1 => format!("Rejected module: {reason}"),
                _ => format!("Rejected {} modules: {reason}", grouped(*count)),
            });
        }
        if let Some(remaining @ 1..) = self.rejected_modules.len().checked_sub(MAX_REJECTIONS) {
            lines.push(format!("and modules rejected for {remaining} more reasons"));
        }
        lines.join("\n")
    }

    /// Returns the kernels in the given order.
    fn ordered(&self, order: Order) -> Vec<&Kernel> {
        let mut kernels: Vec<&Kernel> = self.kernels.iter().collect();
        if order == Order::Time {
            let time = |kernel: &Kernel| kernel.total.time.milliseconds;
            kernels.sort_by(|a, b| time(b).total_cmp(&time(a)));
        }
        kernels
    }

    /// Formats the table of kernels.
    fn table(&self, order: Order) -> String {
        if self.kernels.is_empty() {
            let reason = if !self.library_calls.is_empty() {
                ""
            } else if self.faults.is_empty() {
                "The program did not launch any kernels."
            } else {
                "No kernel launch completed."
            };
            return reason.to_owned();
        }
        let by_time = order == Order::Time;
        let mut headers = HEADERS.to_vec();
        if by_time {
            headers.push("bound by");
        }
        let row = |kernel: &Kernel| {
            let mut row = row(kernel);
            if by_time {
                row.push(kernel.total.time.binding.to_string());
            }
            row
        };
        let kernels = self.ordered(order);
        let max_rows = if by_time { MAX_ROWS } else { usize::MAX };
        let (listed, omitted) = kernels.split_at(max_rows.min(kernels.len()));
        let mut text = table(&headers, listed.iter().map(|kernel| row(kernel)));
        if !omitted.is_empty() {
            let total_ms = omitted
                .iter()
                .map(|kernel| kernel.total.time.milliseconds)
                .sum();
            text += &format!(
                "\n\nand {} more kernels, {} ms total",
                grouped(omitted.len() as u64),
                milliseconds(total_ms)
            );
        }
        text
    }

    /// Formats the times measured on a GPU. Kernels are only timed if a profile was requested.
    fn gpu_section(&self, options: &TextOptions, gpu: &GpuInfo) -> String {
        if options.profile.is_none() {
            return format!(
                "Use --profile to time the kernels on this GPU, or Nsight Systems from the CUDA Toolkit:\n\n\
                 nsys profile --stats=true {}",
                options.rerun_command
            );
        }
        if self.measured.is_empty() {
            return String::new();
        }
        let rows = self.measured.iter().map(row);
        let table = table(&HEADERS, rows);
        format!("{table}\n\nThese times are measured on the {}.", gpu.name)
    }

    fn profile(&self, detail: Detail, options: &TextOptions, modelled: bool) -> Vec<String> {
        if !modelled {
            let run = format!("--target-processes all {}", options.rerun_command);
            let command = rerun::ncu_command(detail, &run);
            return vec![format!(
                "To profile the program on this GPU, use Nsight Compute from the CUDA Toolkit:\n\n{command}"
            )];
        }
        if self.kernels.is_empty() {
            return Vec::new();
        }
        let mut kernels = self.ordered(options.order);
        let all = kernels.len();
        if options.order == Order::Time {
            kernels.truncate(MAX_PROFILED_KERNELS);
        }
        let mut scope = "all launches of each kernel combined".to_owned();
        if kernels.len() < all {
            let all = grouped(all as u64);
            scope += &format!(", the {MAX_PROFILED_KERNELS} slowest kernels of {all}");
        }
        let launches: Vec<ProfiledLaunch> = kernels
            .iter()
            .map(|kernel| ProfiledLaunch {
                case: String::new(),
                variant: &kernel.name,
                launch: &kernel.total,
            })
            .collect();
        profile::text(&scope, &launches, detail, Lang::En)
    }

    /// Formats the table of NVTX ranges. Launches are only counted on the simulator.
    fn range_table(&self, modelled: bool) -> String {
        if self.ranges.is_empty() {
            return String::new();
        }
        let columns = if modelled { 4 } else { 3 };
        let headers = ["NVTX range", "count", "host ms", "launches"];
        let rows = self.ranges.iter().map(|range| {
            let name = match &range.domain {
                Some(domain) => format!("{domain}: {}", range.name),
                None => range.name.clone(),
            };
            let mut row = vec![
                or_dash(Some(name).filter(|name| !name.is_empty())),
                grouped(range.count),
                milliseconds(range.milliseconds),
                grouped(range.launches),
            ];
            row.truncate(columns);
            row
        });
        let mut text = table(&headers[..columns], rows);
        if modelled {
            text += "\n\nHost times are measured on this machine and include the simulation.";
        }
        text
    }

    /// Formats the log. `process` names the process.
    pub fn log(&self, process: &str) -> String {
        let mut lines = vec![format!("{process}:")];
        let mut section = |heading: &str, entries: Vec<String>| {
            if !entries.is_empty() {
                lines.push(format!("  {heading}:"));
                lines.extend(entries.into_iter().map(|line| format!("    {line}")));
            }
        };
        let mut calls: Vec<(&String, &u64)> = self.calls.iter().collect();
        calls.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
        let call_counts = calls
            .iter()
            .map(|(name, count)| format!("{name}: {}", grouped(**count)));
        section(
            "driver functions called, with counts",
            call_counts.collect(),
        );
        section("functions not simulated", self.not_simulated.clone());
        let rejected = self
            .rejected_modules
            .iter()
            .map(|(reason, count)| match count {
                1 => reason.clone(),
                _ => format!("{reason} ({} times)", grouped(*count)),
            });
        section("rejected modules", rejected.collect());
        let faults = self.faults.iter().map(Fault::to_string);
        section("launches ended by a fault", faults.collect());
        let failed = self.failed_calls.iter();
        let failed = failed.map(|call| call.to_string().replace('\n', "\n    "));
        section("failed calls", failed.collect());
        lines.join("\n") + "\n"
    }

    /// Returns the figure that `--plot` draws.
    pub fn figure(&self, title: &str, gpu: &GpuInfo) -> Figure {
        let variants = self.kernels.iter().map(|kernel| Variant {
            group: String::new(),
            label: kernel.name.clone(),
            milliseconds: kernel.total.time.milliseconds,
            tally: kernel.total.profile.as_ref().map(|profile| profile.total),
            roofline: Some(kernel.total.time.roofline),
        });
        let measured = self.measured.iter().map(|kernel| Variant {
            group: String::new(),
            label: kernel.name.clone(),
            milliseconds: kernel.total.milliseconds,
            tally: None,
            roofline: None,
        });
        Figure {
            title: title.to_owned(),
            gpu: gpu.clone(),
            variants: variants.chain(measured).collect(),
        }
    }
}

/// The columns of the table of kernels.
const HEADERS: [&str; 6] = [
    "kernel",
    "launches",
    "blocks",
    "threads per block",
    "ms per launch",
    "ms total",
];

/// Formats a kernel's row.
fn row<L: Launch>(kernel: &Kernel<L>) -> Vec<String> {
    let [grid, block] = kernel.total.shape().map(|size| {
        if kernel.varied {
            "varied".to_owned()
        } else {
            shape(size)
        }
    });
    let total_ms = kernel.total.milliseconds();
    let launches = match kernel.by_kernels {
        0 => grouped(kernel.launches),
        some => format!(
            "{} ({} by kernels)",
            grouped(kernel.launches),
            grouped(some)
        ),
    };
    vec![
        kernel.name.clone(),
        launches,
        grid,
        block,
        milliseconds(total_ms / kernel.launches as f64),
        milliseconds(total_ms),
    ]
}

/// Formats a size as `16 x 16`, without trailing ones.
fn shape(size: [u32; 3]) -> String {
    let last = size.iter().rposition(|&count| count != 1).unwrap_or(0);
    let sizes = size[..=last].iter().map(|&count| grouped(count.into()));
    or_dash(Some(sizes.collect::<Vec<_>>().join(" x ")))
}

#[cfg(test)]
mod tests {
    use common::gpu::Capability;
    use cuda_driver::TimedLaunch;

    use super::*;
    use crate::summary::{EventLog, LibraryCalls};
    use crate::wire::Event;

    #[test]
    fn shapes_are_short() {
        assert_eq!(shape([1, 1, 1]), "1");
        assert_eq!(shape([1024, 1, 1]), "1 024");
        assert_eq!(shape([16, 1, 4]), "16 x 1 x 4");
    }

    #[test]
    fn a_profile_on_a_gpu_reports_measured_times() {
        let gpu = GpuInfo {
            name: "NVIDIA H200".to_owned(),
            compute_capability: Capability(9, 0),
            driver: "13.0".to_owned(),
            time: Clock::Measured,
        };
        let launch = |kernel: &str, blocks, milliseconds| {
            Event::Measured(TimedLaunch {
                kernel: kernel.to_owned(),
                grid: [blocks, 1, 1],
                block: [64, 1, 1],
                milliseconds,
            })
        };
        let events = [
            launch("_Z3addPf", 2, 0.25),
            launch("fill", 1, 1.5),
            launch("_Z3addPf", 4, 0.75),
        ];
        let summary = events.into_iter().collect::<EventLog>().summary("cudaFree");
        assert!(!summary.is_idle());
        let mut options = TextOptions {
            profile: Some(Detail::Summary),
            check: None,
            api: Api::Ignored,
            order: Order::FirstLaunch,
            rerun_command: "cuda-run add.cu".to_owned(),
        };
        let text = summary.text(&options, &gpu);
        let rows: Vec<&str> = text.lines().take(4).map(str::trim_end).collect();
        assert_eq!(
            rows,
            [
                "| kernel | launches | blocks | threads per block | ms per launch | ms total |",
                "|--------|----------|--------|-------------------|---------------|----------|",
                "| add    |        2 | varied | varied            |        0.5000 |   1.0000 |",
                "| fill   |        1 | 1      | 64                |        1.5000 |   1.5000 |",
            ]
        );
        let source = "\n\nThese times are measured on the NVIDIA H200.\n";
        assert!(text.contains(source), "{text}");
        assert!(text.contains("\nncu "), "{text}");
        options.profile = None;
        let text = summary.text(&options, &gpu);
        assert!(
            text.starts_with("Use --profile to time the kernels on this GPU"),
            "{text}"
        );
        assert!(!text.contains('|'), "{text}");
    }

    #[test]
    fn library_calls_are_counted_and_estimated() {
        let call = |count, milliseconds| LibraryCalls {
            count,
            milliseconds,
        };
        let summary = Summary {
            library_calls: [
                ("cublasSgemm", call(1200, 2.5)),
                ("cublasSdot", call(1, 0.25)),
            ]
            .map(|(name, calls)| (name.to_owned(), calls))
            .into(),
            ..Summary::default()
        };
        assert_eq!(
            summary.library_calls(),
            "Library calls, not simulated: cublasSdot, cublasSgemm × 1 200; estimated 2.7500 ms."
        );
        assert!(!summary.is_idle());
        assert_eq!(Summary::default().library_calls(), "");
        let many = Summary {
            library_calls: (10..32).map(|i| (format!("f{i}"), call(1, 0.5))).collect(),
            ..Summary::default()
        };
        let text = many.library_calls();
        assert!(
            text.ends_with("f28, f29, and 2 more functions; estimated 11.0000 ms."),
            "{text}"
        );
    }

    #[test]
    fn further_rejection_reasons_are_only_counted() {
        let summary = |count| Summary {
            rejected_modules: (0..count)
                .map(|i| (format!("line {i}"), 1 + i % 2))
                .collect(),
            not_simulated: vec!["cuA".to_owned(), "cuB".to_owned()],
            ..Summary::default()
        };
        let short = summary(2).rejections();
        assert_eq!(
            short,
            "Not simulated: cuA, cuB.\nRejected module: line 0\nRejected 2 modules: line 1"
        );
        assert!(
            summary(12)
                .rejections()
                .ends_with("line 9\nand modules rejected for 2 more reasons")
        );
        assert!(!summary(10).rejections().contains("more"));
    }
    #[test]
    fn the_most_frequent_call_comes_first() {
        let summary = Summary {
            calls: [("cuInit", 1), ("cuCtxGetCurrent", 1234), ("cuA", 1)]
                .map(|(name, count)| (name.to_owned(), count))
                .into(),
            rejected_modules: vec![("no target".to_owned(), 2), ("no entry".to_owned(), 1)],
            ..Summary::default()
        };
        let expected = "process 7:\n  driver functions called, with counts:\n    cuCtxGetCurrent: 1 234\n    \
                      cuA: 1\n    cuInit: 1\n  rejected modules:\n    no target (2 times)\n    no entry\n";
        assert_eq!(summary.log("process 7"), expected);
    }
}
