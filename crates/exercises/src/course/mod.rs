//! The exercises of the course, in order.

mod blocks;
mod columns;
pub mod custom;
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

use std::ops::Deref;

use crate::exercise;
use crate::exercise::Exercise;

/// The exercises of the course in use: the teacher's course if one was opened, otherwise the built-in one.
pub static EXERCISES: Exercises = Exercises;

/// A handle that dereferences to the exercises of the course in use.
pub struct Exercises;

impl Deref for Exercises {
    type Target = [Exercise];

    fn deref(&self) -> &'static [Exercise] {
        custom::exercises().unwrap_or(&BUILT_IN)
    }
}

impl IntoIterator for &Exercises {
    type Item = &'static Exercise;
    type IntoIter = std::slice::Iter<'static, Exercise>;

    fn into_iter(self) -> Self::IntoIter {
        custom::exercises().unwrap_or(&BUILT_IN).iter()
    }
}

/// The exercises of the built-in course, in order.
pub static BUILT_IN: [Exercise; 38] = [
    exercise!("01-first-thread"),
    exercise!("02-tail"),
    exercise!("03-blocks", rust blocks::Blocks, kernel),
    exercise!("04-grid-stride"),
    exercise!("05-predict-sectors", predict_sectors::PredictSectors),
    exercise!("06-fields", fields::Fields),
    exercise!("07-float4"),
    exercise!("08-pitch-in-elements", pitch_in_elements::PitchInElements),
    exercise!("09-pitched-rows", pitched_rows::PitchedRows),
    exercise!("10-pitched-copy", rust pitched_copy::PitchedCopy),
    exercise!("11-volume", volume::SliceDifferences),
    exercise!("12-columns", columns::Columns),
    exercise!("13-settings"),
    exercise!("14-lost-updates"),
    exercise!("15-fewer-atomics"),
    exercise!("16-missing-barrier"),
    exercise!("17-tiles"),
    exercise!("18-ragged"),
    exercise!("19-transpose"),
    exercise!("20-banks"),
    exercise!("21-reduction"),
    exercise!("22-predict-constant", predict_constant::PredictConstant),
    exercise!("23-uniform"),
    exercise!("24-spheres", spheres::Spheres),
    exercise!("25-events", rust events::Events, kernel),
    exercise!("26-halo"),
    exercise!("27-shared-stencil"),
    exercise!("28-choose"),
    exercise!("29-half-the-limit"),
    exercise!("30-warp-sums"),
    exercise!("31-scan"),
    exercise!("32-histogram"),
    exercise!("33-softmax"),
    exercise!("34-overlap", rust overlap::Overlap),
    exercise!("35-tiles-of-threads"),
    exercise!("36-async-copy"),
    exercise!("37-occupancy"),
    exercise!("38-roofline"),
];

/// Returns the exercise with this number, name, or both.
pub fn find(name: &str) -> Option<&'static Exercise> {
    let mut all = EXERCISES.into_iter();
    all.find(|exercise| exercise.matches(name))
}
