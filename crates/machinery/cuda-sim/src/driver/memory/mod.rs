//! Allocation: linear, pitched and managed memory. Host memory is in [`host`], and which context an
//! allocation belongs to in [`owner`].

mod host;
mod owner;
#[cfg(test)]
mod tests;

use super::{ContextId, CudaError, Devices, Driver};
use crate::memory::fill;
use crate::memory::global::{ALIGNMENT, AllocationKind};

/// The most bytes from a row to the next in a copy (`CU_DEVICE_ATTRIBUTE_MAX_PITCH`).
pub(super) const MAX_PITCH: u64 = i32::MAX as u64;

impl Driver {
    /// `cuMemGetInfo`: free and total memory of the context's device in bytes.
    pub fn memory_info(&self, context: ContextId) -> Result<(u64, u64), CudaError> {
        self.device_memory(self.context(context)?.device)
    }

    /// Free and total memory of a device in bytes. [`CudaError::InvalidDevice`] where there is none.
    pub fn device_memory(&self, device: u32) -> Result<(u64, u64), CudaError> {
        self.check_device(device)?;
        Ok((self.global.free_bytes_of(device), self.global.capacity()))
    }

    /// `cuDeviceTotalMem`: total memory of a device in bytes.
    pub fn total_memory(&self) -> u64 {
        self.global.capacity()
    }

    /// `cuMemAlloc`: the address of `bytes` bytes of device memory. [`CudaError::InvalidValue`] for
    /// none, [`CudaError::OutOfMemory`] for more than there are.
    pub fn allocate(&mut self, context: ContextId, bytes: u64) -> Result<u64, CudaError> {
        let address = self.global_of(context)?.allocate(not_zero(bytes)?)?;
        self.new_device_memory(context, address, bytes)
    }

    /// `cuMemAllocFromPoolAsync`: as [`Driver::allocate`], on another device than the context's where `device` is
    /// one. The kernels of `reached_by`, a bit for each device, reach it alone.
    pub fn allocate_of_pool(
        &mut self,
        context: ContextId,
        bytes: u64,
        device: u32,
        reached_by: Devices,
    ) -> Result<u64, CudaError> {
        self.context(context)?;
        self.check_device(device)?;
        let on_device = self.global.seen_by(device, 0);
        let address = on_device.allocate(not_zero(bytes)?)?;
        self.open_to(address, reached_by);
        self.new_device_memory(context, address, bytes)
    }

    /// Readies memory that was allocated just now. Returns its address.
    fn new_device_memory(
        &mut self,
        context: ContextId,
        address: u64,
        bytes: u64,
    ) -> Result<u64, CudaError> {
        self.poison(address, bytes);
        if self.checks.init {
            self.global.track_writes(address);
        }
        self.own(context, address)
    }

    /// `cuGraphAddMemAllocNode`: an address for `bytes` bytes of device memory, which is there from
    /// [`Driver::allocate_reserved`] on. Errors are those of [`Driver::allocate`].
    pub fn reserve(&mut self, context: ContextId, bytes: u64) -> Result<u64, CudaError> {
        self.context(context)?;
        if bytes > self.global.capacity() {
            return Err(CudaError::OutOfMemory);
        }
        Ok(self.global.set_aside(not_zero(bytes)?)?)
    }

    /// The memory of an address that [`Driver::reserve`] gave for as many bytes.
    /// [`CudaError::InvalidValue`] where it is there already, [`CudaError::OutOfMemory`] for more than
    /// there are.
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
        self.new_device_memory(context, address, bytes)?;
        Ok(())
    }

    /// `cuMemAllocPitch`: device memory for `height` rows of `width` bytes, each starting at a
    /// multiple of 512. Returns the address and the pitch: the bytes from one row to the next.
    ///
    /// `element` is how many bytes kernels will read at a time: 4, 8 or 16.
    /// [`CudaError::InvalidValue`] for another number, no rows, empty rows or too long ones,
    /// [`CudaError::OutOfMemory`] for more than there is.
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
        let pitch = not_zero(width)?.checked_next_multiple_of(ALIGNMENT);
        let pitch = pitch.filter(|&pitch| pitch <= MAX_PITCH);
        let pitch = pitch.ok_or(CudaError::InvalidValue)?;
        let bytes = pitch.checked_mul(not_zero(height)?);
        let bytes = bytes.ok_or(CudaError::OutOfMemory)?;
        Ok((self.allocate(context, bytes)?, pitch))
    }

    /// `cuMemAllocManaged`: managed memory of `bytes` bytes. The address is good on host and device.
    /// Errors are those of [`Driver::allocate`].
    pub fn allocate_managed(&mut self, context: ContextId, bytes: u64) -> Result<u64, CudaError> {
        let global = self.global_of(context)?;
        let address = global.allocate_managed(not_zero(bytes)?)?;
        self.poison(address, bytes);
        self.own(context, address)
    }

    /// Fills new memory with the word that memory holds which nobody has written.
    fn poison(&self, address: u64, bytes: u64) {
        if let Some(word) = self.conditions.poison
            && let Some(host) = self.global.host(address, bytes)
        {
            // SAFETY: `host` answers for as many bytes of an allocation, which nobody else knows yet.
            fill(
                unsafe { std::slice::from_raw_parts_mut(host, bytes as usize) },
                word,
            );
        }
    }

    /// `cuMemFree`: frees device or managed memory by its first address. A null address is no error.
    /// [`CudaError::InvalidValue`] for any other address.
    pub fn free(&mut self, context: ContextId, address: u64) -> Result<(), CudaError> {
        self.context(context)?;
        if address == 0 {
            return Ok(());
        }
        // A module's variables are not the caller's to free.
        self.owner(address).ok_or(CudaError::InvalidValue)?;
        self.global.free(address)?;
        self.disown(address);
        Ok(())
    }

    /// `cuMemAdvise` and `cuMemPrefetchAsync`: checks a hint about managed memory. It changes
    /// nothing, because it makes no difference here where pages lie. [`CudaError::InvalidValue`] for
    /// a range of `bytes` bytes that is empty or not all in managed memory.
    pub fn advise(&self, context: ContextId, address: u64, bytes: u64) -> Result<(), CudaError> {
        self.context(context)?;
        self.managed(address, bytes)
    }

    /// Refuses a range of `bytes` bytes that is empty or not all in managed memory:
    /// [`CudaError::InvalidValue`].
    pub fn managed(&self, address: u64, bytes: u64) -> Result<(), CudaError> {
        let managed = self.allocation(address)?.kind == AllocationKind::Managed;
        let inside = self.global.host(address, not_zero(bytes)?).is_some();
        if managed && inside {
            Ok(())
        } else {
            Err(CudaError::InvalidValue)
        }
    }
}

/// `bytes`, or [`CudaError::InvalidValue`] for 0.
fn not_zero(bytes: u64) -> Result<u64, CudaError> {
    if bytes == 0 {
        return Err(CudaError::InvalidValue);
    }
    Ok(bytes)
}
