//! What is told at the end: kernel by kernel, all launches of each together.

use chapter::flags::Detail;
use chapter::number::{grouped, milliseconds};
use chapter::plot::{Figure, Variant};
use chapter::profile::{self, ProfiledLaunch};
use chapter::report::table::{or_dash, table};
use chapter::{check, rerun};
use common::gpu::{Clock, GpuInfo};
use cuda_driver::{Finding, FindingKind, Severity};

use crate::flags::Flags;
use crate::kernels::{Kernel, Kernels};
use crate::outside::Ended;
use crate::wire::{self, Told};

/// What the program told.
#[derive(Debug, Default)]
pub struct Summary {
    pub kernels: Vec<Kernel>,
    pub findings: Vec<Finding>,
    pub faults: Vec<String>,
    /// Its library was not loaded, and why.
    pub not_loaded: Option<String>,
    /// Where a description was not met.
    pub wrong: Vec<String>,
}

impl Summary {
    /// What a program told that has ended.
    pub fn read(ended: &Ended) -> Summary {
        let mut summary = Summary::default();
        let mut kernels = Kernels::default();
        let mut found = Vec::new();
        for told in wire::read(&ended.told) {
            match told {
                Told::Begun => {}
                Told::NotLoaded(why) => summary.not_loaded = Some(why),
                Told::Launched(record) => kernels.add(*record),
                Told::Faulted(fault) => summary.faults.push(fault),
                Told::Found(findings) => found.extend(findings),
                Told::Wrong(text) => summary.wrong.push(text),
            }
        }
        for finding in &mut found {
            if finding.kind == FindingKind::Leaked {
                finding.usually = "a cudaFree that is missing".to_owned();
            }
        }
        summary.kernels = kernels.finish();
        summary.findings = check::once(found);
        summary
    }

    /// Whether a check found an error, or a result is not as it was to be.
    pub fn has_errors(&self) -> bool {
        let mut found = self.findings.iter();
        found.any(|finding| finding.severity == Severity::Error) || !self.wrong.is_empty()
    }

    /// The summary as a reader takes it in.
    pub fn text(&self, flags: &Flags, gpu: &GpuInfo) -> String {
        let mut parts = vec![match gpu.time {
            Clock::Modelled => self.table(),
            Clock::Measured => on_gpu(flags),
        }];
        let modelled = gpu.time == Clock::Modelled;
        if let Some(detail) = flags.show.profile {
            parts.extend(self.profile(detail, modelled));
        }
        if let Some(checks) = flags.show.check {
            parts.push(match modelled {
                true => check::section(checks, &self.findings),
                false => format!(
                    "compute-sanitizer, which comes with the CUDA toolkit, checks on this GPU:\n\n{}",
                    check::commands(checks, &rerun::again(std::env::args_os()))
                ),
            });
        }
        if modelled && !self.kernels.is_empty() {
            parts.push("These times are a model's; run on a GPU to measure.".to_owned());
        }
        parts.retain(|part| !part.is_empty());
        parts.join("\n\n")
    }

    /// A row for each kernel.
    fn table(&self) -> String {
        if self.kernels.is_empty() {
            return match self.faults.is_empty() {
                true => "The program launched no kernel.".to_owned(),
                false => "No launch of the program came to its end.".to_owned(),
            };
        }
        let headers = [
            "kernel",
            "launches",
            "blocks",
            "threads a block",
            "ms each",
            "ms together",
            "time",
        ];
        let row = |kernel: &Kernel| {
            let all = &kernel.all;
            let shape = |size: [u32; 3]| match kernel.varied {
                true => "varied".to_owned(),
                false => shape(size),
            };
            let together = all.time.milliseconds;
            vec![
                kernel.name.clone(),
                grouped(kernel.launches),
                shape(all.grid),
                shape(all.block),
                milliseconds(together / kernel.launches as f64),
                milliseconds(together),
                format!("modelled, {}", all.time.gpu),
            ]
        };
        table(&headers, self.kernels.iter().map(row))
    }

    fn profile(&self, detail: Detail, modelled: bool) -> Vec<String> {
        if !modelled {
            let run = rerun::again(std::env::args_os());
            let command = profile::ncu_command(detail, &format!("--target-processes all {run}"));
            return vec![format!(
                "Nsight Compute, which comes with the CUDA toolkit, counts on this GPU:\n\n{command}"
            )];
        }
        if self.kernels.is_empty() {
            return Vec::new();
        }
        let launches = self.kernels.iter().map(|kernel| ProfiledLaunch {
            case: String::new(),
            variant: &kernel.name,
            launch: &kernel.all,
        });
        let launches: Vec<ProfiledLaunch> = launches.collect();
        profile::text("all launches of a kernel together", &launches, detail)
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
        Figure {
            title: title.to_owned(),
            gpu: gpu.clone(),
            variants: variants.collect(),
        }
    }
}

/// What is said of kernels' times on a GPU.
fn on_gpu(flags: &Flags) -> String {
    if flags.show.profile.is_some() {
        return String::new();
    }
    format!(
        "Nsight Systems, which comes with the CUDA toolkit, times kernels on this GPU:\n\n\
         nsys profile --stats=true {}",
        rerun::again(std::env::args_os())
    )
}

/// `16 x 16`, without what is 1.
fn shape(size: [u32; 3]) -> String {
    let last = size.iter().rposition(|&count| count != 1).unwrap_or(0);
    let sizes = size[..=last].iter().map(|&count| grouped(count.into()));
    or_dash(Some(sizes.collect::<Vec<_>>().join(" x ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_short() {
        assert_eq!(shape([1, 1, 1]), "1");
        assert_eq!(shape([1024, 1, 1]), "1 024");
        assert_eq!(shape([16, 1, 4]), "16 x 1 x 4");
    }
}
