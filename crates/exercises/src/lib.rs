//! The course: exercises in CUDA C and Rust, graded by results, checks and counters.
//!
//! The modules form layers; each uses only those above it in this table, as `tests/layers.rs` verifies.
//!
//! | module | contents |
//! |---|---|
//! | [`text`](mod@text), [`process`] | layout of text in a terminal; limits, output and end of the processes that run submissions |
//! | [`files`], [`error`], [`data`], [`picture`] | students' files; error messages; the format of `exercise.toml`; drawings of a warp's access |
//! | [`output`], [`host`] | printing; the toolkit for host sides |
//! | [`declarative`], [`host_sides`] | host sides: launches as data, and in Rust |
//! | [`course`] | a course and its exercises |
//! | [`workspace`], [`grade`] | the student's folder and progress; the steps of grading |
//! | [`report`], [`worker`] | reports for people; grading in a separate process |
//! | [`class`] | grading of many students' submissions, optionally in shards |
//! | [`flags`] | the command line and its errors |
//! | [`commands`] | the commands |
//!
//! The built-in course is the folder `kernels/exercises`; the README there describes how to write an exercise.

// The crate cust calls the CUDA driver's functions, which `cuda_driver` defines.
extern crate cuda_driver as _;

#[macro_use(localize, text)]
extern crate chapter;

pub mod class;
pub mod commands;
pub mod course;
pub mod data;
pub mod declarative;
pub mod error;
pub mod files;
pub mod flags;
pub mod grade;
pub mod host;
pub mod host_sides;
pub mod output;
pub mod picture;
pub mod process;
pub mod report;
pub mod text;
pub mod worker;
pub mod workspace;
