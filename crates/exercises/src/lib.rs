//! The course: exercises in CUDA C and Rust, graded by results, checks and counters.
//!
//! | module | contents |
//! |---|---|
//! | [`course`] | the exercises, in order, each with its host side |
//! | [`host`] | the toolkit for host sides |
//! | [`declarative`] | the host side of exercises whose launches are data |
//! | [`exercise`] | an exercise: its texts, its data, its host side |
//! | [`data`] | the format of `exercise.toml` |
//! | [`grade`] | the steps of grading, from compiling to counters |
//! | [`worker`] | grading in a separate process |
//! | [`workspace`], [`progress`] | the student's files |
//! | [`class`] | grading of many students' submissions, optionally in shards |
//! | [`commands`], [`flags`], [`usage`] | the command line |
//! | [`record`], [`report`] | results for programs and for people |
//! | [`picture`] | drawings of a warp's access next to the intended one |
//! | [`output`] | printing |
//! | [`text`], [`links`] | layout of text in a terminal; links in it |
//! | [`lang`], [`error`] | English and Chinese; error messages |
//!
//! Exercises are data in `kernels/exercises`; the README there describes how to write one.

// The crate cust calls the CUDA driver's functions, which `cuda_driver` defines.
extern crate cuda_driver as _;

#[macro_use]
pub mod lang;

pub mod class;
pub mod commands;
mod compiler;
pub mod course;
pub mod data;
pub mod declarative;
pub mod error;
pub mod exercise;
mod files;
pub mod flags;
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
pub mod workspace;
