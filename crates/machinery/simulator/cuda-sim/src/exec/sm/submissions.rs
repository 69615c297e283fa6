//! Work that kernels submit to the device (dynamic parallelism): launches of kernels, copies and fills. They start when
//! the grid that has submitted them is complete, or when a thread waits for them.
//!
//! Source: CUDA C++ Programming Guide, "CUDA Dynamic Parallelism".

use super::launch_spec::LaunchSpec;
use super::runtime::LaunchSlot;
use crate::exec::fault::Fault;
use std::sync::Arc;

/// An operation that a thread has submitted.
#[derive(Clone, Debug)]
pub struct Submission {
    /// The block of the thread.
    pub block: u64,
    /// The index in the program's listing of the kernel of the thread.
    pub launcher: usize,
    /// The launch slot that it holds until it is complete.
    pub slot: Arc<LaunchSlot>,
    /// True if it starts when the grid and all that its other submissions have started is complete.
    pub is_tail: bool,
    pub operation: DeviceOperation,
}

/// The operation of a submission.
#[derive(Clone, Debug)]
pub enum DeviceOperation {
    /// The kernel's index in the program's listing, and the launch.
    Launch(usize, LaunchSpec),
    Copy {
        to: u64,
        from: u64,
        bytes: u64,
    },
    Fill {
        address: u64,
        value: u8,
        bytes: u64,
    },
}

/// The part of a launch that checks and runs the submissions of its grid.
pub trait Submitter: Sync {
    /// Returns an error of the runtime API for a launch that the device or the kernel does not allow.
    fn check(&self, kernel: usize, spec: &LaunchSpec) -> Result<(), u32>;

    /// Takes a launch slot for a submission of a block of this wave. Returns `None` if all are in use.
    fn take_slot(&self, wave: u64, is_tail: bool) -> Option<Arc<LaunchSlot>>;

    /// Returns true if the threads may wait for their submissions, and not only the grids that they launch.
    fn can_wait(&self) -> bool;

    /// Runs submissions of a block in order, on this thread. Returns the output of their kernels.
    fn run(&self, block: u64, submissions: Vec<Submission>) -> Result<Vec<u8>, Fault>;
}
