//! The course: exercises in CUDA C and Rust, graded by results, checks and counters.
//!
//! | module | what it has |
//! |---|---|
//! | [`course`] | the exercises, in order, each with its host side |
//! | [`host`] | what a host side is written with |
//! | [`described`] | the host side of an exercise whose launches are data |
//! | [`exercise`] | an exercise: its texts, its data, its host side |
//! | [`data`] | what `exercise.toml` may say |
//! | [`grade`] | the steps of grading, from compiling to counters |
//! | [`worker`] | grading in a process of its own |
//! | [`folder`], [`progress`] | the student's files |
//! | [`class`] | the answers of many students, in parts if need be |
//! | [`commands`], [`flags`], [`usage`] | what the program does |
//! | [`record`], [`report`] | what it says of an answer, to programs and to people |
//! | [`picture`] | a warp's access drawn beside what was meant |
//! | [`output`] | all that is printed |
//! | [`text`], [`links`] | columns of text in a terminal; links in it |
//! | [`lang`], [`error`] | English and Chinese; errors in words |
//!
//! Exercises are data in `kernels/exercises`; the README there says how to write one.

// cust calls the CUDA driver's functions, which this crate defines.
extern crate cuda_driver as _;

#[macro_use]
pub mod lang;

pub mod class;
pub mod commands;
mod compiler;
pub mod course;
pub mod data;
pub mod described;
pub mod error;
pub mod exercise;
mod files;
pub mod flags;
pub mod folder;
pub mod grade;
pub mod host;
pub mod links;
pub mod output;
pub mod picture;
pub mod progress;
mod random;
pub mod record;
pub mod report;
pub mod text;
pub mod usage;
pub mod worker;
