//! Contexts: who owns what, what is current, and the fault that ends it.

use std::collections::BTreeSet;

use super::timeline::Timeline;
use super::{ContextId, CudaError, Driver};
use crate::check::Finding;
use crate::memory::global::AllocationKind;

/// The flag bits `cuCtxCreate` knows: how to wait (at most one), mapped host memory, local memory.
const FLAGS: u32 = 0x1f;
const HOW_TO_WAIT: u32 = 0x7;

/// The settable limits of a context, by `CUlimit` number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Bytes of stack of each thread.
    StackSize = 0,
    /// Bytes that kernel `printf` may buffer.
    PrintfFifoSize = 1,
    /// Bytes that kernel `malloc` may hand out.
    MallocHeapSize = 2,
}

impl Limit {
    /// The limit with this `CUlimit` number. Those of device-side launches and of the caches are
    /// not simulated: [`CudaError::UnsupportedLimit`], as on a device without them.
    pub fn from_number(number: i32) -> Result<Self, CudaError> {
        match number {
            0 => Ok(Self::StackSize),
            1 => Ok(Self::PrintfFifoSize),
            2 => Ok(Self::MallocHeapSize),
            3..=6 => Err(CudaError::UnsupportedLimit),
            _ => Err(CudaError::InvalidValue),
        }
    }
}

/// The largest stack a thread may have (CUDA's own bound on local memory).
const MAX_STACK: usize = 512 << 10;

/// One context's state.
pub(super) struct Context {
    pub(super) flags: u32,
    pub(super) timeline: Timeline,
    /// What ended this context, if a kernel faulted.
    pub(super) fault: Option<CudaError>,
    /// Where the allocations made in this context start.
    pub(super) owned: BTreeSet<u64>,
    limits: [usize; 3],
    cache_preference: i32,
    bank_size: i32,
}

impl Context {
    fn new(flags: u32) -> Self {
        Self {
            flags,
            timeline: Timeline::new(),
            fault: None,
            owned: BTreeSet::new(),
            // CUDA's defaults.
            limits: [1 << 10, 1 << 20, 8 << 20],
            cache_preference: 0,
            bank_size: 0,
        }
    }
}

/// The device's primary context, which its users share and count.
#[derive(Default)]
pub(super) struct Primary {
    /// Its handle, from its first user on: the same each time it is made again.
    id: Option<ContextId>,
    references: u64,
    flags: u32,
}

/// A host thread's stack of contexts.
#[derive(Debug, Default)]
pub struct Thread {
    /// The current one, on top.
    current: Option<ContextId>,
    below: Vec<ContextId>,
}

impl Thread {
    /// A thread with no context.
    pub const fn new() -> Self {
        Self {
            current: None,
            below: Vec::new(),
        }
    }

    /// The current context.
    pub fn current(&self) -> Option<ContextId> {
        self.current
    }

    /// The current context, or [`CudaError::InvalidContext`] where there is none.
    pub fn require_current(&self) -> Result<ContextId, CudaError> {
        self.current.ok_or(CudaError::InvalidContext)
    }

    /// Makes `context` current until it is popped.
    pub fn push(&mut self, context: ContextId) {
        self.below.extend(self.current.replace(context));
    }

    /// Ends the current context's turn.
    pub fn pop(&mut self) -> Result<ContextId, CudaError> {
        let popped = self.require_current()?;
        self.current = self.below.pop();
        Ok(popped)
    }

    /// Gives back the memory that is not needed to know what is current: the host thread is about to
    /// end.
    pub fn tidy(&mut self) {
        self.below.shrink_to_fit();
    }

    /// Puts `context`, or none, in the place of the current one.
    pub fn set_current(&mut self, context: Option<ContextId>) {
        match context {
            Some(context) => self.current = Some(context),
            None => self.current = self.below.pop(),
        }
    }
}

impl Driver {
    /// One more user of the primary context, which is made if there is none.
    pub fn retain_primary(&mut self) -> ContextId {
        self.primary.references += 1;
        let id = *self.primary.id.get_or_insert_with(|| {
            // Like any other context's.
            ContextId(self.handles.next())
        });
        let flags = self.primary.flags;
        self.contexts
            .entry(id)
            .or_insert_with(|| Context::new(flags));
        id
    }

    /// One user less; the last one's going destroys the primary context.
    pub fn release_primary(&mut self) -> Result<(), CudaError> {
        let left = self.primary.references.checked_sub(1);
        self.primary.references = left.ok_or(CudaError::InvalidContext)?;
        if left == Some(0) {
            self.reset_primary();
        }
        Ok(())
    }

    /// Destroys the primary context whoever uses it. Its users still have to release it.
    pub fn reset_primary(&mut self) {
        if let Some(context) = self.primary.id {
            self.remove_context(context);
        }
    }

    /// The primary context's flags and whether it exists.
    pub fn primary_state(&self) -> (u32, bool) {
        let id = self.primary.id;
        let exists = id.is_some_and(|id| self.contexts.contains_key(&id));
        (self.primary.flags, exists)
    }

    /// Sets the primary context's flags, at once and for when it is made again.
    pub fn set_primary_flags(&mut self, flags: u32) -> Result<(), CudaError> {
        self.primary.flags = checked_flags(flags)?;
        if let Some(context) = self.primary.id.and_then(|id| self.contexts.get_mut(&id)) {
            context.flags = flags;
        }
        Ok(())
    }

    /// A context of one's own. The caller makes it current.
    pub fn create_context(&mut self, flags: u32) -> Result<ContextId, CudaError> {
        Ok(self.insert_context(checked_flags(flags)?))
    }

    /// Destroys a context made by [`Driver::create_context`] and all that belongs to it.
    pub fn destroy_context(&mut self, context: ContextId) -> Result<(), CudaError> {
        if self.primary.id == Some(context) || !self.contexts.contains_key(&context) {
            return Err(CudaError::InvalidContext);
        }
        self.remove_context(context);
        Ok(())
    }

    /// Whether `context` names a live context, faulted or not, or the primary one, which may come
    /// back.
    pub fn is_context(&self, context: ContextId) -> bool {
        self.primary.id == Some(context) || self.contexts.contains_key(&context)
    }

    /// The flags `context` was made with. A fault does not keep them back.
    pub fn context_flags(&self, context: ContextId) -> Result<u32, CudaError> {
        let found = self.contexts.get(&context);
        Ok(found.ok_or(CudaError::ContextIsDestroyed)?.flags)
    }

    /// Waits for all work in `context`.
    pub fn synchronize(&mut self, context: ContextId) -> Result<(), CudaError> {
        self.context_mut(context)?.timeline.synchronize_all();
        Ok(())
    }

    /// A limit of `context`, in bytes.
    pub fn limit(&self, context: ContextId, limit: Limit) -> Result<usize, CudaError> {
        Ok(self.context(context)?.limits[limit as usize])
    }

    /// Sets a limit of `context`, in bytes. A stack is at most 512 KB a thread.
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
        context.limits[limit as usize] = bytes;
        Ok(())
    }

    /// How `context` would divide cache and shared memory (`CUfunc_cache`). A wish only.
    pub fn cache_preference(&self, context: ContextId) -> Result<i32, CudaError> {
        Ok(self.context(context)?.cache_preference)
    }

    /// Sets what [`Driver::cache_preference`] answers: 0 to 3.
    pub fn set_cache_preference(
        &mut self,
        context: ContextId,
        preference: i32,
    ) -> Result<(), CudaError> {
        let context = self.context_mut(context)?;
        context.cache_preference = checked(preference, 0..=3)?;
        Ok(())
    }

    /// The shared-memory bank size asked for (`CUsharedconfig`). Since Maxwell it is 4 bytes
    /// whatever one asks.
    pub fn bank_size(&self, context: ContextId) -> Result<i32, CudaError> {
        Ok(self.context(context)?.bank_size)
    }

    /// Sets what [`Driver::bank_size`] answers: 0 to 2.
    pub fn set_bank_size(&mut self, context: ContextId, size: i32) -> Result<(), CudaError> {
        let context = self.context_mut(context)?;
        context.bank_size = checked(size, 0..=2)?;
        Ok(())
    }

    /// The live state of `context`, or its fault.
    pub(super) fn context(&self, context: ContextId) -> Result<&Context, CudaError> {
        let found = self.contexts.get(&context);
        let found = found.ok_or(CudaError::ContextIsDestroyed)?;
        found.fault.map_or(Ok(found), Err)
    }

    /// As [`Driver::context`], to change it.
    pub(super) fn context_mut(&mut self, context: ContextId) -> Result<&mut Context, CudaError> {
        let found = self.contexts.get_mut(&context);
        let found = found.ok_or(CudaError::ContextIsDestroyed)?;
        found.fault.map_or(Ok(found), Err)
    }

    fn insert_context(&mut self, flags: u32) -> ContextId {
        let context = ContextId(self.handles.next());
        self.contexts.insert(context, Context::new(flags));
        context
    }

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
        let removed = self.contexts.remove(&context);
        if let Some(context) = &removed
            && self.checks.leak
        {
            self.leaks.extend(self.leaked(context));
        }
        for address in removed.into_iter().flat_map(|context| context.owned) {
            self.release(address);
        }
    }

    /// What was still allocated when contexts went, since this was last asked. At the end of a
    /// program [`Driver::leaks_at_exit`] counts the living ones too.
    pub fn leaks(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.leaks)
    }

    /// As [`Driver::leaks`], and what is allocated in contexts that live on: the program is about to
    /// end.
    pub fn leaks_at_exit(&mut self) -> Vec<Finding> {
        let mut leaks = self.leaks();
        if self.checks.leak {
            let living = self.contexts.values();
            leaks.extend(living.flat_map(|context| self.leaked(context)));
        }
        leaks
    }

    /// A finding for each allocation of `context`.
    fn leaked(&self, context: &Context) -> Vec<Finding> {
        // In a context that a fault has ended nobody can free anything.
        let owned = context.owned.iter().filter(|_| context.fault.is_none());
        owned
            .filter_map(|&address| {
                let known = self.global.known(address)?;
                let call = match self.global.allocation(address)?.kind {
                    AllocationKind::Device => "cuMemAlloc",
                    AllocationKind::Managed => "cuMemAllocManaged",
                    AllocationKind::Host => "cuMemAllocHost",
                    AllocationKind::Registered => "cuMemHostRegister",
                };
                Some(Finding::leak(&known, call))
            })
            .collect()
    }

    /// Frees or unmaps whatever starts at `address`.
    fn release(&mut self, address: u64) {
        let kind = self.global.allocation(address).map(|found| found.kind);
        let released = match kind {
            Some(AllocationKind::Device | AllocationKind::Managed) => self.global.free(address),
            Some(AllocationKind::Host) => self.global.free_host(address),
            Some(AllocationKind::Registered) => self.global.unmap(address),
            None => Ok(()),
        };
        debug_assert_eq!(released, Ok(()), "a context's own allocation");
    }
}

fn checked_flags(flags: u32) -> Result<u32, CudaError> {
    let ways = (flags & HOW_TO_WAIT).count_ones();
    if flags & !FLAGS != 0 || ways > 1 {
        return Err(CudaError::InvalidValue);
    }
    Ok(flags)
}

fn checked(value: i32, range: std::ops::RangeInclusive<i32>) -> Result<i32, CudaError> {
    if range.contains(&value) {
        Ok(value)
    } else {
        Err(CudaError::InvalidValue)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::driver;
    use super::*;

    #[test]
    fn the_primary_context_lives_while_somebody_uses_it() {
        let (mut driver, context) = driver();
        assert_eq!(driver.retain_primary(), context);
        driver.release_primary().unwrap();
        assert_eq!(driver.synchronize(context), Ok(()));
        assert!(driver.primary_state().1);
        driver.release_primary().unwrap();
        assert_eq!(
            driver.synchronize(context),
            Err(CudaError::ContextIsDestroyed)
        );
        assert_eq!(driver.release_primary(), Err(CudaError::InvalidContext));
        assert!(!driver.primary_state().1);
    }

    #[test]
    fn the_primary_context_comes_back_under_its_handle() {
        let (mut driver, context) = driver();
        driver.release_primary().unwrap();
        assert!(driver.is_context(context), "it may be made current");
        assert_eq!(driver.retain_primary(), context);
        assert_eq!(driver.synchronize(context), Ok(()));
        driver.retain_primary();
        // Its two users still have to release it.
        driver.reset_primary();
        let gone = Err(CudaError::ContextIsDestroyed);
        assert_eq!(driver.synchronize(context), gone);
        assert_eq!(driver.release_primary(), Ok(()));
        assert_eq!(driver.release_primary(), Ok(()));
        assert_eq!(driver.release_primary(), Err(CudaError::InvalidContext));
        assert_eq!(driver.retain_primary(), context);
        assert_eq!(driver.synchronize(context), Ok(()));
    }

    #[test]
    fn a_thread_that_ends_keeps_what_is_current() {
        let mut thread = Thread::new();
        thread.tidy();
        thread.push(ContextId(1));
        thread.push(ContextId(2));
        thread.tidy();
        assert_eq!(thread.pop(), Ok(ContextId(2)));
        thread.tidy();
        assert_eq!(thread.current(), Some(ContextId(1)));
    }

    #[test]
    fn a_context_takes_its_memory_with_it() {
        let (mut driver, primary) = driver();
        let before = driver.memory_info(primary).unwrap();
        let own = driver.create_context(0).unwrap();
        let address = driver.allocate(own, 4096).unwrap();
        driver.allocate_managed(own, 4096).unwrap();
        driver.allocate_host(own, 4096).unwrap();
        assert!(driver.memory_info(primary).unwrap().0 < before.0);
        driver.destroy_context(own).unwrap();
        assert_eq!(driver.memory_info(primary).unwrap(), before);
        assert_eq!(driver.free(primary, address), Err(CudaError::InvalidValue));
        assert_eq!(driver.destroy_context(own), Err(CudaError::InvalidContext));
    }

    #[test]
    fn the_primary_context_is_not_destroyed_as_ones_own() {
        let (mut driver, primary) = driver();
        assert_eq!(
            driver.destroy_context(primary),
            Err(CudaError::InvalidContext)
        );
    }

    #[test]
    fn a_fault_stays_until_the_context_goes() {
        let (mut driver, context) = driver();
        driver.context_mut(context).unwrap().fault = Some(CudaError::IllegalAddress);
        assert_eq!(driver.synchronize(context), Err(CudaError::IllegalAddress));
        assert_eq!(driver.allocate(context, 4), Err(CudaError::IllegalAddress));
        assert_eq!(driver.context_flags(context), Ok(0));
        let other = driver.create_context(0).unwrap();
        assert_eq!(driver.synchronize(other), Ok(()));
        driver.reset_primary();
        let fresh = driver.retain_primary();
        assert_eq!(driver.synchronize(fresh), Ok(()));
    }

    #[test]
    fn flags_and_settings_are_checked() {
        let (mut driver, context) = driver();
        for flags in [0x20, 0x3, u32::MAX] {
            assert_eq!(driver.create_context(flags), Err(CudaError::InvalidValue));
            assert_eq!(
                driver.set_primary_flags(flags),
                Err(CudaError::InvalidValue)
            );
        }
        driver.set_primary_flags(0x4).unwrap();
        assert_eq!(driver.context_flags(context), Ok(0x4));
        assert_eq!(
            driver.set_cache_preference(context, 4),
            Err(CudaError::InvalidValue)
        );
        driver.set_cache_preference(context, 2).unwrap();
        assert_eq!(driver.cache_preference(context), Ok(2));
        assert_eq!(
            driver.set_bank_size(context, -1),
            Err(CudaError::InvalidValue)
        );
        driver.set_bank_size(context, 1).unwrap();
        assert_eq!(driver.bank_size(context), Ok(1));
    }

    #[test]
    fn limits_are_read_set_and_refused() {
        let (mut driver, context) = driver();
        assert_eq!(driver.limit(context, Limit::StackSize), Ok(1024));
        driver.set_limit(context, Limit::StackSize, 4096).unwrap();
        assert_eq!(driver.limit(context, Limit::StackSize), Ok(4096));
        assert_eq!(
            driver.set_limit(context, Limit::StackSize, 1 << 30),
            Err(CudaError::InvalidValue)
        );
        assert_eq!(Limit::from_number(2), Ok(Limit::MallocHeapSize));
        assert_eq!(Limit::from_number(3), Err(CudaError::UnsupportedLimit));
        assert_eq!(Limit::from_number(7), Err(CudaError::InvalidValue));
        assert_eq!(Limit::from_number(-1), Err(CudaError::InvalidValue));
    }

    #[test]
    fn a_thread_stacks_contexts() {
        let mut thread = Thread::new();
        assert_eq!(thread.require_current(), Err(CudaError::InvalidContext));
        assert_eq!(thread.pop(), Err(CudaError::InvalidContext));
        thread.set_current(Some(ContextId(1)));
        thread.push(ContextId(2));
        thread.set_current(Some(ContextId(3)));
        assert_eq!(thread.pop(), Ok(ContextId(3)));
        assert_eq!(thread.current(), Some(ContextId(1)));
        thread.set_current(None);
        assert_eq!(thread.current(), None);
    }
}
