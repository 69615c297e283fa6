//! Page-locked host memory: allocated by the driver, or registered by the program.

use super::require_nonzero;
use crate::driver::{ContextId, CudaError, Driver};
use crate::memory::global::BASE;

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
        self.global.free_host(address)?;
        self.remove_owner(address);
        Ok(())
    }

    /// `cuMemHostRegister`: maps `bytes` bytes of the caller's memory into the device, at the same address.
    /// Fails with [`CudaError::InvalidValue`] for zero bytes or a null address, and with
    /// [`CudaError::HostMemoryAlreadyRegistered`] if part of the range is already mapped.
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
        // SAFETY: the range is valid until it is unmapped, by this function's own contract.
        unsafe { self.global_of(context)?.map(host, bytes) }?;
        self.set_owner(context, host as u64)?;
        Ok(())
    }

    /// `cuMemHostUnregister`: undoes [`Driver::register_host`]. Fails with
    /// [`CudaError::HostMemoryNotRegistered`] for any other address.
    pub fn unregister_host(&mut self, context: ContextId, host: u64) -> Result<(), CudaError> {
        self.context(context)?;
        let unmapped = self.global.unmap(host);
        unmapped.map_err(|_| CudaError::HostMemoryNotRegistered)?;
        self.remove_owner(host);
        Ok(())
    }
}
