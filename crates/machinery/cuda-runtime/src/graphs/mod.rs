//! Graphs and stream capture. The driver does them; what differs is how a program names kernels,
//! variables and copies.

pub mod capture;
pub mod copies;
pub mod exec;
pub mod kernels;
pub mod nodes;
pub mod types;
