//! Launches, and queries of kernels.

use std::ffi::c_void;
use std::ptr::null_mut;

use arbitrary::Arbitrary;
use cuda_driver::functions::*;
use cuda_driver::types::{CUfunction, CUstream};

use crate::state::{Address, Handle, State, resolve};

#[derive(Arbitrary, Debug)]
pub enum Call {
    /// A launch of any size.
    Launch {
        kernel: Handle,
        grid: [u32; 3],
        block: [u32; 3],
        shared: u32,
        stream: Handle,
        to: Address,
    },
    /// A launch of a size that can run.
    SmallLaunch {
        kernel: u8,
        blocks: u8,
        threads: u8,
        to: Address,
    },
    Attribute(Handle, u8),
    SetAttribute(Handle, u8, i32),
    Module(Handle),
    Occupancy(Handle, i32, usize, u32),
    SuggestBlock(Handle, usize, i32),
    DynamicShared(Handle, i32, i32),
}

impl Call {
    /// # Safety
    /// The driver must be initialized.
    pub unsafe fn execute(self, state: &State) {
        let (mut int, mut size) = (0, 0);
        let function = |handle| resolve(&state.functions, handle);
        // SAFETY: all out-pointers are to live locals. The driver validates handles, which are only numbers.
        unsafe {
            match self {
                Call::Launch {
                    kernel,
                    grid,
                    block,
                    shared,
                    stream,
                    to,
                } => {
                    let (stream, to) = (state.stream(stream), state.address(to));
                    launch(function(kernel), grid, block, shared, stream, to);
                }
                Call::SmallLaunch {
                    kernel,
                    blocks,
                    threads,
                    to,
                } => {
                    let kernel = function(Handle::Issued(kernel));
                    let (grid, block) = ([blocks.into(), 1, 1], [threads.into(), 1, 1]);
                    launch(kernel, grid, block, 0, null_mut(), state.address(to));
                }
                Call::Attribute(handle, attribute) => {
                    cuFuncGetAttribute(&mut int, attribute.into(), function(handle));
                }
                Call::SetAttribute(handle, attribute, value) => {
                    cuFuncSetAttribute(function(handle), attribute.into(), value);
                }
                Call::Module(handle) => {
                    cuFuncGetModule(&mut null_mut(), function(handle));
                }
                Call::Occupancy(handle, threads, shared, flags) => {
                    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                        &mut int,
                        function(handle),
                        threads,
                        shared,
                        flags,
                    );
                }
                Call::SuggestBlock(handle, shared, limit) => {
                    let kernel = function(handle);
                    cuOccupancyMaxPotentialBlockSize(&mut int, &mut 0, kernel, None, shared, limit);
                }
                Call::DynamicShared(handle, blocks, threads) => {
                    let kernel = function(handle);
                    cuOccupancyAvailableDynamicSMemPerBlock(&mut size, kernel, blocks, threads);
                }
            }
        }
    }
}

/// Launches a kernel of the module. Its only parameter is an address.
///
/// # Safety
/// The driver must be initialized.
unsafe fn launch(
    kernel: CUfunction,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    stream: CUstream,
    mut to: u64,
) {
    let mut parameters = [(&raw mut to).cast::<c_void>()];
    let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
    let parameters = parameters.as_mut_ptr();
    // SAFETY: every kernel in `module.ptx` takes one 64-bit address, and `parameters` points to one.
    unsafe {
        cuLaunchKernel(
            kernel,
            gx,
            gy,
            gz,
            bx,
            by,
            bz,
            shared,
            stream,
            parameters,
            null_mut(),
        );
    }
}
