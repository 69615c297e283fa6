//! What an answer's modelled time is compared with: that of the course's own files in the same run.

use std::thread::{Scope, ScopedJoinHandle};

use anyhow::{Result, anyhow};
use common::module;
use cuda_driver::{Checks, LaunchRecord};

use super::time::Ours;
use super::{Grading, compile};
use crate::data::{Kind, Step};
use crate::exercise::Exercise;
use crate::host::{Bench, Case, Host};

/// The times of the course's own files, or what they come from.
pub enum Beside<'scope> {
    /// They are known.
    Times(Ours),
    /// The files are being compiled while the answer runs.
    Files(ScopedJoinHandle<'scope, Result<Files>>),
}

/// The course's own files as PTX.
pub struct Files {
    /// The start file; none where it is wrong or does nothing, so that its time says nothing.
    start: Option<String>,
    solution: String,
}

impl<'scope> Beside<'scope> {
    /// Begins to compile what is needed; none where nothing is launched that has a time.
    pub fn begin(
        scope: &'scope Scope<'scope, '_>,
        exercise: &'scope Exercise,
        grading: &Grading,
    ) -> Result<Option<Beside<'scope>>> {
        let data = exercise.data()?;
        if data.kind == Kind::Predict {
            return Ok(None);
        }
        if let Some(ours) = grading.ours {
            return Ok(Some(Beside::Times(ours)));
        }
        let (clang, lang) = (grading.clang.clone(), grading.lang);
        let architecture = grading.architecture;
        let starts = data.rejected_at == Step::Counters;
        let files = scope.spawn(move || {
            if !starts {
                let [solution] = compile::ours([exercise.solution], architecture, &clang, lang)?;
                let start = None;
                return Ok(Files { start, solution });
            }
            let texts = [exercise.start, exercise.solution];
            let [start, solution] = compile::ours(texts, architecture, &clang, lang)?;
            let start = Some(start);
            Ok(Files { start, solution })
        });
        Ok(Some(Beside::Files(files)))
    }

    /// The solution as PTX.
    pub fn solution(self, exercise: &Exercise, grading: &Grading) -> Result<String> {
        match self {
            Beside::Times(_) => {
                let [solution] = compile::ours(
                    [exercise.solution],
                    grading.architecture,
                    &grading.clang,
                    grading.lang,
                )?;
                Ok(solution)
            }
            Beside::Files(files) => {
                let files = files.join();
                let files = files.map_err(|_| anyhow!("a compiler's thread has gone"))??;
                Ok(files.solution)
            }
        }
    }

    /// The times, and what the solution's launches were where they are not known beforehand: counted, so that
    /// they stand beside the answer's.
    pub fn times(
        self,
        host: &dyn Host,
        bench: &mut Bench,
        case: &Case,
        seed: u64,
    ) -> Result<(Ours, Vec<LaunchRecord>)> {
        let files = match self {
            Beside::Times(ours) => return Ok((ours, Vec::new())),
            Beside::Files(files) => files.join(),
        };
        let files = files.map_err(|_| anyhow!("a compiler's thread has gone"))??;
        cuda_driver::check(Checks::NONE);
        cuda_driver::shuffle(None);
        let mut launches = |ptx: &str, watched: Option<u64>| {
            cuda_driver::profile(watched.is_some());
            cuda_driver::watch_blocks(watched);
            bench.replace(module::load(ptx)?);
            bench.run(host, case)?;
            anyhow::Ok(bench.take_launches())
        };
        // A start file does in all blocks what it does in a few; a solution is looked at as answers are.
        let start = files
            .start
            .map(|start| launches(&start, None))
            .transpose()?;
        let solution = launches(&files.solution, Some(seed))?;
        let ours = Ours {
            start_ms: start.map(|start| milliseconds(&start)),
            solution_ms: milliseconds(&solution),
        };
        Ok((ours, solution))
    }
}

/// The modelled time of all launches together.
pub fn milliseconds(launches: &[LaunchRecord]) -> f64 {
    launches.iter().map(|launch| launch.time.milliseconds).sum()
}
