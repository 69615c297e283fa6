//! The exercises, in order.

mod first_thread;

use crate::exercise;
use crate::exercise::Exercise;

/// All of them, in order.
pub static EXERCISES: [Exercise; 1] = [exercise!("01-first-thread", first_thread::FirstThread)];

/// The exercise that a student names, by its number, its name, or both.
pub fn find(name: &str) -> Option<&'static Exercise> {
    EXERCISES.iter().find(|exercise| exercise.answers_to(name))
}
