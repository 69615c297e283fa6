//! Graphs and stream capture. The driver implements them; the runtime API only names kernels, variables and
//! copies differently.

pub mod capture;
pub mod copies;
pub mod exec;
pub mod kernels;
pub mod nodes;
pub mod types;
