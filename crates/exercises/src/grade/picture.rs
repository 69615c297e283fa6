//! The picture for a missed target: the submission and the solution run once more and report their costliest
//! accesses.

use anyhow::Result;
use common::module;
use cuda_driver::counters::{AccessCounts, METRICS, Metric, MetricSource, Tally};
use cuda_driver::{AccessClass, AccessSet, Checks, LaunchRecord, Traced, Tracing};

use super::compile;
use super::counters::SHARE_OF_LIMIT;
use crate::data::Target;
use crate::host::{Bench, Case, Host};
use crate::picture::{Access, Picture};

/// The accesses that a target concerns, and the counters of each line.
struct Subject<'a> {
    counter: String,
    kernel: Option<&'a str>,
    classes: AccessSet,
    metrics: Vec<&'static Metric>,
    /// True if the accesses themselves are counted rather than their cost.
    requests: bool,
    /// True if the target is zero accesses.
    zero: bool,
}

/// Returns a picture for the first of the missed targets that can be drawn.
///
/// # Errors
///
/// Fails if the submission or the solution no longer runs.
pub fn draw(
    missed: &[&Target],
    (host, bench, case): (&dyn Host, &mut Bench, &Case),
    launches: &[LaunchRecord],
    (submission, solution): (&str, impl FnOnce() -> Result<String>),
) -> Result<Option<Picture>> {
    let subjects: Vec<Subject> = missed
        .iter()
        .filter_map(|target| Subject::from_target(target))
        .collect();
    if subjects.is_empty() {
        return Ok(None);
    }
    let (_, traces) = trace_costliest(host, bench, case, submission)?;
    let solution = trace_costliest(host, bench, case, &solution()?)?;
    let pictures = subjects.iter().filter_map(|subject| {
        let actual = subject.access(launches, &traces, true);
        if subject.zero {
            let (counter, intended) = (subject.counter.clone(), None);
            return actual.is_some().then_some(Picture {
                counter,
                actual,
                intended,
            });
        }
        let intended = subject.access(&solution.0, &solution.1, false);
        // A solution that is no better would not help the student.
        let is_better = |intended: &Access| match &actual {
            Some(actual) if intended.space != actual.space => false,
            Some(actual) if subject.requests => {
                intended.lanes != actual.lanes || intended.times < actual.times
            }
            Some(actual) => intended.cost < actual.cost || intended.times < actual.times,
            None => true,
        };
        let intended = intended.filter(is_better);
        let intended = intended.or_else(|| actual.as_ref().and_then(Access::ideal));
        let counter = subject.counter.clone();
        (actual.is_some() || intended.is_some()).then_some(Picture {
            counter,
            actual,
            intended,
        })
    });
    let mut pictures: Vec<Picture> = pictures.collect();
    // Prefer a picture with both sides.
    pictures.sort_by_key(|picture| picture.actual.is_none() || picture.intended.is_none());
    Ok(pictures.into_iter().next())
}

/// Launch records, and the traced accesses of each kernel.
type Traces = (Vec<LaunchRecord>, Vec<(String, Vec<Traced>)>);

/// Runs a module's kernels and traces their costliest accesses.
fn trace_costliest(host: &dyn Host, bench: &mut Bench, case: &Case, ptx: &str) -> Result<Traces> {
    cuda_driver::check(Checks::NONE);
    cuda_driver::shuffle(None);
    cuda_driver::profile(true);
    bench.replace_submission(module::load(ptx)?);
    cuda_driver::trace(Some(Tracing::Costliest));
    let result = bench.run(host, case);
    cuda_driver::trace(None);
    let (launches, traces) = (bench.take_launches(), bench.take_traces());
    result?;
    Ok((launches, traces))
}

impl<'a> Subject<'a> {
    /// Returns the subject of a target; `None` if the target does not concern memory accesses.
    fn from_target(target: &'a Target) -> Option<Subject<'a>> {
        let Some(counters) = &target.counter else {
            let sectors = METRICS.iter().filter(|metric| {
                let name = metric.name;
                name.contains("_sectors_pipe_lsu_mem_global_op_") && !name.contains("lookup")
            });
            return Subject::new(SHARE_OF_LIMIT.to_owned(), None, sectors.collect());
        };
        let names = counters.names();
        let metrics = METRICS
            .iter()
            .filter(|metric| names.iter().any(|name| name == metric.name));
        let kernel = target.kernel.as_deref();
        let subject = Subject::new(names.join(" + "), kernel, metrics.collect())?;
        let zero = target.equals == Some(0) || target.at_most == Some(0);
        // Zero bank conflicts is a target with accesses; only zero accesses means that there should be none.
        let zero = zero && subject.requests;
        Some(Subject { zero, ..subject })
    }

    fn new(
        counter: String,
        kernel: Option<&'a str>,
        metrics: Vec<&'static Metric>,
    ) -> Option<Subject<'a>> {
        let probe = AccessCounts {
            requests: 1,
            ..AccessCounts::default()
        };
        let mut classes: Option<AccessSet> = None;
        let mut requests = false;
        for metric in &metrics {
            if let MetricSource::Accesses(of, count) = metric.source {
                classes = Some(classes.map_or(of, |union| union.union(of)));
                requests |= count(&probe) > 0;
            }
        }
        Some(Subject {
            counter,
            kernel,
            classes: classes?,
            metrics,
            requests,
            zero: false,
        })
    }

    fn count(&self, tally: &Tally) -> u64 {
        self.metrics.iter().map(|metric| metric.value(tally)).sum()
    }

    /// Returns the costliest access of the line with the highest count, weighted by the avoidable share. If
    /// `submission_only`, only lines of the submission are considered.
    fn access(
        &self,
        launches: &[LaunchRecord],
        traces: &[(String, Vec<Traced>)],
        submission_only: bool,
    ) -> Option<Access> {
        let mut best: Option<(f64, Access)> = None;
        for launch in launches {
            if self.kernel.is_some_and(|kernel| kernel != launch.kernel) {
                continue;
            }
            let lines = launch.profile.iter().flat_map(|profile| &profile.lines);
            for line in lines {
                let count = self.count(&line.tally);
                let is_submission = line.file == compile::FILE_NAME && line.line > 0;
                if count == 0 || submission_only && !is_submission {
                    continue;
                }
                let traced = traces
                    .iter()
                    .filter(|(kernel, _)| *kernel == launch.kernel)
                    .flat_map(|(_, trace)| trace)
                    .filter(|traced| {
                        let class = AccessClass::of(traced.kind, traced.memory);
                        traced.source.line == line.line
                            && traced.source.file.as_deref().unwrap_or_default() == line.file
                            && class.is_some_and(|class| self.classes.contains(class))
                    });
                let times = line.tally.sum(self.classes).requests;
                let accesses = traced
                    .filter_map(|traced| Access::new(traced, launch.grid, is_submission, times));
                let Some(access) = accesses.max_by_key(|access| (access.cost, access.lanes.len()))
                else {
                    continue;
                };
                let score = count as f64 * self.avoidable_share(&access);
                if best.as_ref().is_none_or(|(best, _)| score > *best) {
                    let kernel = launch.kernel.clone();
                    best = Some((score, Access { kernel, ..access }));
                }
            }
        }
        best.map(|(_, access)| access)
    }

    /// Returns the avoidable share of an access's cost, plus a small constant so that the highest count wins
    /// among lines without avoidable cost.
    fn avoidable_share(&self, access: &Access) -> f64 {
        match access.ideal() {
            Some(ideal) if !self.requests => {
                1.01 - f64::from(ideal.cost) / f64::from(access.cost.max(1))
            }
            _ => 0.01,
        }
    }
}
