//! Calls on contexts and their limits, and the choice of checks and profiling.

use std::ptr::null_mut;

use arbitrary::Arbitrary;
use cuda_driver::Checks;
use cuda_driver::functions::*;

use crate::state::{Handle, State, resolve};

#[derive(Arbitrary, Debug)]
pub enum Call {
    RetainPrimary,
    ReleasePrimary,
    ResetPrimary,
    PrimaryFlags(u32),
    Create(u32),
    Destroy(Handle),
    Push(Handle),
    Pop,
    Set(Handle),
    Synchronize,
    Limit(u8),
    SetLimit(u8, usize),
    CacheConfig(u8),
    BankSize(u8),
    /// Enables checks, and line-by-line profiling of launches.
    Instrument([bool; 8], bool),
}

impl Call {
    /// # Safety
    /// The driver must be initialized.
    pub unsafe fn execute(self, state: &mut State) {
        let (mut int, mut number, mut size) = (0, 0, 0);
        let mut context = null_mut();
        // SAFETY: all out-pointers are to live locals. The driver validates handles, which are only numbers.
        unsafe {
            match self {
                Call::RetainPrimary => {
                    if cuDevicePrimaryCtxRetain(&mut context, 0) == 0 {
                        cuCtxSetCurrent(context);
                        state.contexts.push(context);
                    }
                }
                Call::ReleasePrimary => {
                    cuDevicePrimaryCtxRelease_v2(0);
                }
                Call::ResetPrimary => {
                    cuDevicePrimaryCtxReset_v2(0);
                }
                Call::PrimaryFlags(flags) => {
                    cuDevicePrimaryCtxSetFlags_v2(0, flags);
                    cuDevicePrimaryCtxGetState(0, &mut number, &mut int);
                }
                Call::Create(flags) => {
                    if cuCtxCreate_v2(&mut context, flags, 0) == 0 {
                        state.contexts.push(context);
                    }
                }
                Call::Destroy(handle) => {
                    cuCtxDestroy_v2(resolve(&state.contexts, handle));
                }
                Call::Push(handle) => {
                    cuCtxPushCurrent_v2(resolve(&state.contexts, handle));
                }
                Call::Pop => {
                    cuCtxPopCurrent_v2(null_mut());
                }
                Call::Set(handle) => {
                    cuCtxSetCurrent(resolve(&state.contexts, handle));
                    cuCtxGetFlags(&mut number);
                    cuCtxGetApiVersion(resolve(&state.contexts, handle), &mut number);
                }
                Call::Synchronize => {
                    cuCtxSynchronize();
                }
                Call::Limit(limit) => {
                    cuCtxGetLimit(&mut size, limit.into());
                }
                Call::SetLimit(limit, value) => {
                    cuCtxSetLimit(limit.into(), value);
                }
                Call::CacheConfig(config) => {
                    cuCtxSetCacheConfig(config.into());
                }
                Call::BankSize(config) => {
                    cuCtxSetSharedMemConfig(config.into());
                }
                Call::Instrument(
                    [memory, init, race, sync, leak, host, stream, unused],
                    counts,
                ) => {
                    cuda_driver::check(Checks {
                        memory,
                        init,
                        race,
                        sync,
                        leak,
                        host,
                        stream,
                        unused,
                    });
                    cuda_driver::profile(counts);
                }
            }
        }
    }
}

/// Restores the state before the first call.
///
/// # Safety
/// The driver must be initialized.
pub unsafe fn clear(state: &State) {
    // SAFETY: `state` still owns the registered host memory; the driver validates handles, which are only
    // numbers.
    unsafe {
        for &host in &state.registered {
            cuMemHostUnregister(host);
        }
        let mut context = null_mut();
        while cuCtxPopCurrent_v2(&mut context) == 0 {}
        for &context in &state.contexts {
            cuCtxDestroy_v2(context);
        }
        cuDevicePrimaryCtxReset_v2(0);
        while cuDevicePrimaryCtxRelease_v2(0) == 0 {}
    }
    cuda_driver::take_findings();
    cuda_driver::check(Checks::NONE);
    cuda_driver::profile(false);
}
