//! Random PTX kernels, run by a GPU and by the simulator, and compared bit for bit.

pub mod bounds;
pub mod check;
pub mod device;
pub mod dice;
pub mod forms;
pub mod generate;
pub mod kernel;
pub mod load;
pub mod ptx_forms;
pub mod record;
pub mod table;
pub mod tree;
pub mod values;
pub mod worker;
