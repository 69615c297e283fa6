//! The handlers that access memory: loads and stores, atomics, asynchronous copies, barriers in memory and fences.

pub mod access;
pub mod async_copy;
pub mod atomic;
pub mod bulk;
pub mod mbarrier;
pub mod memory_order;
pub mod state_space;
