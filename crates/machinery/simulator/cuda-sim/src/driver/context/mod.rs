//! Contexts: the objects that belong to them, and their sticky errors.

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

/// The flag bits that `cuCtxCreate` accepts: how a thread waits for the GPU (the lowest three), mapped host
/// memory, local memory that stays resized after a launch, and synchronous memory operations. The two flags
/// for core dumps are not accepted.
const CONTEXT_FLAGS: u32 = 0x9f;
/// The flag bits that select how a thread waits for the GPU. At most one may be set.
const SCHEDULE_FLAGS: u32 = 0x7;

/// The state of one context.
pub(super) struct Context {
    /// The context's device.
    pub(super) device: u32,
    /// The peer contexts, on other devices, whose memory its kernels may access.
    pub(super) peers: BTreeSet<ContextId>,
    /// The flags that `cuCtxGetFlags` returns.
    flags: u32,
    pub(super) timeline: Timeline,
    /// The sticky error that every later call in this context returns after a kernel faulted.
    pub(super) fault: Option<CudaError>,
    /// The start addresses of the context's allocations.
    pub(super) owned: BTreeSet<u64>,
    /// The device heap of `malloc`, once a kernel that uses it has run. It is not one of the program's
    /// allocations.
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
    /// `cuCtxCreate`: creates a context on `device`. The caller makes it current. Fails with
    /// [`CudaError::InvalidDevice`] if there is no such device, and [`CudaError::InvalidValue`] for unknown
    /// flags or more than one scheduling flag.
    pub fn create_context(&mut self, device: u32, flags: u32) -> Result<ContextId, CudaError> {
        self.check_device(device)?;
        let flags = validate_flags(flags)?;
        let context = ContextId(self.handles.next());
        self.contexts.insert(context, Context::new(device, flags));
        Ok(context)
    }

    /// `cuCtxDestroy`: destroys a context created by [`Driver::create_context`] and everything that belongs
    /// to it. Fails with [`CudaError::InvalidContext`] for any other context, including primary contexts.
    pub fn destroy_context(&mut self, context: ContextId) -> Result<(), CudaError> {
        if self.is_primary(context) || !self.contexts.contains_key(&context) {
            return Err(CudaError::InvalidContext);
        }
        self.remove_context(context);
        Ok(())
    }

    /// Returns true if `context` may be made current: it is live, faulted or not, or it is a primary context,
    /// which may be recreated after it was destroyed.
    pub fn is_context(&self, context: ContextId) -> bool {
        self.is_primary(context) || self.contexts.contains_key(&context)
    }

    /// `cuCtxGetDevice`: returns the device of a context. Fails with [`CudaError::InvalidContext`] if there
    /// is no such context.
    pub fn context_device(&self, context: ContextId) -> Result<u32, CudaError> {
        let live = self
            .contexts
            .get(&context)
            .map(|context_state| context_state.device);
        let device = live.or_else(|| self.primary_device(context));
        device.ok_or(CudaError::InvalidContext)
    }

    /// `cuCtxGetFlags`: returns the flags of `context`, even after a fault. Fails with
    /// [`CudaError::ContextIsDestroyed`] if there is no such context.
    pub fn context_flags(&self, context: ContextId) -> Result<u32, CudaError> {
        let context_state = self.contexts.get(&context);
        Ok(context_state.ok_or(CudaError::ContextIsDestroyed)?.flags)
    }

    /// `cuCtxSetFlags`: sets the flags that [`Driver::context_flags`] returns. Fails with
    /// [`CudaError::InvalidValue`] as [`Driver::create_context`] does.
    pub fn set_context_flags(&mut self, context: ContextId, flags: u32) -> Result<(), CudaError> {
        self.context_mut(context)?.flags = validate_flags(flags)?;
        Ok(())
    }

    /// `cuCtxSynchronize`: the host waits, in modelled time, for all work in `context`.
    pub fn synchronize_context(&mut self, context: ContextId) -> Result<(), CudaError> {
        self.context_mut(context)?.timeline.synchronize_all();
        Ok(())
    }

    /// Sets a context's sticky error, after work in it could not be performed: every later call returns it.
    pub fn fail(&mut self, context: ContextId, error: CudaError) {
        if let Ok(context) = self.context_mut(context) {
            context.fault = Some(error);
        }
    }

    /// Returns a live context that has not faulted. Fails with [`CudaError::ContextIsDestroyed`], or with the
    /// context's sticky error.
    pub(super) fn context(&self, context: ContextId) -> Result<&Context, CudaError> {
        let context_state = self.contexts.get(&context);
        let context_state = context_state.ok_or(CudaError::ContextIsDestroyed)?;
        context_state.fault.map_or(Ok(context_state), Err)
    }

    /// Returns a mutable reference to the same context as [`Driver::context`].
    pub(super) fn context_mut(&mut self, context: ContextId) -> Result<&mut Context, CudaError> {
        let context_state = self.contexts.get_mut(&context);
        let context_state = context_state.ok_or(CudaError::ContextIsDestroyed)?;
        context_state.fault.map_or(Ok(context_state), Err)
    }

    /// Removes a context with its modules, streams, events and memory. Remaining allocations are recorded as
    /// leaks if the leak check is enabled.
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
        // Texture and surface objects of these arrays become dangling.
        self.arrays.retain(|_, array| array.context != context);
        let removed = self.contexts.remove(&context);
        if let Some(context) = &removed
            && self.checks.leak
        {
            self.leaks.extend(self.leak_findings(context));
        }
        let Some(removed) = removed else { return };
        let heap = removed.heap.map(|heap| heap.base());
        for address in removed.owned.into_iter().chain(heap) {
            self.release(address);
        }
    }

    /// Frees the allocation at `address`, or unmaps it if it is the caller's memory.
    fn release(&mut self, address: u64) {
        let kind = self
            .global
            .allocation(address)
            .map(|allocation| allocation.kind);
        let released = match kind {
            Some(AllocationKind::Device | AllocationKind::Managed) => self.global.free(address),
            Some(AllocationKind::Host) => self.global.free_host(address),
            Some(AllocationKind::Registered) => self.global.unmap(address),
            // Mapped memory belongs to no context.
            Some(AllocationKind::Mapped) | None => Ok(()),
        };
        debug_assert_eq!(released, Ok(()), "a context's own allocation");
    }
}

/// Returns `flags` if `cuCtxCreate` accepts them. Fails with [`CudaError::InvalidValue`] otherwise.
fn validate_flags(flags: u32) -> Result<u32, CudaError> {
    let schedules = (flags & SCHEDULE_FLAGS).count_ones();
    if flags & !CONTEXT_FLAGS != 0 || schedules > 1 {
        return Err(CudaError::InvalidValue);
    }
    Ok(flags)
}
