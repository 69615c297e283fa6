//! Allocation of device memory (linear, pitched and managed) and of page-locked host memory, the ownership of
//! allocations by contexts, and findings about host memory.

#[cfg(test)]
mod tests;

use super::{ContextId, CudaError, Devices, Driver};
use crate::check::{
    Details, Finding, FindingKind, HostAction, HostMemory, PendingWork, Reason, Severity, call_site,
};
use crate::memory::fill;
use crate::memory::global::{ALIGNMENT, Allocation, AllocationKind, AllocationRecord, BASE, Rows};

/// The maximum pitch of a copy in bytes (`CU_DEVICE_ATTRIBUTE_MAX_PITCH`).
pub(super) const MAX_PITCH: u64 = i32::MAX as u64;

impl Driver {
    /// `cuMemGetInfo`: returns the free and the total memory of the context's device in bytes.
    pub fn memory_info(&self, context: ContextId) -> Result<(u64, u64), CudaError> {
        self.device_memory(self.context(context)?.device)
    }

    /// Returns the free and the total memory of a device in bytes. Fails with [`CudaError::InvalidDevice`] if
    /// there is no such device.
    pub fn device_memory(&self, device: u32) -> Result<(u64, u64), CudaError> {
        self.check_device(device)?;
        Ok((self.global.free_bytes_of(device), self.global.capacity()))
    }

    /// `cuDeviceTotalMem`: returns the total memory of a device in bytes.
    pub fn total_memory(&self) -> u64 {
        self.global.capacity()
    }

    /// `cuMemAlloc`: allocates `bytes` bytes of device memory and returns their address. Fails with
    /// [`CudaError::InvalidValue`] for zero bytes, and with [`CudaError::OutOfMemory`] if there is not enough
    /// memory.
    pub fn allocate(&mut self, context: ContextId, bytes: u64) -> Result<u64, CudaError> {
        let address = self.global_of(context)?.allocate(require_nonzero(bytes)?)?;
        self.prepare_device_memory(context, address, bytes)
    }

    /// `cuMemAllocFromPoolAsync`: allocates like [`Driver::allocate`], but on `device`. Only kernels of the
    /// devices in `accessible_from` (one bit per device) may access the memory.
    pub fn allocate_from_pool(
        &mut self,
        context: ContextId,
        bytes: u64,
        device: u32,
        accessible_from: Devices,
    ) -> Result<u64, CudaError> {
        self.context(context)?;
        self.check_device(device)?;
        let on_device = self.global.set_device(device, 0);
        let address = on_device.allocate_from_pool(require_nonzero(bytes)?)?;
        self.set_accessible_from(address, accessible_from);
        self.prepare_device_memory(context, address, bytes)
    }

    /// Prepares newly allocated memory: fills it, tracks its initialization and records its owner. Returns
    /// its address.
    fn prepare_device_memory(
        &mut self,
        context: ContextId,
        address: u64,
        bytes: u64,
    ) -> Result<u64, CudaError> {
        self.poison(address, bytes);
        if self.options.checks.init {
            self.global.track_initialization(address);
        }
        if self.options.checks.unused {
            self.global.track_input(address);
        }
        self.set_owner(context, address)
    }

    /// `cuGraphAddMemAllocNode`: reserves an address for `bytes` bytes of device memory, which
    /// [`Driver::allocate_reserved`] allocates. Fails with the errors of [`Driver::allocate`].
    pub fn reserve(&mut self, context: ContextId, bytes: u64) -> Result<u64, CudaError> {
        self.context(context)?;
        if bytes > self.global.capacity() {
            return Err(CudaError::OutOfMemory);
        }
        Ok(self.global.reserve_address(require_nonzero(bytes)?)?)
    }

    /// Allocates the memory of an address that [`Driver::reserve`] returned for the same number of bytes.
    /// Fails with [`CudaError::InvalidValue`] if it is already allocated, and with [`CudaError::OutOfMemory`]
    /// if there is not enough memory.
    pub fn allocate_reserved(
        &mut self,
        context: ContextId,
        address: u64,
        bytes: u64,
    ) -> Result<(), CudaError> {
        self.context(context)?;
        if self.global.allocation(address).is_some() {
            return Err(CudaError::InvalidValue);
        }
        let global = self.global_of(context)?;
        global.allocate_reserved(address, bytes)?;
        self.prepare_device_memory(context, address, bytes)?;
        Ok(())
    }

    /// `cuMemAllocPitch`: allocates device memory for `height` rows of `width` bytes, each starting at a
    /// multiple of 512. Returns the address and the pitch: the bytes from one row to the next.
    ///
    /// `element` is the number of bytes per access of a kernel: 4, 8 or 16. Fails with
    /// [`CudaError::InvalidValue`] for other element sizes, no rows, empty rows or a size of more than 64 bits, and
    /// with [`CudaError::OutOfMemory`] if there is not enough memory.
    pub fn allocate_pitched(
        &mut self,
        context: ContextId,
        width: u64,
        height: u64,
        element: u32,
    ) -> Result<(u64, u64), CudaError> {
        if !matches!(element, 4 | 8 | 16) {
            return Err(CudaError::InvalidValue);
        }
        let pitch = require_nonzero(width)?.checked_next_multiple_of(ALIGNMENT);
        let bytes = pitch.and_then(|pitch| pitch.checked_mul(height));
        let (Some(pitch), Some(bytes)) = (pitch, bytes) else {
            return Err(CudaError::InvalidValue);
        };
        let address = self.allocate(context, bytes)?;
        self.global.set_rows(address, Rows { width, pitch });
        Ok((address, pitch))
    }

    /// `cuMemAllocManaged`: allocates `bytes` bytes of managed memory and returns their address, which is
    /// valid on host and device. Fails with the errors of [`Driver::allocate`].
    pub fn allocate_managed(&mut self, context: ContextId, bytes: u64) -> Result<u64, CudaError> {
        let global = self.global_of(context)?;
        let address = global.allocate_managed(require_nonzero(bytes)?)?;
        self.poison(address, bytes);
        self.set_owner(context, address)
    }

    /// Fills new memory with the poison word for uninitialized memory, if one is set.
    fn poison(&self, address: u64, bytes: u64) {
        if let Some(word) = self.options.conditions.poison
            && let Some(host) = self.global.host(address, bytes)
        {
            // SAFETY: `host` returned a pointer to `bytes` bytes of a new allocation, to which no other
            // reference exists yet.
            fill(
                unsafe { std::slice::from_raw_parts_mut(host, bytes as usize) },
                word,
            );
        }
    }

    /// `cuMemFree`: frees device or managed memory by its start address. A null address is ignored. Fails with
    /// [`CudaError::InvalidValue`] for any other address.
    pub fn free(&mut self, context: ContextId, address: u64) -> Result<(), CudaError> {
        self.context(context)?;
        if address == 0 {
            return Ok(());
        }
        // A module's variables have no owner: the program cannot free them.
        self.owner(address)
            .ok_or_else(|| self.not_freeable(address))?;
        if let Some(origin) = self.freeable_import(address) {
            return self.release_import(address, origin);
        }
        self.findings.extend(self.unused_input(address));
        let freed = self.global.free(address);
        freed.map_err(|_| self.not_freeable(address))?;
        self.global.set_free_line(call_site::locate(None));
        self.remove_owner(address);
        Ok(())
    }

    /// Returns the error of a call that frees an address with which no allocation of its kind starts.
    pub fn not_freeable(&self, address: u64) -> CudaError {
        let reason = match self.global.record(address) {
            Some(allocation) if allocation.base < address => {
                Reason::FreedInside(address, address - allocation.base, Box::new(allocation))
            }
            Some(allocation) => Reason::OtherFree(address, Box::new(allocation)),
            None => match self.global.freed_with_line(address) {
                Some((allocation, line)) if allocation.base == address => match line {
                    Some(line) => Reason::FreedBeforeAt(address, Box::new(allocation), line),
                    None => Reason::FreedBefore(address, Box::new(allocation)),
                },
                _ => Reason::NotAnAllocation(address),
            },
        };
        CudaError::InvalidValue.because(reason)
    }

    /// Returns the finding for the input of the allocation at `address` that nothing has read; `None` if all was read, or
    /// if this is not checked.
    pub(super) fn unused_input(&self, address: u64) -> Option<Finding> {
        let (coverage, origin, line) = self.global.unused_input(address)?;
        let allocation = self.global.record(address)?;
        Some(Finding::unused_input(coverage, origin, allocation).at(line))
    }

    /// `cuMemAdvise` and `cuMemPrefetchAsync`: validates a hint about managed memory. Hints have no effect
    /// here, because the location of pages does not matter. Fails with [`CudaError::InvalidValue`] for a
    /// range that is empty or not entirely in managed memory.
    pub fn advise(&self, context: ContextId, address: u64, bytes: u64) -> Result<(), CudaError> {
        self.context(context)?;
        self.check_managed(address, bytes)
    }

    /// Validates a range of `bytes` bytes. Fails with [`CudaError::InvalidValue`] if it is empty or not
    /// entirely in managed memory.
    pub fn check_managed(&self, address: u64, bytes: u64) -> Result<(), CudaError> {
        let managed = self.allocation(address)?.kind == AllocationKind::Managed;
        let inside = self.global.host(address, require_nonzero(bytes)?).is_some();
        if managed && inside {
            Ok(())
        } else {
            Err(CudaError::InvalidValue)
        }
    }
}

// Page-locked host memory: allocated by the driver, or registered by the program.
impl Driver {
    /// `cuMemAllocHost`: allocates `bytes` bytes of page-locked host memory and returns their address, which
    /// is valid on host and device. Fails with the errors of [`Driver::allocate`].
    pub fn allocate_host(&mut self, context: ContextId, bytes: u64) -> Result<u64, CudaError> {
        let global = self.global_of(context)?;
        let address = global.allocate_host(require_nonzero(bytes)?)?;
        self.set_owner(context, address)
    }

    /// `cuMemFreeHost`: frees page-locked host memory by its start address. Fails with
    /// [`CudaError::InvalidValue`] for any other address.
    pub fn free_host(&mut self, context: ContextId, address: u64) -> Result<(), CudaError> {
        self.context(context)?;
        let freed = self.global.free_host(address);
        freed.map_err(|_| self.not_freeable(address))?;
        self.global.set_free_line(call_site::locate(None));
        self.remove_owner(address);
        Ok(())
    }

    /// `cuMemHostRegister`: maps `bytes` bytes of the caller's memory into the device, at the same address.
    /// Fails with [`CudaError::InvalidValue`] for zero bytes, a null address or memory that the driver has
    /// allocated, and with [`CudaError::HostMemoryAlreadyRegistered`] if part of the range is already registered.
    ///
    /// # Safety
    /// `[host, host + bytes)` must be readable and writable until it is unregistered or `context` is destroyed.
    pub unsafe fn register_host(
        &mut self,
        context: ContextId,
        host: *mut u8,
        bytes: u64,
    ) -> Result<(), CudaError> {
        self.context(context)?;
        let end = (host as u64).checked_add(require_nonzero(bytes)?);
        if host.is_null() || end.is_none_or(|end| end > BASE) {
            return Err(CudaError::InvalidValue);
        }
        let start = self.global.allocation(host as u64);
        if start.is_some_and(|allocation| allocation.kind != AllocationKind::Registered) {
            return Err(CudaError::InvalidValue);
        }
        // SAFETY: the range is valid until it is unmapped, by this function's own contract.
        unsafe { self.global_of(context)?.map(host, bytes) }?;
        self.set_owner(context, host as u64)?;
        Ok(())
    }

    /// `cuMemHostUnregister`: undoes [`Driver::register_host`]. Fails with [`CudaError::InvalidValue`] for another
    /// address in memory of the driver or in registered memory, and with [`CudaError::HostMemoryNotRegistered`] for
    /// all others.
    pub fn unregister_host(&mut self, context: ContextId, host: u64) -> Result<(), CudaError> {
        self.context(context)?;
        let unmapped = self.global.unmap(host);
        unmapped.map_err(
            |_| match host == 0 || self.global.allocation(host).is_some() {
                true => CudaError::InvalidValue,
                false => CudaError::HostMemoryNotRegistered,
            },
        )?;
        self.remove_owner(host);
        Ok(())
    }
}

// The allocation of an address, and the context that owns the allocation.
impl Driver {
    /// Returns the allocation that contains `address`, for `cuMemGetAddressRange` and
    /// `cuPointerGetAttribute`. Fails with [`CudaError::InvalidValue`] if there is none.
    pub fn allocation(&self, address: u64) -> Result<Allocation, CudaError> {
        let allocation = self.global.allocation(address);
        allocation.ok_or(CudaError::InvalidValue)
    }

    /// Returns the context that owns the allocation at start address `address`. Returns `None` if no
    /// allocation starts there, or if it is a module's variable.
    pub fn owner(&self, address: u64) -> Option<ContextId> {
        let mut contexts = self.contexts.iter();
        let owner = contexts.find(|(_, context)| context.owned.contains(&address));
        owner.map(|(&id, _)| id)
    }

    /// Makes `context` the owner of the allocation at start address `address`. Returns `address`.
    pub(super) fn set_owner(&mut self, context: ContextId, address: u64) -> Result<u64, CudaError> {
        self.context_mut(context)?.owned.insert(address);
        if let Some(call) = call_site::allocation() {
            self.global.set_call(address, call);
        }
        Ok(address)
    }

    /// Removes the owner of the allocation at start address `address`, which has been freed, perhaps from
    /// another context.
    pub(super) fn remove_owner(&mut self, address: u64) {
        for context in self.contexts.values_mut() {
            context.owned.remove(&address);
        }
    }
}

impl Driver {
    /// Creates the finding for memory that the program has changed before a graph has copied it.
    pub fn changed_source(&self, address: u64, bytes: u64) -> Finding {
        let memory = match self.global.record(address) {
            Some(allocation) => HostMemory::Allocated(address - allocation.base, allocation),
            None => HostMemory::Unallocated(address),
        };
        let work = PendingWork::GraphCopy(bytes);
        let details = Details::Host(HostAction::Changed, memory, work);
        Finding::of_program(FindingKind::HostChanged, Severity::Error, details)
    }
}

impl Driver {
    /// Returns the description of the allocation that contains an address.
    pub fn allocation_record(&self, address: u64) -> Option<AllocationRecord> {
        self.global.record(address)
    }
}

/// Returns `bytes`. Fails with [`CudaError::InvalidValue`] for 0.
fn require_nonzero(bytes: u64) -> Result<u64, CudaError> {
    if bytes == 0 {
        return Err(CudaError::InvalidValue);
    }
    Ok(bytes)
}
