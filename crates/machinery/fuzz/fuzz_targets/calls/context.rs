//! Contexts, their limits, and what is looked for in what runs.

use std::ptr::null_mut;

use arbitrary::Arbitrary;
use cuda_driver::Checks;
use cuda_driver::functions::*;

use crate::known::{Known, Which, pick};

#[derive(Arbitrary, Debug)]
pub enum Call {
    RetainPrimary,
    ReleasePrimary,
    ResetPrimary,
    PrimaryFlags(u32),
    Create(u32),
    Destroy(Which),
    Push(Which),
    Pop,
    Set(Which),
    Synchronize,
    Limit(u8),
    SetLimit(u8, usize),
    CacheConfig(u8),
    BankSize(u8),
    /// Checks, and whether launches are counted line by line.
    Look([bool; 6], bool),
}

impl Call {
    /// # Safety
    /// The driver has been started.
    pub unsafe fn make(self, known: &mut Known) {
        let (mut int, mut number, mut size) = (0, 0, 0);
        let mut context = null_mut();
        // SAFETY: a handle is a number, which the driver has to make sure of.
        unsafe {
            match self {
                Call::RetainPrimary => {
                    if cuDevicePrimaryCtxRetain(&mut context, 0) == 0 {
                        cuCtxSetCurrent(context);
                        known.contexts.push(context);
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
                        known.contexts.push(context);
                    }
                }
                Call::Destroy(which) => {
                    cuCtxDestroy_v2(pick(&known.contexts, which));
                }
                Call::Push(which) => {
                    cuCtxPushCurrent_v2(pick(&known.contexts, which));
                }
                Call::Pop => {
                    cuCtxPopCurrent_v2(null_mut());
                }
                Call::Set(which) => {
                    cuCtxSetCurrent(pick(&known.contexts, which));
                    cuCtxGetFlags(&mut number);
                    cuCtxGetApiVersion(pick(&known.contexts, which), &mut number);
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
                Call::Look([memory, init, race, sync, leak, host], counts) => {
                    cuda_driver::check(Checks {
                        memory,
                        init,
                        race,
                        sync,
                        leak,
                        host,
                    });
                    cuda_driver::profile(counts);
                }
            }
        }
    }
}

/// Makes everything as it was before the first call.
///
/// # Safety
/// The driver has been started.
pub unsafe fn clear(known: &Known) {
    // SAFETY: the handles are numbers; what is registered still is there.
    unsafe {
        for &host in &known.registered {
            cuMemHostUnregister(host);
        }
        let mut context = null_mut();
        while cuCtxPopCurrent_v2(&mut context) == 0 {}
        for &context in &known.contexts {
            cuCtxDestroy_v2(context);
        }
        cuDevicePrimaryCtxReset_v2(0);
        while cuDevicePrimaryCtxRelease_v2(0) == 0 {}
    }
    cuda_driver::take_findings();
    cuda_driver::check(Checks::NONE);
    cuda_driver::profile(false);
}
