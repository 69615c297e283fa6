//! Allocation: linear, pitched, managed, page-locked and registered memory.

use super::{ContextId, CudaError, Driver};
use crate::memory::global::{ALIGNMENT, Allocation, AllocationKind, BASE};

/// The widest row a copy may step over (`CU_DEVICE_ATTRIBUTE_MAX_PITCH`).
pub(super) const MAX_PITCH: u64 = i32::MAX as u64;

impl Driver {
    /// Free and total device memory in bytes.
    pub fn memory_info(&self, context: ContextId) -> Result<(u64, u64), CudaError> {
        self.context(context)?;
        Ok((self.global.free_bytes(), self.global.capacity()))
    }

    /// Total device memory in bytes.
    pub fn total_memory(&self) -> u64 {
        self.global.capacity()
    }

    /// Device memory of `bytes` bytes.
    pub fn allocate(&mut self, context: ContextId, bytes: u64) -> Result<u64, CudaError> {
        self.context(context)?;
        let address = self.global.allocate(not_zero(bytes)?)?;
        if self.checks.init {
            self.global.track_writes(address);
        }
        self.own(context, address)
    }

    /// Device memory for `height` rows of `width` bytes, each starting at a multiple of 512.
    /// Returns the address and the pitch: the bytes from one row to the next.
    ///
    /// `element` is what kernels will read at a time: 4, 8 or 16 bytes.
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

    /// Managed memory of `bytes` bytes: the address is good on host and device.
    pub fn allocate_managed(&mut self, context: ContextId, bytes: u64) -> Result<u64, CudaError> {
        self.context(context)?;
        let address = self.global.allocate_managed(not_zero(bytes)?)?;
        self.own(context, address)
    }

    /// Page-locked host memory of `bytes` bytes: the address is good on host and device.
    pub fn allocate_host(&mut self, context: ContextId, bytes: u64) -> Result<u64, CudaError> {
        self.context(context)?;
        let address = self.global.allocate_host(not_zero(bytes)?)?;
        self.own(context, address)
    }

    /// Frees device or managed memory by its first address. A null address is no error.
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

    /// Frees page-locked host memory by its first address.
    pub fn free_host(&mut self, context: ContextId, address: u64) -> Result<(), CudaError> {
        self.context(context)?;
        self.global.free_host(address)?;
        self.disown(address);
        Ok(())
    }

    /// Maps the caller's memory into the device at its own address.
    ///
    /// # Safety
    /// `[host, host + bytes)` must be readable and writable until it is unregistered or `context`
    /// is destroyed.
    pub unsafe fn register_host(
        &mut self,
        context: ContextId,
        host: *mut u8,
        bytes: u64,
    ) -> Result<(), CudaError> {
        self.context(context)?;
        let end = (host as u64).checked_add(not_zero(bytes)?);
        if host.is_null() || end.is_none_or(|end| end > BASE) {
            return Err(CudaError::InvalidValue);
        }
        // SAFETY: the caller's promise.
        unsafe { self.global.map(host, bytes) }?;
        self.own(context, host as u64)?;
        Ok(())
    }

    /// Ends what [`Driver::register_host`] began.
    pub fn unregister_host(&mut self, context: ContextId, host: u64) -> Result<(), CudaError> {
        self.context(context)?;
        let unmapped = self.global.unmap(host);
        unmapped.map_err(|_| CudaError::HostMemoryNotRegistered)?;
        self.disown(host);
        Ok(())
    }

    /// The allocation that `address` points into.
    pub fn allocation(&self, address: u64) -> Result<Allocation, CudaError> {
        let found = self.global.allocation(address);
        found.ok_or(CudaError::InvalidValue)
    }

    /// The context in which the allocation that starts at `address` was made.
    pub fn owner(&self, address: u64) -> Option<ContextId> {
        let mut contexts = self.contexts.iter();
        let owner = contexts.find(|(_, context)| context.owned.contains(&address));
        owner.map(|(&id, _)| id)
    }

    /// Checks a hint about managed memory (`cuMemAdvise`, `cuMemPrefetchAsync`): the range must be
    /// managed. Where its pages lie makes no difference here.
    pub fn advise(&self, context: ContextId, address: u64, bytes: u64) -> Result<(), CudaError> {
        self.context(context)?;
        let managed = self.allocation(address)?.kind == AllocationKind::Managed;
        let inside = self.global.host(address, not_zero(bytes)?).is_some();
        if managed && inside {
            Ok(())
        } else {
            Err(CudaError::InvalidValue)
        }
    }

    fn own(&mut self, context: ContextId, address: u64) -> Result<u64, CudaError> {
        self.context_mut(context)?.owned.insert(address);
        Ok(address)
    }

    /// Memory may be freed in another context than the one it was made in.
    fn disown(&mut self, address: u64) {
        for context in self.contexts.values_mut() {
            context.owned.remove(&address);
        }
    }
}

fn not_zero(bytes: u64) -> Result<u64, CudaError> {
    if bytes == 0 {
        return Err(CudaError::InvalidValue);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::tests::driver;
    use super::*;

    #[test]
    fn zero_bytes_are_refused() {
        let (mut driver, context) = driver();
        let refused = Err(CudaError::InvalidValue);
        assert_eq!(driver.allocate(context, 0), refused);
        assert_eq!(driver.allocate_managed(context, 0), refused);
        assert_eq!(driver.allocate_host(context, 0), refused);
        for (width, height) in [(0, 4), (4, 0)] {
            assert_eq!(
                driver.allocate_pitched(context, width, height, 4),
                Err(CudaError::InvalidValue)
            );
        }
    }

    #[test]
    fn a_pitch_is_the_width_rounded_up_to_512() {
        let (mut driver, context) = driver();
        for (width, pitch) in [
            (1, 512),
            (60, 512),
            (512, 512),
            (513, 1024),
            (1020, 1024),
            (4096, 4096),
        ] {
            let (address, found) = driver.allocate_pitched(context, width, 3, 4).unwrap();
            assert_eq!(found, pitch);
            assert_eq!(driver.allocation(address).unwrap().size, 3 * pitch);
        }
        for element in [0, 1, 2, 3, 12, 32] {
            assert_eq!(
                driver.allocate_pitched(context, 4, 4, element),
                Err(CudaError::InvalidValue)
            );
        }
        assert_eq!(
            driver.allocate_pitched(context, 1 << 31, 1, 4),
            Err(CudaError::InvalidValue)
        );
        assert_eq!(
            driver.allocate_pitched(context, 4, u64::MAX, 4),
            Err(CudaError::OutOfMemory)
        );
    }

    #[test]
    fn more_than_there_is_is_out_of_memory() {
        let (mut driver, context) = driver();
        let (free, total) = driver.memory_info(context).unwrap();
        assert_eq!(free, total);
        assert_eq!(total, driver.total_memory());
        assert_eq!(
            driver.allocate(context, total + 1),
            Err(CudaError::OutOfMemory)
        );
        assert_eq!(
            driver.allocate(context, u64::MAX),
            Err(CudaError::OutOfMemory)
        );
        assert_eq!(driver.memory_info(context), Ok((total, total)));
    }

    #[test]
    fn bad_frees_are_refused() {
        let (mut driver, context) = driver();
        let address = driver.allocate(context, 64).unwrap();
        let pinned = driver.allocate_host(context, 64).unwrap();
        let refused = Err(CudaError::InvalidValue);
        assert_eq!(driver.free(context, address + 4), refused);
        assert_eq!(driver.free(context, pinned), refused);
        assert_eq!(driver.free_host(context, address), refused);
        assert_eq!(driver.free(context, 0), Ok(()));
        driver.free(context, address).unwrap();
        assert_eq!(driver.free(context, address), refused);
        driver.free_host(context, pinned).unwrap();
        assert_eq!(driver.free_host(context, pinned), refused);
    }

    #[test]
    fn host_memory_is_registered_once() {
        let (mut driver, context) = driver();
        let mut bytes = [0u8; 64];
        let host = bytes.as_mut_ptr();
        // SAFETY: `bytes` outlives the registration.
        let first = unsafe { driver.register_host(context, host, 64) };
        assert_eq!(first, Ok(()));
        // SAFETY: refused.
        let again = unsafe { driver.register_host(context, host, 64) };
        assert_eq!(again, Err(CudaError::HostMemoryAlreadyRegistered));
        // SAFETY: refused.
        let null = unsafe { driver.register_host(context, std::ptr::null_mut(), 64) };
        assert_eq!(null, Err(CudaError::InvalidValue));
        driver.unregister_host(context, host as u64).unwrap();
        assert_eq!(
            driver.unregister_host(context, host as u64),
            Err(CudaError::HostMemoryNotRegistered)
        );
    }

    #[test]
    fn advice_is_for_managed_memory() {
        let (mut driver, context) = driver();
        let managed = driver.allocate_managed(context, 64).unwrap();
        let device = driver.allocate(context, 64).unwrap();
        let refused = Err(CudaError::InvalidValue);
        assert_eq!(driver.advise(context, managed, 64), Ok(()));
        assert_eq!(driver.advise(context, managed, 65), refused);
        assert_eq!(driver.advise(context, managed, 0), refused);
        assert_eq!(driver.advise(context, device, 64), refused);
    }
}
