//! The exercises, in order.

mod blocks;
mod choose;
mod columns;
mod events;
mod fewer_atomics;
mod fields;
mod first_thread;
mod float4;
mod grid_stride;
mod half_the_limit;
mod halo;
mod lost_updates;
mod missing_barrier;
mod pitch_in_elements;
mod pitched_copy;
mod pitched_rows;
mod predict_constant;
mod predict_sectors;
mod product;
mod reduction;
mod settings;
mod shared_stencil;
mod spheres;
mod tail;
mod transpose;
mod uniform;
mod volume;
mod whole;
mod wide;

use crate::exercise;
use crate::exercise::Exercise;

/// All of them, in order.
pub static EXERCISES: [Exercise; 29] = [
    exercise!("01-first-thread", first_thread::FirstThread),
    exercise!("02-tail", tail::Tail),
    exercise!("03-blocks", asks blocks::Blocks, kernel),
    exercise!("04-grid-stride", grid_stride::GridStride),
    exercise!("05-predict-sectors", predict_sectors::PredictSectors),
    exercise!("06-fields", fields::Fields),
    exercise!("07-float4", float4::Float4),
    exercise!("08-pitch-in-elements", pitch_in_elements::PitchInElements),
    exercise!("09-pitched-rows", pitched_rows::PitchedRows),
    exercise!("10-pitched-copy", asks pitched_copy::PitchedCopy),
    exercise!("11-volume", volume::SliceDifferences),
    exercise!("12-columns", columns::Columns),
    exercise!("13-settings", settings::Amplifier),
    exercise!("14-lost-updates", lost_updates::LostUpdates),
    exercise!("15-fewer-atomics", fewer_atomics::FewerAtomics),
    exercise!("16-missing-barrier", missing_barrier::MissingBarrier),
    exercise!("17-tiles", product::Product { unit: 16 }),
    exercise!("18-ragged", product::Product { unit: 1 }),
    exercise!("19-transpose", transpose::Transpose),
    exercise!("20-banks", transpose::Transpose),
    exercise!("21-reduction", reduction::Reduction),
    exercise!("22-predict-constant", predict_constant::PredictConstant),
    exercise!("23-uniform", uniform::Uniform),
    exercise!("24-spheres", spheres::Spheres),
    exercise!("25-events", asks events::Events, kernel),
    exercise!("26-halo", halo::Halo),
    exercise!("27-shared-stencil", shared_stencil::SharedStencil),
    exercise!("28-choose", choose::Choose),
    exercise!("29-half-the-limit", half_the_limit::HalfTheLimit),
];

/// The exercise that a student names, by its number, its name, or both.
pub fn find(name: &str) -> Option<&'static Exercise> {
    EXERCISES.iter().find(|exercise| exercise.answers_to(name))
}
