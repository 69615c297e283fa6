//! What is drawn where a counter misses its target: the answer runs once more and tells of its costliest
//! accesses, and so does the solution.

use anyhow::Result;
use common::module;
use cuda_driver::counters::{AccessCounts, Figure, METRICS, Metric, Tally};
use cuda_driver::{AccessClass, AccessSet, Checks, LaunchRecord, Traced, Tracing};

use super::compile;
use super::counters::SHARE;
use crate::data::Target;
use crate::host::{Bench, Case, Host};
use crate::picture::{Access, Picture};

/// What a target is about: accesses of some classes, and how much each line makes of them.
struct Subject<'a> {
    counter: String,
    kernel: Option<&'a str>,
    classes: AccessSet,
    metrics: Vec<&'static Metric>,
    /// Whether accesses are counted as such, whatever each comes to.
    requests: bool,
    /// Whether there should be none.
    none: bool,
}

/// A picture of the first of these targets that has one.
///
/// # Errors
///
/// Where one of the two does not run as it did before.
pub fn of(
    missed: &[&Target],
    (host, bench, case): (&dyn Host, &mut Bench, &Case),
    launches: &[LaunchRecord],
    (answer, solution): (&str, impl FnOnce() -> Result<String>),
) -> Result<Option<Picture>> {
    let subjects: Vec<Subject> = missed
        .iter()
        .filter_map(|target| Subject::of(target))
        .collect();
    if subjects.is_empty() {
        return Ok(None);
    }
    let (_, traces) = traced(host, bench, case, answer)?;
    let solution = traced(host, bench, case, &solution()?)?;
    let pictures = subjects.iter().filter_map(|subject| {
        let yours = subject.access(launches, &traces, true);
        if subject.none {
            let (counter, meant) = (subject.counter.clone(), None);
            return yours.is_some().then_some(Picture {
                counter,
                yours,
                meant,
            });
        }
        let meant = subject.access(&solution.0, &solution.1, false);
        // A solution that does the same says nothing of where to go.
        let better = |meant: &Access| match &yours {
            Some(yours) if meant.space != yours.space => false,
            Some(yours) if subject.requests => {
                meant.lanes != yours.lanes || meant.times < yours.times
            }
            Some(yours) => meant.cost < yours.cost || meant.times < yours.times,
            None => true,
        };
        let meant = meant.filter(better);
        let meant = meant.or_else(|| yours.as_ref().and_then(Access::ideal));
        let counter = subject.counter.clone();
        (yours.is_some() || meant.is_some()).then_some(Picture {
            counter,
            yours,
            meant,
        })
    });
    let mut pictures: Vec<Picture> = pictures.collect();
    // One with both sides tells most.
    pictures.sort_by_key(|picture| picture.yours.is_none() || picture.meant.is_none());
    Ok(pictures.into_iter().next())
}

/// Launches, and what each told of its accesses.
type Seen = (Vec<LaunchRecord>, Vec<(String, Vec<Traced>)>);

/// Runs a module's kernels for their costliest accesses.
fn traced(host: &dyn Host, bench: &mut Bench, case: &Case, ptx: &str) -> Result<Seen> {
    cuda_driver::check(Checks::NONE);
    cuda_driver::shuffle(None);
    cuda_driver::profile(true);
    bench.replace(module::load(ptx)?);
    cuda_driver::trace(Some(Tracing::Costliest));
    let ran = bench.run(host, case);
    cuda_driver::trace(None);
    let (launches, traces) = (bench.take_launches(), bench.take_traces());
    ran?;
    Ok((launches, traces))
}

impl<'a> Subject<'a> {
    /// None where what is counted is no access.
    fn of(target: &'a Target) -> Option<Subject<'a>> {
        let Some(counters) = &target.counter else {
            let sectors = METRICS.iter().filter(|metric| {
                let name = metric.name;
                name.contains("_sectors_pipe_lsu_mem_global_op_") && !name.contains("lookup")
            });
            return Subject::new(SHARE.to_owned(), None, sectors.collect());
        };
        let names = counters.names();
        let metrics = METRICS
            .iter()
            .filter(|metric| names.iter().any(|name| name == metric.name));
        let kernel = target.kernel.as_deref();
        let subject = Subject::new(names.join(" + "), kernel, metrics.collect())?;
        let none = target.equals == Some(0) || target.at_most == Some(0);
        // Of conflicts there should be none, and accesses there may be.
        let none = none && subject.requests;
        Some(Subject { none, ..subject })
    }

    fn new(
        counter: String,
        kernel: Option<&'a str>,
        metrics: Vec<&'static Metric>,
    ) -> Option<Subject<'a>> {
        let one = AccessCounts {
            requests: 1,
            ..AccessCounts::default()
        };
        let mut classes: Option<AccessSet> = None;
        let mut requests = false;
        for metric in &metrics {
            if let Figure::Accesses(of, count) = metric.of {
                classes = Some(classes.map_or(of, |known| known.or(of)));
                requests |= count(&one) > 0;
            }
        }
        Some(Subject {
            counter,
            kernel,
            classes: classes?,
            metrics,
            requests,
            none: false,
        })
    }

    fn count(&self, tally: &Tally) -> u64 {
        self.metrics.iter().map(|metric| metric.value(tally)).sum()
    }

    /// The costliest access of the line that makes most of what is counted, or most of it in vain. `own`: the
    /// line has to be one of the answer's.
    fn access(
        &self,
        launches: &[LaunchRecord],
        traces: &[(String, Vec<Traced>)],
        own: bool,
    ) -> Option<Access> {
        let mut found: Option<(f64, Access)> = None;
        for launch in launches {
            if self.kernel.is_some_and(|kernel| kernel != launch.kernel) {
                continue;
            }
            let lines = launch.profile.iter().flat_map(|profile| &profile.lines);
            for line in lines {
                let many = self.count(&line.tally);
                let is_own = line.file == compile::NAME && line.line > 0;
                if many == 0 || own && !is_own {
                    continue;
                }
                let seen = traces
                    .iter()
                    .filter(|(kernel, _)| *kernel == launch.kernel)
                    .flat_map(|(_, trace)| trace)
                    .filter(|seen| {
                        let class = AccessClass::of(seen.kind, seen.memory);
                        seen.source.line == line.line
                            && seen.source.file.as_deref().unwrap_or_default() == line.file
                            && class.is_some_and(|class| self.classes.has(class))
                    });
                let times = line.tally.sum(self.classes).requests;
                let drawn = seen.filter_map(|seen| Access::new(seen, launch.grid, is_own, times));
                let Some(access) = drawn.max_by_key(|access| (access.cost, access.lanes.len()))
                else {
                    continue;
                };
                let score = many as f64 * self.share_in_vain(&access);
                if found.as_ref().is_none_or(|(best, _)| score > *best) {
                    let kernel = launch.kernel.clone();
                    found = Some((score, Access { kernel, ..access }));
                }
            }
        }
        found.map(|(_, access)| access)
    }

    /// How much of what an access comes to is more than it could be; a little in any case, so that of lines
    /// without any the one with most is found.
    fn share_in_vain(&self, access: &Access) -> f64 {
        match access.ideal() {
            Some(ideal) if !self.requests => {
                1.01 - f64::from(ideal.cost) / f64::from(access.cost.max(1))
            }
            _ => 0.01,
        }
    }
}
