//! Contexts: what belongs to them, and the fault that ends one.

mod leaks;
mod primary;
mod settings;
mod stack;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) use self::primary::PrimaryContext;
pub use self::settings::Limit;
pub use self::stack::ContextStack;

use self::settings::Settings;
use super::timeline::Timeline;
use super::{ContextId, CudaError, Driver};
use crate::exec::Heap;
use crate::memory::global::AllocationKind;

/// All flag bits that `cuCtxCreate` knows: how a thread waits for the GPU (the lowest three), mapped
/// host memory, local memory that is kept after a launch, and copies that wait. The two for core dumps are not
/// among them.
const CONTEXT_FLAGS: u32 = 0x9f;
/// The flag bits that say how a thread waits for the GPU. At most one of them may be set.
const SCHEDULE_FLAGS: u32 = 0x7;

/// One context's state.
pub(super) struct Context {
    /// The device that it is of.
    pub(super) device: u32,
    /// The contexts of other devices whose memory its kernels reach.
    pub(super) peers: BTreeSet<ContextId>,
    /// What `cuCtxGetFlags` answers.
    flags: u32,
    pub(super) timeline: Timeline,
    /// The error that every later call in this context answers with, where a kernel faulted.
    pub(super) fault: Option<CudaError>,
    /// The start addresses of the allocations made in this context.
    pub(super) owned: BTreeSet<u64>,
    /// What `malloc` in kernels takes memory of, once a kernel with it has run. The program does not own it.
    pub(super) heap: Option<Arc<Heap>>,
    settings: Settings,
}

impl Context {
    fn new(device: u32, flags: u32) -> Self {
        Self {
            device,
            peers: BTreeSet::new(),
            flags,
            timeline: Timeline::new(),
            fault: None,
            owned: BTreeSet::new(),
            heap: None,
            settings: Settings::new(),
        }
    }
}

impl Driver {
    /// `cuCtxCreate`: a new context of `device`, which the caller makes current. [`CudaError::InvalidDevice`]
    /// where there is no such device; [`CudaError::InvalidValue`]: unknown flags, or more than one way to wait.
    pub fn create_context(&mut self, device: u32, flags: u32) -> Result<ContextId, CudaError> {
        self.check_device(device)?;
        let flags = checked_flags(flags)?;
        let context = ContextId(self.handles.next());
        self.contexts.insert(context, Context::new(device, flags));
        Ok(context)
    }

    /// `cuCtxDestroy`: destroys a context made by [`Driver::create_context`] and all that belongs to
    /// it. [`CudaError::InvalidContext`] for any other, primary contexts included.
    pub fn destroy_context(&mut self, context: ContextId) -> Result<(), CudaError> {
        if self.is_primary(context) || !self.contexts.contains_key(&context) {
            return Err(CudaError::InvalidContext);
        }
        self.remove_context(context);
        Ok(())
    }

    /// Whether `context` may be made current: it lives, faulted or not, or is the primary context,
    /// which may come back after it was destroyed.
    pub fn is_context(&self, context: ContextId) -> bool {
        self.is_primary(context) || self.contexts.contains_key(&context)
    }

    /// `cuCtxGetDevice`: the device that a context is of. [`CudaError::InvalidContext`] where there is no such
    /// context.
    pub fn context_device(&self, context: ContextId) -> Result<u32, CudaError> {
        let living = self.contexts.get(&context).map(|found| found.device);
        let found = living.or_else(|| self.primary_of(context));
        found.ok_or(CudaError::InvalidContext)
    }

    /// `cuCtxGetFlags`: the flags `context` was made with. A context that has faulted answers too.
    /// [`CudaError::ContextIsDestroyed`] where there is no such context.
    pub fn context_flags(&self, context: ContextId) -> Result<u32, CudaError> {
        let found = self.contexts.get(&context);
        Ok(found.ok_or(CudaError::ContextIsDestroyed)?.flags)
    }

    /// `cuCtxSetFlags`: sets what [`Driver::context_flags`] answers. [`CudaError::InvalidValue`] as for
    /// [`Driver::create_context`].
    pub fn set_context_flags(&mut self, context: ContextId, flags: u32) -> Result<(), CudaError> {
        self.context_mut(context)?.flags = checked_flags(flags)?;
        Ok(())
    }

    /// `cuCtxSynchronize`: the host waits, in modelled time, for all work in `context`.
    pub fn synchronize_context(&mut self, context: ContextId) -> Result<(), CudaError> {
        self.context_mut(context)?.timeline.synchronize_all();
        Ok(())
    }

    /// Ends a context with the error of work in it that could not be done: every later call answers with it.
    pub fn fail(&mut self, context: ContextId, error: CudaError) {
        if let Ok(context) = self.context_mut(context) {
            context.fault = Some(error);
        }
    }

    /// A context that lives and has not faulted. The error is [`CudaError::ContextIsDestroyed`], or
    /// that of the fault.
    pub(super) fn context(&self, context: ContextId) -> Result<&Context, CudaError> {
        let found = self.contexts.get(&context);
        let found = found.ok_or(CudaError::ContextIsDestroyed)?;
        found.fault.map_or(Ok(found), Err)
    }

    /// [`Driver::context`], to change it.
    pub(super) fn context_mut(&mut self, context: ContextId) -> Result<&mut Context, CudaError> {
        let found = self.contexts.get_mut(&context);
        let found = found.ok_or(CudaError::ContextIsDestroyed)?;
        found.fault.map_or(Ok(found), Err)
    }

    /// Ends a context with its modules, streams, events and memory. What was still allocated is kept
    /// as leaks if they are looked for.
    fn remove_context(&mut self, context: ContextId) {
        let modules = self
            .modules
            .iter()
            .filter(|(_, module)| module.context == context);
        for module in modules.map(|(&id, _)| id).collect::<Vec<_>>() {
            self.remove_module(module);
        }
        self.streams.retain(|_, stream| stream.context != context);
        self.events.retain(|_, event| event.context != context);
        // Their texture and surface objects find no memory from now on.
        self.arrays.retain(|_, array| array.context != context);
        let removed = self.contexts.remove(&context);
        if let Some(context) = &removed
            && self.checks.leak
        {
            self.leaks.extend(self.leaked(context));
        }
        let Some(removed) = removed else { return };
        let heap = removed.heap.map(|heap| heap.base());
        for address in removed.owned.into_iter().chain(heap) {
            self.release(address);
        }
    }

    /// Frees the allocation that starts at `address`, or unmaps it where it is the caller's memory.
    fn release(&mut self, address: u64) {
        let kind = self.global.allocation(address).map(|found| found.kind);
        let released = match kind {
            Some(AllocationKind::Device | AllocationKind::Managed) => self.global.free(address),
            Some(AllocationKind::Host) => self.global.free_host(address),
            Some(AllocationKind::Registered) => self.global.unmap(address),
            // What is mapped is no context's.
            Some(AllocationKind::Mapped) | None => Ok(()),
        };
        debug_assert_eq!(released, Ok(()), "a context's own allocation");
    }
}

/// `flags`, if `cuCtxCreate` takes them.
fn checked_flags(flags: u32) -> Result<u32, CudaError> {
    let ways = (flags & SCHEDULE_FLAGS).count_ones();
    if flags & !CONTEXT_FLAGS != 0 || ways > 1 {
        return Err(CudaError::InvalidValue);
    }
    Ok(flags)
}
