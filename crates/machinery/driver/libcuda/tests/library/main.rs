//! Tests of the library as a program that loads it by name sees it: its exports, and a kernel from PTX to
//! result.

mod backend;
mod cuda;
mod exports;
mod processes;
mod runs;
