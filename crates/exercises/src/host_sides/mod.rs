//! The host sides of exercises whose launches data cannot describe. `host` in `exercise.toml` names one.

mod blocks;
mod columns;
mod events;
mod fields;
mod overlap;
mod pitch_in_elements;
mod pitched_copy;
mod pitched_rows;
mod predict_constant;
mod predict_sectors;
mod row_padding;
mod spheres;
mod volume;

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
        "blocks" => Program(&blocks::Blocks),
        "columns" => Kernels(&columns::Columns),
        "events" => Program(&events::Events),
        "fields" => Kernels(&fields::Fields),
        "overlap" => Program(&overlap::Overlap),
        "pitch-in-elements" => Kernels(&pitch_in_elements::PitchInElements),
        "pitched-copy" => Program(&pitched_copy::PitchedCopy),
        "pitched-rows" => Kernels(&pitched_rows::PitchedRows),
        "predict-constant" => Kernels(&predict_constant::PredictConstant),
        "predict-sectors" => Kernels(&predict_sectors::PredictSectors),
        "spheres" => Kernels(&spheres::Spheres),
        "volume" => Kernels(&volume::SliceDifferences),
        _ => return None,
    })
}
