//! The modelled times of the course's own files, with which a submission's modelled time is compared.

use std::thread::{Scope, ScopedJoinHandle};

use anyhow::{Result, anyhow};
use common::module;
use cuda_driver::{Checks, LaunchRecord};

use super::time::ReferenceTimes;
use super::{Grading, compile};
use crate::course::Exercise;
use crate::data::{Kind, Step};
use crate::host::{Bench, Case, Host};

/// The reference times or the files to measure them with.
pub enum Reference<'scope> {
    /// The times are already known.
    Times(ReferenceTimes),
    /// The files are being compiled while the submission runs.
    Files(ScopedJoinHandle<'scope, Result<Files>>),
}

/// The course's files as PTX.
pub struct Files {
    /// The start file; `None` if its results are wrong, which makes its time meaningless.
    start: Option<String>,
    solution: String,
}

impl<'scope> Reference<'scope> {
    /// Starts to compile the files if needed; `None` for predictions, which launch nothing that could be timed.
    pub fn start(
        scope: &'scope Scope<'scope, '_>,
        exercise: &'scope Exercise,
        grading: &Grading,
    ) -> Result<Option<Reference<'scope>>> {
        let data = exercise.data();
        if data.kind == Kind::Predict {
            return Ok(None);
        }
        if let Some(reference_times) = grading.reference_times {
            return Ok(Some(Reference::Times(reference_times)));
        }
        let (clang, lang) = (grading.clang.clone(), grading.lang);
        let architecture = grading.architecture;
        let has_start = data.rejected_at == Step::Counters;
        let files = scope.spawn(move || {
            if !has_start {
                let [solution] =
                    compile::course_files([exercise.solution()], architecture, &clang, lang)?;
                let start = None;
                return Ok(Files { start, solution });
            }
            let texts = [exercise.start(), exercise.solution()];
            let [start, solution] = compile::course_files(texts, architecture, &clang, lang)?;
            let start = Some(start);
            Ok(Files { start, solution })
        });
        Ok(Some(Reference::Files(files)))
    }

    /// Returns the solution as PTX.
    pub fn solution(self, exercise: &Exercise, grading: &Grading) -> Result<String> {
        match self {
            Reference::Times(_) => {
                let [solution] = compile::course_files(
                    [exercise.solution()],
                    grading.architecture,
                    &grading.clang,
                    grading.lang,
                )?;
                Ok(solution)
            }
            Reference::Files(files) => {
                let files = files.join();
                let files = files.map_err(|_| anyhow!("a compiler thread panicked"))??;
                Ok(files.solution)
            }
        }
    }

    /// Measures the times and returns them with the solution's launch records, so that its counters can be
    /// shown. The records are empty if the times were already known.
    pub fn times(
        self,
        host: &dyn Host,
        bench: &mut Bench,
        case: &Case,
        seed: u64,
    ) -> Result<(ReferenceTimes, Vec<LaunchRecord>)> {
        let files = match self {
            Reference::Times(reference_times) => return Ok((reference_times, Vec::new())),
            Reference::Files(files) => files.join(),
        };
        let files = files.map_err(|_| anyhow!("a compiler thread panicked"))??;
        cuda_driver::check(Checks::NONE);
        cuda_driver::shuffle(None);
        let mut launches = |ptx: &str, sampled: Option<u64>| {
            cuda_driver::profile(sampled.is_some());
            cuda_driver::set_sample_seed(sampled);
            bench.replace_submission(module::load(ptx)?);
            bench.run(host, case)?;
            anyhow::Ok(bench.take_launches())
        };
        // A start file does the same work in all blocks. Sample the solution's blocks as for a submission.
        let start = files
            .start
            .map(|start| launches(&start, None))
            .transpose()?;
        let solution = launches(&files.solution, Some(seed))?;
        let reference_times = ReferenceTimes {
            start_ms: start.map(|start| milliseconds(&start)),
            solution_ms: milliseconds(&solution),
        };
        Ok((reference_times, solution))
    }
}

/// Returns the modelled time of all launches in milliseconds.
pub fn milliseconds(launches: &[LaunchRecord]) -> f64 {
    launches.iter().map(|launch| launch.time.milliseconds).sum()
}
