//! The settings of a context: limits, and preferences for the division of memory.

use std::ops::RangeInclusive;

use crate::driver::{ContextId, CudaError, Driver};

/// The settable limits of a context, by `CUlimit` number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Bytes of stack per thread.
    StackSize = 0,
    /// Bytes of the `printf` buffer.
    PrintfFifoSize = 1,
    /// Bytes of the device heap.
    MallocHeapSize = 2,
    /// The number of pending launches from kernels. Has no effect here.
    PendingLaunches = 3,
    /// The fetch granularity of the L2 cache in bytes, at most 128. Has no effect here.
    FetchGranularity = 4,
}

impl Limit {
    /// Returns the limit with this `CUlimit` number.
    ///
    /// Fails with [`CudaError::UnsupportedLimit`], as on a device without the feature, for the depth of
    /// nested launches, persisting L2 cache, and limits of graphics interfaces, which are not simulated.
    /// Fails with [`CudaError::InvalidValue`] for other numbers.
    pub fn from_number(number: i32) -> Result<Self, CudaError> {
        match number {
            0 => Ok(Self::StackSize),
            1 => Ok(Self::PrintfFifoSize),
            2 => Ok(Self::MallocHeapSize),
            4 => Ok(Self::PendingLaunches),
            5 => Ok(Self::FetchGranularity),
            3 | 6..=9 => Err(CudaError::UnsupportedLimit),
            _ => Err(CudaError::InvalidValue),
        }
    }
}

/// The maximum stack per thread in bytes: CUDA's limit for local memory.
const MAX_STACK: usize = 512 << 10;

/// The maximum fetch granularity of the L2 cache in bytes.
const MAX_FETCH: usize = 128;

/// The numbers of `CUfunc_cache`.
const CACHE_PREFERENCES: RangeInclusive<i32> = 0..=3;
/// The numbers of `CUsharedconfig`.
const BANK_SIZES: RangeInclusive<i32> = 0..=2;

/// The settings of one context.
pub(super) struct Settings {
    /// The limits in bytes, indexed by [`Limit`].
    limits: [usize; 5],
    cache_preference: i32,
    bank_size: i32,
}

impl Settings {
    /// Returns CUDA's defaults: stacks of 1 KB, a `printf` buffer of 1 MB, a heap of 8 MB, 2048 pending
    /// launches, a fetch granularity of 64 bytes, and no preferences.
    pub(super) fn new() -> Self {
        Self {
            limits: [1 << 10, 1 << 20, 8 << 20, 2048, 64],
            cache_preference: 0,
            bank_size: 0,
        }
    }
}

impl Driver {
    /// `cuCtxGetLimit`: returns a limit of `context`.
    pub fn limit(&self, context: ContextId, limit: Limit) -> Result<usize, CudaError> {
        Ok(self.context(context)?.settings.limits[limit as usize])
    }

    /// `cuCtxSetLimit`: sets a limit of `context`. Fails with [`CudaError::InvalidValue`] for a stack of more
    /// than 512 KB per thread, and for the heap once a kernel that uses it has run.
    pub fn set_limit(
        &mut self,
        context: ContextId,
        limit: Limit,
        bytes: usize,
    ) -> Result<(), CudaError> {
        let context = self.context_mut(context)?;
        if limit == Limit::StackSize && bytes > MAX_STACK {
            return Err(CudaError::InvalidValue);
        }
        if limit == Limit::MallocHeapSize && context.heap.is_some() {
            return Err(CudaError::InvalidValue);
        }
        let bytes = match limit {
            // The granularity is a hint, so larger values are clamped.
            Limit::FetchGranularity => bytes.min(MAX_FETCH),
            _ => bytes,
        };
        context.settings.limits[limit as usize] = bytes;
        Ok(())
    }

    /// `cuCtxGetCacheConfig`: returns the preferred division of L1 cache and shared memory in `context`
    /// (`CUfunc_cache`). Has no effect here.
    pub fn cache_preference(&self, context: ContextId) -> Result<i32, CudaError> {
        Ok(self.context(context)?.settings.cache_preference)
    }

    /// `cuCtxSetCacheConfig`: sets the preference that [`Driver::cache_preference`] returns. Fails with
    /// [`CudaError::InvalidValue`] for numbers other than 0 to 3.
    pub fn set_cache_preference(
        &mut self,
        context: ContextId,
        preference: i32,
    ) -> Result<(), CudaError> {
        let context = self.context_mut(context)?;
        context.settings.cache_preference = validate(preference, CACHE_PREFERENCES)?;
        Ok(())
    }

    /// `cuCtxGetSharedMemConfig`: returns the requested shared-memory bank size (`CUsharedconfig`). Since
    /// Maxwell, banks are always 4 bytes wide.
    pub fn bank_size(&self, context: ContextId) -> Result<i32, CudaError> {
        Ok(self.context(context)?.settings.bank_size)
    }

    /// `cuCtxSetSharedMemConfig`: sets the size that [`Driver::bank_size`] returns. Fails with
    /// [`CudaError::InvalidValue`] for numbers other than 0 to 2.
    pub fn set_bank_size(&mut self, context: ContextId, size: i32) -> Result<(), CudaError> {
        let context = self.context_mut(context)?;
        context.settings.bank_size = validate(size, BANK_SIZES)?;
        Ok(())
    }
}

/// Returns `number` if it is in `valid`. Fails with [`CudaError::InvalidValue`] otherwise.
fn validate(number: i32, valid: RangeInclusive<i32>) -> Result<i32, CudaError> {
    if valid.contains(&number) {
        Ok(number)
    } else {
        Err(CudaError::InvalidValue)
    }
}
