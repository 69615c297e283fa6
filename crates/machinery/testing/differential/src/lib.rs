//! Random PTX kernels, run by a GPU and by the simulator, and compared bit for bit.

pub mod check;
pub mod forms;
pub mod generate;
pub mod kernel;
pub mod record;
pub mod values;
pub mod worker;
