//! The host sides of exercises whose launches data cannot describe. `host` in `exercise.toml` names one.

mod layouts;
mod pitched;
mod predictions;
mod programs;

use crate::host::{Host, HostExercise};

/// A host side of the course.
pub enum HostSide {
    /// The host side that launches a student's kernels.
    Kernels(&'static (dyn Host + Sync)),
    /// The grader's side of an exercise in which the student writes the host side.
    Program(&'static dyn HostExercise),
}

/// Returns the host side with this name.
pub fn find(name: &str) -> Option<HostSide> {
    use HostSide::{Kernels, Program};
    Some(match name {
        "blocks" => Program(&programs::Blocks),
        "columns" => Kernels(&pitched::Columns),
        "events" => Program(&programs::Events),
        "fields" => Kernels(&layouts::Fields),
        "overlap" => Program(&programs::Overlap),
        "pitch-in-elements" => Kernels(&pitched::PitchInElements),
        "pitched-copy" => Program(&programs::PitchedCopy),
        "pitched-rows" => Kernels(&pitched::PitchedRows),
        "predict-constant" => Kernels(&predictions::PredictConstant),
        "predict-sectors" => Kernels(&predictions::PredictSectors),
        "spheres" => Kernels(&layouts::Spheres),
        "volume" => Kernels(&pitched::SliceDifferences),
        _ => return None,
    })
}
