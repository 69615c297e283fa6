//! The library as a program sees it that loads it by its name: what is in it, and a kernel from text to
//! result.

mod cuda;
mod names;
mod own;
mod processes;
mod runs;
