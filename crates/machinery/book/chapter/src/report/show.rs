//! Printing of a report: the table, and the output of `--profile`, `--check`, `--plot` and `--json`.

use std::io::{self, Write as _};

use anyhow::{Context as _, Result};
use common::error::note;
use common::gpu::Clock;
use common::timing::Timing;

use super::entry::Outcome;
use super::{LimitRow, Report};
use crate::lang::Lang;
use crate::number::milliseconds;
use crate::plot::{Figure, Variant};
use crate::profile::{self, ProfiledLaunch};
use crate::table::{or_dash, table};
use crate::{check, interrupt, rerun};

impl Report {
    /// Prints to standard output the table and the output of `--profile` and `--check`, or with `--json` the
    /// record. Then prints to standard error a note on modelled times, the ideas of the ladder's rungs, and
    /// `words`. With `--plot` it also saves the picture.
    ///
    /// # Errors
    ///
    /// Fails if standard output cannot be written to.
    pub fn print(&self, words: &str) -> Result<()> {
        let text = if self.flags.json {
            serde_json::to_string_pretty(self)?
        } else {
            let tables = self
                .extra
                .iter()
                .flat_map(|extra| extra.tables(self.lang()));
            let parts = tables
                .chain([self.table(), self.legend()])
                .chain(self.profile())
                .chain(self.checked());
            parts.collect::<Vec<_>>().join("\n\n")
        };
        let deferred = interrupt::defer();
        writeln!(io::stdout(), "{text}").context("cannot write the results")?;
        drop(deferred);
        if let Some(plot) = &self.flags.report.plot {
            let [svg, png] = plot.save(&self.figure())?;
            note(
                localize!(self.lang(), "\nThe plot: {}, {}", "\n图表：{}，{}"; svg.display(), png.display()),
            );
        }
        if self.gpu.time == Clock::Modelled {
            note(self.lang().pick(
                "\nModelled times are estimates; run on a GPU to measure.",
                "\n模型给出的时间只是估算；要测量，请在 GPU 上运行。",
            ));
        }
        for paragraph in [&self.ideas, words] {
            if !paragraph.is_empty() {
                note(format_args!("\n{paragraph}"));
            }
        }
        Ok(())
    }

    /// Returns the table, which is valid Markdown. Modelled times are deterministic, so only measured ones
    /// have a column for the spread of the samples.
    pub fn table(&self) -> String {
        let lang = self.lang();
        let timing: &[&str] = match self.gpu.time {
            Clock::Measured => lang.pick(
                &["ms, median", "fastest–slowest", "speedup"],
                &["ms，中位数", "最短–最长", "加速比"],
            ),
            Clock::Modelled => lang.pick(&["ms", "speedup"], &["ms", "加速比"]),
        };
        let bound: &[&str] = if self.limits.is_empty() {
            &[]
        } else {
            lang.pick(&["of limit"], &["达到极限的比例"])
        };
        let [first, last] = lang.pick([["variant"], ["check"]], [["变体"], ["验证"]]);
        let headers = [&first, self.columns(), timing, bound, &last].concat();
        let mut rows: Vec<Vec<String>> = self
            .results
            .iter()
            .map(|outcome| self.row(outcome))
            .collect();
        for limit in self.limits.iter().rev() {
            rows.insert(limit.results_before, self.limit_row(limit));
        }
        table(&headers, rows)
    }

    /// Returns the line below the table: the origin of the times and the baseline of the speedups.
    pub fn legend(&self) -> String {
        let gpu = &self.gpu;
        let lang = self.lang();
        let time = match gpu.time {
            Clock::Measured => lang.pick("measured", "测量值"),
            Clock::Modelled => lang.pick("modelled", "模型估算"),
        };
        localize!(
            lang,
            "Times: {}, {}. Speedup: relative to `{}`.",
            "时间：{}，{}。加速比：相对于 `{}`。";
            time, gpu.name, self.baseline
        )
    }

    /// Returns the language of the tables.
    fn lang(&self) -> Lang {
        self.flags.lang()
    }

    /// Returns the heads of the chapter's own columns.
    fn columns(&self) -> &'static [&'static str] {
        let first = self.results.first();
        first.map_or(&[], |outcome| outcome.details.columns(self.lang()))
    }

    fn row(&self, outcome: &Outcome) -> Vec<String> {
        let speedup = outcome.speedup.map(|speedup| format!("{speedup:.2}"));
        let share = outcome.bound.as_ref().map(|limit| percent(limit.share));
        let check = match outcome.verified {
            true => self.lang().pick("correct", "正确"),
            false => self.lang().pick("WRONG", "错误"),
        };
        let mut row = vec![outcome.variant.clone()];
        row.extend(outcome.details.cells());
        row.extend(self.times(&outcome.timing));
        row.push(or_dash(speedup));
        row.extend((!self.limits.is_empty()).then(|| or_dash(share)));
        row.push(check.to_owned());
        row
    }

    fn limit_row(&self, limit: &LimitRow) -> Vec<String> {
        let dash = || or_dash(None);
        let mut row = vec![limit.name.to_owned()];
        row.extend(self.columns().iter().map(|_| dash()));
        row.extend(self.times(&limit.timing));
        row.extend([
            dash(),
            percent(1.0),
            self.lang().pick("limit", "极限").to_owned(),
        ]);
        row
    }

    fn times(&self, timing: &Timing) -> Vec<String> {
        let [median, min, max] = [timing.median_ms, timing.min_ms, timing.max_ms].map(milliseconds);
        match self.gpu.time {
            Clock::Measured => vec![median, format!("{min}–{max}")],
            Clock::Modelled => vec![median],
        }
    }

    /// Returns the output of `--profile`: the simulator's counters, or on a GPU the command that counts.
    fn profile(&self) -> Vec<String> {
        let Some(detail) = self.flags.report.profile else {
            return Vec::new();
        };
        if self.gpu.time == Clock::Measured {
            let command =
                rerun::ncu_command(detail, &rerun::profiling_command(std::env::args_os()));
            return vec![localize!(
                self.lang(),
                "To profile the program on this GPU, use Nsight Compute from the CUDA Toolkit:\n\n{}",
                "要在这个 GPU 上分析程序的性能，请使用 CUDA 工具包中的 Nsight Compute：\n\n{}";
                command
            )];
        }
        let launches = self.results.iter().filter_map(|outcome| {
            Some(ProfiledLaunch {
                case: outcome.details.case(self.lang()),
                variant: &outcome.variant,
                launch: outcome.launch.record.as_ref()?,
            })
        });
        let which = self.lang().pick("one launch each", "各启动一次");
        profile::text(which, &launches.collect::<Vec<_>>(), detail, self.lang())
    }

    /// Returns the output of `--check`: the findings, or on a GPU the commands that check.
    fn checked(&self) -> Vec<String> {
        match (&self.check, self.flags.report.check) {
            (Some(checked), _) => vec![check::section(
                checked.checks,
                checked.findings(),
                None,
                self.lang(),
            )],
            (None, Some(checks)) => {
                let commands = rerun::sanitizer_commands(
                    checks,
                    &rerun::profiling_command(std::env::args_os()),
                );
                vec![localize!(
                    self.lang(),
                    "To check the program on this GPU, use compute-sanitizer from the CUDA Toolkit:\n\n{}",
                    "要在这个 GPU 上检查程序，请使用 CUDA 工具包中的 compute-sanitizer：\n\n{}";
                    commands
                )]
            }
            (None, None) => Vec::new(),
        }
    }

    /// Returns the charts that `--plot` draws.
    fn figure(&self) -> Figure {
        let variants = self.results.iter().map(|outcome| {
            let launch = outcome.launch.record.as_ref();
            Variant {
                group: outcome.details.case(self.lang()),
                label: outcome.variant.clone(),
                milliseconds: outcome.timing.median_ms,
                tally: launch.and_then(|launch| Some(launch.profile.as_ref()?.total)),
                roofline: launch.map(|launch| launch.time.roofline),
            }
        });
        Figure {
            title: self.chapter.to_owned(),
            gpu: self.gpu.clone(),
            variants: variants.collect(),
        }
    }
}

/// Formats a fraction as an integer percentage.
fn percent(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}
