//! Contexts: the objects that belong to them, their sticky errors and settings, primary contexts, the stack of
//! current contexts of a host thread, access to the memory of other devices, and memory leaks.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::timeline::Timeline;
use super::{ContextId, CudaError, Devices, Driver};
use crate::check::Finding;
use crate::device::DeviceSpec;
use crate::exec::{FaultModel, Heap};
use crate::memory::global::{AllocationKind, DeviceAccess, Global};

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
    fn new(device: u32, flags: u32, settings: Settings) -> Self {
        Self {
            device,
            peers: BTreeSet::new(),
            flags,
            timeline: Timeline::new(),
            fault: None,
            owned: BTreeSet::new(),
            heap: None,
            settings,
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
        self.check_device_fault(device)?;
        let context = ContextId(self.handles.next());
        let settings = Settings::new(&self.device);
        self.contexts
            .insert(context, Context::new(device, flags, settings));
        Ok(context)
    }

    /// `cuCtxDestroy`: destroys a context created by [`Driver::create_context`] and everything that belongs
    /// to it. Fails with [`CudaError::InvalidContext`] for any other context, including primary contexts, and
    /// with [`CudaError::ContextIsDestroyed`] for one that was destroyed before.
    pub fn destroy_context(&mut self, context: ContextId) -> Result<(), CudaError> {
        if self.is_primary(context) {
            return Err(CudaError::InvalidContext);
        }
        if !self.contexts.contains_key(&context) {
            return Err(match self.destroyed_contexts.contains(&context) {
                true => CudaError::ContextIsDestroyed,
                false => CudaError::InvalidContext,
            });
        }
        self.remove_context(context);
        self.destroyed_contexts.insert(context);
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

    /// Sets a context's sticky error, after work in it could not be performed: every later call returns it. If faults
    /// are final, it is the error of all contexts of the process on this device, and no new context can be created,
    /// as on a GPU: only another process can use the device again.
    pub fn fail(&mut self, context: ContextId, error: CudaError) {
        let Ok(failed) = self.context_mut(context) else {
            return;
        };
        failed.fault = Some(error);
        let device = failed.device;
        if self.options.fault_model != FaultModel::Hardware {
            return;
        }
        self.device_faults[device as usize].get_or_insert(error);
        let contexts = self.contexts.values_mut();
        for context in contexts.filter(|context| context.device == device) {
            context.fault.get_or_insert(error);
        }
    }

    /// Fails with the sticky error of a device, if it has one.
    fn check_device_fault(&self, device: u32) -> Result<(), CudaError> {
        self.device_faults[device as usize].map_or(Ok(()), Err)
    }

    /// Returns a live context that has not faulted. Fails with [`CudaError::ContextIsDestroyed`], or with the
    /// context's sticky error.
    pub(super) fn context(&self, context: ContextId) -> Result<&Context, CudaError> {
        let context_state = self
            .contexts
            .get(&context)
            .ok_or(CudaError::ContextIsDestroyed)?;
        context_state.fault.map_or(Ok(context_state), Err)
    }

    /// Returns a mutable reference to the same context as [`Driver::context`].
    pub(super) fn context_mut(&mut self, context: ContextId) -> Result<&mut Context, CudaError> {
        let context_state = self
            .contexts
            .get_mut(&context)
            .ok_or(CudaError::ContextIsDestroyed)?;
        context_state.fault.map_or(Ok(context_state), Err)
    }

    /// Removes a context with its modules, streams, events and memory. Remaining allocations are recorded as
    /// leaks if the leak check is enabled, and input that nothing has read if that is checked.
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
        if let Some(context) = &removed {
            self.leaks.extend(self.final_findings(context));
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
            Some(AllocationKind::Device | AllocationKind::Pool | AllocationKind::Managed) => {
                self.global.free(address)
            }
            Some(AllocationKind::Host) => self.global.free_host(address),
            Some(AllocationKind::Registered) => self.global.unmap(address),
            Some(AllocationKind::Imported) => self.close_import(address),
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

/// The state of a primary context that persists while the context does not exist.
#[derive(Clone, Default)]
pub(super) struct PrimaryContext {
    /// The context's handle, from its first retain on. It stays the same when the context is recreated.
    id: Option<ContextId>,
    /// The number of retains without a matching release.
    retain_count: u64,
    /// The context's flags, or those that it will be created with.
    flags: u32,
}

impl Driver {
    /// `cuDevicePrimaryCtxRetain`: increments the reference count of the primary context of `device`, and
    /// creates it if it does not exist. This and the functions below fail with [`CudaError::InvalidDevice`]
    /// if there is no such device.
    pub fn retain_primary(&mut self, device: u32) -> Result<ContextId, CudaError> {
        self.check_device(device)?;
        let exists = |id| self.contexts.contains_key(&id);
        if !self.primary[device as usize].id.is_some_and(exists) {
            self.check_device_fault(device)?;
        }
        let primary = &mut self.primary[device as usize];
        primary.retain_count += 1;
        let handles = &mut self.handles;
        let id = *primary.id.get_or_insert_with(|| ContextId(handles.next()));
        let flags = primary.flags;
        let settings = Settings::new(&self.device);
        self.contexts
            .entry(id)
            .or_insert_with(|| Context::new(device, flags, settings));
        Ok(id)
    }

    /// `cuDevicePrimaryCtxRelease`: decrements the reference count, and destroys the context when it reaches
    /// 0. Fails with [`CudaError::InvalidContext`] if the context is not retained.
    pub fn release_primary(&mut self, device: u32) -> Result<(), CudaError> {
        self.check_device(device)?;
        let primary = &mut self.primary[device as usize];
        let left = primary.retain_count.checked_sub(1);
        primary.retain_count = left.ok_or(CudaError::InvalidContext)?;
        if left == Some(0) {
            self.reset_primary(device)?;
        }
        Ok(())
    }

    /// `cuDevicePrimaryCtxReset`: destroys the primary context regardless of its reference count, which does
    /// not change.
    pub fn reset_primary(&mut self, device: u32) -> Result<(), CudaError> {
        self.check_device(device)?;
        if let Some(context) = self.primary[device as usize].id {
            self.remove_context(context);
        }
        Ok(())
    }

    /// `cuDevicePrimaryCtxGetState`: returns the primary context's flags, and true if it exists.
    pub fn primary_state(&self, device: u32) -> Result<(u32, bool), CudaError> {
        self.check_device(device)?;
        let primary = &self.primary[device as usize];
        let exists = primary.id.is_some_and(|id| self.contexts.contains_key(&id));
        Ok((primary.flags, exists))
    }

    /// `cuDevicePrimaryCtxSetFlags`: sets the primary context's flags, both now and for when it is recreated.
    /// Fails with [`CudaError::InvalidValue`] as [`Driver::create_context`] does.
    pub fn set_primary_flags(&mut self, device: u32, flags: u32) -> Result<(), CudaError> {
        self.check_device(device)?;
        let primary = &mut self.primary[device as usize];
        primary.flags = validate_flags(flags)?;
        if let Some(context) = primary.id.and_then(|id| self.contexts.get_mut(&id)) {
            context.flags = flags;
        }
        Ok(())
    }

    /// Returns true if `context` is the handle of a primary context, live or destroyed.
    fn is_primary(&self, context: ContextId) -> bool {
        self.primary_device(context).is_some()
    }

    /// Returns the device whose primary context is `context`, live or destroyed. Returns `None` for other
    /// contexts.
    fn primary_device(&self, context: ContextId) -> Option<u32> {
        let mut all = self.primary.iter();
        let device = all.position(|primary| primary.id == Some(context))?;
        Some(device as u32)
    }
}

/// A host thread's stack of contexts. The top context is current.
#[derive(Debug, Default)]
pub struct ContextStack {
    /// The top context.
    current: Option<ContextId>,
    /// The other contexts, bottom first.
    below: Vec<ContextId>,
}

impl ContextStack {
    /// Creates the empty stack of a new thread.
    pub const fn new() -> Self {
        Self {
            current: None,
            below: Vec::new(),
        }
    }

    /// `cuCtxGetCurrent`: returns the current context; `None` if the stack is empty.
    pub fn current(&self) -> Option<ContextId> {
        self.current
    }

    /// Returns the current context. Fails with [`CudaError::InvalidContext`] if there is none.
    pub fn require_current(&self) -> Result<ContextId, CudaError> {
        self.current.ok_or(CudaError::InvalidContext)
    }

    /// `cuCtxPushCurrent`: makes `context` current until it is popped.
    pub fn push(&mut self, context: ContextId) {
        self.below.extend(self.current.replace(context));
    }

    /// `cuCtxPopCurrent`: pops and returns the current context; the one below becomes current. Fails with
    /// [`CudaError::InvalidContext`] if there is none.
    pub fn pop(&mut self) -> Result<ContextId, CudaError> {
        let popped = self.require_current()?;
        self.current = self.below.pop();
        Ok(popped)
    }

    /// `cuCtxSetCurrent`: replaces the current context by `context`. `None` pops the current context.
    pub fn set_current(&mut self, context: Option<ContextId>) {
        match context {
            Some(context) => self.current = Some(context),
            None => self.current = self.below.pop(),
        }
    }

    /// Releases unused capacity and keeps the contexts. For a stack that is never dropped, because calls may
    /// still come while its thread ends.
    pub fn shrink(&mut self) {
        self.below.shrink_to_fit();
    }
}

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
    /// Bytes of the L2 cache that are set aside for persisting accesses. Has no effect here.
    PersistingCache = 5,
}

impl Limit {
    /// Returns the limit with this `CUlimit` number.
    ///
    /// Fails with [`CudaError::UnsupportedLimit`], as on a device without the feature, for the depth of
    /// nested launches and limits of graphics interfaces, which are not simulated.
    /// Fails with [`CudaError::InvalidValue`] for other numbers.
    pub fn from_number(number: i32) -> Result<Self, CudaError> {
        match number {
            0 => Ok(Self::StackSize),
            1 => Ok(Self::PrintfFifoSize),
            2 => Ok(Self::MallocHeapSize),
            4 => Ok(Self::PendingLaunches),
            5 => Ok(Self::FetchGranularity),
            6 => Ok(Self::PersistingCache),
            3 | 7..=9 => Err(CudaError::UnsupportedLimit),
            _ => Err(CudaError::InvalidValue),
        }
    }
}

// The limits below are those of an H200 (driver 580.159.04): see `scripts/driver-answers`.

/// The stack sizes in bytes that a context can have are multiples of this one.
const STACK_UNIT: usize = 16;
/// The maximum stack per thread in bytes.
const MAX_STACK: usize = (512 << 10) - 1024 + STACK_UNIT;

/// Bytes of the `printf` buffer per SM by default.
const PRINTF_BYTES_PER_SM: usize = 64 << 10;
/// The minimum and the unit of the `printf` buffer in bytes.
const PRINTF_BYTES: (usize, usize) = (512 << 10, 256);
/// The minimum and the unit of the device heap in bytes.
const HEAP_BYTES: (usize, usize) = (4 << 20, 64 << 10);

/// The minimum and the maximum number of pending launches from kernels.
const PENDING_LAUNCHES: (usize, usize) = (32, 599_186);

/// The maximum fetch granularity of the L2 cache in bytes.
const MAX_FETCH: usize = 128;

/// The numbers of `CUfunc_cache`.
const CACHE_PREFERENCES: RangeInclusive<i32> = 0..=3;
/// The numbers of `CUsharedconfig`.
const BANK_SIZES: RangeInclusive<i32> = 0..=2;
/// `CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE`: the bank size of all GPUs but Kepler's.
const FOUR_BYTE_BANKS: i32 = 1;

/// The settings of one context.
struct Settings {
    /// The limits in bytes, indexed by [`Limit`].
    limits: [usize; 6],
    cache_preference: i32,
}

impl Settings {
    /// Returns CUDA's defaults: stacks of 1 KB, a `printf` buffer of 64 KB per SM, a heap of 8 MB, 2048 pending
    /// launches, a fetch granularity of 64 bytes, three tenths of the L2 cache that can be set aside, and no
    /// preference.
    fn new(device: &DeviceSpec) -> Self {
        let printf = device.multiprocessors as usize * PRINTF_BYTES_PER_SM;
        let persisting = device.persisting_l2_bytes as usize / 10 * 3;
        Self {
            limits: [
                1 << 10,
                printf.max(PRINTF_BYTES.0),
                8 << 20,
                2048,
                64,
                persisting,
            ],
            cache_preference: 0,
        }
    }
}

impl Driver {
    /// `cuCtxGetLimit`: returns a limit of `context`. Fails with [`CudaError::UnsupportedLimit`] for the persisting
    /// cache of a device without one.
    pub fn limit(&self, context: ContextId, limit: Limit) -> Result<usize, CudaError> {
        self.check_limit(limit)?;
        Ok(self.context(context)?.settings.limits[limit as usize])
    }

    /// `cuCtxSetLimit`: sets a limit of `context`, rounded as the driver rounds it. Fails with
    /// [`CudaError::InvalidValue`] for a stack that exceeds the maximum, for a fetch granularity of more than 128
    /// bytes, for more than the persisting cache, and for the heap once a kernel that uses it has run; and as
    /// [`Driver::limit`].
    pub fn set_limit(
        &mut self,
        context: ContextId,
        limit: Limit,
        value: usize,
    ) -> Result<(), CudaError> {
        self.check_limit(limit)?;
        let max_persisting = self.device.persisting_l2_bytes as usize;
        let context = self.context_mut(context)?;
        let current = &mut context.settings.limits[limit as usize];
        let valid = match limit {
            Limit::StackSize => value <= MAX_STACK,
            Limit::MallocHeapSize => context.heap.is_none(),
            Limit::FetchGranularity => value <= MAX_FETCH,
            Limit::PersistingCache => value <= max_persisting,
            Limit::PrintfFifoSize | Limit::PendingLaunches => true,
        };
        if !valid {
            return Err(CudaError::InvalidValue);
        }
        let at_least = |(minimum, unit): (usize, usize)| {
            let rounded = value.max(minimum).checked_next_multiple_of(unit);
            rounded.ok_or(CudaError::OutOfMemory)
        };
        *current = match limit {
            // The driver stores a value as it is if it needs no other stack.
            Limit::StackSize => {
                let rounded = value.next_multiple_of(STACK_UNIT);
                match rounded == current.next_multiple_of(STACK_UNIT) {
                    true => value,
                    false => rounded,
                }
            }
            Limit::PrintfFifoSize => at_least(PRINTF_BYTES)?,
            Limit::MallocHeapSize => at_least(HEAP_BYTES)?,
            Limit::PendingLaunches => value.clamp(PENDING_LAUNCHES.0, PENDING_LAUNCHES.1),
            Limit::FetchGranularity => value,
            // Tenths of the maximum.
            Limit::PersistingCache => value.next_multiple_of(max_persisting / 10),
        };
        Ok(())
    }

    fn check_limit(&self, limit: Limit) -> Result<(), CudaError> {
        match limit {
            Limit::PersistingCache if self.device.persisting_l2_bytes == 0 => {
                Err(CudaError::UnsupportedLimit)
            }
            _ => Ok(()),
        }
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

    /// `cuCtxGetSharedMemConfig`: returns the size of shared-memory banks (`CUsharedconfig`): four bytes.
    pub fn bank_size(&self, context: ContextId) -> Result<i32, CudaError> {
        self.context(context)?;
        Ok(FOUR_BYTE_BANKS)
    }

    /// `cuCtxSetSharedMemConfig`: has no effect, because the size of banks is fixed. Fails with
    /// [`CudaError::InvalidValue`] for numbers other than 0 to 2.
    pub fn set_bank_size(&mut self, context: ContextId, size: i32) -> Result<(), CudaError> {
        self.context(context)?;
        validate(size, BANK_SIZES)?;
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

impl Driver {
    /// Validates a device number. Fails with [`CudaError::InvalidDevice`] if there is no such device.
    pub fn check_device(&self, device: u32) -> Result<(), CudaError> {
        if device >= self.device_count() {
            return Err(CudaError::InvalidDevice);
        }
        Ok(())
    }

    /// `cuDeviceCanAccessPeer`: returns true if kernels of one device can be given access to the memory of
    /// another. This needs unified addressing: compute capability 2.0 or higher. A device is not its own
    /// peer.
    pub fn can_access_peer(&self, device: u32, peer: u32) -> Result<bool, CudaError> {
        self.check_device(device)?;
        self.check_device(peer)?;
        Ok(device != peer && self.device.compute_capability.0 >= 2)
    }

    /// `cuCtxEnablePeerAccess`: gives kernels of `context` access to the memory of the device of `peer`.
    /// Fails with [`CudaError::InvalidContext`] if `peer` is not a context, with
    /// [`CudaError::PeerAccessUnsupported`] if it is on the same device, and with
    /// [`CudaError::PeerAccessAlreadyEnabled`] if access is already enabled.
    pub fn enable_peer(&mut self, context: ContextId, peer: ContextId) -> Result<(), CudaError> {
        self.context(context)?;
        let (device, peer_device) = (self.context_device(context)?, self.context_device(peer)?);
        if !self.can_access_peer(device, peer_device)? {
            return Err(CudaError::PeerAccessUnsupported);
        }
        if !self.context_mut(context)?.peers.insert(peer) {
            return Err(CudaError::PeerAccessAlreadyEnabled);
        }
        Ok(())
    }

    /// `cuCtxDisablePeerAccess`: undoes [`Driver::enable_peer`]. Fails with
    /// [`CudaError::PeerAccessNotEnabled`] if access is not enabled, and with [`CudaError::InvalidContext`]
    /// if `peer` is not a context.
    pub fn disable_peer(&mut self, context: ContextId, peer: ContextId) -> Result<(), CudaError> {
        self.context(context)?;
        self.context_device(peer)?;
        if !self.context_mut(context)?.peers.remove(&peer) {
            return Err(CudaError::PeerAccessNotEnabled);
        }
        Ok(())
    }

    /// Restricts access to the allocation at `base` to the kernels of `devices` (one bit per device).
    pub fn set_accessible_from(&mut self, base: u64, devices: Devices) {
        self.global.set_access(base, DeviceAccess::Listed(devices));
    }

    /// Returns the address space, with the device of `context` selected for allocations and its peers for
    /// kernels. Fails unless `context` is live and has not faulted.
    pub(super) fn global_of(&mut self, context: ContextId) -> Result<&mut Global, CudaError> {
        let state = self.context(context)?;
        let peers = state
            .peers
            .iter()
            .filter_map(|peer| self.contexts.get(peer))
            .fold(0, |all, peer| all | 1 << peer.device);
        let device = state.device;
        Ok(self.global.set_device(device, peers))
    }
}

impl Driver {
    /// Returns and clears the leaks found since the last call: what was still allocated when contexts were
    /// destroyed, if [`Checks::leak`](crate::check::Checks::leak) was enabled at that time, and input in it that nothing
    /// had read, if [`Checks::unused`](crate::check::Checks::unused) was enabled when it was allocated. At the end of a program, [`Driver::take_leaks_at_exit`] also reports live contexts.
    pub fn take_leaks(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.leaks)
    }

    /// Returns [`Driver::take_leaks`] and the same of contexts that were never destroyed. Called when
    /// the program is about to end.
    pub fn take_leaks_at_exit(&mut self) -> Vec<Finding> {
        let mut leaks = self.take_leaks();
        let live = self.contexts.values();
        leaks.extend(live.flat_map(|context| self.final_findings(context)));
        leaks
    }

    /// Returns a finding for each allocation of `context`, if leaks are checked, and for input that nothing has read.
    fn final_findings(&self, context: &Context) -> Vec<Finding> {
        // After a fault the program cannot free anything in the context.
        let owned = context.owned.iter().filter(|_| context.fault.is_none());
        owned
            .flat_map(|&address| {
                let leak = self.options.checks.leak.then(|| {
                    let kind = self.global.allocation(address)?.kind;
                    // The memory of another process remains there.
                    if kind == AllocationKind::Imported {
                        return None;
                    }
                    Some(Finding::leak(self.global.record(address)?, kind))
                });
                leak.flatten().into_iter().chain(self.unused_input(address))
            })
            .collect()
    }
}
