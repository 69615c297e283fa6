//! What a program may set of a context: its limits, and how it would like memory to be divided.

use std::ops::RangeInclusive;

use crate::driver::{ContextId, CudaError, Driver};

/// The settable limits of a context, by `CUlimit` number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Bytes of stack of each thread.
    StackSize = 0,
    /// Bytes that kernel `printf` may buffer.
    PrintfFifoSize = 1,
    /// Bytes that kernel `malloc` may hand out.
    MallocHeapSize = 2,
    /// How many launches that kernels make may wait. It changes nothing here.
    PendingLaunches = 3,
    /// How many bytes at a time the L2 cache fetches, at most 128. It changes nothing here.
    FetchGranularity = 4,
}

impl Limit {
    /// The limit with this `CUlimit` number. The depth to which launches of kernels wait for each other, cache
    /// that is kept, and what graphics interfaces share are not simulated: [`CudaError::UnsupportedLimit`], as on
    /// a device without them. [`CudaError::InvalidValue`] for other numbers.
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

/// The largest stack a thread may have, in bytes: what CUDA allows for local memory.
const MAX_STACK: usize = 512 << 10;

/// The most bytes that the L2 cache fetches at a time.
const MAX_FETCH: usize = 128;

/// The numbers of `CUfunc_cache`.
const CACHE_PREFERENCES: RangeInclusive<i32> = 0..=3;
/// The numbers of `CUsharedconfig`.
const BANK_SIZES: RangeInclusive<i32> = 0..=2;

/// The settings of one context.
pub(super) struct Settings {
    /// In bytes, by the number of the [`Limit`].
    limits: [usize; 5],
    cache_preference: i32,
    bank_size: i32,
}

impl Settings {
    /// CUDA's defaults: stacks of 1 KB, 1 MB for `printf`, 8 MB for `malloc`, 2048 launches, 64 bytes, no
    /// preferences.
    pub(super) fn new() -> Self {
        Self {
            limits: [1 << 10, 1 << 20, 8 << 20, 2048, 64],
            cache_preference: 0,
            bank_size: 0,
        }
    }
}

impl Driver {
    /// `cuCtxGetLimit`: a limit of `context`.
    pub fn limit(&self, context: ContextId, limit: Limit) -> Result<usize, CudaError> {
        Ok(self.context(context)?.settings.limits[limit as usize])
    }

    /// `cuCtxSetLimit`: sets a limit of `context`. [`CudaError::InvalidValue`] for a stack
    /// of more than 512 KB a thread, and for `malloc` in kernels once a kernel with it has run.
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
            // It is a hint: what is more is as much as there can be.
            Limit::FetchGranularity => bytes.min(MAX_FETCH),
            _ => bytes,
        };
        context.settings.limits[limit as usize] = bytes;
        Ok(())
    }

    /// `cuCtxGetCacheConfig`: how `context` would divide cache and shared memory (`CUfunc_cache`).
    /// A preference that changes nothing here.
    pub fn cache_preference(&self, context: ContextId) -> Result<i32, CudaError> {
        Ok(self.context(context)?.settings.cache_preference)
    }

    /// `cuCtxSetCacheConfig`: sets what [`Driver::cache_preference`] answers.
    /// [`CudaError::InvalidValue`] for other numbers than 0 to 3.
    pub fn set_cache_preference(
        &mut self,
        context: ContextId,
        preference: i32,
    ) -> Result<(), CudaError> {
        let context = self.context_mut(context)?;
        context.settings.cache_preference = checked(preference, CACHE_PREFERENCES)?;
        Ok(())
    }

    /// `cuCtxGetSharedMemConfig`: the shared-memory bank size asked for (`CUsharedconfig`). Since
    /// Maxwell it is 4 bytes whatever one asks.
    pub fn bank_size(&self, context: ContextId) -> Result<i32, CudaError> {
        Ok(self.context(context)?.settings.bank_size)
    }

    /// `cuCtxSetSharedMemConfig`: sets what [`Driver::bank_size`] answers.
    /// [`CudaError::InvalidValue`] for other numbers than 0 to 2.
    pub fn set_bank_size(&mut self, context: ContextId, size: i32) -> Result<(), CudaError> {
        let context = self.context_mut(context)?;
        context.settings.bank_size = checked(size, BANK_SIZES)?;
        Ok(())
    }
}

/// `number`, if it is one of `known`.
fn checked(number: i32, known: RangeInclusive<i32>) -> Result<i32, CudaError> {
    if known.contains(&number) {
        Ok(number)
    } else {
        Err(CudaError::InvalidValue)
    }
}
