//! Tests of the library as a program that loads it by name sees it: its exports, and a kernel from PTX to
//! result.

#[macro_use]
mod cuda;

mod backend;
mod exports;
mod interface;
mod processes;
mod runs;
#[cfg(target_os = "linux")]
mod sharing;
