//! The summary as a reader takes it in: kernel by kernel, all launches of each together.

use chapter::check;
use chapter::flags::Detail;
use chapter::number::{grouped, milliseconds};
use chapter::plot::{Figure, Variant};
use chapter::profile::{self, ProfiledLaunch};
use chapter::report::table::{or_dash, table};
use common::gpu::{Clock, GpuInfo};
use cuda_driver::Checks;

use crate::Summary;
use crate::kernels::{Kernel, Launch};

/// The most kernels that a table by time has: of thousands, those that count.
const ROWS: usize = 30;

/// The most kernels of which a profile by time tells.
const PROFILED: usize = 6;

/// The most modules whose refusal is told.
const REFUSED: usize = 10;

/// What is shown, and of which run.
pub struct Shown {
    pub profile: Option<Detail>,
    pub check: Option<Checks>,
    /// In which order kernels are told.
    pub order: Order,
    /// The command that runs the program again: NVIDIA's tools are given it, on a GPU.
    pub again: String,
}

/// An order of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// That of their first launches: who wrote the program knows it.
    Launched,
    /// Those that take longest first, and those that take hardly any time not at all.
    Time,
}

impl Summary {
    /// The summary of a run.
    pub fn text(&self, shown: &Shown, gpu: &GpuInfo) -> String {
        let mut parts = vec![match gpu.time {
            Clock::Modelled => self.table(shown.order),
            Clock::Measured => self.on_gpu(shown, gpu),
        }];
        let modelled = gpu.time == Clock::Modelled;
        parts.push(self.refusals());
        if let Some(detail) = shown.profile {
            parts.extend(self.profile(detail, shown, modelled));
        }
        if let Some(checks) = shown.check {
            parts.push(match modelled {
                true => check::section(checks, &self.findings),
                false => format!(
                    "compute-sanitizer, which comes with the CUDA toolkit, checks on this GPU:\n\n{}",
                    check::commands(checks, &shown.again)
                ),
            });
        }
        if modelled && !self.kernels.is_empty() {
            parts.push("These times are a model's; run on a GPU to measure.".to_owned());
        }
        parts.retain(|part| !part.is_empty());
        parts.join("\n\n")
    }

    /// What the simulator did not do.
    fn refusals(&self) -> String {
        let mut lines = Vec::new();
        if !self.not_simulated.is_empty() {
            lines.push(format!("Not simulated: {}.", self.not_simulated.join(", ")));
        }
        for (why, count) in self.refused.iter().take(REFUSED) {
            lines.push(match count {
                1 => format!("Refused: {why}"),
                _ => format!("Refused {} times: {why}", grouped(*count)),
            });
        }
        if let Some(more @ 1..) = self.refused.len().checked_sub(REFUSED) {
            lines.push(format!("and modules for {more} more reasons"));
        }
        lines.join("\n")
    }

    /// The kernels in an order.
    fn ordered(&self, order: Order) -> Vec<&Kernel> {
        let mut kernels: Vec<&Kernel> = self.kernels.iter().collect();
        if order == Order::Time {
            let time = |kernel: &Kernel| kernel.all.time.milliseconds;
            kernels.sort_by(|one, other| time(other).total_cmp(&time(one)));
        }
        kernels
    }

    /// A row for each kernel.
    fn table(&self, order: Order) -> String {
        if self.kernels.is_empty() {
            return match self.faults.is_empty() {
                true => "The program launched no kernel.".to_owned(),
                false => "No launch of the program came to its end.".to_owned(),
            };
        }
        let by_time = order == Order::Time;
        let mut headers = HEADERS.to_vec();
        if by_time {
            headers.insert(6, "bound by");
        }
        let row = |kernel: &Kernel| {
            let time = &kernel.all.time;
            let mut row = row(kernel, format!("modelled, {}", time.gpu));
            if by_time {
                row.insert(6, time.binding.to_string());
            }
            row
        };
        let kernels = self.ordered(order);
        let most = if by_time { ROWS } else { usize::MAX };
        let (first, others) = kernels.split_at(most.min(kernels.len()));
        let mut text = table(&headers, first.iter().map(|kernel| row(kernel)));
        if !others.is_empty() {
            let together = others
                .iter()
                .map(|kernel| kernel.all.time.milliseconds)
                .sum();
            text += &format!(
                "\n\nand {} more kernels, {} ms together",
                grouped(others.len() as u64),
                milliseconds(together)
            );
        }
        text
    }

    /// What is said of kernels' times on a GPU: they are measured where a profile is asked for.
    fn on_gpu(&self, shown: &Shown, gpu: &GpuInfo) -> String {
        if shown.profile.is_none() {
            return format!(
                "--profile times kernels on this GPU. So does Nsight Systems, which comes with the CUDA toolkit:\n\n\
                 nsys profile --stats=true {}",
                shown.again
            );
        }
        if self.measured.is_empty() {
            return String::new();
        }
        let time = format!("measured, {}", gpu.name);
        let rows = self.measured.iter().map(|kernel| row(kernel, time.clone()));
        table(&HEADERS, rows)
    }

    fn profile(&self, detail: Detail, shown: &Shown, modelled: bool) -> Vec<String> {
        if !modelled {
            let run = format!("--target-processes all {}", shown.again);
            let command = profile::ncu_command(detail, &run);
            return vec![format!(
                "Nsight Compute, which comes with the CUDA toolkit, counts on this GPU:\n\n{command}"
            )];
        }
        if self.kernels.is_empty() {
            return Vec::new();
        }
        let mut kernels = self.ordered(shown.order);
        let all = kernels.len();
        if shown.order == Order::Time {
            kernels.truncate(PROFILED);
        }
        let which = match kernels.len() == all {
            true => "all launches of a kernel together".to_owned(),
            false => format!(
                "all launches of a kernel together, the {PROFILED} kernels that take longest of {}",
                grouped(all as u64)
            ),
        };
        let launches = kernels.iter().map(|kernel| ProfiledLaunch {
            case: String::new(),
            variant: &kernel.name,
            launch: &kernel.all,
        });
        let launches: Vec<ProfiledLaunch> = launches.collect();
        profile::text(&which, &launches, detail)
    }

    /// What `--plot` draws.
    pub fn figure(&self, title: &str, gpu: &GpuInfo) -> Figure {
        let variants = self.kernels.iter().map(|kernel| Variant {
            group: String::new(),
            label: kernel.name.clone(),
            milliseconds: kernel.all.time.milliseconds,
            tally: kernel.all.profile.as_ref().map(|profile| profile.total),
            roofline: Some(kernel.all.time.roofline),
        });
        let measured = self.measured.iter().map(|kernel| Variant {
            group: String::new(),
            label: kernel.name.clone(),
            milliseconds: kernel.all.milliseconds,
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

/// The columns of a table of kernels.
const HEADERS: [&str; 7] = [
    "kernel",
    "launches",
    "blocks",
    "threads a block",
    "ms each",
    "ms together",
    "time",
];

/// A kernel's row; `time` says where its times come from.
fn row<L: Launch>(kernel: &Kernel<L>, time: String) -> Vec<String> {
    let [grid, block] = kernel.all.shape().map(|size| match kernel.varied {
        true => "varied".to_owned(),
        false => shape(size),
    });
    let together = kernel.all.milliseconds();
    vec![
        kernel.name.clone(),
        grouped(kernel.launches),
        grid,
        block,
        milliseconds(together / kernel.launches as f64),
        milliseconds(together),
        time,
    ]
}

/// `16 x 16`, without what is 1.
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
    use crate::Gathered;
    use crate::wire::Told;

    #[test]
    fn shapes_are_short() {
        assert_eq!(shape([1, 1, 1]), "1");
        assert_eq!(shape([1024, 1, 1]), "1 024");
        assert_eq!(shape([16, 1, 4]), "16 x 1 x 4");
    }

    #[test]
    fn kernels_are_measured_on_a_gpu_where_a_profile_is_asked_for() {
        let gpu = GpuInfo {
            name: "NVIDIA H200".to_owned(),
            compute_capability: Capability(9, 0),
            driver: "13.0".to_owned(),
            time: Clock::Measured,
        };
        let launch = |kernel: &str, blocks, milliseconds| {
            Told::Measured(TimedLaunch {
                kernel: kernel.to_owned(),
                grid: [blocks, 1, 1],
                block: [64, 1, 1],
                milliseconds,
            })
        };
        let told = [
            launch("_Z3addPf", 2, 0.25),
            launch("fill", 1, 1.5),
            launch("_Z3addPf", 4, 0.75),
        ];
        let summary = told.into_iter().collect::<Gathered>().summary("cudaFree");
        assert!(!summary.is_idle());
        let mut shown = Shown {
            profile: Some(Detail::Summary),
            check: None,
            order: Order::Launched,
            again: "cuda-run add.cu".to_owned(),
        };
        let text = summary.text(&shown, &gpu);
        let rows: Vec<&str> = text.lines().take(4).map(str::trim_end).collect();
        assert_eq!(
            rows,
            [
                "| kernel | launches | blocks | threads a block | ms each | ms together | time                  |",
                "|--------|----------|--------|-----------------|---------|-------------|-----------------------|",
                "| add    |        2 | varied | varied          |  0.5000 |      1.0000 | measured, NVIDIA H200 |",
                "| fill   |        1 | 1      | 64              |  1.5000 |      1.5000 | measured, NVIDIA H200 |",
            ]
        );
        assert!(text.contains("\nncu "), "{text}");
        shown.profile = None;
        let text = summary.text(&shown, &gpu);
        assert!(
            text.starts_with("--profile times kernels on this GPU."),
            "{text}"
        );
        assert!(!text.contains('|'), "{text}");
    }

    #[test]
    fn many_reasons_are_not_all_told() {
        let refused = |count| Summary {
            refused: (0..count)
                .map(|i| (format!("line {i}"), 1 + i % 2))
                .collect(),
            not_simulated: vec!["cuA".to_owned(), "cuB".to_owned()],
            ..Summary::default()
        };
        let few = refused(2).refusals();
        assert_eq!(
            few,
            "Not simulated: cuA, cuB.\nRefused: line 0\nRefused 2 times: line 1"
        );
        assert!(
            refused(12)
                .refusals()
                .ends_with("line 9\nand modules for 2 more reasons")
        );
        assert!(!refused(10).refusals().contains("more"));
    }
}
