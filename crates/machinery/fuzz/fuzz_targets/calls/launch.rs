//! Launches, and what is asked of kernels before.

use std::ffi::c_void;
use std::ptr::null_mut;

use arbitrary::Arbitrary;
use cuda_driver::functions::*;
use cust_raw::{CUfunction, CUstream};

use crate::known::{Known, Where, Which, pick};

#[derive(Arbitrary, Debug)]
pub enum Call {
    /// Of any size.
    Launch {
        kernel: Which,
        grid: [u32; 3],
        block: [u32; 3],
        shared: u32,
        stream: Which,
        to: Where,
    },
    /// Of a size that runs.
    SmallLaunch {
        kernel: u8,
        blocks: u8,
        threads: u8,
        to: Where,
    },
    Attribute(Which, u8),
    SetAttribute(Which, u8, i32),
    Module(Which),
    Occupancy(Which, i32, usize, u32),
    BestBlock(Which, usize, i32),
    DynamicShared(Which, i32, i32),
}

impl Call {
    /// # Safety
    /// The driver has been started.
    pub unsafe fn make(self, known: &Known) {
        let (mut int, mut size) = (0, 0);
        let named = |which| pick(&known.functions, which);
        // SAFETY: a handle is a number, which the driver has to make sure of.
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
                    let (stream, to) = (known.stream(stream), known.address(to));
                    launch(named(kernel), grid, block, shared, stream, to);
                }
                Call::SmallLaunch {
                    kernel,
                    blocks,
                    threads,
                    to,
                } => {
                    let kernel = named(Which::Known(kernel));
                    let (grid, block) = ([blocks.into(), 1, 1], [threads.into(), 1, 1]);
                    launch(kernel, grid, block, 0, null_mut(), known.address(to));
                }
                Call::Attribute(which, attribute) => {
                    cuFuncGetAttribute(&mut int, attribute.into(), named(which));
                }
                Call::SetAttribute(which, attribute, value) => {
                    cuFuncSetAttribute(named(which), attribute.into(), value);
                }
                Call::Module(which) => {
                    cuFuncGetModule(&mut null_mut(), named(which));
                }
                Call::Occupancy(which, threads, shared, flags) => {
                    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                        &mut int,
                        named(which),
                        threads,
                        shared,
                        flags,
                    );
                }
                Call::BestBlock(which, shared, limit) => {
                    let kernel = named(which);
                    cuOccupancyMaxPotentialBlockSize(&mut int, &mut 0, kernel, None, shared, limit);
                }
                Call::DynamicShared(which, blocks, threads) => {
                    let kernel = named(which);
                    cuOccupancyAvailableDynamicSMemPerBlock(&mut size, kernel, blocks, threads);
                }
            }
        }
    }
}

/// Launches a kernel of the module, whose one parameter is an address.
///
/// # Safety
/// The driver has been started.
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
    // SAFETY: every kernel there is takes one address.
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
